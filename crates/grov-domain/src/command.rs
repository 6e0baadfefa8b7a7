//! Parsed command lines: the programs that a command line runs, with their arguments.
//!
//! Created by the parser in `grov-actions`, evaluated by the rules in `grov-scope`.

use std::ops::Range;

/// A parsed command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// The programs in order, including those in scripts passed to a shell or an interpreter.
    pub programs: Vec<Program>,
    /// Whether programs were left out because a limit was reached.
    pub is_cut: bool,
}

/// A program with its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// The command word as written; empty if there is only a redirection.
    pub word: String,
    /// The arguments without quotes. Expansions stay as written: `$(date)`.
    pub arguments: Vec<Argument>,
    /// Variables set for this program alone: `HUSKY=0 git commit`.
    pub assignments: Vec<String>,
    /// Files of input redirections (`<`), as written.
    pub reads: Vec<String>,
    /// Targets of output redirections (`>`, `>>`), as written.
    pub targets: Vec<String>,
    /// Whether all output redirections append (`>>`).
    pub appends: bool,
    /// Files and folders that it changes, creates or deletes, as far as arguments and redirections show.
    pub changes: Vec<String>,
    /// Whether files that exist already keep their content: `touch`, `mkdir -p`.
    pub keeps_what_is_there: bool,
    /// Programs that run this one: `sudo`, `xargs`.
    pub through: Vec<String>,
    /// Names of the programs that it runs for each file found: `find -exec`.
    pub for_each: Vec<String>,
    /// Its standard input, if the command line shows it: a here-document, or the output of a program like `echo`.
    pub input: Option<String>,
    /// The index of the program whose output is piped to it.
    pub source: Option<usize>,
    /// The number of the shell that runs it: 0 for the outer shell, others for subshells, which do not change its directory.
    pub shell: u32,
    /// Where it runs.
    pub host: ExecutionHost,
    /// Whether it follows `||`, and so runs only if the previous command fails.
    pub is_fallback: bool,
}

/// An argument of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Argument {
    /// The text.
    pub text: String,
    /// Its role.
    pub role: Role,
    /// Indexes of the programs whose output it starts with: `$(…)`, `<(…)`.
    pub output_of: Range<usize>,
}

/// The role of an argument. For programs whose options are unknown, words that start with a hyphen are options without
/// values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// An option: `-n`, `--name`, `--name=value`.
    Option,
    /// The value of the option before it.
    Value,
    /// Anything else.
    #[default]
    Operand,
}

/// The machine on which a program runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExecutionHost {
    /// This machine.
    #[default]
    Local,
    /// A container, which can access only its mounted folders.
    Container,
    /// Another machine.
    Remote,
}

impl Program {
    /// Returns the name of the program without its folder; empty if there is no program.
    pub fn name(&self) -> &str {
        program_name(&self.word)
    }

    /// Returns the program and its arguments.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        let word = Some(self.word.as_str()).filter(|word| !word.is_empty());
        word.into_iter()
            .chain(self.arguments.iter().map(|argument| argument.text.as_str()))
    }

    /// Returns the arguments that are neither options nor values of options.
    pub fn operands(&self) -> impl DoubleEndedIterator<Item = &str> {
        operands(&self.arguments)
    }

    /// Whether an option is `long` or a group of short options with `letter`.
    pub fn has(&self, long: &str, letter: char) -> bool {
        let mut options = self
            .arguments
            .iter()
            .filter(|argument| argument.role == Role::Option);
        options.any(|option| option.text == long || option.is_short_with(letter))
    }

    /// Whether an argument is one of these words.
    pub fn has_word(&self, words: &[&str]) -> bool {
        self.arguments
            .iter()
            .any(|argument| words.contains(&argument.text.as_str()))
    }

    /// Returns the Git subcommand and the arguments after it; empty for other programs.
    pub fn git(&self) -> (&str, &[Argument]) {
        if self.name() != "git" {
            return ("", &[]);
        }
        let mut arguments = self.arguments.iter();
        match arguments.by_ref().find(|argument| argument.role == Role::Operand) {
            Some(command) => (&command.text, arguments.as_slice()),
            None => ("", &[]),
        }
    }
}

impl Argument {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it is a group of short options with this letter.
    pub fn is_short_with(&self, letter: char) -> bool {
        self.role == Role::Option
            && self.text.starts_with('-')
            && !self.text.starts_with("--")
            && self.text.contains(letter)
    }
}

impl PartialEq<&str> for Argument {
    fn eq(&self, text: &&str) -> bool {
        self.text == *text
    }
}

impl PartialEq<str> for Argument {
    fn eq(&self, text: &str) -> bool {
        self.text == text
    }
}

impl std::ops::Deref for Argument {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

/// Returns the operands among arguments.
pub fn operands(arguments: &[Argument]) -> impl DoubleEndedIterator<Item = &str> {
    arguments
        .iter()
        .filter(|argument| argument.role == Role::Operand)
        .map(Argument::as_str)
}

/// Returns the name of a program without its folder and the extension `.exe` or `.cmd`.
pub fn program_name(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    name.strip_suffix(".exe")
        .or_else(|| name.strip_suffix(".cmd"))
        .unwrap_or(name)
}

/// Whether a program name, without a folder, is that of a shell.
pub fn is_shell(program: &str) -> bool {
    matches!(program, "sh" | "bash" | "zsh" | "dash" | "ksh" | "ash" | "fish")
}
