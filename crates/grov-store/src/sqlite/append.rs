//! Recording exchanges.

use super::values::{integer, json, millis};
use super::{SqliteStore, Writer};
use crate::door;
use async_trait::async_trait;
use grov_domain::{ExchangeKind, ExchangeRecord, ExchangeStore, Step, StoreError, TokenUsage};
use sqlx::sqlite::{Sqlite, SqliteConnection};
use sqlx::{QueryBuilder, Row};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// How much of the first prompt becomes a session's goal until something better is known, in characters.
const GOAL_CHARACTERS: usize = 200;

/// More tokens than any exchange can have; keeps a broken upstream's numbers from overflowing a session's sums.
const MAX_TOKENS: u64 = 1_000_000_000_000;

/// Rows per statement. Powers of two only, so that a handful of prepared statements serves every batch.
const ROW_COUNTS: [usize; 7] = [64, 32, 16, 8, 4, 2, 1];

#[async_trait]
impl ExchangeStore for SqliteStore {
    async fn append(&self, batch: &[ExchangeRecord]) -> Result<usize, StoreError> {
        if batch.is_empty() {
            return Ok(0);
        }
        let mut writer = self.writer().await?;
        let stored = append(self, &mut writer, batch).await?;
        writer.commit().await.map_err(|error| self.error(error))?;
        Ok(stored)
    }
}

async fn append(
    store: &SqliteStore,
    writer: &mut Writer<'_>,
    batch: &[ExchangeRecord],
) -> Result<usize, StoreError> {
    let connection = writer.connection()?;
    let fault = |error| store.error(error);
    let mut new_ids = insert_exchanges(connection, batch).await.map_err(fault)?;
    // Removing as we go also passes over a record that the batch holds twice.
    let new: Vec<&ExchangeRecord> = batch
        .iter()
        .filter(|record| new_ids.remove(record.id.as_str()))
        .collect();
    if new.is_empty() {
        return Ok(0);
    }
    let mut sessions = Sessions::default();
    for record in &new {
        sessions.add(record);
    }
    insert_steps(store, connection, &new, &mut sessions).await?;
    insert_prompts(connection, &new).await.map_err(fault)?;
    for change in upsert_sessions(connection, &sessions).await.map_err(fault)? {
        rehome(
            connection,
            change.client_session,
            change.project,
            change.remote.as_deref(),
        )
        .await
        .map_err(fault)?;
    }
    Ok(new.len())
}

fn chunks<T>(mut rows: &[T]) -> impl Iterator<Item = &[T]> {
    let mut sizes = ROW_COUNTS.into_iter().peekable();
    std::iter::from_fn(move || {
        while sizes.peek().is_some_and(|size| *size > rows.len()) {
            sizes.next();
        }
        let (chunk, rest) = rows.split_at(*sizes.peek()?);
        rows = rest;
        Some(chunk)
    })
}

/// Inserts what is not there yet and returns its ids.
async fn insert_exchanges(
    connection: &mut SqliteConnection,
    batch: &[ExchangeRecord],
) -> Result<HashSet<String>, sqlx::Error> {
    let mut new_ids = HashSet::with_capacity(batch.len());
    for chunk in chunks(batch) {
        let mut query = QueryBuilder::<Sqlite>::new(
            "INSERT INTO exchanges (id, session_id, client_session_id, agent_id, kind, model, stop_reason, outcome, \
             started_at, ended_at, input, cache_read, cache_creation, cache_creation_5m, cache_creation_1h, output) ",
        );
        query.push_values(chunk, |mut row, record| {
            let usage = bounded(&record.usage);
            row.push_bind(record.id.as_str())
                .push_bind(record.session_id.as_str())
                .push_bind(record.client_session_id.as_str())
                .push_bind(record.agent_id.as_ref().map(|id| id.as_str()))
                .push_bind(record.kind.as_str())
                .push_bind(record.model.as_deref())
                .push_bind(record.stop_reason.as_deref())
                .push_bind(record.outcome.as_str())
                .push_bind(millis(record.started_at))
                .push_bind(millis(record.ended_at))
                .push_bind(integer(usage.input))
                .push_bind(integer(usage.cache_read))
                .push_bind(integer(usage.cache_creation))
                .push_bind(integer(usage.cache_creation_5m))
                .push_bind(integer(usage.cache_creation_1h))
                .push_bind(integer(usage.output));
        });
        query.push(" ON CONFLICT (id) DO NOTHING RETURNING id");
        for row in query.build().fetch_all(&mut *connection).await? {
            new_ids.insert(row.try_get(0)?);
        }
    }
    Ok(new_ids)
}

/// A step on its way in.
struct NewStep<'a> {
    record: &'a ExchangeRecord,
    step: &'a Step,
    files: String,
    folders: String,
    effects: String,
    keywords: String,
}

async fn insert_steps<'a>(
    store: &SqliteStore,
    connection: &mut SqliteConnection,
    new: &[&'a ExchangeRecord],
    sessions: &mut Sessions<'a>,
) -> Result<(), StoreError> {
    let mut rows = Vec::new();
    let mut touched = Vec::new();
    for record in new {
        for step in &record.steps {
            let files = door::list(&step.action.files);
            if step.reasoning.is_some() {
                touched.extend(files.iter().map(|path| (path.clone().into_owned(), step)));
            }
            rows.push(NewStep {
                record,
                step,
                files: json(&files)?,
                folders: json(&door::list(&step.action.folders))?,
                effects: json(&door::effects(&step.action.effects))?,
                keywords: json(&door::list(&step.keywords))?,
            });
        }
    }
    for chunk in chunks(&rows) {
        let mut query = QueryBuilder::<Sqlite>::new(
            "INSERT INTO steps (id, session_id, exchange_id, agent_id, tool, tool_use_id, action_type, files, folders, \
             command, effects, reasoning, is_key_decision, keywords, timestamp) ",
        );
        query.push_values(chunk, |mut row, new| {
            let (record, step) = (new.record, new.step);
            row.push_bind(step.id.as_str())
                .push_bind(record.session_id.as_str())
                .push_bind(record.id.as_str())
                .push_bind(record.agent_id.as_ref().map(|id| id.as_str()))
                .push_bind(step.action.tool.as_str())
                .push_bind(step.action.tool_use_id.as_deref())
                .push_bind(step.action.action_type.as_str())
                .push_bind(new.files.as_str())
                .push_bind(new.folders.as_str())
                .push_bind(door::optional(&step.action.command))
                .push_bind(new.effects.as_str())
                .push_bind(door::optional(&step.reasoning))
                .push_bind(step.is_key_decision)
                .push_bind(new.keywords.as_str())
                .push_bind(millis(step.timestamp));
        });
        // A step that an earlier exchange already brought is not counted again.
        query.push(" ON CONFLICT (id) DO NOTHING RETURNING session_id");
        for row in query
            .build()
            .fetch_all(&mut *connection)
            .await
            .map_err(|error| store.error(error))?
        {
            let session: &str = row.try_get(0).map_err(|error| store.error(error))?;
            sessions.count_step(session);
        }
    }
    for chunk in chunks(&touched) {
        let mut query =
            QueryBuilder::<Sqlite>::new("INSERT OR IGNORE INTO step_files (path, timestamp, step_id) ");
        query.push_values(chunk, |mut row, (path, step)| {
            row.push_bind(path.as_str())
                .push_bind(millis(step.timestamp))
                .push_bind(step.id.as_str());
        });
        query
            .build()
            .execute(&mut *connection)
            .await
            .map_err(|error| store.error(error))?;
    }
    Ok(())
}

async fn insert_prompts(
    connection: &mut SqliteConnection,
    new: &[&ExchangeRecord],
) -> Result<(), sqlx::Error> {
    let rows: Vec<_> = new
        .iter()
        .flat_map(|record| (0i64..).zip(&record.prompts).map(move |prompt| (record, prompt)))
        .collect();
    for chunk in chunks(&rows) {
        let mut query = QueryBuilder::<Sqlite>::new(
            "INSERT INTO prompts (exchange_id, ordinal, session_id, client_session_id, text, queued, at) ",
        );
        query.push_values(chunk, |mut row, (record, (ordinal, prompt))| {
            row.push_bind(record.id.as_str())
                .push_bind(ordinal)
                .push_bind(record.session_id.as_str())
                .push_bind(record.client_session_id.as_str())
                .push_bind(door::text(&prompt.text))
                .push_bind(prompt.queued)
                .push_bind(millis(record.started_at));
        });
        query.build().execute(&mut *connection).await?;
    }
    Ok(())
}

/// What a batch adds to its sessions, in order of first appearance.
#[derive(Default)]
struct Sessions<'a> {
    index: HashMap<&'a str, usize>,
    changes: Vec<SessionChange<'a>>,
}

struct SessionChange<'a> {
    session: &'a str,
    client_session: &'a str,
    user: Option<Cow<'a, str>>,
    project: &'a str,
    remote: Option<Cow<'a, str>>,
    goal: Option<String>,
    start: i64,
    end: i64,
    /// End and context size of the newest main exchange.
    context: Option<(i64, u64)>,
    prompts: u64,
    steps: u64,
    exchanges: u64,
    usage: TokenUsage,
}

impl<'a> Sessions<'a> {
    fn add(&mut self, record: &'a ExchangeRecord) {
        let session = record.session_id.as_str();
        let (start, end) = (millis(record.started_at), millis(record.ended_at));
        let position = *self.index.entry(session).or_insert_with(|| {
            self.changes.push(SessionChange {
                session,
                client_session: record.client_session_id.as_str(),
                user: None,
                project: "",
                remote: None,
                goal: None,
                start,
                end,
                context: None,
                prompts: 0,
                steps: 0,
                exchanges: 0,
                usage: TokenUsage::default(),
            });
            self.changes.len() - 1
        });
        let change = &mut self.changes[position];
        change.start = change.start.min(start);
        change.end = change.end.max(end);
        if change.user.is_none() {
            change.user = door::optional(&record.user);
        }
        if change.project.is_empty() {
            change.project = record.project.key();
            change.remote = door::optional(&record.project.remote);
        }
        if change.goal.is_none() {
            change.goal = record.prompts.first().map(|prompt| goal(&prompt.text));
        }
        let usage = bounded(&record.usage);
        // An exchange that failed before the model counted anything says nothing about the context.
        let context = usage.input + usage.cache_read + usage.cache_creation + usage.output;
        if record.kind == ExchangeKind::Main && context > 0 && change.context.is_none_or(|(at, _)| at <= end)
        {
            change.context = Some((end, context));
        }
        change.prompts += record.prompts.len() as u64;
        change.exchanges += 1;
        add_usage(&mut change.usage, &usage);
    }

    fn count_step(&mut self, session: &str) {
        if let Some(position) = self.index.get(session) {
            self.changes[*position].steps += 1;
        }
    }
}

/// Redacted before it is cut, since a secret that lost its end is no longer recognised.
fn goal(prompt: &str) -> String {
    door::text(prompt).trim().chars().take(GOAL_CHARACTERS).collect()
}

fn bounded(usage: &TokenUsage) -> TokenUsage {
    TokenUsage {
        input: usage.input.min(MAX_TOKENS),
        cache_read: usage.cache_read.min(MAX_TOKENS),
        cache_creation: usage.cache_creation.min(MAX_TOKENS),
        cache_creation_5m: usage.cache_creation_5m.min(MAX_TOKENS),
        cache_creation_1h: usage.cache_creation_1h.min(MAX_TOKENS),
        output: usage.output.min(MAX_TOKENS),
    }
}

fn add_usage(sum: &mut TokenUsage, usage: &TokenUsage) {
    sum.input += usage.input;
    sum.cache_read += usage.cache_read;
    sum.cache_creation += usage.cache_creation;
    sum.cache_creation_5m += usage.cache_creation_5m;
    sum.cache_creation_1h += usage.cache_creation_1h;
    sum.output += usage.output;
}

/// Creates or updates the rows. Returns those after which [`rehome`] is due.
async fn upsert_sessions<'s, 'a>(
    connection: &mut SqliteConnection,
    sessions: &'s Sessions<'a>,
) -> Result<Vec<&'s SessionChange<'a>>, sqlx::Error> {
    let mut homeless = Vec::new();
    for chunk in chunks(&sessions.changes) {
        let mut query = QueryBuilder::<Sqlite>::new(
            "INSERT INTO session_states (session_id, client_session_id, user_id, project_path, project_remote, \
             original_goal, token_count, token_count_at, start_time, last_update, prompt_count, step_count, \
             exchange_count, tokens_input, tokens_cache_read, tokens_cache_creation, tokens_cache_creation_5m, \
             tokens_cache_creation_1h, tokens_output) ",
        );
        query.push_values(chunk, |mut row, change| {
            row.push_bind(change.session)
                .push_bind(change.client_session)
                .push_bind(change.user.as_deref())
                .push_bind(change.project)
                .push_bind(change.remote.as_deref())
                .push_bind(change.goal.as_deref())
                .push_bind(integer(change.context.map_or(0, |(_, tokens)| tokens)))
                .push_bind(change.context.map(|(at, _)| at))
                .push_bind(change.start)
                .push_bind(change.end)
                .push_bind(integer(change.prompts))
                .push_bind(integer(change.steps))
                .push_bind(integer(change.exchanges))
                .push_bind(integer(change.usage.input))
                .push_bind(integer(change.usage.cache_read))
                .push_bind(integer(change.usage.cache_creation))
                .push_bind(integer(change.usage.cache_creation_5m))
                .push_bind(integer(change.usage.cache_creation_1h))
                .push_bind(integer(change.usage.output));
        });
        // The project is not set here: it is indexed, and it changes once in a session's life.
        query.push(
            " ON CONFLICT (session_id) DO UPDATE SET \
             user_id = coalesce(user_id, excluded.user_id), \
             original_goal = coalesce(original_goal, excluded.original_goal), \
             token_count = CASE WHEN excluded.token_count_at >= coalesce(token_count_at, excluded.token_count_at) \
                 THEN excluded.token_count ELSE token_count END, \
             token_count_at = CASE WHEN excluded.token_count_at >= coalesce(token_count_at, excluded.token_count_at) \
                 THEN excluded.token_count_at ELSE token_count_at END, \
             start_time = min(start_time, excluded.start_time), \
             last_update = max(last_update, excluded.last_update), \
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
        );
        for row in query.build().fetch_all(&mut *connection).await? {
            let (session, unknown, exchanges): (&str, bool, i64) =
                (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
            let Some(change) = sessions
                .index
                .get(session)
                .map(|position| &sessions.changes[*position])
            else {
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
         UPDATE tasks SET project_path = ?1, project_remote = coalesce(project_remote, ?2) \
         WHERE client_session_id = ?3 AND project_path = ''",
    )
    .bind(project)
    .bind(remote)
    .bind(client_session)
    .execute(&mut *connection)
    .await?;
    Ok(())
}
