//! Asking the store, in as few questions as possible.

use crate::candidates::{Candidates, Found};
use crate::text::RoughOrder;
use crate::time::newest_that_count;
use crate::{Query, Ranking, Terms};
use grov_domain::{MemorySearch, StoreError};

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
    let mut candidates = Candidates::default();
    if asked.is_empty() || query.limit == 0 {
        return Ok(candidates);
    }
    let mut matches = store.lookup(&query.scope, &asked, ranking.budget).await?;
    let mut order = RoughOrder::of(&terms, &matches, ranking);
    let mut looked_at = 0;
    loop {
        let portion = order.next(ranking.candidates.max(1));
        if portion.is_empty() {
            break;
        }
        let documents = store.documents(&portion, query.before).await?;
        looked_at += documents.len();
        candidates.admit(documents);
        // A question of long ago passes over what came later; then the next ones get their chance.
        if looked_at * 2 >= ranking.candidates {
            break;
        }
    }
    // The others play no part any more.
    for postings in matches.terms.iter_mut().filter_map(|term| term.postings.as_mut()) {
        postings.retain(|posting| candidates.contains(posting.document));
    }
    candidates.add_words(&terms, &matches, ranking);
    candidates.add_files(&terms, &matches, ranking);
    candidates.add_relevance(&terms, &matches);
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
    let matches = store.lookup(&query.scope, &asked, ranking.budget / 4).await?;
    let mut others: Vec<i64> = matches
        .terms
        .iter()
        .flat_map(|term| term.postings.iter().flatten())
        .map(|posting| posting.document)
        .filter(|document| !candidates.contains(*document))
        .collect();
    others.sort_unstable_by(|one, other| other.cmp(one));
    others.dedup();
    others.truncate(ranking.candidates);
    candidates.admit(store.documents(&others, query.before).await?);
    candidates.add_companions(&files, &matches, ranking);
    Ok(())
}
