//! The request of the Messages API, as far as it is translated.

use serde::de::value::MapAccessDeserializer;
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// The body of a request. Fields that have no counterpart elsewhere are not read.
#[derive(Debug, Deserialize)]
pub(crate) struct MessagesBody<'a> {
    #[serde(borrow, default)]
    pub(crate) system: Content<'a>,
    #[serde(borrow)]
    pub(crate) messages: Vec<Message<'a>>,
    pub(crate) max_tokens: Option<u64>,
    #[serde(borrow)]
    pub(crate) temperature: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) top_p: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) stop_sequences: Option<Vec<Cow<'a, str>>>,
    pub(crate) stream: Option<bool>,
    #[serde(borrow)]
    pub(crate) tools: Option<Vec<Tool<'a>>>,
    #[serde(borrow)]
    pub(crate) tool_choice: Option<ToolChoice<'a>>,
    #[serde(borrow)]
    pub(crate) thinking: Option<Thinking<'a>>,
    #[serde(borrow)]
    pub(crate) output_config: Option<OutputConfig<'a>>,
}

/// One message.
#[derive(Debug, Deserialize)]
pub(crate) struct Message<'a> {
    #[serde(borrow)]
    pub(crate) role: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) content: Content<'a>,
}

/// A tool. Tools that the API itself runs have a type and no schema.
#[derive(Debug, Deserialize)]
pub(crate) struct Tool<'a> {
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) name: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) description: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) input_schema: Option<&'a RawValue>,
}

/// Which tools the model may or must call.
#[derive(Debug, Deserialize)]
pub(crate) struct ToolChoice<'a> {
    #[serde(borrow, rename = "type", default)]
    pub(crate) kind: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) name: Option<Cow<'a, str>>,
    #[serde(default)]
    pub(crate) disable_parallel_tool_use: bool,
}

/// Whether the model thinks before it answers.
#[derive(Debug, Deserialize)]
pub(crate) struct Thinking<'a> {
    #[serde(borrow, rename = "type", default)]
    pub(crate) kind: Cow<'a, str>,
    pub(crate) budget_tokens: Option<u64>,
}

/// How much effort the model spends.
#[derive(Debug, Deserialize)]
pub(crate) struct OutputConfig<'a> {
    #[serde(borrow)]
    pub(crate) effort: Option<Cow<'a, str>>,
}

/// A text, or a list of blocks. Content of another form counts as empty.
#[derive(Debug, Default)]
pub(crate) enum Content<'a> {
    #[default]
    None,
    Text(Cow<'a, str>),
    Blocks(Vec<Block<'a>>),
}

/// A content block of any type. Each type uses some of the fields.
#[derive(Debug, Deserialize)]
pub(crate) struct Block<'a> {
    #[serde(borrow, rename = "type", default)]
    pub(crate) kind: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) text: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) thinking: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) input: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) tool_use_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) content: Content<'a>,
    #[serde(borrow)]
    pub(crate) title: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) source: Source<'a>,
}

/// Where an image or a document is.
#[derive(Debug, Default)]
pub(crate) struct Source<'a> {
    pub(crate) fields: Option<SourceFields<'a>>,
}

/// The fields of a source.
#[derive(Debug, Deserialize)]
pub(crate) struct SourceFields<'a> {
    #[serde(borrow, rename = "type", default)]
    pub(crate) kind: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) media_type: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) data: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) url: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) content: Content<'a>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Source<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visit;
        impl<'de> Visitor<'de> for Visit {
            type Value = Source<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a source")
            }
            // A search result has a plain string here.
            fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
                Ok(Source::default())
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Source::default())
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                let fields = SourceFields::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Source { fields: Some(fields) })
            }
        }
        deserializer.deserialize_any(Visit)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visit;
        impl<'de> Visitor<'de> for Visit {
            type Value = Content<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a list of content blocks")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Content::Text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Content::Text(Cow::Owned(text.to_owned())))
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Content::None)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut blocks = Vec::new();
                while let Some(block) = seq.next_element::<Block<'de>>()? {
                    blocks.push(block);
                }
                Ok(Content::Blocks(blocks))
            }
            // The error of a server tool is an object.
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Content::None)
            }
        }
        deserializer.deserialize_any(Visit)
    }
}
