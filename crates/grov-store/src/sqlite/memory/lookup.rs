//! Where terms stand.

use super::LENGTHS;
use super::candidates::TermMatches;
use super::postings::{Posting, unpack};
use crate::sqlite::values::{Columns, damaged, list, millis, time};
use crate::sqlite::{SqliteStore, StoreError};
use grov_domain::{
    MemoryDocument, MemoryScope, MemoryStatistics, PerField, TaskId, TaskStatus, TermStatistics,
};
use serde::Deserialize;
use sqlx::sqlite::SqliteRow;
use std::collections::BTreeSet;
use time::OffsetDateTime;

/// A question of so many terms that stand anywhere is a short one.
const FEW_TERMS: usize = 3;
/// Postings that a full part holds, about.
const POSTINGS_OF_A_PART: u64 = 400;

/// The remote as the index has it.
pub(super) fn remote_of(scope: &MemoryScope) -> &str {
    scope.project_remote.as_deref().unwrap_or("")
}

impl SqliteStore {
    pub(super) async fn look_up(
        &self,
        scope: &MemoryScope,
        terms: &[String],
        budget: u64,
    ) -> Result<TermMatches, StoreError> {
        let newest_parts = self.newest_parts(scope, terms).await?;
        let mut found = MemoryStatistics {
            terms: vec![TermStatistics::default(); terms.len()],
            ..MemoryStatistics::default()
        };
        let mut scopes = Vec::with_capacity(newest_parts.len());
        let mut newest: Vec<Vec<Posting>> = vec![Vec::new(); terms.len()];
        // How many there are in a scope, and how many of these its newest part holds.
        let mut held: Vec<(usize, u64, usize)> = Vec::new();
        for row in &newest_parts {
            let columns = Columns(row);
            scopes.push(columns.get::<i64>("id")?);
            found.documents += columns.count("documents")?;
            for (sum, column) in found.lengths.iter_mut().zip(LENGTHS) {
                *sum += columns.count(column)?;
            }
            for Part(place, documents, part) in parts(row)? {
                if let (Some(term), Some(postings)) = (found.terms.get_mut(place), newest.get_mut(place)) {
                    let before = postings.len();
                    unpack(&bytes_of(part)?, postings).map_err(|error| damaged("postings", &error))?;
                    term.frequency = term.frequency.saturating_add(documents);
                    held.push((place, documents, postings.len() - before));
                }
            }
        }
        let Some(scopes) = list(&scopes)? else {
            for term in &mut found.terms {
                term.is_read = true;
            }
            return Ok(TermMatches {
                statistics: found,
                postings: newest,
            });
        };
        let frequencies: Vec<u64> = found.terms.iter().map(|term| term.frequency).collect();
        let allotted = allotted(&frequencies, budget);
        let most = |place: usize| allotted.get(place).copied().unwrap_or(0);
        // Those of which more is wanted than what grows: all of most, the newest of one.
        let (mut whole, mut in_part) = (BTreeSet::new(), None);
        for (place, documents, held) in held {
            if (held as u64) < most(place).min(documents) {
                if frequencies
                    .get(place)
                    .is_some_and(|frequency| most(place) < *frequency)
                {
                    in_part = Some(place);
                } else {
                    whole.insert(place);
                }
            }
        }
        let mut older: Vec<Vec<Posting>> = vec![Vec::new(); terms.len()];
        let whole: Vec<usize> = whole.into_iter().collect();
        let in_part: Vec<usize> = in_part.into_iter().collect();
        for (wanted, newest) in [
            (whole, None),
            (in_part.clone(), in_part.first().map(|place| most(*place))),
        ] {
            let words = wanted.iter().filter_map(|place| terms.get(*place));
            let words: Vec<&str> = words.map(String::as_str).collect();
            for row in &self.full_parts(&scopes, &words, newest).await? {
                for Part(place, _, part) in parts(row)? {
                    let postings = wanted.get(place).and_then(|place| older.get_mut(*place));
                    if let Some(postings) = postings {
                        unpack(&bytes_of(part)?, postings).map_err(|error| damaged("postings", &error))?;
                    }
                }
            }
        }
        let mut postings = Vec::with_capacity(terms.len());
        let read = found.terms.iter_mut().zip(&allotted);
        for (((term, most), mut older), mut newest) in read.zip(older).zip(newest) {
            term.is_read = term.frequency == 0 || *most > 0;
            if !term.is_read {
                postings.push(Vec::new());
                continue;
            }
            older.append(&mut newest);
            let most = usize::try_from(*most).unwrap_or(usize::MAX);
            if older.len() > most {
                // Those of several scopes stand one behind the other.
                older.sort_unstable_by_key(|posting| posting.document);
                older.drain(..older.len() - most);
            }
            postings.push(older);
        }
        Ok(TermMatches {
            statistics: found,
            postings,
        })
    }

    /// The scopes, each with its sums, and as `found` the parts that grow, with how many memories hold the term in all: one
    /// question for both.
    async fn newest_parts(
        &self,
        scope: &MemoryScope,
        terms: &[String],
    ) -> Result<Vec<SqliteRow>, StoreError> {
        // The order of the join is ours: the table is asked for each term, and never read from end to end.
        let query = sqlx::query(
            "SELECT s.*, (SELECT json_group_array(json_array(asked.key, p.documents, hex(p.postings))) \
             FROM json_each(?3) asked CROSS JOIN memory_postings p \
             ON p.scope = s.id AND p.term = asked.value AND p.part = 0) AS found FROM memory_scopes s \
             WHERE s.project_path = ?1 OR (?2 <> '' AND s.project_remote = ?2) ORDER BY s.id",
        )
        .bind(&scope.project_path)
        .bind(remote_of(scope))
        .bind(list(terms)?.unwrap_or_else(|| "[]".to_owned()));
        self.reader().await?.rows(self, query).await
    }

    /// Full parts: all, or from the newest on as many as hold so many postings of each term.
    async fn full_parts(
        &self,
        scopes: &str,
        terms: &[&str],
        newest: Option<u64>,
    ) -> Result<Vec<SqliteRow>, StoreError> {
        let Some(terms) = list(terms)? else {
            return Ok(Vec::new());
        };
        let query = sqlx::query(
            "SELECT json_group_array(json_array(asked.key, p.documents, hex(p.postings))) AS found \
             FROM json_each(?1) scope CROSS JOIN json_each(?2) asked \
             CROSS JOIN memory_postings p ON p.scope = scope.value AND p.term = asked.value AND p.part >= \
             coalesce((SELECT q.part FROM memory_postings q WHERE q.scope = scope.value AND q.term = asked.value \
             AND q.part > 0 ORDER BY q.part DESC LIMIT 1 OFFSET ?3), 1)",
        )
        .bind(scopes)
        .bind(terms)
        .bind(newest.map_or(i64::MAX, |most| {
            i64::try_from(most / POSTINGS_OF_A_PART).unwrap_or(i64::MAX)
        }));
        self.reader().await?.rows(self, query).await
    }

    pub(super) async fn memory_documents(
        &self,
        documents: &[i64],
        before: Option<OffsetDateTime>,
    ) -> Result<Vec<MemoryDocument>, StoreError> {
        // In the order of the table: neighbours are on one page.
        let mut documents = documents.to_vec();
        documents.sort_unstable();
        let Some(documents) = list(&documents)? else {
            return Ok(Vec::new());
        };
        // One row with all of them: handing over a row for each would cost more than finding them.
        let query = sqlx::query(
            "SELECT json_group_array(json_array(d.id, d.task_id, d.created_at, d.status, \
             json_array(d.text_terms, d.trace_terms, d.path_terms, d.file_terms), json(coalesce(d.files, '[]')), \
             d.superseded_by)) AS found \
             FROM json_each(?1) asked CROSS JOIN memory_documents d ON d.id = asked.value \
             WHERE ?2 IS NULL OR d.created_at < ?2",
        )
        .bind(documents)
        .bind(before.map(millis));
        let mut found = Vec::new();
        for row in &self.reader().await?.rows(self, query).await? {
            for document in Columns(row).list::<Document>("found")? {
                found.push(document.read()?);
            }
        }
        Ok(found)
    }

    pub(super) async fn newest_documents(
        &self,
        scope: &MemoryScope,
        before: Option<OffsetDateTime>,
        limit: u32,
    ) -> Result<Vec<i64>, StoreError> {
        // Each scope is read from its end; all of them together would have to be sorted. One row for each: handing over one
        // for each memory would cost more than finding them.
        let query = sqlx::query(
            "SELECT (SELECT json_group_array(json_array(created_at, id)) FROM \
             (SELECT created_at, id FROM memory_documents WHERE scope = s.id AND created_at < ?3 \
             ORDER BY created_at DESC, id DESC LIMIT ?4)) AS found FROM memory_scopes s \
             WHERE s.project_path = ?1 OR (?2 <> '' AND s.project_remote = ?2)",
        )
        .bind(&scope.project_path)
        .bind(remote_of(scope))
        .bind(before.map_or(i64::MAX, millis))
        .bind(limit);
        let mut newest: Vec<(i64, i64)> = Vec::new();
        for row in &self.reader().await?.rows(self, query).await? {
            newest.append(&mut Columns(row).list("found")?);
        }
        newest.sort_unstable_by(|one, other| other.cmp(one));
        newest.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(newest.into_iter().map(|(_, id)| id).collect())
    }
}

/// How many postings of each term are read so that all of them together are not more than `budget`: all of the rarest terms,
/// as far as it goes, and nothing of the others, which say little; what is read in part favours the newest. Of few terms each
/// counts: then the first that does not fit is read as far as it goes, and so is the rarest of many.
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

/// A part of a term's postings: the place of the term among those that were asked for, how many memories hold it, and the
/// packed postings in hexadecimal digits.
#[derive(Deserialize)]
struct Part<'a>(usize, u64, &'a str);

/// The parts of a row. They come as a list: handing over a row for each would cost more than finding them.
fn parts(row: &SqliteRow) -> Result<Vec<Part<'_>>, StoreError> {
    let text: Option<&str> = Columns(row).get("found")?;
    let parts = text.map(serde_json::from_str).transpose();
    Ok(parts
        .map_err(|error| damaged("found", &error))?
        .unwrap_or_default())
}

/// What each byte is worth as a hexadecimal digit; [`NO_DIGIT`] for those that are none.
const WORTH: [u8; 256] = {
    let mut worth = [NO_DIGIT; 256];
    let (digits, mut value) = (b"0123456789ABCDEF", 0);
    while value < digits.len() {
        worth[digits[value] as usize] = value as u8;
        value += 1;
    }
    worth
};
const NO_DIGIT: u8 = 0xff;

/// What pairs of hexadecimal digits say.
fn bytes_of(digits: &str) -> Result<Vec<u8>, StoreError> {
    let mut are_digits = true;
    let byte = |pair: &[u8; 2]| {
        let [high, low] = pair.map(|digit| WORTH[usize::from(digit)]);
        are_digits &= (high | low) != NO_DIGIT;
        high << 4 | low
    };
    let bytes = digits.as_bytes().as_chunks::<2>().0.iter().map(byte).collect();
    if are_digits {
        Ok(bytes)
    } else {
        Err(damaged("postings", &"not in hexadecimal digits"))
    }
}

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
    fn read(self) -> Result<MemoryDocument, StoreError> {
        let Self(document, task_id, created_at, status, lengths, files, superseded_by) = self;
        Ok(MemoryDocument {
            document,
            task_id: TaskId::new(task_id),
            created_at: time("created_at", created_at)?,
            status: TaskStatus::from_name(&status)
                .ok_or_else(|| damaged("status", &format_args!("unknown name {status:?}")))?,
            lengths,
            files,
            superseded_by: superseded_by.map(TaskId::new),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{allotted, bytes_of};

    #[test]
    fn rare_terms_are_read_whole_and_those_that_do_not_fit_are_left_out() {
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

    #[test]
    fn digits_say_bytes() {
        assert_eq!(bytes_of("00FF7A").unwrap(), [0, 255, 122]);
        assert_eq!(bytes_of("").unwrap(), [0; 0]);
        assert!(bytes_of("0g").is_err());
    }
}
