//! The cost of Grov's own model calls.

use crate::macros::named;
use crate::{LlmCallId, SessionId, StoreError, TokenUsage};
use async_trait::async_trait;
use grov_redact::Redacted;
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;
use std::time::Duration;
use time::OffsetDateTime;

/// An amount of money in millionths of a US dollar. Serializes to a number of dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MicroUsd(pub u64);

impl MicroUsd {
    /// Returns the sum, saturating.
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Returns the amount in dollars, to be shown.
    pub fn dollars(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

impl Serialize for MicroUsd {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.dollars())
    }
}

impl fmt::Display for MicroUsd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}

/// The purpose of a model call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Extract the intent of prompts.
    ExtractIntent,
    /// Assign a turn to a task.
    AnalyzeTaskContext,
    /// Extract what to save to team memory.
    ExtractReasoning,
    /// Read the limits that the user set.
    ReadLimits,
    /// Choose the memories that help with a prompt.
    ChooseMemories,
    /// Find memories that would harm the user.
    ScreenMemories,
    /// Judge whether actions are on goal.
    CheckDrift,
    /// Choose the action to force after corrections failed.
    ForcedRecovery,
    /// Summarize a session whose history will be removed.
    SummarizeSession,
    /// Embed texts.
    Embedding,
    /// A call of an external tool, which the user or an agent started. It has a budget of its own.
    Tool,
}

named!(Purpose {
    ExtractIntent => "extract_intent", AnalyzeTaskContext => "analyze_task_context",
    ExtractReasoning => "extract_reasoning", ReadLimits => "read_limits",
    ChooseMemories => "choose_memories", ScreenMemories => "screen_memories", CheckDrift => "check_drift",
    ForcedRecovery => "forced_recovery", SummarizeSession => "summarize_session",
    Embedding => "embedding", Tool => "tool",
});

impl Purpose {
    /// The purposes of questions to a judge.
    pub const QUESTIONS: [Self; 9] = [
        Self::ExtractIntent,
        Self::AnalyzeTaskContext,
        Self::ExtractReasoning,
        Self::ReadLimits,
        Self::ChooseMemories,
        Self::ScreenMemories,
        Self::CheckDrift,
        Self::ForcedRecovery,
        Self::SummarizeSession,
    ];
}

/// The status of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    /// Running, or its end was never recorded. Its cost is the reserved amount.
    Reserved,
    /// Answered with a usable answer.
    Answered,
    /// Answered with an unusable answer.
    Unusable,
    /// Not answered.
    Failed,
}

named!(CallOutcome {
    Reserved => "reserved", Answered => "answered", Unusable => "unusable", Failed => "failed",
});

/// A model call that the user pays for: a row of `llm_calls`. Serializes to the fields that the command line prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LlmCall {
    /// The key.
    #[serde(skip)]
    pub id: LlmCallId,
    /// The purpose.
    pub purpose: Purpose,
    /// The provider: `anthropic` or `openai`.
    pub provider: String,
    /// The model.
    pub model: String,
    /// The task that it was about.
    pub session_id: Option<SessionId>,
    /// Time of its start.
    #[serde(with = "time::serde::rfc3339")]
    pub at: OffsetDateTime,
    /// Its duration; zero while reserved.
    #[serde(rename = "latency_ms", serialize_with = "milliseconds")]
    pub latency: Duration,
    /// Token counts by class; estimated while reserved.
    #[serde(rename = "tokens")]
    pub usage: TokenUsage,
    /// Its cost; the maximum cost while reserved.
    #[serde(rename = "cost_usd")]
    pub cost: MicroUsd,
    /// The status.
    pub outcome: CallOutcome,
}

fn milliseconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

/// The result of a reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reservation {
    /// The amount is reserved.
    Granted,
    /// It would exceed the budget. Nothing was recorded.
    Refused {
        /// The amount already spent and reserved.
        spent: MicroUsd,
    },
}

/// Selects calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallFilter {
    /// Only calls started at or after this time.
    pub since: Option<OffsetDateTime>,
    /// Only calls about this task.
    pub session_id: Option<SessionId>,
    /// Maximum number, the newest; `None` for all.
    pub limit: Option<u32>,
}

/// The spending ledger.
#[async_trait]
pub trait SpendingStore: Send + Sync {
    /// Reserves `call.cost` if the total cost of calls started at or after `since`, including this one, stays within
    /// `budget`. Calls of external tools and all other calls have separate budgets. Atomic, also between processes.
    async fn reserve(
        &self,
        call: &Redacted<LlmCall>,
        budget: MicroUsd,
        since: OffsetDateTime,
    ) -> Result<Reservation, StoreError>;
    /// Replaces a reservation by the completed call. A call that was not reserved is recorded.
    async fn settle(&self, call: &Redacted<LlmCall>) -> Result<(), StoreError>;
    /// Returns calls, oldest first.
    async fn calls(&self, filter: &CallFilter) -> Result<Vec<LlmCall>, StoreError>;
    /// Returns the amount spent and reserved for calls started at or after `since`, except those of external tools.
    async fn spent_since(&self, since: OffsetDateTime) -> Result<MicroUsd, StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_names_round_trip() {
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
