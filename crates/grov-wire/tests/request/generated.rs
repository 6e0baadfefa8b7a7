//! Random requests, valid and invalid.

use crate::against_value::assert_agrees;
use bytes::Bytes;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Text with characters that need escapes, and with text that looks like JSON or like a reminder.
pub(crate) fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-z ]{0,12}",
        1 => "\\PC{0,6}",
        1 => Just("\"".to_owned()),
        1 => Just("\\".to_owned()),
        1 => Just("\n\t\u{0}\u{1f}".to_owned()),
        1 => Just("]}],{[\"type\":".to_owned()),
        1 => Just("<system-reminder>be kind</system-reminder>".to_owned()),
        1 => Just("x".repeat(70)),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

pub(crate) fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(text(), inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// An object with some of the given fields.
fn object_of(fields: Vec<(&'static str, BoxedStrategy<Value>)>) -> BoxedStrategy<Value> {
    let names: Vec<_> = fields.iter().map(|(name, _)| *name).collect();
    let values: Vec<_> = fields
        .into_iter()
        .map(|(_, value)| prop::option::weighted(0.8, value))
        .collect();
    values
        .prop_map(move |values| {
            let present = names
                .iter()
                .zip(values)
                .filter_map(|(name, value)| Some(((*name).to_owned(), value?)));
            Value::Object(present.collect::<Map<_, _>>())
        })
        .boxed()
}

/// Mostly a valid value, sometimes any JSON.
fn mostly(value: impl Strategy<Value = Value> + 'static) -> BoxedStrategy<Value> {
    prop_oneof![9 => value, 1 => any_json()].boxed()
}

fn string() -> BoxedStrategy<Value> {
    mostly(text().prop_map(Value::from))
}

fn one_of(names: &'static [&'static str]) -> BoxedStrategy<Value> {
    mostly(prop::sample::select(names).prop_map(Value::from))
}

fn block() -> BoxedStrategy<Value> {
    let types = &[
        "text",
        "text",
        "tool_use",
        "tool_result",
        "thinking",
        "redacted_thinking",
        "image",
    ];
    mostly(object_of(vec![
        ("type", one_of(types)),
        ("text", string()),
        ("id", string()),
        ("tool_use_id", string()),
        ("name", string()),
        ("input", any_json().boxed()),
        ("content", any_json().boxed()),
        ("is_error", mostly(any::<bool>().prop_map(Value::from))),
        ("cache_control", mostly(Just(json!({"type": "ephemeral"})))),
        ("citations", any_json().boxed()),
    ]))
}

fn content() -> BoxedStrategy<Value> {
    let blocks = prop::collection::vec(block(), 0..5).prop_map(Value::from);
    prop_oneof![6 => blocks, 3 => string(), 1 => any_json()].boxed()
}

fn message() -> BoxedStrategy<Value> {
    let roles = &["user", "assistant", "system", "critic"];
    mostly(object_of(vec![
        ("role", one_of(roles)),
        ("content", content()),
        ("id", string()),
    ]))
}

/// Messages of a conversation.
pub(crate) fn messages() -> impl Strategy<Value = Vec<Value>> {
    prop::collection::vec(message(), 0..6)
}

fn user_id() -> BoxedStrategy<Value> {
    let document = object_of(vec![("device_id", string()), ("session_id", string())]);
    prop_oneof![
        document.prop_map(|document| Value::from(document.to_string())),
        string()
    ]
    .boxed()
}

fn request_tree() -> BoxedStrategy<Value> {
    let tool = mostly(object_of(vec![
        ("type", string()),
        ("name", string()),
        ("input_schema", any_json().boxed()),
    ]));
    object_of(vec![
        ("model", string()),
        ("messages", mostly(messages().prop_map(Value::from))),
        ("system", content()),
        (
            "tools",
            mostly(prop::collection::vec(tool, 0..4).prop_map(Value::from)),
        ),
        ("tool_choice", any_json().boxed()),
        (
            "metadata",
            mostly(object_of(vec![("user_id", user_id()), ("tag", string())])),
        ),
        ("max_tokens", mostly((0..100_000_u64).prop_map(Value::from))),
        (
            "output_config",
            mostly(object_of(vec![(
                "format",
                mostly(object_of(vec![("type", string())])),
            )])),
        ),
        ("stream", mostly(any::<bool>().prop_map(Value::from))),
        ("betas", any_json().boxed()),
    ])
}

/// A request body with fields in any order, white space anywhere, and any characters escaped.
pub(crate) fn request() -> impl Strategy<Value = Bytes> {
    (request_tree(), any::<u64>()).prop_map(|(tree, noise)| {
        let mut body = String::new();
        Noise(noise).write(&tree, &mut body);
        Bytes::from(body)
    })
}

/// Chooses the style in which a value is written. 0 is the plain style.
pub(crate) struct Noise(pub(crate) u64);

impl Noise {
    /// Returns `true` once in `rarity` calls, but never in the plain style.
    pub(crate) fn happens(&mut self, rarity: u64) -> bool {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % rarity == 1
    }

    fn space(&mut self, to: &mut String) {
        for space in [" ", "\n", "\t", "\r"] {
            if self.happens(6) {
                to.push_str(space);
            }
        }
    }

    pub(crate) fn write(&mut self, value: &Value, to: &mut String) {
        self.space(to);
        match value {
            Value::String(text) => self.write_string(text, to),
            Value::Array(items) => {
                to.push('[');
                for (number, item) in items.iter().enumerate() {
                    if number > 0 {
                        to.push(',');
                    }
                    self.write(item, to);
                }
                self.space(to);
                to.push(']');
            }
            Value::Object(fields) => {
                to.push('{');
                let mut fields: Vec<_> = fields.iter().collect();
                if self.happens(2) {
                    fields.reverse();
                }
                for (number, (key, value)) in fields.into_iter().enumerate() {
                    if number > 0 {
                        to.push(',');
                    }
                    self.space(to);
                    self.write_string(key, to);
                    self.space(to);
                    to.push(':');
                    self.write(value, to);
                }
                self.space(to);
                to.push('}');
            }
            scalar => to.push_str(&scalar.to_string()),
        }
        self.space(to);
    }

    fn write_string(&mut self, text: &str, to: &mut String) {
        to.push('"');
        for character in text.chars() {
            if self.happens(40) {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    to.push_str(&format!("\\u{unit:04x}"));
                }
            } else {
                let quoted = Value::from(character.to_string()).to_string();
                to.push_str(&quoted[1..quoted.len() - 1]);
            }
        }
        to.push('"');
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn index_agrees_with_a_parsed_tree(body in request()) {
        assert_agrees(&body);
    }
}
