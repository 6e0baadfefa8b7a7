//! Destructive and outward commands that nobody asked for.
//!
//! What the goal or an instruction speaks of ("publish", "force-push", "reset") is no danger. Neither is what a build makes
//! again, nor what lies in a folder for temporary files.

mod destroying;
mod outward;
mod system;

pub(crate) use outward::publishes;

use crate::command_line::SimpleCommand;
use crate::contract::Compiled;
use crate::deed::Deed;
use crate::history::History;
use crate::place::{Place, Root};
use grov_domain::{Finding, Rule};

/// The scores: what cannot be undone and reaches beyond the project; what destroys or goes out; what is merely rough.
const GRAVE: u8 = 1;
const DESTRUCTIVE: u8 = 3;
const RISKY: u8 = 4;

/// What an action is seen against.
pub(crate) struct Surroundings<'a> {
    pub(crate) root: &'a Root,
    pub(crate) compiled: &'a Compiled,
    pub(crate) history: &'a History,
    /// An earlier command of the same line went to a folder outside of the project.
    pub(crate) moved: bool,
    /// An earlier command of the same line keeps what there is: a branch, a stash, a commit.
    pub(crate) keeps_copy: bool,
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
            moved: false,
            keeps_copy: false,
            made_anew: Vec::new(),
        }
    }

    /// Goes on behind a command of the line.
    fn pass(&mut self, command: &SimpleCommand) {
        if matches!(command.program(), "cd" | "pushd") {
            self.moved = !command
                .operands()
                .next()
                .is_some_and(|path| Place::new(self.root, path).is_inside());
        }
        self.keeps_copy |= matches!(command.git().0, "branch" | "stash" | "commit" | "tag");
    }
}

/// What is found of an action.
pub(crate) fn findings<'a>(deed: &'a Deed<'_>, mut around: Surroundings<'a>) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    let makes = deed
        .commands
        .iter()
        .filter(|command| command.program() == "mkdir");
    around.made_anew = makes.flat_map(SimpleCommand::operands).collect();
    let mut before = None;
    for command in &deed.commands {
        let danger = destroying::of_command(command, &around)
            .or_else(|| outward::of_command(command, before, &around))
            .or_else(|| system::of_command(command, before, &around));
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
    if deed.commands.is_empty()
        && let Some(text) = deed.action.command.as_deref().filter(|_| !deed.looks())
    {
        found.extend(destroying::of_statement(text, &around));
    }
    found
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
