//! Stores exchanges.
//!
//! The whole batch takes one transaction and a few statements: a round trip to the connection's thread costs more than
//! inserting a row.

use super::columns::{RowExt, integer, params};
use super::connection::Connection;
use super::drift::{insert_events, remove_steps, save_state};
use super::insert::{Insert, insert};
use super::open_files::OpenFiles;
use super::session_changes::{SessionChange, SessionChanges, bounded};
use super::{OnCorruption, SqliteStore, memory};
use async_trait::async_trait;
use grov_domain::{ExchangeRecord, ExchangeStore, Prompt, Redacted, Step, StepVerdict, StoreError};
use std::collections::HashSet;

insert! {
    INSERT_EXCHANGES, bind_exchange(new in NewExchange<'_>):
    "INSERT OR ROLLBACK INTO exchanges", "ON CONFLICT (session_id, id) DO NOTHING";
    new.record => { session_id, id, agent_id, kind, model, stop_reason, outcome, started_at, ended_at, edits }
    bounded(&new.record.usage) => { input, cache_read, cache_creation, cache_creation_5m, cache_creation_1h, output }
}

/// Also returns the new rows. Slower, and needed only if some rows existed before.
const INSERT_NEW_EXCHANGES: Insert = Insert {
    tail: "ON CONFLICT (session_id, id) DO NOTHING RETURNING session_id, id",
    ..INSERT_EXCHANGES
};

insert! {
    INSERT_STEPS, bind_step((exchange, step) in (&ExchangeRecord, &Step)):
    "INSERT OR ROLLBACK INTO steps", "ON CONFLICT (session_id, id) DO NOTHING";
    exchange => { session_id, exchange_id = id, agent_id }
    step => { id, reasoning, is_key_decision, keywords, timestamp }
    step.action => { tool, tool_use_id, action_type, files, folders, command, effects }
    ? step.verdict => { drift_score = score, judged_by = by, findings, correction_level = level, correction_given = correction };
    drift_type: step.verdict.as_ref().map(StepVerdict::drift_type),
}

insert! {
    INSERT_STEP_FILES, bind_step_file((exchange, step, path) in (&ExchangeRecord, &Step, &str)):
    "INSERT OR ROLLBACK INTO step_files", "ON CONFLICT DO NOTHING";
    exchange => { session_id }
    step => { timestamp, step_id = id };
    path: *path,
}

insert! {
    INSERT_PROMPTS, bind_prompt((exchange, (ordinal, prompt)) in (&ExchangeRecord, (i64, &Prompt))):
    "INSERT OR ROLLBACK INTO prompts", "";
    exchange => { session_id, exchange_id = id, client_session_id, at = started_at }
    prompt => { text, queued };
    ordinal: *ordinal,
}

// The project is not updated here: the column is indexed and changes once per session.
insert! {
    UPSERT_SESSIONS, bind_session(change in SessionChange<'_>):
    "INSERT OR ROLLBACK INTO session_states",
    "ON CONFLICT (session_id) DO UPDATE SET \
     user_id = coalesce(user_id, excluded.user_id), \
     original_goal = coalesce(original_goal, excluded.original_goal), \
     token_count = iif(excluded.token_count_at >= coalesce(token_count_at, excluded.token_count_at), \
         excluded.token_count, token_count), \
     token_count_at = iif(excluded.token_count_at >= coalesce(token_count_at, excluded.token_count_at), \
         excluded.token_count_at, token_count_at), \
     start_time = min(start_time, excluded.start_time), \
     last_update = max(last_update, excluded.last_update), \
     last_step_id = iif(excluded.last_step_at >= coalesce(last_step_at, excluded.last_step_at), \
         excluded.last_step_id, last_step_id), \
     last_step_at = iif(excluded.last_step_at >= coalesce(last_step_at, excluded.last_step_at), \
         excluded.last_step_at, last_step_at), \
     prompt_count = prompt_count + excluded.prompt_count, \
     step_count = step_count + excluded.step_count, \
     exchange_count = exchange_count + excluded.exchange_count, \
     tokens_input = tokens_input + excluded.tokens_input, \
     tokens_cache_read = tokens_cache_read + excluded.tokens_cache_read, \
     tokens_cache_creation = tokens_cache_creation + excluded.tokens_cache_creation, \
     tokens_cache_creation_5m = tokens_cache_creation_5m + excluded.tokens_cache_creation_5m, \
     tokens_cache_creation_1h = tokens_cache_creation_1h + excluded.tokens_cache_creation_1h, \
     tokens_output = tokens_output + excluded.tokens_output \
     RETURNING session_id, project_path = '', exchange_count";
    change => {
        session_id = session, client_session_id = client_session, user_id = user, project_path = project,
        project_remote = remote, original_goal = goal, start_time = start, last_update = end, prompt_count = prompts,
        step_count = steps, exchange_count = exchanges
    }
    change.usage => {
        tokens_input = input, tokens_cache_read = cache_read, tokens_cache_creation = cache_creation,
        tokens_cache_creation_5m = cache_creation_5m, tokens_cache_creation_1h = cache_creation_1h,
        tokens_output = output
    };
    token_count: change.context.map_or(0, |(_, tokens)| tokens),
    token_count_at: change.context.map(|(at, _)| at),
    last_step_id: change.last_step.map(|(_, id)| id),
    last_step_at: change.last_step.map(|(at, _)| at),
}

#[async_trait]
impl ExchangeStore for SqliteStore {
    async fn append(&self, batch: &[Redacted<ExchangeRecord>]) -> Result<usize, StoreError> {
        if batch.is_empty() {
            return Ok(0);
        }
        self.reopen().await?;
        let files = self.open_files();
        let stored = self.append_once(batch).await;
        // Storing a record twice changes nothing.
        match self.is_lost(&stored, files) {
            true => self.append_once(batch).await,
            false => stored,
        }
    }
}

impl SqliteStore {
    /// Whether the batch was lost because the database was damaged, or its files were deleted or overwritten during the
    /// call. Only for a store that reopens its database.
    fn is_lost(&self, stored: &Result<usize, StoreError>, files: Option<OpenFiles>) -> bool {
        let (Some(on_corruption), Some(files)) = (self.mode.reopens(), files) else {
            return false;
        };
        match stored {
            Ok(_) => !files.are_in_place(&self.path),
            Err(StoreError::NotWritable(_)) => !files.has_database(&self.path),
            Err(StoreError::Corrupt(_)) => on_corruption == OnCorruption::SetAside,
            Err(_) => false,
        }
    }

    async fn append_once(&self, batch: &[Redacted<ExchangeRecord>]) -> Result<usize, StoreError> {
        let mut batch: Vec<NewExchange<'_>> = batch.iter().map(|record| NewExchange::new(record)).collect();
        let mut transaction = self.begin().await?;
        let inserted = transaction
            .insert(&INSERT_EXCHANGES, &batch, bind_exchange)
            .await?;
        let mut new_keys = None;
        if inserted < batch.len() as u64 {
            // Repeating the insert with `RETURNING` is the only way to find out which records existed.
            transaction.roll_back().await?;
            transaction = self.begin().await?;
            let rows = transaction
                .insert_returning(&INSERT_NEW_EXCHANGES, &batch, bind_exchange)
                .await?;
            let keys = rows.iter().map(|row| Ok((row.read(0)?, row.read(1)?)));
            new_keys = Some(keys.collect::<Result<_, StoreError>>()?);
        }
        let stored = append(&mut transaction, &mut batch, new_keys).await?;
        transaction.commit().await?;
        Ok(stored)
    }
}

/// A record to be stored.
pub(super) struct NewExchange<'a> {
    pub(super) record: &'a ExchangeRecord,
    pub(super) steps: Vec<&'a Step>,
    /// Actions already judged off goal: they are stored in the drift log.
    pub(super) off_goal: Vec<&'a Step>,
}

impl<'a> NewExchange<'a> {
    fn new(record: &'a ExchangeRecord) -> Self {
        let is_off_goal = |step: &&Step| step.verdict.as_ref().is_some_and(|verdict| verdict.is_off_goal());
        let (off_goal, steps) = record.steps.iter().partition(is_off_goal);
        Self {
            record,
            steps,
            off_goal,
        }
    }

    /// Whether it contains an action of an earlier exchange. The ids of an exchange's actions begin with its id.
    fn has_earlier_steps(&self) -> bool {
        let mut steps = self.steps.iter().chain(&self.off_goal);
        steps.any(|step| !step.id.as_str().starts_with(self.record.id.as_str()))
    }
}

/// Session and id of an exchange. Either can occur twice in a batch.
type Key = (String, String);

/// Stores the steps, prompts and sessions of new exchanges, whose own rows are inserted already. Without `new_keys` the
/// whole batch is new. Returns the number of new exchanges.
async fn append(
    connection: &mut Connection<'_>,
    batch: &mut [NewExchange<'_>],
    mut new_keys: Option<HashSet<Key>>,
) -> Result<usize, StoreError> {
    let off_goal = batch.iter().flat_map(|new| &new.off_goal);
    let off_goal: HashSet<&str> = off_goal.map(|step| step.id.as_str()).collect();
    for exchange in batch.iter_mut() {
        if exchange.has_earlier_steps() {
            drop_known_steps(connection, exchange).await?;
        }
        if !off_goal.is_empty() {
            exchange.steps.retain(|step| !off_goal.contains(step.id.as_str()));
        }
    }
    let mut is_new = |new: &NewExchange<'_>| match &mut new_keys {
        None => true,
        // Removing the key also skips a record that occurs twice in the batch.
        Some(keys) => keys.remove(&(new.record.session_id.to_string(), new.record.id.to_string())),
    };
    let new: Vec<&NewExchange<'_>> = batch.iter().filter(|new| is_new(new)).collect();
    if new.is_empty() {
        return Ok(0);
    }
    let mut changes = SessionChanges::default();
    let all_inserted = insert_steps(connection, &new).await?;
    for exchange in &new {
        let steps = if all_inserted {
            exchange.steps.len() as u64
        } else {
            count_steps(connection, exchange.record).await?
        };
        changes.add(exchange, steps);
    }
    insert_prompts(connection, &new).await?;
    for change in upsert_sessions(connection, &changes).await? {
        fill_in_project(connection, change.client_session, change.project, change.remote).await?;
    }
    insert_events(connection, &new).await?;
    mark_failures(connection, &new).await?;
    for exchange in &new {
        let record = exchange.record;
        if !exchange.off_goal.is_empty() && exchange.has_earlier_steps() {
            let ids: Vec<&str> = exchange.off_goal.iter().map(|step| step.id.as_str()).collect();
            remove_steps(connection, record.client_session_id.as_str(), &ids).await?;
        }
        if let Some(state) = &record.drift {
            save_state(connection, state, &record.session_id).await?;
        }
    }
    Ok(new.len())
}

/// Drops actions that are stored already: with an earlier exchange that moved to another task, or in the drift log.
async fn drop_known_steps(
    connection: &mut Connection<'_>,
    exchange: &mut NewExchange<'_>,
) -> Result<(), StoreError> {
    let record = exchange.record;
    let ids: Vec<&str> = exchange.steps.iter().map(|step| step.id.as_str()).collect();
    let sql = "SELECT st.id FROM session_states s JOIN steps st ON st.session_id = s.session_id \
         WHERE s.client_session_id = ?1 AND s.session_id <> ?2 AND st.id IN (SELECT value FROM json_each(?3)) \
         UNION SELECT id FROM drift_log WHERE id IN (SELECT value FROM json_each(?3))";
    let values = params![record.client_session_id, record.session_id, ids];
    let known: Vec<String> = connection.read(sql, values, |row| row.read(0)).await?;
    exchange
        .steps
        .retain(|step| !known.iter().any(|id| id == step.id.as_str()));
    Ok(())
}

/// Inserts the steps and the lookup rows of their files. Returns whether all steps were new.
async fn insert_steps(connection: &mut Connection<'_>, new: &[&NewExchange<'_>]) -> Result<bool, StoreError> {
    let steps = new
        .iter()
        .flat_map(|new| new.steps.iter().map(move |step| (new.record, *step)));
    let rows: Vec<(&ExchangeRecord, &Step)> = steps.collect();
    let inserted = connection.insert(&INSERT_STEPS, &rows, bind_step).await?;
    // The lookup by path serves only steps with reasoning.
    let explained = rows.iter().filter(|(_, step)| step.reasoning.is_some());
    let files: Vec<(&ExchangeRecord, &Step, &str)> = explained
        .flat_map(|(exchange, step)| {
            let files = step.action.files.iter();
            files.map(move |path| (*exchange, *step, path.as_str()))
        })
        .collect();
    connection
        .insert(&INSERT_STEP_FILES, &files, bind_step_file)
        .await?;
    Ok(inserted == rows.len() as u64)
}

/// Stores how earlier actions of the sessions ended that did not succeed, which is rare.
async fn mark_failures(connection: &mut Connection<'_>, new: &[&NewExchange<'_>]) -> Result<(), StoreError> {
    for record in new.iter().map(|new| new.record) {
        for failure in &record.failures {
            connection
                .execute(
                    "UPDATE steps SET outcome = ?3 WHERE tool_use_id = ?2 AND session_id IN \
                     (SELECT session_id FROM session_states WHERE client_session_id = ?1)",
                    params![record.client_session_id, failure.tool_use_id, failure.outcome],
                )
                .await?;
            connection
                .execute(
                    "UPDATE drift_log SET outcome = ?3 WHERE tool_use_id = ?2 AND session_id IN \
                     (SELECT session_id FROM session_states WHERE client_session_id = ?1)",
                    params![record.client_session_id, failure.tool_use_id, failure.outcome],
                )
                .await?;
        }
    }
    Ok(())
}

/// Counts the steps stored with a new exchange: some may have been stored with an earlier one.
async fn count_steps(connection: &mut Connection<'_>, exchange: &ExchangeRecord) -> Result<u64, StoreError> {
    let sql = "SELECT count(*) FROM steps WHERE session_id = ? AND exchange_id = ?";
    let count = connection
        .value(sql, params![exchange.session_id, exchange.id])
        .await?;
    Ok(count.unwrap_or(0))
}

async fn insert_prompts(connection: &mut Connection<'_>, new: &[&NewExchange<'_>]) -> Result<(), StoreError> {
    let rows: Vec<_> = new
        .iter()
        .flat_map(|new| {
            (0_i64..)
                .zip(&new.record.prompts)
                .map(move |prompt| (new.record, prompt))
        })
        .collect();
    connection
        .insert(&INSERT_PROMPTS, &rows, bind_prompt)
        .await
        .map(drop)
}

/// Creates or updates session rows. Returns those whose project may have to be [filled in](fill_in_project).
async fn upsert_sessions<'s, 'a>(
    connection: &mut Connection<'_>,
    changes: &'s SessionChanges<'a>,
) -> Result<Vec<&'s SessionChange<'a>>, StoreError> {
    let rows = connection
        .insert_returning(&UPSERT_SESSIONS, changes.as_slice(), bind_session)
        .await?;
    let mut without_project = Vec::new();
    for row in rows {
        let (session, is_unknown, exchanges): (String, bool, i64) =
            (row.read(0)?, row.read(1)?, row.read(2)?);
        let Some(change) = changes.of(&session) else {
            continue;
        };
        let is_created = exchanges == integer(change.exchanges);
        if is_created || (is_unknown && !change.project.is_empty()) {
            without_project.push(change);
        }
    }
    Ok(without_project)
}

/// Sets the project of the rows of a client session that have none: to `project` or, if that is empty, to the project
/// of another row.
pub(super) async fn fill_in_project(
    connection: &mut Connection<'_>,
    client_session: &str,
    project: &str,
    remote: Option<&str>,
) -> Result<(), StoreError> {
    let known: (String, Option<String>);
    let (project, remote) = if project.is_empty() {
        let sibling = "SELECT project_path, project_remote FROM session_states \
             WHERE client_session_id = ? AND project_path <> '' ORDER BY start_time LIMIT 1";
        let Some(row) = connection.row(sibling, params![client_session]).await? else {
            return Ok(());
        };
        known = (row.read(0)?, row.read(1)?);
        (known.0.as_str(), known.1.as_deref())
    } else {
        (project, remote)
    };
    connection
        .execute(
            "UPDATE session_states SET project_path = ?1, project_remote = ?2 \
             WHERE client_session_id = ?3 AND project_path = ''; \
             UPDATE drift_log SET project_path = ?1 WHERE project_path = '' AND session_id IN \
              (SELECT session_id FROM session_states WHERE client_session_id = ?3); \
             UPDATE tasks SET project_path = ?1, project_remote = coalesce(project_remote, ?2) \
             WHERE client_session_id = ?3 AND project_path = ''",
            params![project, remote, client_session],
        )
        .await?;
    memory::reindex_client_session(connection, client_session).await
}
