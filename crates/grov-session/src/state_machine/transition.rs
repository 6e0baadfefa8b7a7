//! Input and output of the state machine.

use grov_domain::{Correction, CorrectionId, SessionId};
use time::OffsetDateTime;

/// Values that the caller supplies with each event.
#[derive(Clone, Debug)]
pub struct EventContext {
    /// The current time.
    pub at: OffsetDateTime,
    /// The id for a new correction.
    pub id: CorrectionId,
    /// The active task.
    pub task: SessionId,
}

/// The result of an event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transition {
    /// A correction that is pending from now on, with the index of its action in the response; `None` for an earlier
    /// action.
    pub new_correction: Option<(Option<usize>, Correction)>,
    /// Corrections whose outcome is known now.
    pub resolved: Vec<Correction>,
    /// How many of them were never delivered.
    pub expired: usize,
    /// Indexes of actions that count as on goal whatever the rules found: they follow a correction or continue an undo,
    /// or the user let them pass.
    pub exempt: Vec<usize>,
    /// Whether the session entered forced mode.
    pub entered_forced_mode: bool,
    /// Whether the state changed.
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

/// A prompt, as far as it matters for earlier corrections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptSummary {
    /// Whether it contains an objection; then it permits nothing.
    pub has_objection: bool,
    /// When its request arrived. The user had not seen text delivered with that request.
    pub arrived_at: OffsetDateTime,
}

/// A position in a session.
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
