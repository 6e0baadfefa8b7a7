//! The programs that a walk comes by, as they are handed on.

use crate::shell::options::roles_of;
use crate::shell::words::Argument;
use grov_domain::{CommandLine, Program, program_name};

/// More programs of one command line, and more text of their words in bytes, are left out.
const MAX_PROGRAMS: usize = 4096;
const MAX_BYTES: usize = 256 * 1024;

/// Maximum bytes kept of a text that a program reads; the beginning is kept.
const MAX_INPUT: usize = 64 * 1024;

/// What is known of a program beside its words.
#[derive(Clone, Debug, Default)]
pub(crate) struct Context {
    pub(crate) through: Vec<String>,
    pub(crate) source: Option<usize>,
    pub(crate) input: Option<String>,
    pub(crate) targets: Vec<String>,
    pub(crate) is_fallback: bool,
}

/// The programs so far.
#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) programs: Vec<Program>,
    pub(crate) is_cut: bool,
    bytes: usize,
    /// The shell that runs what comes next, and how many there are beside the first one.
    shell: u32,
    shells: u32,
}

impl Record {
    pub(crate) fn len(&self) -> usize {
        self.programs.len()
    }

    /// Begins a shell. The one that is left.
    pub(crate) fn enter(&mut self) -> u32 {
        self.shells += 1;
        std::mem::replace(&mut self.shell, self.shells)
    }

    /// Goes back to a shell.
    pub(crate) fn leave(&mut self, shell: u32) {
        self.shell = shell;
    }

    /// Adds a program with its arguments; where there is none, what its redirections do. Its number.
    pub(crate) fn add(&mut self, words: &[Argument], context: Context) -> Option<usize> {
        let (word, arguments) = match words.split_first() {
            Some((program, arguments)) => (program.written(), arguments),
            None if context.targets.is_empty() => return None,
            None => ("", words),
        };
        let texts: Vec<&str> = arguments.iter().map(Argument::written).collect();
        let targets = context.targets.iter().map(String::len);
        self.bytes += word.len() + texts.iter().map(|text| text.len()).chain(targets).sum::<usize>();
        if self.programs.len() >= MAX_PROGRAMS || self.bytes > MAX_BYTES {
            self.is_cut = true;
            return None;
        }
        let roles = roles_of(program_name(word), &texts);
        let parts = arguments
            .iter()
            .zip(roles)
            .map(|(argument, role)| grov_domain::Argument {
                text: argument.written().to_owned(),
                role,
                output_of: argument.output_of.clone(),
            });
        let mut program = Program {
            word: word.to_owned(),
            arguments: parts.collect(),
            targets: context.targets,
            through: context.through,
            input: context.input,
            source: context.source,
            shell: self.shell,
            is_fallback: context.is_fallback,
            ..Program::default()
        };
        program.keeps_what_is_there = match program.name() {
            "touch" => true,
            "mkdir" => program.has("--parents", 'p'),
            _ => false,
        };
        if let Some(input) = &mut program.input {
            input.truncate(input.floor_char_boundary(MAX_INPUT));
        }
        self.programs.push(program);
        Some(self.programs.len() - 1)
    }

    /// Adds to the files that a program changes.
    pub(crate) fn change(&mut self, number: Option<usize>, changes: Vec<String>) {
        if let Some(program) = number.and_then(|number| self.programs.get_mut(number)) {
            self.bytes += changes.iter().map(String::len).sum::<usize>();
            program.changes.extend(changes);
        }
    }

    /// Adds to the programs that a program runs for each file it finds. What these change, it changes.
    pub(crate) fn runs_for_each(&mut self, number: Option<usize>, inner: &[Program]) {
        self.change(
            number,
            inner.iter().flat_map(|program| program.changes.clone()).collect(),
        );
        if let Some(program) = number.and_then(|number| self.programs.get_mut(number)) {
            let names = inner.iter().map(|program| program.name().to_owned());
            program.for_each.extend(names);
        }
    }

    /// The last program since `first` that the shell at hand runs itself.
    pub(crate) fn last_here(&self, first: usize) -> Option<usize> {
        let since = self.programs.iter().enumerate().skip(first);
        let mut here = since.filter(|(_, program)| program.shell == self.shell);
        here.next_back().map(|(number, _)| number)
    }

    /// The text that a program prints, where the line shows it.
    pub(crate) fn printed_by(&self, number: usize) -> Option<String> {
        let program = self.programs.get(number)?;
        let texts = || program.arguments.iter().map(|argument| argument.as_str());
        match program.name() {
            "echo" => {
                let words = texts().skip_while(|word| matches!(*word, "-n" | "-e" | "-ne" | "-en"));
                Some(words.collect::<Vec<_>>().join(" "))
            }
            "printf" => texts().next().map(|format| format.replace("\\n", "\n")),
            "cat" if program.operands().all(|operand| operand == "-") => program.input.clone(),
            "tee" => program.input.clone(),
            _ => None,
        }
    }

    pub(crate) fn into_command_line(self) -> CommandLine {
        CommandLine {
            programs: self.programs,
            is_cut: self.is_cut,
        }
    }
}
