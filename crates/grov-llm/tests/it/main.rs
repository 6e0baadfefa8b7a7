//! The judge and the embedder with a real server on a socket.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod embeddings;
mod ledger;
mod provider_client;
mod providers;
mod server;
mod simulated;
