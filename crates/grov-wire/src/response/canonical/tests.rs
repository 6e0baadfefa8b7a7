use super::super::event::{self, Delta, Envelope};
use super::{CanonicalDelta, DeltaKind};
use crate::response::testing::{damage, damages};
use proptest::prelude::*;

/// Returns index, kind and string from the fast path.
fn by_spelling(data: &[u8]) -> Option<(u64, DeltaKind, String)> {
    let delta = CanonicalDelta::recognise(data)?;
    let mut target = String::from("before");
    let appended = delta.append_to(&mut target);
    if !appended {
        assert_eq!(target, "before");
        return None;
    }
    Some((delta.index, delta.kind, target["before".len()..].to_owned()))
}

/// Returns the same from the JSON parser.
fn by_parser(data: &[u8]) -> Option<(u64, DeltaKind, String)> {
    let envelope: Envelope<'_> = event::object(data).ok()?;
    if event::text(envelope.kind)? != "content_block_delta" {
        return None;
    }
    let delta: Delta<'_> = event::inner(envelope.delta)?;
    let (kind, text) = match &*event::text(delta.kind)? {
        "text_delta" => (DeltaKind::Text, delta.text),
        "input_json_delta" => (DeltaKind::InputJson, delta.partial_json),
        "thinking_delta" => (DeltaKind::Thinking, delta.thinking),
        _ => return None,
    };
    Some((event::count(envelope.index)?, kind, event::owned_text(text)?))
}

fn spell(index: u64, kind: DeltaKind, string: &str, padding: &str) -> String {
    let (kind, field) = match kind {
        DeltaKind::Text => ("text_delta", "text"),
        DeltaKind::InputJson => ("input_json_delta", "partial_json"),
        DeltaKind::Thinking => ("thinking_delta", "thinking"),
    };
    format!(
        r#"{{"type":"content_block_delta","index":{index},"delta":{{"type":"{kind}","{field}":{string}}}{padding}}}"#
    )
}

fn any_kind() -> impl Strategy<Value = DeltaKind> {
    prop::sample::select(vec![DeltaKind::Text, DeltaKind::InputJson, DeltaKind::Thinking])
}

#[test]
fn recognises_the_upstreams_form() {
    let data = br#"{"type":"content_block_delta","index":12,"delta":{"type":"input_json_delta","partial_json":"{\"a\": \"\u00e9\n"}      }"#;
    assert_eq!(
        by_spelling(data),
        Some((12, DeltaKind::InputJson, "{\"a\": \"é\n".to_owned()))
    );
}

#[test]
fn other_spellings_go_to_the_parser() {
    let canonical = spell(3, DeltaKind::Text, r#""a""#, "");
    assert!(by_spelling(canonical.as_bytes()).is_some());
    for (from, to) in [
        (":3,", ": 3,"),
        (":3,", ":03,"),
        (":3,", ":-3,"),
        (":3,", ":31415,"),
        (":3,", ":,"),
        ("\"a\"", "\"a\",\"b\":1"),
        ("\"a\"", "null"),
        ("\"a\"", "\"a"),
        ("\"a\"", "\"a\\\""),
        ("\"a\"", "\"a\\"),
        ("\"a\"", "\"\\x\""),
        ("\"a\"", "\"\\u12\""),
        ("\"a\"", "\"\\ud800\""),
        ("\"a\"", "\"\\ud800\\u0041\""),
        ("\"a\"", "\"\\udc00\""),
        ("\"a\"", "\"\t\""),
        ("}}", "},\"x\":1}"),
        ("}}", "}} x"),
        ("}}", "}"),
        ("text_delta", "texts_delta"),
    ] {
        let other = canonical.replacen(from, to, 1);
        assert_ne!(other, canonical);
        assert_eq!(by_spelling(other.as_bytes()), None, "{other}");
    }
}

#[test]
fn invalid_utf8_is_left_to_the_parser() {
    let mut data = spell(0, DeltaKind::Text, r#""ab""#, "").into_bytes();
    let at = data.windows(2).position(|pair| pair == b"ab").unwrap();
    data[at] = 0xFF;
    assert_eq!(by_spelling(&data), None);
    assert_eq!(by_parser(&data), None);
}

/// A character of a JSON string in one of its forms, valid or not.
fn spelled_character() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => "[ -~é漢😀]".prop_map(|character| match character.as_str() {
            "\"" => "\\\"".to_owned(),
            "\\" => "\\\\".to_owned(),
            _ => character,
        }),
        3 => prop::sample::select(vec!["\\\"", "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t"])
            .prop_map(str::to_owned),
        3 => any::<char>().prop_map(|character| {
            let mut units = [0; 2];
            character.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect()
        }),
        1 => "\\\\u[dD][0-9a-fA-F]{3}",
        1 => prop::sample::select(vec!["\\", "\"", "\u{1}", "\\x", "\\u00"]).prop_map(str::to_owned),
    ]
}

proptest! {
    #[test]
    fn every_encoded_string_is_recognised(
        index in 0u64..10_000, kind in any_kind(), string in any::<String>(), padding in " {0,40}",
    ) {
        let data = spell(index, kind, &serde_json::to_string(&string).unwrap(), &padding);
        prop_assert_eq!(by_spelling(data.as_bytes()), Some((index, kind, string)));
    }

    #[test]
    fn both_ways_agree_on_any_spelling(
        index in 0u64..12, kind in any_kind(), characters in prop::collection::vec(spelled_character(), 0..24),
    ) {
        let data = spell(index, kind, &format!("\"{}\"", characters.concat()), "");
        prop_assert_eq!(by_spelling(data.as_bytes()), by_parser(data.as_bytes()));
    }

    #[test]
    fn recognised_deltas_agree_with_the_parser(
        kind in any_kind(),
        characters in prop::collection::vec(spelled_character(), 0..12),
        damages in damages(),
    ) {
        let mut data = spell(1, kind, &format!("\"{}\"", characters.concat()), " ").into_bytes();
        damage(&mut data, &damages);
        if let Some(recognised) = by_spelling(&data) {
            prop_assert_eq!(Some(recognised), by_parser(&data));
        }
    }
}
