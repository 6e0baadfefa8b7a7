//! Where in a text a rule might apply: one pass that looks at three bytes at a time.
//!
//! All of it is computed when the crate is compiled, so that a process that lives for milliseconds pays nothing.

use crate::command::PROGRAMS;
use crate::context::{CONTEXTS, Context};
use crate::tokens::TOKENS;
use std::ops::Range;

/// What a keyword leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trigger {
    /// The token rule of this number.
    Token(usize),
    /// A rule that looks at what stands around the keyword.
    Context(Context),
}

#[derive(Clone, Copy)]
struct Entry {
    /// The keyword's first three bytes, folded.
    gram: u32,
    keyword: &'static [u8],
    trigger: Trigger,
}

/// Three bytes as a number; letters of both cases fold together (and some other bytes too, which does no harm).
const fn gram(a: u8, b: u8, c: u8) -> u32 {
    (a | 0x20) as u32 | ((b | 0x20) as u32) << 8 | ((c | 0x20) as u32) << 16
}

/// Slot of a gram in the filter: the upper 16 bits of a multiplicative hash (Knuth's constant).
const fn slot(gram: u32) -> usize {
    (gram.wrapping_mul(0x9E37_79B1) >> 16) as usize
}

const KEYWORDS: usize = {
    let mut count = 0;
    let mut at = 0;
    while at < TOKENS.len() {
        count += TOKENS[at].keywords.len();
        at += 1;
    }
    at = 0;
    while at < CONTEXTS.len() {
        count += CONTEXTS[at].1.len();
        at += 1;
    }
    at = 0;
    while at < PROGRAMS.len() {
        count += PROGRAMS[at].keywords.len();
        at += 1;
    }
    count
};

/// Adds keywords of one trigger; the number of entries after that.
const fn fill(
    entries: &mut [Entry; KEYWORDS],
    filled: usize,
    keywords: &[&'static str],
    trigger: Trigger,
) -> usize {
    let mut at = 0;
    while at < keywords.len() {
        entries[filled + at] = entry(keywords[at], trigger);
        at += 1;
    }
    filled + keywords.len()
}

const fn entry(keyword: &'static str, trigger: Trigger) -> Entry {
    let keyword = keyword.as_bytes();
    assert!(keyword.len() >= 3, "a keyword needs three bytes to be found");
    Entry {
        gram: gram(keyword[0], keyword[1], keyword[2]),
        keyword,
        trigger,
    }
}

/// All keywords, by their first three bytes.
static ENTRIES: [Entry; KEYWORDS] = {
    let mut entries = [entry("...", Trigger::Token(0)); KEYWORDS];
    let mut filled = 0;
    let mut at = 0;
    while at < TOKENS.len() {
        filled = fill(&mut entries, filled, TOKENS[at].keywords, Trigger::Token(at));
        at += 1;
    }
    at = 0;
    while at < CONTEXTS.len() {
        let (context, keywords) = CONTEXTS[at];
        filled = fill(&mut entries, filled, keywords, Trigger::Context(context));
        at += 1;
    }
    at = 0;
    while at < PROGRAMS.len() {
        let context = Context::Command(at);
        filled = fill(
            &mut entries,
            filled,
            PROGRAMS[at].keywords,
            Trigger::Context(context),
        );
        at += 1;
    }
    // Insertion sort: stable, and short enough for the compiler.
    let mut sorted = 1;
    while sorted < entries.len() {
        let mut at = sorted;
        while at > 0 && entries[at - 1].gram > entries[at].gram {
            let other = entries[at - 1];
            entries[at - 1] = entries[at];
            entries[at] = other;
            at -= 1;
        }
        sorted += 1;
    }
    entries
};

/// One bit for each slot that a keyword starts in.
static FILTER: [u64; 1024] = {
    let mut filter = [0_u64; 1024];
    let mut i = 0;
    while i < ENTRIES.len() {
        let slot = slot(ENTRIES[i].gram);
        filter[slot >> 6] |= 1 << (slot & 63);
        i += 1;
    }
    filter
};

/// Calls `visit` for every keyword in the text, in order. Keywords of tokens are found as written, others in any case.
pub(crate) fn for_each_keyword(bytes: &[u8], mut visit: impl FnMut(Range<usize>, Trigger)) {
    for (at, window) in bytes.windows(3).enumerate() {
        let gram = gram(window[0], window[1], window[2]);
        let slot = slot(gram);
        if FILTER[slot >> 6] >> (slot & 63) & 1 == 0 {
            continue;
        }
        let first = ENTRIES.partition_point(|entry| entry.gram < gram);
        for entry in ENTRIES[first..].iter().take_while(|entry| entry.gram == gram) {
            let Some(found) = bytes.get(at..at + entry.keyword.len()) else {
                continue;
            };
            let matches = match entry.trigger {
                Trigger::Token(_) => found == entry.keyword,
                Trigger::Context(_) => found.eq_ignore_ascii_case(entry.keyword),
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
        for entry in &ENTRIES {
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
