//! Splits a shell script into simple commands.
//!
//! The grammar is POSIX with the extensions of Bash: quotes, escapes, comments, operators, subshells, substitutions,
//! redirections and here-documents. The lexer makes one pass with an explicit stack, so that deep nesting cannot
//! overflow the call stack. An invalid script yields whatever could be parsed.

mod event;

pub(crate) use event::{Command, Direction, Event, Piece, Redirection, Word};

use crate::cursor::Cursor;
use std::collections::VecDeque;

/// The maximum nesting. The rest of a script that exceeds it is ignored.
const MAX_DEPTH: usize = 400;

/// The commands of a script, in their order of execution without branches.
pub(crate) fn parse(script: &str) -> Vec<Event> {
    let mut lexer = Lexer {
        cursor: Cursor::new(script),
        frames: vec![Frame::new(Kind::Top, 0, 0)],
        events: Vec::new(),
        substitutions: 0,
        heredocs: VecDeque::new(),
        functions: Vec::new(),
    };
    while lexer.frames.len() <= MAX_DEPTH
        && let Some(c) = lexer.cursor.take_char()
    {
        lexer.step(c);
    }
    lexer.finish()
}

/// The construct that a frame belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Top,
    /// `(`
    Subshell,
    /// `$(`, `<(`, `>(`
    Substitution,
    /// `` `…` ``
    Backtick,
    /// `name=(`
    Array,
    /// `((` or `$((`, with the number of inner parentheses that are open.
    Arithmetic(usize),
}

/// The state of the lexer within one construct.
#[derive(Debug, Default)]
struct Frame {
    kind: Kind,
    command: Command,
    word: Option<Word>,
    redirection: Option<(Direction, bool)>,
    /// Inside double quotes.
    quoted: bool,
    /// The number of open braces of a `${…}` that is not just a name.
    expansion: usize,
    /// Inside `[[ … ]]`, where operators are words.
    condition: bool,
    /// Only reserved words of the command have been read.
    at_start: bool,
    /// The command is a `for`.
    loops: bool,
    /// The number of open `case … esac`.
    cases: usize,
    /// The number of open `{ … }`.
    braces: usize,
    /// The number of open parentheses within a word, as in `!(*.rs)`.
    parentheses: usize,
    /// The next command follows `|` or `||`.
    is_piped: bool,
    is_fallback: bool,
    /// The start of the unknown piece being read: `${…}`.
    piece: usize,
    /// The start of the frame.
    start: usize,
    /// The number of the first event of the frame.
    first_event: usize,
}

impl Frame {
    fn new(kind: Kind, start: usize, first_event: usize) -> Self {
        Self {
            kind,
            at_start: true,
            start,
            first_event,
            ..Self::default()
        }
    }

    fn word(&mut self) -> &mut Word {
        self.word.get_or_insert_default()
    }

    fn take_command(&mut self) -> Command {
        self.at_start = true;
        self.loops = false;
        std::mem::take(&mut self.command)
    }
}

/// The number of bytes kept of a piece that only a shell can evaluate.
const MAX_UNKNOWN: usize = 16 * 1024;

fn unknown(substitution: Option<usize>) -> Piece {
    Piece::Unknown {
        text: String::new(),
        substitution,
    }
}

/// Reserved words that a command follows.
pub(crate) fn opens_commands(word: &str) -> bool {
    matches!(
        word,
        "if" | "then" | "else" | "elif" | "while" | "until" | "do" | "{" | "!" | "time"
    )
}

/// A here-document whose body has not been read yet.
struct HereDocument {
    /// The event of its command, once the command is complete.
    event: Option<usize>,
    redirection: usize,
    delimiter: String,
    strip_tabs: bool,
}

/// A function whose end has not been read yet.
struct OpenFunction {
    name: String,
    /// The start of the body after its brace, once that was read.
    start: Option<usize>,
    /// The number of open frames, and of open braces in the innermost one.
    frames: usize,
    braces: usize,
}

/// The maximum number of functions that are open.
const MAX_FUNCTIONS: usize = 8;

/// The maximum length of the body of a function in bytes.
const MAX_BODY: usize = 16 * 1024;

struct Lexer<'t> {
    cursor: Cursor<'t>,
    frames: Vec<Frame>,
    events: Vec<Event>,
    substitutions: usize,
    heredocs: VecDeque<HereDocument>,
    functions: Vec<OpenFunction>,
}

impl<'t> Lexer<'t> {
    /// The innermost frame. The bottom frame is never popped before the end.
    fn frame(&mut self) -> &mut Frame {
        if self.frames.is_empty() {
            self.frames.push(Frame::new(Kind::Top, 0, 0));
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    /// Reads the operator or the expansion that begins with a character that was just taken, or the character itself.
    fn step(&mut self, c: char) {
        let frame = self.frame();
        if let Kind::Arithmetic(depth) = frame.kind {
            self.arithmetic_step(c, depth);
        } else if frame.expansion > 0 {
            self.expansion_step(c);
        } else if frame.quoted {
            self.quoted_step(c);
        } else {
            self.plain_step(c);
        }
    }

    fn arithmetic_step(&mut self, c: char, depth: usize) {
        match c {
            '(' => self.frame().kind = Kind::Arithmetic(depth + 1),
            ')' if depth > 0 => self.frame().kind = Kind::Arithmetic(depth - 1),
            ')' => {
                self.cursor.take(")");
                self.end_unknown();
            }
            '$' => self.dollar(),
            _ => {}
        }
    }

    fn expansion_step(&mut self, c: char) {
        match c {
            '}' => {
                self.frame().expansion -= 1;
                if self.frame().expansion == 0 {
                    let start = self.frame().piece;
                    self.fill(start);
                }
            }
            '\\' => drop(self.cursor.take_char()),
            '$' if self.cursor.take("{") => self.frame().expansion += 1,
            '$' => self.dollar(),
            '`' => self.backtick(),
            _ => {}
        }
    }

    fn quoted_step(&mut self, c: char) {
        match c {
            '"' => self.frame().quoted = false,
            '\\' => match self.cursor.peek() {
                Some('\n') => self.cursor.at += 1,
                Some(escaped @ ('$' | '`' | '"' | '\\')) => {
                    self.cursor.at += 1;
                    self.frame().word().push_quoted(escaped);
                }
                _ => self.frame().word().push_quoted('\\'),
            },
            '$' => self.dollar(),
            '`' => self.backtick(),
            c => self.frame().word().push_quoted(c),
        }
    }

    fn plain_step(&mut self, c: char) {
        match c {
            '\\' => match self.cursor.peek() {
                Some('\n') => self.cursor.at += 1,
                _ => {
                    if let Some(escaped) = self.cursor.take_char() {
                        self.frame().word().push_quoted(escaped);
                    }
                }
            },
            '\'' => self.single_quoted(),
            '"' => {
                let frame = self.frame();
                frame.quoted = true;
                frame.word().quoted = true;
            }
            '$' if self.cursor.next_is("'") => self.escaped_string(),
            '$' if self.cursor.next_is("\"") => {}
            '$' => self.dollar(),
            '`' => self.backtick(),
            ' ' | '\t' | '\r' => self.end_word(),
            '\n' => {
                self.end_command();
                self.here_documents();
            }
            '#' if self.frame().word.is_none() => self.cursor.skip_line(),
            ';' => self.end_command(),
            '&' | '|' | '<' | '>' | '(' | ')' if self.frame().condition => self.frame().word().push(c),
            '&' if self.cursor.take(">>") => self.redirect(Direction::Append),
            '&' if self.cursor.take(">") => self.redirect(Direction::Write),
            '&' => {
                self.end_command();
                self.cursor.take("&");
            }
            '|' => {
                self.end_command();
                let is_fallback = self.cursor.take("|");
                let frame = self.frame();
                frame.is_fallback = is_fallback;
                frame.is_piped = !is_fallback;
                self.cursor.take("&");
            }
            '(' => self.open_parenthesis(),
            ')' => self.close_parenthesis(),
            '<' => self.less(),
            '>' => self.greater(),
            c => self.frame().word().push(c),
        }
    }

    /// Reads the rest of a single-quoted text.
    fn single_quoted(&mut self) {
        let text = self.cursor.rest();
        let length = text.find('\'').unwrap_or(text.len());
        let word = self.frame().word();
        word.quoted = true;
        text[..length].chars().for_each(|c| word.push_quoted(c));
        self.cursor.at = self.cursor.text.len().min(self.cursor.at + length + 1);
    }

    /// `$'…'` with the common escapes.
    fn escaped_string(&mut self) {
        self.cursor.at += 1;
        self.frame().word().quoted = true;
        while let Some(c) = self.cursor.take_char() {
            let c = match c {
                '\'' => return,
                '\\' => match self.cursor.take_char().unwrap_or('\\') {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    'x' => self.number(16, 2, 0),
                    'u' => self.number(16, 4, 0),
                    digit @ '0'..='7' => self.number(8, 2, digit.to_digit(8).unwrap_or_default()),
                    other => other,
                },
                c => c,
            };
            self.frame().word().push_quoted(c);
        }
    }

    /// The character whose number has `first` and up to `most` further digits.
    fn number(&mut self, radix: u32, most: usize, first: u32) -> char {
        let mut number = first;
        for _ in 0..most {
            let Some(digit) = self.cursor.peek().and_then(|letter| letter.to_digit(radix)) else {
                break;
            };
            number = number * radix + digit;
            self.cursor.at += 1;
        }
        char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    /// Reads the expansion after a dollar sign.
    fn dollar(&mut self) {
        let inside_word = !matches!(self.frame().kind, Kind::Arithmetic(_)) && self.frame().expansion == 0;
        let start = self.cursor.at.saturating_sub(1);
        if self.cursor.take("((") {
            return self.open_unknown(Kind::Arithmetic(0), start, inside_word);
        }
        if self.cursor.take("(") {
            return self.open(Kind::Substitution, start, inside_word);
        }
        let braced = self.cursor.take("{");
        let rest = self.cursor.rest();
        let length = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .unwrap_or(rest.len());
        let name = &rest[..length];
        let named = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if braced {
            if named && rest[length..].starts_with('}') {
                self.cursor.at += length + 1;
                self.add(Piece::Variable(name.to_owned()), inside_word);
            } else {
                self.add(unknown(None), inside_word);
                let frame = self.frame();
                frame.expansion += 1;
                if inside_word {
                    frame.piece = start;
                }
            }
        } else if named {
            self.cursor.at += length;
            self.add(Piece::Variable(name.to_owned()), inside_word);
        } else if rest
            .starts_with(|c: char| c.is_ascii_digit() || matches!(c, '@' | '*' | '#' | '?' | '$' | '!' | '-'))
        {
            self.cursor.at += 1;
            self.add(unknown(None), inside_word);
            if inside_word {
                self.fill(start);
            }
        } else if inside_word {
            self.frame().word().push('$');
        }
    }

    fn add(&mut self, piece: Piece, inside_word: bool) {
        if inside_word {
            self.frame().word().pieces.push(piece);
        }
    }

    /// Opens a frame whose value is an unknown piece of the word.
    fn open_unknown(&mut self, kind: Kind, start: usize, inside_word: bool) {
        self.add(unknown(None), inside_word);
        let first_event = self.events.len();
        self.frames.push(Frame::new(kind, start, first_event));
    }

    /// Closes such a frame.
    fn end_unknown(&mut self) {
        let start = self.frames.pop().map(|frame| frame.start);
        if let Some(start) = start.filter(|_| self.frame().expansion == 0) {
            self.fill(start);
        }
    }

    /// Sets the text of the unknown piece at the end of the word to the source since `start`.
    fn fill(&mut self, start: usize) {
        let end = self
            .cursor
            .text
            .floor_char_boundary(self.cursor.at.min(start + MAX_UNKNOWN));
        let shown = self.cursor.text.get(start..end).unwrap_or_default();
        if let Some(word) = &mut self.frame().word
            && let Some(Piece::Unknown { text, .. }) = word.pieces.last_mut()
            && text.is_empty()
        {
            shown.clone_into(text);
        }
    }

    /// Opens a frame of commands. With `inside_word`, their output is part of a word.
    fn open(&mut self, kind: Kind, start: usize, inside_word: bool) {
        let mut inner = Frame::new(kind, start, self.events.len());
        let number = (kind != Kind::Subshell).then_some(self.substitutions);
        if number.is_some() {
            self.substitutions += 1;
            self.add(unknown(number), inside_word);
        } else {
            // The first command of a subshell reads the subshell's input.
            let outer = self.frame();
            inner.is_piped = std::mem::take(&mut outer.is_piped);
            inner.is_fallback = std::mem::take(&mut outer.is_fallback);
        }
        self.events.push(Event::Enter(number));
        self.frames.push(inner);
    }

    fn backtick(&mut self) {
        if self.frame().kind == Kind::Backtick {
            self.close();
        } else {
            let inside_word = self.frame().expansion == 0;
            self.open(Kind::Backtick, self.cursor.at.saturating_sub(1), inside_word);
        }
    }

    fn open_parenthesis(&mut self) {
        let doubled = self.cursor.next_is("(");
        let follows_closing = self
            .cursor
            .rest()
            .trim_start_matches([' ', '\t'])
            .starts_with(')');
        let frame = self.frame();
        // `case x in (a) …`: the parenthesis opens a pattern.
        let is_in = || frame.command.words.last().and_then(Word::bare) == Some("in");
        if frame.cases > 0 && frame.word.is_none() && frame.command.words.len() == 3 && is_in() {
            return;
        }
        if frame.at_start && frame.word.is_none() && frame.redirection.is_none() {
            if self.cursor.take("(") {
                self.open_unknown(Kind::Arithmetic(0), self.cursor.at, false);
            } else {
                self.open(Kind::Subshell, self.cursor.at, false);
            }
            return;
        }
        // `for ((i = 0; …))`
        let loops = doubled && frame.loops;
        let assigns = |word: &Word| word.bare().is_some_and(|text| text.ends_with('='));
        if frame.word.as_ref().is_some_and(assigns) {
            let first_event = self.events.len();
            self.frames
                .push(Frame::new(Kind::Array, self.cursor.at, first_event));
        } else if loops {
            self.cursor.take("(");
            self.open_unknown(Kind::Arithmetic(0), self.cursor.at, false);
        } else if follows_closing && frame.command.words.len() + usize::from(frame.word.is_some()) <= 2 {
            // `name ()`: the body is read as commands.
            let word = frame.word.take().or_else(|| frame.command.words.pop());
            frame.take_command();
            let name = word.and_then(|word| word.bare().map(str::to_owned));
            self.open_function(name);
            self.cursor.at += self.cursor.rest().find(')').map_or(0, |end| end + 1);
        } else {
            frame.parentheses += 1;
            frame.word().push('(');
        }
    }

    /// Begins a function. Its body follows.
    fn open_function(&mut self, name: Option<String>) {
        let frames = self.frames.len();
        let braces = self.frame().braces;
        if let Some(name) = name.filter(|_| self.functions.len() < MAX_FUNCTIONS) {
            self.functions.push(OpenFunction {
                name,
                start: None,
                frames,
                braces,
            });
        }
    }

    /// Counts a brace around commands. The last one of a function ends it.
    fn brace(&mut self, opens: bool) {
        let at = self.cursor.at;
        let frames = self.frames.len();
        let frame = self.frame();
        let braces = frame.braces;
        frame.braces = if opens {
            braces + 1
        } else {
            braces.saturating_sub(1)
        };
        let Some(function) = self
            .functions
            .last_mut()
            .filter(|function| function.frames == frames)
        else {
            return;
        };
        if opens && function.start.is_none() && function.braces == braces {
            function.start = Some(at);
        } else if !opens
            && function.braces + 1 == braces
            && let Some(start) = function.start
        {
            // The brace was the last letter, or a separator follows it.
            let body = self.cursor.text.get(start..at).unwrap_or_default();
            let body = body.rfind('}').map_or("", |end| &body[..end]);
            let name = std::mem::take(&mut function.name);
            self.functions.pop();
            if body.len() <= MAX_BODY {
                let body = body.to_owned();
                self.events.push(Event::Function { name, body });
            }
        }
    }

    fn close_parenthesis(&mut self) {
        let frame = self.frame();
        if frame.parentheses > 0 {
            frame.parentheses -= 1;
            frame.word().push(')');
        } else if frame.cases > 0 {
            // The end of a `case` pattern.
            frame.word = None;
            frame.take_command();
            frame.is_piped = false;
        } else if frame.kind == Kind::Array {
            self.frames.pop();
        } else if matches!(frame.kind, Kind::Subshell | Kind::Substitution) {
            self.close();
        } else {
            self.end_command();
        }
    }

    /// Closes the innermost frame of commands.
    fn close(&mut self) {
        self.end_command();
        let Some(frame) = self.frames.pop() else { return };
        let prints_folder = matches!(
            &self.events[frame.first_event..],
            [Event::Enter(_), Event::Command(command)] if command.redirections.is_empty()
                && matches!(command.words.as_slice(), [word] if word.bare() == Some("pwd"))
        );
        self.events.push(Event::Leave);
        if frame.kind == Kind::Subshell || self.frame().expansion > 0 {
            return;
        }
        self.fill(frame.start);
        // `$(pwd)` is a known value.
        if prints_folder
            && let Some(word) = &mut self.frame().word
            && let Some(last @ Piece::Unknown { .. }) = word.pieces.last_mut()
        {
            *last = Piece::Variable("PWD".to_owned());
        }
    }

    fn less(&mut self) {
        let start = self.cursor.at.saturating_sub(1);
        if self.cursor.take("(") {
            self.frame().word();
            self.open(Kind::Substitution, start, true);
        } else if self.cursor.take("<<") {
            self.redirect(Direction::HereString);
        } else if let Some(length) = self.placeholder() {
            let text = &self.cursor.text[start..self.cursor.at + length];
            self.cursor.at += length;
            let word = self.frame().word();
            text.chars().for_each(|c| word.push(c));
        } else if self.cursor.take("<") {
            let strip_tabs = self.cursor.take("-");
            self.redirect(Direction::HereDocument);
            self.frame().redirection = Some((Direction::HereDocument, strip_tabs));
        } else if self.cursor.take("&") {
            self.redirect(Direction::Duplicate);
        } else if self.cursor.take(">") {
            self.redirect(Direction::Write);
        } else {
            self.redirect(Direction::Read);
        }
    }

    /// The length of `name>` after `<` if it is a placeholder, as in documentation, and not a redirection.
    fn placeholder(&self) -> Option<usize> {
        let rest = self.cursor.rest();
        let length = rest.find(|c: char| !(c.is_ascii_lowercase() || matches!(c, '-' | '_')))?;
        let after = rest[length..].strip_prefix('>').filter(|_| length > 0)?;
        let ends = after.starts_with(['/', '.', ':', '@', '"', ';', ')'])
            || after.trim_start_matches(' ').is_empty();
        ends.then_some(length + 1)
    }

    fn greater(&mut self) {
        let start = self.cursor.at.saturating_sub(1);
        if self.cursor.take("(") {
            self.frame().word();
            self.open(Kind::Substitution, start, true);
        } else if self.cursor.take(">") {
            self.redirect(Direction::Append);
        } else if self.cursor.take("&") {
            self.redirect(Direction::Duplicate);
        } else {
            self.cursor.take("|");
            self.redirect(Direction::Write);
        }
    }

    /// Makes the next word the target of a redirection. Digits before the operator are a file descriptor.
    fn redirect(&mut self, direction: Direction) {
        let frame = self.frame();
        let descriptor = |word: &Word| {
            let text = word.bare().unwrap_or_default();
            !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
        };
        if frame.word.as_ref().is_some_and(descriptor) {
            frame.word = None;
        }
        self.end_word();
        self.frame().redirection = Some((direction, false));
    }

    fn end_word(&mut self) {
        let frame = self.frame();
        let Some(word) = frame.word.take() else { return };
        frame.parentheses = 0;
        if let Some((direction, strip_tabs)) = frame.redirection.take() {
            let redirection = frame.command.redirections.len();
            if direction == Direction::HereDocument {
                let delimiter = word.literal().unwrap_or_default();
                self.heredocs.push_back(HereDocument {
                    event: None,
                    redirection,
                    delimiter,
                    strip_tabs,
                });
            }
            let redirection = Redirection {
                direction,
                target: word,
                body: None,
            };
            self.frame().command.redirections.push(redirection);
            return;
        }
        let first = frame.at_start;
        frame.at_start = first && word.bare().is_some_and(opens_commands);
        // `function name { … }`
        let follows_function = frame.command.words.len() == 2
            && frame
                .command
                .words
                .first()
                .is_some_and(|word| word.bare() == Some("function"));
        if follows_function && word.bare() == Some("{") {
            let name = frame
                .command
                .words
                .pop()
                .and_then(|word| word.bare().map(str::to_owned));
            frame.take_command();
            self.open_function(name);
            return self.brace(true);
        }
        if first && let Some(brace @ ("{" | "}")) = word.bare() {
            self.brace(brace == "{");
        }
        let frame = self.frame();
        match word.bare() {
            Some("[[") if first => frame.condition = true,
            Some("]]") => frame.condition = false,
            Some("case") if first => frame.cases += 1,
            Some("esac") if first => frame.cases = frame.cases.saturating_sub(1),
            Some("for" | "select") if first => frame.loops = true,
            _ => {}
        }
        frame.command.words.push(word);
    }

    fn end_command(&mut self) {
        self.end_word();
        let frame = self.frame();
        frame.redirection = None;
        frame.condition = false;
        let mut command = frame.take_command();
        if frame.kind == Kind::Array {
            return;
        }
        if command.words.is_empty() && command.redirections.is_empty() {
            return;
        }
        command.is_piped = std::mem::take(&mut frame.is_piped);
        command.is_fallback = std::mem::take(&mut frame.is_fallback);
        let event = self.events.len();
        for heredoc in self.heredocs.iter_mut().filter(|heredoc| heredoc.event.is_none()) {
            heredoc.event = Some(event);
        }
        self.events.push(Event::Command(command));
    }

    /// Reads the bodies of the here-documents of the line that just ended.
    fn here_documents(&mut self) {
        while let Some(heredoc) = self.heredocs.pop_front() {
            let start = self.cursor.at;
            let mut end = self.cursor.text.len();
            while self.cursor.at < self.cursor.text.len() {
                let line_start = self.cursor.at;
                let line = self.cursor.rest().split('\n').next().unwrap_or_default();
                self.cursor.at = self.cursor.text.len().min(line_start + line.len() + 1);
                let line = line.trim_end_matches('\r');
                let line = if heredoc.strip_tabs {
                    line.trim_start_matches('\t')
                } else {
                    line
                };
                if line == heredoc.delimiter {
                    end = line_start;
                    break;
                }
            }
            if let Some(Event::Command(command)) = heredoc.event.and_then(|event| self.events.get_mut(event))
                && let Some(redirection) = command.redirections.get_mut(heredoc.redirection)
            {
                redirection.body = Some(self.cursor.text[start..end].to_owned());
            }
        }
    }

    fn finish(mut self) -> Vec<Event> {
        while self.frames.len() > 1 {
            match self.frame().kind {
                Kind::Array => {
                    self.frames.pop();
                }
                Kind::Arithmetic(_) => self.end_unknown(),
                _ => self.close(),
            }
        }
        self.end_command();
        self.events
    }
}

#[cfg(test)]
mod tests;
