//! `grov drift …`

mod explain;
mod format;
mod log;
mod replay;

pub(super) use replay::{JudgedAction, judged_actions};
mod status;

use crate::arguments::DriftCommand;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Outcome, Terminal};
use grov_actions::{ToolCall, understand};
use grov_domain::{ActionSketch, Intent, IntentQuestion};
use grov_rules::extract_intent;

pub(crate) fn run(
    context: impl FnOnce() -> Result<Context, Failure>,
    command: &DriftCommand,
    terminal: Terminal,
) -> Outcome {
    match command {
        DriftCommand::Status { session } => status::run(&context()?, session.as_deref()),
        DriftCommand::Log { session, limit } => log::run(&context()?, session.as_deref(), *limit),
        DriftCommand::Explain { event } => explain::run(&context()?, event),
        DriftCommand::Replay {
            file: Some(file),
            path,
            every,
            guard,
            ..
        } => {
            let options = replay::Options {
                path: *path,
                every: every.get(),
                guard: *guard,
            };
            replay::file(file, options, terminal)
        }
        DriftCommand::Replay {
            session, file: None, ..
        } => replay::session(&context()?, session.as_deref()),
    }
}

/// The intent of a single prompt, by the rules.
pub(super) fn intent_of(prompt: &str) -> Intent {
    extract_intent(&IntentQuestion {
        prompts: vec![prompt.to_owned()],
        first_files: Vec::new(),
    })
}

/// The action of a command line.
pub(super) fn command_action(command: &str) -> ActionSketch {
    let input = serde_json::json!({ "command": command });
    ActionSketch::of(&understand(&ToolCall {
        name: "Bash",
        id: None,
        input: (&input).into(),
        working_directory: None,
    }))
}
