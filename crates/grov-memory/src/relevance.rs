//! Relevance: whether a memory is about the subject of the query at all, on a scale that is the same for projects of any size.
//!
//! Scores rank the results of one search, and even the best may be about something else. Relevance grows with the words that
//! query and memory share, each weighted by its rarity. It falls with the rest of the query and with the length of the
//! memory, because a long one contains some of any words. In a small store every word is rare, so rarity is estimated as if
//! there were [`BACKGROUND`] more memories, in which common words are frequent and all others do not occur.

use crate::Terms;
use crate::candidates::Candidates;
use crate::language::Language;
use crate::named::names;
use grov_domain::{
    MemoryStatistics, TaskStatus, TermCount, TermStatistics, file_name, is_common_file, is_common_word,
};

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
/// The weight of a synonym or translation, relative to the word.
const RELATED_FACTOR: f64 = 0.8;
/// The weight of a word that no memory contains, in a prompt of another language in Latin script.
const UNKNOWN_FOREIGN: f64 = 0.25;
/// The same in another script; of a script without spaces each pair of characters is a word.
const UNKNOWN_OTHER_SCRIPT: f64 = 0.1;
/// The weight from which on a word is rare: one in ninety memories, with [`BACKGROUND`].
const RARE: f64 = 4.5;
/// A word in more memories than this, or in more than one in [`RARE_SHARE`], is not rare.
const MAX_RARE: u64 = 3;
const RARE_SHARE: u64 = 500;
/// The share of what a query asks for that two rare words must be.
const MIN_COVERAGE: f64 = 0.3;
/// The share of what a short prompt points at that a memory must have.
const MIN_SUBJECT: f64 = 0.6;
/// The weight from which on one word is enough for that.
const SPECIAL: f64 = 4.5;
/// The factor for two rare words of a short query.
const AGREEMENT: f64 = 1.7;
/// Maximum number of words of a short query.
const MAX_SHORT_QUERY: usize = 16;
/// The relevance of a memory that has a name of the query.
const NAMED: f64 = 6.0;
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
        let query_terms = query_terms(terms, statistics);
        let groups = query_terms.iter().map(|term| term.group + 1).max().unwrap_or(0);
        let asked_of = asked_weights(terms, &query_terms, groups);
        let asked = QUERY_BASE_WEIGHT + asked_of.iter().sum::<f64>();
        let pointed = pointed_groups(terms, groups);
        let is_short = groups <= MAX_SHORT_QUERY;
        let names = names(terms, statistics);
        let most = MAX_RARE.max(statistics.documents / RARE_SHARE);
        let mut rare = vec![false; groups];
        for term in query_terms
            .iter()
            .filter(|term| (1..=most).contains(&term.frequency))
        {
            rare[term.group] = true;
        }
        for candidate in &mut self.list {
            let mut shared = vec![0.0_f64; groups];
            let mut is_named = false;
            // Whether each group is in more than the trace, which quotes what others said.
            let mut is_stated = vec![false; groups];
            for count in &candidate.counts {
                if let Some(term) = query_terms.get(count.term) {
                    shared[term.group] = shared[term.group].max(worth(count, term));
                    let [text, _, path, file] = count.counts;
                    is_stated[term.group] |= text > 0 || path > 0 || file > 0;
                }
                is_named |= names.get(count.term).is_some_and(|name| name.is_in(count));
            }
            let length: u32 = candidate.document.lengths.iter().take(3).sum();
            let long = (1.0 + f64::from(length) / LENGTH).powf(LENGTH_POWER);
            let sum: f64 = shared.iter().sum();
            let agreeing = rare
                .iter()
                .zip(&shared)
                .filter(|(rare, weight)| **rare && **weight >= RARE)
                .count();
            let of_subject = |weights: &[f64]| -> f64 { pointed.iter().map(|group| weights[*group]).sum() };
            let is_subject_shared = of_subject(&shared) >= MIN_SUBJECT * of_subject(&asked_of);
            let is_left = terms.goes_on && candidate.document.status == TaskStatus::Abandoned;
            let is_special = |group: &&usize| {
                is_stated[**group] && (is_left || rare[**group] && shared[**group] >= SPECIAL)
            };
            is_named |= is_subject_shared && pointed.iter().any(|group| is_special(&group));
            let covers = sum >= MIN_COVERAGE * (asked - QUERY_BASE_WEIGHT);
            let agreement = if is_short && agreeing >= 2 && covers {
                AGREEMENT
            } else {
                1.0
            };
            candidate.relevance = agreement * sum.powi(2) / asked / long;
            if is_named {
                candidate.relevance = candidate.relevance.max(NAMED);
            }
        }
    }
}

/// The groups of the words at which a short prompt points.
fn pointed_groups(terms: &Terms, count: usize) -> Vec<usize> {
    let groups = groups(terms);
    let mut pointed: Vec<usize> = terms
        .pointed
        .iter()
        .filter_map(|place| groups.get(*place).copied())
        .collect();
    if !terms.pointed.is_empty() {
        // A file that it names is one of its words, too.
        pointed.extend(groups.iter().skip(terms.words.len()));
    }
    pointed.retain(|group| *group < count);
    pointed.sort_unstable();
    pointed.dedup();
    pointed
}

/// A term of the query.
struct QueryTerm {
    weight: f64,
    /// The number of memories that contain it.
    frequency: u64,
    is_read: bool,
    /// Terms of one group count once.
    group: usize,
    /// 1, or less for a synonym or translation.
    factor: f64,
}

/// The terms in the order of [`Terms::all`].
fn query_terms(terms: &Terms, statistics: &MemoryStatistics) -> Vec<QueryTerm> {
    let mut groups = groups(terms);
    for (later, first) in &terms.same {
        // A word that no memory contains does not ask for more than its synonym.
        if statistics
            .terms
            .get(*later)
            .is_some_and(|term| term.frequency == 0)
        {
            groups[*later] = groups[*first];
        }
    }
    let words = terms.words.iter().enumerate().map(|(place, word)| {
        let is_without_subject = terms.function_words.contains(&place);
        (is_common_word(word), if is_without_subject { 0.0 } else { 1.0 })
    });
    let files = terms
        .files
        .iter()
        .map(|(path, _)| (is_common_file(&file_name(path)), 1.0));
    let related = terms.related.iter().map(|related| {
        let factor = if related.is_compound { 1.0 } else { RELATED_FACTOR };
        // Of a common word even a rare derivation says little: "error", "erroneous".
        let is_derived = related.is_beginning && is_common_word(&terms.words[related.word]);
        (is_derived || is_common_word(&related.term), factor)
    });
    let of_related = terms.related.iter().map(|related| groups[related.word]);
    let all_groups = groups.iter().copied().chain(of_related);
    words
        .chain(files)
        .chain(related)
        .zip(&statistics.terms)
        .zip(all_groups)
        .map(|(((common, factor), term), group)| QueryTerm {
            weight: weight(term, statistics.documents, common),
            frequency: term.frequency,
            is_read: term.is_read,
            group,
            factor,
        })
        .collect()
}

/// What the query asks for, by group: an identifier and its parts count once, with the largest weight. A word that no
/// memory contains counts as its synonyms do, and one of another language hardly.
fn asked_weights(terms: &Terms, query_terms: &[QueryTerm], groups: usize) -> Vec<f64> {
    let related_from = terms.first_related();
    let unknown = match terms.language {
        Language::English => 1.0,
        Language::Latin => UNKNOWN_FOREIGN,
        Language::OtherScript => UNKNOWN_OTHER_SCRIPT,
    };
    let mut direct = vec![0.0_f64; groups];
    let mut related = vec![0.0_f64; groups];
    let mut missing = vec![0.0_f64; groups];
    for (place, term) in query_terms.iter().enumerate().filter(|(_, term)| term.is_read) {
        let weight = term.weight * term.factor;
        if place >= related_from {
            let is_known = term.frequency > 0;
            related[term.group] = related[term.group].max(if is_known { weight } else { 0.0 });
        } else if term.frequency > 0 {
            direct[term.group] = direct[term.group].max(weight);
        } else {
            missing[term.group] = missing[term.group].max(weight * unknown);
        }
    }
    (0..groups)
        .map(|group| {
            if direct[group] == 0.0 && related[group] > 0.0 {
                related[group]
            } else {
                direct[group].max(missing[group])
            }
        })
        .collect()
}

/// The weight of a term's occurrences in a memory.
fn worth(count: &TermCount, term: &QueryTerm) -> f64 {
    let weight = term.weight * term.factor;
    match count.counts {
        [0, 0, 0, 0] => 0.0,
        [0, 0, 0, _] => weight,
        [0, ..] => weight * SECONDARY_FIELD_FACTOR,
        _ => weight,
    }
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
        groups.push(number - 1);
    }
    groups.extend((0..terms.files.len()).map(|file| number + file));
    groups
}

#[cfg(test)]
mod tests;
