//! Sorted tables of phrases, and the search in them.

use crate::words::Word;
use std::cmp::Ordering;

/// The most letters after a stem.
const MAX_ENDING: usize = 7;

/// Bits of a [`Beginnings`].
const BITS: usize = 1024;

/// Which two bytes the entries of a table begin with, as a bit set without false negatives. Most words begin no entry of most
/// tables, and need no search.
#[derive(Debug)]
struct Beginnings([u64; BITS / 64]);

impl Beginnings {
    const NONE: Self = Self([0; BITS / 64]);

    /// The bit of a text that begins with these bytes. A word of one letter counts as one before a space.
    const fn bit(text: &[u8]) -> usize {
        let (first, second) = match text {
            [] => return 0,
            [first] => (*first, b' '),
            [first, second, ..] => (*first, *second),
        };
        (first as usize * 37 + second as usize) % BITS
    }

    const fn with(mut self, entry: &str) -> Self {
        let bit = Self::bit(entry.as_bytes());
        self.0[bit / 64] |= 1 << (bit % 64);
        self
    }

    fn may_begin(&self, word: &str) -> bool {
        let bit = Self::bit(word.as_bytes());
        self.0[bit / 64] >> (bit % 64) & 1 != 0
    }
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
        self.beginnings.may_begin(word) && self.entries.binary_search(&word).is_ok()
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
}

impl<T: Copy> PhraseMap<T> {
    /// A map of sorted entries.
    pub const fn of(entries: &'static [(&'static str, T)]) -> Self {
        let mut beginnings = Beginnings::NONE;
        let mut at = 0;
        while at < entries.len() {
            beginnings = beginnings.with(entries[at].0);
            at += 1;
        }
        Self { entries, beginnings }
    }

    /// The entries, in order.
    pub const fn entries(&self) -> &'static [(&'static str, T)] {
        self.entries
    }

    /// The meaning of a folded word that is an entry.
    pub fn get(&self, word: &str) -> Option<T> {
        if !self.beginnings.may_begin(word) {
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
        if !self.beginnings.may_begin(text) {
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

/// The entries that begin with the first two bytes of a word.
fn candidates<'e, E>(
    entries: &'e [E],
    text: for<'x> fn(&'x E) -> &'x str,
    word: &str,
) -> impl Iterator<Item = &'e E> {
    let length = word.len().min(2);
    let mut first = [0; 2];
    first[..length].copy_from_slice(&word.as_bytes()[..length]);
    let order = move |entry: &E| -> Ordering {
        let bytes = text(entry).as_bytes();
        bytes[..bytes.len().min(length)].cmp(&first[..length])
    };
    let from = entries.partition_point(|entry| order(entry) == Ordering::Less);
    entries[from..]
        .iter()
        .take_while(move |entry| order(entry) == Ordering::Equal)
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
