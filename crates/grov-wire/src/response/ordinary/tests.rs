use super::super::body;
use super::read;
use crate::response::testing::{damage, damages};
use proptest::prelude::*;
use proptest::sample::{Index, select};

fn assert_both_agree(document: &[u8]) {
    for ended_cleanly in [true, false] {
        assert_eq!(
            body::read(document, ended_cleanly),
            body::read_leniently(document, ended_cleanly),
            "{:?}",
            String::from_utf8_lossy(document)
        );
    }
}

fn space() -> impl Strategy<Value = &'static str> {
    prop_oneof![8 => Just(""), 1 => Just(" "), 1 => Just("\r\n\t ")]
}

fn string() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-z ]{0,12}",
        1 => Just("x".repeat(70)),
        3 => select(vec![
            "é😀", r#"\""#, r"\\", r"\n", r"\/", r"\b", r"\u0041", r"\ud83d\ude00", r"\ud83d", r"\ude00", "]}],{[",
        ]).prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..5).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

fn count() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => any::<u32>().prop_map(|count| count.to_string()),
        1 => select(vec!["12.0", "1.5", "-3", "-0", "1e3", "1E-2", "9007199254740993", "18446744073709551616", "1e999"])
            .prop_map(str::to_owned),
    ]
}

/// A value of any type, with what is no fault where nobody reads.
fn any_value() -> impl Strategy<Value = String> {
    let other = select(vec![
        "null".to_owned(),
        "true".to_owned(),
        "[]".to_owned(),
        "{}".to_owned(),
        r#"[1, {"type":"text"}, [null]]"#.to_owned(),
        r#"{"a":1,"a":2,"\ud800":{"type":"message"}}"#.to_owned(),
        format!("{}{}", "[".repeat(200), "]".repeat(200)),
    ]);
    prop_oneof![string(), count(), other]
}

/// What should stand there, mostly.
fn mostly(value: impl Strategy<Value = String> + 'static) -> BoxedStrategy<String> {
    prop_oneof![30 => value, 1 => any_value(), 1 => Just("null".to_owned())].boxed()
}

fn one_of(names: &'static [&'static str]) -> BoxedStrategy<String> {
    mostly(select(names).prop_map(|name| format!("\"{name}\"")))
}

/// An object of these fields: each mostly there, sometimes twice, in any order, its key sometimes escaped.
fn object(fields: Vec<(&'static str, BoxedStrategy<String>)>) -> BoxedStrategy<String> {
    let fields = fields.into_iter().map(|(name, value)| {
        let key = prop_oneof![
            150 => Just(format!("\"{name}\"")),
            1 => Just(format!("\"\\u{:04x}{}\"", name.as_bytes()[0], &name[1..])),
        ];
        let times = prop_oneof![10 => Just(0_usize), 140 => Just(1), 1 => Just(2)];
        let field = (key, space(), space(), value, space())
            .prop_map(|(key, a, b, value, c)| format!("{a}{key}{b}:{c}{value}{a}"))
            .boxed();
        times
            .prop_flat_map(move |times| prop::collection::vec(field.clone(), times))
            .boxed()
    });
    fields
        .collect::<Vec<_>>()
        .prop_map(|fields| fields.concat())
        .prop_shuffle()
        .prop_map(|fields| format!("{{{}}}", fields.join(",")))
        .boxed()
}

fn block() -> BoxedStrategy<String> {
    const KINDS: &[&str] = &[
        "text",
        "text",
        "thinking",
        "tool_use",
        "server_tool_use",
        "redacted_thinking",
        "novelty",
        "t\\u0065xt",
    ];
    object(vec![
        ("type", one_of(KINDS)),
        ("text", mostly(string())),
        ("thinking", mostly(string())),
        ("id", mostly(string())),
        ("name", mostly(string())),
        ("input", any_value().boxed()),
        ("novelty", any_value().boxed()),
    ])
}

fn usage() -> BoxedStrategy<String> {
    let lifetimes = object(vec![
        ("ephemeral_5m_input_tokens", mostly(count())),
        ("ephemeral_1h_input_tokens", mostly(count())),
        ("novelty", any_value().boxed()),
    ]);
    let tools = object(vec![
        ("web_search_requests", mostly(count())),
        ("web_fetch_requests", mostly(count())),
    ]);
    object(vec![
        ("input_tokens", mostly(count())),
        ("output_tokens", mostly(count())),
        ("cache_read_input_tokens", mostly(count())),
        ("cache_creation_input_tokens", mostly(count())),
        ("cache_creation", mostly(lifetimes)),
        ("server_tool_use", mostly(tools)),
        ("service_tier", any_value().boxed()),
    ])
}

fn message() -> BoxedStrategy<String> {
    let content = (prop::collection::vec(mostly(block()), 0..4), space())
        .prop_map(|(blocks, space)| format!("[{space}{}]", blocks.join(&format!("{space},"))));
    let message = object(vec![
        ("type", one_of(&["message"])),
        ("id", mostly(string())),
        ("model", mostly(string())),
        ("role", one_of(&["assistant"])),
        ("content", mostly(content)),
        ("stop_reason", one_of(&["end_turn", "tool_use"])),
        (
            "stop_sequence",
            prop_oneof![Just("null".to_owned()), string()].boxed(),
        ),
        ("usage", mostly(usage())),
        ("novelty", any_value().boxed()),
    ]);
    let failure = object(vec![
        ("type", one_of(&["error", "message"])),
        ("content", Just("[]".to_owned()).boxed()),
        (
            "error",
            mostly(object(vec![
                ("type", mostly(string())),
                ("message", mostly(string())),
            ])),
        ),
    ]);
    prop_oneof![12 => message, 1 => failure].boxed()
}

proptest! {
    #[test]
    fn a_message_amounts_to_the_same_either_way(message in message(), before in space(), behind in space()) {
        assert_both_agree(format!("{before}{message}{behind}").as_bytes());
    }

    #[test]
    fn so_does_a_damaged_or_cut_one(
        message in message(),
        damages in damages(),
        cut in prop::option::of(any::<Index>()),
    ) {
        let mut document = message.into_bytes();
        damage(&mut document, &damages);
        if let Some(cut) = cut {
            document.truncate(cut.index(document.len() + 1));
        }
        assert_both_agree(&document);
    }
}

#[test]
fn any_single_byte_may_be_another() {
    let document =
        br#"{"type":"message","content":[{"type":"text","text":"a\n"}],"usage":{"input_tokens":3,"x":{}}}"#;
    for place in 0..document.len() {
        for byte in 0..=u8::MAX {
            let mut changed = document.to_vec();
            changed[place] = byte;
            assert_both_agree(&changed);
        }
    }
}

#[test]
fn the_upstreams_own_form_is_ordinary() {
    assert!(read(include_bytes!("../../../tests/golden/responses/message.json")).is_some());
    let thinking = br#"{"model":"m","id":"msg_1","type":"message","role":"assistant","content":[
        {"type":"thinking","thinking":"Hm.","signature":"x"},{"type":"novelty","a":[{"a":1,"a":2}]}
    ],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":3,"cache_creation":null,"server_tool_use":
    {"web_search_requests":1},"output_tokens":4.0},"container":null}"#;
    assert!(read(thinking).is_some());
}

#[test]
fn what_is_not_as_usual_is_left_to_the_lenient_reading() {
    for document in [
        r#"{"type":"message","content":[{"type":"text"}]"#,
        r#"{"type":"message","content":[{"type":"text"}]} x"#,
        r#"{"type":"message","content":[{"type":"text"},7]}"#,
        r#"{"type":"message","content":[{"text":"a"}]}"#,
        r#"{"type":"message","content":[{"type":"text","type":"text"}]}"#,
        r#"{"type":"message","content":[],"stop_sequence":null,"stop_sequence":null}"#,
        r#"{"type":"message","content":[],"conten\u0074":[]}"#,
        r#"{"type":"message","content":[],"usage":{"input_tokens":1,"input_tokens":1}}"#,
        r#"{"type":"message","content":[],"error":null}"#,
        r#"{"type":"message","content":"a"}"#,
        r#"{"type":"message"}"#,
        r#"{"type":"completion","content":[]}"#,
        r#"["message"]"#,
        "",
    ] {
        assert!(read(document.as_bytes()).is_none(), "{document}");
        assert_both_agree(document.as_bytes());
    }
}
