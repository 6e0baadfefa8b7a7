//! Tools against scripted servers, with a real spending ledger and real files.
#![forbid(unsafe_code)]

mod opinions;
mod server;
mod user_tools;
mod web;
mod world;
