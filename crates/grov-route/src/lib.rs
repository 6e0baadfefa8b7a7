//! Which model answers a request, and the translation between the Messages API and the APIs of other providers.
//!
//! Pure: no sockets, files or clock.
#![forbid(unsafe_code)]

// Choosing the model: marker, provider file, rules.
mod body_edit;
mod marker;

pub use body_edit::with_model;
pub use marker::{MarkedRequest, is_label, marker, strip_marker};

// Translating: requests, responses, streams, transforms.
