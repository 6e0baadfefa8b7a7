//! Memories and what speaks for them.

use crate::Ranking;
use grov_domain::{MemoryCandidate, MemoryDocument, TaskId, TaskStatus, TermCount};
use std::collections::HashMap;

/// Why a memory was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Signal {
    /// Words of the question stand in its text.
    Text,
    /// Words of the question stand in the paths it touched.
    Path,
    /// It names an identifier that the question names.
    Identifier,
    /// Much of the question stands in it, and not only one word.
    Coverage,
    /// It touched a file that the question names.
    File,
    /// It is among the newest, and the question is short.
    Recency,
    /// It touched files that the best memories touched.
    Companion,
    /// It was saved close to good ones.
    Neighbour,
    /// It means something near to the question, says a model.
    Dense,
}

impl Signal {
    /// The name that a script sees.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Path => "path",
            Self::Identifier => "identifier",
            Self::Coverage => "coverage",
            Self::File => "file",
            Self::Recency => "recency",
            Self::Companion => "companion",
            Self::Neighbour => "neighbour",
            Self::Dense => "dense",
        }
    }
}

/// What one signal gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// Which.
    pub signal: Signal,
    /// Its part of the score.
    pub value: f64,
}

/// A memory that fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The task.
    pub task_id: TaskId,
    /// The larger, the better; comparable within one search, where the best text alone is 1.
    pub score: f64,
    /// What the score is made of, largest first; their sum is the score.
    pub shares: Vec<Share>,
    /// How much of the question stands in it, by the rarity of its words: 0 to 1, comparable between searches.
    pub coverage: f64,
    /// How likely it is about what the question is about: 0 for nothing in common, above 5 seldom by chance; comparable
    /// between searches and projects.
    pub relevance: f64,
    /// The task whose knowledge replaces this one's.
    pub superseded_by: Option<TaskId>,
}

/// A memory that is looked at.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(crate) document: MemoryDocument,
    /// Which terms of the question stand in it.
    pub(crate) counts: Vec<TermCount>,
    pub(crate) coverage: f64,
    pub(crate) relevance: f64,
    /// Few, so a list is enough.
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

/// The memories that are looked at for one question. Signals are added one after the other, those that look at what is
/// already known last.
#[derive(Debug, Default)]
pub struct Candidates {
    pub(crate) list: Vec<Candidate>,
    /// By the store's number.
    places: HashMap<i64, usize>,
}

impl Candidates {
    /// Nothing speaks for these yet.
    pub fn of(found: Vec<MemoryCandidate>) -> Self {
        let mut candidates = Self::default();
        candidates.admit(found);
        candidates
    }

    /// More of them; those that are there already stay as they are.
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

    /// The store's numbers of the memories that are looked at.
    pub(crate) fn numbers(&self) -> Vec<i64> {
        self.list
            .iter()
            .map(|candidate| candidate.document.document)
            .collect()
    }

    /// Whether any is as relevant as this.
    pub(crate) fn reach(&self, floor: f64) -> bool {
        self.list.iter().any(|candidate| candidate.relevance >= floor)
    }

    pub(crate) fn get_mut(&mut self, document: i64) -> Option<&mut Candidate> {
        self.list.get_mut(*self.places.get(&document)?)
    }

    /// Best first; among equals the newer one, then the one with the smaller id.
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

    /// The answer: abandoned tasks held back, those below the floor left out, best first.
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
