//! Routing between a client, the proxy and simulated providers, over real sockets.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod answers;
mod fallback;
mod native;
mod reload;
mod scene;
mod secrets;
mod streams;
mod translated;
