//! Looks up terms in the index.

use super::LENGTHS;
use super::candidates::TermMatches;
use super::postings::{Posting, unpack};
use crate::sqlite::columns::{RowExt, damaged, millis, params, time};
use crate::sqlite::{SqliteStore, StoreError};
use grov_domain::{
    MemoryDocument, MemoryScope, MemoryStatistics, PerField, TaskId, TaskStatus, TermStatistics,
};
use serde::Deserialize;
use sqlx::sqlite::SqliteRow;
use time::OffsetDateTime;

/// A question with at most this many indexed terms is short.
const FEW_TERMS: usize = 3;
/// Approximate number of postings in a full part.
const POSTINGS_OF_A_PART: u64 = 400;

/// Returns the remote as stored in the index.
pub(super) fn remote_of(scope: &MemoryScope) -> &str {
    scope.project_remote.as_deref().unwrap_or("")
}

/// A term of the question during the lookup.
#[derive(Default)]
struct Lookup {
    /// The number of memories that contain the term.
    frequency: u64,
    /// The number of postings to read, newest first.
    wanted: u64,
    /// The minimum number of postings in the newest part of any scope that has older parts.
    min_newest: Option<u64>,
    /// Postings from full parts, scope by scope.
    older: Vec<Posting>,
    /// Postings from the newest parts.
    newest: Vec<Posting>,
}

impl Lookup {
    /// Returns the postings to read.
    fn into_postings(mut self) -> Vec<Posting> {
        if self.wanted == 0 {
            return Vec::new();
        }
        let wanted = usize::try_from(self.wanted).unwrap_or(usize::MAX);
        self.older.append(&mut self.newest);
        if self.older.len() > wanted {
            self.older.sort_unstable_by_key(|posting| posting.document);
            self.older.drain(..self.older.len() - wanted);
        }
        self.older
    }
}

/// Looks up terms, reading at most `budget` postings.
pub(super) async fn look_up(
    store: &SqliteStore,
    scope: &MemoryScope,
    terms: &[String],
    budget: u64,
) -> Result<TermMatches, StoreError> {
    let mut statistics = MemoryStatistics::default();
    let mut scopes = Vec::new();
    let mut lookups: Vec<Lookup> = terms.iter().map(|_| Lookup::default()).collect();
    for row in newest_parts(store, scope, terms).await? {
        scopes.push(row.read::<i64>("id")?);
        statistics.documents += row.read::<u64>("documents")?;
        for (sum, column) in statistics.lengths.iter_mut().zip(LENGTHS) {
            *sum += row.read::<u64>(column)?;
        }
        for Part(place, documents, bytes) in parts(&row)? {
            if let Some(lookup) = lookups.get_mut(place) {
                let mut postings = unpack_hex(bytes)?;
                lookup.frequency = lookup.frequency.saturating_add(documents);
                let count = postings.len() as u64;
                if count < documents {
                    lookup.min_newest = Some(lookup.min_newest.map_or(count, |min| min.min(count)));
                }
                lookup.newest.append(&mut postings);
            }
        }
    }
    let frequencies: Vec<u64> = lookups.iter().map(|lookup| lookup.frequency).collect();
    for (lookup, wanted) in lookups.iter_mut().zip(allotted(&frequencies, budget)) {
        lookup.wanted = wanted;
    }
    // All postings of most terms are read; of one term only the newest.
    let (mut full, mut partial) = (Vec::new(), Vec::new());
    for (place, lookup) in lookups.iter().enumerate() {
        if lookup.min_newest.is_some_and(|count| count < lookup.wanted) {
            let places = if lookup.wanted < lookup.frequency {
                &mut partial
            } else {
                &mut full
            };
            places.push(place);
        }
    }
    let max = partial.first().map(|place| lookups[*place].wanted);
    for (places, max) in [(full, None), (partial, max)] {
        let words: Vec<&String> = places.iter().map(|place| &terms[*place]).collect();
        for row in full_parts(store, &scopes, &words, max).await? {
            for Part(place, _, bytes) in parts(&row)? {
                if let Some(place) = places.get(place) {
                    lookups[*place].older.append(&mut unpack_hex(bytes)?);
                }
            }
        }
    }
    statistics.terms = lookups
        .iter()
        .map(|lookup| TermStatistics {
            frequency: lookup.frequency,
            is_read: lookup.frequency == 0 || lookup.wanted > 0,
        })
        .collect();
    Ok(TermMatches {
        statistics,
        postings: lookups.into_iter().map(Lookup::into_postings).collect(),
    })
}

/// Selects the scopes with their sums and, as `found`, the growing parts with the number of memories that contain each
/// term. One statement for both.
async fn newest_parts(
    store: &SqliteStore,
    scope: &MemoryScope,
    terms: &[String],
) -> Result<Vec<SqliteRow>, StoreError> {
    // The join order is fixed: one lookup per term, never a scan of the table.
    let sql = "SELECT s.*, (SELECT json_group_array(json_array(asked.key, p.documents, hex(p.postings))) \
         FROM json_each(coalesce(?3, '[]')) asked CROSS JOIN memory_postings p \
         ON p.scope = s.id AND p.term = asked.value AND p.part = 0) AS found FROM memory_scopes s \
         WHERE s.project_path = ?1 OR (?2 <> '' AND s.project_remote = ?2) ORDER BY s.id";
    store
        .rows(sql, params![scope.project_path, remote_of(scope), terms])
        .await
}

/// Selects full parts: all, or the newest ones that contain at least `newest` postings of each term.
async fn full_parts(
    store: &SqliteStore,
    scopes: &[i64],
    terms: &[&String],
    newest: Option<u64>,
) -> Result<Vec<SqliteRow>, StoreError> {
    if terms.is_empty() {
        return Ok(Vec::new());
    }
    let sql = "SELECT json_group_array(json_array(asked.key, p.documents, hex(p.postings))) AS found \
         FROM json_each(?1) scope CROSS JOIN json_each(?2) asked \
         CROSS JOIN memory_postings p ON p.scope = scope.value AND p.term = asked.value AND p.part >= \
         coalesce((SELECT q.part FROM memory_postings q WHERE q.scope = scope.value AND q.term = asked.value \
         AND q.part > 0 ORDER BY q.part DESC LIMIT 1 OFFSET ?3), 1)";
    let skipped = newest.map_or(u64::MAX, |newest| newest / POSTINGS_OF_A_PART);
    store.rows(sql, params![scopes, terms, skipped]).await
}

/// Loads memories by number, except those created at or after `before`, and items whose end has come.
pub(super) async fn load_documents(
    store: &SqliteStore,
    documents: &[i64],
    before: Option<OffsetDateTime>,
) -> Result<Vec<MemoryDocument>, StoreError> {
    // In table order, because neighbours are on the same page.
    let mut documents = documents.to_vec();
    documents.sort_unstable();
    // One row with all documents: a row per document would cost more than the lookup.
    let sql = "SELECT json_group_array(json_array(d.id, d.task_id, d.created_at, d.status, \
         json_array(d.text_terms, d.trace_terms, d.path_terms, d.file_terms), json(coalesce(d.files, '[]')), \
         d.superseded_by)) AS found \
         FROM json_each(?1) asked CROSS JOIN memory_documents d ON d.id = asked.value \
         WHERE (?2 IS NULL OR d.created_at < ?2) AND NOT EXISTS (SELECT 1 FROM memory_items i WHERE i.id = d.task_id \
         AND i.expires_at <= unixepoch('subsec') * 1000)";
    let mut found = Vec::new();
    for row in store.rows(sql, params![documents, before]).await? {
        for document in row.read::<Vec<Document>>("found")? {
            found.push(document.into_memory()?);
        }
    }
    Ok(found)
}

/// Returns the numbers of the newest memories of a scope, newest first.
pub(super) async fn newest_documents(
    store: &SqliteStore,
    scope: &MemoryScope,
    before: Option<OffsetDateTime>,
    limit: u32,
) -> Result<Vec<i64>, StoreError> {
    // Each scope is read from its end, because reading all scopes together would require sorting. One row per scope: a
    // row per memory would cost more than the lookup.
    let sql = "SELECT (SELECT json_group_array(json_array(created_at, id)) FROM \
         (SELECT created_at, id FROM memory_documents WHERE scope = s.id AND created_at < ?3 \
         ORDER BY created_at DESC, id DESC LIMIT ?4)) AS found FROM memory_scopes s \
         WHERE s.project_path = ?1 OR (?2 <> '' AND s.project_remote = ?2)";
    let before = before.map_or(i64::MAX, millis);
    let mut newest: Vec<(i64, i64)> = Vec::new();
    for row in store
        .rows(sql, params![scope.project_path, remote_of(scope), before, limit])
        .await?
    {
        newest.append(&mut row.read("found")?);
    }
    newest.sort_unstable_by(|one, other| other.cmp(one));
    newest.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(newest.into_iter().map(|(_, id)| id).collect())
}

/// Returns at most `limit` terms of a scope for each beginning, with the position of the beginning.
pub(super) async fn terms_beginning(
    store: &SqliteStore,
    scope: &MemoryScope,
    beginnings: &[String],
    limit: u32,
) -> Result<Vec<(usize, String)>, StoreError> {
    // From term to term by the index: a range would read all parts of frequent terms.
    let sql = "WITH RECURSIVE found (scope, place, beginning, term, number) AS (\
         SELECT s.id, asked.key, asked.value, (SELECT p.term FROM memory_postings p \
         WHERE p.scope = s.id AND p.term >= asked.value ORDER BY p.term LIMIT 1), 1 \
         FROM memory_scopes s CROSS JOIN json_each(?3) asked \
         WHERE s.project_path = ?1 OR (?2 <> '' AND s.project_remote = ?2) \
         UNION ALL SELECT scope, place, beginning, (SELECT p.term FROM memory_postings p \
         WHERE p.scope = found.scope AND p.term > found.term ORDER BY p.term LIMIT 1), number + 1 FROM found \
         WHERE number < ?4 AND substr(term, 1, length(beginning)) = beginning) \
         SELECT json_group_array(json_array(place, term)) AS found FROM found \
         WHERE substr(term, 1, length(beginning)) = beginning";
    let mut terms: Vec<(usize, String)> = Vec::new();
    for row in store
        .rows(
            sql,
            params![scope.project_path, remote_of(scope), beginnings, limit],
        )
        .await?
    {
        terms.append(&mut row.read("found")?);
    }
    terms.sort_unstable();
    terms.dedup();
    Ok(terms)
}

/// Returns the number of postings to read per term, `budget` in total. The rarest terms are read completely, the
/// others, which have little weight, not at all. The first term that does not fit is read in part, newest first, if the
/// question is short or if it is the rarest term.
fn allotted(frequencies: &[u64], budget: u64) -> Vec<u64> {
    let mut allotted = vec![0; frequencies.len()];
    let mut rarest_first: Vec<(usize, u64)> = frequencies
        .iter()
        .copied()
        .enumerate()
        .filter(|(_, frequency)| *frequency > 0)
        .collect();
    rarest_first.sort_by_key(|(_, frequency)| *frequency);
    let are_few = rarest_first.len() <= FEW_TERMS;
    let mut left = budget;
    for (number, (place, frequency)) in rarest_first.into_iter().enumerate() {
        let fits = frequency <= left;
        if let Some(allotted) = allotted.get_mut(place)
            && (fits || are_few || number == 0)
        {
            *allotted = frequency.min(left);
        }
        if !fits {
            break;
        }
        left -= frequency;
    }
    allotted
}

/// A part of a term's postings: the position of the term in the question, the number of memories that contain it, and
/// the packed postings in hexadecimal digits.
#[derive(Deserialize)]
struct Part<'a>(usize, u64, &'a str);

/// Reads the parts of a row. They are one list, because a row per part would cost more than the lookup.
fn parts(row: &SqliteRow) -> Result<Vec<Part<'_>>, StoreError> {
    let parts = row.text("found")?.map(serde_json::from_str).transpose();
    Ok(parts
        .map_err(|error| damaged(&"found", &error))?
        .unwrap_or_default())
}

fn unpack_hex(digits: &str) -> Result<Vec<Posting>, StoreError> {
    let mut bytes = Vec::with_capacity(digits.len() / 2);
    // Invalid digits are noticed at the end: a check of each would take longer than the conversion.
    let mut all = 0;
    for [high, low] in digits.as_bytes().as_chunks().0 {
        let (high, low) = (DIGITS[usize::from(*high)], DIGITS[usize::from(*low)]);
        all |= high | low;
        bytes.push(high << 4 | low);
    }
    if all > MAX_DIGIT {
        return Err(damaged(&"postings", &"not in hexadecimal digits"));
    }
    unpack(&bytes).map_err(|error| damaged(&"postings", &error))
}

/// The largest value of a hexadecimal digit.
const MAX_DIGIT: u8 = 15;

/// The values of hexadecimal digits by character, as SQLite writes them; larger than [`MAX_DIGIT`] for other characters.
static DIGITS: [u8; 256] = {
    let mut values = [MAX_DIGIT + 1; 256];
    let digits = b"0123456789ABCDEF";
    let mut value = 0_u8;
    while value <= MAX_DIGIT {
        values[digits[value as usize] as usize] = value;
        value += 1;
    }
    values
};

/// A row of `memory_documents` as a list: number, task, time, status, lengths, files, replacement.
#[derive(Deserialize)]
struct Document(
    i64,
    String,
    i64,
    String,
    PerField<u32>,
    Vec<String>,
    Option<String>,
);

impl Document {
    fn into_memory(self) -> Result<MemoryDocument, StoreError> {
        let Self(document, task_id, created_at, status, lengths, files, superseded_by) = self;
        Ok(MemoryDocument {
            document,
            task_id: TaskId::new(task_id),
            created_at: time(created_at).map_err(|error| damaged(&"created_at", &error))?,
            status: TaskStatus::from_name(&status)
                .ok_or_else(|| damaged(&"status", &format_args!("unknown name {status:?}")))?,
            lengths,
            files,
            superseded_by: superseded_by.map(TaskId::new),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{allotted, unpack_hex};
    use crate::sqlite::memory::postings::{Posting, packed};

    #[test]
    fn hexadecimal_digits_are_unpacked_and_other_characters_are_damage() {
        let postings: Vec<Posting> = (0..100)
            .map(|document| Posting {
                document: document * 77,
                counts: [1, 0, 9, 0],
            })
            .collect();
        let digits: String = packed(&postings)
            .iter()
            .map(|byte| format!("{byte:02X}"))
            .collect();
        assert_eq!(unpack_hex(&digits).unwrap(), postings);
        assert!(unpack_hex(&digits.replacen('0', "G", 1)).is_err());
        assert_eq!(unpack_hex("").unwrap(), []);
    }

    #[test]
    fn rare_terms_are_read_completely_and_those_that_do_not_fit_are_left_out() {
        assert_eq!(allotted(&[3, 900, 100], 1003), [3, 900, 100]);
        assert_eq!(allotted(&[3, 900, 100, 7, 2], 1002), [3, 0, 100, 7, 2]);
        assert_eq!(allotted(&[900, 3, 0, 900, 5, 6], 914), [900, 3, 0, 0, 5, 6]);
        assert_eq!(allotted(&[3, 900, 100, 8], 2), [2, 0, 0, 0]);
    }

    #[test]
    fn of_few_terms_the_first_that_does_not_fit_is_read_in_part() {
        assert_eq!(allotted(&[3, 900, 100], 1002), [3, 899, 100]);
        assert_eq!(allotted(&[900, 800, 0], 1000), [200, 800, 0]);
        assert_eq!(allotted(&[3, 900, 100], 2), [2, 0, 0]);
        assert_eq!(allotted(&[5, 5], 0), [0, 0]);
        assert_eq!(allotted(&[], 0), [0; 0]);
    }
}
