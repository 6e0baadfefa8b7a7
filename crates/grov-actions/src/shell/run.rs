//! Walks through the commands of a script as a shell would, without running them. It tracks the working folder and
//! the variables, unwraps commands and records the effects of the programs.

use crate::inline::{ScanBudget, as_shell_lines};
use crate::script::ScriptPart;
use crate::shell::definitions::Definitions;
use crate::shell::lexer::{self, Command, Direction, Event};
use crate::shell::record::{Context, Record};
use crate::shell::state::{Inner, MAX_ARGUMENTS, Reads, Shell};
use crate::shell::words::{Argument, Variables};
use crate::shell::wrapper_command::{ExecutionHost, Wrapped, WrapperCommand, wrapped};
use crate::shell::{container, programs, scripts};
use grov_domain::{EffectKind, is_shell, program_name};
use std::collections::HashMap;
use std::ops::Range;

/// The maximum nesting of scripts: `bash -c '…'`.
const MAX_DEPTH: usize = 6;

/// The maximum nesting of wrappers and of programs that run programs.
const MAX_NESTING: usize = 12;

/// The state of a walk through a script.
#[derive(Debug)]
pub(crate) struct Walk {
    pub(crate) shell: Shell,
    pub(crate) record: Record,
    variables: Variables,
    /// The number of scripts that are open.
    depth: usize,
    /// The budget for scripts inside the script.
    pub(crate) budget: ScanBudget,
    /// The number of programs that are open because they run others.
    nesting: usize,
    definitions: Definitions,
    /// The variables set before the current command.
    assignments: Vec<String>,
}

/// The state shared by the commands of one script.
#[derive(Default)]
struct Script {
    /// The numbers of the programs in each substitution.
    substitutions: HashMap<usize, Range<usize>>,
    /// The program whose output the next command may read through a pipe.
    last: Option<usize>,
    /// The output of that program, if it is known.
    printed: Option<String>,
}

impl Script {
    /// The program whose output a word is: the last one of its substitution.
    fn printed_in(&self, word: &lexer::Word) -> Option<usize> {
        let number = word.pieces.iter().find_map(|piece| match piece {
            lexer::Piece::Unknown { substitution, .. } => *substitution,
            _ => None,
        });
        let inside = self.substitutions.get(&number?)?;
        inside.end.checked_sub(1).filter(|last| inside.contains(last))
    }
}

/// The state of a shell to restore after a subshell or a substitution.
struct SavedShell {
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
            assignments: Vec::new(),
            budget: ScanBudget::default(),
            nesting: 0,
            definitions: Definitions::default(),
        }
    }

    /// Walks through a script. Changes of the working folder persist.
    pub(crate) fn script(&mut self, text: &str) {
        let text = match self.depth {
            0 => Some(text),
            MAX_DEPTH.. => None,
            _ => self.budget.take(text),
        };
        let Some(text) = text else { return };
        self.depth += 1;
        let mut outer: Vec<SavedShell> = Vec::new();
        let mut script = Script::default();
        for event in lexer::parse(text) {
            match event {
                Event::Enter(substitution) => {
                    outer.push(SavedShell {
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
                Event::Function { name, body } => self.definitions.function(&name, &body),
            }
        }
        self.depth -= 1;
    }

    /// Walks through a part of a script file.
    pub(crate) fn part(&mut self, part: &ScriptPart) {
        match part {
            ScriptPart::Shell(script) => self.inner_script(script),
            ScriptPart::Code(language, code) => self.analyze_text(Reads::Code(*language), code),
        }
    }

    /// Walks through a script in a separate shell.
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
        let redirected = self.redirected_files(command);
        let targets = redirected
            .iter()
            .filter(|(kind, _)| *kind != EffectKind::Read)
            .take(MAX_ARGUMENTS);
        let context = Context {
            source,
            is_fallback: command.is_fallback,
            input: literal_input(command).or(printed),
            targets: targets.map(|(_, target)| target.written().to_owned()).collect(),
            reads: redirected
                .iter()
                .filter(|(kind, _)| *kind == EffectKind::Read)
                .map(|(_, file)| file.written().to_owned())
                .collect(),
            appends: !redirected.iter().any(|(kind, _)| *kind == EffectKind::Write),
            assignments: std::mem::take(&mut self.assignments),
            ..Context::default()
        };
        let mut context = context;
        // `for x in $(list); do rm $x` removes what `list | xargs rm` does.
        let listed = || {
            arguments
                .iter()
                .skip(1)
                .find_map(|argument| self.definitions.source_of(argument))
        };
        if context.source.is_none()
            && let Some(source) = listed()
        {
            context.source = Some(source);
            context.through.push("xargs".to_owned());
        }
        let input = context.input.clone();
        self.shell.reads = None;
        let first = self.record.len();
        if arguments.is_empty() {
            self.record.add(&[], context);
        } else {
            self.program(&arguments, context);
        }
        let last = self.record.last_here(first);
        // An unquoted here-document runs the substitutions in it.
        for redirection in command
            .redirections
            .iter()
            .filter(|one| one.target.bare().is_some())
        {
            for script in redirection.body.iter().flat_map(|body| substitutions(body)) {
                self.inner_script(script);
            }
        }
        if let Some(number) = last {
            self.add_input_file(number, &redirected);
            self.add_written(number, &redirected);
            if let Some(source) = source {
                self.add_read_variables(number, source);
            }
        }
        if let Some(reads) = self.shell.reads.take()
            && let Some(input) = &input
        {
            self.analyze_text(reads, input);
        }
        for (kind, target) in &redirected {
            self.record_redirection(*kind, target);
        }
        let changes = std::mem::take(&mut self.shell.findings.changes);
        self.record.change(last, changes);
        if let Some(last) = last.filter(|_| !arguments.is_empty()) {
            script.last = Some(last);
            script.printed = self.record.printed_by(last);
        }
    }

    /// `… | while read name`: the variables take the lines that program `source` prints.
    fn add_read_variables(&mut self, number: usize, source: usize) {
        if let Some(program) = self
            .record
            .programs
            .get(number)
            .filter(|program| program.name() == "read")
        {
            for name in program.operands() {
                self.definitions.list(name, source);
            }
        }
    }

    /// Adds the file that a program runs from its standard input: `sh < x.sh`, `cat x.sh | sh`.
    fn add_input_file(&mut self, number: usize, redirected: &[(EffectKind, Argument)]) {
        let Some(program) = self.record.programs.get(number) else {
            return;
        };
        if program.host != ExecutionHost::Local {
            return;
        }
        let shown = program.source.and_then(|source| self.record.programs.get(source));
        let shown = shown.filter(|source| source.name() == "cat");
        let piped = shown
            .and_then(|source| source.operands().next())
            .map(Argument::new);
        let redirected = redirected.iter().find(|(kind, _)| *kind == EffectKind::Read);
        let Some(file) = redirected.map(|(_, file)| file.clone()).or(piped) else {
            return;
        };
        let name = program.name().to_owned();
        let arguments: Vec<Argument> = program
            .arguments
            .iter()
            .map(|argument| Argument::new(argument.as_str()))
            .collect();
        scripts::add_input(&mut self.shell, &name, &arguments, &file);
    }

    /// The program of a command and its arguments, without reserved words and assignments.
    fn arguments(&mut self, command: &Command, script: &Script) -> Vec<Argument> {
        self.assignments.clear();
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
                        let printed = values.iter().find_map(|word| script.printed_in(word));
                        if let (Some(name), Some(source)) = (variable.bare(), printed) {
                            self.definitions.list(name, source);
                        }
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
                let text = values.first().map_or("", Argument::written);
                self.assignments.push(format!("{name}={text}"));
                self.variables.set(&name, values);
                continue;
            }
            let is_host = arguments
                .first()
                .is_some_and(|program: &Argument| program.text == "ssh");
            // In a loop over hosts, `ssh "$host" ls` connects to one at a time.
            let most = if is_host { 1 } else { MAX_ARGUMENTS };
            let room = most.min(MAX_ARGUMENTS.saturating_sub(arguments.len()));
            if room == 0 {
                self.record.is_cut = true;
                break;
            }
            // `for h in a b; do ssh $h reboot; done` runs once for each host: the first stands for all.
            let is_host = arguments.len() == 1
                && arguments
                    .first()
                    .is_some_and(|first: &Argument| first.text == "ssh");
            let room = if is_host { 1 } else { room };
            for mut argument in self.expand(word).into_iter().take(room) {
                let substitution = argument
                    .substitution
                    .and_then(|number| script.substitutions.get(&number));
                argument.output_of = substitution.cloned().unwrap_or_default();
                arguments.push(argument);
            }
        }
        arguments
    }

    fn expand(&self, word: &lexer::Word) -> Vec<Argument> {
        self.variables.expand(word, self.shell.folder.as_deref())
    }

    /// Records a program, including those that it wraps.
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
        let is_builtin = context
            .through
            .iter()
            .any(|outer| matches!(outer.as_str(), "builtin" | "command"));
        if !is_builtin && let Some(taken) = self.definitions.take(&program.text, rest) {
            self.record.add(arguments, context);
            self.script(&taken.script);
            self.definitions.restore(taken);
            self.nesting -= 1;
            return;
        }
        match wrapped(name, rest) {
            None => self.direct_program(arguments, context),
            Some(Wrapped::Bare) => drop(self.record.add(arguments, context)),
            Some(Wrapped::InPlace { command, is_guess }) => {
                let (before, rest) = rest.split_at(command.min(rest.len()));
                // `env A=b program`
                let set = before
                    .iter()
                    .filter(|word| !word.is_option() && word.text.contains('='));
                context
                    .assignments
                    .extend(set.map(|word| word.written().to_owned()));
                // `dotenv -e .env.production -- program`
                if matches!(name, "dotenv" | "dotenvx") {
                    let files = before.iter().filter(|word| word.text.starts_with(".env"));
                    context
                        .assignments
                        .extend(files.map(|file| format!("ENV_FILE={}", file.text)));
                }
                context.through.push(program.text.clone());
                if is_guess && let [_, guess @ ..] = rest {
                    self.record.add(guess, context.clone());
                }
                match name {
                    // `parallel 'kubectl delete pod {}' ::: a b`
                    "parallel" if rest.first().is_some_and(|first| first.text.contains(' ')) => {
                        self.inner_script(rest[0].written());
                    }
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
                    self.direct_program(arguments, context);
                }
                let command = rest.get(wrapper.command..).unwrap_or_default();
                self.separate(&wrapper, command, input);
            }
        }
        self.nesting -= 1;
    }

    /// Records a program that is not a wrapper, and the code and commands that it runs.
    fn direct_program(&mut self, arguments: &[Argument], context: Context) {
        let Some((program, rest)) = arguments.split_first() else {
            return;
        };
        let through = context.through.clone();
        let fed = context.source.filter(|_| {
            through
                .iter()
                .any(|outer| outer == "xargs" || outer == "parallel")
        });
        // `eval "$(echo …)"` runs what the substitution prints, if that is known.
        if name_is(program, "eval") {
            let printers = rest
                .iter()
                .filter_map(|argument| argument.output_of.clone().last());
            let printed: Vec<String> = printers
                .filter_map(|number| self.record.printed_by(number))
                .collect();
            printed.iter().for_each(|script| self.inner_script(script));
        }
        let number = self.record.add(arguments, context);
        let findings = &mut self.shell.findings;
        let outer = std::mem::take(&mut findings.changes);
        findings.changes_unknown = false;
        programs::record_effects(&mut self.shell, program, rest);
        let scripts = self.shell.scripts.len();
        scripts::add_files(&mut self.shell, program, rest);
        let written = self.written_scripts(scripts, number);
        if name_is(program, "alias") {
            self.definitions.alias(rest);
        }
        let findings = &mut self.shell.findings;
        let mut changes = std::mem::replace(&mut findings.changes, outer);
        if findings.changes_unknown {
            let unknown = rest
                .iter()
                .filter(|argument| argument.unknown && !argument.is_option());
            changes.extend(unknown.map(|argument| argument.written().to_owned()));
        }
        self.record.change(number, changes);
        // A program's standard input runs after its arguments.
        let reads = self.shell.reads.take();
        let fed = fed.filter(|_| !self.shell.inner.is_empty());
        if fed.is_some() {
            self.definitions.feed(fed);
        }
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
                Inner::SeparateScript(script) => self.inner_script(&script),
                Inner::Code {
                    language,
                    code,
                    is_whole,
                } => {
                    let findings = (!is_whole).then(|| std::mem::take(&mut self.shell.findings));
                    self.analyze_text(Reads::Code(language), &code);
                    if let Some(findings) = findings {
                        self.shell.findings = findings;
                    }
                }
            }
        }
        if fed.is_some() {
            self.definitions.feed(None);
        }
        for part in &written {
            self.part(part);
        }
        self.shell.reads = reads;
    }

    /// The scripts since number `first` that the command line itself wrote. They are not read from their files.
    fn written_scripts(&mut self, first: usize, program: Option<usize>) -> Vec<ScriptPart> {
        let mut parts = Vec::new();
        let definitions = &self.definitions;
        let program = program.and_then(|number| self.record.programs.get(number));
        let input = program.and_then(|program| program.input.as_deref());
        let mut at = 0;
        self.shell.scripts.retain(|file| {
            at += 1;
            let mut paths = file.paths.iter().filter(|_| at > first);
            let written = paths.find_map(|path| Some((path.as_str(), definitions.content_of(path)?)));
            // `make -f -` reads its standard input.
            let is_input = at > first && file.paths.is_empty();
            let written = written.or_else(|| input.filter(|_| is_input).map(|text| ("-", text)));
            parts.extend(
                written
                    .into_iter()
                    .flat_map(|(path, text)| file.parts(path, text)),
            );
            written.is_none()
        });
        parts
    }

    /// Records the content of the files that a command writes, if it is known.
    fn add_written(&mut self, number: usize, redirected: &[(EffectKind, Argument)]) {
        let Some(program) = self.record.programs.get(number) else {
            return;
        };
        let named = match program.name() {
            "tee" => program.operands().map(Argument::new).collect(),
            _ => Vec::new(),
        };
        let writes = redirected.iter().any(|(kind, _)| *kind != EffectKind::Read);
        if named.is_empty() && !writes || program.host != ExecutionHost::Local {
            return;
        }
        let appends = program.name() == "tee" && program.has("--append", 'a');
        let Some(text) = self.record.printed_by(number) else {
            return;
        };
        let named = named.iter().map(|file| (file, appends));
        let redirected = redirected.iter().filter(|(kind, _)| *kind != EffectKind::Read);
        let redirected = redirected.map(|(kind, file)| (file, *kind == EffectKind::Modify));
        for (file, appends) in named.chain(redirected) {
            if let Some(place) = self.shell.place(file) {
                self.definitions.file(&place.path, &text, appends);
            }
        }
    }

    /// Records a command that program `number` runs for each file it finds. Its changes count as changes of that
    /// program.
    fn for_each(&mut self, number: Option<usize>, command: &[Argument]) {
        let outer = std::mem::take(&mut self.record.programs);
        self.program(command, Context::default());
        let inner = std::mem::replace(&mut self.record.programs, outer);
        self.record.runs_for_each(number, &inner);
        self.record.add_others(inner);
    }

    /// Analyzes shell commands or code.
    fn analyze_text(&mut self, reads: Reads, text: &str) {
        match reads {
            Reads::Shell => self.inner_script(text),
            // Analyzing code is more expensive than walking through a line.
            Reads::Code(_) if self.budget.is_spent() => {}
            Reads::Code(language) => {
                let is_trial = self.variables.is_trial();
                for line in as_shell_lines(language, text) {
                    // With `RAILS_ENV=test`, frameworks use a database for tests.
                    if is_trial && line.starts_with("psql ") {
                        continue;
                    }
                    self.inner_script(&line);
                }
            }
        }
    }

    /// Records a command in a separate shell, in a container or on another machine.
    fn separate(&mut self, wrapper: &WrapperCommand, command: &[Argument], input: Option<String>) {
        let words: Vec<&str> = command.iter().map(Argument::written).collect();
        let words = words.join(" ");
        if wrapper.host == ExecutionHost::Local {
            for script in &wrapper.scripts {
                self.inner_script(script);
            }
            return match wrapper.is_script {
                true => self.inner_script(&words),
                false => self.program(command, Context::default()),
            };
        }
        // Commands elsewhere do not affect files of this machine, except in mounted folders.
        let findings = std::mem::take(&mut self.shell.findings);
        let folder = std::mem::replace(&mut self.shell.folder, wrapper.folder.clone());
        let variables = std::mem::take(&mut self.variables);
        let first = self.record.len();
        let scripts = self.shell.scripts.len();
        if wrapper.host == ExecutionHost::Remote && wrapper.is_script {
            // A remote command starts in the user's home folder.
            self.inner_script(&format!("cd ~; {words}"));
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
            // `docker compose exec -T db psql <<EOF`
            let context = Context {
                input,
                ..Context::default()
            };
            self.program(&arguments, context);
            self.record.leave(shell);
        }
        self.shell.scripts.truncate(scripts);
        self.shell.folder = folder;
        self.shell.findings = findings;
        self.variables = variables;
        let inside = self.record.programs.iter_mut().skip(first);
        inside.for_each(|program| program.host = wrapper.host);
        if wrapper.host == ExecutionHost::Container {
            let inside = self.record.programs.split_off(first.min(self.record.len()));
            container::map_to_host(inside, wrapper, &mut self.record.programs);
        }
    }

    /// The files of the redirections of a command, with the effects on them.
    fn redirected_files(&self, command: &Command) -> Vec<(EffectKind, Argument)> {
        let mut files = Vec::new();
        for redirection in &command.redirections {
            let kind = match redirection.direction {
                Direction::Read => EffectKind::Read,
                Direction::Write | Direction::Duplicate => EffectKind::Write,
                Direction::Append => EffectKind::Modify,
                Direction::HereDocument | Direction::HereString => continue,
            };
            let targets = self.expand(&redirection.target).into_iter();
            let targets = targets.filter(|target| !is_descriptor(redirection.direction, target));
            files.extend(targets.map(|target| (kind, target)));
        }
        files
    }

    fn record_redirection(&mut self, kind: EffectKind, target: &Argument) {
        if let Some(place) = self.shell.place(target) {
            self.shell.findings.add(kind, [place]);
        } else if target.unknown && kind != EffectKind::Read {
            self.shell.findings.add(kind, Vec::new());
            self.shell.findings.changes.push(target.written().to_owned());
        }
    }
}

fn name_is(program: &Argument, name: &str) -> bool {
    !program.unknown && program.text == name
}

/// Whether the target of a redirection is a file descriptor: `2>&1`.
fn is_descriptor(direction: Direction, target: &Argument) -> bool {
    direction == Direction::Duplicate
        && !target.unknown
        && (target.text == "-" || target.text.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The standard input of a command, if it is a here-document or a here-string.
fn literal_input(command: &Command) -> Option<String> {
    command.redirections.iter().rev().find_map(|redirection| {
        match (&redirection.body, redirection.direction) {
            (Some(body), _) => Some(body.clone()),
            (None, Direction::HereString) => redirection.target.literal(),
            _ => None,
        }
    })
}

/// The scripts of the substitutions in the text of a here-document: `$(…)`.
fn substitutions(text: &str) -> Vec<&str> {
    let starts = text.match_indices("$(").map(|(at, open)| at + open.len());
    let starts =
        starts.filter(|start| !text[*start..].starts_with('(') && !text[..*start - 2].ends_with('\\'));
    // Bounded before the ends are searched, so that a text of open substitutions takes linear time.
    let starts = starts.take(MAX_SUBSTITUTIONS);
    let scripts = starts.filter_map(|start| {
        let mut depth = 1;
        let end = text[start..].find(|letter| {
            depth += match letter {
                '(' => 1,
                ')' => -1,
                _ => 0,
            };
            depth == 0
        })?;
        Some(&text[start..start + end])
    });
    scripts.collect()
}

/// The maximum number of substitutions of a here-document that are walked through.
const MAX_SUBSTITUTIONS: usize = 16;

/// The command of `parallel` without its inputs.
fn without_inputs(command: &[Argument]) -> Vec<Argument> {
    let is_input = |argument: &&Argument| !argument.text.starts_with(":::") && !argument.text.contains("{}");
    command.iter().filter(is_input).cloned().collect()
}

/// The name and the value of an assignment before a command.
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
