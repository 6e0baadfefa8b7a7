//! Input and output of the state machine.

use grov_domain::{Correction, CorrectionId, SessionId};
use time::OffsetDateTime;

/// The values that the caller supplies with each event.
#[derive(Clone, Debug)]
pub struct EventContext {
    /// The current time.
    pub at: OffsetDateTime,
    /// The id for a correction that the event may create.
    pub correction_id: CorrectionId,
    /// The active task.
    pub task: SessionId,
}

/// The changes caused by an event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transition {
    /// The correction that is pending now, with the index of its action in the response, or `None` if it is about an
    /// earlier action.
    pub new_correction: Option<(Option<usize>, Correction)>,
    /// Corrections whose outcome is known now, to be stored.
    pub resolved: Vec<Correction>,
    /// The number of these that were never delivered.
    pub expired: usize,
    /// Indexes of actions in the response that count as on goal despite findings: they follow a correction or continue an
    /// undo, or the user let them pass.
    pub exempt: Vec<usize>,
    /// Whether the session entered forced mode.
    pub entered_forced_mode: bool,
    /// Whether the drift state changed and has to be stored.
    pub state_changed: bool,
}

impl Transition {
    /// Merges a later transition.
    pub(crate) fn add(&mut self, later: Self) {
        self.new_correction = later.new_correction.or(self.new_correction.take());
        self.resolved.extend(later.resolved);
        self.expired += later.expired;
        self.exempt.extend(later.exempt);
        self.entered_forced_mode |= later.entered_forced_mode;
        self.state_changed |= later.state_changed;
    }
}

/// The data of a prompt that matters for earlier corrections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptSummary {
    /// Whether it contains an objection, and so permits nothing.
    pub has_objection: bool,
    /// When its request arrived. The user has not seen a correction delivered with that request.
    pub arrived_at: OffsetDateTime,
}

/// A position in a session, to detect that later events outdate a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    pub(super) responses: u64,
    pub(super) prompts: u64,
}

impl Position {
    /// Whether there is no prompt between two positions.
    pub(crate) fn is_same_prompt(self, other: Self) -> bool {
        self.prompts == other.prompts
    }
}
