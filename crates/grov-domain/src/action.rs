//! Actions: what the agent did with one tool call.

use crate::macros::named;
use crate::{ActionSketch, CommandLine, TextChange};
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
    /// Searches for files or text (Glob, Grep, LS).
    Search,
    /// Runs a command (Bash, BashOutput, KillShell).
    Bash,
    /// Starts a subagent or sends it a message (Task, Agent, SendMessage).
    Task,
    /// Fetches or searches the web (WebFetch, WebSearch).
    Web,
    /// Edits the agent's own task list (TodoWrite, TaskCreate, TaskUpdate).
    Todo,
    /// Calls a tool of an MCP server (`mcp__server__tool`).
    Mcp,
    /// Any other tool, and types stored by a newer version.
    #[default]
    Other,
}

named!(ActionType {
    Edit => "edit", Write => "write", Read => "read", Search => "search", Bash => "bash", Task => "task",
    Web => "web", Todo => "todo", Mcp => "mcp", Other => "other",
});

impl ActionType {
    /// Whether the tool itself changes files. The effects of an action say what its command changes.
    pub fn modifies_files(self) -> bool {
        matches!(self, Self::Edit | Self::Write)
    }
}

/// What a command does, as far as the command line shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectKind {
    /// Reads files or lists folders.
    Read,
    /// Creates or overwrites files.
    Write,
    /// Changes files in place.
    Modify,
    /// Deletes files or folders.
    Delete,
    /// Renames or moves; paths are source then target.
    Move,
    /// Copies; paths are source then target.
    Copy,
    /// Changes owners or permissions.
    Permission,
    /// Changes version-control state (commit, checkout, reset, push).
    VersionControl,
    /// Accesses the network.
    Network,
    /// Installs or removes packages.
    Install,
    /// Runs tests, linters or type checks.
    Test,
    /// Builds the project.
    Build,
    /// Runs a program whose effects the command line does not show.
    Execute,
}

impl EffectKind {
    /// Whether it changes the content, name, location or permissions of files. Version control and package installs
    /// are not included.
    pub fn changes_files(self) -> bool {
        matches!(
            self,
            Self::Write | Self::Modify | Self::Delete | Self::Move | Self::Copy | Self::Permission
        )
    }

    /// Whether it changes files, the repository or installed packages. Tests, builds and programs with unknown effects do
    /// not count as changes.
    pub fn is_change(self) -> bool {
        self.changes_files() || matches!(self, Self::VersionControl | Self::Install)
    }
}

/// How an action ended that did not succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepOutcome {
    /// The tool reported an error.
    Failed,
    /// The user, a hook or a permission rule refused it.
    Denied,
    /// The user interrupted it.
    Stopped,
}

named!(StepOutcome { Failed => "failed", Denied => "denied", Stopped => "stopped" });

/// Beginnings of the result of a call that the client's permission rules refused.
const NOT_PERMITTED: &[&str] = &["Permission to use ", "This command requires approval"];

/// Texts in the result of a call that the user interrupted.
const INTERRUPTED: &[&str] = &["[Request interrupted by user", "Interrupted by user"];

impl StepOutcome {
    /// Classifies the result of a call that did not succeed by what the client writes into it.
    pub fn of_failure(output: &str) -> Self {
        let output = output.trim_start();
        let contains = |words: &&str| output.contains(*words);
        if INTERRUPTED.iter().any(contains) {
            Self::Stopped
        } else if REFUSED.iter().any(contains) || NOT_PERMITTED.iter().any(|words| output.starts_with(words))
        {
            Self::Denied
        } else {
            Self::Failed
        }
    }
}

/// Texts in the result of a call that the user or a hook refused. The result may be cut off.
const REFUSED: &[&str] = &[
    "The tool use was rejected",
    "wait for the user to tell you how to proceed",
];

/// Classifies what an action changes. Methods named `changes_…` and `is_…` look at the call alone, so that they also work
/// before it runs; `took_effect` and `has_…` consider the result, too.
impl ActionSketch {
    /// Whether the tool or its command changes files.
    pub fn changes_files(&self) -> bool {
        self.action_type.modifies_files() || self.effects.iter().any(|effect| effect.changes_files())
    }

    /// Whether it changes the inputs of tests and builds: files or installed packages. A commit changes neither.
    pub fn changes_build_inputs(&self) -> bool {
        self.changes_files() || self.effects.contains(&EffectKind::Install)
    }

    /// Whether it changes files, the repository or installed packages.
    pub fn is_change(&self) -> bool {
        self.action_type.modifies_files() || self.effects.iter().any(|effect| effect.is_change())
    }

    /// Whether it changes something, or runs a program whose effects the command line does not show. Tests and builds do neither.
    pub fn acts(&self) -> bool {
        let checks = |effect: &EffectKind| matches!(effect, EffectKind::Test | EffectKind::Build);
        !self.effects.iter().any(checks) && (self.is_change() || self.effects.contains(&EffectKind::Execute))
    }

    /// Whether the action may have taken effect. A failed or refused call has not, except for a failed command, which may
    /// have run in part. An action with an unknown result counts as done.
    pub fn took_effect(&self) -> bool {
        let output = self.output.as_deref().unwrap_or_default();
        let may_have_run = self.command.is_some() && !REFUSED.iter().any(|words| output.contains(words));
        self.failed != Some(true) || may_have_run
    }

    /// Whether it changed files, the repository or installed packages. An action with an unknown result counts as done.
    pub fn has_changed(&self) -> bool {
        self.is_change() && self.took_effect()
    }

    /// Whether it creates a commit.
    pub fn is_commit(&self) -> bool {
        let command = self.command.as_deref().unwrap_or_default();
        let between = |letter: char| letter.is_whitespace() || matches!(letter, ';' | '&' | '|');
        self.effects.contains(&EffectKind::VersionControl)
            && command.split(between).any(|word| word == "commit")
    }

    /// Whether it only takes back changes of the working tree: `git checkout FILE`, `git restore`, `git reset --hard`.
    pub fn only_restores(&self) -> bool {
        let command = self.command.as_deref().unwrap_or_default();
        let mut parts = command
            .split(['&', ';', '\n'])
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .peekable();
        parts.peek().is_some()
            && parts.all(|part| {
                let restores_files = |rest: &str| !rest.contains(" -b") && rest.contains(['.', '/']);
                part.starts_with("git restore")
                    || part.starts_with("git reset --hard")
                    || part.starts_with("git stash")
                    || part.strip_prefix("git checkout").is_some_and(restores_files)
            })
    }

    /// Whether it created a commit. An action with an unknown result counts as done.
    pub fn has_committed(&self) -> bool {
        self.is_commit() && self.failed != Some(true)
    }
}

/// An effect of a command, with the paths that the command names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// The kind of effect.
    pub kind: EffectKind,
    /// The paths, in order, resolved against the working directory if that is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
}

/// A parsed tool call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Action {
    /// The tool's name as the client sent it.
    pub tool: String,
    /// The id of the tool call, if it has one.
    pub tool_use_id: Option<String>,
    /// The kind of action.
    pub action_type: ActionType,
    /// Files that the action accesses, in order, each once.
    pub files: Vec<String>,
    /// Folders that the action accesses or searches.
    pub folders: Vec<String>,
    /// The command line, or the pattern, query, URL or delegated prompt of other tools.
    pub command: Option<String>,
    /// The effects that the command line shows, in order.
    pub effects: Vec<Effect>,
    /// The parsed command line. Not stored; parse `command` again for a stored action.
    #[serde(skip)]
    pub line: Option<Arc<CommandLine>>,
    /// The text that the tool replaces and writes. Not stored.
    #[serde(skip)]
    pub change: Option<Arc<TextChange>>,
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
    fn changes_files_and_changes_build_inputs_and_is_change_differ() {
        use EffectKind::{Delete, Install, Permission, Read, Test, VersionControl, Write};
        // The effect, and the results of changes_files, changes_build_inputs and is_change.
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
    fn taking_changes_back_is_recognised() {
        let restores = |line: &str| {
            let mut action = command(EffectKind::Modify, Some(false), "");
            action.command = Some(line.to_owned());
            action.only_restores()
        };
        for line in [
            "git checkout pom.xml",
            "git checkout -- . && git stash",
            "git restore src/",
            "git reset --hard",
        ] {
            assert!(restores(line), "{line}");
        }
        for line in [
            "git checkout -b fix/one",
            "git checkout main",
            "git restore a && rm b",
            "git commit -am x",
            "",
        ] {
            assert!(!restores(line), "{line}");
        }
    }

    #[test]
    fn an_install_counts_as_a_change() {
        assert!(EffectKind::Install.is_change() && !EffectKind::Install.changes_files());
        assert!(command(EffectKind::Install, None, "").has_changed());
    }

    #[test]
    fn results_of_refused_and_interrupted_calls_are_told_from_failures() {
        for (output, expected) in [
            ("Exit code 1\nno such file", StepOutcome::Failed),
            ("", StepOutcome::Failed),
            ("error: permission to use it was lost", StepOutcome::Failed),
            (
                "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. …",
                StepOutcome::Denied,
            ),
            ("Permission to use Bash has been denied.", StepOutcome::Denied),
            ("[Request interrupted by user for tool use]", StepOutcome::Stopped),
        ] {
            assert_eq!(StepOutcome::of_failure(output), expected, "{output}");
        }
    }

    #[test]
    fn a_failed_command_may_have_changed_something_but_a_refused_one_has_not() {
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
