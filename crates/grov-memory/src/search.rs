//! Asking the store, in as few questions as possible.

use crate::rank::{Evidence, Found, rank, rough};
use crate::{Query, Ranking, Terms};
use grov_domain::{MemoryStore, StoreError};

/// The memories that fit a question, best first.
///
/// # Errors
/// Those of the store.
pub async fn search<S: MemoryStore + ?Sized>(
    store: &S,
    query: &Query,
    ranking: &Ranking,
) -> Result<Vec<Found>, StoreError> {
    let terms = Terms::of(query);
    let mut asked: Vec<String> = terms.words.iter().map(|(word, _)| word.clone()).collect();
    for (name, path) in &terms.files {
        asked.push(name.clone());
        asked.push(path.clone());
    }
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    let matches = store.lookup(&query.scope, &asked, ranking.budget).await?;
    let candidates = rough(&terms, &matches, ranking);
    let mut documents = Vec::new();
    for portion in candidates.chunks(ranking.candidates.max(1)) {
        documents.extend(store.documents(portion, query.before).await?);
        if documents.len() * 2 >= ranking.candidates {
            break;
        }
    }
    let evidence = Evidence {
        terms,
        matches,
        documents,
    };
    let mut found = rank(&evidence, query.before, ranking);
    found.truncate(query.limit);
    Ok(found)
}
