//! Dangerous actions that the user asks for, as a model reads them. The guard does not ask about them.

mod request_pattern;

use super::statements::CLIENTS;
use super::{EvaluationContext, outbound};
use crate::normalized_path::{NormalizedPath, ProjectRoot};
use crate::pattern::Pattern;
use grov_domain::{ExecutionHost, Program, ReadRequest};
use request_pattern::RequestPattern;
use std::sync::OnceLock;

/// The most requests that count, and the most patterns of all of them: each costs time in a hook.
const MAX_REQUESTS: usize = 8;
const MAX_PATTERNS: usize = 40;

/// Programs that run what they read from their input, beside the clients of databases.
const INTERPRETERS: &[&str] = &[
    "bash", "sh", "zsh", "dash", "fish", "python", "python3", "node", "deno", "bun", "ruby", "perl", "php",
    "ssh",
];

/// What the user asks for, by the files that it removes and the commands that do it.
#[derive(Clone, Debug, Default)]
pub(crate) struct AskedActions {
    files: Vec<Pattern>,
    /// Patterns of commands, each with the user's words.
    commands: Vec<(String, String)>,
    /// The patterns, compiled when a dangerous command needs them.
    compiled: OnceLock<Vec<RequestPattern>>,
}

impl AskedActions {
    pub(crate) fn new(root: &ProjectRoot, read: &[ReadRequest]) -> Self {
        let read = || read.iter().take(MAX_REQUESTS);
        let files = read().flat_map(|request| &request.files);
        let commands = read().flat_map(|request| {
            let words = &request.words;
            request
                .commands
                .iter()
                .map(move |pattern| (pattern.clone(), words.clone()))
        });
        Self {
            files: files
                // With what is in a folder, the folder itself.
                .map(|glob| Pattern::new(root, glob.trim_end_matches("/**")))
                // `**` would permit anything.
                .filter(Pattern::names_something)
                .collect(),
            commands: commands.take(MAX_PATTERNS).collect(),
            compiled: OnceLock::new(),
        }
    }

    /// Whether the user wants this file removed or overwritten.
    pub(crate) fn is_file(&self, place: &NormalizedPath) -> bool {
        place.is_in_project() && self.files.iter().any(|glob| glob.covers(place))
    }

    /// Whether the user wants this command to run.
    pub(super) fn is_command(&self, command: &Program, context: &EvaluationContext<'_>) -> bool {
        if self.commands.is_empty() || removes_elsewhere(command, context) {
            return false;
        }
        let targets = targets(command, context);
        self.patterns().iter().any(|pattern| {
            let is_asked = matches_own(pattern, command)
                || is_single(context.line) && pattern.is_whole_line(context.line.trim(), command);
            is_asked && pattern.names_targets(&targets)
        })
    }

    fn patterns(&self) -> &[RequestPattern] {
        self.compiled.get_or_init(|| {
            let commands = self.commands.iter();
            commands
                .filter_map(|(pattern, words)| RequestPattern::new(pattern, words))
                .collect()
        })
    }
}

/// Whether a pattern means the command's own words. On another machine, or with a text from elsewhere, they do not tell all.
fn matches_own(pattern: &RequestPattern, command: &Program) -> bool {
    if command.host == ExecutionHost::Remote || is_fed(command) {
        return false;
    }
    let words = command.words().collect::<Vec<_>>().join(" ");
    if pattern.is_request_for(&words, command) {
        return true;
    }
    let assigned = [command.assignments.join(" "), words].join(" ");
    !command.assignments.is_empty() && pattern.is_request_for(&assigned, command)
}

/// Whether a program runs a text that its words do not show: `psql <<EOF`, `echo "…" | sh`, `mysql < dump.sql`.
fn is_fed(command: &Program) -> bool {
    let is_given = command.input.is_some() || command.source.is_some() || !command.reads.is_empty();
    is_given && runs_texts(command)
}

fn runs_texts(command: &Program) -> bool {
    let name = command.name();
    INTERPRETERS.contains(&name) || CLIENTS.contains(&name)
}

/// Whether a command changes files by paths that another folder than the project resolves: `cd /srv && rm -rf content`.
fn removes_elsewhere(command: &Program, context: &EvaluationContext<'_>) -> bool {
    let here = context.directory.path(".");
    let is_elsewhere = || here.is_none_or(|path| !NormalizedPath::new(context.root, &path).is_in_project());
    command.host == ExecutionHost::Local && !command.changes.is_empty() && is_elsewhere()
}

/// Variables of the environment that choose where a command acts: `PGHOST=db1`, `RAILS_ENV=production`.
fn targets(command: &Program, context: &EvaluationContext<'_>) -> Vec<String> {
    #[rustfmt::skip]
    const NAMES: &[&str] = &[
        "HOST", "URL", "URI", "ENDPOINT", "ADDR", "SERVER", "REGISTRY", "ENV", "STAGE", "PROFILE", "CONTEXT", "KUBECONFIG", "WORKSPACE", "PROJECT", "ACCOUNT",
    ];
    let all = command.assignments.iter().chain(&context.environment);
    all.filter(|one| {
        one.split_once('=').is_some_and(|(name, value)| {
            NAMES.iter().any(|part| name.contains(part)) && !outbound::names_this_machine(value)
        })
    })
    .cloned()
    .collect()
}

/// Whether a command line is a single command, without a comment.
fn is_single(line: &str) -> bool {
    !line.contains([';', '|', '&', '\n', '`']) && !line.contains("$(") && !line.contains(" #")
}

#[cfg(test)]
mod tests;
