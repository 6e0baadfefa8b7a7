//! Destructive and outward commands that nobody asked for.
//!
//! What the goal or an instruction speaks of ("publish", "force-push", "reset") is no danger. Neither is what a build makes
//! again, nor what lies in a folder for temporary files.

mod destroying;
mod outward;
mod system;

pub(crate) use outward::publishes;

use crate::contract::Compiled;
use crate::deed::Deed;
use crate::history::{Here, History};
use crate::place::{Place, Root};
use grov_domain::ExecutionHost;
use grov_domain::Program;
use grov_domain::{Finding, Rule};
use std::collections::HashMap;

/// The scores: what cannot be undone and reaches beyond the project; what destroys or goes out; what is merely rough.
const GRAVE: u8 = 1;
const DESTRUCTIVE: u8 = 3;
const RISKY: u8 = 4;
/// A rough thing that deserves a word and no more.
const ROUGH: u8 = 7;

/// Stems of words that ask for something to be taken away, English and Romanian.
#[rustfmt::skip]
const REMOVING: &[&str] = &[
    "delet", "remov", "clean", "prun", "purg", "wipe", "tidy", "rid", "sterg", "elimin", "curat",
];

/// What an action is seen against.
pub(crate) struct Surroundings<'a> {
    pub(crate) root: &'a Root,
    pub(crate) compiled: &'a Compiled,
    history: &'a History,
    /// Nobody knows what the agent did before: whatever that could excuse is excused.
    pub(crate) is_past_unknown: bool,
    /// Where the next command is run.
    pub(crate) here: Here,
    /// The shell that runs it, and where the others are.
    shell: u32,
    elsewhere: HashMap<u32, Here>,
    /// An earlier command of the same line gave commits another history, which then goes out by force alone.
    pub(crate) rewrites: bool,
    /// An earlier command of the same line keeps what is not committed: a stash, a commit.
    pub(crate) keeps_copy: bool,
    /// An earlier command of the same line brings back what was stashed.
    pub(crate) applies: bool,
    /// The same line makes a database.
    pub(crate) makes_database: bool,
    /// Folders that the same line makes.
    pub(crate) made_anew: Vec<&'a str>,
}

impl<'a> Surroundings<'a> {
    /// What an action is seen against, before its first command.
    pub(crate) fn new(root: &'a Root, compiled: &'a Compiled, history: &'a History) -> Self {
        Self {
            root,
            compiled,
            history,
            is_past_unknown: false,
            here: history.here().clone(),
            shell: 0,
            elsewhere: HashMap::new(),
            rewrites: false,
            keeps_copy: false,
            applies: false,
            makes_database: false,
            made_anew: Vec::new(),
        }
    }

    /// Whether commits were given another history, in this line or before.
    fn has_rewritten(&self) -> bool {
        self.rewrites
            || ["rebase", "--amend", "reset"]
                .iter()
                .any(|word| self.has_run(word))
    }

    /// Whether an earlier command had this word, or may have had it.
    fn has_run(&self, word: &str) -> bool {
        self.is_past_unknown || self.history.has_run(word)
    }

    /// Whether the agent made or changed a file before, or may have.
    fn has_changed(&self, place: &Place) -> bool {
        self.is_past_unknown || self.history.has_changed(place)
    }

    /// Goes to the shell that runs a command. One that is new begins where it is begun.
    fn enter(&mut self, shell: u32) {
        if shell != self.shell {
            let here = self.elsewhere.get(&shell).cloned();
            let left = std::mem::replace(&mut self.shell, shell);
            self.elsewhere.insert(left, self.here.clone());
            self.here = here.unwrap_or_else(|| self.here.clone());
        }
    }

    /// Goes on behind a command of the line.
    fn pass(&mut self, command: &Program) {
        self.here.follow(command);
        self.rewrites |= match command.git() {
            ("rebase" | "reset", _) => true,
            ("commit", rest) => rest.iter().any(|word| word == "--amend"),
            _ => false,
        };
        let may_not_run = command.is_fallback;
        self.keeps_copy |= match command.git() {
            _ if may_not_run => false,
            ("stash", rest) => rest
                .first()
                .is_none_or(|word| word.starts_with('-') || word == "push" || word == "save"),
            ("commit", rest) => !rest.iter().any(|word| word == "--dry-run"),
            _ => false,
        };
        self.applies |=
            matches!(command.git(), ("stash", rest) if rest.first().is_some_and(|word| word == "apply"));
    }
}

/// What is found of an action.
pub(crate) fn findings<'a>(deed: &'a Deed<'_>, mut around: Surroundings<'a>) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    let makes = deed.programs().iter().filter(|command| command.name() == "mkdir");
    around.made_anew = makes.flat_map(Program::operands).collect();
    around.makes_database = deed.programs().iter().any(|command| command.name() == "createdb");
    let mut before = None;
    for command in deed.programs() {
        around.enter(command.shell);
        let source = source(command, deed.programs());
        let danger = destroying::of_command(command, source, &around)
            .or_else(|| outward::of_command(command, source, deed.programs(), &around))
            // A container is no machine of the user's.
            .or_else(|| match command.host {
                ExecutionHost::Container => None,
                _ => system::of_command(command, before, &around),
            });
        // One word about a command line is enough of each kind.
        if let Some(danger) = danger
            && !found.iter().any(|known| known.reason == danger.reason)
            && found.len() < 4
        {
            found.push(danger);
        }
        around.pass(command);
        before = Some(command);
    }
    found.extend(system::of_files(deed, &around));
    if deed.is_seen_in_part() {
        found.extend(finding(
            RISKY,
            None,
            "The command is too long to be looked at as a whole, and changes something",
        ));
    }
    if deed.programs().is_empty()
        && let Some(text) = deed.action.command.as_deref().filter(|_| !deed.looks())
    {
        found.extend(destroying::of_statement(text, &around));
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
