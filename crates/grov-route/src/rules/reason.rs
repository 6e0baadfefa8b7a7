//! Why a model was chosen.

use crate::request_facts::Effort;
use std::fmt;

/// Why a model was chosen. `Display` is what the log and `grov route explain` show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The system prompt has a marker.
    Marker,
    /// The request's model is `provider,label`.
    Explicit,
    /// The request comes from this subagent.
    Agent(String),
    /// The request asks for this small model.
    Background(String),
    /// The thinking budget is above a threshold.
    ThinkingBudget {
        /// Tokens of the request's budget.
        budget: u64,
        /// The threshold.
        above: u64,
    },
    /// The request asks for this effort.
    Effort(Effort),
    /// The request has more tokens than a threshold.
    LongContext {
        /// The estimate.
        tokens: u64,
        /// The threshold.
        above: u64,
    },
    /// The request has a tool that searches the web.
    WebSearch,
    /// The request has images.
    Images,
    /// No other rule applies.
    Default,
}

impl Reason {
    /// The rule's name, stable for scripts and metrics.
    pub fn rule(&self) -> &'static str {
        match self {
            Self::Marker => "marker",
            Self::Explicit => "model",
            Self::Agent(_) => "agents",
            Self::Background(_) => "background",
            Self::ThinkingBudget { .. } | Self::Effort(_) => "think",
            Self::LongContext { .. } => "long_context",
            Self::WebSearch => "web_search",
            Self::Images => "images",
            Self::Default => "default",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Marker => f.write_str("marker in the system prompt"),
            Self::Explicit => f.write_str("named by the request's model"),
            Self::Agent(agent) => write!(f, "rule agents: {agent}"),
            Self::Background(model) => write!(f, "rule background: {model}"),
            Self::ThinkingBudget { budget, above } => {
                write!(f, "rule think: budget of {budget} tokens, above {above}")
            }
            Self::Effort(effort) => write!(f, "rule think: effort {}", effort.name()),
            Self::LongContext { tokens, above } => {
                write!(f, "rule long_context: about {tokens} tokens, above {above}")
            }
            Self::WebSearch => f.write_str("rule web_search"),
            Self::Images => f.write_str("rule images"),
            Self::Default => f.write_str("rule default"),
        }
    }
}
