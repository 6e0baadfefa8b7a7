//! The index is the same with and without a cache.

use crate::generated::{Noise, any_json, messages, text};
use bytes::Bytes;
use grov_wire::{IndexError, RequestCache, RequestIndex};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

/// Describes an index and its skeleton, or the error.
fn found(index: Result<RequestIndex, IndexError>) -> String {
    let index = index.map(|index| (index.skeleton(), index));
    format!("{index:?}")
}

fn assert_same(body: &Bytes, cache: &RequestCache) {
    let anew = found(RequestIndex::parse(body));
    assert_eq!(found(RequestIndex::parse_with_cache(body, cache)), anew);
}

fn with_tools(before: &str, tools: &str, after: &str) -> Bytes {
    Bytes::from(format!(
        r#"{{"model":{before},"tools":{tools},"system":{after}}}"#
    ))
}

/// Makes a request large enough for the cache, with escapes at the block boundaries of the scanner.
fn long() -> impl Strategy<Value = String> {
    prop::collection::vec(text(), 10..60).prop_map(|texts| texts.concat() + &"\\\"".repeat(1100))
}

fn tools() -> impl Strategy<Value = Value> {
    let tool = (any_json(), long(), any_json())
        .prop_map(|(name, description, schema)| json!({"name": name, "description": description, "input_schema": schema}));
    prop::collection::vec(tool, 1..4).prop_map(Value::from)
}

/// The parts of a growing conversation.
#[derive(Clone, Debug)]
struct Conversation {
    model: Value,
    system: Value,
    tools: Value,
    messages: Vec<Value>,
    noise: u64,
}

fn conversation() -> impl Strategy<Value = Conversation> {
    let system = prop_oneof![
        long().prop_map(|text| json!([{"type": "text", "text": text}, {"text": 7}])),
        long().prop_map(Value::from),
        any_json(),
    ];
    let messages = (messages(), long()).prop_map(|(mut messages, long)| {
        messages.insert(
            messages.len() / 2,
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": long}]}),
        );
        messages
    });
    let noise = prop_oneof![Just(0), any::<u64>()];
    (text(), system, tools(), messages, noise).prop_map(|(model, system, tools, messages, noise)| {
        Conversation {
            model: Value::from(model),
            system,
            tools,
            messages,
            noise,
        }
    })
}

impl Conversation {
    /// Returns a request with the first `count` messages and new metadata. `turned` swaps two fields.
    fn request(&self, count: usize, new: &Value, turned: bool) -> Bytes {
        let mut noise = Noise(self.noise);
        let mut write = |value: &Value| {
            let mut written = String::new();
            noise.write(value, &mut written);
            written
        };
        let messages = write(&Value::from(&self.messages[..count]));
        let (system, tools, new) = (write(&self.system), write(&self.tools), write(new));
        let (one, other) = if turned { (tools, system) } else { (system, tools) };
        let (first, second) = if turned {
            ("tools", "system")
        } else {
            ("system", "tools")
        };
        let model = &self.model;
        Bytes::from(format!(
            r#"{{"model":{model},"messages":{messages},"{first}":{one},"{second}":{other},"metadata":{new}}}"#
        ))
    }
}

proptest! {
    #[test]
    fn index_is_the_same_with_any_cached_tools(
        lists in prop::collection::vec(tools(), 2..7),
        surroundings in prop::collection::vec((any_json(), any_json()), 2..7),
        cut in any::<Index>(),
        other in any::<(Index, u8)>(),
    ) {
        let cache = RequestCache::default();
        for _ in 0..2 {
            for (list, (before, after)) in lists.iter().zip(&surroundings) {
                let body = with_tools(&before.to_string(), &list.to_string(), &after.to_string());
                assert_same(&body, &cache);
                // The same list, cached now, at another offset.
                let body = with_tools(&after.to_string(), &list.to_string(), &before.to_string());
                assert_same(&body, &cache);
                assert_same(&body.slice(..cut.index(body.len())), &cache);
                let mut changed = body.to_vec();
                changed[other.0.index(body.len())] = other.1;
                assert_same(&changed.into(), &cache);
            }
        }
    }

    #[test]
    fn index_is_the_same_with_any_cached_conversation(
        conversations in prop::collection::vec(conversation(), 1..4),
        turns in prop::collection::vec((any::<Index>(), any::<Index>(), any_json(), any::<bool>()), 4..12),
        changes in prop::collection::vec((any::<Index>(), any::<Index>(), any::<u8>()), 4..12),
    ) {
        let cache = RequestCache::default();
        for ((which, count, new, turned), (cut, at, byte)) in turns.iter().zip(&changes) {
            let conversation = which.get(&conversations);
            let count = count.index(conversation.messages.len() + 1);
            let body = conversation.request(count, new, *turned);
            assert_same(&body, &cache);
            assert_same(&body.slice(..cut.index(body.len())), &cache);
            let mut changed = body.to_vec();
            changed[at.index(body.len())] = *byte;
            assert_same(&changed.into(), &cache);
            assert_same(&body, &cache);
        }
    }
}

/// Runs of backslashes at all offsets relative to the scanner blocks.
#[test]
fn escapes_across_the_end_of_a_cached_list_are_parsed() {
    let backslashes = r"\\".repeat(2100);
    for tail in ["", "x", r#"\""#, r"\n", r"\\\\", r"\u005c"] {
        let cache = RequestCache::default();
        let list = format!(r#"[{{"name":"a","description":"{backslashes}{tail}"}}]"#);
        assert!(RequestIndex::parse_with_cache(&with_tools("0", &list, "0"), &cache).is_ok());
        for shift in 0..140 {
            let before = format!("\"{}\"", "x".repeat(shift));
            for after in ["0", r#""a\n\\""#, r#"["\\\"]"]"#, r#""\x""#] {
                assert_same(&with_tools(&before, &list, after), &cache);
            }
        }
    }
}

#[test]
fn text_after_a_cached_list_is_checked() {
    let cache = RequestCache::default();
    let list = json!([{"name": "a", "description": "x".repeat(5000)}]).to_string();
    assert!(RequestIndex::parse_with_cache(&with_tools("0", &list, "0"), &cache).is_ok());
    for after in [r#"0,"tools":[]"#, "0}", "", "[", r#""open"#] {
        let body = with_tools("0", &list, after);
        assert!(RequestIndex::parse(&body).is_err(), "{after}");
        assert_same(&body, &cache);
    }
    // The scanner has loaded the block with the end of the list before it reads what follows.
    let numbers = format!("[{{\"name\":\"{}\"}}{}]", "a".repeat(5000), ",1".repeat(100));
    assert!(RequestIndex::parse_with_cache(&with_tools("0", &numbers, "0"), &cache).is_ok());
    for after in ["!\"\\x\"}", "}\\x", "\\}"] {
        assert_same(&Bytes::from(format!("{{\"tools\":{numbers}{after}")), &cache);
    }
    let glued = Bytes::from(format!(r#"{{"tools":{list}{list}}}"#));
    assert!(RequestIndex::parse(&glued).is_err());
    assert_same(&glued, &cache);
    let first = RequestIndex::parse_with_cache(&with_tools(r#""there""#, &list, "0"), &cache).unwrap();
    assert_eq!(
        first.first_tool().and_then(|tool| tool.name()).as_deref(),
        Some("a")
    );
    assert_eq!(first.tool_count(), 1);
}

/// At the end of the cached messages, a number may continue, a list may end, and a field may be repeated.
#[test]
fn text_after_cached_messages_is_checked() {
    let long = "x".repeat(5000);
    let message = format!(r#"{{"role":"user","content":"{long}"}}"#);
    let after = [
        "]",
        "",
        ",",
        ",]",
        "}",
        r#"],"messages":[]"#,
        r#"],"messages":[{"role":"user"}]"#,
        r#",{"role":"user","role":"user"}]"#,
        r#"],"system":[{"type":"text","text":"be kind"}]"#,
        r#"],"system":[{"type":"text","text":"be kind"}]]"#,
        ",7]",
        ",71]",
        ",7.5e]",
        r#",7]"x\y""#,
        "\\",
    ];
    for known_after in after {
        let cache = RequestCache::default();
        assert_same(
            &Bytes::from(format!(r#"{{"messages":[{message}{known_after}}}"#)),
            &cache,
        );
        for after in after {
            for prefix in [
                r#"{"messages":["#,
                r#"{"system":0,"messages":["#,
                r#"{ "messages":["#,
                r#"["messages":["#,
            ] {
                assert_same(&Bytes::from(format!("{prefix}{message}{after}}}")), &cache);
            }
        }
    }
}
