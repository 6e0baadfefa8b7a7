//! The Responses API.

pub(crate) mod answer;
pub(crate) mod request;
