//! Tests of the public API.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod classes;
mod contexts;
mod forms;
mod given_away;
mod ordinary;
mod properties;
mod services;
mod speed;
