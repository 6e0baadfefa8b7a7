//! External tools of an agent: their declarations, prompts, and the formats of their providers.
//!
//! | To | use |
//! |---|---|
//! | list the tools | [`Registry`], [`Tool`] |
//! | describe them: snippets, a catalogue, definitions for a model | [`docs`] |
//! | read a tool's arguments | [`Arguments`] |
//! | make a provider's request and read its response | [`perplexity`], [`tavily`], [`model`] |
//! | ask a model for a typed opinion | [`opinion`] |
//! | bound a diff | [`diff`] |
//! | print the result | [`Envelope`] |
//!
//! The crate does no I/O: it turns arguments into requests, and bytes of responses into answers.
#![forbid(unsafe_code)]

mod answer;
mod arguments;
mod call;
pub mod diff;
pub mod docs;
mod envelope;
mod error;
pub mod install;
pub mod model;
pub mod opinion;
pub mod perplexity;
mod registry;
pub mod schema;
mod secret_file;
pub mod sse;
pub mod tavily;
mod tool;
mod user_tool;

pub use answer::Answer;
pub use arguments::Arguments;
pub use call::HttpCall;
pub use envelope::{Envelope, Metadata, Outcome};
pub use error::{ErrorKind, ToolError};
pub use registry::{COMMON_ARGUMENTS, Registry};
pub use secret_file::is_secret_file;
pub use tool::{Action, Argument, BuiltIn, Key, Kind, Price, Risk, Tool};
pub use user_tool::{UserAction, UserToolError, parse_user_tool};
