//! What Grov's own model calls cost.

use crate::macros::named;
use crate::{LlmCallId, SessionId, StoreError, TokenUsage};
use async_trait::async_trait;
use grov_redact::Redacted;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;
use time::OffsetDateTime;

/// An amount of money in millionths of a US dollar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MicroUsd(pub u64);

impl MicroUsd {
    /// The sum; stays at the largest amount instead of overflowing.
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The amount in dollars, for people and JSON.
    pub fn dollars(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

impl fmt::Display for MicroUsd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}

/// What a model was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// What the user wants.
    ExtractIntent,
    /// Which task a turn belongs to.
    AnalyzeTaskContext,
    /// What the team should remember.
    ExtractReasoning,
    /// Whether actions are on the goal.
    CheckDrift,
    /// What the agent must do after corrections failed.
    ForcedRecovery,
    /// What texts mean, as numbers.
    Embedding,
}

named!(Purpose {
    ExtractIntent => "extract_intent", AnalyzeTaskContext => "analyze_task_context",
    ExtractReasoning => "extract_reasoning", CheckDrift => "check_drift",
    ForcedRecovery => "forced_recovery", Embedding => "embedding",
});

impl Purpose {
    /// The questions that a judge is asked.
    pub const QUESTIONS: [Self; 5] = [
        Self::ExtractIntent,
        Self::AnalyzeTaskContext,
        Self::ExtractReasoning,
        Self::CheckDrift,
        Self::ForcedRecovery,
    ];
}

/// How a call stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    /// Under way, or its end was never recorded: its cost is what was set aside for it.
    Reserved,
    /// Answered, and the answer could be used.
    Answered,
    /// Answered, and the answer could not be used.
    Unusable,
    /// Not answered.
    Failed,
}

named!(CallOutcome {
    Reserved => "reserved", Answered => "answered", Unusable => "unusable", Failed => "failed",
});

/// One call to a model, paid for by the user. One row of `llm_calls`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LlmCall {
    /// Key.
    pub id: LlmCallId,
    /// What it was for.
    pub purpose: Purpose,
    /// Who was asked: `anthropic`, `openai`.
    pub provider: String,
    /// The model.
    pub model: String,
    /// The task it was about.
    pub session_id: Option<SessionId>,
    /// When it began.
    pub at: OffsetDateTime,
    /// How long it took; zero while reserved.
    pub latency: Duration,
    /// Tokens by class; estimated while reserved.
    pub usage: TokenUsage,
    /// What it cost; the most it may cost while reserved.
    pub cost: MicroUsd,
    /// How it stands.
    pub outcome: CallOutcome,
}

/// The answer to a wish to spend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reservation {
    /// The amount is set aside.
    Granted,
    /// The budget does not allow it; nothing was recorded.
    Refused {
        /// What is spent and set aside already.
        spent: MicroUsd,
    },
}

/// Which calls to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallFilter {
    /// Only calls that began at or after this time.
    pub since: Option<OffsetDateTime>,
    /// Only calls about this task.
    pub session_id: Option<SessionId>,
    /// At most so many, the newest; `None` for all.
    pub limit: Option<u32>,
}

/// The spending ledger.
#[async_trait]
pub trait SpendingStore: Send + Sync {
    /// Sets `call.cost` aside if that and everything that began at or after `since` stay within `budget`. Looking and
    /// setting aside are one step, also between processes.
    async fn reserve(
        &self,
        call: &Redacted<LlmCall>,
        budget: MicroUsd,
        since: OffsetDateTime,
    ) -> Result<Reservation, StoreError>;
    /// Replaces a reservation by what really happened. A call that was never reserved is recorded.
    async fn settle(&self, call: &Redacted<LlmCall>) -> Result<(), StoreError>;
    /// Calls, oldest first.
    async fn calls(&self, filter: &CallFilter) -> Result<Vec<LlmCall>, StoreError>;
    /// What is spent and set aside for calls that began at or after `since`.
    async fn spent_since(&self, since: OffsetDateTime) -> Result<MicroUsd, StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back() {
        for purpose in Purpose::ALL {
            assert_eq!(Purpose::from_name(purpose.as_str()), Some(purpose));
        }
        for name in ["reserved", "answered", "unusable", "failed"] {
            assert_eq!(CallOutcome::from_name(name).map(CallOutcome::as_str), Some(name));
        }
    }

    #[test]
    fn amounts_are_shown_in_dollars() {
        assert_eq!(MicroUsd(1_500_042).to_string(), "$1.500042");
        assert_eq!(MicroUsd(u64::MAX).plus(MicroUsd(1)), MicroUsd(u64::MAX));
    }
}
