//! The memories in which terms stand, those first that are worth most by a score that does not need to read them.

use super::numbers::{NumberMap, NumberSums};
use super::postings::Posting;
use crate::sqlite::{SqliteStore, StoreError};
use grov_domain::{
    CandidateOrder, MemoryCandidate, MemoryCandidates, MemoryDocument, MemoryQuestion, MemoryStatistics,
    TermCount, TermWeights,
};
use time::OffsetDateTime;

/// What the index says of some terms.
pub(super) struct TermMatches {
    /// Of the scope and the terms.
    pub(super) statistics: MemoryStatistics,
    /// Where each term stands; nothing of those that are not read.
    pub(super) postings: Vec<Vec<Posting>>,
}

impl SqliteStore {
    pub(super) async fn find_candidates(
        &self,
        question: &MemoryQuestion<'_>,
    ) -> Result<MemoryCandidates, StoreError> {
        let matches = self
            .look_up(question.scope, question.terms, question.budget)
            .await?;
        let (documents, known) = match question.order {
            CandidateOrder::Worth(weights) => {
                let order = RoughOrder::of(&matches, &weights);
                let found = self.worthiest(order, question.limit, question.before).await?;
                (found, &[][..])
            }
            CandidateOrder::Newest { known } => {
                let others = newest_but(known, &matches, question.limit);
                (self.memory_documents(&others, question.before).await?, known)
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

    /// Reads the first of an order. A question of long ago passes over what came later; then the next ones get their chance.
    async fn worthiest(
        &self,
        mut order: RoughOrder,
        limit: usize,
        before: Option<OffsetDateTime>,
    ) -> Result<Vec<MemoryDocument>, StoreError> {
        let mut documents = Vec::new();
        loop {
            let portion = order.next(limit.max(1));
            if portion.is_empty() {
                return Ok(documents);
            }
            documents.append(&mut self.memory_documents(&portion, before).await?);
            if documents.len().saturating_mul(2) >= limit {
                return Ok(documents);
            }
        }
    }
}

impl TermMatches {
    fn postings(&self) -> impl Iterator<Item = &Posting> {
        self.postings.iter().flatten()
    }

    /// Which terms stand in each of the memories that have a place here.
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

/// The newest memories in which any term stands, but for those that are known.
fn newest_but(known: &[i64], matches: &TermMatches, limit: usize) -> Vec<i64> {
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

/// All memories in which any term stands, by what the terms are worth there.
struct RoughOrder(NumberSums);

impl RoughOrder {
    fn of(matches: &TermMatches, weights: &TermWeights) -> Self {
        let mut scores = NumberSums::over(matches.postings().map(|posting| posting.document));
        for (term, postings) in matches.statistics.terms.iter().zip(&matches.postings) {
            let rarity = matches.statistics.rarity(term.frequency);
            for posting in postings {
                scores.add(posting.document, weights.worth(rarity, posting.counts));
            }
        }
        Self(scores)
    }

    /// Takes the best of those that are left, the newer one of equals, in no order.
    fn next(&mut self, most: usize) -> Vec<i64> {
        self.0.take_largest(most)
    }
}
