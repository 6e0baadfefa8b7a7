//! How full the context window of a session is, what fills it, what a summary of the session must contain, and what a
//! compaction lost.
//!
//! Pure: knows no sockets, no store and no clock. Both paths feed it: the proxy from requests and responses, the hooks and
//! the command line from transcripts.
#![forbid(unsafe_code)]

mod content;
mod meter;
mod restoration;
mod retention;
mod summary;
mod window;

pub use content::{ContentPart, ContextContent, MAX_LARGEST, PartKind, Share};
pub use meter::{ContextMeter, Level, Thresholds, context_tokens};
pub use restoration::{restoration, restoration_notice};
pub use retention::Retention;
pub use summary::{ContextSummary, SUMMARY_TOKENS, SessionPoints, render};
pub use window::{Window, WindowSource, windows_as_of};
