//! Tool lists that came before. A client sends the same list with every request of a conversation, and it is a good part
//! of most: to compare it takes a fraction of the time that reading it anew takes.

use super::index::ToolEntry;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

/// Most lists that are remembered: those of a conversation, of its subagents, and of another conversation or two.
const MOST: usize = 4;

/// Shortest list worth remembering, in bytes.
const SHORTEST: usize = 1024;

/// Longest list that is remembered, in bytes: less than what glibc's allocator gives pages of its own, and more than what a
/// client with many tools sends.
const LONGEST: usize = 120 * 1024;

/// Bytes at the end of a list that are looked at first: two lists begin alike more often than they end alike.
const END: usize = 64;

/// The newest tool lists that were read, at most 4, of 1 to 120 KiB each. Shared by everything that reads requests of the same
/// clients.
#[derive(Default)]
pub struct KnownTools {
    /// The newest first.
    lists: RwLock<Vec<Arc<KnownList>>>,
}

/// A list that was read and found sound.
pub(super) struct KnownList {
    /// From the opening to the closing bracket.
    text: Box<[u8]>,
    pub(super) count: usize,
    /// With spans that count from the opening bracket.
    pub(super) first: Option<ToolEntry>,
}

impl fmt::Debug for KnownTools {
    /// Not what is in them, which is the client's.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KnownTools").finish_non_exhaustive()
    }
}

impl KnownList {
    /// Length of its text in bytes.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    fn begins(&self, text: &[u8]) -> bool {
        let Some(text) = text.get(..self.text.len()) else {
            return false;
        };
        let end = text.len().saturating_sub(END);
        text.get(end..) == self.text.get(end..) && *text == *self.text
    }
}

impl KnownTools {
    /// The list that the text begins with, if it is known.
    pub(super) fn at_start_of(&self, text: &[u8]) -> Option<Arc<KnownList>> {
        let lists = self.lists.read().unwrap_or_else(PoisonError::into_inner);
        lists.iter().find(|list| list.begins(text)).cloned()
    }

    /// Remembers a list that was read whole.
    pub(super) fn remember(&self, text: &[u8], count: usize, first: Option<ToolEntry>) {
        if !(SHORTEST..=LONGEST).contains(&text.len()) {
            return;
        }
        let list = KnownList {
            text: text.into(),
            count,
            first,
        };
        let mut lists = self.lists.write().unwrap_or_else(PoisonError::into_inner);
        // Somebody else may have read the same list meanwhile.
        lists.retain(|known| known.text != list.text);
        lists.truncate(MOST - 1);
        lists.insert(0, Arc::new(list));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(letter: char, length: usize) -> String {
        format!("[{}]", letter.to_string().repeat(length - 2))
    }

    fn knows(known: &KnownTools, text: &str) -> bool {
        known.at_start_of(text.as_bytes()).is_some()
    }

    #[test]
    fn the_newest_lists_are_known() {
        let known = KnownTools::default();
        for letter in "abcdeef".chars() {
            known.remember(list(letter, SHORTEST).as_bytes(), 1, None);
        }
        let found: String = "abcdef"
            .chars()
            .filter(|letter| knows(&known, &list(*letter, SHORTEST)))
            .collect();
        assert_eq!(found, "cdef");
    }

    #[test]
    fn lists_worth_remembering_are_neither_short_nor_long() {
        let known = KnownTools::default();
        for (letter, length) in [
            ('a', SHORTEST - 1),
            ('b', SHORTEST),
            ('c', LONGEST),
            ('d', LONGEST + 1),
        ] {
            known.remember(list(letter, length).as_bytes(), 1, None);
            let is_known = (SHORTEST..=LONGEST).contains(&length);
            assert_eq!(knows(&known, &list(letter, length)), is_known, "{length}");
        }
    }

    #[test]
    fn a_list_is_known_whole_and_whatever_follows_it() {
        let known = KnownTools::default();
        let text = list('a', 2000);
        known.remember(text.as_bytes(), 7, None);
        let found = known
            .at_start_of(format!("{text},\"max_tokens\":1").as_bytes())
            .unwrap();
        assert_eq!((found.len(), found.count), (2000, 7));
        assert!(!knows(&known, &text[..1999]));
        for at in [0, 1000, 1950, 1999] {
            let mut changed = text.clone();
            changed.replace_range(at..=at, "x");
            assert!(!knows(&known, &changed), "{at}");
        }
    }
}
