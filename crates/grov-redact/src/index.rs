//! Finds the keywords of all rules in a text in one pass that looks at four bytes at a time.

use crate::command::PROGRAMS;
use crate::context::CONTEXTS;
use crate::tokens::TOKENS;
use std::ops::Range;
use std::sync::LazyLock;

/// The rule that a keyword belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trigger {
    /// The index of a rule in [`TOKENS`].
    Token(usize),
    /// The index of a rule in [`CONTEXTS`].
    Context(usize),
    /// The index of a program in [`PROGRAMS`].
    Command(usize),
}

struct Entry {
    /// The first three bytes of the keyword, folded.
    gram: u32,
    /// The first four bytes of the keyword, folded, or three of a keyword of three. Comparing them first rejects nearly all.
    beginning: u32,
    /// The bytes of a text that `beginning` is compared with.
    mask: u32,
    keyword: &'static [u8],
    trigger: Trigger,
}

impl Entry {
    fn new(keyword: &'static str, trigger: Trigger) -> Self {
        let keyword = keyword.as_bytes();
        let gram = gram(keyword[0], keyword[1], keyword[2]);
        let fourth = keyword.get(3).map(|byte| u32::from(byte | 0x20) << 24);
        Self {
            gram,
            beginning: gram | fourth.unwrap_or_default(),
            mask: fourth.map_or(0x00FF_FFFF, |_| u32::MAX),
            keyword,
            trigger,
        }
    }
}

/// Returns three bytes as a number. Folds the case of letters; other bytes that collide only cost a comparison.
fn gram(a: u8, b: u8, c: u8) -> u32 {
    u32::from_le_bytes([a | 0x20, b | 0x20, c | 0x20, 0])
}

/// Number of slots.
const SLOTS: usize = 8192;

/// Returns the slot of a gram: the upper 13 bits of a multiplicative hash (Knuth's constant).
fn slot(gram: u32) -> usize {
    (gram.wrapping_mul(0x9E37_79B1) >> 19) as usize
}

/// Returns the bit for the byte after a gram. Both cases of a letter have the same.
fn bit(fourth: u8) -> u32 {
    1 << (fourth & 0x1F)
}

struct Index {
    /// All keywords, sorted by the slots of their grams.
    entries: Vec<Entry>,
    /// The first entry of each slot, and the number of entries.
    starts: Vec<u16>,
    /// For each slot the bits of the bytes after its grams.
    filter: [u32; SLOTS],
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let mut entries = Vec::new();
    let mut add = |keywords: &'static [&'static str], trigger| {
        entries.extend(keywords.iter().map(|keyword| Entry::new(keyword, trigger)));
    };
    for (at, rule) in TOKENS.iter().enumerate() {
        add(rule.keywords, Trigger::Token(at));
    }
    for (at, (_, keywords)) in CONTEXTS.iter().enumerate() {
        add(keywords, Trigger::Context(at));
    }
    for (at, program) in PROGRAMS.iter().enumerate() {
        add(program.keywords, Trigger::Command(at));
    }
    entries.sort_by_key(|entry| slot(entry.gram));
    let mut starts = vec![0_u16; SLOTS + 1];
    let mut filter = [0_u32; SLOTS];
    for entry in &entries {
        let slot = slot(entry.gram);
        starts[slot + 1] += 1;
        // After a keyword of three bytes any byte may follow.
        filter[slot] |= entry.keyword.get(3).map_or(u32::MAX, |byte| bit(*byte));
    }
    for at in 0..SLOTS {
        starts[at + 1] += starts[at];
    }
    Index {
        entries,
        starts,
        filter,
    }
});

/// Calls `visit` for every keyword in the text, in order. The case matters only for keywords of tokens.
pub(crate) fn for_each_keyword(bytes: &[u8], mut visit: impl FnMut(Range<usize>, Trigger)) {
    let index = &*INDEX;
    for (at, window) in bytes.array_windows::<4>().enumerate() {
        // One load for all four bytes.
        let word = u32::from_le_bytes(*window);
        let gram = (word | 0x0020_2020) & 0x00FF_FFFF;
        if index.filter[slot(gram)] >> (word >> 24 & 0x1F) & 1 != 0 {
            index.visit_at(bytes, at, word | 0x2020_2020, &mut visit);
        }
    }
    if let Some(at) = bytes.len().checked_sub(3) {
        index.visit_at(
            bytes,
            at,
            gram(bytes[at], bytes[at + 1], bytes[at + 2]),
            &mut visit,
        );
    }
}

impl Index {
    /// Calls `visit` for the keywords at one place, where these four bytes are, folded.
    fn visit_at(&self, bytes: &[u8], at: usize, word: u32, visit: &mut impl FnMut(Range<usize>, Trigger)) {
        let slot = slot(word & 0x00FF_FFFF);
        let candidates = &self.entries[usize::from(self.starts[slot])..usize::from(self.starts[slot + 1])];
        for entry in candidates
            .iter()
            .filter(|entry| entry.beginning == word & entry.mask)
        {
            let Some(found) = bytes.get(at..at + entry.keyword.len()) else {
                continue;
            };
            let matches = match entry.trigger {
                Trigger::Token(_) => found == entry.keyword,
                Trigger::Context(_) | Trigger::Command(_) => found.eq_ignore_ascii_case(entry.keyword),
            };
            if matches {
                visit(at..at + entry.keyword.len(), entry.trigger);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_keyword_is_found_at_the_ends_of_a_text_and_inside_it() {
        for entry in &INDEX.entries {
            let keyword = std::str::from_utf8(entry.keyword).unwrap();
            for (text, at) in [
                (keyword.to_owned(), 0),
                (format!("ü {keyword}"), 3),
                (format!("{keyword}{keyword}"), keyword.len()),
            ] {
                let mut found = Vec::new();
                for_each_keyword(text.as_bytes(), |range, trigger| found.push((range, trigger)));
                assert!(
                    found.contains(&(at..at + keyword.len(), entry.trigger)),
                    "{keyword} in {text}"
                );
            }
        }
    }
}
