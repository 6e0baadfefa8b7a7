//! Requests that came before. A client sends its whole conversation with every request, and the same tools: to compare what
//! is the same takes a fraction of the time that reading it anew takes.

use super::entry::{BlockEntry, ContentEntry, MessageEntry, SystemEntry, ToolEntry};
use super::index::RequestIndex;
use super::link::Link;
use crate::json::Span;
use std::fmt;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// Most requests that are remembered: a conversation, its subagents, and another conversation or two.
const MOST: usize = 8;

/// Shortest request worth remembering, in bytes.
const SHORTEST: usize = 4 * 1024;

/// Longest request that is remembered, in bytes.
const LONGEST: usize = 2 * 1024 * 1024;

/// Most fields of a request that is remembered; the client's have ten.
const MOST_FIELDS: usize = 64;

/// What the remembered requests and what was found in them may take together, in bytes.
const TOGETHER: usize = 4 * 1024 * 1024;

/// A request is remembered where at least that part of it, an eighth, had to be read anew.
const NEW_PART: usize = 8;

/// Bytes that are compared at a time.
const STEP: usize = 1024;

/// Bytes at the end of a value that are compared first: two values begin alike more often than they end alike.
const END: usize = 64;

/// The newest requests that were read, at most 8, of 4 KiB to 2 MiB each, 4 MiB together. Shared by everything that reads
/// requests of the same clients. Keeps their bodies in memory.
#[derive(Default)]
pub struct KnownRequests {
    /// The newest first.
    newest: RwLock<Vec<Arc<KnownRequest>>>,
}

/// A request that was read and found sound.
pub(super) struct KnownRequest {
    index: RequestIndex,
    /// Where its list of messages opens.
    messages: Option<u32>,
    /// Its list of tools, whole.
    tools: Option<Span>,
    /// Its system prompt, whole, if that is a list.
    system: Option<Span>,
    /// What its history is known by.
    links: OnceLock<Vec<Link>>,
}

/// The messages with which a request begins like one that came before, byte for byte.
#[derive(Clone)]
pub(super) struct Beginning {
    known: Arc<KnownRequest>,
    /// How many messages, at least one.
    count: usize,
    /// Where the list of messages opens.
    pub(super) start: u32,
    /// Where the last of them ends.
    pub(super) end: u32,
}

/// How an index came by its first messages. It says nothing of the request, and so it is not shown.
#[derive(Clone, Default)]
pub(super) struct ReadBefore(pub(super) Option<Beginning>);

/// A value that came before.
pub(super) struct KnownValue<T> {
    /// Its length in bytes.
    pub(super) length: usize,
    /// What was found in it, at its new place.
    pub(super) found: T,
}

impl fmt::Debug for KnownRequests {
    /// Not what is in them, which is the client's.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KnownRequests").finish_non_exhaustive()
    }
}

impl fmt::Debug for ReadBefore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReadBefore")
    }
}

impl KnownRequests {
    /// The longest beginning that a request shares with one that came before.
    pub(super) fn beginning_of(&self, body: &[u8]) -> Option<Beginning> {
        let newest = self.newest.read().unwrap_or_else(PoisonError::into_inner);
        let mut longest: Option<(&Arc<KnownRequest>, usize)> = None;
        for known in newest.iter() {
            let common = common(&known.index.body, body);
            if longest.is_none_or(|(_, length)| common > length) {
                longest = Some((known, common));
            }
            // What another has in common beyond that is quicker read than looked for.
            if common > body.len() / 2 {
                break;
            }
        }
        let (known, common) = longest?;
        known.beginning(common)
    }

    /// The list of tools that the text begins with, if it came before: how many there are, and the first one.
    pub(super) fn tools(&self, text: &[u8], offset: u32) -> Option<KnownValue<(usize, Option<ToolEntry>)>> {
        let newest = self.newest.read().unwrap_or_else(PoisonError::into_inner);
        newest.iter().find_map(|known| {
            let tools = known.tools.filter(|tools| known.begins(text, *tools))?;
            let index = &known.index;
            let moved = |at| at - tools.start + offset;
            Some(KnownValue {
                length: tools.range().len(),
                found: (index.tools, index.first_tool.map(|tool| tool.moved(moved))),
            })
        })
    }

    /// Remembers a request, so many bytes of which had to be read anew, if that is worth it. One that grew out of another
    /// takes its place.
    pub(super) fn remember(&self, index: &RequestIndex, anew: usize) {
        let length = index.body.len();
        let mut together = KnownRequest::weight(index);
        let is_fit = (SHORTEST..=LONGEST).contains(&length)
            && together <= TOGETHER
            && index.fields.len() <= MOST_FIELDS;
        if !is_fit || anew < SHORTEST.max(length / NEW_PART) {
            return;
        }
        let known = Arc::new(KnownRequest::new(index));
        let mut newest = self.newest.write().unwrap_or_else(PoisonError::into_inner);
        let mut kept = vec![known];
        let older = std::mem::take(&mut *newest);
        for known in &older {
            let outgrown = index
                .read_before
                .0
                .as_ref()
                .is_some_and(|read| read.outgrows(known));
            let weight = KnownRequest::weight(&known.index);
            if !outgrown && kept.len() < MOST && together + weight <= TOGETHER {
                together += weight;
                kept.push(Arc::clone(known));
            }
        }
        *newest = kept;
        // Others need not wait until the memory is given back.
        drop(newest);
        drop(older);
    }
}

impl KnownRequest {
    fn new(index: &RequestIndex) -> Self {
        let value = |name| index.fields.get(index.find_field(name)?).map(|field| field.value);
        // A value in brackets ends where they close, whatever follows.
        let list = |name| value(name).filter(|value| index.body.get(value.start as usize) == Some(&b'['));
        Self {
            messages: list("messages").map(|value| value.start),
            tools: list("tools"),
            system: list("system"),
            // Alone: what it began like is not kept for its sake.
            index: RequestIndex {
                read_before: ReadBefore::default(),
                ..index.clone()
            },
            links: OnceLock::new(),
        }
    }

    /// What it takes of memory, in bytes, with a link for each message and block.
    fn weight(index: &RequestIndex) -> usize {
        let messages = index.messages.len() * (size_of::<MessageEntry>() + size_of::<Link>());
        let blocks = index.blocks.len() * (size_of::<BlockEntry>() + size_of::<Link>());
        index.body.len() + messages + blocks
    }

    /// The whole messages in that many bytes at its beginning.
    fn beginning(self: &Arc<Self>, bytes: usize) -> Option<Beginning> {
        let messages = &self.index.messages;
        // With the byte behind each: a number goes on as long as there are digits.
        let count = messages.partition_point(|message| (message.span.end as usize) < bytes);
        let last = messages.get(count.checked_sub(1)?)?;
        Some(Beginning {
            count,
            start: self.messages?,
            end: last.span.end,
            known: Arc::clone(self),
        })
    }

    /// Whether the text begins with that value of it.
    fn begins(&self, text: &[u8], value: Span) -> bool {
        let value = self.index.body.get(value.range()).unwrap_or_default();
        let Some(text) = text.get(..value.len()) else {
            return false;
        };
        let end = value.len().saturating_sub(END);
        text.get(end..) == value.get(end..) && text == value
    }
}

impl Beginning {
    /// The messages.
    pub(super) fn messages(&self) -> &[MessageEntry] {
        self.known.index.messages.get(..self.count).unwrap_or_default()
    }

    /// The blocks of the messages.
    pub(super) fn blocks(&self) -> &[BlockEntry] {
        let end = self
            .messages()
            .iter()
            .rev()
            .find_map(|message| match message.content {
                ContentEntry::Blocks { first, count, .. } => Some(first + count),
                ContentEntry::Text(_) | ContentEntry::Other => None,
            });
        let blocks = &self.known.index.blocks;
        blocks.get(..end.unwrap_or_default()).unwrap_or_default()
    }

    /// How many messages.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// What the history of the messages is known by.
    pub(super) fn links(&self) -> &[Link] {
        let whole = || self.known.index.skeleton().into_links();
        let links = self.known.links.get_or_init(whole);
        let end = links.partition_point(|link| link.message < self.count);
        links.get(..end).unwrap_or_default()
    }

    /// The system prompt that the text begins with, if it is the one that came with the messages.
    pub(super) fn system(&self, text: &[u8], offset: u32) -> Option<KnownValue<Vec<BlockEntry>>> {
        let SystemEntry::Blocks(blocks) = &self.known.index.system else {
            return None;
        };
        let value = self
            .known
            .system
            .filter(|value| self.known.begins(text, *value))?;
        let moved = |at| at - value.start + offset;
        Some(KnownValue {
            length: value.range().len(),
            found: blocks.iter().map(|block| block.moved(moved)).collect(),
        })
    }

    /// Whether the conversation goes on where the known one had come to, or near it.
    fn outgrows(&self, known: &Arc<KnownRequest>) -> bool {
        let all = known.index.messages.last().map_or(0, |last| last.span.end);
        Arc::ptr_eq(&self.known, known) && self.end >= all / 2
    }
}

/// How many bytes both begin with.
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

    /// A message for each letter, of about that many bytes.
    fn messages(letters: &str, bytes: usize) -> String {
        let message = |letter: char| {
            let text = letter.to_string().repeat(bytes);
            format!(r#"{{"role":"user","content":[{{"type":"text","text":"{text}"}},{{}}]}}"#)
        };
        letters.chars().map(message).collect::<Vec<_>>().join(",")
    }

    fn request(messages: &str, behind: &str) -> Bytes {
        Bytes::from(format!(r#"{{"messages":[{messages}]{behind}}}"#))
    }

    /// Reads a request; how many of its messages were known.
    fn read(known: &KnownRequests, body: &Bytes) -> usize {
        let index = RequestIndex::parse_knowing(body, known).unwrap();
        index.read_before.0.map_or(0, |beginning| beginning.count)
    }

    /// Lengths of what is remembered, the newest first.
    fn remembered(known: &KnownRequests) -> Vec<usize> {
        let newest = known.newest.read().unwrap();
        newest.iter().map(|known| known.index.body.len()).collect()
    }

    #[test]
    fn messages_are_known_up_to_the_first_that_changed() {
        let known = KnownRequests::default();
        let read = |letters| read(&known, &request(&messages(letters, 2000), ""));
        assert_eq!(read("abcd"), 0);
        for (letters, count) in [("abcd", 4), ("abcdef", 3), ("abxdef", 2), ("ab", 1), ("xbcd", 0)] {
            assert_eq!(read(letters), count, "{letters}");
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
    fn conversation_that_grew_takes_the_place_of_what_it_was() {
        let known = KnownRequests::default();
        let mut lengths = Vec::new();
        for letters in ["abcd", "abcdef", "abcdefgh", "abxyzuvw"] {
            let body = request(&messages(letters, 2000), "");
            read(&known, &body);
            lengths.push(body.len());
        }
        // What left it early is another conversation.
        assert_eq!(remembered(&known), [lengths[3], lengths[2]]);
    }

    #[test]
    fn requests_worth_remembering_are_neither_short_nor_long_nor_known() {
        let known = KnownRequests::default();
        let empty = request(&messages("a", 0), "").len();
        for (length, is_kept) in [
            (SHORTEST - 1, false),
            (SHORTEST, true),
            (LONGEST, true),
            (LONGEST + 1, false),
        ] {
            let known = KnownRequests::default();
            read(&known, &request(&messages("a", length - empty), ""));
            assert_eq!(remembered(&known), vec![length; usize::from(is_kept)], "{length}");
        }
        let long = messages("abcdefghij", 8_000);
        read(&known, &request(&long, ""));
        let before = remembered(&known);
        read(&known, &request(&format!("{long},{}", messages("k", 100)), ""));
        assert_eq!(remembered(&known), before);
        read(&known, &request(&format!("{long},{}", messages("k", 20_000)), ""));
        assert_ne!(remembered(&known), before);
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let known = KnownRequests::default();
        let letters = "abcdefghijkl";
        for letter in letters.chars() {
            read(&known, &request(&messages(&letter.to_string(), 5000), ""));
        }
        assert_eq!(remembered(&known).len(), MOST);
        // The newest are known.
        let is_known = |letter: &char| read(&known, &request(&messages(&letter.to_string(), 5000), "")) == 1;
        assert_eq!(letters.chars().rev().take(MOST).filter(is_known).count(), MOST);
        for letter in letters.chars() {
            read(&known, &request(&messages(&letter.to_string(), LONGEST / 2), ""));
            assert!(remembered(&known).iter().sum::<usize>() <= TOGETHER);
        }
        assert!(remembered(&known).len() > 1);
    }

    #[test]
    fn requests_that_take_more_memory_than_they_have_bytes_are_not_remembered() {
        let known = KnownRequests::default();
        let numbers = "0,".repeat(100_000) + "0";
        assert!(numbers.len() < LONGEST);
        read(&known, &request(&numbers, ""));
        assert!(remembered(&known).is_empty());
    }

    #[test]
    fn requests_of_many_fields_are_not_remembered() {
        let known = KnownRequests::default();
        for (fields, is_kept) in [(MOST_FIELDS, true), (MOST_FIELDS + 1, false)] {
            let others: String = (1..fields).map(|number| format!(r#","{number}":0"#)).collect();
            let body = request(&messages("a", 5000), &others);
            read(&known, &body);
            assert_eq!(
                remembered(&known).first() == Some(&body.len()),
                is_kept,
                "{fields}"
            );
        }
    }

    #[test]
    fn tools_are_known_wherever_they_stand() {
        let known = KnownRequests::default();
        let list = format!(r#"[{{"name":"x","description":"{}"}},7]"#, "d".repeat(5000));
        read(
            &known,
            &request(&messages("a", 5000), &format!(r#","tools":{list}"#)),
        );
        read(&known, &request(&messages("b", 5000), ""));
        let tools = known.tools(format!("{list},").as_bytes(), 100).unwrap();
        let (count, first) = tools.found;
        let name = list.find("x").unwrap() as u32 + 100;
        let first = first.unwrap().name.unwrap();
        assert_eq!((tools.length, count, first.start), (list.len(), 2, name));
        assert!(known.tools(&list.as_bytes()[..list.len() - 1], 100).is_none());
        for at in [1, 2000, list.len() - 20, list.len() - 1] {
            let mut changed = list.clone();
            changed.replace_range(at..=at, "!");
            assert!(known.tools(changed.as_bytes(), 100).is_none(), "{at}");
        }
    }

    #[test]
    fn system_prompt_is_known_with_the_messages_that_it_came_with() {
        let known = KnownRequests::default();
        let system = r#"[{"type":"text","text":"be kind"},{"text":7}]"#;
        let body = |letters| request(&messages(letters, 5000), &format!(r#","system":{system}"#));
        read(&known, &body("ab"));
        let beginning = known.beginning_of(&body("acdef")).unwrap();
        let found = beginning.system(system.as_bytes(), 0).unwrap();
        let text = found.found[0].text.unwrap();
        assert_eq!((found.length, &system[text.range()]), (system.len(), "be kind"));
        assert!(
            beginning
                .system(br#"[{"type":"text","text":"be rude"},{"text":7}]"#, 0)
                .is_none()
        );
        assert!(known.beginning_of(&body("cdef")).is_none());
    }

    #[test]
    fn request_is_not_kept_for_those_that_grew_out_of_it() {
        let known = KnownRequests::default();
        read(&known, &request(&messages("abcd", 2000), ""));
        let first = Arc::downgrade(&known.newest.read().unwrap()[0]);
        read(&known, &request(&messages("abcdefgh", 2000), ""));
        assert!(first.upgrade().is_none());
    }
}
