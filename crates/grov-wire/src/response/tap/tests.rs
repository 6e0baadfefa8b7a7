use super::{MAX_JSON_BYTES, ResponseKind, ResponseTap};
use crate::response::testing::{cut, damage, damages, places};
use crate::response::{ApiError, Block, DecodeFault, Irregularities, MAX_DECODED_BYTES, Turn, TurnEnd};
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use std::io::Write;

const STREAM: &str = concat!(
    "event: message_start\n",
    r#"data: {"type":"message_start","message":{"id":"msg_1","role":"assistant","model":"m","usage":{"input_tokens":3,"output_tokens":1}}}"#,
    "\n\nevent: content_block_start\n",
    r#"data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
    "\n\nevent: content_block_delta\n",
    r#"data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hé\n"}}"#,
    "\n\nevent: content_block_stop\n",
    r#"data: {"type":"content_block_stop","index":0}"#,
    "\n\nevent: content_block_start\n",
    r#"data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"Bash","input":{}}}"#,
    "\n\nevent: content_block_delta\n",
    r#"data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"command\": \"ls\"}"}}"#,
    "\n\nevent: content_block_stop\n",
    r#"data: {"type":"content_block_stop","index":1}"#,
    "\n\nevent: message_delta\n",
    r#"data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":9}}"#,
    "\n\nevent: message_stop\n",
    r#"data: {"type":"message_stop"}"#,
    "\n\n",
);

const SSE: Option<&str> = Some("text/event-stream; charset=utf-8");
const JSON: Option<&str> = Some("application/json");

fn observe<'a>(
    mut tap: ResponseTap,
    chunks: impl IntoIterator<Item = &'a [u8]>,
    ended_cleanly: bool,
) -> Turn {
    for chunk in chunks {
        tap.feed(chunk);
    }
    tap.finish(ended_cleanly)
}

fn observe_stream(stream: &[u8]) -> Turn {
    observe(ResponseTap::new(200, SSE, None), [stream], true)
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn irregularities(turn: &Turn) -> Irregularities {
    turn.irregularities
}

/// Taps are sent between threads.
const _: fn() = || {
    fn is_send<T: Send>() {}
    is_send::<ResponseTap>();
};

#[test]
fn content_type_determines_the_kind() {
    for (content_type, kind) in [
        (SSE, ResponseKind::Sse),
        (Some("Text/Event-Stream"), ResponseKind::Sse),
        (Some("application/json; charset=utf-8"), ResponseKind::Json),
        (Some("text/html"), ResponseKind::Opaque),
        (Some("image/png"), ResponseKind::Opaque),
        (Some("text/plain"), ResponseKind::Undetermined),
        (Some(""), ResponseKind::Undetermined),
        (None, ResponseKind::Undetermined),
    ] {
        assert_eq!(
            ResponseTap::new(200, content_type, None).kind(),
            kind,
            "{content_type:?}"
        );
    }
}

#[test]
fn first_byte_determines_the_kind_without_a_content_type() {
    for (body, kind) in [
        (STREAM, ResponseKind::Sse),
        ("\n\ndata: x", ResponseKind::Sse),
        (": comment", ResponseKind::Sse),
        ("\u{feff}data: x", ResponseKind::Sse),
        (" {\"type\"", ResponseKind::Json),
        ("<html>", ResponseKind::Opaque),
        ("  ", ResponseKind::Undetermined),
    ] {
        let mut tap = ResponseTap::new(200, None, None);
        for chunk in body.as_bytes().chunks(1) {
            tap.feed(chunk);
        }
        assert_eq!(tap.kind(), kind, "{body}");
    }
    assert_eq!(
        observe(ResponseTap::new(200, None, None), [STREAM.as_bytes()], true),
        observe_stream(STREAM.as_bytes())
    );
}

#[test]
fn blocks_are_visible_while_the_stream_runs() {
    let mut tap = ResponseTap::new(200, SSE, None);
    let until = STREAM.find("event: message_delta").unwrap();
    let mut completions = Vec::new();
    for (at, chunk) in STREAM.as_bytes()[..until].chunks(1).enumerate() {
        let before = completed_blocks(&tap);
        tap.feed(chunk);
        if completed_blocks(&tap) > before {
            completions.push((at + 1, tap.blocks().last().cloned().unwrap()));
        }
    }
    // A block completes with the byte that ends its last event.
    let ends: Vec<usize> = STREAM
        .match_indices("_stop\",\"index\"")
        .map(|(at, _)| at + STREAM[at..].find("\n\n").unwrap() + 2)
        .collect();
    let text = Block::Text {
        text: "Hé\n".to_owned(),
        complete: true,
    };
    let tool = Block::ToolUse {
        id: "toolu_1".to_owned(),
        name: "Bash".to_owned(),
        input: "{\"command\": \"ls\"}".to_owned(),
        complete: true,
    };
    assert_eq!(completions, [(ends[0], text), (ends[1], tool)]);
}

#[test]
fn encoded_stream_is_decoded_event_by_event() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let mut tap = ResponseTap::new(200, SSE, Some("gzip"));
    let mut seen = Vec::new();
    for event in STREAM.split_inclusive("\n\n") {
        encoder.write_all(event.as_bytes()).unwrap();
        encoder.flush().unwrap();
        tap.feed(&std::mem::take(encoder.get_mut()));
        seen.push((tap.blocks().len(), completed_blocks(&tap)));
    }
    assert_eq!(
        seen,
        [
            (0, 0),
            (1, 0),
            (1, 0),
            (1, 1),
            (2, 1),
            (2, 1),
            (2, 2),
            (2, 2),
            (2, 2)
        ]
    );
    tap.feed(&encoder.finish().unwrap());
    assert_eq!(tap.finish(true), observe_stream(STREAM.as_bytes()));
}

#[test]
fn body_truncated_inside_its_coding_is_reported() {
    let encoded = gzip(STREAM.as_bytes());
    let tap = ResponseTap::new(200, SSE, Some("gzip"));
    let turn = observe(tap, [&encoded[..encoded.len() - 8]], false);
    // The message is complete, only the trailer is missing.
    assert_eq!(turn.end, TurnEnd::Complete);
    assert_eq!(irregularities(&turn).decoding, Some(DecodeFault::Truncated));
    let turn = observe(ResponseTap::new(200, SSE, Some("gzip")), [&encoded[..40]], false);
    assert_eq!(
        (turn.end, irregularities(&turn).decoding),
        (TurnEnd::Truncated, Some(DecodeFault::Truncated))
    );
    let turn = observe(ResponseTap::new(200, SSE, Some("gzip")), [], false);
    assert_eq!(
        (turn.end, irregularities(&turn).decoding),
        (TurnEnd::Truncated, None)
    );
}

#[test]
fn encoded_opaque_body_is_not_reported_as_truncated() {
    let encoded = gzip(b"<html>captive portal</html>");
    for size in [1, encoded.len()] {
        let tap = ResponseTap::new(200, None, Some("gzip"));
        let expected = Turn {
            end: TurnEnd::NotAMessage,
            ..Turn::default()
        };
        assert_eq!(observe(tap, encoded.chunks(size), true), expected);
    }
}

#[test]
fn undecodable_response_is_unobserved() {
    for content_type in [SSE, JSON, None] {
        for (encoding, body, fault) in [
            ("gzip", STREAM.as_bytes(), DecodeFault::Corrupt),
            ("snappy", STREAM.as_bytes(), DecodeFault::Unsupported),
        ] {
            let turn = observe(
                ResponseTap::new(200, content_type, Some(encoding)),
                [body, body],
                true,
            );
            assert_eq!(turn.end, TurnEnd::Unobserved, "{content_type:?} {encoding}");
            assert_eq!(
                irregularities(&turn),
                Irregularities {
                    decoding: Some(fault),
                    ..Irregularities::default()
                }
            );
        }
    }
}

#[test]
fn json_errors_of_any_status() {
    let body = br#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    let expected = ApiError {
        kind: "overloaded_error".to_owned(),
        message: "Overloaded".to_owned(),
    };
    let odd_labels = [JSON, SSE, None, Some("text/html")].map(|content_type| (529, content_type));
    for (status, content_type) in [(200, JSON), (401, JSON), (429, JSON)]
        .into_iter()
        .chain(odd_labels)
    {
        let turn = observe(ResponseTap::new(status, content_type, None), body.chunks(5), true);
        assert_eq!(turn.end, TurnEnd::Error, "{status} {content_type:?}");
        assert_eq!(turn.error.as_ref(), Some(&expected), "{status} {content_type:?}");
    }
}

#[test]
fn an_error_status_is_an_error_whatever_the_body() {
    for (content_type, body) in [
        (Some("text/html"), "<html>Bad gateway</html>"),
        (JSON, "{\"type\""),
        (JSON, ""),
        (JSON, "{}"),
        (SSE, ": nothing\n\n"),
        (None, "upstream connect error"),
    ] {
        let turn = observe(ResponseTap::new(502, content_type, None), [body.as_bytes()], true);
        assert_eq!(turn.end, TurnEnd::Error, "{content_type:?} {body}");
        assert_eq!(
            turn.error,
            Some(ApiError {
                kind: "http_502".to_owned(),
                message: String::new()
            })
        );
    }
}

#[test]
fn successful_status_without_a_message() {
    for (content_type, body, ended_cleanly, end) in [
        (
            Some("text/html"),
            "<html>portal</html>",
            true,
            TurnEnd::NotAMessage,
        ),
        (Some("text/html"), "<html>por", false, TurnEnd::Truncated),
        (None, "", true, TurnEnd::NotAMessage),
        (None, "", false, TurnEnd::Truncated),
        (SSE, "", true, TurnEnd::Truncated),
        (SSE, "<html>", true, TurnEnd::Truncated),
        (JSON, "", true, TurnEnd::Truncated),
        (JSON, "{\"input_tokens\":5}", true, TurnEnd::NotAMessage),
    ] {
        let turn = observe(
            ResponseTap::new(200, content_type, None),
            [body.as_bytes()],
            ended_cleanly,
        );
        assert_eq!(turn.end, end, "{content_type:?} {body:?}");
        assert_eq!(turn.error, None);
    }
}

#[test]
fn stream_truncated_anywhere_keeps_the_received_part() {
    let whole = observe_stream(STREAM.as_bytes());
    assert_eq!(
        (whole.end, whole.irregularities),
        (TurnEnd::Complete, Irregularities::default())
    );
    for length in 0..STREAM.len() {
        let turn = observe_stream(&STREAM.as_bytes()[..length]);
        assert_eq!(turn.end, TurnEnd::Truncated, "cut at {length}");
        let between_events = length == 0 || STREAM.as_bytes()[..length].ends_with(b"\n\n");
        let expected = Irregularities {
            cut_mid_event: !between_events,
            ..Irregularities::default()
        };
        assert_eq!(irregularities(&turn), expected, "cut at {length}");
        let complete = turn.blocks.iter().filter(|block| block.is_complete());
        for (block, expected) in complete.zip(&whole.blocks) {
            assert_eq!(block, expected);
        }
    }
}

#[test]
fn parsing_stops_at_the_limit_of_decoded_bytes() {
    let comment = [b": ".as_slice(), &[b'x'; 1024 * 1024 - 4], b"\n\n"].concat();
    let mut tap = ResponseTap::new(200, SSE, None);
    for _ in 0..MAX_DECODED_BYTES / comment.len() {
        tap.feed(&comment);
        assert!(tap.fault.is_none());
    }
    tap.feed(&comment);
    tap.feed(STREAM.as_bytes());
    let turn = tap.finish(true);
    assert_eq!(turn.end, TurnEnd::Unobserved);
    assert_eq!(irregularities(&turn).decoding, Some(DecodeFault::TooLarge));
}

#[test]
fn too_large_json_body_is_dropped() {
    let mut tap = ResponseTap::new(200, JSON, None);
    tap.feed(b"{\"type\":\"message\",\"content\":\"");
    let chunk = vec![b'x'; 1024 * 1024];
    for _ in 0..MAX_JSON_BYTES / chunk.len() {
        tap.feed(&chunk);
    }
    assert!(matches!(&tap.text.body, super::Body::Json(body) if body.capacity() == 0));
    let turn = tap.finish(true);
    assert_eq!(
        (turn.end, irregularities(&turn).decoding),
        (TurnEnd::Unobserved, Some(DecodeFault::TooLarge))
    );
}

#[test]
fn oversized_events_are_counted_in_the_turn() {
    let large = format!("data: {}\n\n", "x".repeat(crate::response::MAX_EVENT_BYTES));
    let turn = observe_stream([large.as_bytes(), STREAM.as_bytes()].concat().as_slice());
    assert_eq!(turn.end, TurnEnd::Complete);
    assert_eq!(
        irregularities(&turn),
        Irregularities {
            oversized: 1,
            ..Irregularities::default()
        }
    );
}

proptest! {
    #[test]
    fn damage_never_panics_and_no_chunking_matters(
        damages in prop::option::of(damages()),
        places in places(),
        is_gzip in any::<bool>(),
        damages_after in prop::option::of(damages()),
        content_type in prop::sample::select(vec![SSE, JSON, None]),
        status in prop::sample::select(vec![200u16, 500]),
    ) {
        let mut body = STREAM.as_bytes().to_vec();
        damage(&mut body, damages.as_deref().unwrap_or_default());
        if is_gzip {
            body = gzip(&body);
            damage(&mut body, damages_after.as_deref().unwrap_or_default());
        }
        let tap = || ResponseTap::new(status, content_type, is_gzip.then_some("gzip"));
        let whole = observe(tap(), [&body[..]], true);
        for other in [observe(tap(), cut(&body, &places), true), observe(tap(), body.chunks(1), true)] {
            // The number of bytes decoded before the fault depends on the chunks.
            let is_corrupt = |turn: &Turn| turn.irregularities.decoding == Some(DecodeFault::Corrupt);
            if !is_corrupt(&whole) && !is_corrupt(&other) {
                prop_assert_eq!(&whole, &other);
            }
        }
    }

    #[test]
    fn noise_never_panics(
        noise in prop::collection::vec(any::<u8>(), 0..400),
        encoding in prop::sample::select(vec!["", "gzip", "deflate", "br", "zstd", "gzip, br"]),
    ) {
        for content_type in [SSE, JSON, None] {
            let turn = observe(ResponseTap::new(200, content_type, Some(encoding)), noise.chunks(9), false);
            prop_assert_ne!(turn.end, TurnEnd::Complete);
        }
    }
}

fn completed_blocks(tap: &ResponseTap) -> usize {
    tap.blocks().iter().filter(|block| block.is_complete()).count()
}
