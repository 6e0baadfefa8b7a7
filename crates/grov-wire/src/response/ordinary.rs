//! An ordinary message that is one JSON document, read in a single pass.
//!
//! What the parts mean is said where the lenient reading says it; here they are only found. Whatever is not as usual
//! (faults of grammar or encoding, a key twice or with escapes, an error, a block that is none) is not judged here:
//! the answer is `None`, and the lenient reading finds what the body amounts to.

use super::event::{self, Message, Raw, RawBlock, RawCacheCreation, RawServerToolUse, RawUsage};
use super::turn::{Block, Usage};
use crate::json::{Kind, Scanner};

/// A whole message, its content and usage read.
#[derive(Debug)]
pub(super) struct Ordinary<'a> {
    /// Its fields as they stand. An absent one may be `null` here, which is read as the same.
    pub(super) message: Message<'a>,
    /// What its `content` holds.
    pub(super) blocks: Vec<Block>,
    /// What its `usage` says.
    pub(super) usage: Usage,
}

/// Reads a body; `None` where it is no message, or not an ordinary one.
pub(super) fn read(body: &[u8]) -> Option<Ordinary<'_>> {
    let text = simdutf8::basic::from_utf8(body).ok()?;
    let mut pass = Pass {
        text,
        scanner: Scanner::new(body).ok()?,
    };
    let mut message = Message::default();
    let mut blocks = Vec::new();
    let mut usage = Usage::default();
    pass.object(|pass, key| match key {
        "type" => pass.keep(&mut message.kind),
        "id" => pass.keep(&mut message.id),
        "model" => pass.keep(&mut message.model),
        "role" => pass.keep(&mut message.role),
        "stop_reason" => pass.keep(&mut message.stop_reason),
        "stop_sequence" => pass.keep(&mut message.stop_sequence),
        "content" => {
            let content = pass.spanned(|pass| pass.blocks(&mut blocks))?;
            once(&mut message.content, content)
        }
        "usage" => {
            let raw = pass.spanned(|pass| pass.usage(&mut usage))?;
            once(&mut message.usage, raw)
        }
        "error" => None,
        _ => pass.skip(),
    })?;
    pass.scanner.finish().ok()?;
    let is_message = event::text(message.kind).as_deref() == Some("message") && message.content.is_some();
    is_message.then_some(Ordinary {
        message,
        blocks,
        usage,
    })
}

/// Puts a value where none has been.
fn once<'a>(slot: &mut Option<Raw<'a>>, raw: Raw<'a>) -> Option<()> {
    slot.replace(raw).is_none().then_some(())
}

/// The scanner, and the document for looking at what it found.
struct Pass<'a> {
    text: &'a str,
    scanner: Scanner<'a>,
}

impl<'a> Pass<'a> {
    fn blocks(&mut self, blocks: &mut Vec<Block>) -> Option<()> {
        if self.scanner.kind() != Kind::Array {
            return None;
        }
        self.scanner.enter();
        let mut first = true;
        while self.scanner.next_element(&mut first).ok()? {
            let mut block = RawBlock::default();
            let raw = self.spanned(|pass| {
                pass.object(|pass, key| match key {
                    "type" => pass.keep(&mut block.kind),
                    "text" => pass.keep(&mut block.text),
                    "thinking" => pass.keep(&mut block.thinking),
                    "id" => pass.keep(&mut block.id),
                    "name" => pass.keep(&mut block.name),
                    "input" => pass.keep(&mut block.input),
                    _ => pass.skip(),
                })
            })?;
            blocks.push(event::block_of(&block, raw, true)?);
        }
        Some(())
    }

    fn usage(&mut self, usage: &mut Usage) -> Option<()> {
        let mut counts = RawUsage::default();
        let mut lifetimes = RawCacheCreation::default();
        let mut tools = RawServerToolUse::default();
        self.object(|pass, key| match key {
            "input_tokens" => pass.keep(&mut counts.input_tokens),
            "output_tokens" => pass.keep(&mut counts.output_tokens),
            "cache_read_input_tokens" => pass.keep(&mut counts.cache_read_input_tokens),
            "cache_creation_input_tokens" => pass.keep(&mut counts.cache_creation_input_tokens),
            "cache_creation" => {
                let raw = pass.object_or_other(|pass, key| match key {
                    "ephemeral_5m_input_tokens" => pass.keep(&mut lifetimes.ephemeral_5m_input_tokens),
                    "ephemeral_1h_input_tokens" => pass.keep(&mut lifetimes.ephemeral_1h_input_tokens),
                    _ => pass.skip(),
                })?;
                once(&mut counts.cache_creation, raw)
            }
            "server_tool_use" => {
                let raw = pass.object_or_other(|pass, key| match key {
                    "web_search_requests" => pass.keep(&mut tools.web_search_requests),
                    "web_fetch_requests" => pass.keep(&mut tools.web_fetch_requests),
                    _ => pass.skip(),
                })?;
                once(&mut counts.server_tool_use, raw)
            }
            _ => pass.skip(),
        })?;
        usage.take_over(&counts, &lifetimes, &tools);
        Some(())
    }

    /// Passes an object; `field` gets each key and passes its value.
    #[inline]
    fn object(&mut self, mut field: impl FnMut(&mut Self, &'a str) -> Option<()>) -> Option<()> {
        if self.scanner.kind() != Kind::Object {
            return None;
        }
        self.scanner.enter();
        let mut first = true;
        while let Some(key) = self.scanner.next_key(&mut first).ok()? {
            let key = self.text.get(key.range())?;
            if key.as_bytes().contains(&b'\\') {
                return None;
            }
            field(self, key)?;
        }
        Some(())
    }

    /// As [`Self::object`], but passes a value of another type as well. What it is as it stands.
    #[inline]
    fn object_or_other(&mut self, field: impl FnMut(&mut Self, &'a str) -> Option<()>) -> Option<Raw<'a>> {
        self.spanned(|pass| match pass.scanner.kind() {
            Kind::Object => pass.object(field),
            _ => pass.skip(),
        })
    }

    /// What `passing` passes, as it stands.
    #[inline]
    fn spanned(&mut self, passing: impl FnOnce(&mut Self) -> Option<()>) -> Option<Raw<'a>> {
        // The kind does not matter: asking for it passes the white space.
        self.scanner.kind();
        let start = self.scanner.offset() as usize;
        passing(self)?;
        self.text.get(start..self.scanner.offset() as usize).map(Raw)
    }

    /// Passes the value of a key that may come once.
    #[inline]
    fn keep(&mut self, slot: &mut Option<Raw<'a>>) -> Option<()> {
        let value = self.scanner.skip_value().ok()?;
        once(slot, Raw(self.text.get(value.range())?))
    }

    /// Passes the value of a key that nobody reads.
    #[inline]
    fn skip(&mut self) -> Option<()> {
        self.scanner.skip_value().ok().map(drop)
    }
}

#[cfg(test)]
mod tests;
