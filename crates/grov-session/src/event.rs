//! What the engine is told, and what comes of it.

use crate::assessed_action::AssessedAction;
use crate::judge_request::{JudgeRequest, JudgeTrigger};
use crate::state_machine::Transition;
use grov_domain::{ActionSketch, AskedCall, GoalEdit, StepId, StepVerdict};
use time::OffsetDateTime;

/// Something that happened in a session.
#[derive(Clone, Debug)]
pub enum SessionEvent<'a> {
    /// A conversation begins: nothing lies before it, and what is stored is of another one.
    Started,
    /// The user typed something.
    Prompt {
        /// What they typed.
        text: &'a str,
        /// When it arrived: what was delivered to the agent later, the user had not seen.
        arrived_at: OffsetDateTime,
    },
    /// The agent acted: the actions of one response, in order; none, where it only spoke.
    Response(Vec<ObservedAction>),
    /// The agent acted before anything of it is judged: the rules take it in, and no more.
    PriorAction(ObservedAction),
    /// A tool call ended.
    CallEnded(CallResult<'a>),
    /// The agent asks the user something by a tool of its own.
    QuestionAsked(PendingQuestion),
    /// The agent said something; what it said last is what a "yes" says yes to.
    AssistantText(&'a str),
    /// The main conversation came to rest.
    TurnEnded,
    /// The user was asked about these calls before they ran. What ran all the same, they allowed.
    PermissionAsked(&'a [AskedCall]),
    /// A person changed the contract; all changes so far, oldest first.
    GoalEdited(Vec<GoalEdit>),
    /// A person allows corrections, or switches them off.
    CorrectionsEnabled(bool),
}

/// An action, as it is handed to the engine.
#[derive(Clone, Debug)]
pub struct ObservedAction {
    /// What was done.
    pub action: ActionSketch,
    /// The tool call.
    pub call: Option<String>,
    /// The step it is recorded as.
    pub step: Option<StepId>,
    /// A subagent did it.
    pub is_delegated: bool,
}

/// How a tool call ended.
#[derive(Clone, Copy, Debug)]
pub struct CallResult<'a> {
    /// The call.
    pub call: &'a str,
    /// The tool reported an error, or was not allowed to run.
    pub failed: bool,
    /// The end of what it put out.
    pub output: Option<&'a str>,
    /// A subagent made the call.
    pub is_delegated: bool,
}

/// A tool call that asks the user something: they answer by its result.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PendingQuestion {
    /// The call.
    pub call: String,
    /// The plan to be approved; `None`: a question, which its result repeats with the answer.
    pub plan: Option<String>,
}

/// What came of an event.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// The actions of the event with what the rules found of them.
    pub assessed: Vec<AssessedAction>,
    /// What is to be recorded of these actions, one for each; `None`: nothing.
    pub verdicts: Vec<Option<StepVerdict>>,
    /// Verdicts on steps that were recorded before.
    pub later_verdicts: Vec<(StepId, StepVerdict)>,
    /// What came of it for the corrections.
    pub transition: Transition,
    /// What a judge is to be asked, with the reason where the engine may do without.
    pub judge_requests: Vec<(JudgeRequest, Option<JudgeTrigger>)>,
    /// A call against a fact ran: it is to be found out whether the user was asked about it.
    pub needs_permission_lookup: bool,
}

impl Effects {
    /// The effects of a change of the course alone.
    pub(crate) fn of(transition: Transition) -> Self {
        Self {
            transition,
            ..Self::default()
        }
    }
}
