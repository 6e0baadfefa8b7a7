//! The words of `grov goal`, `grov drift` and `grov drift-test`.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(crate) struct GoalArguments {
    /// Session: its id, a task's id, or an unmistakable beginning of one [default: the project's newest active session]
    #[arg(long, value_name = "S", global = true)]
    pub(crate) session: Option<String>,
    #[command(subcommand)]
    pub(crate) command: GoalCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GoalCommand {
    /// Show what the agent is held to, and where each part of it comes from
    Show,
    /// Say the goal in other words
    Set {
        /// The goal
        #[arg(required = true)]
        text: Vec<String>,
    },
    /// Allow changes of a file, of a folder with all below it, or of what a glob names, whatever the rules say
    Allow {
        /// A path or a glob, absolute or from the current directory
        glob: String,
    },
    /// Forbid changes of a file, of a folder with all below it, or of what a glob names
    Forbid {
        /// A path or a glob, absolute or from the current directory
        glob: String,
    },
    /// Add something that the agent has to keep to, in words: "no new dependencies"
    Constraint {
        /// The constraint
        #[arg(required = true)]
        text: Vec<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum DriftCommand {
    /// Show where the project's active sessions stand
    Status {
        /// Only this session, active or not: its id, a task's id, or an unmistakable beginning of one
        #[arg(long, value_name = "S")]
        session: Option<String>,
    },
    /// List actions that were judged off goal, oldest first
    Log {
        /// Only this session (or task): its id, or an unmistakable beginning of it [default: all of the project]
        #[arg(long, value_name = "S")]
        session: Option<String>,
        /// Show at most so many, the newest; 0 = all [default: 20, with --json all]
        #[arg(long, value_name = "N")]
        limit: Option<u32>,
    },
    /// Explain one of them: what was done, what was found, what the agent was told and whether it followed
    Explain {
        /// An event's id, its step's id, or an unmistakable beginning or end of one
        event: String,
    },
    /// Judge recorded work by today's rules, without a model
    ///
    /// Without a file: what was done in a session, action by action, beside what was said of it then.
    ///
    /// With a file: each line {"seq_id", "goal", "expected_scope"?, "constraints"?, "actions": [{"type", "files", "command"?,
    /// "text"?, "error"?}]} is answered with a line {"seq_id", "scores", "corrections"}, in the same order. Types are read,
    /// edit, write, bash, search, task, web and other; below a score of 5 an action is off goal. A line that cannot be
    /// understood is told, left out, and makes the exit code 1.
    ///
    /// Scores of a file have a fraction, which ranks actions of one whole score; they are of the rules alone, and the same on
    /// both paths. A look at a file never lowers the score of a live session; here one that goes on with a drift is below 5.
    /// Scores of a session are whole, as they are recorded, and a look is never below 5.
    ///
    /// Paths differ in when the agent is corrected: --path proxy with the next action, --path hooks with the next prompt. A
    /// correction then has "behind", the number of actions before it is said, and "looks" has what each prompt finds: "behind", the
    /// whole "score" of what was done since the prompt before, and its "reason".
    Replay {
        /// The file; - for standard input
        #[arg(conflicts_with = "session")]
        file: Option<PathBuf>,
        /// How the agent is corrected
        #[arg(long, value_enum, default_value_t, requires = "file")]
        path: ReplayPath,
        /// With --path hooks: the user types something behind so many actions, which asks for nothing
        #[arg(long, value_name = "N", default_value = "10", requires = "path")]
        every: std::num::NonZeroUsize,
        /// Tell of each action what the guard of the hooks would have done before it, had nobody ever been asked: a line has
        /// "guard" besides, null or "ask" for every action
        #[arg(long, requires = "file")]
        guard: bool,
        /// Session: its id, a task's id, or an unmistakable beginning of one [default: the project's newest active session]
        #[arg(long, value_name = "S")]
        session: Option<String>,
    },
}

/// How a session reaches Grov.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReplayPath {
    /// Through the proxy: the agent is corrected with its next request
    #[default]
    Proxy,
    /// By hooks alone: the agent is corrected with the user's next prompt
    Hooks,
}

/// Say what Grov would say of an action under a goal
///
/// PROMPT is taken for what the agent does as the first action of a session. A command line ("rm -rf build") is judged as
/// that command. Otherwise it is a change: of the files that it names ("edit src/theme.css"), if it names any, and with its
/// words for what is written. Rules judge; where a model is set up (llm.provider), it is asked too. It may lower the
/// score and lift what the rules only suspect, but not what they know for certain (constraints, destructive commands).
/// Nothing is recorded but the model's cost.
#[derive(Args, Debug)]
pub(crate) struct DriftTestArguments {
    /// What the agent does
    pub(crate) prompt: String,
    /// What it should do
    #[arg(long, value_name = "TEXT")]
    pub(crate) goal: String,
    /// A path or glob that the work is expected to touch; may be given several times
    #[arg(long, value_name = "GLOB")]
    pub(crate) scope: Vec<String>,
    /// Something that the agent has to keep to; may be given several times
    #[arg(long, value_name = "TEXT")]
    pub(crate) constraint: Vec<String>,
}
