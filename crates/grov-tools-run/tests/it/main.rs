//! Tools against scripted servers, with a real spending ledger and real files.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod jobs;
mod opinions;
mod server;
mod user_tools;
mod web;
mod world;
