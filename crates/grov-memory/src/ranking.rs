//! The parameters of ranking.

use grov_domain::TermWeights;

/// How memories are ranked. The defaults measured best (`docs/performance.md`). A weight of 0 turns a signal off.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// How soon further occurrences of a word stop counting (BM25's k1).
    pub saturation: f64,
    /// How much a long memory is lowered, from 0 (not at all) to 1 (BM25's b).
    pub length_penalty: f64,
    /// The weight of a word in the trace, relative to one in the prompt or the goal.
    pub trace_weight: f64,
    /// The weight of a word in a path, relative to the same.
    pub path_weight: f64,
    /// The weight of an identifier, relative to any other word of the same rarity.
    pub identifier_weight: f64,
    /// The weight of containing all words of the query, relative to the memory's word score.
    pub coverage_weight: f64,
    /// The weight of a file that the query names, relative to the best word score.
    pub file_weight: f64,
    /// The weight of recency for a short query, relative to the memory's own score.
    pub recency_weight: f64,
    /// The number of newer memories after which recency has fallen to a third.
    pub recency_span: f64,
    /// The number of words of a query for which recency counts half: a long query names its subject.
    pub recency_gate: f64,
    /// The weight of touching the files that the best results touched, relative to the best word score.
    pub co_change_weight: f64,
    /// The number of best results whose files are taken.
    pub co_change_sources: usize,
    /// The weight of a good result for memories saved close to it.
    pub neighbour_weight: f64,
    /// The distance in seconds at which that weight has fallen to a half.
    pub neighbour_seconds: f64,
    /// The weight of embedding similarity, relative to the best word score; only in [`semantic_search`](crate::semantic_search).
    pub dense_weight: f64,
    /// The cosine similarity up to which there is no score.
    pub dense_floor: f64,
    /// The factor for abandoned tasks.
    pub abandoned_factor: f64,
    /// The factor for a memory all of whose files have changed.
    pub stale_factor: f64,
    /// The minimum [`Found::relevance`](crate::Found::relevance) of a result. With 0 every match is returned.
    pub floor: f64,
    /// The weight of a synonym or translation of a word of the query, relative to the word. With 0 none is searched for.
    pub related_weight: f64,
    /// The maximum number of postings read for one query, those of the rarest terms first.
    pub budget: u64,
    /// The maximum number of candidates scored.
    pub candidates: usize,
}

/// Separates memories that are about a prompt from those that are not, measured with prompts of other projects
/// (`docs/performance.md`).
const INJECTION_FLOOR: f64 = 4.5;
/// Injected memories rank high by words alone: with six times as many candidates, the same prompts of the development
/// set get a memory, and it is equally often the right one (`docs/performance.md`).
const INJECTION_CANDIDATES: usize = 64;
/// Half the postings of a search: of 300 queries for one of 10,000 generated memories 268 find it, with 20,000 postings 278
/// (`docs/performance.md`).
const INJECTION_BUDGET: u64 = 10_000;

impl Ranking {
    /// For automatic injection: only memories that are very likely about the prompt.
    pub fn for_injection() -> Self {
        Self {
            floor: INJECTION_FLOOR,
            candidates: INJECTION_CANDIDATES,
            budget: INJECTION_BUDGET,
            related_weight: 0.7,
            // A memory that shares a file but no word is below the floor anyway.
            co_change_weight: 0.0,
            ..Self::default()
        }
    }

    /// The weights by which the store selects candidates.
    pub(crate) fn term_weights(&self) -> TermWeights {
        TermWeights {
            saturation: self.saturation,
            fields: [1.0, self.trace_weight, self.path_weight, 1.0],
        }
    }
}

impl Default for Ranking {
    fn default() -> Self {
        Self {
            saturation: 1.2,
            length_penalty: 0.3,
            trace_weight: 0.6,
            path_weight: 0.8,
            identifier_weight: 1.0,
            coverage_weight: 0.3,
            file_weight: 0.7,
            recency_weight: 2.0,
            recency_span: 50.0,
            recency_gate: 12.0,
            co_change_weight: 1.0,
            co_change_sources: 10,
            neighbour_weight: 0.3,
            neighbour_seconds: 120.0,
            dense_weight: 1.0,
            dense_floor: 0.2,
            abandoned_factor: 0.8,
            stale_factor: 0.7,
            floor: 0.0,
            related_weight: 0.0,
            budget: 20_000,
            candidates: 400,
        }
    }
}
