//! The numbers that ranking depends on.

/// How memories are ranked. The defaults are those that were measured best (`docs/performance.md`).
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// How soon more of the same word stops counting (BM25's k1).
    pub saturation: f64,
    /// How much a long memory is held back, for each field from 0 (not at all) to 1 (BM25's b).
    pub length_penalty: f64,
    /// What a word is worth in the record of what was done, compared with one in the prompt or the goal.
    pub trace_weight: f64,
    /// What a word is worth in a path.
    pub path_weight: f64,
    /// What a file that the prompt names is worth, compared with the best text.
    pub file_weight: f64,
    /// What an identifier that the prompt names is worth more than a word.
    pub identifier_weight: f64,
    /// What it is worth to have touched the files that the best texts touched.
    pub companion_weight: f64,
    /// What being new is worth, where it counts.
    pub recency_weight: f64,
    /// What standing between two good ones in time is worth.
    pub neighbour_weight: f64,
    /// What an abandoned task loses.
    pub abandoned_factor: f64,
    /// Postings read for one query.
    pub budget: u64,
    /// Memories looked at closely.
    pub candidates: usize,
    /// Below this share of the best possible text score nothing is given.
    pub floor: f64,
}

impl Default for Ranking {
    fn default() -> Self {
        Self {
            saturation: 1.2,
            length_penalty: 0.75,
            trace_weight: 0.5,
            path_weight: 0.4,
            file_weight: 0.35,
            identifier_weight: 1.0,
            companion_weight: 0.5,
            recency_weight: 0.2,
            neighbour_weight: 0.2,
            abandoned_factor: 0.8,
            budget: 20_000,
            candidates: 1000,
            floor: 0.0,
        }
    }
}
