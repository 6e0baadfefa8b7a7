//! What goes into a course, and what comes out.

use grov_domain::{ActionSketch, Assessment, Correction, CorrectionId, SessionId, StepId};
use time::OffsetDateTime;

/// How corrections are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Whether corrections are made at all; otherwise the state is followed and nothing is said.
    pub corrects: bool,
    /// Tokens of a correction with everything around it, by [`grov_memory::estimated_tokens`].
    pub budget: usize,
}

impl Default for Policy {
    /// Corrects, in at most 600 tokens.
    fn default() -> Self {
        Self {
            corrects: true,
            budget: 600,
        }
    }
}

/// An action and what was found of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assessed {
    /// The action.
    pub action: ActionSketch,
    /// The step it is recorded as.
    pub step: Option<StepId>,
    /// The tool call that it is.
    pub call: Option<String>,
    /// What was found.
    pub assessment: Assessment,
    /// A subagent did it: only matters of fact count.
    pub is_delegated: bool,
}

/// What a change of the course needs from outside.
#[derive(Clone, Debug)]
pub struct Moment {
    /// Now.
    pub at: OffsetDateTime,
    /// The id of the correction, if one is made.
    pub id: CorrectionId,
    /// The task in work.
    pub task: SessionId,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// A correction that waits to be said from now on, and the action of the response that it is about.
    pub made: Option<(usize, Correction)>,
    /// Corrections of which it is known now what became of them.
    pub settled: Vec<Correction>,
    /// Of these, how many were never said.
    pub expired: usize,
    /// Actions that are no deviation, whatever the rules say: they did what a correction asked for, go on with undoing, or
    /// the user let them pass.
    pub followed: Vec<usize>,
    /// An action is demanded for the first time.
    pub is_forced_now: bool,
    /// The state is another one now.
    pub changed: bool,
}

/// Something that the user said: were it a mere "yes", it means the same for what was said before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spoken {
    /// It holds a "no" of some sort: nothing is taken for allowed because of it.
    pub objects: bool,
    /// When the request arrived that brought it: what was told with that request the user had not seen.
    pub arrived_at: OffsetDateTime,
}

/// At which point of a session something was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    pub(super) responses: u64,
    pub(super) prompts: u64,
}

impl Standing {
    /// Whether nothing was typed between this point and another one.
    pub(crate) fn is_of_prompt(self, other: Self) -> bool {
        self.prompts == other.prompts
    }
}
