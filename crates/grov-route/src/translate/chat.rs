//! The Chat Completions API.

pub(crate) mod answer;
pub(crate) mod calls;
pub(crate) mod request;
