//! An HTTP request to a provider, as data.

use grov_redact::Secret;
use serde_json::Value;

/// A `POST` of JSON to a provider.
#[derive(Clone, Debug)]
pub struct HttpCall {
    /// The path below the base address, with a leading slash.
    pub path: String,
    /// Headers, keys included.
    pub headers: Vec<(&'static str, Secret)>,
    /// The body.
    pub body: Value,
}

impl HttpCall {
    /// With a bearer token.
    pub(crate) fn bearer(path: &str, key: &Secret, body: Value) -> Self {
        Self {
            path: path.to_owned(),
            headers: vec![("authorization", Secret::new(format!("Bearer {}", key.expose())))],
            body,
        }
    }
}
