//! Walks through the commands of a script as a shell would, without running them: keeps the working folder and the
//! variables, takes off what wraps a command, and asks the table of programs for the effects.

use crate::inline::{ScanBudget, as_shell_lines};
use crate::shell::lexer::{self, Command, Direction, Event, Redirection};
use crate::shell::record::{Context, Record};
use crate::shell::state::{Inner, MAX_ARGUMENTS, Reads, Shell};
use crate::shell::words::{Argument, Variables};
use crate::shell::wrapper_command::{ExecutionHost, Wrapped, WrapperCommand, wrapped};
use crate::shell::{container, programs};
use grov_domain::{EffectKind, is_shell, program_name};
use std::collections::HashMap;
use std::ops::Range;

/// Scripts inside scripts (`bash -c '…'`) are followed this deep.
const MAX_DEPTH: usize = 6;

/// Wrappers around wrappers, and programs that run programs, are followed this deep.
const MAX_NESTING: usize = 12;

/// A walk through a script.
#[derive(Debug)]
pub(crate) struct Walk {
    pub(crate) shell: Shell,
    pub(crate) record: Record,
    variables: Variables,
    /// Scripts that are open at the moment.
    depth: usize,
    /// What may still be walked through of scripts inside the script.
    pub(crate) budget: ScanBudget,
    /// Programs that run programs, open at the moment.
    nesting: usize,
}

/// What the commands of one script know of one another.
#[derive(Default)]
struct Script {
    /// The programs in each substitution, by its number.
    substitutions: HashMap<usize, Range<usize>>,
    /// The program that what follows may read through a pipe.
    last: Option<usize>,
    /// What the last program prints, where the line shows it.
    printed: Option<String>,
}

/// What is left where a subshell or a substitution begins.
struct Outer {
    folder: Option<String>,
    shell: u32,
    substitution: Option<usize>,
    first: usize,
    last: Option<usize>,
}

impl Walk {
    pub(crate) fn new(folder: Option<&str>) -> Self {
        Self {
            shell: Shell::new(folder),
            record: Record::default(),
            variables: Variables::default(),
            depth: 0,
            budget: ScanBudget::default(),
            nesting: 0,
        }
    }

    /// Walks through a script. What it changes of the working folder stays.
    pub(crate) fn script(&mut self, text: &str) {
        let text = match self.depth {
            0 => Some(text),
            MAX_DEPTH.. => None,
            _ => self.budget.take(text),
        };
        let Some(text) = text else { return };
        self.depth += 1;
        let mut outer: Vec<Outer> = Vec::new();
        let mut script = Script::default();
        for event in lexer::parse(text) {
            match event {
                Event::Enter(substitution) => {
                    outer.push(Outer {
                        folder: self.shell.folder.clone(),
                        shell: self.record.enter(),
                        substitution,
                        first: self.record.len(),
                        last: script.last,
                    });
                }
                Event::Leave => {
                    let Some(outer) = outer.pop() else { continue };
                    self.shell.folder = outer.folder;
                    self.record.leave(outer.shell);
                    if let Some(number) = outer.substitution {
                        let inside = outer.first..self.record.len();
                        script.substitutions.insert(number, inside);
                        script.last = outer.last;
                    }
                    script.printed = None;
                }
                Event::Command(command) => self.command(&command, &mut script),
            }
        }
        self.depth -= 1;
    }

    /// Walks through a script that another shell runs.
    fn inner_script(&mut self, script: &str) {
        let folder = self.shell.folder.clone();
        let shell = self.record.enter();
        self.script(script);
        self.record.leave(shell);
        self.shell.folder = folder;
    }

    fn command(&mut self, command: &Command, script: &mut Script) {
        let arguments = self.arguments(command, script);
        let source = script.last.filter(|_| command.is_piped);
        let printed = script.printed.take().filter(|_| source.is_some());
        let context = Context {
            source,
            is_fallback: command.is_fallback,
            input: given_input(command).or(printed),
            targets: self.targets(command),
            ..Context::default()
        };
        let input = context.input.clone();
        self.shell.reads = None;
        let first = self.record.len();
        if arguments.is_empty() {
            self.record.add(&[], context);
        } else {
            self.program(&arguments, context);
        }
        let last = self.record.last_here(first);
        if let Some(reads) = self.shell.reads.take()
            && let Some(input) = &input
        {
            self.given(reads, input);
        }
        for redirection in &command.redirections {
            self.redirection(redirection);
        }
        let changes = std::mem::take(&mut self.shell.findings.changes);
        self.record.change(last, changes);
        if let Some(last) = last.filter(|_| !arguments.is_empty()) {
            script.last = Some(last);
            script.printed = self.record.printed_by(last);
        }
    }

    /// The program of a command and its arguments, without reserved words and assignments.
    fn arguments(&mut self, command: &Command, script: &Script) -> Vec<Argument> {
        let mut words = command.words.as_slice();
        while let [first, rest @ ..] = words {
            match first.bare() {
                Some("time") if rest.first().is_some_and(|word| word.bare() == Some("-p")) => {
                    words = &rest[1..]
                }
                Some(reserved) if lexer::opens_commands(reserved) => words = rest,
                Some("}" | "fi" | "done" | "esac" | "]]") => words = rest,
                Some("for" | "select") => {
                    if let [variable, _in, values @ ..] = rest {
                        let values = values.iter().flat_map(|word| self.expand(word)).collect();
                        self.variables.set(variable.bare().unwrap_or_default(), values);
                    }
                    words = &[];
                }
                Some("case" | "function" | "[[") => words = &[],
                _ => break,
            }
        }
        let mut arguments = Vec::new();
        for word in words {
            if arguments.is_empty()
                && let Some((name, value)) = assignment(word)
            {
                let values = self.expand(&value);
                self.variables.set(&name, values);
                continue;
            }
            let room = MAX_ARGUMENTS.saturating_sub(arguments.len());
            if room == 0 {
                self.record.is_cut = true;
                break;
            }
            let expanded = self.expand(word).into_iter().take(room);
            arguments.extend(expanded.map(|argument| {
                let inside = argument
                    .substitution
                    .and_then(|number| script.substitutions.get(&number));
                match inside {
                    Some(inside) => argument.with_output_of(inside.clone()),
                    None => argument,
                }
            }));
        }
        arguments
    }

    fn expand(&self, word: &lexer::Word) -> Vec<Argument> {
        self.variables.expand(word, self.shell.folder.as_deref())
    }

    /// Looks at a program and its arguments, wrappers and all.
    fn program(&mut self, arguments: &[Argument], mut context: Context) {
        let Some((program, rest)) = arguments.split_first() else {
            return;
        };
        if self.nesting >= MAX_NESTING {
            self.record.add(arguments, context);
            return self.shell.findings.add(EffectKind::Execute, Vec::new());
        }
        self.nesting += 1;
        let name = program_name(&program.text);
        match wrapped(name, rest) {
            None => self.plain(arguments, context),
            Some(Wrapped::Bare) => drop(self.record.add(arguments, context)),
            Some(Wrapped::InPlace { command, is_guess }) => {
                let rest = rest.get(command..).unwrap_or_default();
                context.through.push(program.text.clone());
                if is_guess && let [_, guess @ ..] = rest {
                    self.record.add(guess, context.clone());
                }
                match name {
                    "parallel" => self.program(&without_inputs(rest), context),
                    _ => self.program(rest, context),
                }
            }
            Some(Wrapped::Runner { command }) => {
                self.record.add(arguments, context.clone());
                context.through.push(program.text.clone());
                self.program(rest.get(command..).unwrap_or_default(), context);
            }
            Some(Wrapped::Separate(wrapper)) => {
                let input = context.input.clone();
                if wrapper.host == ExecutionHost::Local {
                    self.record.add(arguments, context);
                } else {
                    self.plain(arguments, context);
                }
                let command = rest.get(wrapper.command..).unwrap_or_default();
                self.separate(&wrapper, command, input);
            }
        }
        self.nesting -= 1;
    }

    /// A program that runs no command in its arguments; what it runs otherwise is walked through.
    fn plain(&mut self, arguments: &[Argument], context: Context) {
        let Some((program, rest)) = arguments.split_first() else {
            return;
        };
        let through = context.through.clone();
        let number = self.record.add(arguments, context);
        let findings = &mut self.shell.findings;
        let outer = std::mem::take(&mut findings.changes);
        findings.changes_unknown = false;
        programs::look(&mut self.shell, program, rest);
        let findings = &mut self.shell.findings;
        let mut changes = std::mem::replace(&mut findings.changes, outer);
        if findings.changes_unknown {
            let unknown = rest
                .iter()
                .filter(|argument| argument.unknown && !argument.is_option());
            changes.extend(unknown.map(|argument| argument.written().to_owned()));
        }
        self.record.change(number, changes);
        // What a program reads is run behind what it is given.
        let reads = self.shell.reads.take();
        for inner in std::mem::take(&mut self.shell.inner) {
            match inner {
                Inner::Program(arguments) => {
                    let context = Context {
                        through: through.clone(),
                        ..Context::default()
                    };
                    self.program(&arguments, context);
                }
                Inner::ForEach(command) => self.for_each(number, &command),
                Inner::Script(script) => self.script(&script),
                Inner::Apart(script) => self.inner_script(&script),
                Inner::Code {
                    language,
                    code,
                    is_whole,
                } => {
                    let findings = (!is_whole).then(|| std::mem::take(&mut self.shell.findings));
                    self.given(Reads::Code(language), &code);
                    if let Some(findings) = findings {
                        self.shell.findings = findings;
                    }
                }
            }
        }
        self.shell.reads = reads;
    }

    /// A command that program `number` runs for each file that it finds: what it does to these it does as that program.
    fn for_each(&mut self, number: Option<usize>, command: &[Argument]) {
        let outer = std::mem::take(&mut self.record.programs);
        self.program(command, Context::default());
        let inner = std::mem::replace(&mut self.record.programs, outer);
        self.record.runs_for_each(number, &inner);
    }

    /// Walks through what a shell or an interpreter is given.
    fn given(&mut self, reads: Reads, text: &str) {
        match reads {
            Reads::Shell => self.inner_script(text),
            // Reading code costs more than walking through a line.
            Reads::Code(_) if self.budget.is_spent() => {}
            Reads::Code(language) => {
                for line in as_shell_lines(language, text) {
                    self.inner_script(&line);
                }
            }
        }
    }

    /// Takes what a prefix runs in a shell of its own, in a container or on another machine.
    fn separate(&mut self, wrapper: &WrapperCommand, command: &[Argument], input: Option<String>) {
        let words = || {
            let words: Vec<&str> = command.iter().map(Argument::written).collect();
            words.join(" ")
        };
        if wrapper.host == ExecutionHost::Local {
            for script in &wrapper.scripts {
                self.inner_script(script);
            }
            return match wrapper.is_script {
                true => self.inner_script(&words()),
                false => self.program(command, Context::default()),
            };
        }
        // Nothing of what happens there touches the files of this machine, but for what a container is lent.
        let findings = std::mem::take(&mut self.shell.findings);
        let folder = std::mem::replace(&mut self.shell.folder, wrapper.folder.clone());
        let variables = std::mem::take(&mut self.variables);
        let first = self.record.len();
        if wrapper.host == ExecutionHost::Remote && wrapper.is_script {
            // It begins in the user's home there.
            self.inner_script(&format!("cd ~; {}", words()));
            let runs_input = command.first().is_none_or(|first| {
                let program = first.text.split(' ').next().unwrap_or_default();
                is_shell(program)
            });
            if let Some(script) = input.filter(|_| runs_input) {
                self.inner_script(&format!("cd ~; {script}"));
            }
        } else {
            let shell = self.record.enter();
            let entrypoint = wrapper
                .entrypoint
                .as_deref()
                .filter(|program| !program.is_empty());
            let entrypoint = entrypoint.map(Argument::new);
            let arguments: Vec<Argument> = entrypoint.into_iter().chain(command.iter().cloned()).collect();
            self.program(&arguments, Context::default());
            self.record.leave(shell);
        }
        self.shell.folder = folder;
        self.shell.findings = findings;
        self.variables = variables;
        let inside = self.record.programs.iter_mut().skip(first);
        inside.for_each(|program| program.host = wrapper.host);
        if wrapper.host == ExecutionHost::Container {
            let inside = self.record.programs.split_off(first.min(self.record.len()));
            container::seen_from_outside(inside, wrapper, &mut self.record.programs);
        }
    }

    /// The files that the output of a command goes to, as they are written.
    fn targets(&self, command: &Command) -> Vec<String> {
        let writes = command.redirections.iter().filter(|redirection| {
            matches!(
                redirection.direction,
                Direction::Write | Direction::Append | Direction::Duplicate
            )
        });
        let words = writes.flat_map(|redirection| {
            let targets = self.expand(&redirection.target).into_iter();
            targets.filter(|target| !is_descriptor(redirection.direction, target))
        });
        words
            .take(MAX_ARGUMENTS)
            .map(|target| target.written().to_owned())
            .collect()
    }

    fn redirection(&mut self, redirection: &Redirection) {
        let kind = match redirection.direction {
            Direction::Read => EffectKind::Read,
            Direction::Write | Direction::Duplicate => EffectKind::Write,
            Direction::Append => EffectKind::Modify,
            Direction::HereDocument | Direction::HereString => return,
        };
        for target in self.expand(&redirection.target) {
            let is_file = !is_descriptor(redirection.direction, &target);
            if let Some(place) = self.shell.place(&target).filter(|_| is_file) {
                self.shell.findings.add(kind, vec![place]);
            } else if target.unknown && kind != EffectKind::Read {
                self.shell.findings.add(kind, Vec::new());
                self.shell.findings.changes.push(target.written().to_owned());
            }
        }
    }
}

/// Whether the target of a redirection is another stream: `2>&1`.
fn is_descriptor(direction: Direction, target: &Argument) -> bool {
    direction == Direction::Duplicate
        && (target.text == "-" || target.text.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The text that a command is given to read: a here-document.
fn given_input(command: &Command) -> Option<String> {
    command.redirections.iter().rev().find_map(|redirection| {
        match (&redirection.body, redirection.direction) {
            (Some(body), _) => Some(body.clone()),
            (None, Direction::HereString) => redirection.target.literal(),
            _ => None,
        }
    })
}

/// The command of `parallel` without what it is run on.
fn without_inputs(command: &[Argument]) -> Vec<Argument> {
    let is_input = |argument: &&Argument| !argument.text.starts_with(":::") && !argument.text.contains("{}");
    command.iter().filter(is_input).cloned().collect()
}

/// The name and the value of an assignment in front of a command.
fn assignment(word: &lexer::Word) -> Option<(String, lexer::Word)> {
    let lexer::Piece::Text(first) = word.pieces.first()? else {
        return None;
    };
    let (name, start) = first.split_once('=')?;
    let valid = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !valid {
        return None;
    }
    let mut pieces = vec![lexer::Piece::Text(start.to_owned())];
    pieces.extend(word.pieces[1..].iter().cloned());
    Some((name.to_owned(), lexer::Word { pieces, quoted: true }))
}
