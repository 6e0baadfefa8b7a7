//! Events that the engine takes and effects that it returns.

use crate::assessed_action::AssessedAction;
use crate::judge_request::{JudgeRequest, JudgeTrigger};
use crate::state_machine::Transition;
use grov_domain::{ActionSketch, AskedCall, GoalEdit, StepId, StepVerdict};
use time::OffsetDateTime;

/// An event of a session.
#[derive(Clone, Debug)]
pub enum SessionEvent<'a> {
    /// A conversation starts. It has no history, and stored history belongs to another conversation.
    Started,
    /// The user submitted a prompt.
    Prompt {
        /// The prompt.
        text: &'a str,
        /// When it arrived. The user had not seen anything delivered to the agent after that.
        arrived_at: OffsetDateTime,
    },
    /// A response of the agent: its actions, in order; empty if it only wrote text.
    Response(Vec<ObservedAction>),
    /// An action from before the session was followed. The rules record it; it is not judged.
    PriorAction(ObservedAction),
    /// A tool call ended.
    CallEnded(CallResult<'a>),
    /// The agent asked the user a question through a tool.
    QuestionAsked(PendingQuestion),
    /// Text of the agent. The last one is what a "yes" of the user agrees to.
    AssistantText(&'a str),
    /// The turn of the main conversation ended.
    TurnEnded,
    /// The user was asked about these calls before they ran. Those that ran were allowed.
    PermissionAsked(&'a [AskedCall]),
    /// A person edited the contract; all edits so far, oldest first.
    GoalEdited(Vec<GoalEdit>),
    /// A person switched corrections on or off.
    CorrectionsEnabled(bool),
}

/// An action as a path observed it.
#[derive(Clone, Debug)]
pub struct ObservedAction {
    /// The action.
    pub action: ActionSketch,
    /// The id of the tool call.
    pub call: Option<String>,
    /// The step under which it is recorded.
    pub step: Option<StepId>,
    /// Whether a subagent acted.
    pub is_delegated: bool,
}

/// The result of a tool call.
#[derive(Clone, Copy, Debug)]
pub struct CallResult<'a> {
    /// The id of the tool call.
    pub call: &'a str,
    /// Whether the tool reported an error or was refused.
    pub failed: bool,
    /// The end of its output.
    pub output: Option<&'a str>,
    /// Whether a subagent made the call.
    pub is_delegated: bool,
}

/// A tool call that asks the user something. Its result holds the answer.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PendingQuestion {
    /// The id of the tool call.
    pub call: String,
    /// The plan to be approved; `None` for a question, whose result repeats it with the answer.
    pub plan: Option<String>,
}

/// What the caller has to do after an event.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// The actions of the event with their assessments.
    pub assessed: Vec<AssessedAction>,
    /// The verdict to record for each action, if any.
    pub verdicts: Vec<Option<StepVerdict>>,
    /// Verdicts for steps that were recorded earlier.
    pub later_verdicts: Vec<(StepId, StepVerdict)>,
    /// The change of the state machine.
    pub transition: Transition,
    /// Questions for a judge. One with a trigger is optional.
    pub judge_requests: Vec<(JudgeRequest, Option<JudgeTrigger>)>,
    /// Whether the caller should look up which calls the user was asked about: a call with a hard finding ran.
    pub needs_permission_lookup: bool,
}

impl Effects {
    /// Wraps a transition.
    pub(crate) fn of(transition: Transition) -> Self {
        Self {
            transition,
            ..Self::default()
        }
    }
}
