//! Events for the webhook, and answers that an `Idempotency-Key` replays.

use crate::AgentDatabase;
use crate::column::Columns;
use crate::work::{Work, args, micros};
use async_trait::async_trait;
use grov_agent::{AgentStoreError, EventId, KeyId, MemoryType, NewEvent, OutboxStore, PendingEvent, Replay};
use grov_redact::{Redacted, Redactor};
use std::time::Duration;
use time::OffsetDateTime;

/// How long an answer is replayed.
const REPLAY_LIFETIME: time::Duration = time::Duration::hours(24);

/// How long an expired metric is kept.
const METRIC_KEPT: time::Duration = time::Duration::days(30);

#[async_trait]
impl OutboxStore for AgentDatabase {
    async fn take_events(
        &self,
        limit: u32,
        lease: Duration,
        now: OffsetDateTime,
    ) -> Result<Vec<PendingEvent>, AgentStoreError> {
        let take = format!(
            "UPDATE events SET due_at = $1, attempts = attempts + 1 WHERE id IN (SELECT id FROM events \
             WHERE due_at <= $2 ORDER BY due_at, created_at, id LIMIT $3{}) \
             RETURNING id, body, attempts, created_at",
            self.dialect.pick("", " FOR UPDATE SKIP LOCKED")
        );
        let until = micros(now).saturating_add(i64::try_from(lease.as_micros()).unwrap_or(i64::MAX));
        // Nearly always nothing is due, and then nobody has to wait for a transaction that writes.
        const DUE: &str = "SELECT 1 AS one FROM events WHERE due_at <= $1 LIMIT 1";
        if self.read().await?.one(DUE, args![now]).await?.is_none() {
            return Ok(Vec::new());
        }
        let mut work = self.write().await?;
        let rows = work.all(take, args![until, now, limit]).await?;
        work.commit().await?;
        let mut events = rows
            .iter()
            .map(|row| {
                let attempts: u32 = row.get_as("attempts")?;
                Ok(PendingEvent {
                    id: row.get_as("id")?,
                    body: row.get_as("body")?,
                    // Before this time.
                    attempts: attempts.saturating_sub(1),
                    created_at: row.get_as("created_at")?,
                })
            })
            .collect::<Result<Vec<_>, AgentStoreError>>()?;
        events.sort_by_key(|event| (event.created_at, event.id));
        Ok(events)
    }

    async fn delivered(&self, id: EventId) -> Result<(), AgentStoreError> {
        let mut work = self.write().await?;
        work.run("DELETE FROM events WHERE id = $1", args![id]).await?;
        work.commit().await
    }

    async fn postpone(&self, id: EventId, until: Option<OffsetDateTime>) -> Result<(), AgentStoreError> {
        let mut work = self.write().await?;
        work.run("UPDATE events SET due_at = $2 WHERE id = $1", args![id, until])
            .await?;
        work.commit().await
    }

    async fn replay(
        &self,
        owner: KeyId,
        key: &Redacted,
        now: OffsetDateTime,
    ) -> Result<Option<Replay>, AgentStoreError> {
        const SELECT: &str = "SELECT fingerprint, status, body FROM replays \
             WHERE owner = $1 AND replay_key = $2 AND created_at > $3";
        let values = args![owner, &**key, now - REPLAY_LIFETIME];
        let Some(row) = self.read().await?.one(SELECT, values).await? else {
            return Ok(None);
        };
        let body: String = row.get_as("body")?;
        Ok(Some(Replay {
            owner,
            key: key.clone(),
            fingerprint: row.get_as("fingerprint")?,
            status: row.get_as("status")?,
            body: Redactor::shared().whole(&body),
        }))
    }

    async fn store_replay(&self, replay: &Replay, now: OffsetDateTime) -> Result<(), AgentStoreError> {
        let mut work = self.write().await?;
        insert_replay(&mut work, replay, now).await?;
        work.commit().await
    }

    async fn tidy(&self, now: OffsetDateTime) -> Result<(), AgentStoreError> {
        const METRICS: &str = "DELETE FROM memory_items WHERE type = $1 AND expires_at <= $2";
        let mut work = self.write().await?;
        work.run(
            "DELETE FROM replays WHERE created_at <= $1",
            args![now - REPLAY_LIFETIME],
        )
        .await?;
        work.run(METRICS, args![MemoryType::Metric.as_str(), now - METRIC_KEPT])
            .await?;
        work.commit().await
    }
}

impl AgentDatabase {
    /// Returns how many events were given up: see [`OutboxStore::postpone`].
    ///
    /// # Errors
    ///
    /// The database cannot be read.
    pub async fn given_up_events(&self) -> Result<u64, AgentStoreError> {
        const COUNT: &str = "SELECT count(*) AS events FROM events WHERE due_at IS NULL";
        let row = self.read().await?.one(COUNT, args![]).await?;
        row.map_or(Ok(0), |row| row.get_as("events"))
    }
}

/// Inserts events that are due at once.
pub(crate) async fn insert_events(
    work: &mut Work,
    events: &[NewEvent],
    now: OffsetDateTime,
) -> Result<(), AgentStoreError> {
    const INSERT: &str = "INSERT INTO events (id, project_id, body, attempts, due_at, created_at) VALUES ($1, $2, $3, 0, $4, $4)";
    for event in events {
        work.run(INSERT, args![event.id, event.project, &**event.body, now])
            .await?;
    }
    Ok(())
}

/// Inserts an answer in place of one that is too old. Returns whether there was none.
pub(crate) async fn insert_replay(
    work: &mut Work,
    replay: &Replay,
    now: OffsetDateTime,
) -> Result<bool, AgentStoreError> {
    const DELETE: &str = "DELETE FROM replays WHERE owner = $1 AND replay_key = $2 AND created_at <= $3";
    const INSERT: &str = "INSERT INTO replays (owner, replay_key, fingerprint, status, body, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (owner, replay_key) DO NOTHING";
    work.run(DELETE, args![replay.owner, &**replay.key, now - REPLAY_LIFETIME])
        .await?;
    let inserted = work
        .run(
            INSERT,
            args![
                replay.owner,
                &**replay.key,
                &replay.fingerprint,
                u32::from(replay.status),
                &**replay.body,
                now
            ],
        )
        .await?;
    Ok(inserted > 0)
}

/// Keeps an answer in the transaction of what it answers.
pub(crate) async fn keep_answer(
    work: &mut Work,
    replay: Option<&Replay>,
    now: OffsetDateTime,
) -> Result<(), AgentStoreError> {
    match replay {
        Some(replay) if !insert_replay(work, replay, now).await? => Err(AgentStoreError::Conflict(
            "a request with this Idempotency-Key was answered already".to_owned(),
        )),
        _ => Ok(()),
    }
}
