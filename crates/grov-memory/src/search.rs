//! Asking the store, in as few questions as possible.

use crate::candidates::{Candidates, Found};
use crate::time::newest_that_count;
use crate::{Query, Ranking, Terms};
use grov_domain::{CandidateOrder, MemoryQuestion, MemorySearch, StoreError};

/// The memories that fit a question, best first.
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

/// The memories that are looked at for a question, with all that words, files and time say for them.
pub(crate) async fn candidates<S: MemorySearch + ?Sized>(
    store: &S,
    query: &Query,
    ranking: &Ranking,
) -> Result<Candidates, StoreError> {
    let terms = Terms::of(query);
    let asked = terms.all();
    if asked.is_empty() || query.limit == 0 {
        return Ok(Candidates::default());
    }
    let found = store
        .candidates(&MemoryQuestion {
            scope: &query.scope,
            terms: &asked,
            before: query.before,
            order: CandidateOrder::Worth(ranking.rough()),
            limit: ranking.candidates,
            budget: ranking.budget,
        })
        .await?;
    let statistics = found.statistics;
    let mut candidates = Candidates::of(found.found);
    candidates.add_words(&terms, &statistics, ranking);
    candidates.add_files(&terms, &statistics, ranking);
    candidates.add_relevance(&terms, &statistics);
    // What is below the floor is left out, whatever else would speak for it.
    if !candidates.reach(ranking.floor) {
        return Ok(candidates);
    }
    if query.before.is_some() {
        let limit = newest_that_count(ranking);
        let newest = store.newest(&query.scope, query.before, limit).await?;
        candidates.add_recency(&terms, &newest, ranking);
    }
    follow_files(store, query, ranking, &mut candidates).await?;
    candidates.add_neighbours(ranking);
    Ok(candidates)
}

/// What the best memories touched leads to others that share no word with the question.
async fn follow_files<S: MemorySearch + ?Sized>(
    store: &S,
    query: &Query,
    ranking: &Ranking,
    candidates: &mut Candidates,
) -> Result<(), StoreError> {
    let files = candidates.companion_files(ranking);
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
    // Their counts are of these files, not of what the question says.
    touching.extend(
        others
            .iter_mut()
            .map(|other| (other.document.document, std::mem::take(&mut other.counts))),
    );
    candidates.admit(others);
    candidates.add_companions(&files, &touching, &found.statistics, ranking);
    Ok(())
}
