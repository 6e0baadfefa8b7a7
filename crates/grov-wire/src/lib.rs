//! Requests and responses of the Anthropic Messages API, as bytes; those of other model APIs are read in its terms.
//!
//! | To | use |
//! |---|---|
//! | find the parts of a request body in one pass | [`RequestIndex::parse`] |
//! | recognize a message history when the client sends it again | [`RequestIndex::skeleton`] |
//! | insert content blocks into a request, or leave out its beginning | [`Splice::apply`] |
//! | parse a response while its bytes pass by | [`response::ResponseTap`] |
//! | read requests of another model API | [`RequestIndex::parse_foreign`] |
//! | undo the content coding of a request | [`decode_body`] |
//! | validate a JSON document | [`json::validate`] |
//!
//! The crate does no I/O: bytes go in, values come out.
//!
//! # Examples
//!
//! Insert a text at the end of the newest user message:
//!
//! ```
//! use grov_wire::{Edit, RequestIndex, Splice, text_block};
//!
//! let body = br#"{"messages":[{"role":"user","content":[{"type":"text","text":"fix it"}]}]}"#.as_slice().into();
//! let index = RequestIndex::parse(&body)?;
//! let message = index.newest_user_message().ok_or("no message of the user")?;
//! let at = message.insertion_point_at_end().ok_or("the message has no content")?;
//! let edited = Splice::apply(&index, &[Edit::insert(at, text_block("Run the tests."))])?;
//! assert!(edited.into_vec().concat().starts_with(br#"{"messages":[{"role":"user","content":[{"type":"text","text":"fix it"},"#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Read the text of a streamed response:
//!
//! ```
//! use grov_wire::response::{Block, ResponseTap};
//!
//! let mut tap = ResponseTap::new(200, Some("text/event-stream"), None);
//! for event in [
//!     r#"{"type":"message_start","message":{"id":"msg_1","role":"assistant","usage":{"input_tokens":9}}}"#,
//!     r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
//!     r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Done."}}"#,
//!     r#"{"type":"content_block_stop","index":0}"#,
//!     r#"{"type":"message_stop"}"#,
//! ] {
//!     tap.feed(format!("data: {event}\n\n").as_bytes());
//! }
//! let turn = tap.finish(true);
//! assert_eq!(turn.blocks, [Block::Text { text: "Done.".to_owned(), complete: true }]);
//! assert_eq!(turn.usage.input, 9);
//! ```

#![forbid(unsafe_code)]

mod api;
mod coding;
mod foreign;
pub mod json;
pub mod request;
pub mod response;

pub use api::Api;
pub use coding::decode_body;
pub use request::{
    Block, BlockKind, Blocks, Chunks, Content, CutPoint, Edit, IndexError, InsertionPoint, Key128, Link,
    Message, RequestCache, RequestIndex, ResultPlace, Role, Skeleton, Speaker, Splice, SpliceError,
    SystemPrompt, Tool, is_system_reminder, text_block, without_system_reminders,
};
