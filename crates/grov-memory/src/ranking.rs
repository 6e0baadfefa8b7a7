//! The numbers that ranking depends on.

use grov_domain::TermWeights;

/// How memories are ranked. The defaults are those that measured best (`docs/performance.md`); a weight of 0 turns a
/// signal off.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// How soon more of the same word stops counting (BM25's k1).
    pub saturation: f64,
    /// How much a long memory is held back, from 0 (not at all) to 1 (BM25's b).
    pub length_penalty: f64,
    /// What a word is worth in the record of what was done, compared with one in the prompt or the goal.
    pub trace_weight: f64,
    /// What a word is worth in a path, compared likewise.
    pub path_weight: f64,
    /// What an identifier is worth, compared with any other word that is as rare.
    pub identifier_weight: f64,
    /// What it is worth when all words of the question stand in a memory, compared with the text's own score.
    pub coverage_weight: f64,
    /// What a file that the question names is worth, compared with the best text.
    pub file_weight: f64,
    /// What being new is worth to a short question, compared with the memory's own score.
    pub recency_weight: f64,
    /// After so many newer memories the worth of being new has fallen to a third.
    pub recency_span: f64,
    /// A question of so many words gets half of the worth of being new: a long one says itself what it is about.
    pub recency_gate: f64,
    /// What it is worth to have touched the files that the best memories touched, compared with the best text.
    pub companion_weight: f64,
    /// How many of the best say which files those are.
    pub companion_sources: usize,
    /// What a good memory is worth to one that was saved close to it.
    pub neighbour_weight: f64,
    /// Seconds between two memories at which that has fallen to a half.
    pub neighbour_seconds: f64,
    /// What it is worth to mean the same as the question, compared with the best text; only where a model is asked.
    pub dense_weight: f64,
    /// The cosine up to which nearness in meaning says nothing.
    pub dense_floor: f64,
    /// What is left of an abandoned task's score.
    pub abandoned_factor: f64,
    /// What is left of the score of a memory all of whose files have changed since.
    pub stale_factor: f64,
    /// The least [`Found::relevance`](crate::Found::relevance) of a result. 0 lets everything through that was found.
    pub floor: f64,
    /// Places of terms read for one question, those of the rarest first.
    pub budget: u64,
    /// Memories looked at closely.
    pub candidates: usize,
}

/// What separates memories that are about a prompt from those that are not, measured with prompts of other projects
/// (`docs/performance.md`).
const INJECTION_FLOOR: f64 = 4.5;
/// The few that are told stand far ahead by words alone: with six times as many, the same prompts of the development set get
/// something, and as often the right thing (`docs/performance.md`).
const INJECTION_CANDIDATES: usize = 64;
/// Half of what a search reads: of 300 questions about one of 10,000 made-up memories 268 get it, with 20,000 places 278
/// (`docs/performance.md`).
const INJECTION_BUDGET: u64 = 10_000;

impl Ranking {
    /// For text that nobody asked for: only what is surely about the prompt. A search shows everything.
    pub fn for_injection() -> Self {
        Self {
            floor: INJECTION_FLOOR,
            candidates: INJECTION_CANDIDATES,
            budget: INJECTION_BUDGET,
            // What shares a file but no word is below the floor anyway.
            companion_weight: 0.0,
            ..Self::default()
        }
    }

    /// What decides which memories are looked at closely.
    pub(crate) fn rough(&self) -> TermWeights {
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
            companion_weight: 1.0,
            companion_sources: 10,
            neighbour_weight: 0.3,
            neighbour_seconds: 120.0,
            dense_weight: 1.0,
            dense_floor: 0.2,
            abandoned_factor: 0.8,
            stale_factor: 0.7,
            floor: 0.0,
            budget: 20_000,
            candidates: 400,
        }
    }
}
