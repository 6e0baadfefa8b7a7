//! Runs the real binary as a user or a script does, each test in its own home.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod command_line;
mod config;
mod demo;
mod doctor;
mod drift;
mod drift_replay;
mod drift_test;
mod eval;
mod golden;
mod guard;
mod hooks;
mod memory;
mod memory_changes;
mod memory_forgetting;
mod memory_import;
mod proxy;
mod registration;
mod route;
mod route_add;
mod scene;
mod sessions;
mod spending;
mod statusline;
mod stored;
mod switches;
mod tools;
mod watch;
