//! What the client spent: the tokens of its requests by class, and their price.
//!
//! Two sources know it. The client's transcripts ([`UsageReader`]) also cover sessions without Grov and the past, but lack
//! requests outside of the conversation, such as titles and compactions. The proxy recorded all requests, but keeps them only
//! for some time. [`Spending`] combines both and counts nothing twice: of a session with a transcript, only the requests
//! outside of the conversation are taken from the proxy.
//!
//! Transcripts are counted as `ccusage` counts them: the same lines, the same duplicates, the same classes. A test compares the
//! two. There are two differences. Lines of a response without a request id count once if the message's id is long enough to be
//! unique: gateways send no `request-id`, and the client writes a line for each block. Cache writes whose breakdown by lifetime
//! is zero have the default lifetime: the client writes that breakdown if the upstream sends none.
//!
//! This crate reads transcripts. It uses no SQL, no network and no clock.
#![forbid(unsafe_code)]

mod deduplication;
mod files;
mod line;
mod price;
mod reader;
mod spending;

pub use files::{client_folders, transcript_named, transcripts_below, transcripts_of};
pub use line::UsageEntry;
pub use price::{PriceBook, PriceError};
pub use reader::UsageReader;
pub use spending::{Group, Grouping, Row, Spending, Totals};
