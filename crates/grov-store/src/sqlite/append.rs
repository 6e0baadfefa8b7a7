//! Recording exchanges.
//!
//! One transaction, a few statements for the whole batch: going to the connection's thread and back costs more than
//! inserting a row.

use super::SqliteStore;
use super::changes::{SessionChange, SessionChanges};
use super::drift::{NewVerdict, insert_events, keep_state, take_out};
use super::memory;
use super::rows::{Insert, Values, portions};
use super::values::{integer, list, list_value, millis};
use async_trait::async_trait;
use grov_domain::{DriftState, ExchangeRecord, ExchangeStore, Redacted, Step, StoreError};
use sqlx::Row;
use sqlx::sqlite::SqliteConnection;
use std::collections::HashSet;
use std::sync::Arc;

const INSERT_EXCHANGES: Insert = Insert {
    head: "INSERT OR ROLLBACK INTO exchanges (session_id, id, agent_id, kind, model, stop_reason, outcome, started_at, ended_at, \
           input, cache_read, cache_creation, cache_creation_5m, cache_creation_1h, output)",
    columns: 15,
    tail: "ON CONFLICT (session_id, id) DO NOTHING",
};

/// The same, telling which are new: dearer, and needed only where some are not.
const INSERT_NEW_EXCHANGES: Insert = Insert {
    tail: "ON CONFLICT (session_id, id) DO NOTHING RETURNING session_id, id",
    ..INSERT_EXCHANGES
};

const INSERT_STEPS: Insert = Insert {
    head: "INSERT OR ROLLBACK INTO steps (session_id, id, exchange_id, agent_id, tool, tool_use_id, action_type, files, folders, \
           command, effects, reasoning, is_key_decision, keywords, timestamp, drift_score, drift_type, judged_by, \
           findings, correction_level, correction_given)",
    columns: 21,
    tail: "ON CONFLICT (session_id, id) DO NOTHING",
};

const INSERT_STEP_FILES: Insert = Insert {
    head: "INSERT OR ROLLBACK INTO step_files (path, timestamp, session_id, step_id)",
    columns: 4,
    tail: "ON CONFLICT DO NOTHING",
};

const INSERT_PROMPTS: Insert = Insert {
    head: "INSERT OR ROLLBACK INTO prompts (session_id, exchange_id, ordinal, client_session_id, text, queued, at)",
    columns: 7,
    tail: "",
};

/// The project is not updated here: it is indexed, and it changes once in a session's life.
const UPSERT_SESSIONS: Insert = Insert {
    head: "INSERT OR ROLLBACK INTO session_states (session_id, client_session_id, user_id, project_path, project_remote, \
           original_goal, token_count, token_count_at, start_time, last_update, last_step_id, last_step_at, \
           prompt_count, step_count, exchange_count, tokens_input, tokens_cache_read, tokens_cache_creation, \
           tokens_cache_creation_5m, tokens_cache_creation_1h, tokens_output)",
    columns: 21,
    tail: "ON CONFLICT (session_id) DO UPDATE SET \
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
           RETURNING session_id, project_path = '', exchange_count",
};

#[async_trait]
impl ExchangeStore for SqliteStore {
    async fn append(&self, batch: &[Redacted<ExchangeRecord>]) -> Result<usize, StoreError> {
        if batch.is_empty() {
            return Ok(0);
        }
        // Before the lock is taken: other processes wait for it.
        let mut batch: Vec<NewExchange<'_>> = batch.iter().map(NewExchange::new).collect::<Result<_, _>>()?;
        let mut writer = self.writer().await?;
        let mut inserted = insert_exchanges(writer.connection()?, &batch).await;
        if matches!(inserted, Ok(Inserted::NotAll)) {
            // Which were there already can only be told by inserting once more.
            writer.roll_back().await.map_err(|error| self.error(error))?;
            writer = self.writer().await?;
            let new = insert_new_exchanges(writer.connection()?, &batch).await;
            inserted = new.map(Inserted::These);
        }
        let stored = match inserted {
            Ok(inserted) => append(writer.connection()?, &mut batch, inserted).await,
            Err(error) => Err(error),
        };
        let stored = stored.map_err(|error| self.error(error))?;
        writer.commit().await.map_err(|error| self.error(error))?;
        Ok(stored)
    }
}

/// A record on its way in, encoded.
pub(super) struct NewExchange<'a> {
    pub(super) record: &'a ExchangeRecord,
    pub(super) id: Arc<str>,
    pub(super) session: Arc<str>,
    steps: Vec<NewStep<'a>>,
    /// Actions that were judged off goal at once: they go into the drift log.
    pub(super) off_goal: Vec<NewStep<'a>>,
    pub(super) prompts: Vec<&'a str>,
    drift: Option<&'a DriftState>,
}

pub(super) struct NewStep<'a> {
    pub(super) step: &'a Step,
    pub(super) id: Arc<str>,
    /// Kept apart for the lookup by path, where the step carries reasoning.
    paths: &'a [String],
    pub(super) files: Option<String>,
    pub(super) folders: Option<String>,
    pub(super) command: Option<&'a str>,
    pub(super) effects: Option<String>,
    pub(super) reasoning: Option<&'a str>,
    pub(super) keywords: Option<String>,
    pub(super) verdict: Option<NewVerdict<'a>>,
}

impl<'a> NewExchange<'a> {
    fn new(record: &'a Redacted<ExchangeRecord>) -> Result<Self, StoreError> {
        let mut steps: Vec<_> = record.steps.iter().map(NewStep::new).collect::<Result<_, _>>()?;
        Ok(Self {
            record,
            id: Arc::from(record.id.as_str()),
            session: Arc::from(record.session_id.as_str()),
            off_goal: steps.extract_if(.., |new| new.is_off_goal()).collect(),
            steps,
            drift: record.drift.as_ref(),
            prompts: record.prompts.iter().map(|prompt| prompt.text.as_str()).collect(),
        })
    }
}

impl<'a> NewExchange<'a> {
    /// The steps to be stored.
    pub(super) fn steps(&self) -> impl Iterator<Item = &'a Step> {
        self.steps.iter().map(|new| new.step)
    }

    fn key(&self) -> Key {
        (Arc::clone(&self.session), Arc::clone(&self.id))
    }

    /// Whether it holds an action of an earlier exchange. The id of its own begin with its id.
    fn reports_earlier(&self) -> bool {
        let mut steps = self.steps.iter().chain(&self.off_goal);
        steps.any(|new| !new.id.starts_with(&*self.id))
    }
}

impl NewStep<'_> {
    fn is_off_goal(&self) -> bool {
        self.verdict.as_ref().is_some_and(NewVerdict::is_off_goal)
    }
}

impl<'a> NewStep<'a> {
    fn new(step: &'a Step) -> Result<Self, StoreError> {
        let action = &step.action;
        Ok(Self {
            step,
            id: Arc::from(step.id.as_str()),
            files: list(&action.files)?,
            folders: list(&action.folders)?,
            command: action.command.as_deref(),
            effects: list(&action.effects)?,
            reasoning: step.reasoning.as_deref(),
            keywords: list(&step.keywords)?,
            verdict: step.verdict.as_ref().map(NewVerdict::new).transpose()?,
            paths: if step.reasoning.is_some() {
                &action.files
            } else {
                &[]
            },
        })
    }
}

/// Session and id of an exchange: one without the other may be in a batch twice.
type Key = (Arc<str>, Arc<str>);

/// What became of a batch's exchanges.
enum Inserted {
    /// They are all new.
    All,
    /// Some were there already, or are in the batch twice.
    NotAll,
    /// These are new.
    These(HashSet<Key>),
}

/// Keeps what belongs to exchanges that are inserted. Returns how many of them were new.
async fn append(
    connection: &mut SqliteConnection,
    batch: &mut [NewExchange<'_>],
    mut inserted: Inserted,
) -> Result<usize, sqlx::Error> {
    let off_goal = off_goal(batch);
    for exchange in batch.iter_mut() {
        if exchange.reports_earlier() {
            leave_out_known_steps(connection, exchange).await?;
        }
        if !off_goal.is_empty() {
            exchange.steps.retain(|new| !off_goal.contains(&new.id));
        }
    }
    let mut is_new = |new: &NewExchange<'_>| match &mut inserted {
        Inserted::All => true,
        // Removing as we go also passes over a record that the batch holds twice.
        Inserted::These(keys) => keys.remove(&new.key()),
        Inserted::NotAll => false,
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
            count_steps(connection, exchange).await?
        };
        changes.add(exchange, steps);
    }
    insert_step_files(connection, &new).await?;
    insert_prompts(connection, &new).await?;
    for change in upsert_sessions(connection, &changes).await? {
        rehome(connection, change.client_session, change.project, change.remote).await?;
    }
    insert_events(connection, &new).await?;
    for exchange in &new {
        if !exchange.off_goal.is_empty() && exchange.reports_earlier() {
            let ids: Vec<&str> = exchange.off_goal.iter().map(|step| &*step.id).collect();
            take_out(connection, exchange.record.client_session_id.as_str(), &ids).await?;
        }
        if let Some(state) = &exchange.drift {
            keep_state(connection, state, &exchange.record.session_id).await?;
        }
    }
    Ok(new.len())
}

/// The actions of a batch that were judged off goal.
fn off_goal(batch: &[NewExchange<'_>]) -> HashSet<Arc<str>> {
    let off_goal = batch.iter().flat_map(|new| &new.off_goal);
    off_goal.map(|step| Arc::clone(&step.id)).collect()
}

/// Inserts what is not there yet. Whether that was all.
async fn insert_exchanges(
    connection: &mut SqliteConnection,
    batch: &[NewExchange<'_>],
) -> Result<Inserted, sqlx::Error> {
    let mut new = 0;
    for portion in portions(batch) {
        let query = INSERT_EXCHANGES.query(portion, exchange)?;
        new += query.execute(&mut *connection).await?.rows_affected();
    }
    Ok(if new == batch.len() as u64 {
        Inserted::All
    } else {
        Inserted::NotAll
    })
}

/// Inserts what is not there yet and returns its keys.
async fn insert_new_exchanges(
    connection: &mut SqliteConnection,
    batch: &[NewExchange<'_>],
) -> Result<HashSet<Key>, sqlx::Error> {
    let mut new_keys = HashSet::with_capacity(batch.len());
    for portion in portions(batch) {
        let query = INSERT_NEW_EXCHANGES.query(portion, exchange)?;
        for row in query.fetch_all(&mut *connection).await? {
            let (session, id): (&str, &str) = (row.try_get(0)?, row.try_get(1)?);
            new_keys.insert((Arc::from(session), Arc::from(id)));
        }
    }
    Ok(new_keys)
}

/// The values of an exchange's row.
fn exchange(values: &mut Values, new: &NewExchange<'_>) {
    let record = new.record;
    let usage = super::changes::bounded(&record.usage);
    values.shared(&new.session);
    values.shared(&new.id);
    values.optional(record.agent_id.as_ref().map(|id| id.as_str()));
    values.text(record.kind.as_str());
    values.optional(record.model.as_deref());
    values.optional(record.stop_reason.as_deref());
    values.text(record.outcome.as_str());
    values.integer(millis(record.started_at));
    values.integer(millis(record.ended_at));
    values.integer(integer(usage.input));
    values.integer(integer(usage.cache_read));
    values.integer(integer(usage.cache_creation));
    values.integer(integer(usage.cache_creation_5m));
    values.integer(integer(usage.cache_creation_1h));
    values.integer(integer(usage.output));
}

/// Leaves out the actions that were recorded with an earlier exchange which then went to another task, or that were
/// judged off goal since.
async fn leave_out_known_steps(
    connection: &mut SqliteConnection,
    exchange: &mut NewExchange<'_>,
) -> Result<(), sqlx::Error> {
    let ids: Vec<&str> = exchange.steps.iter().map(|new| &*new.id).collect();
    let rows = sqlx::query(
        "SELECT st.id FROM session_states s JOIN steps st ON st.session_id = s.session_id \
         WHERE s.client_session_id = ?1 AND s.session_id <> ?2 AND st.id IN (SELECT value FROM json_each(?3)) \
         UNION SELECT id FROM drift_log WHERE id IN (SELECT value FROM json_each(?3))",
    )
    .bind(exchange.record.client_session_id.as_str())
    .bind(Arc::clone(&exchange.session))
    .bind(list_value(&ids)?)
    .fetch_all(connection)
    .await?;
    for row in &rows {
        let elsewhere: &str = row.try_get(0)?;
        exchange.steps.retain(|new| *new.id != *elsewhere);
    }
    Ok(())
}

/// Inserts the steps. Whether all of them were new.
async fn insert_steps(
    connection: &mut SqliteConnection,
    new: &[&NewExchange<'_>],
) -> Result<bool, sqlx::Error> {
    let rows: Vec<_> = new
        .iter()
        .flat_map(|new| new.steps.iter().map(move |step| (*new, step)))
        .collect();
    let mut inserted = 0;
    for portion in portions(&rows) {
        let query = INSERT_STEPS.query(portion, |values, (exchange, new)| {
            let action = &new.step.action;
            values.shared(&exchange.session);
            values.shared(&new.id);
            values.shared(&exchange.id);
            values.optional(exchange.record.agent_id.as_ref().map(|id| id.as_str()));
            values.text(&action.tool);
            values.optional(action.tool_use_id.as_deref());
            values.text(action.action_type.as_str());
            values.optional(new.files.as_deref());
            values.optional(new.folders.as_deref());
            values.optional(new.command);
            values.optional(new.effects.as_deref());
            values.optional(new.reasoning);
            values.integer(i64::from(new.step.is_key_decision));
            values.optional(new.keywords.as_deref());
            values.integer(millis(new.step.timestamp));
            let verdict = new.verdict.as_ref();
            values.optional_integer(verdict.map(|verdict| i64::from(verdict.score)));
            values.optional(verdict.map(|verdict| verdict.drift_type));
            values.optional(verdict.map(|verdict| verdict.judged_by));
            values.optional(verdict.and_then(|verdict| verdict.findings.as_deref()));
            values.optional(verdict.and_then(|verdict| verdict.level));
            values.optional(verdict.and_then(|verdict| verdict.correction));
        })?;
        inserted += query.execute(&mut *connection).await?.rows_affected();
    }
    Ok(inserted == rows.len() as u64)
}

/// How many steps of a new exchange were new: an action may have been recorded with an earlier exchange already.
async fn count_steps(
    connection: &mut SqliteConnection,
    exchange: &NewExchange<'_>,
) -> Result<u64, sqlx::Error> {
    let count: i64 = sqlx::query("SELECT count(*) FROM steps WHERE session_id = ? AND exchange_id = ?")
        .bind(Arc::clone(&exchange.session))
        .bind(Arc::clone(&exchange.id))
        .fetch_one(connection)
        .await?
        .try_get(0)?;
    Ok(u64::try_from(count).unwrap_or(0))
}

async fn insert_step_files(
    connection: &mut SqliteConnection,
    new: &[&NewExchange<'_>],
) -> Result<(), sqlx::Error> {
    let rows: Vec<_> = new
        .iter()
        .flat_map(|new| new.steps.iter().map(move |step| (new, step)))
        .flat_map(|(new, step)| step.paths.iter().map(move |path| (new, step, path)))
        .collect();
    for portion in portions(&rows) {
        let query = INSERT_STEP_FILES.query(portion, |values, (exchange, new, path)| {
            values.text(path);
            values.integer(millis(new.step.timestamp));
            values.shared(&exchange.session);
            values.shared(&new.id);
        })?;
        query.execute(&mut *connection).await?;
    }
    Ok(())
}

async fn insert_prompts(
    connection: &mut SqliteConnection,
    new: &[&NewExchange<'_>],
) -> Result<(), sqlx::Error> {
    let rows: Vec<_> = new
        .iter()
        .flat_map(|new| {
            (0i64..)
                .zip(new.prompts.iter().zip(&new.record.prompts))
                .map(move |prompt| (new, prompt))
        })
        .collect();
    for portion in portions(&rows) {
        let query = INSERT_PROMPTS.query(portion, |values, (exchange, (ordinal, (text, prompt)))| {
            values.shared(&exchange.session);
            values.shared(&exchange.id);
            values.integer(*ordinal);
            values.text(exchange.record.client_session_id.as_str());
            values.text(text);
            values.integer(i64::from(prompt.queued));
            values.integer(millis(exchange.record.started_at));
        })?;
        query.execute(&mut *connection).await?;
    }
    Ok(())
}

/// Creates or updates the rows. Returns those after which [`rehome`] is due.
async fn upsert_sessions<'s, 'a>(
    connection: &mut SqliteConnection,
    changes: &'s SessionChanges<'a>,
) -> Result<Vec<&'s SessionChange<'a>>, sqlx::Error> {
    let mut homeless = Vec::new();
    for portion in portions(changes.as_slice()) {
        let query = UPSERT_SESSIONS.query(portion, |values, change| {
            values.shared(&change.session);
            values.text(change.client_session);
            values.optional(change.user);
            values.text(change.project);
            values.optional(change.remote);
            values.optional(change.goal.as_deref());
            values.integer(integer(change.context.map_or(0, |(_, tokens)| tokens)));
            values.optional_integer(change.context.map(|(at, _)| at));
            values.integer(change.start);
            values.integer(change.end);
            values.optional(change.last_step.map(|(_, id)| id));
            values.optional_integer(change.last_step.map(|(at, _)| at));
            values.integer(integer(change.prompts));
            values.integer(integer(change.steps));
            values.integer(integer(change.exchanges));
            values.integer(integer(change.usage.input));
            values.integer(integer(change.usage.cache_read));
            values.integer(integer(change.usage.cache_creation));
            values.integer(integer(change.usage.cache_creation_5m));
            values.integer(integer(change.usage.cache_creation_1h));
            values.integer(integer(change.usage.output));
        })?;
        for row in query.fetch_all(&mut *connection).await? {
            let (unknown, exchanges): (bool, i64) = (row.try_get(1)?, row.try_get(2)?);
            let Some(change) = changes.of(row.try_get(0)?) else {
                continue;
            };
            let created = exchanges == integer(change.exchanges);
            if created || (unknown && !change.project.is_empty()) {
                homeless.push(change);
            }
        }
    }
    Ok(homeless)
}

/// Gives the rows of a client session whose project is unknown the project that is known now: the one given or, when
/// that is empty too, the one of another row.
pub(super) async fn rehome(
    connection: &mut SqliteConnection,
    client_session: &str,
    project: &str,
    remote: Option<&str>,
) -> Result<(), sqlx::Error> {
    let known: (String, Option<String>);
    let (project, remote) = if project.is_empty() {
        let sibling = sqlx::query(
            "SELECT project_path, project_remote FROM session_states \
             WHERE client_session_id = ? AND project_path <> '' ORDER BY start_time LIMIT 1",
        );
        let Some(row) = sibling
            .bind(client_session)
            .fetch_optional(&mut *connection)
            .await?
        else {
            return Ok(());
        };
        known = (row.try_get(0)?, row.try_get(1)?);
        (known.0.as_str(), known.1.as_deref())
    } else {
        (project, remote)
    };
    sqlx::query(
        "UPDATE session_states SET project_path = ?1, project_remote = ?2 \
         WHERE client_session_id = ?3 AND project_path = ''; \
         UPDATE drift_log SET project_path = ?1 WHERE project_path = '' AND session_id IN \
          (SELECT session_id FROM session_states WHERE client_session_id = ?3); \
         UPDATE tasks SET project_path = ?1, project_remote = coalesce(project_remote, ?2) \
         WHERE client_session_id = ?3 AND project_path = ''",
    )
    .bind(project)
    .bind(remote)
    .bind(client_session)
    .execute(&mut *connection)
    .await?;
    memory::reindex_client_session(connection, client_session).await
}
