//! Edits of a JSON body by position: everything that is not edited keeps its bytes.

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// The fields of a JSON object in their order, repeated names included. Values are slices of the input.
pub(crate) struct Fields<'a>(pub(crate) Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Fields<'a> {
    /// Parses an object; `None` if `json` is something else or invalid.
    pub(crate) fn parse(json: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(json).ok()
    }

    /// The values of every field called `name`.
    pub(crate) fn named(&self, name: &str) -> impl Iterator<Item = &'a RawValue> {
        self.0
            .iter()
            .filter(move |(field, _)| field == name)
            .map(|(_, value)| *value)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldsVisitor;

        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(name) = map.next_key::<&'de RawValue>()? {
                    fields.push((lenient_text(name).unwrap_or_default(), map.next_value()?));
                }
                Ok(Fields(fields))
            }
        }

        deserializer.deserialize_map(FieldsVisitor)
    }
}

/// The text of a JSON string, with U+FFFD in place of each surrogate without its partner; `None` if the value is no string.
pub(crate) fn lenient_text(value: &RawValue) -> Option<Cow<'_, str>> {
    let raw = value.get();
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains('\\') {
        return Some(Cow::Borrowed(inner));
    }
    let text = serde_json::from_str::<String>(raw).or_else(|_| {
        let mut json = serde_json::Deserializer::from_str(raw);
        json.deserialize_byte_buf(SurrogatesVisitor)
    });
    text.ok().map(Cow::Owned)
}

/// Reads a string as bytes: there, the parser keeps surrogates that a `String` cannot hold.
struct SurrogatesVisitor;

impl Visitor<'_> for SurrogatesVisitor {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<String, E> {
        let mut text = String::with_capacity(bytes.len());
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            // The bytes of a surrogate are invalid one by one; only the first is no continuation.
            if chunk.invalid().first().is_some_and(|byte| byte & 0xC0 != 0x80) {
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        Ok(text)
    }
}

/// A replacement of part of a body.
pub(crate) struct Edit {
    pub(crate) range: Range<usize>,
    pub(crate) text: String,
}

impl Edit {
    /// Replaces `part`, a slice of `body`; `None` if it is not one.
    pub(crate) fn replace(body: &[u8], part: &RawValue, text: String) -> Option<Self> {
        let part = part.get();
        let start = (part.as_ptr() as usize).checked_sub(body.as_ptr() as usize)?;
        let range = start..start.checked_add(part.len())?;
        (range.end <= body.len()).then_some(Self { range, text })
    }
}

/// The body with all edits, which must be in the order of their positions and must not overlap.
pub(crate) fn apply(body: &[u8], edits: &[Edit]) -> Vec<u8> {
    let added: usize = edits.iter().map(|edit| edit.text.len()).sum();
    let mut edited = Vec::with_capacity(body.len() + added);
    let mut position = 0;
    for edit in edits {
        edited.extend_from_slice(body.get(position..edit.range.start).unwrap_or_default());
        edited.extend_from_slice(edit.text.as_bytes());
        position = edit.range.end;
    }
    edited.extend_from_slice(body.get(position..).unwrap_or_default());
    edited
}

/// Replaces the value of `model` at the top of a request, for a provider that speaks the Messages API itself. All other bytes stay as
/// they are. `None` if the body is not an object with a model.
pub fn with_model(body: &[u8], model: &str) -> Option<Vec<u8>> {
    let fields = Fields::parse(body)?;
    let text = serde_json::to_string(model).ok()?;
    let edits: Option<Vec<Edit>> = fields
        .named("model")
        .map(|value| Edit::replace(body, value, text.clone()))
        .collect();
    let edits = edits.filter(|edits| !edits.is_empty())?;
    Some(apply(body, &edits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_model_changes() {
        let body = br#"{ "model" : "claude-haiku-4-5" ,"n":1.0e2,"messages":[{"model":"x"}]}"#;
        let edited = with_model(body, "qwen \"3\"").unwrap();
        let expected = br#"{ "model" : "qwen \"3\"" ,"n":1.0e2,"messages":[{"model":"x"}]}"#;
        assert_eq!(String::from_utf8(edited).unwrap().as_bytes(), expected);
    }

    #[test]
    fn a_repeated_model_is_replaced_everywhere() {
        let edited = with_model(br#"{"model":"a","model":"b"}"#, "c").unwrap();
        assert_eq!(edited, br#"{"model":"c","model":"c"}"#);
    }

    #[test]
    fn other_bodies_are_refused() {
        for body in ["", "[]", "{", r#"{"messages":[]}"#, r#""model""#] {
            assert_eq!(with_model(body.as_bytes(), "c"), None, "{body}");
        }
    }
}
