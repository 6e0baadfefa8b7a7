//! A cache of parsed requests. A client sends the whole conversation and the same tools with each request. Comparing the
//! repeated part with an earlier request takes a fraction of the time of parsing it again.

use super::entry::{BlockEntry, ContentEntry, MessageEntry, SystemEntry, ToolEntry};
use super::index::RequestIndex;
use super::link::Link;
use crate::json::Span;
use std::fmt;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// Maximum number of cached requests: a conversation, its subagents, and one or two other conversations.
const MAX_REQUESTS: usize = 8;

/// Minimum size of a cached request, in bytes.
const MIN_BYTES: usize = 4 * 1024;

/// Maximum size of a cached request, in bytes.
const MAX_BYTES: usize = 2 * 1024 * 1024;

/// Maximum number of top-level fields of a cached request. Those of Claude Code have ten.
const MAX_FIELDS: usize = 64;

/// Maximum size of all cached requests and their indexes, in bytes.
const MAX_TOTAL: usize = 4 * 1024 * 1024;

/// A request is cached only if at least its length divided by this was parsed.
const MIN_PARSED_DIVISOR: usize = 8;

/// Bytes compared at a time.
const STEP: usize = 1024;

/// Bytes at the end of a value that are compared first: different values more often start alike than end alike.
const END: usize = 64;

/// A cache of recent requests for [`RequestIndex::parse_with_cache`].
///
/// It keeps the bodies and indexes of at most 8 requests of 4 KiB to 2 MiB, 4 MiB in total. It can be shared between threads.
#[derive(Default)]
pub struct RequestCache {
    /// Newest first.
    newest: RwLock<Vec<Arc<CachedRequest>>>,
}

/// A parsed request.
pub(super) struct CachedRequest {
    index: RequestIndex,
    /// The offset of the array `messages`.
    messages: Option<u32>,
    /// The array `tools`.
    tools: Option<Span>,
    /// The array `system`.
    system: Option<Span>,
    /// The links of the skeleton, computed when first needed.
    links: OnceLock<Vec<Link>>,
}

/// The leading messages that a request has in common with a cached one.
#[derive(Clone)]
pub(super) struct CachedPrefix {
    request: Arc<CachedRequest>,
    /// The number of messages, at least 1.
    count: usize,
    /// The offset of the array `messages`.
    pub(super) start: u32,
    /// The offset after the last common message.
    pub(super) end: u32,
}

/// The prefix that an index took from the cache. Not part of its `Debug` output, because it does not describe the request.
#[derive(Clone, Default)]
pub(super) struct SharedPrefix(pub(super) Option<CachedPrefix>);

/// A cached value found in another request.
pub(super) struct CachedValue<T> {
    /// The length of its text, in bytes.
    pub(super) length: usize,
    /// The value, with the offsets of the new request.
    pub(super) value: T,
}

impl fmt::Debug for RequestCache {
    /// Omits the bodies, which are private.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestCache").finish_non_exhaustive()
    }
}

impl fmt::Debug for SharedPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedPrefix")
    }
}

impl RequestCache {
    /// Returns the longest prefix of messages that `body` has in common with a cached request.
    pub(super) fn longest_prefix(&self, body: &[u8]) -> Option<CachedPrefix> {
        let newest = self.newest.read().unwrap_or_else(PoisonError::into_inner);
        let mut longest: Option<(&Arc<CachedRequest>, usize)> = None;
        for cached in newest.iter() {
            let common = common(&cached.index.body, body);
            if longest.is_none_or(|(_, length)| common > length) {
                longest = Some((cached, common));
            }
            // Parsing the rest is faster than looking for a longer prefix.
            if common > body.len() / 2 {
                break;
            }
        }
        let (cached, common) = longest?;
        cached.prefix(common)
    }

    /// Returns the number of tools and the first one, if the text starts with a cached array of tools.
    pub(super) fn tools(&self, text: &[u8], offset: u32) -> Option<CachedValue<(usize, Option<ToolEntry>)>> {
        let newest = self.newest.read().unwrap_or_else(PoisonError::into_inner);
        newest.iter().find_map(|cached| {
            let tools = cached.tools.filter(|tools| cached.is_prefix(text, *tools))?;
            let index = &cached.index;
            let moved = |at| at - tools.start + offset;
            Some(CachedValue {
                length: tools.range().len(),
                value: (index.tools, index.first_tool.map(|tool| tool.moved(moved))),
            })
        })
    }

    /// Caches a request of which `parsed` bytes were not in the cache, if that is worthwhile. It replaces the request that it
    /// continues.
    pub(super) fn insert(&self, index: &RequestIndex, parsed: usize) {
        let length = index.body.len();
        let mut total = CachedRequest::size(index);
        let is_fit = (MIN_BYTES..=MAX_BYTES).contains(&length)
            && total <= MAX_TOTAL
            && index.fields.len() <= MAX_FIELDS;
        if !is_fit || parsed < MIN_BYTES.max(length / MIN_PARSED_DIVISOR) {
            return;
        }
        let cached = Arc::new(CachedRequest::new(index));
        let mut newest = self.newest.write().unwrap_or_else(PoisonError::into_inner);
        let mut kept = vec![cached];
        let older = std::mem::take(&mut *newest);
        for cached in &older {
            let is_continued = index
                .shared_prefix
                .0
                .as_ref()
                .is_some_and(|prefix| prefix.continues(cached));
            let size = CachedRequest::size(&cached.index);
            if !is_continued && kept.len() < MAX_REQUESTS && total + size <= MAX_TOTAL {
                total += size;
                kept.push(Arc::clone(cached));
            }
        }
        *newest = kept;
        // Free the memory after the lock is released.
        drop(newest);
        drop(older);
    }
}

impl CachedRequest {
    fn new(index: &RequestIndex) -> Self {
        let value = |name| index.fields.get(index.find_field(name)?).map(|field| field.value);
        // Only arrays: they end at their bracket, while a number may continue in another request.
        let list = |name| value(name).filter(|value| index.body.get(value.start as usize) == Some(&b'['));
        Self {
            messages: list("messages").map(|value| value.start),
            tools: list("tools"),
            system: list("system"),
            // Does not keep the request alive that it has a prefix in common with.
            index: RequestIndex {
                shared_prefix: SharedPrefix::default(),
                ..index.clone()
            },
            links: OnceLock::new(),
        }
    }

    /// Returns the memory that an entry takes, in bytes, with a link for each message and block.
    fn size(index: &RequestIndex) -> usize {
        let messages = index.messages.len() * (size_of::<MessageEntry>() + size_of::<Link>());
        let blocks = index.blocks.len() * (size_of::<BlockEntry>() + size_of::<Link>());
        index.body.len() + messages + blocks
    }

    /// Returns the messages that lie completely in the first `bytes` bytes.
    fn prefix(self: &Arc<Self>, bytes: usize) -> Option<CachedPrefix> {
        let messages = &self.index.messages;
        // Including the byte after each message: a number could continue.
        let count = messages.partition_point(|message| (message.span.end as usize) < bytes);
        let last = messages.get(count.checked_sub(1)?)?;
        Some(CachedPrefix {
            count,
            start: self.messages?,
            end: last.span.end,
            request: Arc::clone(self),
        })
    }

    /// Returns whether the text starts with a value of this request.
    fn is_prefix(&self, text: &[u8], value: Span) -> bool {
        let value = self.index.body.get(value.range()).unwrap_or_default();
        let Some(text) = text.get(..value.len()) else {
            return false;
        };
        let end = value.len().saturating_sub(END);
        text.get(end..) == value.get(end..) && text == value
    }
}

impl CachedPrefix {
    /// Returns the messages.
    pub(super) fn messages(&self) -> &[MessageEntry] {
        self.request.index.messages.get(..self.count).unwrap_or_default()
    }

    /// Returns the blocks of the messages.
    pub(super) fn blocks(&self) -> &[BlockEntry] {
        let end = self
            .messages()
            .iter()
            .rev()
            .find_map(|message| match message.content {
                ContentEntry::Blocks { first, count, .. } => Some(first + count),
                ContentEntry::Text(_) | ContentEntry::Other => None,
            });
        let blocks = &self.request.index.blocks;
        blocks.get(..end.unwrap_or_default()).unwrap_or_default()
    }

    /// Returns the number of messages.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns the skeleton links of the messages.
    pub(super) fn links(&self) -> &[Link] {
        let whole = || self.request.index.skeleton().into_links();
        let links = self.request.links.get_or_init(whole);
        let end = links.partition_point(|link| link.message < self.count);
        links.get(..end).unwrap_or_default()
    }

    /// Returns the system prompt, if the text starts with the one of the cached request.
    pub(super) fn system(&self, text: &[u8], offset: u32) -> Option<CachedValue<Vec<BlockEntry>>> {
        let SystemEntry::Blocks(blocks) = &self.request.index.system else {
            return None;
        };
        let value = self
            .request
            .system
            .filter(|value| self.request.is_prefix(text, *value))?;
        let moved = |at| at - value.start + offset;
        Some(CachedValue {
            length: value.range().len(),
            value: blocks.iter().map(|block| block.moved(moved)).collect(),
        })
    }

    /// Returns whether this prefix covers at least half of a cached request.
    fn continues(&self, cached: &Arc<CachedRequest>) -> bool {
        let all = cached.index.messages.last().map_or(0, |last| last.span.end);
        Arc::ptr_eq(&self.request, cached) && self.end >= all / 2
    }
}

/// Returns the length of the common prefix, in bytes.
fn common(one: &[u8], other: &[u8]) -> usize {
    let steps = one.chunks_exact(STEP).zip(other.chunks_exact(STEP));
    let whole = steps.take_while(|(one, other)| one == other).count() * STEP;
    let rest = one.iter().skip(whole).zip(other.iter().skip(whole));
    whole + rest.take(STEP).take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests;
