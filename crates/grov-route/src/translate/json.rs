//! A JSON tree that keeps the order of keys and parses only the levels that are looked into.

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// A JSON value. Values that no one looked into are written as they were read.
#[derive(Debug)]
pub(crate) enum Json<'a> {
    /// The text of a value that is not parsed yet.
    Raw(&'a RawValue),
    /// A number, a boolean or null.
    Scalar(serde_json::Value),
    /// A string.
    Text(Cow<'a, str>),
    /// An array.
    Array(Vec<Json<'a>>),
    /// An object.
    Object(Object<'a>),
}

/// The entries of an object, in order.
#[derive(Debug, Default)]
pub(crate) struct Object<'a>(Vec<(Cow<'a, str>, Json<'a>)>);

impl<'a> Json<'a> {
    /// Converts a parsed value.
    pub(crate) fn owned(value: serde_json::Value) -> Self {
        match value {
            serde_json::Value::String(text) => Self::Text(Cow::Owned(text)),
            serde_json::Value::Array(items) => Self::Array(items.into_iter().map(Self::owned).collect()),
            serde_json::Value::Object(entries) => Self::Object(Object(
                entries
                    .into_iter()
                    .map(|(key, value)| (Cow::Owned(key), Self::owned(value)))
                    .collect(),
            )),
            scalar => Self::Scalar(scalar),
        }
    }

    /// A string.
    pub(crate) fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text(text.into())
    }

    /// An object with these entries.
    pub(crate) fn object<const N: usize>(entries: [(&'static str, Json<'a>); N]) -> Self {
        Self::Object(Object(
            entries
                .into_iter()
                .map(|(key, value)| (Cow::Borrowed(key), value))
                .collect(),
        ))
    }

    /// Parses one level of a raw container or string.
    fn open(&mut self) {
        let Self::Raw(raw) = self else { return };
        let raw: &'a RawValue = raw;
        // A raw value is valid JSON, so only a key or text with a lone surrogate fails; it then stays raw.
        let opened = match raw.get().as_bytes().first() {
            Some(b'{') => serde_json::from_str::<Object<'a>>(raw.get()).map(Self::Object),
            Some(b'[') => serde_json::from_str::<Items<'a>>(raw.get()).map(|items| Self::Array(items.0)),
            Some(b'"') => serde_json::from_str::<Text<'a>>(raw.get()).map(|text| Self::Text(text.0)),
            _ => serde_json::from_str(raw.get()).map(Self::Scalar),
        };
        if let Ok(opened) = opened {
            *self = opened;
        }
    }

    /// The object, if it is one.
    pub(crate) fn as_object(&mut self) -> Option<&mut Object<'a>> {
        self.open();
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The array, if it is one.
    pub(crate) fn as_array(&mut self) -> Option<&mut Vec<Json<'a>>> {
        self.open();
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The string, if it is one.
    pub(crate) fn as_text(&mut self) -> Option<&str> {
        self.open();
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The non-negative integer, if it is one.
    pub(crate) fn as_u64(&mut self) -> Option<u64> {
        self.open();
        match self {
            Self::Scalar(value) => value.as_u64(),
            _ => None,
        }
    }

    /// Takes the string out, if it is one.
    pub(crate) fn into_text(mut self) -> Option<Cow<'a, str>> {
        self.open();
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl From<bool> for Json<'_> {
    fn from(value: bool) -> Self {
        Self::Scalar(value.into())
    }
}

impl From<u64> for Json<'_> {
    fn from(value: u64) -> Self {
        Self::Scalar(value.into())
    }
}

impl<'a> Object<'a> {
    /// The value of a key. Of repeated keys the last one counts.
    pub(crate) fn get(&mut self, key: &str) -> Option<&mut Json<'a>> {
        self.0
            .iter_mut()
            .rev()
            .find(|entry| entry.0 == key)
            .map(|entry| &mut entry.1)
    }

    /// Whether there is such a key.
    pub(crate) fn contains(&self, key: &str) -> bool {
        self.0.iter().any(|entry| entry.0 == key)
    }

    /// Sets the value of a key, at its old place if it has one.
    pub(crate) fn set(&mut self, key: impl Into<Cow<'a, str>>, value: Json<'a>) {
        let key = key.into();
        match self.get(&key) {
            Some(old) => *old = value,
            None => self.0.push((key, value)),
        }
    }

    /// Appends an entry whose key is known to be new.
    pub(crate) fn push(&mut self, key: &'static str, value: Json<'a>) {
        self.0.push((Cow::Borrowed(key), value));
    }

    /// Removes a key and returns its value.
    pub(crate) fn remove(&mut self, key: &str) -> Option<Json<'a>> {
        let at = self.0.iter().rposition(|entry| entry.0 == key)?;
        let value = self.0.remove(at).1;
        self.0.retain(|entry| entry.0 != key);
        Some(value)
    }

    /// Keeps the entries for which `keep` is true.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&str, &mut Json<'a>) -> bool) {
        self.0.retain_mut(|(key, value)| keep(key, value));
    }

    /// The entries in order.
    pub(crate) fn entries(&mut self) -> impl Iterator<Item = (&str, &mut Json<'a>)> {
        self.0.iter_mut().map(|(key, value)| {
            let key: &Cow<'a, str> = key;
            (key.as_ref(), value)
        })
    }

    /// Takes the entries out, in order.
    pub(crate) fn into_entries(self) -> impl Iterator<Item = (Cow<'a, str>, Json<'a>)> {
        self.0.into_iter()
    }
}

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Raw(raw) => raw.serialize(serializer),
            Self::Scalar(value) => value.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Array(items) => {
                let mut sequence = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    sequence.serialize_element(item)?;
                }
                sequence.end()
            }
            Self::Object(object) => {
                let mut map = serializer.serialize_map(Some(object.0.len()))?;
                for (key, value) in &object.0 {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

/// A string that borrows from the input where it can.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

struct Items<'a>(Vec<Json<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for Items<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visit;
        impl<'de> Visitor<'de> for Visit {
            type Value = Items<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut items = Vec::new();
                while let Some(raw) = seq.next_element::<&'de RawValue>()? {
                    items.push(Json::Raw(raw));
                }
                Ok(Items(items))
            }
        }
        deserializer.deserialize_seq(Visit)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visit;
        impl<'de> Visitor<'de> for Visit {
            type Value = Object<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some((key, raw)) = map.next_entry::<Text<'de>, &'de RawValue>()? {
                    entries.push((key.0, Json::Raw(raw)));
                }
                Ok(Object(entries))
            }
        }
        deserializer.deserialize_map(Visit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_numbers_and_untouched_text_survive() {
        let text = r#"{"z":1.10,"a":{"y":9007199254740993123,"b":[1e3, "\u0041"]},"m":null}"#;
        let mut value = Json::Raw(serde_json::from_str(text).unwrap());
        let object = value.as_object().unwrap();
        assert!(
            object
                .get("a")
                .unwrap()
                .as_object()
                .unwrap()
                .remove("absent")
                .is_none()
        );
        object.set("m", Json::from(true));
        object.push("new", Json::text("x"));
        assert_eq!(
            serde_json::to_string(&value).unwrap(),
            r#"{"z":1.10,"a":{"y":9007199254740993123,"b":[1e3, "\u0041"]},"m":true,"new":"x"}"#
        );
    }

    #[test]
    fn deep_nesting_is_not_walked() {
        let text = format!("{{\"a\":{}{}}}", "[".repeat(200_000), "]".repeat(200_000));
        let mut value = Json::Raw(serde_json::from_str(&text).unwrap());
        assert!(value.as_object().unwrap().contains("a"));
        assert_eq!(serde_json::to_string(&value).unwrap(), text);
    }
}
