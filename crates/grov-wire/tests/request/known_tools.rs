//! What is known of earlier tool lists changes nothing that is found.

use crate::generated::{any_json, text};
use bytes::Bytes;
use grov_wire::{KnownTools, RequestIndex};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Everything there is in an index, or why there is none.
fn found(index: Result<RequestIndex, grov_wire::IndexError>) -> String {
    format!("{index:?}")
}

fn assert_same(body: &Bytes, known: &KnownTools) {
    let anew = found(RequestIndex::parse(body));
    assert_eq!(found(RequestIndex::parse_knowing(body, known)), anew);
}

fn with_tools(before: &str, tools: &str, behind: &str) -> Bytes {
    Bytes::from(format!(
        r#"{{"model":{before},"tools":{tools},"system":{behind}}}"#
    ))
}

/// A list long enough to be remembered.
fn tools() -> impl Strategy<Value = Value> {
    let description =
        prop::collection::vec(text(), 10..80).prop_map(|texts| texts.concat() + &"\\\"".repeat(600));
    let tool = (any_json(), description, any_json())
        .prop_map(|(name, description, schema)| json!({"name": name, "description": description, "input_schema": schema}));
    prop::collection::vec(tool, 1..4).prop_map(Value::from)
}

proptest! {
    #[test]
    fn index_is_the_same_whatever_list_came_before(
        lists in prop::collection::vec(tools(), 2..7),
        surroundings in prop::collection::vec((any_json(), any_json()), 2..7),
        cut in any::<prop::sample::Index>(),
        other in any::<(prop::sample::Index, u8)>(),
    ) {
        let known = KnownTools::default();
        for _ in 0..2 {
            for (list, (before, behind)) in lists.iter().zip(&surroundings) {
                let body = with_tools(&before.to_string(), &list.to_string(), &behind.to_string());
                assert_same(&body, &known);
                // Known now, and somewhere else.
                let body = with_tools(&behind.to_string(), &list.to_string(), &before.to_string());
                assert_same(&body, &known);
                assert_same(&body.slice(..cut.index(body.len())), &known);
                let mut changed = body.to_vec();
                changed[other.0.index(body.len())] = other.1;
                assert_same(&changed.into(), &known);
            }
        }
    }
}

/// A list whose strings hold runs of backslashes lies across blocks of the scanner in every way.
#[test]
fn escapes_across_the_end_of_a_known_list_are_read_rightly() {
    let backslashes = r"\\".repeat(700);
    for tail in ["", "x", r#"\""#, r"\n", r"\\\\", r"\u005c"] {
        let known = KnownTools::default();
        let list = format!(r#"[{{"name":"a","description":"{backslashes}{tail}"}}]"#);
        assert!(RequestIndex::parse_knowing(&with_tools("0", &list, "0"), &known).is_ok());
        for shift in 0..140 {
            let before = format!("\"{}\"", "x".repeat(shift));
            for behind in ["0", r#""a\n\\""#, r#"["\\\"]"]"#, r#""\x""#] {
                assert_same(&with_tools(&before, &list, behind), &known);
            }
        }
    }
}

#[test]
fn known_list_does_not_hide_what_follows_it() {
    let known = KnownTools::default();
    let list = json!([{"name": "a", "description": "x".repeat(2000)}]).to_string();
    assert!(RequestIndex::parse_knowing(&with_tools("0", &list, "0"), &known).is_ok());
    for behind in [r#"0,"tools":[]"#, "0}", "", "[", r#""open"#] {
        let body = with_tools("0", &list, behind);
        assert!(RequestIndex::parse(&body).is_err(), "{behind}");
        assert_same(&body, &known);
    }
    // The block that the list ends in lies in view before what is behind the list was looked at.
    let numbers = format!("[{{\"name\":\"{}\"}}{}]", "a".repeat(1200), ",1".repeat(100));
    assert!(RequestIndex::parse_knowing(&with_tools("0", &numbers, "0"), &known).is_ok());
    for behind in ["!\"\\x\"}", "}\\x", "\\}"] {
        assert_same(&Bytes::from(format!("{{\"tools\":{numbers}{behind}")), &known);
    }
    let glued = Bytes::from(format!(r#"{{"tools":{list}{list}}}"#));
    assert!(RequestIndex::parse(&glued).is_err());
    assert_same(&glued, &known);
    let first = RequestIndex::parse_knowing(&with_tools(r#""there""#, &list, "0"), &known).unwrap();
    assert_eq!(
        first.first_tool().and_then(|tool| tool.name()).as_deref(),
        Some("a")
    );
    assert_eq!(first.tool_count(), 1);
}
