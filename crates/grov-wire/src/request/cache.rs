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
mod tests {
    use super::*;
    use bytes::Bytes;

    /// Returns a message of about `bytes` bytes for each letter.
    fn messages(letters: &str, bytes: usize) -> String {
        let message = |letter: char| {
            let text = letter.to_string().repeat(bytes);
            format!(r#"{{"role":"user","content":[{{"type":"text","text":"{text}"}},{{}}]}}"#)
        };
        letters.chars().map(message).collect::<Vec<_>>().join(",")
    }

    fn request(messages: &str, after: &str) -> Bytes {
        Bytes::from(format!(r#"{{"messages":[{messages}]{after}}}"#))
    }

    /// Parses a request. Returns the number of messages that came from the cache.
    fn parse(cache: &RequestCache, body: &Bytes) -> usize {
        let index = RequestIndex::parse_with_cache(body, cache).unwrap();
        index.shared_prefix.0.map_or(0, |beginning| beginning.count)
    }

    /// Returns the lengths of the cached bodies, newest first.
    fn cached_lengths(cache: &RequestCache) -> Vec<usize> {
        let newest = cache.newest.read().unwrap();
        newest.iter().map(|cache| cache.index.body.len()).collect()
    }

    #[test]
    fn messages_before_the_first_change_come_from_the_cache() {
        let cache = RequestCache::default();
        let parse_letters = |letters| parse(&cache, &request(&messages(letters, 2000), ""));
        assert_eq!(parse_letters("abcd"), 0);
        for (letters, count) in [("abcd", 4), ("abcdef", 3), ("abxdef", 2), ("ab", 1), ("xbcd", 0)] {
            assert_eq!(parse_letters(letters), count, "{letters}");
        }
        assert_eq!(super::common(b"", b"ab"), 0);
        for length in [3, STEP - 1, STEP, STEP + 1, 3 * STEP] {
            let text = vec![b'a'; length];
            assert_eq!(common(&text, &[text.as_slice(), b"b"].concat()), length);
            for at in [0, 1, length - 1] {
                let mut changed = text.clone();
                changed[at] = b'b';
                assert_eq!(common(&text, &changed), at);
            }
        }
    }

    #[test]
    fn continued_conversation_replaces_its_earlier_request() {
        let cache = RequestCache::default();
        let mut lengths = Vec::new();
        for letters in ["abcd", "abcdef", "abcdefgh", "abxyzuvw"] {
            let body = request(&messages(letters, 2000), "");
            parse(&cache, &body);
            lengths.push(body.len());
        }
        // The last one differs early, so it is another conversation.
        assert_eq!(cached_lengths(&cache), [lengths[3], lengths[2]]);
    }

    #[test]
    fn short_long_and_repeated_requests_are_not_cached() {
        let cache = RequestCache::default();
        let empty = request(&messages("a", 0), "").len();
        for (length, is_kept) in [
            (MIN_BYTES - 1, false),
            (MIN_BYTES, true),
            (MAX_BYTES, true),
            (MAX_BYTES + 1, false),
        ] {
            let cache = RequestCache::default();
            parse(&cache, &request(&messages("a", length - empty), ""));
            assert_eq!(
                cached_lengths(&cache),
                vec![length; usize::from(is_kept)],
                "{length}"
            );
        }
        let long = messages("abcdefghij", 8_000);
        parse(&cache, &request(&long, ""));
        let before = cached_lengths(&cache);
        parse(&cache, &request(&format!("{long},{}", messages("k", 100)), ""));
        assert_eq!(cached_lengths(&cache), before);
        parse(&cache, &request(&format!("{long},{}", messages("k", 20_000)), ""));
        assert_ne!(cached_lengths(&cache), before);
    }

    #[test]
    fn cache_size_is_bounded() {
        let cache = RequestCache::default();
        let letters = "abcdefghijkl";
        for letter in letters.chars() {
            parse(&cache, &request(&messages(&letter.to_string(), 5000), ""));
        }
        assert_eq!(cached_lengths(&cache).len(), MAX_REQUESTS);
        // The newest are cached.
        let is_known = |letter: &char| parse(&cache, &request(&messages(&letter.to_string(), 5000), "")) == 1;
        assert_eq!(
            letters.chars().rev().take(MAX_REQUESTS).filter(is_known).count(),
            MAX_REQUESTS
        );
        for letter in letters.chars() {
            parse(
                &cache,
                &request(&messages(&letter.to_string(), MAX_BYTES / 2), ""),
            );
            assert!(cached_lengths(&cache).iter().sum::<usize>() <= MAX_TOTAL);
        }
        assert!(cached_lengths(&cache).len() > 1);
    }

    #[test]
    fn requests_with_large_indexes_are_not_cached() {
        let cache = RequestCache::default();
        let numbers = "0,".repeat(100_000) + "0";
        assert!(numbers.len() < MAX_BYTES);
        parse(&cache, &request(&numbers, ""));
        assert!(cached_lengths(&cache).is_empty());
    }

    #[test]
    fn requests_with_many_fields_are_not_cached() {
        let cache = RequestCache::default();
        for (fields, is_kept) in [(MAX_FIELDS, true), (MAX_FIELDS + 1, false)] {
            let others: String = (1..fields).map(|number| format!(r#","{number}":0"#)).collect();
            let body = request(&messages("a", 5000), &others);
            parse(&cache, &body);
            assert_eq!(
                cached_lengths(&cache).first() == Some(&body.len()),
                is_kept,
                "{fields}"
            );
        }
    }

    #[test]
    fn tools_are_found_at_any_offset() {
        let cache = RequestCache::default();
        let list = format!(r#"[{{"name":"x","description":"{}"}},7]"#, "d".repeat(5000));
        parse(
            &cache,
            &request(&messages("a", 5000), &format!(r#","tools":{list}"#)),
        );
        parse(&cache, &request(&messages("b", 5000), ""));
        let tools = cache.tools(format!("{list},").as_bytes(), 100).unwrap();
        let (count, first) = tools.value;
        let name = list.find("x").unwrap() as u32 + 100;
        let first = first.unwrap().name.unwrap();
        assert_eq!((tools.length, count, first.start), (list.len(), 2, name));
        assert!(cache.tools(&list.as_bytes()[..list.len() - 1], 100).is_none());
        for at in [1, 2000, list.len() - 20, list.len() - 1] {
            let mut changed = list.clone();
            changed.replace_range(at..=at, "!");
            assert!(cache.tools(changed.as_bytes(), 100).is_none(), "{at}");
        }
    }

    #[test]
    fn system_prompt_is_cached_together_with_its_messages() {
        let cache = RequestCache::default();
        let system = r#"[{"type":"text","text":"be kind"},{"text":7}]"#;
        let body = |letters| request(&messages(letters, 5000), &format!(r#","system":{system}"#));
        parse(&cache, &body("ab"));
        let beginning = cache.longest_prefix(&body("acdef")).unwrap();
        let found = beginning.system(system.as_bytes(), 0).unwrap();
        let text = found.value[0].text.unwrap();
        assert_eq!((found.length, &system[text.range()]), (system.len(), "be kind"));
        assert!(
            beginning
                .system(br#"[{"type":"text","text":"be rude"},{"text":7}]"#, 0)
                .is_none()
        );
        assert!(cache.longest_prefix(&body("cdef")).is_none());
    }

    #[test]
    fn replaced_request_is_freed() {
        let cache = RequestCache::default();
        parse(&cache, &request(&messages("abcd", 2000), ""));
        let first = Arc::downgrade(&cache.newest.read().unwrap()[0]);
        parse(&cache, &request(&messages("abcdefgh", 2000), ""));
        assert!(first.upgrade().is_none());
    }
}
