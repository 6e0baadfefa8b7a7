//! Word signals: BM25 over text, trace and paths as one weighted field, and the share of the query that is covered.

use crate::candidates::Candidates;
use crate::{Ranking, Signal, Terms};
use grov_domain::{MemoryDocument, MemoryStatistics, TermCount};

impl Candidates {
    /// Adds score for the words of the query, scaled so that the best candidate has 1.
    pub fn add_words(&mut self, terms: &Terms, statistics: &MemoryStatistics, ranking: &Ranking) {
        let known = terms.words.iter().zip(&statistics.terms);
        let words: Vec<Word> = known
            .map(|(word, term)| Word {
                weight: statistics.rarity(term.frequency),
                is_identifier: terms.identifiers.contains(word),
                is_read: term.is_read,
            })
            .collect();
        let asked: f64 = words
            .iter()
            .filter(|word| word.is_read)
            .map(|word| word.weight)
            .sum();
        for candidate in &mut self.list {
            let length = length_factor(&candidate.document, statistics, ranking);
            for found in std::mem::take(&mut candidate.counts) {
                candidate.counts.push(found);
                let Some(word) = words.get(found.term) else {
                    let related = found.term.checked_sub(terms.first_related());
                    if related.is_some_and(|related| related < terms.related.len())
                        && let Some(term) = statistics.terms.get(found.term)
                    {
                        let (in_text, in_paths) = counts(&found, ranking);
                        let count = in_text + in_paths;
                        let value =
                            statistics.rarity(term.frequency) * count / (count + ranking.saturation * length);
                        candidate.add(Signal::Text, value * ranking.related_weight);
                    }
                    continue;
                };
                let (in_text, in_paths) = counts(&found, ranking);
                let count = in_text + in_paths;
                if count <= 0.0 {
                    continue;
                }
                let value = word.weight * count / (count + ranking.saturation * length);
                if word.is_identifier {
                    candidate.add(Signal::Identifier, value * ranking.identifier_weight);
                } else {
                    candidate.add(Signal::Text, value * in_text / count);
                    candidate.add(Signal::Path, value * in_paths / count);
                }
                candidate.coverage += word.weight / asked.max(f64::MIN_POSITIVE);
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

/// A word of the query.
struct Word {
    weight: f64,
    is_identifier: bool,
    is_read: bool,
}

/// The weighted number of occurrences of a word: in text and trace, and in paths.
fn counts(found: &TermCount, ranking: &Ranking) -> (f64, f64) {
    let [text, trace, path, _] = found.counts.map(f64::from);
    (text + ranking.trace_weight * trace, ranking.path_weight * path)
}

/// The length factor of BM25: above 1 for a memory longer than the average.
fn length_factor(document: &MemoryDocument, statistics: &MemoryStatistics, ranking: &Ranking) -> f64 {
    let weights = [1.0, ranking.trace_weight, ranking.path_weight, 0.0];
    let weighted = |lengths: [f64; 4]| -> f64 {
        lengths
            .iter()
            .zip(weights)
            .map(|(length, weight)| length * weight)
            .sum()
    };
    let documents = statistics.documents.max(1) as f64;
    let average = weighted(statistics.lengths.map(|length| length as f64 / documents)).max(1.0);
    let length = weighted(document.lengths.map(f64::from));
    1.0 - ranking.length_penalty + ranking.length_penalty * length / average
}
