//! Tests of the whole crate through its public face.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod recorded;
mod tools;
mod transcript;
