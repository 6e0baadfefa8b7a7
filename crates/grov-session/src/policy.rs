//! Engine settings that differ between the hook path and the proxy path.

use time::Duration;

/// Age after which an undelivered correction is dropped, because it refers to past work.
const MAX_PENDING_AGE: Duration = Duration::minutes(10);

/// When text can be delivered to the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// With every request of the agent, also within a turn.
    PerAction,
    /// Only with prompts. All actions since the last prompt are checked together.
    PerPrompt,
}

/// How a session is judged and corrected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Whether corrections are created. The state is followed in any case.
    pub corrects: bool,
    /// Maximum tokens of a correction including its frame, as counted by
    /// [`estimated_tokens`](crate::quote::estimated_tokens).
    pub budget: usize,
    /// When corrections can be delivered.
    pub delivery: Delivery,
    /// Number of prompts between two questions to a judge; 0 to ask no judge.
    pub check_interval: u32,
}

impl Policy {
    /// Delivers corrections with requests, in at most 600 tokens; asks a judge every three prompts.
    pub const PER_ACTION: Self = Self {
        corrects: true,
        budget: 600,
        delivery: Delivery::PerAction,
        check_interval: 3,
    };

    /// Delivers corrections with prompts, in at most 600 tokens; asks no judge.
    pub const PER_PROMPT: Self = Self {
        check_interval: 0,
        delivery: Delivery::PerPrompt,
        ..Self::PER_ACTION
    };

    /// Returns the maximum age of a pending correction. There is none if corrections are delivered with prompts: the next
    /// prompt may come after days, and a broken constraint is still broken then.
    pub(crate) fn max_pending_age(&self) -> Option<Duration> {
        (self.delivery == Delivery::PerAction).then_some(MAX_PENDING_AGE)
    }

    /// Whether a pending doubt is delivered with the next prompt, or dropped by it. Per prompt, there is no other time to
    /// deliver it.
    pub(crate) fn doubts_survive_prompts(&self) -> bool {
        self.delivery == Delivery::PerPrompt
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self::PER_ACTION
    }
}
