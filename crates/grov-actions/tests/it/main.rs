//! Tests of the public interface.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod recorded;
mod tools;
mod transcript;
