//! The judge, the embedder and the chat models with a real server on a socket or a real process.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod chat;
mod claude_cli;
mod client_judge;
mod embeddings;
mod ledger;
mod provider_client;
mod providers;
mod server;
mod simulated;
