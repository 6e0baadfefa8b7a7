//! Words: BM25 over text, record and paths as one field with weights, and how much of the question is covered.

use crate::candidates::Candidates;
use crate::numbers::NumberSums;
use crate::{Ranking, Signal, Terms};
use grov_domain::{MemoryDocument, MemoryExtent, Posting, TermMatches};

/// How telling a term is that stands in `frequency` of `documents` memories (BM25's idf, kept above 0).
pub(crate) fn rarity(frequency: u64, documents: u64) -> f64 {
    let (frequency, documents) = (frequency as f64, documents as f64);
    ((documents - frequency + 0.5).max(0.0) / (frequency + 0.5)).ln_1p()
}

/// All memories in which any term stands, by a score that does not need to know them.
pub(crate) struct RoughOrder(NumberSums);

impl RoughOrder {
    pub(crate) fn of(terms: &Terms, matches: &TermMatches, ranking: &Ranking) -> Self {
        let documents = || matches.terms.iter().flat_map(|term| &term.postings).flatten();
        let mut scores = NumberSums::over(documents().map(|posting| posting.document));
        for (place, term) in matches.terms.iter().enumerate() {
            let weight = rarity(term.frequency, matches.extent.documents);
            let is_word = place < terms.words.len();
            for posting in term.postings.iter().flatten() {
                let (words, paths) = counts(posting, ranking);
                let [.., files] = posting.counts.map(f64::from);
                let count = if is_word { words + paths } else { files };
                scores.add(posting.document, weight * count / (count + ranking.saturation));
            }
        }
        Self(scores)
    }

    /// Takes the best of those that are left, the newer one of equals, in no order.
    pub(crate) fn next(&mut self, most: usize) -> Vec<i64> {
        self.0.take_largest(most)
    }
}

impl Candidates {
    /// Adds what the words of the question are worth; afterwards the best text alone is worth 1.
    pub fn add_words(&mut self, terms: &Terms, matches: &TermMatches, ranking: &Ranking) {
        let extent = &matches.extent;
        let known = terms.words.iter().zip(&matches.terms);
        let asked: f64 = known
            .clone()
            .filter(|(_, term)| term.postings.is_some())
            .map(|(_, term)| rarity(term.frequency, extent.documents))
            .sum();
        for (word, term) in known {
            let weight = rarity(term.frequency, extent.documents);
            let is_identifier = terms.identifiers.contains(word);
            for posting in term.postings.iter().flatten() {
                let Some(candidate) = self.get_mut(posting.document) else {
                    continue;
                };
                let length = length_factor(&candidate.document, extent, ranking);
                let (words, paths) = counts(posting, ranking);
                let count = words + paths;
                if count <= 0.0 {
                    continue;
                }
                let value = weight * count / (count + ranking.saturation * length);
                if is_identifier {
                    candidate.add(Signal::Identifier, value * ranking.identifier_weight);
                } else {
                    candidate.add(Signal::Text, value * words / count);
                    candidate.add(Signal::Path, value * paths / count);
                }
                candidate.coverage += weight / asked.max(f64::MIN_POSITIVE);
            }
        }
        for candidate in &mut self.list {
            let value = candidate.score() * ranking.coverage_weight * candidate.coverage;
            candidate.add(Signal::Coverage, value);
        }
        let best = self
            .list
            .iter()
            .map(|candidate| candidate.score())
            .fold(0.0, f64::max);
        if best > 0.0 {
            self.list
                .iter_mut()
                .for_each(|candidate| candidate.scale(1.0 / best));
        }
    }
}

/// How often a word stands in a memory, weighted: in text and record, and in paths.
fn counts(posting: &Posting, ranking: &Ranking) -> (f64, f64) {
    let [text, trace, path, _] = posting.counts.map(f64::from);
    (text + ranking.trace_weight * trace, ranking.path_weight * path)
}

/// Above 1 for a memory that is longer than the average.
fn length_factor(document: &MemoryDocument, extent: &MemoryExtent, ranking: &Ranking) -> f64 {
    let weights = [1.0, ranking.trace_weight, ranking.path_weight, 0.0];
    let weighted = |lengths: [f64; 4]| -> f64 {
        lengths
            .iter()
            .zip(weights)
            .map(|(length, weight)| length * weight)
            .sum()
    };
    let documents = extent.documents.max(1) as f64;
    let average = weighted(extent.lengths.map(|length| length as f64 / documents)).max(1.0);
    let length = weighted(document.lengths.map(f64::from));
    1.0 - ranking.length_penalty + ranking.length_penalty * length / average
}
