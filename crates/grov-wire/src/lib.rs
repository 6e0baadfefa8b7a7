//! Anthropic messages on the wire: what is in a request and how to add to it, what a response amounts to.
//!
//! Entry points: [`RequestIndex::parse`] finds everything in a request body in one pass,
//! [`RequestIndex::skeleton`] names its history, [`Splice::apply`] edits it; [`response::ResponseTap`]
//! observes a response and yields a [`response::Turn`].
//!
//! Knows nothing of sockets, HTTP clients or storage: bytes go in, values come out.

#![forbid(unsafe_code)]

pub mod json;
pub mod request;
pub mod response;

pub use request::{
    Block, BlockKind, Blocks, Chunks, Content, Edit, IndexError, Key128, KnownRequests, Link, Message, Part,
    RequestIndex, Role, Seam, Skeleton, Speaker, Splice, SpliceError, SystemPrompt, Tool, is_system_reminder,
    text_block, without_system_reminders,
};
