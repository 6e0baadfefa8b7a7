//! What Grov knows, for agents that speak the Model Context Protocol (MCP).
//!
//! [`GrovServer`] answers the requests of a client: tools that search and show memories, the goal, the steps, the drift and the
//! context window of a session; memories and plans as resources; prompts; and [`ExternalTools`] on request. [`serve`] runs it over standard input and output or any other pair of streams, [`answer`] over streamable HTTP
//! without sessions. Both speak every protocol version that `rmcp` knows, with and without `initialize`.
//!
//! Everything in a result is redacted, quoted and marked as information. The crate reads through the ports of `grov-domain`;
//! it uses no SQL, no sockets and no clock of its own.
#![forbid(unsafe_code)]

mod arguments;
mod bounded;
mod external;
mod http_answer;
mod information;
mod lines;
mod ports;
mod prompts;
mod resources;
mod server;
mod stream;
mod tools;

pub use external::{ExternalTools, Progress};
pub use http_answer::answer;
pub use ports::{ContextSettings, Ports};
pub use server::GrovServer;
pub use stream::{ServeError, serve, serve_stdio};
