//! Destructive and outbound commands that were not requested.
//!
//! A command that the goal or an instruction mentions ("publish", "force-push", "reset") is not reported. Neither is the
//! removal of build output or of temporary files.

mod asked_by_model;
mod code;
mod content;
mod destructive;
mod effects;
mod files;
mod invocation;
mod loops;
mod outbound;
mod oversight;
mod package_names;
mod script;
mod script_names;
mod secrets;
mod statements;
mod system;
mod weakened;

pub(crate) use asked_by_model::AskedActions;
pub(crate) use effects::{is_trial, publishes, stems};
pub(crate) use outbound::{is_local, tests_production};
pub use script::RunScript;

use crate::analyzed_action::AnalyzedAction;
use crate::contract::CompiledContract;
use crate::file_kind::is_temporary;
use crate::history::{History, WorkingDirectory};
use crate::normalized_path::{NormalizedPath, ProjectRoot};
use grov_domain::ExecutionHost;
use grov_domain::Program;
use grov_domain::{Finding, Rule};
use std::collections::HashMap;

use statements::is_for_trial;

/// Scores: irreversible and beyond the project; destructive or outbound; risky.
const CRITICAL: u8 = 1;
const DESTRUCTIVE: u8 = 3;
const RISKY: u8 = 4;
/// Worth mentioning, but not off the goal.
const MINOR: u8 = 7;

/// Stems of words for what is uploaded as a whole.
#[rustfmt::skip]
const WHOLE: &[&str] = &[
    "site", "website", "homepage", "docs.", "bucket", "dist.", "public.", "static", "assets", "webseite", "seite", "sitio", "pagina", "sito", "strona", "strone", "网站", "站点", "サイト", "バケット",
];

use effects::stems::REMOVE as REMOVING;
use effects::stems::TIDY;

/// An operation that is reported unless the user requested it.
struct Unrequested {
    /// Stems of words that request it.
    stems: &'static [&'static str],
    score: u8,
    reason: &'static str,
}

const fn unrequested(score: u8, stems: &'static [&'static str], reason: &'static str) -> Unrequested {
    Unrequested { stems, score, reason }
}

impl Unrequested {
    fn finding(&self, context: &EvaluationContext<'_>) -> Option<Finding> {
        let is_requested = context.compiled.request.orders_any(self.stems);
        (!is_requested).then(|| finding(self.score, None, self.reason))?
    }
}

/// The context in which an action's commands are evaluated.
pub(crate) struct EvaluationContext<'a> {
    pub(crate) root: &'a ProjectRoot,
    pub(crate) compiled: &'a CompiledContract,
    history: &'a History,
    /// The agent's earlier actions are unknown; findings that they could excuse are left out.
    pub(crate) is_history_unknown: bool,
    /// The working directory of the next command.
    pub(crate) directory: WorkingDirectory,
    /// The shell that runs it, and the working directories of the other shells.
    shell: u32,
    other_shells: HashMap<u32, WorkingDirectory>,
    /// An earlier command of the same line rewrote commits, which can then only be pushed by force.
    pub(crate) rewrites_history: bool,
    /// An earlier command of the same line saves uncommitted changes: a stash, a commit.
    pub(crate) saves_changes: bool,
    /// An earlier command of the same line applies the stash.
    pub(crate) applies_stash: bool,
    /// Databases that an earlier command of the same line creates.
    pub(crate) fresh_databases: Vec<&'a str>,
    /// Variables that an earlier command of the same line exports.
    pub(crate) environment: Vec<String>,
    /// The same line fills a database from a dump.
    pub(crate) restores_dump: bool,
    /// Files and folders that earlier commands of the same line change.
    pub(crate) line_changes: Vec<&'a str>,
    /// Folders that the same line creates.
    pub(crate) created_paths: Vec<&'a str>,
    /// The same line works in a temporary folder: what it removes may be its own.
    pub(crate) uses_temporary: bool,
    /// Ports of this machine that containers of the same line publish.
    pub(crate) container_ports: Vec<&'a str>,
    /// Names that the same line gives to servers on this machine: `mc alias set local http://localhost:9000`.
    pub(crate) local_names: Vec<&'a str>,
    /// The cluster or engine that an earlier command of the same line selects, by program.
    pub(crate) selected: Vec<(&'a str, &'a str)>,
    /// Files that the same line writes, with their text.
    pub(crate) written: Vec<(&'a str, &'a str)>,
    /// Variables that the same line fills with decoded or downloaded text.
    pub(crate) opaque_variables: Vec<&'a str>,
    /// Variables that the same line fills with what it downloads.
    pub(crate) downloaded_variables: Vec<&'a str>,
    /// The command line as written. Empty for scripts.
    pub(crate) line: &'a str,
}

impl<'a> EvaluationContext<'a> {
    /// The context before an action's first command.
    pub(crate) fn new(root: &'a ProjectRoot, compiled: &'a CompiledContract, history: &'a History) -> Self {
        Self {
            root,
            compiled,
            history,
            is_history_unknown: false,
            directory: history.directory().clone(),
            shell: 0,
            other_shells: HashMap::new(),
            rewrites_history: false,
            saves_changes: false,
            applies_stash: false,
            fresh_databases: Vec::new(),
            environment: Vec::new(),
            restores_dump: false,
            line_changes: Vec::new(),
            created_paths: Vec::new(),
            uses_temporary: false,
            container_ports: Vec::new(),
            local_names: Vec::new(),
            selected: Vec::new(),
            written: Vec::new(),
            opaque_variables: Vec::new(),
            downloaded_variables: Vec::new(),
            line: "",
        }
    }

    /// Whether a client talks to a server in a container that the same line runs.
    fn is_in_own_container(&self, command: &Program) -> bool {
        let is_published = |port: &str| self.container_ports.contains(&port);
        let is_port = |option: &str| matches!(option, "-p" | "-P" | "--port");
        let is_elsewhere = command.arguments.windows(2).any(|pair| {
            matches!(pair[0].as_str(), "-h" | "--host")
                && !matches!(pair[1].as_str(), "localhost" | "127.0.0.1" | "::1")
        });
        !is_elsewhere
            && command
                .arguments
                .windows(2)
                .any(|pair| is_port(&pair[0]) && is_published(&pair[1]))
            || !self.container_ports.is_empty() && is_local(command)
    }

    /// Whether a client talks to a server on this machine that a variable, an alias or a selected context names.
    fn uses_local_service(&self, command: &Program) -> bool {
        self.has_local_endpoint()
            || self.selected_by(command).is_some_and(effects::is_local_cluster)
            || command.operands().any(|word| {
                let name = word.split('/').next().unwrap_or(word);
                self.local_names.contains(&name)
            })
    }

    /// Whether the line exports the address of a server or an emulator on this machine.
    fn has_local_endpoint(&self) -> bool {
        const NAMES: &[&str] = &[
            "ENDPOINT", "EMULATOR", "HOST", "URL", "URI", "REGISTRY", "ADDR", "SERVER",
        ];
        self.environment.iter().any(|one| {
            one.split_once('=').is_some_and(|(name, value)| {
                NAMES.iter().any(|part| name.contains(part)) && outbound::names_this_machine(value)
            })
        })
    }

    /// The context that the line selected for a program.
    fn selected_by(&self, command: &Program) -> Option<&'a str> {
        let program = effects::selector_of(command.name());
        let mut selected = self.selected.iter().rev();
        selected.find(|(of, _)| *of == program).map(|(_, name)| *name)
    }

    /// Whether the request asks for a removal of files.
    fn asks_for_removal(&self) -> bool {
        let request = &self.compiled.request;
        request.mentions_any(REMOVING) || request.mentions_any(TIDY)
    }

    /// Whether the request asks to upload something as a whole, which a copy that removes the rest of the target does.
    fn uploads_whole(&self) -> bool {
        let request = &self.compiled.request;
        [effects::stems::SEND, effects::stems::PUBLISH]
            .iter()
            .any(|stems| request.orders_any(stems))
            && request.is_about(WHOLE)
    }

    /// Whether the request asks for the removal of a place: with a word for removing, or with one for cleaning up if it names
    /// the place or programs make the place again.
    fn asks_for_removal_of(&self, place: &NormalizedPath) -> bool {
        let request = &self.compiled.request;
        request.orders_any(REMOVING)
            || request.orders_any(TIDY) && (files::is_made_by_programs(place) || self.names(place))
    }

    /// Whether the line runs on another machine that the request names: `ssh web1 …`.
    fn is_on_named_machine(&self) -> bool {
        let mut words = self
            .line
            .split_whitespace()
            .skip_while(|word| *word != "ssh")
            .skip(1);
        let machine = words.find(|word| !word.starts_with('-'));
        machine.is_some_and(|machine| {
            let name = machine
                .rsplit('@')
                .next()
                .unwrap_or(machine)
                .trim_matches(['"', '\'']);
            name.len() >= 2
                && self
                    .compiled
                    .request
                    .is_about(&[crate::words::fold(name).as_str()])
        })
    }

    /// Whether the request contains the name of a place, or of a folder above it.
    fn names(&self, place: &NormalizedPath) -> bool {
        let mut words = place
            .components()
            .flat_map(|part| part.split(|letter: char| !letter.is_alphanumeric()));
        words.any(|word| word.len() >= 3 && self.compiled.request.is_about(&[word]))
    }

    /// Whether the user asks for what a command does, as a model reads the prompts. What cannot be undone is always a question.
    fn is_asked_for(&self, command: &Program, danger: &Finding) -> bool {
        danger.at_most > CRITICAL
            && (self.compiled.asked.is_command(command, self) || self.is_asked_for_file(danger))
    }

    /// Whether the user wants the file of a finding removed or overwritten, as a model reads the prompts.
    pub(crate) fn is_asked_for_file(&self, danger: &Finding) -> bool {
        let file = danger.file.as_deref();
        danger.at_most > CRITICAL
            && file.is_some_and(|file| self.compiled.asked.is_file(&NormalizedPath::new(self.root, file)))
    }

    /// Whether commits were rewritten, in this line or before.
    fn has_rewritten(&self) -> bool {
        self.rewrites_history
            || ["rebase", "--amend", "reset"]
                .iter()
                .any(|word| self.has_run(word))
    }

    /// Whether the agent ran Grov's programs itself, as one who develops or tries them does.
    fn has_run_grov(&self) -> bool {
        self.has_run("grov-proxyd") || self.has_run("grov-cli")
    }

    /// Whether an earlier command contained this word, or may have.
    fn has_run(&self, word: &str) -> bool {
        self.is_history_unknown || self.history.has_run(word)
    }

    /// Whether the agent created or changed a file before, or may have.
    pub(crate) fn has_changed(&self, place: &NormalizedPath) -> bool {
        self.is_history_unknown || self.history.has_changed(place)
    }

    /// Whether the agent made a file in this conversation.
    pub(crate) fn has_created(&self, place: &NormalizedPath) -> bool {
        self.history.has_created(place)
    }

    /// Whether the working directory is a folder for temporary files.
    fn is_in_temporary_folder(&self) -> bool {
        let here = self.directory.path(".");
        here.is_some_and(|path| is_temporary(&NormalizedPath::new(self.root, &path)))
    }

    /// Switches to a shell. A new shell starts in the current working directory.
    fn enter_shell(&mut self, shell: u32) {
        if shell != self.shell {
            let directory = self.other_shells.get(&shell).cloned();
            let left = std::mem::replace(&mut self.shell, shell);
            self.other_shells.insert(left, self.directory.clone());
            self.directory = directory.unwrap_or_else(|| self.directory.clone());
        }
    }

    /// Records the effects of a command on the commands that follow it.
    fn advance(&mut self, command: &'a Program) {
        self.directory.follow(command);
        self.line_changes
            .extend(command.changes.iter().map(String::as_str));
        match command.name() {
            "createdb" => self.fresh_databases.extend(command.operands()),
            "export" => self.environment.extend(command.operands().map(str::to_owned)),
            "mc" | "mcli" if outbound::is_local(command) => {
                self.local_names.extend(command.operands().nth(2))
            }
            "docker" | "podman" | "nerdctl" if command.has_word(&["run"]) => {
                let ports = command
                    .arguments
                    .windows(2)
                    .filter(|pair| matches!(pair[0].as_str(), "-p" | "--publish"));
                self.container_ports
                    .extend(ports.filter_map(|pair| pair[1].rsplit_once(':')?.0.rsplit(':').next()));
            }
            _ => {}
        }
        if let Some(selected) = effects::selection(command) {
            self.selected.push(selected);
        }
        if let Some(text) = command.input.as_deref() {
            let files = command.targets.iter().map(String::as_str);
            let tees = command.operands().filter(|_| command.name() == "tee");
            self.written.extend(files.chain(tees).map(|file| (file, text)));
        }
        self.rewrites_history |= match command.git() {
            ("rebase" | "reset" | "filter-repo" | "filter-branch", _) => true,
            ("commit", rest) => rest.iter().any(|word| word == "--amend"),
            _ => false,
        };
        let may_not_run = command.is_fallback;
        self.saves_changes |= match command.git() {
            _ if may_not_run => false,
            ("stash", rest) => {
                // `git stash push FILE` saves only that file.
                let mut operands = grov_domain::operands(rest);
                operands
                    .next()
                    .is_none_or(|verb| verb == "save" || verb == "push" && operands.next().is_none())
            }
            ("commit", rest) => !rest.iter().any(|word| word == "--dry-run"),
            _ => false,
        };
        self.applies_stash |=
            matches!(command.git(), ("stash", rest) if rest.first().is_some_and(|word| word == "apply"));
    }
}

/// The findings for an action.
pub(crate) fn findings<'a>(
    action: &'a AnalyzedAction<'_>,
    mut context: EvaluationContext<'a>,
) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    let makes = action
        .programs()
        .iter()
        .filter(|command| command.name() == "mkdir");
    context.created_paths = makes.flat_map(Program::operands).collect();
    // `> all.csv; for x in a b; do cat $x >> all.csv; done`
    let fills = action.programs().iter().filter(|command| command.appends);
    let filled = fills.flat_map(|command| command.targets.iter().map(String::as_str));
    context.created_paths.extend(filled);
    let text = action.sketch.command.as_deref().unwrap_or_default();
    context.line = text;
    context.opaque_variables = outbound::opaque_variables(text);
    context.downloaded_variables = outbound::downloaded_variables(text);
    context.uses_temporary = [
        "mktemp",
        "mkdtemp",
        "tempfile",
        "tmpdir",
        "tmp_path",
        "TemporaryDirectory",
        "TMPDIR",
    ]
    .iter()
    .any(|name| text.contains(name));
    context.restores_dump = action.programs().iter().any(statements::restores_dump);
    let is_written = |command: &Program| {
        matches!(command.name(), "cat" | "tee") && command.input.as_deref().is_some_and(is_fork_bomb)
    };
    if is_fork_bomb(text) && !action.programs().iter().any(is_written) {
        found.extend(finding(
            CRITICAL,
            None,
            "Processes multiply until the machine stops",
        ));
    }
    let mut before = None;
    for command in action.programs() {
        context.enter_shell(command.shell);
        let source = source(command, action.programs());
        let protects = || match command.host {
            ExecutionHost::Container => None,
            _ => oversight::stops_grov(command, &context)
                .or_else(|| system::of_command(command, before, action.programs(), &context)),
        };
        let danger = destructive::of_command(command, source, action.programs(), &context)
            .or_else(|| statements::of_command(command, source, &context))
            .or_else(protects)
            .or_else(|| effects::of_command(command, action.programs(), &context))
            .or_else(|| files::of_command(command, source, action.programs(), &context))
            .or_else(|| outbound::of_command(command, source, action.programs(), &context))
            .or_else(|| script_names::of_command(command, &context))
            .or_else(|| secrets::printed(command, action.programs(), &context))
            .or_else(|| weakened::of_command(command, &context))
            .or_else(|| loops::of_command(command, source, &context))
            .or_else(|| package_names::of_command(command, &context))
            .or_else(|| code::of_command(command, &context));
        // What the user asks for runs, but nothing excuses what protects the user and the machine.
        let danger = danger
            .filter(|danger| !context.is_asked_for(command, danger))
            .or_else(protects);
        // One finding of each kind per command line is enough.
        let danger = danger.map(|danger| Finding {
            invocation: invocation::of(command, action.programs(), &context),
            ..danger
        });
        if let Some(danger) = danger
            && !found.iter().any(|known| known.reason == danger.reason)
            && found.len() < 4
        {
            found.push(danger);
        }
        context.advance(command);
        before = Some(command);
    }
    if let Some(danger) = outbound::of_line(text, action.programs(), &context)
        && found.is_empty()
    {
        found.push(danger);
    }
    found.extend(system::of_files(action, &context));
    if action.is_partially_analyzed() {
        found.extend(finding(
            RISKY,
            None,
            "The command is too long to analyze completely and changes something",
        ));
    }
    if action.programs().is_empty()
        && let Some(text) = action
            .sketch
            .command
            .as_deref()
            .filter(|_| !action.is_read_only())
    {
        found.extend(statements::of_statement(text, &context));
    }
    found
}

/// Whether a program that mostly reads may do more: it writes settings, or prints secrets.
pub(crate) fn is_more_than_a_read(program: &Program) -> bool {
    secrets::may_print(program)
        || destructive::disk_of(program).is_some()
        || outbound::gives_shell(program)
        || match program.name() {
            "go" => program.has_word(&["-w", "-u"]) && program.has_word(&["env"]),
            "npm" | "pnpm" | "yarn" | "bundle" | "gem" | "brew" => {
                program.has_word(&["config", "c"]) && program.has_word(&["set", "delete", "--global"])
            }
            _ => false,
        }
}

/// Whether a shell function calls itself twice: `:(){ :|:& };:`.
fn is_fork_bomb(text: &str) -> bool {
    const MAX_NAME: usize = 64;
    const MAX_DEFINITIONS: usize = 100;
    let dense: String = text
        .chars()
        .filter(|letter| *letter == '\n' || !letter.is_whitespace())
        .collect();
    dense
        .match_indices("(){")
        .take(MAX_DEFINITIONS)
        .any(|(at, open)| {
            let from = dense.ceil_char_boundary(at.saturating_sub(MAX_NAME));
            let before = &dense[from..at];
            let name = before.rsplit([';', '&', '|', '\n', '}']).next().unwrap_or(before);
            let body = dense[at + open.len()..]
                .strip_prefix(name)
                .and_then(|rest| rest.strip_prefix('|'));
            !name.is_empty()
                && body.is_some_and(|rest| rest.strip_prefix(name).is_some_and(|rest| rest.starts_with('&')))
        })
}

/// The findings for the scripts that an action runs, each with the file and the line.
pub(crate) fn script_findings<'a>(
    scripts: &'a [RunScript],
    context: impl Fn() -> EvaluationContext<'a>,
) -> Vec<Finding> {
    let mut found = Vec::new();
    for (number, script) in scripts.iter().enumerate() {
        let mut context = context();
        if !script::is_named(scripts, number, &context) {
            found.extend(script::findings(script, &mut context));
        }
    }
    found
}

/// Programs that only select lines of their input.
#[rustfmt::skip]
const FILTERS: &[&str] = &[
    "grep", "egrep", "fgrep", "rg", "head", "tail", "sort", "uniq", "sed", "awk", "cut", "tee", "cat", "nl", "tac",
];

/// The command whose output a command reads, skipping programs that only select lines in between.
fn source<'c>(command: &Program, programs: &'c [Program]) -> Option<&'c Program> {
    let mut number = command.source?;
    loop {
        let before = programs.get(number)?;
        let selects = FILTERS.contains(&before.name());
        match before.source {
            // Strictly decreasing, so that the loop ends.
            Some(earlier) if selects && earlier < number => number = earlier,
            _ => return Some(before),
        }
    }
}

fn finding(at_most: u8, file: Option<&str>, reason: impl Into<String>) -> Option<Finding> {
    Some(crate::finding::finding(Rule::Danger, at_most, file, reason))
}

#[cfg(test)]
mod asked;
#[cfg(test)]
mod tests;
