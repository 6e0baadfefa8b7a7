//! Sorted tables of phrases, and the search in them.

use crate::words::Word;

/// The most letters after a stem.
const MAX_ENDING: usize = 7;

/// The number of bits of a [`BitSet`].
const BITS: usize = 1024;

/// A set of numbers below [`BITS`].
#[derive(Debug)]
struct BitSet([u64; BITS / 64]);

impl BitSet {
    const EMPTY: Self = Self([0; BITS / 64]);

    const fn with(mut self, bit: usize) -> Self {
        self.0[bit / 64] |= 1 << (bit % 64);
        self
    }

    const fn has(&self, bit: usize) -> bool {
        self.0[bit / 64] >> (bit % 64) & 1 != 0
    }
}

/// Which words may begin an entry of a table, without false negatives. Most words begin no entry of most tables, and need no
/// search.
#[derive(Debug)]
struct Beginnings {
    /// By the ends, the middle and the length of the first words of entries.
    words: BitSet,
    /// By the first two bytes of first words that are stems or prefixes.
    stems: BitSet,
}

impl Beginnings {
    const NONE: Self = Self {
        words: BitSet::EMPTY,
        stems: BitSet::EMPTY,
    };

    const fn with(self, entry: &str) -> Self {
        let entry = entry.as_bytes();
        let mut end = 0;
        while end < entry.len() && entry[end] != b' ' {
            end += 1;
        }
        let (first, _) = entry.split_at(end);
        let stems = match first {
            [stem @ .., b'*'] => self.stems.with(pair_bit(stem)),
            [.., b'\''] => self.stems.with(pair_bit(first)),
            _ => self.stems,
        };
        Self {
            words: self.words.with(word_bit(first)),
            stems,
        }
    }

    fn may_begin(&self, word: &str) -> bool {
        self.may_have(word) || self.stems.has(pair_bit(word.as_bytes()))
    }

    /// Whether the word may be a whole entry.
    fn may_have(&self, word: &str) -> bool {
        self.words.has(word_bit(word.as_bytes()))
    }
}

/// The bit of a word.
const fn word_bit(word: &[u8]) -> usize {
    let [first, .., last] = word else {
        return word.len();
    };
    let middle = word[word.len() / 2];
    (*first as usize * 37 + *last as usize * 101 + middle as usize * 17 + word.len() * 7) % BITS
}

/// The bit of a text that begins with these bytes. A text of one byte counts as one before a space.
const fn pair_bit(text: &[u8]) -> usize {
    let (first, second) = match text {
        [] => return 0,
        [first] => (*first, b' '),
        [first, second, ..] => (*first, *second),
    };
    (first as usize * 37 + second as usize) % BITS
}

/// Sorted phrases: [folded](crate::words::fold) words with one space between them. The last word may be a stem (`renam*`), and a
/// word that ends with an apostrophe is a prefix (`d'`).
#[derive(Debug)]
pub struct PhraseList {
    entries: &'static [&'static str],
    beginnings: Beginnings,
}

impl PhraseList {
    /// A list of sorted entries.
    pub const fn of(entries: &'static [&'static str]) -> Self {
        let mut beginnings = Beginnings::NONE;
        let mut at = 0;
        while at < entries.len() {
            beginnings = beginnings.with(entries[at]);
            at += 1;
        }
        Self { entries, beginnings }
    }

    /// The entries, in order.
    pub const fn entries(&self) -> &'static [&'static str] {
        self.entries
    }

    /// Whether a folded word is an entry.
    pub fn contains(&self, word: &str) -> bool {
        self.beginnings.may_have(word) && self.entries.binary_search(&word).is_ok()
    }

    /// The length in words of the longest entry at `at`.
    pub fn at(&self, words: &[Word<'_>], at: usize) -> Option<usize> {
        let word = &words.get(at)?.folded;
        if !self.beginnings.may_begin(word) {
            return None;
        }
        any_at(self.entries, words, at)
    }
}

/// The length in words of the longest of these sorted entries at `at`; see [`PhraseList`].
pub fn any_at(entries: &[&str], words: &[Word<'_>], at: usize) -> Option<usize> {
    let word = &words.get(at)?.folded;
    candidates(entries, |entry| entry, word)
        .filter_map(|entry| length_at(entry, words, at))
        .max()
}

/// Sorted phrases, as in a [`PhraseList`], with their meaning.
#[derive(Debug)]
pub struct PhraseMap<T: 'static> {
    entries: &'static [(&'static str, T)],
    beginnings: Beginnings,
    /// By the first two bytes of all entries.
    pairs: BitSet,
}

impl<T: Copy> PhraseMap<T> {
    /// A map of sorted entries.
    pub const fn of(entries: &'static [(&'static str, T)]) -> Self {
        let (mut beginnings, mut pairs) = (Beginnings::NONE, BitSet::EMPTY);
        let mut at = 0;
        while at < entries.len() {
            beginnings = beginnings.with(entries[at].0);
            pairs = pairs.with(pair_bit(entries[at].0.as_bytes()));
            at += 1;
        }
        Self {
            entries,
            beginnings,
            pairs,
        }
    }

    /// The entries, in order.
    pub const fn entries(&self) -> &'static [(&'static str, T)] {
        self.entries
    }

    /// The meaning of a folded word that is an entry.
    pub fn get(&self, word: &str) -> Option<T> {
        if !self.beginnings.may_have(word) {
            return None;
        }
        let at = self.entries.binary_search_by(|(entry, _)| (*entry).cmp(word));
        Some(self.entries[at.ok()?].1)
    }

    /// The longest entry at `at`: its length in words and its meaning.
    pub fn at(&self, words: &[Word<'_>], at: usize) -> Option<(usize, T)> {
        let word = &words.get(at)?.folded;
        if !self.beginnings.may_begin(word) {
            return None;
        }
        candidates(self.entries, |(entry, _)| entry, word)
            .filter_map(|(entry, means)| Some((length_at(entry, words, at)?, entry.len(), *means)))
            .max_by_key(|(length, letters, _)| (*length, *letters))
            .map(|(length, _, means)| (length, means))
    }

    /// The longest entry that `text` starts with: its length in bytes and its meaning.
    pub fn before(&self, text: &str) -> Option<(usize, T)> {
        if !self.pairs.has(pair_bit(text.as_bytes())) {
            return None;
        }
        let first = text.chars().next()?;
        let from = self
            .entries
            .partition_point(|(entry, _)| entry.chars().next() < Some(first));
        self.entries[from..]
            .iter()
            .take_while(|(entry, _)| entry.starts_with(first))
            .filter(|(entry, _)| text.starts_with(entry))
            .map(|(entry, means)| (entry.len(), *means))
            .max_by_key(|(length, _)| *length)
    }
}

/// The first two bytes of a text as a number that sorts like them; a missing byte is zero.
const fn first_two(text: &str) -> u16 {
    match text.as_bytes() {
        [] => 0,
        [first] => u16::from_be_bytes([*first, 0]),
        [first, second, ..] => u16::from_be_bytes([*first, *second]),
    }
}

/// The entries that begin with the first two bytes of a word.
fn candidates<'e, E>(
    entries: &'e [E],
    text: for<'x> fn(&'x E) -> &'x str,
    word: &str,
) -> impl Iterator<Item = &'e E> {
    // A word of one byte is compared by that.
    let mask = match word.len() {
        0 => 0,
        1 => 0xff00,
        _ => 0xffff,
    };
    let wanted = first_two(word);
    let from = entries.partition_point(|entry| first_two(text(entry)) & mask < wanted);
    entries[from..]
        .iter()
        .take_while(move |entry| first_two(text(entry)) & mask == wanted)
}

/// Whether the first word of an entry can match a word. Rejects most candidates after a few bytes.
fn may_match(entry: &str, word: &str) -> bool {
    let (entry, word) = (entry.as_bytes(), word.as_bytes());
    let same = entry
        .iter()
        .zip(word)
        .take_while(|(left, right)| left == right)
        .count();
    matches!(entry.get(same), None | Some(b' ' | b'*'))
}

/// The length in words of an entry at `at`.
fn length_at(entry: &str, words: &[Word<'_>], at: usize) -> Option<usize> {
    if !may_match(entry, &words.get(at)?.folded) {
        return None;
    }
    let mut length = 0;
    for part in entry.split(' ') {
        let word = &words.get(at + length)?.folded;
        let is_same = match part.strip_suffix('*') {
            Some(stem) => word
                .strip_prefix(stem)
                .is_some_and(|ending| ending.len() <= MAX_ENDING),
            // An elided word: "n'", "d'".
            None if part.ends_with('\'') => word.starts_with(part),
            None => word == part,
        };
        if !is_same {
            return None;
        }
        length += 1;
    }
    Some(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::words;
    use proptest::prelude::*;

    static LIST: PhraseList = PhraseList::of(&[
        "a", "a b", "ab", "ab*", "abc", "b'", "ba c", "c", "ca", "cab", "cab a*", "ж", "жa",
    ]);

    proptest! {
        #[test]
        fn a_search_finds_what_a_look_at_every_entry_finds(text in "[abcж']{0,4}( [abcж']{0,4}){0,3}") {
            let words = words(&text);
            for (at, word) in words.iter().enumerate() {
                let is_entry = LIST.entries().contains(&word.folded.as_str());
                prop_assert_eq!(LIST.contains(&word.folded), is_entry);
                let longest = LIST.entries().iter().filter_map(|entry| length_at(entry, &words, at)).max();
                prop_assert_eq!(LIST.at(&words, at), longest, "{} in {:?}", at, text);
            }
        }
    }
}
