//! A command line as a list of simple commands, as far as rules need it: what is quoted stays one word, and what is fed to a
//! program as text (`<<EOF`) is no command, unless the program is a shell or an interpreter that runs it. What code shows
//! that is given to an interpreter stands among the commands as well, in the words of a shell.

use grov_actions::inline::{Allowance, given, shown};
use grov_actions::prefix::{Ground, Prefix, prefix};
use grov_domain::beginning_to;

mod container;

/// Of longer command lines the beginning counts. Recorded ones are shorter; one that is about to run may be longer.
const MOST_BYTES: usize = 256 * 1024;

/// At most so many simple commands, and so many words of each.
const MOST_COMMANDS: usize = 4096;
const MOST_WORDS: usize = 4096;

/// After so many substitutions that do not end, none is looked for.
const MOST_UNCLOSED: usize = 16;

/// So many bytes are walked through for substitutions of one script.
const MOST_WALKED: usize = 32 * 1024 * 1024;

/// Commands in commands are followed this deep.
const MOST_DEPTH: u8 = 3;

/// One program with its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SimpleCommand {
    /// The program and its arguments, quotes taken off.
    pub(crate) words: Vec<String>,
    /// Files that its output goes to (`>`, `>>`).
    pub(crate) targets: Vec<String>,
    /// It reads what the command before it writes.
    pub(crate) piped: bool,
    /// Programs that run it: `sudo`, `xargs`.
    pub(crate) through: Vec<String>,
    /// The text that it reads, where the line shows it: a here-document, what the command before it prints.
    pub(crate) input: Option<String>,
    /// Which shell runs it: 0 is that of the line, the others are begun by the line and leave it where it is.
    pub(crate) shell: u32,
    /// On which machine it runs.
    pub(crate) ground: Ground,
    /// Scripts whose output stands in its words or is read by it: `$(…)`, `<(…)`.
    pub(crate) substituted: Vec<String>,
}

impl SimpleCommand {
    /// The program's name, without its folder; empty where there is none.
    pub(crate) fn program(&self) -> &str {
        let word = self.words.first().map_or("", String::as_str);
        let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
        name.strip_suffix(".exe").unwrap_or(name)
    }

    /// The arguments.
    pub(crate) fn arguments(&self) -> &[String] {
        self.words.get(1..).unwrap_or_default()
    }

    /// The arguments that are no options.
    pub(crate) fn operands(&self) -> impl Iterator<Item = &str> {
        self.arguments()
            .iter()
            .map(String::as_str)
            .filter(|word| !word.starts_with('-'))
    }

    /// Whether an argument is the long option or has the letter among its short ones.
    pub(crate) fn has(&self, long: &str, letter: char) -> bool {
        self.arguments().iter().any(|word| {
            let short = word.starts_with('-') && !word.starts_with("--") && word.contains(letter);
            word == long || short
        })
    }

    /// The command that Git is told, behind Git's own options; empty for other programs.
    pub(crate) fn git(&self) -> (&str, &[String]) {
        if self.program() != "git" {
            return ("", &[]);
        }
        let mut at = 1;
        while let Some(word) = self.words.get(at) {
            match word.as_str() {
                "-C" | "-c" | "--git-dir" | "--work-tree" => at += 2,
                word if word.starts_with('-') => at += 1,
                word => return (word, self.words.get(at + 1..).unwrap_or_default()),
            }
        }
        ("", &[])
    }
}

/// The simple commands of a command line, in order; those given to a shell in quotes are among them, and what code does that
/// is given to an interpreter.
pub(crate) fn split(line: &str) -> Vec<SimpleCommand> {
    split_or_cut(line).0
}

/// The same, and whether a bound left out something.
pub(crate) fn split_or_cut(line: &str) -> (Vec<SimpleCommand>, bool) {
    let beginning = beginning_to(line, line.floor_char_boundary(MOST_BYTES));
    let mut splitting = Splitting::default();
    splitting.script(beginning, 0, 0);
    let found = splitting.found;
    let is_full = |command: &SimpleCommand| command.words.len().max(command.targets.len()) >= MOST_WORDS;
    let is_cut = line.len() > MOST_BYTES || found.len() >= MOST_COMMANDS || found.iter().any(is_full);
    (found, is_cut)
}

#[derive(Default)]
struct Splitting {
    found: Vec<SimpleCommand>,
    shells: u32,
    /// What may still be walked through of the scripts in the line.
    allowance: Allowance,
}

/// What a command runs beside itself.
enum Inner {
    /// In the same shell.
    Here(String),
    /// Each in a shell of its own.
    Apart(Vec<String>),
}

impl Splitting {
    fn script(&mut self, script: &str, shell: u32, depth: u8) {
        let mut printed = None;
        for raw in Reader::new(script).commands() {
            printed = self.command(raw, printed.take(), shell, depth);
        }
    }

    /// Takes a command and what it runs beside itself. Returns the text that it prints, where the line shows it.
    fn command(
        &mut self,
        raw: SimpleCommand,
        printed: Option<String>,
        shell: u32,
        depth: u8,
    ) -> Option<String> {
        if self.found.len() >= MOST_COMMANDS {
            return None;
        }
        for script in &raw.substituted {
            self.apart(script, depth);
        }
        let Unwrapped {
            mut command,
            prefix,
            alternative,
        } = unwrapped(raw);
        if command.words.is_empty() && command.targets.is_empty() {
            return printed;
        }
        command.shell = shell;
        if command.piped && command.input.is_none() {
            command.input = printed;
        }
        let printed = printed_by(&command);
        let follows = depth < MOST_DEPTH && !self.allowance.is_spent();
        let inner = follows.then(|| inner_of(&command)).flatten();
        let input = command.input.clone().filter(|_| prefix.is_some());
        let words = prefix.as_ref().filter(|_| follows).map(|prefix| {
            let words = command.arguments().get(prefix.command..);
            words.unwrap_or_default().to_vec()
        });
        self.found.push(command);
        if let Some(mut guess) = alternative {
            guess.shell = shell;
            self.found.push(guess);
        }
        match inner {
            Some(Inner::Here(script)) => self.inner_script(&script, shell, depth + 1),
            Some(Inner::Apart(scripts)) => {
                for script in scripts {
                    self.apart(&script, depth);
                }
            }
            None => {}
        }
        if let (Some(prefix), Some(words)) = (prefix, words) {
            self.behind(&prefix, words, input, depth);
        }
        printed
    }

    /// Takes what a prefix runs in a shell of its own, in a container or on another machine.
    fn behind(&mut self, prefix: &Prefix, words: Vec<String>, input: Option<String>, depth: u8) {
        let from = self.found.len();
        for script in &prefix.scripts {
            self.apart(script, depth);
        }
        match prefix.ground {
            Ground::Here if prefix.is_script => self.apart(&words.join(" "), depth),
            Ground::Here => {}
            // It begins in the user's home there.
            Ground::Remote if prefix.is_script => {
                self.apart(&format!("cd ~; {}", words.join(" ")), depth);
                let runs_input = match words.first() {
                    Some(first) => first.split(' ').next().is_some_and(is_shell),
                    None => true,
                };
                if let Some(script) = input.filter(|_| runs_input) {
                    self.apart(&format!("cd ~; {script}"), depth);
                }
            }
            Ground::Remote | Ground::Container => {
                self.shells += 1;
                let entrypoint = prefix.entrypoint.clone().filter(|program| !program.is_empty());
                let raw = SimpleCommand {
                    words: entrypoint.into_iter().chain(words).collect(),
                    ..SimpleCommand::default()
                };
                self.command(raw, None, self.shells, depth + 1);
            }
        }
        if prefix.ground == Ground::Container {
            let inner = self.found.split_off(from.min(self.found.len()));
            self.found.extend(container::seen_from_outside(inner, prefix));
        }
        let others = self.found.iter_mut().skip(from);
        others.for_each(|command| command.ground = prefix.ground);
    }

    fn apart(&mut self, script: &str, depth: u8) {
        if depth < MOST_DEPTH {
            self.shells += 1;
            self.inner_script(script, self.shells, depth + 1);
        }
    }

    fn inner_script(&mut self, script: &str, shell: u32, depth: u8) {
        if self.found.len() < MOST_COMMANDS
            && let Some(script) = self.allowance.take(script)
        {
            self.script(script, shell, depth);
        }
    }
}

/// Whether a program is a shell, by its name without a folder.
pub(crate) fn is_shell(program: &str) -> bool {
    matches!(program, "sh" | "bash" | "zsh" | "dash" | "ksh" | "ash" | "fish")
}

fn inner_of(command: &SimpleCommand) -> Option<Inner> {
    match command.program() {
        program if is_shell(program) => {
            let words = command.arguments();
            let at = words
                .iter()
                .position(|word| word.starts_with('-') && word.ends_with('c'));
            let script = match at {
                Some(at) => words.get(at + 1).cloned(),
                // With an argument it runs that.
                None if command.operands().next().is_none() || command.has("--stdin", 's') => {
                    command.input.clone()
                }
                None => None,
            };
            script.map(|script| Inner::Apart(vec![script]))
        }
        "trap" => {
            let script = command.operands().next()?;
            Some(Inner::Apart(vec![script.to_owned()]))
        }
        "eval" => Some(Inner::Here(command.arguments().join(" "))),
        program => {
            let given = given(program, command.arguments().iter().map(String::as_str))?;
            let read = command.input.as_deref().filter(|_| given.reads_input);
            let mut lines = given.shown();
            lines.extend(read.into_iter().flat_map(|code| shown(given.language, code)));
            Some(Inner::Apart(lines))
        }
    }
}

/// The text that a command prints, where the line shows it.
fn printed_by(command: &SimpleCommand) -> Option<String> {
    match command.program() {
        "echo" => {
            let words = command
                .arguments()
                .iter()
                .skip_while(|word| matches!(word.as_str(), "-n" | "-e" | "-ne" | "-en"));
            Some(words.map(String::as_str).collect::<Vec<_>>().join(" "))
        }
        "printf" => command
            .arguments()
            .first()
            .map(|format| format.replace("\\n", "\n")),
        "cat" | "tee" if command.operands().next().is_none() || command.program() == "tee" => {
            command.input.clone()
        }
        _ => None,
    }
}

/// A command without what runs it.
struct Unwrapped {
    command: SimpleCommand,
    /// A prefix that runs something in another shell or on another machine; the command is the prefix itself then.
    prefix: Option<Prefix>,
    /// What else the command may be, where a prefix has an option that is not known.
    alternative: Option<SimpleCommand>,
}

/// The command without what runs it in another way: `sudo`, `env A=b`, `timeout 5`, `xargs`.
fn unwrapped(mut command: SimpleCommand) -> Unwrapped {
    let mut alternative: Option<SimpleCommand> = None;
    let mut outer = None;
    while let Some(first) = command.words.first() {
        let is_assignment = first.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty()
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        });
        let is_keyword = matches!(
            first.as_str(),
            "then" | "do" | "else" | "elif" | "if" | "while" | "until" | "!" | "{" | "("
        );
        let arguments: Vec<&str> = command.arguments().iter().map(String::as_str).collect();
        if is_assignment || is_keyword {
            command.words.remove(0);
        } else if matches!(command.program(), "npx" | "bunx") && !arguments.is_empty() {
            let wrapper = command.words.remove(0);
            command.through.push(wrapper);
            let options = command.words.iter().take_while(|word| word.starts_with('-'));
            command.words.drain(..options.count());
        } else if let Some(found) = prefix(command.program(), &arguments) {
            let runs_apart = found.is_script || found.ground != Ground::Here || !found.scripts.is_empty();
            if runs_apart {
                outer = Some(found);
                break;
            }
            if found.command >= arguments.len() {
                break;
            }
            let is_parallel = command.program() == "parallel";
            let wrapper = command.words.remove(0);
            command.through.push(wrapper);
            command.words.drain(..found.command);
            if is_parallel {
                command
                    .words
                    .retain(|word| !word.starts_with(":::") && !word.contains("{}"));
            }
            if found.is_guess && alternative.is_none() {
                alternative = Some(SimpleCommand {
                    words: command.words.iter().skip(1).cloned().collect(),
                    ..command.clone()
                });
            }
        } else {
            break;
        }
    }
    Unwrapped {
        command,
        prefix: outer,
        alternative: alternative.filter(|command| !command.words.is_empty()),
    }
}

struct Reader<'a> {
    letters: std::iter::Peekable<std::str::Chars<'a>>,
    /// The number of the command at hand.
    number: usize,
    /// Ends of texts that begin on the next line, and the numbers of the commands that read them.
    awaited: Vec<(usize, String)>,
    /// Such texts.
    texts: Vec<(usize, String)>,
    piped: bool,
    /// Substitutions that do not end.
    unclosed: usize,
    /// Bytes walked through for substitutions.
    walked: usize,
}

/// What the next word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Goes {
    Word,
    /// A file that output goes to.
    Target,
    /// The text that is read.
    Input,
}

impl<'a> Reader<'a> {
    fn new(line: &'a str) -> Self {
        Self {
            letters: line.chars().peekable(),
            number: 0,
            awaited: Vec::new(),
            texts: Vec::new(),
            piped: false,
            unclosed: 0,
            walked: 0,
        }
    }

    /// All simple commands; some may be empty.
    fn commands(mut self) -> Vec<SimpleCommand> {
        let mut found = Vec::new();
        while found.len() < MOST_COMMANDS {
            let Some(command) = self.next_command() else { break };
            found.push(command);
            self.number += 1;
        }
        for (number, text) in self.texts {
            if let Some(command) = found.get_mut(number) {
                command.input = Some(text);
            }
        }
        found
    }

    /// The next simple command; `None` at the end. It may be empty.
    fn next_command(&mut self) -> Option<SimpleCommand> {
        self.letters.peek()?;
        let mut command = SimpleCommand {
            piped: std::mem::take(&mut self.piped),
            ..SimpleCommand::default()
        };
        let mut word = String::new();
        let mut quoted = false;
        let mut goes = Goes::Word;
        while let Some(letter) = self.letters.next() {
            match letter {
                '\\' => match self.letters.next() {
                    Some('\n') | None => {}
                    Some(next) => word.push(next),
                },
                '\'' => {
                    quoted = true;
                    word.extend(self.letters.by_ref().take_while(|next| *next != '\''));
                }
                '"' => {
                    quoted = true;
                    self.double_quoted(&mut word, &mut command.substituted);
                }
                '$' if self.letters.peek() == Some(&'\'') => {
                    quoted = true;
                    self.letters.next();
                    self.ansi_quoted(&mut word);
                }
                '$' | '`' if self.substitution(letter, &mut word, &mut command.substituted) => {}
                '#' if word.is_empty() && !quoted => {
                    while self.letters.next_if(|next| *next != '\n').is_some() {}
                }
                '>' => {
                    // The number of the stream stands before it.
                    if word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'&') {
                        word.clear();
                    }
                    end_word(&mut command, &mut word, &mut quoted, &mut goes);
                    while self.letters.next_if(|next| matches!(next, '>' | '|')).is_some() {}
                    let to_file = self.letters.next_if_eq(&'&').is_none();
                    if to_file {
                        goes = Goes::Target;
                    }
                    // `>&1` goes to another stream.
                    while !to_file
                        && self
                            .letters
                            .next_if(|next| next.is_ascii_digit() || *next == '-')
                            .is_some()
                    {}
                }
                '<' if self.is_placeholder() => {
                    word.push('<');
                    word.extend(self.letters.by_ref().take_while(|next| *next != '>'));
                    word.push('>');
                }
                '<' if self.letters.peek() == Some(&'(') => {
                    end_word(&mut command, &mut word, &mut quoted, &mut goes);
                    if self.substitution('$', &mut word, &mut command.substituted) {
                        end_word(&mut command, &mut word, &mut quoted, &mut goes);
                    }
                }
                '<' => {
                    end_word(&mut command, &mut word, &mut quoted, &mut goes);
                    if self.letters.next_if_eq(&'<').is_some() {
                        if self.letters.next_if_eq(&'<').is_some() {
                            goes = Goes::Input;
                        } else {
                            self.await_text();
                        }
                    }
                }
                '\n' | ';' | '|' | '&' | ')' | '(' => {
                    end_word(&mut command, &mut word, &mut quoted, &mut goes);
                    let doubled = self.letters.next_if_eq(&letter).is_some();
                    self.piped = letter == '|' && !doubled;
                    if letter == '\n' {
                        self.skip_texts();
                    }
                    return Some(command);
                }
                letter if letter.is_whitespace() => {
                    end_word(&mut command, &mut word, &mut quoted, &mut goes);
                }
                letter => word.push(letter),
            }
        }
        end_word(&mut command, &mut word, &mut quoted, &mut goes);
        Some(command)
    }

    /// Whether `<name>` stands here, as in documentation, and no redirection.
    fn is_placeholder(&self) -> bool {
        let mut ahead = self.letters.clone();
        let name = ahead
            .by_ref()
            .take_while(|letter| letter.is_ascii_lowercase() || *letter == '-' || *letter == '_');
        let length = name.count();
        // `take_while` has eaten the letter behind the name.
        length > 0 && self.letters.clone().nth(length) == Some('>')
    }

    /// Takes `$(…)` or a text in backticks, whose beginning was read, if it ends: into the word as it stands, and into the
    /// scripts. Whether it was one.
    fn substitution(&mut self, begins: char, word: &mut String, scripts: &mut Vec<String>) -> bool {
        let is_open = begins == '`' || self.letters.peek() == Some(&'(');
        if !is_open || self.unclosed > MOST_UNCLOSED || self.walked > MOST_WALKED {
            return false;
        }
        let rest: String = self.letters.clone().collect();
        self.walked += rest.len();
        let (opens, script) = match begins {
            '$' => match rest.strip_prefix('(').filter(|rest| !rest.starts_with('(')) {
                Some(rest) => (1, substituted(rest)),
                None => return false,
            },
            _ => (0, rest.split_once('`').map(|(script, _)| script)),
        };
        let Some(script) = script else {
            self.unclosed += 1;
            return false;
        };
        let length = opens + script.chars().count() + 1;
        word.push(begins);
        word.extend(self.letters.by_ref().take(length));
        if scripts.len() < MOST_WORDS {
            scripts.push(script.to_owned());
        }
        true
    }

    /// Takes what stands in `$'…'`, its escapes resolved.
    fn ansi_quoted(&mut self, word: &mut String) {
        while let Some(letter) = self.letters.next() {
            match letter {
                '\'' => return,
                '\\' => {
                    let escape = self.letters.next();
                    let (radix, most) = match escape {
                        Some('x') => (16, 2),
                        Some('u') => (16, 4),
                        Some('0'..='7') => (8, 2),
                        _ => (0, 0),
                    };
                    let mut code = escape
                        .and_then(|letter| letter.to_digit(8))
                        .filter(|_| radix == 8);
                    for _ in 0..most {
                        let digit = self.letters.peek().and_then(|letter| letter.to_digit(radix));
                        let Some(digit) = digit else { break };
                        code = Some(code.unwrap_or_default() * radix + digit);
                        self.letters.next();
                    }
                    word.extend(match (escape, code) {
                        (_, Some(code)) => char::from_u32(code),
                        (Some('n'), _) => Some('\n'),
                        (Some('t'), _) => Some('\t'),
                        (escape, _) => escape,
                    });
                }
                letter => word.push(letter),
            }
        }
    }

    fn double_quoted(&mut self, word: &mut String, scripts: &mut Vec<String>) {
        while let Some(letter) = self.letters.next() {
            match letter {
                '"' => return,
                '$' | '`' if self.substitution(letter, word, scripts) => {}
                '\\' => word.extend(self.letters.next()),
                letter => word.push(letter),
            }
        }
    }

    /// Notes how the text ends that `<<` announces.
    fn await_text(&mut self) {
        while self
            .letters
            .next_if(|next| matches!(next, '-' | ' ' | '\'' | '"' | '\\' | '<'))
            .is_some()
        {}
        let mut end = String::new();
        while let Some(letter) = self
            .letters
            .next_if(|next| next.is_alphanumeric() || *next == '_')
        {
            end.push(letter);
        }
        self.letters.next_if(|next| matches!(next, '\'' | '"'));
        if !end.is_empty() {
            self.awaited.push((self.number, end));
        }
    }

    fn skip_texts(&mut self) {
        for (number, end) in std::mem::take(&mut self.awaited) {
            let mut text = String::new();
            loop {
                let line: String = self
                    .letters
                    .by_ref()
                    .take_while(|letter| *letter != '\n')
                    .collect();
                if line.trim() == end {
                    break;
                }
                text.push_str(&line);
                text.push('\n');
                if self.letters.peek().is_none() {
                    break;
                }
            }
            self.texts.push((number, text));
        }
    }
}

/// The script in front of the bracket that ends a substitution; `None` if there is none. Brackets in quotes, comments and
/// here-documents end nothing.
fn substituted(text: &str) -> Option<&str> {
    let mut open = 1_usize;
    let mut awaited: Option<String> = None;
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            '\'' => drop(letters.find(|(_, letter)| *letter == '\'')?),
            '"' => {
                while let Some((_, letter)) = letters.next() {
                    match letter {
                        '\\' => drop(letters.next()),
                        '"' => break,
                        _ => {}
                    }
                }
            }
            '<' if text[at..].starts_with("<<") && !text[at..].starts_with("<<<") => {
                letters.next();
                let end = text[at + 2..].trim_start_matches(['-', ' ', '\'', '"', '\\']);
                let skipped = text[at + 2..].chars().count() - end.chars().count();
                let end: String = end
                    .chars()
                    .take_while(|letter| letter.is_alphanumeric() || *letter == '_')
                    .collect();
                for _ in 0..skipped + end.chars().count() {
                    letters.next();
                }
                letters.next_if(|(_, letter)| matches!(letter, '\'' | '"'));
                awaited = Some(end).filter(|end| !end.is_empty());
            }
            '\n' => {
                if let Some(end) = awaited.take() {
                    let rest = &text[at + 1..];
                    let ends = rest
                        .split_inclusive('\n')
                        .scan(at + 1, |from, line| {
                            *from += line.len();
                            Some((line.trim() == end, *from))
                        })
                        .find(|(is_end, _)| *is_end)
                        .map(|(_, behind)| behind)?;
                    while letters.next_if(|(at, _)| *at + 1 < ends).is_some() {}
                }
            }
            '(' => open += 1,
            ')' => {
                open -= 1;
                if open == 0 {
                    return Some(&text[..at]);
                }
            }
            _ => {}
        }
    }
    None
}

fn end_word(command: &mut SimpleCommand, word: &mut String, quoted: &mut bool, goes: &mut Goes) {
    if word.is_empty() && !*quoted {
        return;
    }
    *quoted = false;
    let word = std::mem::take(word);
    match std::mem::replace(goes, Goes::Word) {
        Goes::Word if command.words.len() < MOST_WORDS => command.words.push(word),
        Goes::Target if command.targets.len() < MOST_WORDS => command.targets.push(word),
        Goes::Input => command.input = Some(word),
        Goes::Word | Goes::Target => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(line: &str) -> Vec<String> {
        split(line)
            .iter()
            .map(|command| command.words.join(" "))
            .collect()
    }

    #[test]
    fn commands_are_found() {
        let cases: &[(&str, &[&str])] = &[
            (
                "cd a && git push; ls | wc -l",
                &["cd a", "git push", "ls", "wc -l"],
            ),
            (
                "git commit -m 'no; git push' --amend",
                &["git commit -m no; git push --amend"],
            ),
            ("sudo -n env A=b timeout 5 rm -rf x", &["rm -rf x"]),
            ("cat > a.sh <<'EOF'\nrm -rf /\nEOF\nls", &["cat", "ls"]),
            ("bash -lc 'npm i && ls'", &["bash -lc npm i && ls", "npm i", "ls"]),
            ("if true; then git push; fi", &["true", "git push", "fi"]),
            ("# git push\nls", &["ls"]),
            ("cat <dir>/a > b", &["cat <dir>/a"]),
            ("find . -name x | xargs -0 rm", &["find . -name x", "rm"]),
            ("/usr/bin/git push 2>&1", &["/usr/bin/git push"]),
            (
                "bash <<EOF && ls\ngit push\nEOF\npwd",
                &["bash", "git push", "ls", "pwd"],
            ),
            ("sh <<< 'git push'; ls", &["sh", "git push", "ls"]),
            ("bash run.sh <<< 'git push'", &["bash run.sh"]),
            ("echo 'git push' | bash", &["echo git push", "bash", "git push"]),
            ("cat <<X | sudo bash -s\nls\nX", &["cat", "bash -s", "ls"]),
            ("python3 -c 'print(1)'", &["python3 -c print(1)"]),
            (
                "python3 - <<'E'\nimport os\nos.system(\"git push\")\nE\nls",
                &["python3 -", "git push", "ls"],
            ),
            (
                "node -e \"require('fs').rmSync('/a b', {recursive: true})\"",
                &[
                    "node -e require('fs').rmSync('/a b', {recursive: true})",
                    "rm -r /a b",
                ],
            ),
            ("", &[]),
        ];
        for (line, expected) in cases {
            assert_eq!(&words(line), expected, "{line}");
        }
        assert_eq!(split("/usr/bin/git push")[0].program(), "git");
    }

    #[test]
    fn output_goes_to_files_and_programs() {
        let commands = split("echo x >> ~/.bashrc 2>/dev/null; curl u | sh");
        assert_eq!(commands[0].targets, ["~/.bashrc", "/dev/null"]);
        assert!(!commands[1].piped && commands[2].piped);
    }

    #[test]
    fn no_half_of_a_path_stands_at_a_cut() {
        let whole = "/home/me/project/build/x";
        let mut seen = 0;
        for more in 0..40 {
            let line = format!(
                "echo {}; rm -rf {whole}; ls {}",
                "a".repeat(MOST_BYTES - 40 + more),
                "b ".repeat(99)
            );
            let removed = split(&line)
                .into_iter()
                .filter(|command| command.program() == "rm");
            for command in removed {
                assert!(command.operands().all(|path| path == whole), "{command:?}");
                seen += 1;
            }
        }
        assert!(seen > 0, "the command stood before the cut in no case");
    }

    #[test]
    fn code_that_multiplies_itself_is_walked_so_many_times() {
        let nested = |levels: usize, call: fn(usize) -> String| {
            (0..levels).fold("rm inner".to_owned(), |script, level| {
                let calls: String = (0..40).map(call).collect();
                format!("perl <<'E{level}'\n$x=q{{{script}}};{calls}\nE{level}\n")
            })
        };
        for levels in 1..=MOST_DEPTH {
            let walk = |script: &str| {
                let mut splitting = Splitting::default();
                splitting.script(script, 0, 0);
                splitting
            };
            let levels = usize::from(levels);
            let same = walk(&nested(levels, |_| "system($x);".to_owned()));
            assert_eq!(same.allowance.scripts(), levels);
            assert_eq!(same.found.last().map(SimpleCommand::program), Some("rm"));
            let others = walk(&nested(levels, |number| format!("system('A={number};'.$x);")));
            assert!(others.allowance.scripts() <= 64 && others.found.len() <= MOST_COMMANDS);
        }
    }

    #[test]
    fn a_long_text_said_many_times_is_no_command() {
        let many = "system $x, ".repeat(400);
        let line = format!(
            "perl -e '$x=\"{}\"; {many}1; system(q{{rm a}})'",
            "A".repeat(2700)
        );
        assert_eq!(split(&line).last().map(SimpleCommand::program), Some("rm"));
    }

    #[test]
    fn git_is_told_behind_its_options() {
        let commands = split("git -C x -c a=b push -f origin");
        let (command, rest) = commands[0].git();
        assert_eq!((command, rest.join(" ")), ("push", "-f origin".to_owned()));
    }

    proptest! {
        #[test]
        fn any_line_is_split(line in any::<String>(), shell in "[ab\\\\'\"<>|&;()#\n$ -]{0,80}") {
            let _ = split(&line);
            let _ = split(&shell);
        }
    }
}
