//! Splits a shell script into simple commands.
//!
//! The grammar is POSIX with the extensions of Bash: quotes, escapes, comments, operators, subshells, substitutions,
//! redirections and here-documents. The lexer makes one pass with an explicit stack, so that deep nesting cannot
//! overflow the call stack. An invalid script yields whatever could be parsed.

mod event;

pub(crate) use event::{Command, Direction, Event, Piece, Redirection, Word};

use std::collections::VecDeque;

/// The maximum nesting. The rest of a script that exceeds it is ignored.
const MAX_DEPTH: usize = 400;

/// The commands of a script, in their order of execution without branches.
pub(crate) fn parse(script: &str) -> Vec<Event> {
    let mut lexer = Lexer {
        text: script,
        at: 0,
        frames: vec![Frame::new(Kind::Top, 0, 0)],
        events: Vec::new(),
        substitutions: 0,
        heredocs: VecDeque::new(),
    };
    while let Some(c) = lexer.peek() {
        if lexer.frames.len() > MAX_DEPTH {
            break;
        }
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

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    frames: Vec<Frame>,
    events: Vec<Event>,
    substitutions: usize,
    heredocs: VecDeque<HereDocument>,
}

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next_is(&self, text: &str) -> bool {
        self.rest().starts_with(text)
    }

    /// Consumes `text` if it is next.
    fn take(&mut self, text: &str) -> bool {
        let next = self.next_is(text);
        if next {
            self.at += text.len();
        }
        next
    }

    /// The innermost frame. The bottom frame is never popped before the end.
    fn frame(&mut self) -> &mut Frame {
        if self.frames.is_empty() {
            self.frames.push(Frame::new(Kind::Top, 0, 0));
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    /// Reads a character, an operator or an expansion.
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
        self.at += c.len_utf8();
        match c {
            '(' => self.frame().kind = Kind::Arithmetic(depth + 1),
            ')' if depth > 0 => self.frame().kind = Kind::Arithmetic(depth - 1),
            ')' => {
                self.take(")");
                self.end_unknown();
            }
            '$' => self.dollar(),
            _ => {}
        }
    }

    fn expansion_step(&mut self, c: char) {
        self.at += c.len_utf8();
        match c {
            '}' => {
                self.frame().expansion -= 1;
                if self.frame().expansion == 0 {
                    let start = self.frame().piece;
                    self.fill(start);
                }
            }
            '\\' => self.skip_char(),
            '$' if self.take("{") => self.frame().expansion += 1,
            '$' => self.dollar(),
            '`' => self.backtick(),
            _ => {}
        }
    }

    fn quoted_step(&mut self, c: char) {
        self.at += c.len_utf8();
        match c {
            '"' => self.frame().quoted = false,
            '\\' => match self.peek() {
                Some('\n') => self.at += 1,
                Some(escaped @ ('$' | '`' | '"' | '\\')) => {
                    self.at += 1;
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
        self.at += c.len_utf8();
        match c {
            '\\' => match self.peek() {
                Some('\n') => self.at += 1,
                Some(escaped) => {
                    self.at += escaped.len_utf8();
                    self.frame().word().push_quoted(escaped);
                }
                None => {}
            },
            '\'' => self.single_quoted(),
            '"' => {
                let frame = self.frame();
                frame.quoted = true;
                frame.word().quoted = true;
            }
            '$' if self.next_is("'") => self.escaped_string(),
            '$' if self.next_is("\"") => {}
            '$' => self.dollar(),
            '`' => self.backtick(),
            ' ' | '\t' | '\r' => self.end_word(),
            '\n' => {
                self.end_command();
                self.here_documents();
            }
            '#' if self.frame().word.is_none() => {
                self.at = self
                    .rest()
                    .find('\n')
                    .map_or(self.text.len(), |end| self.at + end);
            }
            ';' => self.end_command(),
            '&' | '|' | '<' | '>' | '(' | ')' if self.frame().condition => self.frame().word().push(c),
            '&' if self.take(">>") => self.redirect(Direction::Append),
            '&' if self.take(">") => self.redirect(Direction::Write),
            '&' => {
                self.end_command();
                self.take("&");
            }
            '|' => {
                self.end_command();
                let is_fallback = self.take("|");
                let frame = self.frame();
                frame.is_fallback = is_fallback;
                frame.is_piped = !is_fallback;
                self.take("&");
            }
            '(' => self.open_parenthesis(),
            ')' => self.close_parenthesis(),
            '<' => self.less(),
            '>' => self.greater(),
            c => self.frame().word().push(c),
        }
    }

    fn skip_char(&mut self) {
        self.at += self.peek().map_or(0, char::len_utf8);
    }

    /// Reads the rest of a single-quoted text.
    fn single_quoted(&mut self) {
        let text = self.rest();
        let length = text.find('\'').unwrap_or(text.len());
        let word = self.frame().word();
        word.quoted = true;
        text[..length].chars().for_each(|c| word.push_quoted(c));
        self.at = self.text.len().min(self.at + length + 1);
    }

    /// `$'…'` with the common escapes.
    fn escaped_string(&mut self) {
        self.at += 1;
        self.frame().word().quoted = true;
        while let Some(c) = self.peek() {
            self.at += c.len_utf8();
            let c = match c {
                '\'' => return,
                '\\' => {
                    let escaped = self.peek().unwrap_or('\\');
                    self.skip_char();
                    match escaped {
                        'n' => '\n',
                        't' => '\t',
                        'r' => '\r',
                        'x' => self.number(16, 2, 0),
                        'u' => self.number(16, 4, 0),
                        '0'..='7' => self.number(8, 2, escaped.to_digit(8).unwrap_or_default()),
                        other => other,
                    }
                }
                c => c,
            };
            self.frame().word().push_quoted(c);
        }
    }

    /// The character whose number has `first` and up to `most` further digits.
    fn number(&mut self, radix: u32, most: usize, first: u32) -> char {
        let mut number = first;
        for _ in 0..most {
            let Some(digit) = self.peek().and_then(|letter| letter.to_digit(radix)) else {
                break;
            };
            number = number * radix + digit;
            self.at += 1;
        }
        char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    /// Reads the expansion after a dollar sign.
    fn dollar(&mut self) {
        let inside_word = !matches!(self.frame().kind, Kind::Arithmetic(_)) && self.frame().expansion == 0;
        let start = self.at.saturating_sub(1);
        if self.take("((") {
            return self.open_unknown(Kind::Arithmetic(0), start, inside_word);
        }
        if self.take("(") {
            return self.open(Kind::Substitution, start, inside_word);
        }
        let braced = self.take("{");
        let rest = self.rest();
        let length = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .unwrap_or(rest.len());
        let name = &rest[..length];
        let named = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if braced {
            if named && rest[length..].starts_with('}') {
                self.at += length + 1;
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
            self.at += length;
            self.add(Piece::Variable(name.to_owned()), inside_word);
        } else if rest
            .starts_with(|c: char| c.is_ascii_digit() || matches!(c, '@' | '*' | '#' | '?' | '$' | '!' | '-'))
        {
            self.at += 1;
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
        let end = self.text.floor_char_boundary(self.at.min(start + MAX_UNKNOWN));
        let shown = self.text.get(start..end).unwrap_or_default();
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
            self.open(Kind::Backtick, self.at.saturating_sub(1), inside_word);
        }
    }

    fn open_parenthesis(&mut self) {
        let doubled = self.next_is("(");
        let follows_closing = self.rest().trim_start_matches([' ', '\t']).starts_with(')');
        let frame = self.frame();
        if frame.at_start && frame.word.is_none() && frame.redirection.is_none() {
            if self.take("(") {
                self.open_unknown(Kind::Arithmetic(0), self.at, false);
            } else {
                self.open(Kind::Subshell, self.at, false);
            }
            return;
        }
        // `for ((i = 0; …))`
        let loops = doubled && frame.loops;
        let assigns = |word: &Word| word.bare().is_some_and(|text| text.ends_with('='));
        if frame.word.as_ref().is_some_and(assigns) {
            let first_event = self.events.len();
            self.frames.push(Frame::new(Kind::Array, self.at, first_event));
        } else if loops {
            self.take("(");
            self.open_unknown(Kind::Arithmetic(0), self.at, false);
        } else if follows_closing && frame.command.words.len() + usize::from(frame.word.is_some()) <= 2 {
            // `name ()`: the body is read as commands.
            frame.word = None;
            frame.take_command();
            self.at += self.rest().find(')').map_or(0, |end| end + 1);
        } else {
            frame.parentheses += 1;
            frame.word().push('(');
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
        let start = self.at.saturating_sub(1);
        if self.take("(") {
            self.frame().word();
            self.open(Kind::Substitution, start, true);
        } else if self.take("<<") {
            self.redirect(Direction::HereString);
        } else if let Some(length) = self.placeholder() {
            let text = &self.text[start..self.at + length];
            self.at += length;
            let word = self.frame().word();
            text.chars().for_each(|c| word.push(c));
        } else if self.take("<") {
            let strip_tabs = self.take("-");
            self.redirect(Direction::HereDocument);
            self.frame().redirection = Some((Direction::HereDocument, strip_tabs));
        } else if self.take("&") {
            self.redirect(Direction::Duplicate);
        } else if self.take(">") {
            self.redirect(Direction::Write);
        } else {
            self.redirect(Direction::Read);
        }
    }

    /// The length of `name>` after `<` if it is a placeholder, as in documentation, and not a redirection.
    fn placeholder(&self) -> Option<usize> {
        let rest = self.rest();
        let length = rest.find(|c: char| !(c.is_ascii_lowercase() || matches!(c, '-' | '_')))?;
        let behind = rest[length..].strip_prefix('>').filter(|_| length > 0)?;
        let ends = behind.starts_with(['/', '.', ':', '@', '"', ';', ')'])
            || behind.trim_start_matches(' ').is_empty();
        ends.then_some(length + 1)
    }

    fn greater(&mut self) {
        let start = self.at.saturating_sub(1);
        if self.take("(") {
            self.frame().word();
            self.open(Kind::Substitution, start, true);
        } else if self.take(">") {
            self.redirect(Direction::Append);
        } else if self.take("&") {
            self.redirect(Direction::Duplicate);
        } else {
            self.take("|");
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
            let start = self.at;
            let mut end = self.text.len();
            while self.at < self.text.len() {
                let line_start = self.at;
                let line = self.rest().split('\n').next().unwrap_or_default();
                self.at = self.text.len().min(line_start + line.len() + 1);
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
                redirection.body = Some(self.text[start..end].to_owned());
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
