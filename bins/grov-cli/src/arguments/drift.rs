//! The arguments of `grov goal`, `grov drift` and `grov drift-test`.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(crate) struct GoalArguments {
    /// Session: its id, a task id, or a unique prefix of one [default: the project's newest working session]
    #[arg(long, value_name = "S", global = true)]
    pub(crate) session: Option<String>,
    #[command(subcommand)]
    pub(crate) command: GoalCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GoalCommand {
    /// Show the goal contract, and the origin of each part
    Show,
    /// Set the goal
    Set {
        /// The goal
        #[arg(required = true)]
        text: Vec<String>,
    },
    /// Allow changes to a file, a folder or the matches of a glob, even if the rules would object
    Allow {
        /// A path or a glob, absolute or from the current directory
        glob: String,
    },
    /// Forbid changes to a file, a folder or the matches of a glob
    Forbid {
        /// A path or a glob, absolute or from the current directory
        glob: String,
    },
    /// Add a constraint in words, such as "no new dependencies"
    Constraint {
        /// The constraint
        #[arg(required = true)]
        text: Vec<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum DriftCommand {
    /// Show the drift state of the project's active sessions
    Status {
        /// Only this session, active or not: its id, a task id, or a unique prefix of one
        #[arg(long, value_name = "S")]
        session: Option<String>,
    },
    /// List actions that were judged off the goal, oldest first
    Log {
        /// Only this session or task: its id, or a unique prefix of it [default: all of the project]
        #[arg(long, value_name = "S")]
        session: Option<String>,
        /// Maximum number, the newest; 0 = all [default: 20, with --json all]
        #[arg(long, value_name = "N")]
        limit: Option<u32>,
    },
    /// Explain one such action: the findings, the correction, and whether the agent followed it
    Explain {
        /// An event id, its step's id, or a unique prefix or suffix of one
        event: String,
    },
    /// Judge recorded actions by the current rules, without a model
    ///
    /// Without a file: the actions of a session, with the scores that were recorded and the scores of the current rules.
    ///
    /// With a file: each line {"seq_id", "goal", "expected_scope"?, "constraints"?, "actions": [{"type", "files", "command"?,
    /// "text"?, "old"?, "error"?}]} ("old" is the text that an edit replaces, "error" is true if the action failed) is answered by a line {"seq_id", "scores", "corrections"}, in the same order. The types are read,
    /// edit, write, bash, search, task, web and other. An action with a score below 5 is off the goal. A malformed line is
    /// reported and skipped, and makes the exit code 1.
    ///
    /// An action {"type": "prompt", "text"} is a prompt of the user. A sequence with prompts is replayed as a live session: a
    /// "goal" that is not empty is its first prompt, the contract comes from the prompts so far, "text" of a command is its
    /// output, and "expected_scope" and "constraints" must be empty. "scores" and "guard" then have null for a prompt.
    /// An action {"type": "answer", "text"} is the text with which the agent ends its turn; the next prompt may agree to it.
    /// A prompt may have a "reading", what a model read in the prompts so far. With --guard, "guard_reasons" says why it asks.
    ///
    /// The scores of a file have a fraction, which ranks actions with the same whole score, and are the same on both paths.
    /// Reading or searching never lowers the score of a live session; in a file it scores below 5 if it continues a drift.
    /// The scores of a session are whole, as recorded, and never below 5 for reading and searching.
    ///
    /// The paths differ in when a correction is delivered: --path proxy with the next action, --path hooks with the next
    /// prompt. With hooks, a correction has "behind", the number of actions before its delivery, and "looks" lists the check
    /// at each prompt: "behind", the whole "score" of the actions since the previous prompt, and its "reason".
    Replay {
        /// The file; - for standard input
        #[arg(conflicts_with = "session")]
        file: Option<PathBuf>,
        /// How corrections are delivered
        #[arg(long, value_enum, default_value_t, requires = "file")]
        path: ReplayPath,
        /// With --path hooks: the number of actions after which a prompt follows that adds nothing to the goal
        #[arg(long, value_name = "N", default_value = "10", requires = "path")]
        every: std::num::NonZeroUsize,
        /// Add "guard" to each line: for every action null, or "ask" if the guard of the hooks would have asked about it. An
        /// action that it asked about and that ran was allowed by the user: it is not corrected
        #[arg(long, requires = "file")]
        guard: bool,
        /// Session: its id, a task id, or a unique prefix of one [default: the project's newest working session]
        #[arg(long, value_name = "S")]
        session: Option<String>,
    },
}

/// How a session reaches Grov.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReplayPath {
    /// Through the proxy: corrections are delivered with the next request
    #[default]
    Proxy,
    /// By hooks alone: corrections are delivered with the next prompt
    Hooks,
}

/// Judge an action under a goal
///
/// PROMPT describes the first action of a session. A command line ("rm -rf build") is judged as that command. Anything else
/// is judged as a change of the files that it names ("edit src/theme.css"), with the prompt as the written text. Rules judge
/// it; if a model is configured (llm.provider), it judges too. The model can lower the score and overrule suspicions
/// of the rules, but not broken constraints or destructive commands. Only the model's cost is recorded.
#[derive(Args, Debug)]
pub(crate) struct DriftTestArguments {
    /// The action
    pub(crate) prompt: String,
    /// The goal
    #[arg(long, value_name = "TEXT")]
    pub(crate) goal: String,
    /// A path or glob that the task is expected to change; can be repeated
    #[arg(long, value_name = "GLOB")]
    pub(crate) scope: Vec<String>,
    /// A constraint; can be repeated
    #[arg(long, value_name = "TEXT")]
    pub(crate) constraint: Vec<String>,
}
