//! Whether a memory is about what the question is about at all, on a scale that means the same in every project, whatever its
//! size.
//!
//! Scores rank the memories of one search; the best of them may still be about something else. Relevance grows with what
//! the question and the memory share, each word by its rarity, and falls with what else the question says and how long
//! the memory is, because a long one has some of any words. In a store of few memories every word is rare, so rarity is
//! estimated as if [`BACKGROUND`] more were there, in which commonplace words are common and all others do not occur.

use crate::Terms;
use crate::candidates::Candidates;
use crate::commonplace::{is_commonplace, is_commonplace_file};
use grov_domain::{MemoryStatistics, TermCount, TermStatistics, file_name};

/// Memories that are thought to be there besides those that are.
const BACKGROUND: f64 = 2000.0;
/// In what share of them a commonplace word stands.
const COMMON_SHARE: f64 = 0.1;
/// What a question says besides its words: keeps two commonplace words from being all of it.
const UNSAID: f64 = 5.0;
/// Terms of a memory at which its length begins to count.
const LENGTH: f64 = 100.0;
/// How strongly it does.
const LENGTH_POWER: f64 = 0.6;
/// What a word in the record or in a path is worth, compared with one in the prompt, the goal or a decision.
const BESIDE_TEXT: f64 = 0.8;
/// Words behind an identifier that can be parts of it.
const PARTS: usize = 6;

/// How telling a term is.
fn weight(term: &TermStatistics, documents: u64, commonplace: bool) -> f64 {
    let share = if commonplace { COMMON_SHARE } else { 0.0 };
    let all = documents as f64 + BACKGROUND + 1.0;
    let with = term.frequency as f64 + BACKGROUND * share + 1.0;
    (all / with).ln().max(0.0)
}

impl Candidates {
    /// Says how relevant each memory is to the question.
    pub fn add_relevance(&mut self, terms: &Terms, statistics: &MemoryStatistics) {
        let words = terms.words.iter().map(|word| is_commonplace(word));
        let files = terms
            .files
            .iter()
            .map(|(path, _)| is_commonplace_file(&file_name(path)));
        let asked_for: Vec<Asked> = words
            .chain(files)
            .zip(&statistics.terms)
            .zip(groups(terms))
            .map(|((commonplace, term), group)| Asked {
                weight: weight(term, statistics.documents, commonplace),
                is_read: term.is_read,
                group,
            })
            .collect();
        let asked = asked_for
            .chunk_by(|one, other| one.group == other.group)
            // Of a name and its parts the most telling one counts: they say one thing.
            .map(|group| {
                most(
                    group
                        .iter()
                        .filter(|asked| asked.is_read)
                        .map(|asked| asked.weight),
                )
            })
            .fold(UNSAID, |sum, weight| sum + weight);
        for candidate in &mut self.list {
            let group_of = |count: &TermCount| asked_for.get(count.term).map(|asked| asked.group);
            let of_groups = candidate
                .counts
                .chunk_by(|one, other| group_of(one) == group_of(other))
                .map(|group| most(group.iter().map(|count| worth(count, &asked_for))));
            let shared: f64 = of_groups.fold(0.0, |sum, weight| sum + weight);
            let length: u32 = candidate.document.lengths.iter().take(3).sum();
            let long = (1.0 + f64::from(length) / LENGTH).powf(LENGTH_POWER);
            candidate.relevance = shared.powi(2) / asked / long;
        }
    }
}

/// A term of the question.
struct Asked {
    weight: f64,
    is_read: bool,
    /// Terms of one group say one thing.
    group: usize,
}

/// What it is worth that a term stands in a memory.
fn worth(count: &TermCount, asked_for: &[Asked]) -> f64 {
    let weight = asked_for.get(count.term).map_or(0.0, |asked| asked.weight);
    match count.counts {
        [0, 0, 0, 0] => 0.0,
        [0, 0, 0, _] => weight,
        [0, ..] => weight * BESIDE_TEXT,
        _ => weight,
    }
}

fn most(weights: impl Iterator<Item = f64>) -> f64 {
    weights.fold(0.0, f64::max)
}

/// The group of each term: a name of code and its parts behind it say one thing, and so does any other word or file alone.
fn groups(terms: &Terms) -> Vec<usize> {
    let mut groups = Vec::with_capacity(terms.words.len() + terms.files.len());
    // The first word of the last group, and the number of that group.
    let mut last: Option<(usize, &str)> = None;
    let mut number = 0;
    for (place, word) in terms.words.iter().enumerate() {
        let is_part = last.is_some_and(|(first, whole)| {
            let near = place - first <= PARTS && terms.identifiers.contains(whole);
            near && whole.len() > word.len() && whole.contains(word.as_str())
        });
        if !is_part {
            number += 1;
            last = Some((place, word));
        }
        groups.push(number);
    }
    groups.extend((1..=terms.files.len()).map(|file| number + file));
    groups
}

#[cfg(test)]
mod tests;
