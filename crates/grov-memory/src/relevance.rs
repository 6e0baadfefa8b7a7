//! Relevance: whether a memory is about the subject of the query at all, on a scale that is the same for projects of any size.
//!
//! Scores rank the results of one search, and even the best may be about something else. Relevance grows with the words that
//! query and memory share, each weighted by its rarity. It falls with the rest of the query and with the length of the
//! memory, because a long one contains some of any words. In a small store every word is rare, so rarity is estimated as if
//! there were [`BACKGROUND`] more memories, in which common words are frequent and all others do not occur.

use crate::Terms;
use crate::candidates::Candidates;
use crate::common_words::{is_common_file, is_common_word};
use grov_domain::{MemoryStatistics, TermCount, TermStatistics, file_name};

/// Imaginary memories added to those in the store.
const BACKGROUND: f64 = 2000.0;
/// The share of them that contains a common word.
const COMMON_SHARE: f64 = 0.1;
/// Added to the weight of every query, so that two common words do not make up all of it.
const QUERY_BASE_WEIGHT: f64 = 5.0;
/// Terms of a memory at which its length begins to count.
const LENGTH: f64 = 100.0;
/// The exponent of the length.
const LENGTH_POWER: f64 = 0.6;
/// The weight of a word in the trace or a path, relative to one in the prompt, the goal or a decision.
const SECONDARY_FIELD_FACTOR: f64 = 0.8;
/// Maximum number of words after an identifier that can be its parts.
const MAX_PARTS: usize = 6;

/// The weight of a term by its rarity.
fn weight(term: &TermStatistics, documents: u64, common: bool) -> f64 {
    let share = if common { COMMON_SHARE } else { 0.0 };
    let all = documents as f64 + BACKGROUND + 1.0;
    let with = term.frequency as f64 + BACKGROUND * share + 1.0;
    (all / with).ln().max(0.0)
}

impl Candidates {
    /// Sets the relevance of each candidate.
    pub fn add_relevance(&mut self, terms: &Terms, statistics: &MemoryStatistics) {
        let words = terms.words.iter().map(|word| is_common_word(word));
        let files = terms
            .files
            .iter()
            .map(|(path, _)| is_common_file(&file_name(path)));
        let query_terms: Vec<QueryTerm> = words
            .chain(files)
            .zip(&statistics.terms)
            .zip(groups(terms))
            .map(|((common, term), group)| QueryTerm {
                weight: weight(term, statistics.documents, common),
                is_read: term.is_read,
                group,
            })
            .collect();
        let asked = query_terms
            .chunk_by(|one, other| one.group == other.group)
            // An identifier and its parts count once, with the largest weight.
            .map(|group| {
                most(
                    group
                        .iter()
                        .filter(|asked| asked.is_read)
                        .map(|asked| asked.weight),
                )
            })
            .fold(QUERY_BASE_WEIGHT, |sum, weight| sum + weight);
        for candidate in &mut self.list {
            let group_of = |count: &TermCount| query_terms.get(count.term).map(|asked| asked.group);
            let of_groups = candidate
                .counts
                .chunk_by(|one, other| group_of(one) == group_of(other))
                .map(|group| most(group.iter().map(|count| worth(count, &query_terms))));
            let shared: f64 = of_groups.fold(0.0, |sum, weight| sum + weight);
            let length: u32 = candidate.document.lengths.iter().take(3).sum();
            let long = (1.0 + f64::from(length) / LENGTH).powf(LENGTH_POWER);
            candidate.relevance = shared.powi(2) / asked / long;
        }
    }
}

/// A term of the query.
struct QueryTerm {
    weight: f64,
    is_read: bool,
    /// Terms of one group count once.
    group: usize,
}

/// The weight of a term's occurrences in a memory.
fn worth(count: &TermCount, query_terms: &[QueryTerm]) -> f64 {
    let weight = query_terms.get(count.term).map_or(0.0, |asked| asked.weight);
    match count.counts {
        [0, 0, 0, 0] => 0.0,
        [0, 0, 0, _] => weight,
        [0, ..] => weight * SECONDARY_FIELD_FACTOR,
        _ => weight,
    }
}

fn most(weights: impl Iterator<Item = f64>) -> f64 {
    weights.fold(0.0, f64::max)
}

/// The group of each term: an identifier and the parts that follow it, or a single word or file.
fn groups(terms: &Terms) -> Vec<usize> {
    let mut groups = Vec::with_capacity(terms.words.len() + terms.files.len());
    // The position and text of the first word of the last group.
    let mut last: Option<(usize, &str)> = None;
    let mut number = 0;
    for (place, word) in terms.words.iter().enumerate() {
        let is_part = last.is_some_and(|(first, whole)| {
            let near = place - first <= MAX_PARTS && terms.identifiers.contains(whole);
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
