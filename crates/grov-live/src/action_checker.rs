//! The seam through which somebody judges what the agent did before it is recorded.

use grov_domain::{ActionSketch, DriftState, ExchangeRecord, StepVerdict};
use std::path::Path;

/// An exchange that is about to be recorded.
pub struct PendingExchange<'a> {
    /// Whose it is, what the user typed, and the steps, which have no verdicts yet.
    pub record: &'a ExchangeRecord,
    /// The record's task is the one in work. Otherwise it is not known yet which one is, and the record goes to the first one
    /// for the time being.
    pub task_is_known: bool,
    /// The steps' actions, in the same order, with the beginning of what they write.
    pub actions: &'a [ActionSketch],
    /// How earlier tool calls ended, as the request tells.
    pub results: &'a [ToolOutcome],
    /// Where the agent works.
    pub working_directory: Option<&'a Path>,
    /// Nothing lies before the newest prompt: a conversation begins.
    pub begins: bool,
    /// The main conversation came to rest: the answer arrived whole and the model ended its turn.
    pub ends_turn: bool,
    /// The last text of a main answer, of a long one the end.
    pub answer: Option<&'a str>,
    /// What this response asks of the user by tools of its own for that.
    pub questions: &'a [UserQuestion],
    /// Reads what the user typed earlier in this history out of the request, oldest first. Takes time with the length of
    /// the history.
    pub earlier_prompts: &'a dyn Fn() -> Vec<String>,
}

/// A tool call that asks the user something: they answer by its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserQuestion {
    /// The call.
    pub tool_use_id: String,
    /// The plan to be approved; `None`: a question, which its result repeats with the answer.
    pub plan: Option<String>,
}

/// How a tool call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOutcome {
    /// The call.
    pub tool_use_id: String,
    /// Whether the tool reported an error.
    pub failed: bool,
    /// The end of the output, bounded to 400 characters.
    pub output: Option<String>,
}

/// What was found of an exchange.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckResult {
    /// One for each step, in their order; missing ones are unjudged.
    pub verdicts: Vec<Option<StepVerdict>>,
    /// Where the session stands now, if that has changed.
    pub state: Option<DriftState>,
}

/// Judges what the agent did, by rules that take well under a millisecond.
///
/// Called for every exchange of a named session, on the observers' thread, in the order in which responses ended, before
/// the exchange is recorded: verdicts are written with the steps they are about. A panic is caught, and the exchange is
/// recorded without verdicts.
pub trait ActionChecker: Send + Sync + 'static {
    /// Judges the steps of one exchange.
    fn check(&self, exchange: &PendingExchange<'_>) -> CheckResult;
}
