//! Where terms stand.

use crate::sqlite::values::{Columns, list, millis};
use crate::sqlite::{SqliteStore, StoreError};
use grov_domain::{
    MemoryDocument, MemoryExtent, MemoryScope, PerField, Posting, TaskId, TaskStatus, TermMatch, TermMatches,
};
use sqlx::sqlite::SqliteRow;
use std::collections::BTreeMap;
use time::OffsetDateTime;

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
        let (scopes, extent) = self.extent(scope).await?;
        let mut found = TermMatches {
            extent,
            terms: vec![TermMatch::default(); terms.len()],
        };
        // Each term under each scope; the place of the term comes back with what stands there.
        let scoped = |place: usize| scopes.iter().map(move |scope| (place, scope));
        let keys: Vec<(usize, String)> = (0..terms.len())
            .flat_map(scoped)
            .filter_map(|(place, scope)| Some((place, format!("{scope}:{}", terms.get(place)?))))
            .collect();
        for (place, frequency) in self.frequencies(&keys).await? {
            if let Some(term) = found.terms.get_mut(place) {
                term.frequency = term.frequency.saturating_add(frequency);
            }
        }
        let mut order: Vec<usize> = (0..terms.len()).collect();
        order.sort_by_key(|place| found.terms.get(*place).map(|term| term.frequency));
        let mut left = budget;
        let affordable: Vec<usize> = order
            .into_iter()
            .take_while(|place| {
                let cost = found.terms.get(*place).map_or(0, |term| term.frequency);
                let affordable = cost <= left;
                left = left.saturating_sub(cost);
                affordable
            })
            .collect();
        for place in &affordable {
            if let Some(term) = found.terms.get_mut(*place) {
                term.postings = Some(Vec::new());
            }
        }
        let keys: Vec<(usize, String)> = keys
            .into_iter()
            .filter(|(place, _)| {
                found
                    .terms
                    .get(*place)
                    .is_some_and(|term| term.frequency > 0 && term.postings.is_some())
            })
            .collect();
        for (place, mut postings) in self.postings(&keys).await? {
            if let Some(known) = found.terms.get_mut(place).and_then(|term| term.postings.as_mut()) {
                known.append(&mut postings);
            }
        }
        Ok(found)
    }

    async fn extent(&self, scope: &MemoryScope) -> Result<(Vec<i64>, MemoryExtent), StoreError> {
        let query = sqlx::query(
            "SELECT * FROM memory_scopes WHERE project_path = ?1 OR (?2 <> '' AND project_remote = ?2) ORDER BY id",
        )
        .bind(&scope.project_path)
        .bind(remote_of(scope));
        let rows = self.reader().await?.rows(self, query).await?;
        let mut extent = MemoryExtent::default();
        let mut scopes = Vec::with_capacity(rows.len());
        for row in &rows {
            let columns = Columns(row);
            scopes.push(columns.get("id")?);
            extent.documents += columns.count("documents")?;
            for (sum, column) in extent.lengths.iter_mut().zip(LENGTHS) {
                *sum += columns.count(column)?;
            }
        }
        Ok((scopes, extent))
    }

    async fn frequencies(&self, keys: &[(usize, String)]) -> Result<Vec<(usize, u64)>, StoreError> {
        let terms: Vec<&str> = keys.iter().map(|(_, term)| term.as_str()).collect();
        let Some(terms) = list(&terms)? else {
            return Ok(Vec::new());
        };
        // The order of the join is ours: the index is asked for each term, and never read from end to end.
        let query = sqlx::query(
            "SELECT asked.key AS place, found.doc AS documents FROM json_each(?) asked \
             CROSS JOIN memory_frequencies found ON found.term = asked.value",
        )
        .bind(terms);
        let rows = self.reader().await?.rows(self, query).await?;
        rows.iter()
            .map(|row| {
                let columns = Columns(row);
                Ok((place_of(keys, &columns)?, columns.count("documents")?))
            })
            .collect()
    }

    async fn postings(&self, keys: &[(usize, String)]) -> Result<Vec<(usize, Vec<Posting>)>, StoreError> {
        let terms: Vec<&str> = keys.iter().map(|(_, term)| term.as_str()).collect();
        let Some(terms) = list(&terms)? else {
            return Ok(Vec::new());
        };
        // One row for each term: a row for each place would cost more than finding it.
        let query = sqlx::query(
            "SELECT asked.key AS place, (SELECT group_concat(found.doc || \
             CASE found.col WHEN 'text' THEN 'a' WHEN 'trace' THEN 'b' WHEN 'path' THEN 'c' ELSE 'd' END, ' ') \
             FROM memory_postings found WHERE found.term = asked.value) AS places FROM json_each(?) asked",
        )
        .bind(terms);
        let rows = self.reader().await?.rows(self, query).await?;
        rows.iter()
            .map(|row| {
                let columns = Columns(row);
                let places: Option<&str> = columns.get("places")?;
                Ok((place_of(keys, &columns)?, counted(places.unwrap_or(""))))
            })
            .collect()
    }

    pub(super) async fn memory_documents(
        &self,
        documents: &[i64],
        before: Option<OffsetDateTime>,
    ) -> Result<Vec<MemoryDocument>, StoreError> {
        let Some(documents) = list(documents)? else {
            return Ok(Vec::new());
        };
        let query = sqlx::query(
            "SELECT d.*, t.status, t.files_touched, t.superseded_by FROM json_each(?1) asked \
             CROSS JOIN memory_documents d ON d.id = asked.value JOIN tasks t ON t.id = d.task_id \
             WHERE ?2 IS NULL OR d.created_at < ?2",
        )
        .bind(documents)
        .bind(before.map(millis));
        let rows = self.reader().await?.rows(self, query).await?;
        rows.iter().map(document).collect()
    }

    pub(super) async fn newest_documents(
        &self,
        scope: &MemoryScope,
        before: Option<OffsetDateTime>,
        limit: u32,
    ) -> Result<Vec<i64>, StoreError> {
        // Each scope is read from its end; all of them together would have to be sorted.
        let (scopes, _) = self.extent(scope).await?;
        let mut newest: Vec<(i64, i64)> = Vec::new();
        for scope in scopes {
            let query = sqlx::query(
                "SELECT created_at, id FROM memory_documents WHERE scope = ?1 AND created_at < ?2 \
                 ORDER BY created_at DESC, id DESC LIMIT ?3",
            )
            .bind(scope)
            .bind(before.map_or(i64::MAX, millis))
            .bind(limit);
            for row in &self.reader().await?.rows(self, query).await? {
                let columns = Columns(row);
                newest.push((columns.get("created_at")?, columns.get("id")?));
            }
        }
        newest.sort_unstable_by(|one, other| other.cmp(one));
        newest.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(newest.into_iter().map(|(_, id)| id).collect())
    }
}

const LENGTHS: PerField<&str> = ["text_terms", "trace_terms", "path_terms", "file_terms"];

fn document(row: &SqliteRow) -> Result<MemoryDocument, StoreError> {
    let columns = Columns(row);
    let mut lengths = [0; 4];
    for (length, column) in lengths.iter_mut().zip(LENGTHS) {
        *length = columns.small(column)?.unwrap_or(u32::MAX);
    }
    Ok(MemoryDocument {
        document: columns.get("id")?,
        task_id: TaskId::new(columns.get::<String>("task_id")?),
        created_at: columns.time("created_at")?,
        status: columns.named("status", TaskStatus::from_name)?,
        lengths,
        files: columns.list("files_touched")?,
        superseded_by: columns.get::<Option<String>>("superseded_by")?.map(TaskId::new),
    })
}

/// Which term a row is about.
fn place_of(keys: &[(usize, String)], columns: &Columns<'_>) -> Result<usize, StoreError> {
    let place = columns.count("place")?;
    usize::try_from(place)
        .ok()
        .and_then(|place| keys.get(place))
        .map(|(place, _)| *place)
        .ok_or_else(|| {
            StoreError::Other(format!(
                "the index answered for term {place}, which was not asked for"
            ))
        })
}

/// Adds up places such as `17a 17b 23d`: the number of a memory and the field's mark, in any order.
fn counted(places: &str) -> Vec<Posting> {
    let mut counts: BTreeMap<i64, PerField<u32>> = BTreeMap::new();
    for place in places.split(' ') {
        let Some((mark_at, mark)) = place.char_indices().last() else {
            continue;
        };
        let field = match mark {
            'a' => 0,
            'b' => 1,
            'c' => 2,
            _ => 3,
        };
        let Ok(document) = place[..mark_at].parse() else {
            continue;
        };
        if let Some(count) = counts.entry(document).or_default().get_mut(field) {
            *count += 1;
        }
    }
    counts
        .into_iter()
        .map(|(document, counts)| Posting { document, counts })
        .collect()
}
