//! Command lines as parsed: the programs that one runs, with their arguments.
//!
//! The parser of command lines creates these; rules evaluate them.

use std::ops::Range;

/// What a command line runs, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// The programs, also those inside of scripts that the line gives to a shell or an interpreter.
    pub programs: Vec<Program>,
    /// A bound left out some of it.
    pub is_cut: bool,
}

/// One program with its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// The word that names it, as written; empty where there is only a redirection.
    pub word: String,
    /// Its arguments, quotes taken off. What only the shell can compute stays as written: `$(date)`.
    pub arguments: Vec<Argument>,
    /// Files that its output goes to (`>`, `>>`), as written.
    pub targets: Vec<String>,
    /// Files and folders that it changes, makes or removes, as far as its arguments and redirections show them.
    pub changes: Vec<String>,
    /// Those of them that stay as they are if they are there: `touch`, `mkdir -p`.
    pub keeps_what_is_there: bool,
    /// Programs that run it: `sudo`, `xargs`.
    pub through: Vec<String>,
    /// The names of the programs that it runs for each file it finds: `find -exec`.
    pub for_each: Vec<String>,
    /// The text that it reads, where the line shows it: a here-document, what the program before it prints.
    pub input: Option<String>,
    /// The number of the program whose output it reads through a pipe.
    pub source: Option<usize>,
    /// Which shell runs it: 0 is that of the line, the others are begun by the line and leave it where it is.
    pub shell: u32,
    /// On which machine it runs.
    pub host: ExecutionHost,
    /// It stands behind `||`: it runs only if what is before it fails.
    pub is_fallback: bool,
}

/// An argument of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Argument {
    /// The text.
    pub text: String,
    /// What it is to the program.
    pub role: Role,
    /// The programs whose output it begins with, by their numbers: `$(…)`, `<(…)`.
    pub output_of: Range<usize>,
}

/// What an argument is to its program. Of programs whose options are not known, words with a hyphen are options without
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
    /// On this machine.
    #[default]
    Local,
    /// In a container, which sees the mounted folders alone.
    Container,
    /// On another machine.
    Remote,
}

impl Program {
    /// The program's name, without its folder; empty where there is none.
    pub fn name(&self) -> &str {
        program_name(&self.word)
    }

    /// The program and its arguments.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        let word = Some(self.word.as_str()).filter(|word| !word.is_empty());
        word.into_iter()
            .chain(self.arguments.iter().map(|argument| argument.text.as_str()))
    }

    /// The arguments that are neither options nor values of options.
    pub fn operands(&self) -> impl DoubleEndedIterator<Item = &str> {
        operands(&self.arguments)
    }

    /// Whether an argument is the long option or has the letter among its short ones.
    pub fn has(&self, long: &str, letter: char) -> bool {
        let mut options = self
            .arguments
            .iter()
            .filter(|argument| argument.role == Role::Option);
        options.any(|option| option.text == long || option.is_short_with(letter))
    }

    /// Whether one of the arguments is one of these words.
    pub fn has_word(&self, words: &[&str]) -> bool {
        self.arguments
            .iter()
            .any(|argument| words.contains(&argument.text.as_str()))
    }

    /// The command that Git is given, behind Git's own options; empty for other programs.
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
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it is an option of letters with this one among them.
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

/// The operands among arguments.
pub fn operands(arguments: &[Argument]) -> impl DoubleEndedIterator<Item = &str> {
    arguments
        .iter()
        .filter(|argument| argument.role == Role::Operand)
        .map(Argument::as_str)
}

/// The name of a program without its folder and its ending.
pub fn program_name(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    name.strip_suffix(".exe")
        .or_else(|| name.strip_suffix(".cmd"))
        .unwrap_or(name)
}

/// Whether a program is a shell, by its name without a folder.
pub fn is_shell(program: &str) -> bool {
    matches!(program, "sh" | "bash" | "zsh" | "dash" | "ksh" | "ash" | "fish")
}
