//! Visits the texts of a request without building a tree.

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// A part of a request that costs tokens.
pub(crate) enum Part<'a> {
    /// A text, or the name of a field that the model sees.
    Text(&'a str),
    /// A number or boolean.
    Literal,
    /// An image.
    Image,
    /// A document of this many encoded characters.
    Document(usize),
}

/// Fields of the protocol whose names the model does not see.
const PROTOCOL: &[&str] = &[
    "content",
    "text",
    "source",
    "input",
    "thinking",
    "input_schema",
    "url",
];

/// Fields of the protocol that the model does not see at all.
const HIDDEN: &[&str] = &[
    "role",
    "id",
    "tool_use_id",
    "cache_control",
    "signature",
    "is_error",
];

/// Fields with data of a tool, which is no content block whatever it looks like.
const TOOL_DATA: &[&str] = &["input", "input_schema"];

/// Visits the parts of a JSON value of a request.
pub(crate) struct Scan<'s> {
    /// Called with each part.
    sink: &'s mut dyn FnMut(Part<'_>),
    /// Whether objects are content blocks.
    blocks: bool,
}

impl<'s> Scan<'s> {
    /// Of messages or the system prompt.
    pub(crate) fn content(sink: &'s mut dyn FnMut(Part<'_>)) -> Self {
        Self { sink, blocks: true }
    }

    /// Of definitions of tools.
    pub(crate) fn tools(sink: &'s mut dyn FnMut(Part<'_>)) -> Self {
        Self { sink, blocks: false }
    }

    /// Visits a value. An invalid one ends early.
    pub(crate) fn visit(self, json: &RawValue) {
        let mut deserializer = serde_json::Deserializer::from_str(json.get());
        // The parts before an error are enough for an estimate.
        let _ = self.deserialize(&mut deserializer);
    }

    fn inner(&mut self, blocks: bool) -> Scan<'_> {
        Scan {
            sink: self.sink,
            blocks: self.blocks && blocks,
        }
    }
}

impl<'de> DeserializeSeed<'de> for Scan<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

/// A name, borrowed unless it contains escapes.
#[derive(serde::Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Visitor<'de> for Scan<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        (self.sink)(Part::Literal);
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        (self.sink)(Part::Literal);
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        (self.sink)(Part::Literal);
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        (self.sink)(Part::Literal);
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        (self.sink)(Part::Text(text));
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(self.inner(true))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        let mut block = Block::default();
        while let Some(Name(name)) = map.next_key()? {
            let name = name.as_ref();
            if self.blocks && block.read(name, &mut map)? {
                continue;
            }
            if self.blocks && HIDDEN.contains(&name) {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            if !PROTOCOL.contains(&name) {
                (self.sink)(Part::Text(name));
            }
            map.next_value_seed(self.inner(!TOOL_DATA.contains(&name)))?;
        }
        if block.is_image {
            (self.sink)(Part::Image);
        } else if block.data > 0 && !block.is_picture {
            (self.sink)(Part::Document(block.data));
        }
        Ok(())
    }
}

/// The fields of a content block or of its source that say what it is.
#[derive(Default)]
struct Block {
    is_image: bool,
    is_picture: bool,
    data: usize,
}

impl Block {
    /// Reads the value of a field that says what the block is; returns whether it was one.
    fn read<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<bool, A::Error> {
        match name {
            "type" => self.is_image = map.next_value::<&RawValue>()?.get() == "\"image\"",
            "media_type" => self.is_picture = map.next_value::<&RawValue>()?.get().starts_with("\"image/"),
            "data" => self.data = map.next_value::<&RawValue>()?.get().len(),
            _ => return Ok(false),
        }
        Ok(true)
    }
}
