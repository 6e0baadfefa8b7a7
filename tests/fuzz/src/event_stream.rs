//! A response: the assembled turn does not depend on how the response is split into chunks.

use crate::{chunks, controlled};
use grov_wire::Api;
use grov_wire::response::{ResponseTap, Turn};

/// Checks one response; the first byte chooses content type, coding and API.
pub(crate) fn check(data: &[u8]) {
    let (control, body) = controlled(data);
    let content_type = ["text/event-stream", "application/json", "text/plain"][usize::from(control % 3)];
    let coding = [None, Some("gzip"), Some("br"), Some("zstd")][usize::from(control / 3 % 4)];
    let api = [Api::Messages, Api::Responses, Api::Chat, Api::Gemini][usize::from(control / 12 % 4)];
    let turn = |chunks: &mut dyn Iterator<Item = &[u8]>| -> Turn {
        let mut tap = ResponseTap::for_api(api, 200, Some(content_type), coding);
        chunks.for_each(|chunk| tap.feed(chunk));
        tap.finish(true)
    };
    let whole = turn(&mut std::iter::once(body));
    let in_chunks = turn(&mut chunks(body, control));
    // The chunks determine how much of a broken encoding is decoded before the error is found.
    if whole.irregularities.decoding.is_none() && in_chunks.irregularities.decoding.is_none() {
        assert_eq!(whole, in_chunks);
    }
}
