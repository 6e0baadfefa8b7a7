//! Selects memories that contain any of the terms, best first by a rough score that needs no document.

use super::lookup::{load_documents, look_up};
use super::postings::Posting;
use super::sums::{NumberMap, NumberSums};
use crate::sqlite::{SqliteStore, StoreError};
use grov_domain::{
    CandidateOrder, MemoryCandidate, MemoryCandidates, MemoryDocument, MemoryQuestion, MemoryStatistics,
    TermCount, TermWeights,
};
use time::OffsetDateTime;

/// The postings of the terms of a question.
pub(super) struct TermMatches {
    /// Statistics of the scope and the terms.
    pub(super) statistics: MemoryStatistics,
    /// Postings by term; empty for terms that were not read.
    pub(super) postings: Vec<Vec<Posting>>,
}

/// Finds the candidates for a question.
pub(super) async fn find(
    store: &SqliteStore,
    question: &MemoryQuestion<'_>,
) -> Result<MemoryCandidates, StoreError> {
    let matches = look_up(store, question.scope, question.terms, question.budget).await?;
    let (documents, known) = match question.order {
        CandidateOrder::Worth(weights) => {
            let order = rough_scores(&matches, &weights);
            let found = load_best(store, order, question.limit, question.before).await?;
            (found, &[][..])
        }
        CandidateOrder::Newest { known } => {
            let others = newest_except(known, &matches, question.limit);
            (load_documents(store, &others, question.before).await?, known)
        }
    };
    let numbers = documents.iter().map(|document| document.document);
    let places = numbers.chain(known.iter().copied()).zip(0..).collect();
    let mut counts = matches.counts(&places);
    let known_counts = counts.split_off(documents.len());
    let found = documents.into_iter().zip(counts);
    let known = known.iter().copied().zip(known_counts);
    Ok(MemoryCandidates {
        statistics: matches.statistics,
        found: found
            .map(|(document, counts)| MemoryCandidate { document, counts })
            .collect(),
        known: known.filter(|(_, counts)| !counts.is_empty()).collect(),
    })
}

/// Loads the memories with the largest scores. A question as of an earlier time skips newer memories; then more are
/// loaded.
async fn load_best(
    store: &SqliteStore,
    mut scores: NumberSums,
    limit: usize,
    before: Option<OffsetDateTime>,
) -> Result<Vec<MemoryDocument>, StoreError> {
    let mut documents = Vec::new();
    loop {
        let portion = scores.take_largest(limit.max(1));
        if portion.is_empty() {
            return Ok(documents);
        }
        documents.append(&mut load_documents(store, &portion, before).await?);
        if documents.len().saturating_mul(2) >= limit {
            return Ok(documents);
        }
    }
}

impl TermMatches {
    fn postings(&self) -> impl Iterator<Item = &Posting> {
        self.postings.iter().flatten()
    }

    /// Returns the terms that each memory in `places` contains.
    fn counts(&self, places: &NumberMap<usize>) -> Vec<Vec<TermCount>> {
        let mut found = vec![Vec::new(); places.len()];
        for (term, postings) in self.postings.iter().enumerate() {
            for posting in postings {
                let place = places.get(&posting.document);
                if let Some(counts) = place.and_then(|place| found.get_mut(*place)) {
                    let counts: &mut Vec<TermCount> = counts;
                    counts.push(TermCount {
                        term,
                        counts: posting.counts,
                    });
                }
            }
        }
        found
    }
}

/// Returns the newest memories that contain any of the terms, except the known ones.
fn newest_except(known: &[i64], matches: &TermMatches, limit: usize) -> Vec<i64> {
    let known: NumberMap<()> = known.iter().map(|number| (*number, ())).collect();
    let mut others: Vec<i64> = matches
        .postings()
        .map(|posting| posting.document)
        .filter(|document| !known.contains_key(document))
        .collect();
    others.sort_unstable_by(|one, other| other.cmp(one));
    others.dedup();
    others.truncate(limit);
    others
}

/// Returns the rough score of each memory that contains any of the terms.
fn rough_scores(matches: &TermMatches, weights: &TermWeights) -> NumberSums {
    let mut scores = NumberSums::over(matches.postings().map(|posting| posting.document));
    for (term, postings) in matches.statistics.terms.iter().zip(&matches.postings) {
        let rarity = matches.statistics.rarity(term.frequency);
        for posting in postings {
            scores.add(posting.document, weights.worth(rarity, posting.counts));
        }
    }
    scores
}
