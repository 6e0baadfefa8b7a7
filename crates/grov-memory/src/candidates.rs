//! Candidate memories and their scores.

use crate::Ranking;
use grov_domain::{MemoryCandidate, MemoryDocument, TaskId, TaskStatus, TermCount};
use std::collections::HashMap;

/// Why a memory was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Signal {
    /// Words of the query occur in its text.
    Text,
    /// Words of the query occur in the paths it touched.
    Path,
    /// It contains an identifier of the query.
    Identifier,
    /// It contains much of the query, not only one word.
    Coverage,
    /// It touched a file that the query names.
    File,
    /// It is among the newest, and the query is short.
    Recency,
    /// It touched files that the best results touched.
    CoChange,
    /// It was saved close in time to good results.
    Neighbour,
    /// Its embedding is close to that of the query.
    Dense,
}

impl Signal {
    /// The name in JSON output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Path => "path",
            Self::Identifier => "identifier",
            Self::Coverage => "coverage",
            Self::File => "file",
            Self::Recency => "recency",
            Self::CoChange => "companion",
            Self::Neighbour => "neighbour",
            Self::Dense => "dense",
        }
    }
}

/// The part of a score that one signal added.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// The signal.
    pub signal: Signal,
    /// The amount.
    pub value: f64,
}

/// A search result.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The task.
    pub task_id: TaskId,
    /// Larger is better. Comparable within one search, where the best text match alone is 1.
    pub score: f64,
    /// The parts of the score, largest first; they sum up to it.
    pub shares: Vec<Share>,
    /// How much of the query it contains, weighted by the rarity of the words: 0 to 1, comparable between searches.
    pub coverage: f64,
    /// How likely it is about the same subject as the query: 0 for nothing in common, above 5 rarely by chance. Comparable
    /// between searches and projects.
    pub relevance: f64,
    /// The task that supersedes this one.
    pub superseded_by: Option<TaskId>,
}

/// A memory under consideration.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(crate) document: MemoryDocument,
    /// The query terms that occur in it.
    pub(crate) counts: Vec<TermCount>,
    pub(crate) coverage: f64,
    pub(crate) relevance: f64,
    shares: Vec<Share>,
}

impl Candidate {
    pub(crate) fn add(&mut self, signal: Signal, value: f64) {
        if value <= 0.0 {
            return;
        }
        match self.shares.iter_mut().find(|share| share.signal == signal) {
            Some(share) => share.value += value,
            None => self.shares.push(Share { signal, value }),
        }
    }

    pub(crate) fn score(&self) -> f64 {
        self.shares.iter().map(|share| share.value).sum()
    }

    pub(crate) fn scale(&mut self, factor: f64) {
        for share in &mut self.shares {
            share.value *= factor;
        }
    }
}

/// The candidates for one query. Signals are added one after the other; those that depend on other scores come last.
#[derive(Debug, Default)]
pub struct Candidates {
    pub(crate) list: Vec<Candidate>,
    /// Position in `list`, by document number.
    places: HashMap<i64, usize>,
}

impl Candidates {
    /// Candidates without a score.
    pub fn of(found: Vec<MemoryCandidate>) -> Self {
        let mut candidates = Self::default();
        candidates.admit(found);
        candidates
    }

    /// Adds candidates that are not in the list yet.
    pub fn admit(&mut self, found: Vec<MemoryCandidate>) {
        for MemoryCandidate { document, counts } in found {
            let place = self.list.len();
            if *self.places.entry(document.document).or_insert(place) != place {
                continue;
            }
            self.list.push(Candidate {
                document,
                counts,
                coverage: 0.0,
                relevance: 0.0,
                shares: Vec::new(),
            });
        }
    }

    /// The document numbers of all candidates.
    pub(crate) fn numbers(&self) -> Vec<i64> {
        self.list
            .iter()
            .map(|candidate| candidate.document.document)
            .collect()
    }

    /// Whether the relevance of any candidate reaches `floor`.
    pub(crate) fn reach(&self, floor: f64) -> bool {
        self.list.iter().any(|candidate| candidate.relevance >= floor)
    }

    pub(crate) fn get_mut(&mut self, document: i64) -> Option<&mut Candidate> {
        self.list.get_mut(*self.places.get(&document)?)
    }

    /// Sorted by score, best first; ties by newest, then by id.
    pub(crate) fn in_order(&self) -> Vec<&Candidate> {
        let mut order: Vec<(f64, &Candidate)> = self
            .list
            .iter()
            .map(|candidate| (candidate.score(), candidate))
            .collect();
        order.sort_by(|(one_score, one), (other_score, other)| {
            other_score
                .total_cmp(one_score)
                .then_with(|| other.document.created_at.cmp(&one.document.created_at))
                .then_with(|| one.document.task_id.cmp(&other.document.task_id))
        });
        order.into_iter().map(|(_, candidate)| candidate).collect()
    }

    /// The results, best first: abandoned tasks lowered, those below the floor left out.
    pub fn into_found(mut self, ranking: &Ranking, limit: usize) -> Vec<Found> {
        for candidate in &mut self.list {
            if candidate.document.status == TaskStatus::Abandoned {
                candidate.scale(ranking.abandoned_factor);
            }
        }
        self.in_order()
            .into_iter()
            .filter(|candidate| candidate.score() > 0.0)
            .filter(|candidate| candidate.relevance >= ranking.floor)
            .take(limit)
            .map(|candidate| {
                let mut shares = candidate.shares.clone();
                shares.sort_by(|one, other| {
                    other
                        .value
                        .total_cmp(&one.value)
                        .then(one.signal.cmp(&other.signal))
                });
                Found {
                    task_id: candidate.document.task_id.clone(),
                    score: candidate.score(),
                    shares,
                    coverage: candidate.coverage,
                    relevance: candidate.relevance,
                    superseded_by: candidate.document.superseded_by.clone(),
                }
            })
            .collect()
    }
}
