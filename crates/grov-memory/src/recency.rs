//! Time signals: recent memories, and memories saved close together.

use crate::candidates::{Candidate, Candidates};
use crate::{Ranking, Signal, Terms};
use std::collections::HashMap;

/// The number of memories on either side that count as neighbours.
const REACH: usize = 3;

/// The number of newest memories that gain score for recency. The others would gain less than a hundredth.
pub(crate) fn newest_limit(ranking: &Ranking) -> u32 {
    if ranking.recency_weight > 0.0 {
        (ranking.recency_span * 5.0).clamp(0.0, 1e4) as u32
    } else {
        0
    }
}

impl Candidates {
    /// Adds score for recency. `newest` holds the document numbers of the newest memories, newest first.
    ///
    /// Only for short queries: they refer to current work, while long ones name their subject, and recency hurts there.
    pub fn add_recency(&mut self, terms: &Terms, newest: &[i64], ranking: &Ranking) {
        let words = terms.words.len() as f64;
        let gate = 1.0 / (1.0 + (words / ranking.recency_gate).powi(2));
        for (newer, document) in newest.iter().enumerate() {
            if let Some(candidate) = self.get_mut(*document) {
                let fresh = (-(newer as f64) / ranking.recency_span).exp();
                let value = candidate.score() * ranking.recency_weight * gate * fresh;
                candidate.add(Signal::Recency, value);
            }
        }
    }

    /// Adds score for good neighbours: memories saved within minutes belong together.
    pub fn add_neighbours(&mut self, ranking: &Ranking) {
        if ranking.neighbour_weight <= 0.0 {
            return;
        }
        let mut order: Vec<&Candidate> = self
            .list
            .iter()
            .filter(|candidate| candidate.score() > 0.0)
            .collect();
        order.sort_by_key(|candidate| (candidate.document.created_at, candidate.document.document));
        let mut worth: HashMap<i64, f64> = HashMap::new();
        for (place, one) in order.iter().enumerate() {
            for other in order.iter().skip(place + 1).take(REACH) {
                let seconds = (other.document.created_at - one.document.created_at).as_seconds_f64();
                let near = 1.0 / (1.0 + seconds / ranking.neighbour_seconds);
                *worth.entry(one.document.document).or_default() += near * other.score();
                *worth.entry(other.document.document).or_default() += near * one.score();
            }
        }
        for (document, worth) in worth {
            if let Some(candidate) = self.get_mut(document) {
                candidate.add(Signal::Neighbour, ranking.neighbour_weight * worth);
            }
        }
    }
}
