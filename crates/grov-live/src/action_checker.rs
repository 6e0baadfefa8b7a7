//! Checks of the agent's actions before they are recorded.

use grov_domain::{ActionSketch, DriftState, ExchangeRecord, StepVerdict};
use std::path::Path;

/// An exchange that is about to be recorded.
pub struct PendingExchange<'a> {
    /// The record, whose steps have no verdicts yet.
    pub record: &'a ExchangeRecord,
    /// Whether the record's task is the current one. Otherwise the current task is unknown, and the record is stored under the first.
    pub task_is_known: bool,
    /// The actions of the steps, in the same order, with the beginning of what they write.
    pub actions: &'a [ActionSketch],
    /// The results of earlier tool calls in the request.
    pub results: &'a [ToolOutcome],
    /// The working directory.
    pub working_directory: Option<&'a Path>,
    /// Whether the conversation begins with the newest prompt.
    pub begins: bool,
    /// Whether the main conversation is at rest: the answer is complete and the model ended its turn.
    pub ends_turn: bool,
    /// The end of the last text of a main answer.
    pub answer: Option<&'a str>,
    /// The questions of this response to the user.
    pub questions: &'a [UserQuestion],
    /// Returns the earlier prompts of this history, oldest first. Slow for a long history.
    pub earlier_prompts: &'a dyn Fn() -> Vec<String>,
}

/// A tool call that the user answers by its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserQuestion {
    /// The id of the tool call.
    pub tool_use_id: String,
    /// The plan to approve, or `None` for a question, which the result repeats with the answer.
    pub plan: Option<String>,
}

/// The result of a tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOutcome {
    /// The id of the tool call.
    pub tool_use_id: String,
    /// Whether the tool reported an error.
    pub failed: bool,
    /// The end of the output, at most 400 characters.
    pub output: Option<String>,
}

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckResult {
    /// The verdicts in the order of the steps. Missing ones mean not judged.
    pub verdicts: Vec<Option<StepVerdict>>,
    /// The drift state of the session, if it changed.
    pub state: Option<DriftState>,
}

/// Judges actions by rules, in well under a millisecond.
///
/// Called for every exchange of a named session before it is recorded, so that verdicts are written with their steps.
/// Runs on the observers' thread, in the order in which responses ended. After a panic, the exchange is recorded
/// without verdicts.
pub trait ActionChecker: Send + Sync + 'static {
    /// Judges the steps of an exchange.
    fn check(&self, exchange: &PendingExchange<'_>) -> CheckResult;
}
