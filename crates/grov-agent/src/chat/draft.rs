//! What a model decided, checked but without ids: not yet stored.

use crate::{Citation, EvidenceKind, MemoryType, Risk};
use serde_json::Value;
use time::Duration;

/// A checked answer of a model.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Draft {
    pub(crate) decision: DraftDecision,
    pub(crate) citations: Vec<Citation>,
    /// Memory that is proposed beside the decision.
    pub(crate) proposals: Vec<MemoryRequest>,
}

/// The decision of a [`Draft`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum DraftDecision {
    /// Requests tool calls.
    Act { calls: Vec<DraftCall>, message: String },
    /// Asks a question.
    Ask {
        question: String,
        options: Vec<String>,
        reason: String,
    },
    /// Answers without a tool.
    Noop { answer: String },
}

/// A requested call whose tool exists and whose arguments fit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DraftCall {
    pub(crate) name: String,
    pub(crate) arguments: Value,
    pub(crate) reason: String,
    pub(crate) requires_approval: bool,
    pub(crate) risk: Risk,
    /// What a built-in tool asks for.
    pub(crate) memory: Option<MemoryRequest>,
}

/// A request to change memory.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum MemoryRequest {
    /// A new item.
    Add {
        kind: MemoryType,
        content: String,
        ttl: Option<Duration>,
        evidence: Vec<DraftEvidence>,
    },
    /// Other words for an item.
    Words { id: String, content: String },
    /// Another state for an item.
    Status { id: String },
}

impl MemoryRequest {
    /// The item that the request wants to change.
    pub(crate) fn changes(&self) -> Option<&str> {
        match self {
            Self::Add { .. } => None,
            Self::Words { id, .. } | Self::Status { id } => Some(id),
        }
    }
}

/// Evidence as a model wrote it, not yet found in what it quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DraftEvidence {
    pub(crate) kind: Option<EvidenceKind>,
    pub(crate) id: String,
    pub(crate) quote: String,
}
