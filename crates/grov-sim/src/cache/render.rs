//! The prompt in the cache's view: a list of blocks, each with the hash of everything up to it.

use super::Ttl;
use crate::json::Json;
use crate::request::{MessagesRequest, is_type};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// Tokens of an image, whatever its size.
const IMAGE_TOKENS: u64 = 1600;
/// Bytes of a block's canonical form per token.
const BYTES_PER_TOKEN: u64 = 4;

/// The part of the prompt that a block belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// A tool's definition.
    Tools,
    /// The system prompt.
    System,
    /// The conversation.
    Messages,
}

/// One block of a rendered prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderedBlock {
    /// Where it belongs.
    pub level: Level,
    /// Estimated tokens.
    pub tokens: u64,
    /// Hash of the block itself and its role; equal for blocks that render alike.
    pub content: u128,
    /// Hash of the prompt up to and including this block.
    pub prefix: u128,
    /// The breakpoint on it, if there is one.
    pub breakpoint: Option<Ttl>,
    /// Its description for people: `messages[3].user tool_result`.
    pub label: String,
    tokens_through: u64,
}

/// A prompt as a list of blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderedPrompt {
    /// The model.
    pub model: String,
    /// The blocks, tools first.
    pub blocks: Vec<RenderedBlock>,
}

impl RenderedPrompt {
    /// Renders a request. Equivalent forms render alike: a string and the array of its one text block, any order of a
    /// block's own keys, and consecutive messages of one role. The order of keys inside a tool's input matters.
    pub fn of(request: &MessagesRequest) -> Self {
        let mut renderer = Renderer {
            hash: Xxh3::new(),
            tokens: 0,
            blocks: Vec::new(),
        };
        let body = &request.body;
        let effort = body.get("output_config").and_then(|config| config.get("effort"));
        renderer.mix(&[
            Some(&Json::from(request.model.as_str())),
            effort,
            body.get("speed"),
        ]);
        for (at, tool) in request.tools.iter().enumerate() {
            let name = tool.get_str("name").unwrap_or_default();
            renderer.push(Level::Tools, "", tool, format!("tools[{at}] {name}"));
        }
        for (at, block) in request.system.iter().enumerate() {
            renderer.push(Level::System, "", block, format!("system[{at}]"));
        }
        let images = Json::Bool(
            request
                .messages
                .iter()
                .flat_map(|message| &message.blocks)
                .any(has_image),
        );
        renderer.mix(&[body.get("tool_choice"), body.get("thinking"), Some(&images)]);
        for (at, message) in request.messages.iter().enumerate() {
            let role = message.role.as_str();
            for block in &message.blocks {
                let kind = block.get_str("type").unwrap_or_default();
                renderer.push(
                    Level::Messages,
                    role,
                    block,
                    format!("messages[{at}].{role} {kind}"),
                );
            }
        }
        if let Some(control) = body.get("cache_control")
            && let Some(last) = renderer.blocks.last_mut()
        {
            last.breakpoint = last.breakpoint.or(Some(ttl(control)));
        }
        Self {
            model: request.model.clone(),
            blocks: renderer.blocks,
        }
    }

    /// Tokens of the whole prompt.
    pub fn tokens(&self) -> u64 {
        self.blocks.last().map_or(0, |block| block.tokens_through)
    }

    /// Tokens up to and including the block at `index`; all of them past the end.
    pub fn tokens_through(&self, index: usize) -> u64 {
        self.blocks
            .get(index)
            .map_or_else(|| self.tokens(), |block| block.tokens_through)
    }

    /// Index and lifetime of the breakpoints, in order.
    pub fn breakpoints(&self) -> impl Iterator<Item = (usize, Ttl)> + '_ {
        self.blocks
            .iter()
            .enumerate()
            .filter_map(|(at, block)| Some((at, block.breakpoint?)))
    }
}

struct Renderer {
    hash: Xxh3,
    tokens: u64,
    blocks: Vec<RenderedBlock>,
}

impl Renderer {
    fn mix(&mut self, parameters: &[Option<&Json>]) {
        for parameter in parameters {
            let text = parameter.map(Json::to_string).unwrap_or_default();
            self.hash.update(&(text.len() as u64).to_le_bytes());
            self.hash.update(text.as_bytes());
        }
    }

    fn push(&mut self, level: Level, role: &str, block: &Json, label: String) {
        let canonical = canonical(block).to_string();
        let tokens = match is_type(block, "image") {
            true => IMAGE_TOKENS,
            false => (canonical.len() as u64).div_ceil(BYTES_PER_TOKEN),
        };
        let content = xxh3_128(format!("{role}\n{canonical}").as_bytes());
        self.hash.update(&content.to_le_bytes());
        self.tokens += tokens;
        self.blocks.push(RenderedBlock {
            level,
            tokens,
            content,
            prefix: self.hash.digest128(),
            breakpoint: block
                .get("cache_control")
                .filter(|control| **control != Json::Null)
                .map(ttl),
            label,
            tokens_through: self.tokens,
        });
    }
}

fn ttl(control: &Json) -> Ttl {
    match control.get_str("ttl") {
        Some("1h") => Ttl::Hour,
        _ => Ttl::FiveMinutes,
    }
}

fn has_image(block: &Json) -> bool {
    let inside = block.get("content").and_then(Json::as_array);
    is_type(block, "image") || inside.is_some_and(|blocks| blocks.iter().any(has_image))
}

/// The block without `cache_control`, its own keys sorted, a tool result's string as a text block.
fn canonical(block: &Json) -> Json {
    let Json::Object(members) = block else {
        return block.clone();
    };
    let mut members: Vec<(String, Json)> = members
        .iter()
        .filter(|(key, _)| key != "cache_control")
        .map(|(key, value)| {
            (
                key.clone(),
                if key == "content" {
                    canonical_content(value)
                } else {
                    value.clone()
                },
            )
        })
        .collect();
    members.sort_by(|(one, _), (other, _)| one.cmp(other));
    Json::Object(members)
}

fn canonical_content(content: &Json) -> Json {
    match content {
        Json::String(text) => Json::Array(vec![Json::object([
            ("text", text.as_str().into()),
            ("type", "text".into()),
        ])]),
        Json::Array(blocks) => Json::Array(blocks.iter().map(canonical).collect()),
        other => other.clone(),
    }
}
