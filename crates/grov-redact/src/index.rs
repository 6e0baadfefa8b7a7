//! Finds the keywords of all rules in a text in one pass that looks at three bytes at a time.

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
    keyword: &'static [u8],
    trigger: Trigger,
}

impl Entry {
    fn new(keyword: &'static str, trigger: Trigger) -> Self {
        let keyword = keyword.as_bytes();
        Self {
            gram: gram(keyword[0], keyword[1], keyword[2]),
            keyword,
            trigger,
        }
    }
}

/// Returns three bytes as a number. Folds the case of letters; other bytes that collide only cost a comparison.
fn gram(a: u8, b: u8, c: u8) -> u32 {
    u32::from_le_bytes([a | 0x20, b | 0x20, c | 0x20, 0])
}

/// Returns the slot of a gram in the filter: the upper 16 bits of a multiplicative hash (Knuth's constant).
fn slot(gram: u32) -> usize {
    (gram.wrapping_mul(0x9E37_79B1) >> 16) as usize
}

/// Number of groups of slots.
const GROUPS: usize = 4096;

/// Returns the group of a slot.
fn group(slot: usize) -> usize {
    slot >> 4
}

struct Index {
    /// All keywords, sorted by the slots of their grams.
    entries: Vec<Entry>,
    /// The first entry of each group of slots, and the number of entries.
    groups: Vec<u16>,
    /// One bit for each slot: whether a keyword has it.
    filter: [u64; 1024],
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let mut entries = Vec::new();
    let mut add = |keywords: &'static [&str], trigger| {
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
    let mut groups = vec![0_u16; GROUPS + 1];
    for entry in &entries {
        groups[group(slot(entry.gram)) + 1] += 1;
    }
    for at in 0..GROUPS {
        groups[at + 1] += groups[at];
    }
    let mut filter = [0_u64; 1024];
    for entry in &entries {
        let slot = slot(entry.gram);
        filter[slot >> 6] |= 1 << (slot & 63);
    }
    Index {
        entries,
        groups,
        filter,
    }
});

/// Calls `visit` for every keyword in the text, in order. The case matters only for keywords of tokens.
pub(crate) fn for_each_keyword(bytes: &[u8], mut visit: impl FnMut(Range<usize>, Trigger)) {
    let Index {
        entries,
        groups,
        filter,
    } = &*INDEX;
    for (at, window) in bytes.windows(3).enumerate() {
        let gram = gram(window[0], window[1], window[2]);
        let slot = slot(gram);
        if filter[slot >> 6] >> (slot & 63) & 1 == 0 {
            continue;
        }
        let group = group(slot);
        let candidates = &entries[usize::from(groups[group])..usize::from(groups[group + 1])];
        for entry in candidates.iter().filter(|entry| entry.gram == gram) {
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
