//! From what the store knows to an order.

use crate::{Ranking, Terms};
use grov_domain::{MemoryDocument, MemoryExtent, Posting, TaskId, TaskStatus, TermMatches};
use std::collections::HashMap;
use time::OffsetDateTime;

/// Why a memory was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Signal {
    /// Words of the prompt stand in it.
    Text,
    /// Words of the prompt stand in the paths it touched.
    Path,
    /// It touched a file that the prompt names.
    File,
    /// It names an identifier that the prompt names.
    Identifier,
    /// It touched files that the best texts touched.
    Companion,
    /// It was saved next to good ones.
    Neighbour,
    /// It is new.
    Recency,
}

impl Signal {
    /// The name that a script sees.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Path => "path",
            Self::File => "file",
            Self::Identifier => "identifier",
            Self::Companion => "companion",
            Self::Neighbour => "neighbour",
            Self::Recency => "recency",
        }
    }
}

/// What one signal gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// Which.
    pub signal: Signal,
    /// Part of the score.
    pub value: f64,
}

/// A memory that fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The task.
    pub task_id: TaskId,
    /// The larger, the better; comparable within one search.
    pub score: f64,
    /// What the score is made of, largest first; the sum is the score.
    pub shares: Vec<Share>,
}

/// What the store knows about a question.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// The question's terms.
    pub terms: Terms,
    /// Where they stand: first the words, then name and path of each file.
    pub matches: TermMatches,
    /// The candidates.
    pub documents: Vec<MemoryDocument>,
}

/// How telling a term is that stands in `frequency` of `documents` memories.
fn rarity(frequency: u64, documents: u64) -> f64 {
    let (frequency, documents) = (frequency as f64, documents as f64);
    (1.0 + (documents - frequency + 0.5).max(0.0) / (frequency + 0.5)).ln()
}

/// All memories that any term stands in, best first by a score that does not know their lengths.
pub(crate) fn rough(terms: &Terms, matches: &TermMatches, ranking: &Ranking) -> Vec<i64> {
    let mut scores: HashMap<i64, f64> = HashMap::new();
    for (place, term) in matches.terms.iter().enumerate() {
        let weight = rarity(term.frequency, matches.extent.documents);
        for posting in term.postings.iter().flatten() {
            let [text, trace, path, file] = posting.counts.map(f64::from);
            let count = text + ranking.trace_weight * trace + ranking.path_weight * path;
            let count = if place < terms.words.len() { count } else { file };
            *scores.entry(posting.document).or_default() += weight * count / (count + ranking.saturation);
        }
    }
    let mut order: Vec<(i64, f64)> = scores.into_iter().collect();
    order.sort_by(|(one, left), (other, right)| right.total_cmp(left).then(other.cmp(one)));
    order.into_iter().map(|(document, _)| document).collect()
}

/// A candidate and what speaks for it.
struct Candidate<'a> {
    document: &'a MemoryDocument,
    shares: Vec<Share>,
}

impl Candidate<'_> {
    fn add(&mut self, signal: Signal, value: f64) {
        if value <= 0.0 {
            return;
        }
        match self.shares.iter_mut().find(|share| share.signal == signal) {
            Some(share) => share.value += value,
            None => self.shares.push(Share { signal, value }),
        }
    }

    fn score(&self) -> f64 {
        self.shares.iter().map(|share| share.value).sum()
    }
}

/// Puts the candidates into order, those without merit left out. The same evidence gives the same order.
pub fn rank(evidence: &Evidence, _now: Option<OffsetDateTime>, ranking: &Ranking) -> Vec<Found> {
    let mut candidates: Vec<Candidate<'_>> = evidence
        .documents
        .iter()
        .map(|document| Candidate {
            document,
            shares: Vec::new(),
        })
        .collect();
    let places: HashMap<i64, usize> = evidence
        .documents
        .iter()
        .enumerate()
        .map(|(place, document)| (document.document, place))
        .collect();
    add_words(&mut candidates, &places, evidence, ranking);
    let best = best_of(&candidates);
    for candidate in &mut candidates {
        if candidate.document.status == TaskStatus::Abandoned {
            for share in &mut candidate.shares {
                share.value *= ranking.abandoned_factor;
            }
        }
    }
    let mut found: Vec<Found> = candidates
        .into_iter()
        .filter(|candidate| candidate.score() > ranking.floor * best)
        .map(|mut candidate| {
            candidate
                .shares
                .sort_by(|one, other| other.value.total_cmp(&one.value));
            Found {
                task_id: candidate.document.task_id.clone(),
                score: candidate.score(),
                shares: candidate.shares,
            }
        })
        .collect();
    found.sort_by(|one, other| {
        other
            .score
            .total_cmp(&one.score)
            .then_with(|| one.task_id.cmp(&other.task_id))
    });
    found
}

fn best_of(candidates: &[Candidate<'_>]) -> f64 {
    candidates.iter().map(Candidate::score).fold(0.0, f64::max)
}

/// BM25 over text, record and paths.
fn add_words(
    candidates: &mut [Candidate<'_>],
    places: &HashMap<i64, usize>,
    evidence: &Evidence,
    ranking: &Ranking,
) {
    let extent = &evidence.matches.extent;
    for ((word, _), term) in evidence.terms.words.iter().zip(&evidence.matches.terms) {
        let weight = rarity(term.frequency, extent.documents);
        for posting in term.postings.iter().flatten() {
            let Some(candidate) = places
                .get(&posting.document)
                .and_then(|place| candidates.get_mut(*place))
            else {
                continue;
            };
            let (text, path) = counts(posting, candidate.document, extent, ranking);
            let all = text + path;
            if all <= 0.0 {
                continue;
            }
            let value = weight * all / (all + ranking.saturation);
            candidate.add(Signal::Text, value * text / all);
            candidate.add(Signal::Path, value * path / all);
            if evidence.terms.identifiers.contains(word) {
                candidate.add(Signal::Identifier, value * ranking.identifier_weight);
            }
        }
    }
}

/// How often a word stands in a memory, a long one's words counting less: in text and record, and in paths.
fn counts(
    posting: &Posting,
    document: &MemoryDocument,
    extent: &MemoryExtent,
    ranking: &Ranking,
) -> (f64, f64) {
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
    let norm = 1.0 - ranking.length_penalty + ranking.length_penalty * length / average;
    let [text, trace, path, _] = posting.counts.map(f64::from);
    (
        (text + ranking.trace_weight * trace) / norm,
        ranking.path_weight * path / norm,
    )
}
