//! Deletes memories permanently.

use super::index::remove_tasks;
use crate::sqlite::columns::{RowExt, params};
use crate::sqlite::connection::Connection;
use crate::sqlite::ledger::BUMP_REVISION;
use crate::sqlite::select::expanded;
use crate::sqlite::{SqliteStore, StoreError};
use crate::{Spool, drain_spool};
use grov_domain::{OWN_TEXT_CLOSING, OWN_TEXT_OPENING, TaskId};

/// Parts of statements; `?1` is a JSON list of task ids.
#[rustfmt::skip]
const PARTS: &[(&str, &str)] = &[
    // The sessions that became these tasks.
    ("{sessions}", "(SELECT session_id FROM tasks WHERE session_id IS NOT NULL AND id IN {forgotten})"),
    // The client sessions of these tasks.
    ("{clients}", "(SELECT client_session_id FROM tasks WHERE client_session_id IS NOT NULL AND id IN {forgotten})"),
    // The ledger entries whose text quotes these tasks.
    ("{quoted}", "(SELECT lineage, anchor FROM ledger_memories WHERE task_id IN {forgotten})"),
    ("{forgotten}", "(SELECT value FROM json_each(?1))"),
];

/// Removes the text from the ledger, so that it is not injected again.
const BLANK_BLOCKS: &str =
    "UPDATE ledger_entries SET block = NULL WHERE block IS NOT NULL AND (lineage, anchor) IN {quoted}";

/// The same for corrections, which quote the work itself and no memory: text that was injected while the task was
/// active, or that contains a correction of the task. For a removed session, only the end of that time is known.
/// Sessions that continue others have copies of the text.
const BLANK_CORRECTIONS: &str = "WITH own AS MATERIALIZED (SELECT e.anchor, e.block FROM tasks t \
     JOIN ledger_lineages l ON l.client_session_id = t.client_session_id \
     JOIN ledger_entries e ON e.lineage = l.id WHERE t.id IN {forgotten} AND e.block IS NOT NULL \
     AND e.decided_at <= t.created_at AND e.decided_at >= coalesce((SELECT s.start_time FROM session_states s \
     WHERE s.session_id = t.session_id), e.decided_at) AND NOT EXISTS (SELECT 1 FROM ledger_memories m \
     WHERE m.lineage = e.lineage AND m.anchor = e.anchor) UNION ALL SELECT e.anchor, e.block FROM corrections c \
     JOIN ledger_entries e ON CASE WHEN json_valid(e.block) THEN instr(json_extract(e.block, '$.text'), \
     c.text) > 0 ELSE 0 END WHERE c.text <> '' AND c.session_id IN {sessions}) UPDATE ledger_entries \
     SET block = NULL WHERE (anchor, block) IN (SELECT anchor, block FROM own)";

/// Replaces the summaries of cleared conversations, also in sessions that continue them: they tell of every task of their
/// session. The conversations stay cleared, because the model's window may not hold them whole. `?2` is the new block.
const BLANK_CUTS: &str = "UPDATE ledger_cuts SET block = ?2 WHERE block <> ?2 AND (anchor, block) IN \
     (SELECT c.anchor, c.block FROM ledger_cuts c JOIN ledger_lineages l ON l.id = c.lineage \
     WHERE l.client_session_id IN {clients})";

/// Deletes goal edits made while the task was active. If the session has another active task, deletes only reworded
/// goals: what the user allowed, forbade and required stays in force.
const DROP_EDITS: &str = "DELETE FROM goal_edits WHERE (client_session_id, id) IN (SELECT e.client_session_id, e.id FROM tasks t \
     JOIN goal_edits e ON e.client_session_id = t.client_session_id AND e.at <= t.created_at \
     WHERE t.id IN {forgotten} AND (e.kind = 'set' OR NOT EXISTS (SELECT 1 FROM session_states s \
     WHERE s.client_session_id = t.client_session_id AND s.status = 'active')))";

/// Deletes the data derived from the tasks, and their sources. Rows that are still needed are kept without their texts:
/// active sessions continue, spending stays recorded, and an exchange that is recorded again is recognised. Ids that
/// refer to deleted rows are kept, because an id reveals nothing.
const ERASE: &[&str] = &[
    // Stores only the ids, so that text which quotes the tasks and is being prepared is refused.
    "INSERT INTO forgotten (task_id, at) \
     SELECT value, CAST(unixepoch('subsec') * 1000 AS INTEGER) FROM json_each(?1) WHERE true \
     ON CONFLICT (task_id) DO UPDATE SET at = excluded.at",
    "DELETE FROM ledger_memories WHERE (lineage, anchor) IN {quoted}",
    "DELETE FROM file_reasoning WHERE task_id IN {forgotten}",
    "DELETE FROM step_files WHERE (path, timestamp, session_id, step_id) IN (SELECT f.value, st.timestamp, \
     st.session_id, st.id FROM steps st, json_each(st.files) f WHERE st.session_id IN {sessions})",
    "UPDATE steps SET files = NULL, folders = NULL, command = NULL, effects = NULL, reasoning = NULL, \
     correction_given = NULL, keywords = NULL, findings = NULL WHERE session_id IN {sessions}",
    "DELETE FROM prompts WHERE session_id IN {sessions}",
    "UPDATE drift_log SET files = NULL, reason = NULL, correction_given = NULL, recovery_plan = NULL, \
     command = NULL, findings = NULL, folders = NULL, effects = NULL, reasoning = NULL, keywords = NULL \
     WHERE session_id IN {sessions}",
    "UPDATE corrections SET reason = '', text = '', recovery_plan = NULL WHERE session_id IN {sessions}",
    "UPDATE drift_states SET state = json_set(state, '$.correction', json('null')) WHERE EXISTS (SELECT 1 \
     FROM corrections c WHERE c.client_session_id = drift_states.client_session_id \
     AND c.id = json_extract(state, '$.correction.id') AND c.session_id IN {sessions})",
    "UPDATE drift_states SET state = json_set(state, '$.consent', json('{}')) WHERE client_session_id IN \
     (SELECT client_session_id FROM session_states WHERE session_id IN {sessions})",
    "UPDATE hook_steps SET files = NULL, command = NULL, effects = NULL, reasoning = NULL, output = NULL, \
     content = NULL, findings = NULL WHERE number IN (SELECT st.number FROM tasks t \
     JOIN hook_steps st ON st.client_session_id = t.client_session_id AND st.timestamp <= t.created_at \
     WHERE t.id IN {forgotten})",
    "UPDATE hook_checks SET reason = NULL, files = NULL, recovery_plan = NULL, correction = NULL \
     WHERE (client_session_id, id) IN (SELECT c.client_session_id, c.id FROM tasks t \
     JOIN hook_checks c ON c.client_session_id = t.client_session_id AND c.at <= t.created_at \
     WHERE t.id IN {forgotten})",
    "DELETE FROM hook_guards WHERE (client_session_id, tool_use_id) IN (SELECT g.client_session_id, \
     g.tool_use_id FROM tasks t JOIN hook_guards g ON g.client_session_id = t.client_session_id \
     AND g.at <= t.created_at WHERE t.id IN {forgotten})",
    // A hook that has read the texts but has not written yet must not write them.
    "UPDATE hook_sessions SET contract = '', waiting = NULL, prompt_readings = NULL, revision = revision + 1, \
     forgotten_at = max(coalesce(forgotten_at, t.saved), t.saved) FROM (SELECT client_session_id, \
     max(created_at) AS saved FROM tasks WHERE client_session_id IS NOT NULL AND id IN {forgotten} \
     GROUP BY client_session_id) t WHERE hook_sessions.client_session_id = t.client_session_id",
    "DELETE FROM hook_courses WHERE client_session_id IN (SELECT client_session_id FROM tasks \
     WHERE client_session_id IS NOT NULL AND id IN {forgotten})",
    // What they say of a session may come from any of its tasks.
    "DELETE FROM context_readings WHERE client_session_id IN {clients}",
    "DELETE FROM prepared_summaries WHERE client_session_id IN {clients}",
    "DELETE FROM read_limits WHERE client_session_id IN {clients}",
    "DELETE FROM compactions WHERE client_session_id IN {clients}",
    "DELETE FROM ledger_cuts WHERE applied_at IS NULL AND lineage IN \
     (SELECT id FROM ledger_lineages WHERE client_session_id IN {clients})",
    "UPDATE session_states SET original_goal = NULL, expected_scope = NULL, constraints = NULL, \
     keywords = NULL, forgotten_at = CAST(unixepoch('subsec') * 1000 AS INTEGER) WHERE session_id IN {sessions}",
];

/// Deletes tasks permanently, with all data derived from them. Returns those that existed.
pub(super) async fn forget(store: &SqliteStore, tasks: &[TaskId]) -> Result<Vec<TaskId>, StoreError> {
    if tasks.is_empty() {
        return Ok(Vec::new());
    }
    // Records in the spool would restore texts later.
    drain_spool(store, &Spool::for_database(store.path())).await?;
    let mut transaction = store.begin().await?;
    let tasks = &with_items(&mut transaction, tasks).await?;
    remove_tasks(&mut transaction, tasks).await?;
    let gone = erase(&mut transaction, tasks).await?;
    transaction.commit().await?;
    store
        .scrub("the memories are deleted", "forget them again")
        .await?;
    Ok(gone)
}

/// Returns the tasks and the memory items that come from them.
async fn with_items(connection: &mut Connection<'_>, tasks: &[TaskId]) -> Result<Vec<TaskId>, StoreError> {
    let sql = "SELECT id FROM memory_items WHERE task_id IN (SELECT value FROM json_each(?1)) \
         AND id NOT IN (SELECT value FROM json_each(?1)) ORDER BY id";
    let items: Vec<TaskId> = connection.read(sql, params![tasks], |row| row.read(0)).await?;
    Ok([tasks, &items].concat())
}

impl SqliteStore {
    /// Rewrites the database, so that the files contain no copy of deleted content. SQLite overwrites a deleted row,
    /// but not copies in pages from which rows were moved. `done` and `again` are parts of the error message: what was
    /// achieved, and how to retry.
    pub(in crate::sqlite) async fn scrub(&self, done: &str, again: &str) -> Result<(), StoreError> {
        let mut connection = self.connection().await?;
        // The temporary copy is as large as the database, so it is not kept in memory.
        let vacuum = "PRAGMA temp_store = FILE; VACUUM; PRAGMA temp_store = MEMORY";
        let rewritten = connection.execute(vacuum, params![]).await;
        rewritten.map_err(|error| traces_left(done, again, error))?;
        let busy = connection
            .value("PRAGMA wal_checkpoint(TRUNCATE)", params![])
            .await;
        let busy: Option<i64> = busy.map_err(|error| traces_left(done, again, error))?;
        if busy != Some(0) {
            return Err(StoreError::Busy(format!(
                "{}: {done}, but another process still reads the old state, so a copy remains in \
                 the write-ahead log until it ends; {again} then to be sure",
                self.path.display()
            )));
        }
        Ok(())
    }
}

/// Returns the error for a deletion that succeeded without clearing the files.
fn traces_left(done: &str, again: &str, error: StoreError) -> StoreError {
    let traces = |reason: String| format!("{done}, but traces may be left in the file, {again}: {reason}");
    match error {
        StoreError::Busy(reason) => StoreError::Busy(traces(reason)),
        StoreError::NotWritable(reason) => StoreError::NotWritable(traces(reason)),
        other => other,
    }
}

/// Returns the block that takes the place of a forgotten summary, as it is sent.
fn blank_cut() -> String {
    let text = format!(
        "{OWN_TEXT_OPENING}>\nThe earlier part of this conversation was left out, and its summary was deleted at the user's \
         request. Ask the user for what you need.\n{OWN_TEXT_CLOSING}"
    );
    // As the other blocks: the text first.
    format!(r#"{{"text":{},"type":"text"}}"#, serde_json::Value::from(text))
}

async fn erase(connection: &mut Connection<'_>, tasks: &[TaskId]) -> Result<Vec<TaskId>, StoreError> {
    let mut in_use = connection
        .execute(expanded(BLANK_CUTS, PARTS), params![tasks, blank_cut()])
        .await?;
    for statement in [BLANK_BLOCKS, BLANK_CORRECTIONS, DROP_EDITS] {
        in_use += connection
            .execute(expanded(statement, PARTS), params![tasks])
            .await?;
    }
    for statement in ERASE {
        connection
            .execute(expanded(statement, PARTS), params![tasks])
            .await?;
    }
    let mut gone: Vec<TaskId> = Vec::new();
    for delete in [
        "DELETE FROM tasks WHERE id IN {forgotten} RETURNING id",
        "DELETE FROM memory_items WHERE id IN {forgotten} RETURNING id",
    ] {
        let deleted: Vec<TaskId> = connection
            .read(expanded(delete, PARTS), params![tasks], |row| row.read(0))
            .await?;
        for id in deleted {
            if !gone.contains(&id) {
                gone.push(id);
            }
        }
    }
    // Running processes have these texts in memory too.
    if in_use > 0 || !gone.is_empty() {
        connection.execute(BUMP_REVISION, params![]).await?;
    }
    Ok(gone)
}
