use super::{Assembler, MAX_BLOCKS, MAX_UNRECOGNISED};
use crate::response::sse::{SseDecoder, SseEvent};
use crate::response::testing::{damage, damages};
use crate::response::{ApiError, Block, Irregularities, Turn, TurnEnd, Unrecognised, Usage};
use proptest::prelude::*;

const START: &str = r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":12,"cache_creation_input_tokens":100,"cache_read_input_tokens":2000,"cache_creation":{"ephemeral_5m_input_tokens":70,"ephemeral_1h_input_tokens":30},"output_tokens":1,"service_tier":"standard"}}}"#;
const STOP: &str = r#"{"type":"message_stop"}"#;

fn text_start(index: u64) -> String {
    format!(r#"{{"type":"content_block_start","index":{index},"content_block":{{"type":"text","text":""}}}}"#)
}

fn tool_start(index: u64, input: &str) -> String {
    format!(
        r#"{{"type":"content_block_start","index":{index},"content_block":{{"type":"tool_use","id":"toolu_{index}","name":"Bash","input":{input}}}}}"#
    )
}

fn text_delta(index: u64, text: &str) -> String {
    format!(
        r#"{{"type":"content_block_delta","index":{index},"delta":{{"type":"text_delta","text":{text:?}}}}}"#
    )
}

fn input_delta(index: u64, json: &str) -> String {
    format!(
        r#"{{"type":"content_block_delta","index":{index},"delta":{{"type":"input_json_delta","partial_json":{json:?}}}}}"#
    )
}

fn block_stop(index: u64) -> String {
    format!(r#"{{"type":"content_block_stop","index":{index}}}"#)
}

fn text(text: &str, complete: bool) -> Block {
    Block::Text {
        text: text.to_owned(),
        complete,
    }
}

fn tool(index: u64, input: &str, complete: bool) -> Block {
    Block::ToolUse {
        id: format!("toolu_{index}"),
        name: "Bash".to_owned(),
        input: input.to_owned(),
        complete,
    }
}

fn assemble<S: AsRef<str>>(events: impl IntoIterator<Item = S>) -> Turn {
    let mut assembler = Assembler::default();
    for data in events {
        assembler.event(SseEvent {
            name: b"",
            data: data.as_ref().as_bytes(),
        });
    }
    assembler.finish()
}

fn regular(events: &[String]) -> Turn {
    let turn = assemble([&[START.to_owned()], events, &[STOP.to_owned()]].concat());
    assert_eq!(turn.irregularities, Irregularities::default());
    assert_eq!(turn.end, TurnEnd::Complete);
    turn
}

fn misplaced(number: u32) -> Irregularities {
    Irregularities {
        misplaced: number,
        ..Irregularities::default()
    }
}

fn malformed(number: u32) -> Irregularities {
    Irregularities {
        malformed: number,
        ..Irregularities::default()
    }
}

#[test]
fn a_whole_message() {
    let turn = regular(&[
        text_start(0),
        r#"{"type": "ping"}"#.to_owned(),
        text_delta(0, "Hello, "),
        text_delta(0, "\"world\"\n"),
        block_stop(0),
        r#"{"type":"message_delta","delta":{"stop_reason":"stop_sequence","stop_sequence":"END"},"usage":{"output_tokens":20}}"#.to_owned(),
    ]);
    let expected = Turn {
        id: Some("msg_1".to_owned()),
        model: Some("m".to_owned()),
        role: Some("assistant".to_owned()),
        blocks: vec![text("Hello, \"world\"\n", true)],
        stop_reason: Some("stop_sequence".to_owned()),
        stop_sequence: Some("END".to_owned()),
        usage: Usage {
            input: 12,
            output: 20,
            cache_read: 2000,
            cache_creation: 100,
            cache_creation_5m: 70,
            cache_creation_1h: 30,
            ..Usage::default()
        },
        end: TurnEnd::Complete,
        ..Turn::default()
    };
    assert_eq!(turn, expected);
}

#[test]
fn interleaved_deltas_go_to_the_block_with_their_index() {
    let turn = regular(&[
        tool_start(2, "{}"),
        text_start(0),
        text_delta(0, "a"),
        input_delta(2, "{\"x\""),
        tool_start(1, "{}"),
        input_delta(1, "{\"y\":1}"),
        input_delta(2, ":2}"),
        block_stop(2),
        text_delta(0, "b"),
        block_stop(0),
        block_stop(1),
    ]);
    assert_eq!(
        turn.blocks,
        [
            text("ab", true),
            tool(1, "{\"y\":1}", true),
            tool(2, "{\"x\":2}", true)
        ]
    );
}

#[test]
fn tool_input_comes_from_deltas_or_else_from_the_block_start() {
    let turn = regular(&[
        tool_start(0, "{}"),
        input_delta(0, ""),
        block_stop(0),
        tool_start(1, r#"{"a": 1}"#),
        block_stop(1),
        tool_start(2, r#"{"a": 1}"#),
        input_delta(2, r#"{"b":2}"#),
        block_stop(2),
    ]);
    assert_eq!(
        turn.blocks,
        [
            tool(0, "{}", true),
            tool(1, r#"{"a": 1}"#, true),
            tool(2, r#"{"b":2}"#, true)
        ]
    );
}

#[test]
fn thinking_is_kept_without_its_signature() {
    let turn = regular(&[
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#.to_owned(),
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm."}}"#.to_owned(),
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}"#.to_owned(),
        block_stop(0),
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"abc"}}"#.to_owned(),
        block_stop(1),
    ]);
    assert_eq!(
        turn.blocks,
        [
            Block::Thinking {
                text: "Hm.".to_owned(),
                complete: true
            },
            Block::RedactedThinking { complete: true }
        ]
    );
}

#[test]
fn server_tools_and_unknown_blocks_are_kept() {
    let result = r#"{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","url":"https://example.com"}]}"#;
    let turn = regular(&[
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}}"#.to_owned(),
        input_delta(0, r#"{"query":"x"}"#),
        block_stop(0),
        format!(r#"{{"type":"content_block_start","index":1,"content_block":{result}}}"#),
        block_stop(1),
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"novelty","a":1}}"#.to_owned(),
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"x"}}"#.to_owned(),
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"novelty_delta", "b":2}}"#.to_owned(),
    ]);
    assert_eq!(
        turn.blocks,
        [
            Block::ServerToolUse {
                id: "srvtoolu_1".to_owned(),
                name: "web_search".to_owned(),
                input: r#"{"query":"x"}"#.to_owned(),
                complete: true,
            },
            Block::Other {
                kind: "web_search_tool_result".to_owned(),
                json: result.to_owned(),
                complete: true
            },
            Block::Other {
                kind: "novelty".to_owned(),
                json: concat!(
                    r#"{"type":"novelty","a":1}"#,
                    "\n",
                    r#"{"type":"text_delta","text":"x"}"#,
                    "\n",
                    r#"{"type":"novelty_delta", "b":2}"#
                )
                .to_owned(),
                complete: false,
            },
        ]
    );
}

#[test]
fn unknown_events_and_deltas_are_kept_and_counted() {
    let citation = r#"{"type":"citations_delta","citation":{"url":"u"}}"#;
    let event = r#"{"type":"message_note","note":1}"#;
    let mut assembler = Assembler::default();
    for data in [START, &text_start(0)] {
        assembler.event(SseEvent {
            name: b"",
            data: data.as_bytes(),
        });
    }
    let delta = format!(r#"{{"type":"content_block_delta","index":0,"delta":{citation}}}"#);
    for (name, data) in [("", delta.as_str()), ("", event), ("novelty", "{}")] {
        assembler.event(SseEvent {
            name: name.as_bytes(),
            data: data.as_bytes(),
        });
    }
    let turn = assembler.finish();
    let kept = |kind: &str, json: &str| Unrecognised {
        kind: kind.to_owned(),
        json: json.to_owned(),
    };
    assert_eq!(
        turn.unrecognised,
        [
            kept("citations_delta", citation),
            kept("message_note", event),
            kept("novelty", "{}")
        ]
    );
    let expected = Irregularities {
        unknown_events: 2,
        unknown_deltas: 1,
        ..Irregularities::default()
    };
    assert_eq!(turn.irregularities, expected);
}

#[test]
fn unrecognised_events_are_bounded() {
    let large = format!(r#"{{"type":"large","x":"{}"}}"#, "x".repeat(20_000));
    let small = r#"{"type":"small"}"#.to_owned();
    let turn = assemble(std::iter::once(&large).chain(std::iter::repeat_n(&small, 1000)));
    assert_eq!(turn.irregularities.unknown_events, 1001);
    assert_eq!(turn.unrecognised.len(), MAX_UNRECOGNISED);
    assert!(turn.unrecognised.iter().all(|kept| kept.kind == "small"));
}

#[test]
fn newest_usage_replaces_only_the_counts_it_contains() {
    let turn = regular(&[
        r#"{"type":"message_delta","delta":{},"usage":{"output_tokens":5,"input_tokens":null,"server_tool_use":{"web_search_requests":2,"web_fetch_requests":1}}}"#.to_owned(),
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9.0,"cache_read_input_tokens":2500,"cache_creation":null,"server_tool_use":null,"input_tokens":-1,"cache_creation_input_tokens":12.5}}"#.to_owned(),
    ]);
    let expected = Usage {
        input: 12,
        output: 9,
        cache_read: 2500,
        cache_creation: 100,
        cache_creation_5m: 70,
        cache_creation_1h: 30,
        web_search_requests: 2,
        web_fetch_requests: 1,
    };
    assert_eq!(turn.usage, expected);
    assert_eq!(turn.stop_reason.as_deref(), Some("end_turn"));
}

#[test]
fn an_error_event_ends_the_turn() {
    let error = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    let turn = assemble([
        START,
        &text_start(0),
        &text_delta(0, "a"),
        error,
        &text_delta(0, "b"),
        STOP,
    ]);
    assert_eq!(turn.end, TurnEnd::Error);
    assert_eq!(
        turn.error,
        Some(ApiError {
            kind: "overloaded_error".to_owned(),
            message: "Overloaded".to_owned()
        })
    );
    assert_eq!(turn.blocks, [text("a", false)]);
    assert_eq!(turn.irregularities, misplaced(2));
    let unreadable = assemble([r#"{"type":"error","error":7}"#]);
    assert_eq!(
        unreadable.error,
        Some(ApiError {
            kind: "error".to_owned(),
            message: String::new()
        })
    );
}

#[test]
fn malformed_events_are_skipped_and_counted() {
    let broken = [
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_de"#,
        "",
        "[1]",
        "not json",
        r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"x"}}"#,
        r#"{"type":"content_block_delta","index":0}"#,
        r#"{"type":"content_block_delta","index":0,"delta":7}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\ud800"}}"#,
        r#"{"type":"content_block_start","index":1}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"text":""}}"#,
        r#"{"type":"content_block_stop"}"#,
        r#"{"type":"message_start"}"#,
    ];
    let (start, before, after) = (text_start(0), text_delta(0, "a"), text_delta(0, "b"));
    let events = [START, &start, &before]
        .into_iter()
        .chain(broken)
        .chain([after.as_str(), STOP]);
    let turn = assemble(events);
    assert_eq!(turn.irregularities, malformed(broken.len() as u32));
    assert_eq!(turn.blocks, [text("ab", false)]);
    assert_eq!(turn.end, TurnEnd::Complete);
}

#[test]
fn a_stream_without_its_stop_is_truncated() {
    let turn = assemble([START, &tool_start(0, "{}"), &input_delta(0, "{\"a")]);
    assert_eq!(turn.end, TurnEnd::Truncated);
    assert_eq!(turn.blocks, [tool(0, "{\"a", false)]);
    assert_eq!(assemble([""; 0]), Turn::default());
}

#[test]
fn second_message_start_updates_only_the_usage() {
    let second =
        r#"{"type":"message_start","message":{"id":"msg_2","model":"n","usage":{"output_tokens":7}}}"#;
    let turn = assemble([START, second, STOP]);
    assert_eq!(
        (turn.id.as_deref(), turn.model.as_deref()),
        (Some("msg_1"), Some("m"))
    );
    assert_eq!((turn.usage.output, turn.usage.input), (7, 12));
    assert_eq!(turn.irregularities, misplaced(1));
    assert_eq!(turn.end, TurnEnd::Complete);
}

#[test]
fn misplaced_events_are_counted() {
    let turn = assemble([STOP]);
    assert_eq!((turn.end, turn.irregularities), (TurnEnd::Complete, misplaced(1)));

    let turn = assemble([START, &text_delta(0, "a"), &block_stop(0), STOP]);
    assert_eq!((turn.blocks, turn.irregularities), (vec![], misplaced(2)));

    let turn = assemble([&text_start(0), &text_delta(0, "a")]);
    assert_eq!(
        (turn.blocks, turn.irregularities),
        (vec![text("a", false)], misplaced(1))
    );

    let events = [
        START,
        &text_start(0),
        &block_stop(0),
        &text_delta(0, "a"),
        &block_stop(0),
        STOP,
    ];
    let turn = assemble(events);
    assert_eq!(
        (turn.blocks, turn.irregularities),
        (vec![text("", true)], misplaced(2))
    );

    let turn = assemble([
        START,
        &text_start(0),
        &input_delta(0, "{}"),
        STOP,
        &text_delta(0, "a"),
        STOP,
    ]);
    assert_eq!(
        (turn.blocks, turn.irregularities),
        (vec![text("", false)], misplaced(3))
    );
}

#[test]
fn deltas_go_to_the_newest_block_with_their_index() {
    let turn = assemble([
        START,
        &text_start(1),
        &text_start(0),
        &text_delta(0, "a"),
        &text_start(0),
        &text_delta(1, "c"),
        &text_delta(0, "b"),
        STOP,
    ]);
    assert_eq!(
        turn.blocks,
        [text("a", false), text("b", false), text("c", false)]
    );
    assert_eq!(turn.irregularities, misplaced(1));
}

#[test]
fn the_number_of_blocks_is_limited() {
    let starts: Vec<String> = (0..MAX_BLOCKS as u64 + 5).rev().map(text_start).collect();
    let turn = assemble(std::iter::once(START).chain(starts.iter().map(String::as_str)));
    assert_eq!(turn.blocks.len(), MAX_BLOCKS);
    assert_eq!(turn.irregularities, misplaced(5));
}

#[test]
fn blocks_complete_with_their_stop_event() {
    let mut assembler = Assembler::default();
    let mut seen = Vec::new();
    for data in [
        START.to_owned(),
        text_start(0),
        tool_start(1, "{}"),
        input_delta(1, "{\"a\":1}"),
        block_stop(1),
        block_stop(0),
        block_stop(0),
    ] {
        assembler.event(SseEvent {
            name: b"",
            data: data.as_bytes(),
        });
        seen.push(
            assembler
                .blocks()
                .iter()
                .filter(|block| block.is_complete())
                .count(),
        );
    }
    assert_eq!(seen, [0, 0, 0, 0, 1, 2, 2]);
    assert_eq!(assembler.blocks(), [text("", true), tool(1, "{\"a\":1}", true)]);
}

/// A stream of mostly valid events.
fn events() -> impl Strategy<Value = Vec<String>> {
    let string =
        || prop_oneof!["[ -~]{0,12}", any::<String>()].prop_map(|s| serde_json::to_string(&s).unwrap());
    let delta = (0u64..4, 0usize..5, string(), " {0,3}").prop_map(|(index, kind, string, padding)| {
        let (kind, field) = [
            ("text_delta", "text"),
            ("input_json_delta", "partial_json"),
            ("thinking_delta", "thinking"),
            ("signature_delta", "signature"),
            ("new_delta", "new"),
        ][kind];
        format!(
            r#"{{"type":"content_block_delta","index":{index},"delta":{{"type":"{kind}","{field}":{string}}}{padding}}}"#
        )
    });
    let start = (0u64..4, 0usize..5).prop_map(|(index, kind)| {
        let block = [
            r#"{"type":"text","text":"t"}"#,
            r#"{"type":"tool_use","id":"toolu_1","name":"Bash","input":{}}"#,
            r#"{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"q":1}}"#,
            r#"{"type":"thinking","thinking":"","signature":""}"#,
            r#"{"type":"new"}"#,
        ][kind];
        format!(r#"{{"type":"content_block_start","index":{index},"content_block":{block}}}"#)
    });
    let event = prop_oneof![
        12 => delta,
        5 => start,
        3 => (0u64..4).prop_map(block_stop),
        1 => Just(START.to_owned()),
        1 => Just(r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":4}}"#.to_owned()),
        1 => Just(r#"{"type":"ping"}"#.to_owned()),
    ];
    (prop::collection::vec(event, 0..30), any::<bool>()).prop_map(|(events, stops)| {
        let stop = stops.then(|| STOP.to_owned());
        std::iter::once(START.to_owned())
            .chain(events)
            .chain(stop)
            .collect()
    })
}

/// The same, with every delta parsed by the JSON parser.
fn assemble_by_parser(stream: &[u8]) -> Turn {
    let mut assembler = Assembler::default();
    SseDecoder::new().feed(stream, |event| assembler.parsed_event(event));
    assembler.finish()
}

fn assemble_stream(stream: &[u8]) -> Turn {
    let mut assembler = Assembler::default();
    SseDecoder::new().feed(stream, |event| assembler.event(event));
    assembler.finish()
}

proptest! {
    #[test]
    fn both_ways_yield_the_same_turn(events in events(), damages in prop::option::of(damages())) {
        let mut stream: Vec<u8> =
            events.iter().flat_map(|data| format!("event: x\ndata: {data}\n\n").into_bytes()).collect();
        if let Some(damages) = damages {
            damage(&mut stream, &damages);
        }
        let turn = assemble_stream(&stream);
        prop_assert_eq!(&turn, &assemble_by_parser(&stream));
        prop_assert!(turn.end != TurnEnd::Complete || turn.blocks.len() <= events.len());
    }
}
