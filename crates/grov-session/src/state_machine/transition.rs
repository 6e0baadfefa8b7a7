//! What goes into a course, and what comes out.

use grov_domain::{Correction, CorrectionId, SessionId};
use time::OffsetDateTime;

/// What a change of the course needs from outside.
#[derive(Clone, Debug)]
pub struct EventContext {
    /// Now.
    pub at: OffsetDateTime,
    /// The id of the correction, if one is made.
    pub id: CorrectionId,
    /// The task in work.
    pub task: SessionId,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transition {
    /// A correction that waits to be said from now on, and the action of the response that it is about; `None`: an earlier
    /// action.
    pub new_correction: Option<(Option<usize>, Correction)>,
    /// Corrections of which it is known now what became of them.
    pub resolved: Vec<Correction>,
    /// Of these, how many were never said.
    pub expired: usize,
    /// Actions that are no deviation, whatever the rules say: they did what a correction asked for, go on with undoing, or
    /// the user let them pass.
    pub exempt: Vec<usize>,
    /// An action is demanded for the first time.
    pub entered_forced_mode: bool,
    /// The state is another one now.
    pub state_changed: bool,
}

impl Transition {
    /// Adds what came of a later change.
    pub(crate) fn add(&mut self, later: Self) {
        self.new_correction = later.new_correction.or(self.new_correction.take());
        self.resolved.extend(later.resolved);
        self.expired += later.expired;
        self.exempt.extend(later.exempt);
        self.entered_forced_mode |= later.entered_forced_mode;
        self.state_changed |= later.state_changed;
    }
}

/// Something that the user said: were it a mere "yes", it means the same for what was said before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptSummary {
    /// It holds a "no" of some sort: nothing is taken for allowed because of it.
    pub has_objection: bool,
    /// When the request arrived that brought it: what was told with that request the user had not seen.
    pub arrived_at: OffsetDateTime,
}

/// At which point of a session something was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    pub(super) responses: u64,
    pub(super) prompts: u64,
}

impl Position {
    /// Whether nothing was typed between this point and another one.
    pub(crate) fn is_same_prompt(self, other: Self) -> bool {
        self.prompts == other.prompts
    }
}
