//! The table of postings: each term of a scope has one growing part and any number of full parts before it.

use super::postings::{Packer, Posting, packed, unpack};
use crate::sqlite::StoreError;
use crate::sqlite::columns::{Blob, RowExt, damaged, params};
use crate::sqlite::connection::Connection;
use crate::sqlite::insert::Insert;
use sqlx::sqlite::SqliteRow;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Replaces an existing row.
const WRITE_PARTS: Insert = Insert {
    into: "INSERT OR REPLACE INTO memory_postings",
    columns: &["scope", "term", "part", "documents", "postings"],
    tail: "",
};

/// Terms read and written at once.
const TERMS_PER_CHUNK: usize = 1024;

/// A row to write, without its scope.
struct PartRow<'a> {
    term: &'a str,
    part: i64,
    documents: i64,
    postings: Vec<u8>,
}

fn malformed(error: super::postings::Malformed) -> StoreError {
    damaged(&"postings", &error)
}

/// Adds postings of documents with larger numbers than those in the table.
pub(super) async fn add(
    connection: &mut Connection<'_>,
    scope: i64,
    postings: &[(String, Vec<Posting>)],
) -> Result<(), StoreError> {
    for portion in postings.chunks(TERMS_PER_CHUNK) {
        let terms: Vec<&str> = portion.iter().map(|(term, _)| term.as_str()).collect();
        let mut known = newest_parts(connection, scope, &terms)
            .await?
            .into_iter()
            .peekable();
        let mut rows = Vec::with_capacity(portion.len());
        for (place, (term, postings)) in portion.iter().enumerate() {
            let (mut packer, before) = match known.next_if(|known| known.place == place) {
                Some(known) => (
                    Packer::resume(known.postings).map_err(malformed)?,
                    known.documents,
                ),
                None => (Packer::default(), 0),
            };
            postings.iter().for_each(|posting| packer.push(posting));
            rows.extend(packer.full.into_iter().map(|full| PartRow {
                term,
                part: full.first,
                documents: full.documents,
                postings: full.bytes,
            }));
            rows.push(PartRow {
                term,
                part: 0,
                documents: before + i64::try_from(postings.len()).unwrap_or(i64::MAX),
                postings: packer.bytes,
            });
        }
        write(connection, scope, &rows).await?;
    }
    Ok(())
}

async fn write(connection: &mut Connection<'_>, scope: i64, rows: &[PartRow<'_>]) -> Result<(), StoreError> {
    connection
        .insert(&WRITE_PARTS, rows, |values, row| {
            values.add(&scope);
            values.add(row.term);
            values.add(&row.part);
            values.add(&row.documents);
            values.add(&Blob(row.postings.clone()));
        })
        .await?;
    Ok(())
}

/// A stored row; `place` is the position of its term in the query.
struct StoredPart {
    place: usize,
    part: i64,
    documents: i64,
    postings: Vec<u8>,
}

impl StoredPart {
    fn of(row: &SqliteRow) -> Result<Self, StoreError> {
        Ok(Self {
            place: row.read(0)?,
            part: row.read(1)?,
            documents: row.read(2)?,
            postings: row.read(3).map(|Blob(bytes)| bytes)?,
        })
    }
}

/// Selects the growing part of each term, in the order of the terms.
async fn newest_parts(
    connection: &mut Connection<'_>,
    scope: i64,
    terms: &[&str],
) -> Result<Vec<StoredPart>, StoreError> {
    let sql = "SELECT asked.key, p.part, p.documents, p.postings FROM json_each(?2) asked \
         CROSS JOIN memory_postings p ON p.scope = ?1 AND p.term = asked.value AND p.part = 0";
    connection.read(sql, params![scope, terms], StoredPart::of).await
}

/// Selects, for each pair of term and document, the full part that can contain the document.
async fn parts_with(
    connection: &mut Connection<'_>,
    scope: i64,
    terms: &[&str],
    documents: &[i64],
) -> Result<Vec<StoredPart>, StoreError> {
    let sql = "SELECT asked.key, p.part, p.documents, p.postings FROM json_each(?2) asked \
         JOIN json_each(?3) wanted ON wanted.key = asked.key \
         CROSS JOIN memory_postings p ON p.scope = ?1 AND p.term = asked.value AND p.part = \
         (SELECT q.part FROM memory_postings q WHERE q.scope = ?1 AND q.term = asked.value \
          AND q.part > 0 AND q.part <= wanted.value ORDER BY q.part DESC LIMIT 1)";
    connection
        .read(sql, params![scope, terms, documents], StoredPart::of)
        .await
}

/// Removes postings. Returns the documents for which a posting was missing or different.
pub(super) async fn remove(
    connection: &mut Connection<'_>,
    scope: i64,
    postings: &[(String, Vec<Posting>)],
) -> Result<Vec<i64>, StoreError> {
    let mut missed = HashSet::new();
    for portion in postings.chunks(TERMS_PER_CHUNK) {
        let terms: Vec<&str> = portion.iter().map(|(term, _)| term.as_str()).collect();
        // The postings still to find.
        let mut left: Vec<HashMap<i64, Posting>> = portion
            .iter()
            .map(|(_, postings)| {
                postings
                    .iter()
                    .map(|posting| (posting.document, *posting))
                    .collect()
            })
            .collect();
        let mut removal = Removal::default();
        let newest = newest_parts(connection, scope, &terms).await?;
        for known in &newest {
            removal.cut(known, &mut left)?;
        }
        let wanted: Vec<(usize, i64)> = left
            .iter()
            .enumerate()
            .flat_map(|(place, postings)| postings.keys().map(move |document| (place, *document)))
            .collect();
        for wanted in wanted.chunks(TERMS_PER_CHUNK) {
            let (names, documents): (Vec<&str>, Vec<i64>) = wanted
                .iter()
                .filter_map(|(place, document)| Some((*terms.get(*place)?, *document)))
                .unzip();
            for mut known in parts_with(connection, scope, &names, &documents).await? {
                known.place = wanted.get(known.place).map_or(usize::MAX, |(place, _)| *place);
                removal.cut(&known, &mut left)?;
            }
        }
        missed.extend(left.iter().flat_map(HashMap::keys).copied());
        removal.write(connection, scope, &terms, &newest).await?;
    }
    Ok(missed.into_iter().collect())
}

/// The changed parts, without the removed postings.
#[derive(Default)]
struct Removal {
    /// By position of the term and number of the part. A part can contain several documents to remove.
    parts: BTreeMap<(usize, i64), Vec<Posting>>,
    removed: HashMap<usize, i64>,
}

impl Removal {
    fn cut(&mut self, known: &StoredPart, left: &mut [HashMap<i64, Posting>]) -> Result<(), StoreError> {
        let Some(left) = left.get_mut(known.place) else {
            return Ok(());
        };
        if self.parts.contains_key(&(known.place, known.part)) {
            return Ok(());
        }
        let mut postings = unpack(&known.postings).map_err(malformed)?;
        let before = postings.len();
        postings.retain(|posting| match left.get(&posting.document) {
            Some(wanted) if wanted == posting => {
                left.remove(&posting.document);
                false
            }
            _ => true,
        });
        let removed = before - postings.len();
        if removed > 0 {
            *self.removed.entry(known.place).or_default() += i64::try_from(removed).unwrap_or(i64::MAX);
            self.parts.insert((known.place, known.part), postings);
        }
        Ok(())
    }

    async fn write(
        &self,
        connection: &mut Connection<'_>,
        scope: i64,
        terms: &[&str],
        newest: &[StoredPart],
    ) -> Result<(), StoreError> {
        let (mut rows, mut gone) = (Vec::new(), Vec::new());
        for known in newest {
            let (Some(removed), Some(term)) = (self.removed.get(&known.place), terms.get(known.place)) else {
                continue;
            };
            let documents = known.documents - removed;
            if documents <= 0 {
                gone.push((*term, 0));
                continue;
            }
            let postings = match self.parts.get(&(known.place, 0)) {
                Some(postings) => packed(postings),
                None => known.postings.clone(),
            };
            rows.push(PartRow {
                term,
                part: 0,
                documents,
                postings,
            });
        }
        for ((place, part), postings) in self.parts.iter().filter(|((_, part), _)| *part > 0) {
            let Some(term) = terms.get(*place) else { continue };
            if postings.is_empty() {
                gone.push((*term, *part));
                continue;
            }
            rows.push(PartRow {
                term,
                part: *part,
                documents: i64::try_from(postings.len()).unwrap_or(i64::MAX),
                postings: packed(postings),
            });
        }
        write(connection, scope, &rows).await?;
        delete(connection, scope, &gone).await
    }
}

async fn delete(connection: &mut Connection<'_>, scope: i64, gone: &[(&str, i64)]) -> Result<(), StoreError> {
    let (terms, parts): (Vec<&str>, Vec<i64>) = gone.iter().copied().unzip();
    let sql = "DELETE FROM memory_postings WHERE (scope, term, part) IN \
         (SELECT ?1, term.value, part.value FROM json_each(?2) term JOIN json_each(?3) part ON part.key = term.key)";
    connection
        .execute(sql, params![scope, terms, parts])
        .await
        .map(drop)
}

/// Removes all postings of these documents by reading the whole scope.
pub(super) async fn remove_everywhere(
    connection: &mut Connection<'_>,
    scope: i64,
    documents: &[i64],
) -> Result<(), StoreError> {
    if documents.is_empty() {
        return Ok(());
    }
    let mut after = String::new();
    loop {
        let sql = "SELECT term FROM memory_postings WHERE scope = ?1 AND part = 0 AND term > ?2 ORDER BY term LIMIT ?3";
        let terms: Vec<String> = connection
            .read(sql, params![scope, after, TERMS_PER_CHUNK], |row| row.read(0))
            .await?;
        let Some(last) = terms.last() else { return Ok(()) };
        after.clone_from(last);
        let postings = postings_of(connection, scope, &terms, documents).await?;
        remove(connection, scope, &postings).await?;
    }
}

/// Returns the postings of these documents for these terms.
async fn postings_of(
    connection: &mut Connection<'_>,
    scope: i64,
    terms: &[String],
    documents: &[i64],
) -> Result<Vec<(String, Vec<Posting>)>, StoreError> {
    let sql = "SELECT asked.key, p.part, p.documents, p.postings FROM json_each(?2) asked \
         CROSS JOIN memory_postings p ON p.scope = ?1 AND p.term = asked.value";
    let mut found: BTreeMap<String, Vec<Posting>> = BTreeMap::new();
    for known in connection
        .read(sql, params![scope, terms], StoredPart::of)
        .await?
    {
        let mut postings = unpack(&known.postings).map_err(malformed)?;
        postings.retain(|posting| documents.contains(&posting.document));
        if let (Some(term), false) = (terms.get(known.place), postings.is_empty()) {
            found.entry(term.clone()).or_default().extend(postings);
        }
    }
    Ok(found.into_iter().collect())
}
