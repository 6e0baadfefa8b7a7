//! Search with as few store calls as possible.

use crate::candidates::{Candidates, Found};
use crate::recency::newest_limit;
use crate::{Query, Ranking, Terms};
use grov_domain::{CandidateOrder, MemoryQuestion, MemorySearch, StoreError};

/// Terms that are searched for instead of a beginning of a word.
const MAX_TERMS_OF_A_BEGINNING: u32 = 4;

/// The memories that fit a query, best first.
///
/// # Errors
/// Those of the store.
pub async fn search<S: MemorySearch + ?Sized>(
    store: &S,
    query: &Query,
    ranking: &Ranking,
) -> Result<Vec<Found>, StoreError> {
    let candidates = candidates(store, query, ranking).await?;
    Ok(candidates.into_found(ranking, query.limit))
}

/// The candidates for a query, scored by words, files and time.
pub(crate) async fn candidates<S: MemorySearch + ?Sized>(
    store: &S,
    query: &Query,
    ranking: &Ranking,
) -> Result<Candidates, StoreError> {
    let mut terms = if ranking.related_weight > 0.0 {
        Terms::with_related(query)
    } else {
        Terms::of(query)
    };
    if !terms.beginnings.is_empty() {
        let beginnings: Vec<String> = terms
            .beginnings
            .iter()
            .map(|(beginning, _)| beginning.clone())
            .collect();
        let found = store
            .terms_beginning(&query.scope, &beginnings, MAX_TERMS_OF_A_BEGINNING)
            .await?;
        terms.add_beginning(found);
    }
    let asked = terms.all();
    if asked.is_empty() || query.limit == 0 {
        return Ok(Candidates::default());
    }
    let found = store
        .candidates(&MemoryQuestion {
            scope: &query.scope,
            terms: &asked,
            before: query.before,
            order: CandidateOrder::Worth(ranking.term_weights()),
            limit: ranking.candidates,
            budget: ranking.budget,
        })
        .await?;
    let statistics = found.statistics;
    let mut candidates = Candidates::of(found.found);
    candidates.add_words(&terms, &statistics, ranking);
    candidates.add_files(&terms, &statistics, ranking);
    candidates.add_relevance(&terms, &statistics);
    // Nothing below the floor is returned, whatever its score.
    if !candidates.reach(ranking.floor) {
        return Ok(candidates);
    }
    if query.before.is_some() {
        let limit = newest_limit(ranking);
        let newest = store.newest(&query.scope, query.before, limit).await?;
        candidates.add_recency(&terms, &newest, ranking);
    }
    follow_files(store, query, ranking, &mut candidates).await?;
    candidates.add_neighbours(ranking);
    Ok(candidates)
}

/// Adds memories that touched the same files as the best results, even if they share no word with the query.
async fn follow_files<S: MemorySearch + ?Sized>(
    store: &S,
    query: &Query,
    ranking: &Ranking,
    candidates: &mut Candidates,
) -> Result<(), StoreError> {
    let files = candidates.co_changed_files(ranking);
    if files.is_empty() {
        return Ok(());
    }
    let asked: Vec<String> = files.iter().map(|file| file.term.clone()).collect();
    let found = store
        .candidates(&MemoryQuestion {
            scope: &query.scope,
            terms: &asked,
            before: query.before,
            order: CandidateOrder::Newest {
                known: &candidates.numbers(),
            },
            limit: ranking.candidates,
            budget: ranking.budget / 4,
        })
        .await?;
    let mut touching = found.known;
    let mut others = found.found;
    // Their counts refer to the files, not to the query terms.
    touching.extend(
        others
            .iter_mut()
            .map(|other| (other.document.document, std::mem::take(&mut other.counts))),
    );
    candidates.admit(others);
    candidates.add_co_changed(&files, &touching, &found.statistics, ranking);
    Ok(())
}
