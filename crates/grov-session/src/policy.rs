//! What differs between those who follow a session.

use time::Duration;

/// A correction that was not delivered within this time refers to work that the conversation has left behind.
const MAX_PENDING_AGE: Duration = Duration::minutes(10);

/// When words for the agent can be delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// With every request of the agent, also inside a turn.
    PerAction,
    /// With the user's prompts alone: actions are checked together when the next prompt comes.
    PerPrompt,
}

/// How a session is judged and corrected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Whether corrections are made at all; otherwise the state is followed and no correction is made.
    pub corrects: bool,
    /// Tokens of a correction with everything around it, by [`estimated_tokens`](crate::quote::estimated_tokens).
    pub budget: usize,
    /// When corrections can be delivered.
    pub delivery: Delivery,
    /// Prompts between two questions to a judge; 0: no judge is asked, and no question is made.
    pub check_interval: u32,
}

impl Policy {
    /// Corrects with the agent's requests, in at most 600 tokens; a judge is asked every three prompts.
    pub const PER_ACTION: Self = Self {
        corrects: true,
        budget: 600,
        delivery: Delivery::PerAction,
        check_interval: 3,
    };

    /// Corrects with the user's prompts, in at most 600 tokens; no judge is asked.
    pub const PER_PROMPT: Self = Self {
        check_interval: 0,
        delivery: Delivery::PerPrompt,
        ..Self::PER_ACTION
    };

    /// How long a correction may wait. The next prompt may come after days, and what was broken is still broken then.
    pub(crate) fn max_pending_age(&self) -> Option<Duration> {
        (self.delivery == Delivery::PerAction).then_some(MAX_PENDING_AGE)
    }

    /// Whether a doubt that waits is still worth saying with the prompt that follows it: where words go out with prompts
    /// alone, there is no other time.
    pub(crate) fn doubts_survive_prompts(&self) -> bool {
        self.delivery == Delivery::PerPrompt
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self::PER_ACTION
    }
}
