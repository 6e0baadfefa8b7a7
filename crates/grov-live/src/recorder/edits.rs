//! What Grov changed of a request, as it is recorded. It is worked out after the response, not while bytes wait for it.

use bytes::Bytes;
use grov_domain::{AddedPiece, RequestChange, RequestEdits, block_key, end_as_sent};
use grov_proxy_core::{ObservedExchange, SentChange, SentEdits};
use grov_wire::RequestIndex;

/// Changes that are recorded of a request: the last ones, which are nearest to what is new.
const MAX_CHANGES: usize = 100;
/// Longest piece that is punctuation around a block, in bytes. Texts of Grov are longer by their frame alone.
const MAX_PUNCTUATION: usize = 32;

/// Returns the changes of an exchange's request; `None` if it was sent as the client made it.
pub(super) fn of(exchange: &ObservedExchange) -> Option<RequestEdits> {
    let request = &exchange.request;
    let sent = request.extensions().get::<SentEdits>().cloned()?;
    Some(record(&sent, request.index()?, request.body()))
}

fn record(sent: &SentEdits, index: &RequestIndex, body: &Bytes) -> RequestEdits {
    let mut changes: Vec<RequestChange> = sent.changes.iter().map(change).collect();
    number(&mut changes, index, body);
    let cached_to = last_breakpoint(index, body);
    let cached_to_as_sent = cached_to.map(|end| end_as_sent(end, &changes));
    let unlisted = changes.len().saturating_sub(MAX_CHANGES);
    RequestEdits {
        original: sent.original as u64,
        sent: sent.sent as u64,
        messages: index.messages().len() as u64,
        cached_to,
        cached_to_as_sent,
        refused: sent.refused,
        unlisted: unlisted as u64,
        changes: changes.split_off(unlisted),
    }
}

fn change(change: &SentChange) -> RequestChange {
    RequestChange {
        at: change.at as u64,
        message: None,
        removed: change.removed as u64,
        added: change.added.iter().map(piece).collect(),
    }
}

fn piece(bytes: &Bytes) -> AddedPiece {
    match std::str::from_utf8(bytes) {
        Ok(json) if json.len() <= MAX_PUNCTUATION => AddedPiece::Json(json.to_owned()),
        _ => AddedPiece::Block {
            key: block_key(bytes),
            bytes: bytes.len() as u64,
        },
    }
}

/// Finds the messages of changes, both in order.
fn number(changes: &mut [RequestChange], index: &RequestIndex, body: &Bytes) {
    let mut changes = changes.iter_mut().peekable();
    for message in index.messages() {
        let Some((start, end)) = place(message.raw(), body) else {
            continue;
        };
        while let Some(change) = changes.next_if(|change| change.at <= end) {
            change.message = (change.at >= start).then(|| message.number() as u64 + 1);
        }
    }
}

/// Returns where the last message block with a prompt-cache breakpoint ends in the body.
fn last_breakpoint(index: &RequestIndex, body: &Bytes) -> Option<u64> {
    let mut messages = index.messages().rev();
    let block = messages.find_map(|message| {
        let blocks = message.blocks();
        blocks.filter(|block| block.has_cache_control()).last()
    })?;
    place(block.raw(), body).map(|(_, end)| end)
}

/// Returns where a part of the body begins and ends.
fn place(part: &str, body: &Bytes) -> Option<(u64, u64)> {
    let start = (part.as_ptr() as usize).checked_sub(body.as_ptr() as usize)?;
    let end = start + part.len();
    (end <= body.len()).then_some((start as u64, end as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = r#"{"messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]},{"role":"user","content":"b"}]}"#;

    #[test]
    fn punctuation_is_kept_and_blocks_are_named() {
        let body = Bytes::from_static(BODY.as_bytes());
        let index = RequestIndex::parse(&body).unwrap();
        let block = Bytes::from(format!(r#"{{"type":"text","text":"{}"}}"#, "x".repeat(40)));
        let (text, end) = (BODY.find("\"b\"").unwrap(), BODY.find("]},{").unwrap());
        let sent = SentEdits {
            original: body.len(),
            sent: body.len() + block.len() + 1,
            changes: vec![
                SentChange {
                    at: end,
                    removed: 0,
                    added: vec![Bytes::from_static(b","), block.clone()],
                },
                SentChange {
                    at: text,
                    removed: 3,
                    added: Vec::new(),
                },
            ],
            refused: false,
        };
        let edits = record(&sent, &index, &body);
        assert_eq!(edits.cached_to, Some(end as u64));
        // What is added behind the breakpoint does not move it.
        assert_eq!(edits.cached_to_as_sent, edits.cached_to);
        let places: Vec<_> = edits.changes.iter().map(|change| change.message).collect();
        assert_eq!((edits.messages, places), (2, vec![Some(1), Some(2)]));
        assert_eq!(
            edits.changes[0].added,
            [
                AddedPiece::Json(",".to_owned()),
                AddedPiece::Block {
                    key: block_key(&block),
                    bytes: block.len() as u64
                }
            ]
        );
        assert_eq!((edits.changes[1].removed, edits.changes[1].added_bytes()), (3, 0));
    }

    #[test]
    fn of_many_changes_the_last_are_listed() {
        let body = Bytes::from_static(BODY.as_bytes());
        let index = RequestIndex::parse(&body).unwrap();
        let change = SentChange {
            at: 20,
            removed: 0,
            added: vec![Bytes::from_static(b",")],
        };
        let sent = SentEdits {
            original: body.len(),
            sent: body.len() + MAX_CHANGES + 5,
            changes: vec![change; MAX_CHANGES + 5],
            refused: false,
        };
        let edits = record(&sent, &index, &body);
        assert_eq!((edits.unlisted, edits.changes.len()), (5, MAX_CHANGES));
        // All of them move the breakpoint.
        let moved = edits.cached_to_as_sent.unwrap() - edits.cached_to.unwrap();
        assert_eq!(moved, (MAX_CHANGES + 5) as u64);
    }
}
