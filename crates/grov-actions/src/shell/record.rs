//! Collects the programs of a command line.

use crate::shell::container::is_about_files;
use crate::shell::options::roles_of;
use crate::shell::words::Argument;
use grov_domain::{CommandLine, Program, program_name};

/// The maximum number of programs of a command line, and the maximum length of their words in bytes.
const MAX_PROGRAMS: usize = 4096;
const MAX_BYTES: usize = 256 * 1024;

/// The number of bytes kept of a program's input.
const MAX_INPUT: usize = 64 * 1024;

/// The surroundings of a program in the command line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Context {
    pub(crate) through: Vec<String>,
    pub(crate) source: Option<usize>,
    pub(crate) input: Option<String>,
    pub(crate) assignments: Vec<String>,
    pub(crate) reads: Vec<String>,
    pub(crate) targets: Vec<String>,
    pub(crate) appends: bool,
    pub(crate) is_fallback: bool,
}

/// The programs found so far.
#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) programs: Vec<Program>,
    pub(crate) is_cut: bool,
    bytes: usize,
    /// The number of the current shell, and of the last one started.
    shell: u32,
    shells: u32,
}

impl Record {
    pub(crate) fn len(&self) -> usize {
        self.programs.len()
    }

    /// Starts a shell. Returns the number of the previous one.
    pub(crate) fn enter(&mut self) -> u32 {
        self.shells += 1;
        std::mem::replace(&mut self.shell, self.shells)
    }

    /// Returns to a previous shell.
    pub(crate) fn leave(&mut self, shell: u32) {
        self.shell = shell;
    }

    /// Adds a program with its arguments, or a redirection without a program. Returns its number.
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
            assignments: context.assignments,
            reads: context.reads,
            targets: context.targets,
            appends: context.appends,
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

    /// Adds to the programs that a program runs for each file it finds, and adds their changes to its own.
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

    /// Adds the programs among those run for each file that do more than change files: `find -execdir terraform destroy`.
    pub(crate) fn add_others(&mut self, inner: Vec<Program>) {
        for mut program in inner {
            if is_about_files(program.name()) || self.programs.len() >= MAX_PROGRAMS {
                continue;
            }
            // The numbers of the others are those of another list.
            program.source = None;
            program
                .arguments
                .iter_mut()
                .for_each(|argument| argument.output_of = 0..0);
            program.changes.clear();
            self.programs.push(program);
        }
    }

    /// The last program since `first` in the current shell.
    pub(crate) fn last_here(&self, first: usize) -> Option<usize> {
        let since = self.programs.iter().enumerate().skip(first);
        let mut here = since.filter(|(_, program)| program.shell == self.shell);
        here.next_back().map(|(number, _)| number)
    }

    /// The text that a program prints, if it is known.
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
