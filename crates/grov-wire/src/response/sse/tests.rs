use super::{MAX_EVENT_BYTES, SseDecoder};
use crate::response::testing::{cut, places};
use proptest::prelude::*;

type Event = (Vec<u8>, Vec<u8>);

fn feed_all<'a>(decoder: &mut SseDecoder, chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<Event> {
    let mut events = Vec::new();
    for chunk in chunks {
        decoder.feed(chunk, |event| {
            events.push((event.name.to_vec(), event.data.to_vec()))
        });
    }
    events
}

fn decode(text: &[u8]) -> Vec<Event> {
    feed_all(&mut SseDecoder::new(), [text])
}

fn event(name: &str, data: &str) -> Event {
    (name.as_bytes().to_vec(), data.as_bytes().to_vec())
}

/// The algorithm of the standard, on the whole text.
fn reference(text: &[u8]) -> Vec<Event> {
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    let mut lines = Vec::new();
    let mut line = Vec::new();
    let mut bytes = text.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\r' | b'\n' => {
                if byte == b'\r' {
                    bytes.next_if_eq(&b'\n');
                }
                lines.push(std::mem::take(&mut line));
            }
            _ => line.push(byte),
        }
    }
    let (mut name, mut data, mut events) = (Vec::new(), Vec::new(), Vec::new());
    for line in lines {
        if line.is_empty() {
            if data.pop().is_some() {
                events.push((std::mem::take(&mut name), std::mem::take(&mut data)));
            }
            name.clear();
            continue;
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &line[..colon] {
            b"event" => name = value.to_vec(),
            b"data" => {
                data.extend_from_slice(value);
                data.push(b'\n');
            }
            _ => {}
        }
    }
    events
}

#[test]
fn reads_the_upstreams_form() {
    let text = b"event: ping\ndata: {\"type\":\"ping\"}\n\nevent: message_stop\ndata: {}\n\n";
    assert_eq!(
        decode(text),
        [event("ping", "{\"type\":\"ping\"}"), event("message_stop", "{}")]
    );
}

#[test]
fn every_line_end_is_accepted() {
    for end in ["\n", "\r\n", "\r"] {
        let text = ["event: a", "data: 1", "", "data: 2", "", ""].join(end);
        assert_eq!(
            decode(text.as_bytes()),
            [event("a", "1"), event("", "2")],
            "line end {end:?}"
        );
    }
}

#[test]
fn event_ended_by_carriage_return_is_dispatched_at_once() {
    let mut decoder = SseDecoder::new();
    assert_eq!(feed_all(&mut decoder, [&b"data: 1\r\n\r"[..]]), [event("", "1")]);
    assert_eq!(
        feed_all(&mut decoder, [&b"\ndata: 2\r\n\r\n"[..]]),
        [event("", "2")]
    );
    assert!(!decoder.is_mid_event());
}

#[test]
fn comments_and_other_fields_are_skipped() {
    let text = b": keep-alive\n\n: x\nid: 7\nretry: 10\nunknown\nevents: no\ndata: 1\ndatax: no\n\n";
    assert_eq!(decode(text), [event("", "1")]);
}

#[test]
fn joins_data_lines() {
    assert_eq!(
        decode(b"data: a\ndata:\ndata: b\nevent: e\ndata:  c\n\n"),
        [event("e", "a\n\nb\n c")]
    );
    assert_eq!(decode(b"data\n\ndata:\n\n"), [event("", ""), event("", "")]);
}

#[test]
fn last_event_name_counts_for_one_event() {
    assert_eq!(
        decode(b"event: a\nevent: b\ndata: 1\n\ndata: 2\n\n"),
        [event("b", "1"), event("", "2")]
    );
    assert_eq!(decode(b"event: a\n\ndata: 2\n\n"), [event("", "2")]);
}

#[test]
fn byte_order_mark_is_skipped() {
    let text = b"\xEF\xBB\xBFdata: 1\n\n\xEF\xBB\xBFdata: 2\n\n";
    assert_eq!(decode(text), [event("", "1")]);
    assert_eq!(feed_all(&mut SseDecoder::new(), text.chunks(1)), [event("", "1")]);
    // A first line that only starts like a byte order mark is an unknown field.
    assert_eq!(
        feed_all(&mut SseDecoder::new(), b"\xEF\xBBdata: 1\ndata: 2\n\n".chunks(1)),
        [event("", "2")]
    );
}

#[test]
fn event_without_its_blank_line_is_not_dispatched() {
    let mut decoder = SseDecoder::new();
    assert_eq!(feed_all(&mut decoder, [&b"data: 1\n"[..]]), []);
    assert!(decoder.is_mid_event());
}

#[test]
fn data_is_borrowed_from_the_chunk() {
    let chunk = b"event: a\ndata: whole\n\n".as_slice();
    let mut seen = 0;
    SseDecoder::new().feed(chunk, |event| {
        assert!(chunk.as_ptr_range().contains(&event.data.as_ptr()));
        assert!(chunk.as_ptr_range().contains(&event.name.as_ptr()));
        seen += 1;
    });
    assert_eq!(seen, 1);
}

#[test]
fn oversized_event_is_skipped_and_not_buffered() {
    let line = [b'x'; 1000];
    let mut decoder = SseDecoder::new();
    let mut events = feed_all(&mut decoder, [&b"data: before\n\ndata: "[..]]);
    for _ in 0..=MAX_EVENT_BYTES / line.len() {
        events.extend(feed_all(&mut decoder, [&line[..]]));
    }
    assert!(decoder.pending.capacity() < line.len());
    events.extend(feed_all(&mut decoder, [&b"\r\n\r\ndata: after\n\n"[..]]));
    assert_eq!(events, [event("", "before"), event("", "after")]);
    assert_eq!(decoder.oversized(), 1);
    assert!(!decoder.is_mid_event());
}

fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        8 => prop::sample::select(vec!["\n", "\r", "\r\n", "\n\n", "\r\r", "\r\n\r\n"]).prop_map(|s| s.into()),
        6 => prop::sample::select(vec!["data:", "data: ", "data", "event: ", "event:", "id: ", ":", " ", "retry"])
            .prop_map(|s| s.into()),
        3 => "[a-z]{0,12}".prop_map(String::into_bytes),
        2 => prop::sample::select(vec!["event: content_block_delta\n", "event: content_block_delta\r", "data: {}\n\n"])
            .prop_map(|s| s.into()),
        1 => Just(b"\xEF\xBB\xBF".to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..6),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces: Vec<Vec<u8>>| pieces.concat())
}

proptest! {
    #[test]
    fn agrees_with_the_standard(text in stream()) {
        prop_assert_eq!(decode(&text), reference(&text));
    }

    #[test]
    fn any_chunking_gives_the_same_events(
        text in stream(),
        places in places(),
        limit in prop_oneof![1usize..60, Just(usize::MAX)],
    ) {
        let decode_by = |chunks: Vec<&[u8]>| {
            let mut decoder = SseDecoder { limit, ..SseDecoder::default() };
            let events = feed_all(&mut decoder, chunks);
            (events, decoder.oversized(), decoder.is_mid_event())
        };
        let whole = decode_by(vec![&text]);
        prop_assert_eq!(&whole, &decode_by(cut(&text, &places)));
        prop_assert_eq!(&whole, &decode_by(text.chunks(1).collect()));
    }
}
