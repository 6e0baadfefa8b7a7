//! Destructive and outward commands that nobody asked for.
//!
//! What the goal or an instruction speaks of ("publish", "force-push", "reset") is no danger. Neither is what a build makes
//! again, nor what lies in a folder for temporary files.

mod destructive;
mod outbound;
mod system;

pub(crate) use outbound::publishes;

use crate::analyzed_action::AnalyzedAction;
use crate::contract::CompiledContract;
use crate::history::{History, WorkingDirectory};
use crate::normalized_path::{NormalizedPath, ProjectRoot};
use grov_domain::ExecutionHost;
use grov_domain::Program;
use grov_domain::{Finding, Rule};
use std::collections::HashMap;

/// The scores: what cannot be undone and reaches beyond the project; what destroys or goes out; what is merely rough.
const CRITICAL: u8 = 1;
const DESTRUCTIVE: u8 = 3;
const RISKY: u8 = 4;
/// A rough thing that deserves a word and no more.
const MINOR: u8 = 7;

/// Stems of words that ask for something to be taken away, English and Romanian.
#[rustfmt::skip]
const REMOVING: &[&str] = &[
    "delet", "remov", "clean", "prun", "purg", "wipe", "tidy", "rid", "sterg", "elimin", "curat",
];

/// What an action is seen against.
pub(crate) struct EvaluationContext<'a> {
    pub(crate) root: &'a ProjectRoot,
    pub(crate) compiled: &'a CompiledContract,
    history: &'a History,
    /// Nobody knows what the agent did before: whatever that could excuse is excused.
    pub(crate) is_history_unknown: bool,
    /// Where the next command is run.
    pub(crate) directory: WorkingDirectory,
    /// The shell that runs it, and where the others are.
    shell: u32,
    other_shells: HashMap<u32, WorkingDirectory>,
    /// An earlier command of the same line gave commits another history, which then goes out by force alone.
    pub(crate) rewrites_history: bool,
    /// An earlier command of the same line keeps what is not committed: a stash, a commit.
    pub(crate) saves_changes: bool,
    /// An earlier command of the same line brings back what was stashed.
    pub(crate) applies_stash: bool,
    /// The same line makes a database.
    pub(crate) makes_database: bool,
    /// Folders that the same line makes.
    pub(crate) created_paths: Vec<&'a str>,
}

impl<'a> EvaluationContext<'a> {
    /// What an action is seen against, before its first command.
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
            makes_database: false,
            created_paths: Vec::new(),
        }
    }

    /// Whether commits were given another history, in this line or before.
    fn has_rewritten(&self) -> bool {
        self.rewrites_history
            || ["rebase", "--amend", "reset"]
                .iter()
                .any(|word| self.has_run(word))
    }

    /// Whether an earlier command had this word, or may have had it.
    fn has_run(&self, word: &str) -> bool {
        self.is_history_unknown || self.history.has_run(word)
    }

    /// Whether the agent made or changed a file before, or may have.
    fn has_changed(&self, place: &NormalizedPath) -> bool {
        self.is_history_unknown || self.history.has_changed(place)
    }

    /// Goes to the shell that runs a command. One that is new begins where it is begun.
    fn enter_shell(&mut self, shell: u32) {
        if shell != self.shell {
            let directory = self.other_shells.get(&shell).cloned();
            let left = std::mem::replace(&mut self.shell, shell);
            self.other_shells.insert(left, self.directory.clone());
            self.directory = directory.unwrap_or_else(|| self.directory.clone());
        }
    }

    /// Goes on behind a command of the line.
    fn advance(&mut self, command: &Program) {
        self.directory.follow(command);
        self.rewrites_history |= match command.git() {
            ("rebase" | "reset", _) => true,
            ("commit", rest) => rest.iter().any(|word| word == "--amend"),
            _ => false,
        };
        let may_not_run = command.is_fallback;
        self.saves_changes |= match command.git() {
            _ if may_not_run => false,
            ("stash", rest) => rest
                .first()
                .is_none_or(|word| word.starts_with('-') || word == "push" || word == "save"),
            ("commit", rest) => !rest.iter().any(|word| word == "--dry-run"),
            _ => false,
        };
        self.applies_stash |=
            matches!(command.git(), ("stash", rest) if rest.first().is_some_and(|word| word == "apply"));
    }
}

/// What is found of an action.
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
    context.makes_database = action
        .programs()
        .iter()
        .any(|command| command.name() == "createdb");
    let mut before = None;
    for command in action.programs() {
        context.enter_shell(command.shell);
        let source = source(command, action.programs());
        let danger = destructive::of_command(command, source, &context)
            .or_else(|| outbound::of_command(command, source, action.programs(), &context))
            // A container is no machine of the user's.
            .or_else(|| match command.host {
                ExecutionHost::Container => None,
                _ => system::of_command(command, before, &context),
            });
        // One word about a command line is enough of each kind.
        if let Some(danger) = danger
            && !found.iter().any(|known| known.reason == danger.reason)
            && found.len() < 4
        {
            found.push(danger);
        }
        context.advance(command);
        before = Some(command);
    }
    found.extend(system::of_files(action, &context));
    if action.is_partially_analyzed() {
        found.extend(finding(
            RISKY,
            None,
            "The command is too long to be looked at as a whole, and changes something",
        ));
    }
    if action.programs().is_empty()
        && let Some(text) = action
            .sketch
            .command
            .as_deref()
            .filter(|_| !action.is_read_only())
    {
        found.extend(destructive::of_statement(text, &context));
    }
    found
}

/// The command whose output a command reads, behind programs that only select lines.
fn source<'c>(command: &Program, programs: &'c [Program]) -> Option<&'c Program> {
    let mut number = command.source?;
    loop {
        let before = programs.get(number)?;
        let selects = matches!(
            before.name(),
            "grep"
                | "egrep"
                | "fgrep"
                | "rg"
                | "head"
                | "tail"
                | "sort"
                | "uniq"
                | "sed"
                | "awk"
                | "cut"
                | "tee"
                | "cat"
                | "nl"
                | "tac"
        );
        match before.source {
            // It is an earlier one always.
            Some(earlier) if selects && earlier < number => number = earlier,
            _ => return Some(before),
        }
    }
}

fn finding(at_most: u8, file: Option<&str>, reason: impl Into<String>) -> Option<Finding> {
    Some(Finding {
        rule: Rule::Danger,
        file: file.map(str::to_owned),
        reason: reason.into(),
        at_most,
    })
}

#[cfg(test)]
mod tests;
