//! The events that the engine takes and the effects that it returns.

use crate::assessed_action::AssessedAction;
use crate::judge_request::{JudgeRequest, JudgeTrigger};
use crate::state_machine::Transition;
use grov_domain::{ActionSketch, AskedCall, GoalEdit, PromptReading, StepId, StepVerdict};
use time::OffsetDateTime;

/// An event of a session.
#[derive(Clone, Debug)]
pub enum SessionEvent<'a> {
    /// A conversation started. Its history is empty; stored history belongs to another conversation.
    Started,
    /// The user submitted a prompt.
    Prompt {
        /// The prompt.
        text: &'a str,
        /// When its request arrived. A correction delivered with that request does not count as read by the user.
        arrived_at: OffsetDateTime,
    },
    /// The agent responded with these actions, in order; none if it only wrote text.
    Response(Vec<ObservedAction>),
    /// An action from before the session was observed. The rules record it; it gets no verdict and no correction.
    PriorAction(ObservedAction),
    /// A tool call ended.
    CallEnded(CallResult<'a>),
    /// The agent asked the user a question through a tool.
    QuestionAsked(PendingQuestion),
    /// The agent wrote text. A "yes" in the next prompt agrees to the last text.
    AssistantText(&'a str),
    /// The turn of the main conversation ended.
    TurnEnded,
    /// The user was asked about these calls before they ran. Calls that ran were allowed.
    PermissionAsked(&'a [AskedCall]),
    /// A person edited the contract. Contains all edits so far, oldest first.
    GoalEdited(Vec<GoalEdit>),
    /// A model read the prompts. Has no effect if a newer prompt arrived meanwhile.
    PromptsRead {
        /// The newest prompt that was read.
        read_to: &'a str,
        /// What it read.
        reading: PromptReading,
    },
    /// A person switched corrections on or off.
    CorrectionsEnabled(bool),
}

/// An action of the agent, to be assessed.
#[derive(Clone, Debug)]
pub struct ObservedAction {
    /// The action.
    pub action: ActionSketch,
    /// The id of the tool call.
    pub call: Option<String>,
    /// The id under which the action is recorded, if it is.
    pub step: Option<StepId>,
    /// Whether a subagent acted. Only hard findings count then.
    pub is_delegated: bool,
}

/// The result of a tool call.
#[derive(Clone, Copy, Debug)]
pub struct CallResult<'a> {
    /// The id of the tool call.
    pub call: &'a str,
    /// Whether the tool reported an error or was refused.
    pub failed: bool,
    /// The end of its output, if known.
    pub output: Option<&'a str>,
    /// Whether a subagent made the call.
    pub is_delegated: bool,
}

/// A tool call that asks the user a question or for the approval of a plan. Its result contains the answer.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PendingQuestion {
    /// The id of the tool call.
    pub call: String,
    /// The plan to approve; `None` for a question, whose result repeats the question with the answer.
    pub plan: Option<String>,
}

/// The effects of an event, which the caller has to apply.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// The actions of the event with their assessments, in order.
    pub assessed: Vec<AssessedAction>,
    /// The verdict to record for each action of a response, in order; `None` if none is recorded.
    pub verdicts: Vec<Option<StepVerdict>>,
    /// Verdicts that replace those of steps recorded earlier.
    pub later_verdicts: Vec<(StepId, StepVerdict)>,
    /// The changes of the drift state: new and resolved corrections.
    pub transition: Transition,
    /// Questions to ask a judge. Those with a trigger are optional; if one is asked, call
    /// [`SessionEngine::judge_requested`](crate::SessionEngine::judge_requested).
    pub judge_requests: Vec<(JudgeRequest, Option<JudgeTrigger>)>,
    /// Whether to look up which calls the user was asked about, and apply [`SessionEvent::PermissionAsked`]: a call with a
    /// hard finding ran, and the user may have allowed it.
    pub needs_permission_lookup: bool,
}

impl Effects {
    /// Creates effects that consist of a transition.
    pub(crate) fn of(transition: Transition) -> Self {
        Self {
            transition,
            ..Self::default()
        }
    }
}
