//! Actions: what the agent did with one tool call.

use crate::CommandLine;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The kind of a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
    /// Anything else, unknown tools included.
    Other,
}

impl ActionType {
    /// The name under which the type is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Edit => "edit",
            Self::Write => "write",
            Self::Read => "read",
            Self::Search => "search",
            Self::Bash => "bash",
            Self::Task => "task",
            Self::Web => "web",
            Self::Todo => "todo",
            Self::Mcp => "mcp",
            Self::Other => "other",
        }
    }

    /// The type of that name; unknown names (a newer writer's) are [`ActionType::Other`].
    pub fn from_name(name: &str) -> Self {
        match name {
            "edit" => Self::Edit,
            "write" => Self::Write,
            "read" => Self::Read,
            "search" => Self::Search,
            "bash" => Self::Bash,
            "task" => Self::Task,
            "web" => Self::Web,
            "todo" => Self::Todo,
            "mcp" => Self::Mcp,
            _ => Self::Other,
        }
    }

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
    /// repository and the machine, which some count as well.
    pub fn changes_files(self) -> bool {
        matches!(
            self,
            Self::Write | Self::Modify | Self::Delete | Self::Move | Self::Copy | Self::Permission
        )
    }

    /// Whether files or the repository are not what they were.
    pub fn is_change(self) -> bool {
        self.changes_files() || self == Self::VersionControl
    }
}

/// Whether an action is work that a team remembers, and not only a look at what there is: it changed files or the
/// repository, or installed or removed packages.
pub fn is_work(action_type: ActionType, mut effects: impl Iterator<Item = EffectKind>) -> bool {
    action_type.modifies_files() || effects.any(|effect| effect.is_change() || effect == EffectKind::Install)
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
