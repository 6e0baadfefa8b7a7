//! Anthropic messages on the wire: what a request asks for and where it can be edited, what a response amounts to.
//!
//! Entry points: [`response::ResponseTap`] observes a response and yields a [`response::Turn`].
//!
//! Knows nothing of sockets, HTTP clients or storage: bytes go in, values come out.

#![forbid(unsafe_code)]

pub mod response;
