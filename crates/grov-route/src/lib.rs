//! Which model answers a request, and the translation between the Messages API and the APIs of other providers.
//!
//! Pure: no sockets, files or clock.
#![forbid(unsafe_code)]

// Choosing the model: marker, provider file, rules.
mod body_edit;
mod marker;
mod prices;
mod provider_file;
mod request_facts;
mod rules;
mod target;
mod text_scan;
mod transform_names;

pub use body_edit::with_model;
pub use marker::{MarkedRequest, is_label, marker, strip_marker};
pub use prices::Prices;
pub use provider_file::{Problem, ProviderFile, ProviderFileError};
pub use request_facts::{Agent, Effort, RouteRequest};
pub use rules::{
    Choice, LONG_CONTEXT_TOKENS, LongContextRule, Reason, RouteDecision, Rules, THINK_EFFORT, THINK_TOKENS,
    ThinkRule, choose,
};
pub use target::{ProviderApi, Target, Timeouts};

// Translating: requests, responses, streams, transforms.
