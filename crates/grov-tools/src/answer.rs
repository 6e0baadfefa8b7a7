//! The answer of a tool.

use grov_domain::MicroUsd;
use serde_json::{Map, Value};

/// The answer of a tool, before it is printed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// `data` of the envelope.
    pub data: Value,
    /// The model that answered.
    pub model: Option<String>,
    /// What the call cost; `None` if the provider did not say and the price is unknown.
    pub cost: Option<MicroUsd>,
    /// Further fields of `metadata`.
    pub metadata: Map<String, Value>,
}
