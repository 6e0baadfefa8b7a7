//! Which memories a model has yet to judge, and what it found.

use crate::sqlite::columns::{Record, RowExt, millis, params};
use crate::sqlite::select::Select;
use crate::sqlite::{SqliteStore, StoreError};
use grov_domain::{MemoryScope, ModelScreening, Task, TaskId, UnjudgedMemory};
use time::{Duration, OffsetDateTime};

/// The length of the first reservation. Each further one is twice as long, up to a day.
const FIRST_RESERVATION: Duration = Duration::minutes(10);
const MAX_DOUBLINGS: u32 = 7;
/// How long the memory of a session is left alone: a session at work saves it again with each turn.
const SETTLING: Duration = Duration::minutes(10);
/// How old a session's memory is that is not judged any more.
const OLD: Duration = Duration::days(30);

/// Reserves memories, see [`MemoryStore::reserve_unjudged`](grov_domain::MemoryStore::reserve_unjudged).
pub(super) async fn reserve(
    store: &SqliteStore,
    now: OffsetDateTime,
    limit: u32,
) -> Result<Vec<UnjudgedMemory>, StoreError> {
    let sql = "SELECT id, judging_tries FROM tasks WHERE model_screening IS NULL AND coalesce(judging_until, 0) <= ?1 \
         AND (client_session_id IS NULL OR created_at BETWEEN ?4 AND ?3) ORDER BY judging_tries, client_session_id IS NOT NULL, created_at DESC, id LIMIT ?2";
    let read = |row: &sqlx::sqlite::SqliteRow| Ok((row.read("id")?, row.read("judging_tries")?));
    let settled = now - SETTLING;
    // Most looks find nothing, and take no lock.
    let mut waiting: Vec<(TaskId, u32)> = store
        .read(sql, params![now, limit, settled, now - OLD], read)
        .await?;
    if waiting.is_empty() {
        return Ok(Vec::new());
    }
    let mut transaction = store.begin().await?;
    waiting = transaction
        .read(sql, params![now, limit, settled, now - OLD], read)
        .await?;
    // Those that come first are new, or none is.
    let new = waiting.iter().take_while(|(_, tries)| *tries == 0).count();
    waiting.truncate(new.max(1));
    let mut reserved = Vec::new();
    for (id, tries) in waiting {
        let until = now + FIRST_RESERVATION * 2_i32.pow(tries.min(MAX_DOUBLINGS));
        let sql = "UPDATE tasks SET judging_tries = judging_tries + 1, judging_until = ?2 WHERE id = ?1 RETURNING *";
        let rows = transaction.read(sql, params![id, until], Task::from_row).await?;
        reserved.extend(rows.into_iter().map(|task| UnjudgedMemory {
            task,
            reservation: millis(until),
        }));
    }
    transaction.commit().await?;
    Ok(reserved)
}

/// Stores a verdict on a reserved memory. An edit ends the reservation.
pub(super) async fn save(
    store: &SqliteStore,
    memory: &UnjudgedMemory,
    screening: &ModelScreening,
) -> Result<bool, StoreError> {
    let sql = "UPDATE tasks SET model_screening = ?3 WHERE id = ?1 AND judging_until = ?2 AND model_screening IS NULL";
    let values = params![memory.task.id, memory.reservation, screening];
    Ok(store.execute(sql, values).await? > 0)
}

/// Stores that the user trusts the text of a memory.
pub(super) async fn trust(
    store: &SqliteStore,
    task: &Task,
    screening: &ModelScreening,
) -> Result<bool, StoreError> {
    let mut transaction = store.begin().await?;
    let sql = "SELECT * FROM tasks WHERE id = ?1";
    let stored = transaction.read(sql, params![task.id], Task::from_row).await?;
    let is_same = stored.into_iter().next().is_some_and(|stored| {
        // What was found in the text meanwhile does not change it.
        let stored = Task {
            screened: task.screened,
            model_screening: task.model_screening.clone(),
            ..stored
        };
        stored == *task
    });
    if is_same {
        let sql = "UPDATE tasks SET model_screening = ?2 WHERE id = ?1";
        transaction.execute(sql, params![task.id, screening]).await?;
    }
    transaction.commit().await?;
    Ok(is_same)
}

/// Counts the memories that wait.
pub(super) async fn count(
    store: &SqliteStore,
    scope: Option<&MemoryScope>,
    now: OffsetDateTime,
) -> Result<u64, StoreError> {
    let mut select = Select::new("SELECT count(*) AS waiting FROM tasks");
    select.and_scope(scope);
    let waits = "model_screening IS NULL AND (client_session_id IS NULL OR created_at >= ?)";
    select.and_all(waits, &[&(now - OLD)]);
    let counted = select.read(store, |row| row.read("waiting")).await?;
    Ok(counted.first().copied().unwrap_or_default())
}
