//! Actions: what the agent did with one tool call.

use crate::macros::named;
use crate::{ActionSketch, CommandLine};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The kind of a tool call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionType {
    /// Changes an existing file (Edit, MultiEdit, NotebookEdit).
    Edit,
    /// Writes a whole file (Write).
    Write,
    /// Reads a file (Read).
    Read,
    /// Looks for files or text (Glob, Grep, LS).
    Search,
    /// Runs a command (Bash, BashOutput, KillShell).
    Bash,
    /// Starts or talks to a subagent (Task, Agent).
    Task,
    /// Reaches out to the web (WebFetch, WebSearch).
    Web,
    /// Keeps the agent's own list of work (TodoWrite, TaskCreate, TaskUpdate).
    Todo,
    /// Calls a tool of an MCP server (`mcp__server__tool`).
    Mcp,
    /// Anything else: unknown tools, and names that a newer version stored.
    #[default]
    Other,
}

named!(ActionType {
    Edit => "edit", Write => "write", Read => "read", Search => "search", Bash => "bash", Task => "task",
    Web => "web", Todo => "todo", Mcp => "mcp", Other => "other",
});

impl ActionType {
    /// Whether the action changes files by itself. What a command changes is told by its effects.
    pub fn modifies_files(self) -> bool {
        matches!(self, Self::Edit | Self::Write)
    }
}

/// What a command line does to the world, as far as the line itself shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectKind {
    /// Reads files or lists folders.
    Read,
    /// Creates or overwrites files.
    Write,
    /// Changes files in place.
    Modify,
    /// Removes files or folders.
    Delete,
    /// Renames or moves; paths are source then target.
    Move,
    /// Copies; paths are source then target.
    Copy,
    /// Changes owner or permission.
    Permission,
    /// Changes version-control state (commit, checkout, reset, push).
    VersionControl,
    /// Talks to other machines.
    Network,
    /// Installs or removes packages.
    Install,
    /// Runs tests, linters or type checks.
    Test,
    /// Builds the project.
    Build,
    /// Runs some program whose effect the line does not show.
    Execute,
}

impl EffectKind {
    /// Whether files are not what they were: content, name, place, permission. Version control and packages change the
    /// repository and the machine instead.
    pub fn changes_files(self) -> bool {
        matches!(
            self,
            Self::Write | Self::Modify | Self::Delete | Self::Move | Self::Copy | Self::Permission
        )
    }

    /// Whether files, the repository or the installed packages are not what they were. Tests, builds and programs whose
    /// effect the line does not show change nothing that counts.
    pub fn is_change(self) -> bool {
        self.changes_files() || matches!(self, Self::VersionControl | Self::Install)
    }
}

/// What the client writes for a call that the user or a hook did not let run, as it is or cut off.
const REFUSED: &[&str] = &[
    "The tool use was rejected",
    "wait for the user to tell you how to proceed",
];

/// What an action changes. The methods before [`took_effect`](ActionSketch::took_effect) look at the call alone, so that they
/// can be asked before it runs.
impl ActionSketch {
    /// Whether it changes files, by itself or by a command.
    pub fn changes_files(&self) -> bool {
        self.action_type.modifies_files() || self.effects.iter().any(|effect| effect.changes_files())
    }

    /// Whether it changes what tests and builds run on: files or installed packages. A commit leaves both as they are.
    pub fn changes_build_inputs(&self) -> bool {
        self.changes_files() || self.effects.contains(&EffectKind::Install)
    }

    /// Whether it changes anything that counts as work: files, the repository or installed packages.
    pub fn is_change(&self) -> bool {
        self.action_type.modifies_files() || self.effects.iter().any(|effect| effect.is_change())
    }

    /// Whether it may have done what it says: a call that failed or was refused did nothing, except that a failed command
    /// did what comes before the failure. An action whose result is unknown counts as done.
    pub fn took_effect(&self) -> bool {
        let output = self.output.as_deref().unwrap_or_default();
        let may_have_run = self.command.is_some() && !REFUSED.iter().any(|words| output.contains(words));
        self.failed != Some(true) || may_have_run
    }

    /// Whether it changed files, the repository or installed packages, as far as its result is known.
    pub fn has_changed(&self) -> bool {
        self.is_change() && self.took_effect()
    }

    /// Whether it puts work into a commit.
    pub fn is_commit(&self) -> bool {
        let command = self.command.as_deref().unwrap_or_default();
        let between = |letter: char| letter.is_whitespace() || matches!(letter, ';' | '&' | '|');
        self.effects.contains(&EffectKind::VersionControl)
            && command.split(between).any(|word| word == "commit")
    }

    /// Whether it put work into a commit, as far as its result is known.
    pub fn has_committed(&self) -> bool {
        self.is_commit() && self.failed != Some(true)
    }
}

/// One effect of a command and the paths it names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// What happens.
    pub kind: EffectKind,
    /// The paths named, in order, as resolved against the working directory where that is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
}

/// One tool call, understood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Action {
    /// The tool's name as the client sent it.
    pub tool: String,
    /// The id of the tool call, where there is one.
    pub tool_use_id: Option<String>,
    /// The kind of action.
    pub action_type: ActionType,
    /// Files that the action touches, in order, without repetition.
    pub files: Vec<String>,
    /// Folders that the action touches or searches.
    pub folders: Vec<String>,
    /// The command line, for commands; the pattern, query, URL or delegated prompt for other tools that have one.
    pub command: Option<String>,
    /// What the command line shows of its effects, in order.
    pub effects: Vec<Effect>,
    /// What the command line runs. It is not stored: who needs it of a stored action reads the command again.
    #[serde(skip)]
    pub line: Option<Arc<CommandLine>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(effect: EffectKind, failed: Option<bool>, output: &str) -> ActionSketch {
        ActionSketch {
            command: Some("git commit -am x".to_owned()),
            effects: vec![effect],
            failed,
            output: Some(output.to_owned()),
            ..ActionSketch::empty(ActionType::Bash)
        }
    }

    #[test]
    fn each_question_about_changes_has_its_own_set_of_effects() {
        use EffectKind::{Delete, Install, Permission, Read, Test, VersionControl, Write};
        // The effect, whether it changes files, what builds run on, and anything that counts as work.
        for (effect, files, inputs, work) in [
            (Write, true, true, true),
            (Delete, true, true, true),
            (Permission, true, true, true),
            (Install, false, true, true),
            (VersionControl, false, false, true),
            (Read, false, false, false),
            (Test, false, false, false),
        ] {
            let action = command(effect, None, "");
            let found = (
                action.changes_files(),
                action.changes_build_inputs(),
                action.is_change(),
            );
            assert_eq!(found, (files, inputs, work), "{effect:?}");
        }
        let mut edit = command(Read, None, "");
        (edit.action_type, edit.effects) = (ActionType::Edit, Vec::new());
        assert!(edit.changes_files() && edit.changes_build_inputs() && edit.is_change());
    }

    #[test]
    fn an_install_counts_as_a_change() {
        assert!(EffectKind::Install.is_change() && !EffectKind::Install.changes_files());
        assert!(command(EffectKind::Install, None, "").has_changed());
    }

    #[test]
    fn a_failed_command_may_have_changed_something_and_a_refused_one_has_not() {
        let removal = |failed, output| command(EffectKind::Delete, failed, output).has_changed();
        assert!(removal(None, "") && removal(Some(false), "") && removal(Some(true), "no such file"));
        assert!(!removal(Some(true), "[…] The tool use was rejected (eg. …"));
        let mut edit = command(EffectKind::Read, Some(true), "");
        (edit.action_type, edit.command) = (ActionType::Edit, None);
        assert!(!edit.has_changed());
        assert!(command(EffectKind::VersionControl, Some(false), "").has_committed());
        assert!(!command(EffectKind::VersionControl, Some(true), "").has_committed());
    }
}
