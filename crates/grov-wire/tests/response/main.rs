//! Tests of the public API for responses: recorded forms, fed in several ways, and the expected turns.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test that cannot go on fails, and says what it skips"
)]

mod foreign;
mod golden;
mod recorded;

use grov_wire::response::{ResponseTap, Turn};

/// Feeds `body` at once and in chunks of several sizes. Panics unless the turns are equal.
fn observe(status: u16, content_type: &str, body: &[u8], ended_cleanly: bool) -> Turn {
    let by_chunks_of = |size| {
        let mut tap = ResponseTap::new(status, Some(content_type), None);
        for chunk in body.chunks(size) {
            tap.feed(chunk);
        }
        tap.finish(ended_cleanly)
    };
    let whole = by_chunks_of(body.len().max(1));
    for size in [1, 7, 100, 1000] {
        assert_eq!(by_chunks_of(size), whole, "in chunks of {size}");
    }
    whole
}
