//! The table of postings: each term of a scope has one row that grows, and rows before it that are full.

use super::super::rows::{Insert, portions};
use super::super::values::list_value;
use super::postings::{Packer, Posting, packed, unpack};
use sqlx::Row;
use sqlx::sqlite::SqliteConnection;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Over what is there: the row is written anew anyway.
const WRITE_PARTS: Insert = Insert {
    head: "INSERT OR REPLACE INTO memory_postings (scope, term, part, documents, postings)",
    columns: 5,
    tail: "",
};

/// Terms that are read and written at once.
const AT_ONCE: usize = 1024;

/// A row of the table, but for its scope.
struct PartRow<'a> {
    term: &'a str,
    part: i64,
    documents: i64,
    postings: Vec<u8>,
}

fn malformed(error: super::postings::Malformed) -> sqlx::Error {
    sqlx::Error::Decode(error.into())
}

/// Adds postings of documents that are newer than any in the table.
pub(super) async fn add(
    connection: &mut SqliteConnection,
    scope: i64,
    standing: &[(String, Vec<Posting>)],
) -> Result<(), sqlx::Error> {
    for standing in standing.chunks(AT_ONCE) {
        let terms: Vec<&str> = standing.iter().map(|(term, _)| term.as_str()).collect();
        let mut known = newest_parts(connection, scope, &terms)
            .await?
            .into_iter()
            .peekable();
        let mut rows = Vec::with_capacity(standing.len());
        for (place, (term, postings)) in standing.iter().enumerate() {
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

async fn write(
    connection: &mut SqliteConnection,
    scope: i64,
    rows: &[PartRow<'_>],
) -> Result<(), sqlx::Error> {
    for portion in portions(rows) {
        let query = WRITE_PARTS.query(portion, |values, row| {
            values.integer(scope);
            values.text(row.term);
            values.integer(row.part);
            values.integer(row.documents);
            values.bytes(&row.postings);
        })?;
        query.execute(&mut *connection).await?;
    }
    Ok(())
}

/// A row that was read; `place` is that of its term among those asked for.
struct Known {
    place: usize,
    part: i64,
    documents: i64,
    postings: Vec<u8>,
}

impl Known {
    fn of(row: &sqlx::sqlite::SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            place: usize::try_from(row.try_get::<i64, _>(0)?).unwrap_or(usize::MAX),
            part: row.try_get(1)?,
            documents: row.try_get(2)?,
            postings: row.try_get(3)?,
        })
    }
}

/// The newest part of each term that there is, in the order of the terms.
async fn newest_parts(
    connection: &mut SqliteConnection,
    scope: i64,
    terms: &[&str],
) -> Result<Vec<Known>, sqlx::Error> {
    let rows = sqlx::query(
        "SELECT asked.key, p.part, p.documents, p.postings FROM json_each(?2) asked \
         CROSS JOIN memory_postings p ON p.scope = ?1 AND p.term = asked.value AND p.part = 0",
    )
    .bind(scope)
    .bind(list_value(terms)?)
    .fetch_all(connection)
    .await?;
    rows.iter().map(Known::of).collect()
}

/// The full part of a term that a document would be in: terms and documents as two lists.
async fn parts_with(
    connection: &mut SqliteConnection,
    scope: i64,
    terms: &[&str],
    documents: &[i64],
) -> Result<Vec<Known>, sqlx::Error> {
    let rows = sqlx::query(
        "SELECT asked.key, p.part, p.documents, p.postings FROM json_each(?2) asked \
         JOIN json_each(?3) wanted ON wanted.key = asked.key \
         CROSS JOIN memory_postings p ON p.scope = ?1 AND p.term = asked.value AND p.part = \
         (SELECT q.part FROM memory_postings q WHERE q.scope = ?1 AND q.term = asked.value \
          AND q.part > 0 AND q.part <= wanted.value ORDER BY q.part DESC LIMIT 1)",
    )
    .bind(scope)
    .bind(list_value(terms)?)
    .bind(list_value(documents)?)
    .fetch_all(connection)
    .await?;
    rows.iter().map(Known::of).collect()
}

/// Takes postings out. Returns the documents of which one was not found as it was to be expected.
pub(super) async fn remove(
    connection: &mut SqliteConnection,
    scope: i64,
    standing: &[(String, Vec<Posting>)],
) -> Result<Vec<i64>, sqlx::Error> {
    let mut missed = HashSet::new();
    for standing in standing.chunks(AT_ONCE) {
        let terms: Vec<&str> = standing.iter().map(|(term, _)| term.as_str()).collect();
        // What is still to be found.
        let mut left: Vec<HashMap<i64, Posting>> = standing
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
        for wanted in wanted.chunks(AT_ONCE) {
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

/// What parts look like without some of their postings.
#[derive(Default)]
struct Removal {
    /// By place of the term and number of the part; several documents of a term may be in one.
    parts: BTreeMap<(usize, i64), Vec<Posting>>,
    removed: HashMap<usize, i64>,
}

impl Removal {
    fn cut(&mut self, known: &Known, left: &mut [HashMap<i64, Posting>]) -> Result<(), sqlx::Error> {
        let Some(left) = left.get_mut(known.place) else {
            return Ok(());
        };
        if self.parts.contains_key(&(known.place, known.part)) {
            return Ok(());
        }
        let mut postings = Vec::new();
        unpack(&known.postings, &mut postings).map_err(malformed)?;
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
        connection: &mut SqliteConnection,
        scope: i64,
        terms: &[&str],
        newest: &[Known],
    ) -> Result<(), sqlx::Error> {
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

async fn delete(
    connection: &mut SqliteConnection,
    scope: i64,
    gone: &[(&str, i64)],
) -> Result<(), sqlx::Error> {
    if gone.is_empty() {
        return Ok(());
    }
    let (terms, parts): (Vec<&str>, Vec<i64>) = gone.iter().copied().unzip();
    sqlx::query(
        "DELETE FROM memory_postings WHERE (scope, term, part) IN \
         (SELECT ?1, term.value, part.value FROM json_each(?2) term JOIN json_each(?3) part ON part.key = term.key)",
    )
    .bind(scope)
    .bind(list_value(&terms)?)
    .bind(list_value(&parts)?)
    .execute(connection)
    .await?;
    Ok(())
}

/// Takes out every posting of these documents, whatever the terms, by reading all of the scope.
pub(super) async fn remove_everywhere(
    connection: &mut SqliteConnection,
    scope: i64,
    documents: &[i64],
) -> Result<(), sqlx::Error> {
    if documents.is_empty() {
        return Ok(());
    }
    let mut after = String::new();
    loop {
        let rows = sqlx::query(
            "SELECT term FROM memory_postings WHERE scope = ?1 AND part = 0 AND term > ?2 ORDER BY term LIMIT ?3",
        )
        .bind(scope)
        .bind(&after)
        .bind(i64::try_from(AT_ONCE).unwrap_or(i64::MAX))
        .fetch_all(&mut *connection)
        .await?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = last.try_get(0)?;
        let terms: Vec<&str> = rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
        let standing = standing_of(connection, scope, &terms, documents).await?;
        remove(connection, scope, &standing).await?;
    }
}

/// The postings that these documents have under these terms.
async fn standing_of(
    connection: &mut SqliteConnection,
    scope: i64,
    terms: &[&str],
    documents: &[i64],
) -> Result<Vec<(String, Vec<Posting>)>, sqlx::Error> {
    let rows = sqlx::query(
        "SELECT asked.key, p.part, p.documents, p.postings FROM json_each(?2) asked \
         CROSS JOIN memory_postings p ON p.scope = ?1 AND p.term = asked.value",
    )
    .bind(scope)
    .bind(list_value(terms)?)
    .fetch_all(connection)
    .await?;
    let mut standing: BTreeMap<String, Vec<Posting>> = BTreeMap::new();
    for row in &rows {
        let known = Known::of(row)?;
        let mut postings = Vec::new();
        unpack(&known.postings, &mut postings).map_err(malformed)?;
        postings.retain(|posting| documents.contains(&posting.document));
        if let (Some(term), false) = (terms.get(known.place), postings.is_empty()) {
            standing.entry((*term).to_owned()).or_default().extend(postings);
        }
    }
    Ok(standing.into_iter().collect())
}
