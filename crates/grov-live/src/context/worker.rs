//! The background work: saves readings, prepares summaries, and compares compactions.

use super::{
    CompactionSummary, ContextMonitor, Job, MaterialReader, Restoration, RestoredBy, SessionMaterial, lock,
};
use grov_context::{ContextSummary, Retention, SessionPoints};
use grov_domain::{
    ClientSessionId, Clock, Compaction, ContextReading, ContextStore, Judge, JudgedBy, PreparedSummary,
    Redacted, Statement, StatementSource, StoreError,
};
use grov_rules::session_summary;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Delay that collects readings of the same session for one write.
const COLLECT_DELAY: Duration = Duration::from_millis(300);
/// Attempts to read a session that is not recorded yet.
const ATTEMPTS: usize = 4;
const RETRY_DELAY: Duration = Duration::from_millis(150);

/// The background work of a [`ContextMonitor`].
pub struct ContextWorker {
    pub(super) monitor: Arc<ContextMonitor>,
    pub(super) jobs: mpsc::Receiver<Job>,
    pub(super) store: Arc<dyn ContextStore>,
    pub(super) material: Arc<dyn MaterialReader>,
    pub(super) judge: Arc<dyn Judge>,
    pub(super) clock: Arc<dyn Clock>,
}

/// What the tasks share.
#[derive(Clone)]
struct Tools {
    monitor: Arc<ContextMonitor>,
    store: Arc<dyn ContextStore>,
    material: Arc<dyn MaterialReader>,
    judge: Arc<dyn Judge>,
    clock: Arc<dyn Clock>,
}

impl ContextWorker {
    /// Runs until `stop` resolves, then saves the readings that wait.
    pub async fn run(mut self, stop: impl Future<Output = ()> + Send) {
        let tools = Tools {
            monitor: self.monitor,
            store: self.store,
            material: self.material,
            judge: self.judge,
            clock: self.clock,
        };
        let mut readings: HashMap<ClientSessionId, ContextReading> = HashMap::new();
        let mut running: JoinSet<()> = JoinSet::new();
        // When the readings are written. Later readings do not move it.
        let mut due = Instant::now();
        tokio::pin!(stop);
        loop {
            tokio::select! {
                job = self.jobs.recv() => match job {
                    Some(Job::Reading(reading)) => {
                        if readings.is_empty() {
                            due = Instant::now() + COLLECT_DELAY;
                        }
                        readings.insert(reading.client_session_id.clone(), reading);
                    }
                    Some(job) => {
                        let tools = tools.clone();
                        running.spawn(async move { tools.run(job).await });
                    }
                    None => break,
                },
                () = tokio::time::sleep_until(due), if !readings.is_empty() => {
                    tools.save(&mut readings).await;
                }
                Some(ended) = running.join_next() => if ended.is_err() {
                    tracing::error!("preparing a summary panicked; the session goes on without it");
                },
                () = &mut stop => break,
            }
        }
        while let Ok(job) = self.jobs.try_recv() {
            if let Job::Reading(reading) = job {
                readings.insert(reading.client_session_id.clone(), reading);
            }
        }
        tools.save(&mut readings).await;
    }
}

impl Tools {
    async fn save(&self, readings: &mut HashMap<ClientSessionId, ContextReading>) {
        for (session, reading) in readings.drain() {
            let saved = self.store.save_context_reading(&Redacted::of(&reading)).await;
            if let Err(error) = saved {
                tracing::debug!(%session, %error, "cannot store how full a context window is");
            }
        }
    }

    async fn run(&self, job: Job) {
        let (session, done) = match job {
            Job::Reading(_) => return,
            Job::Prepare(session) => {
                let done = self.prepare(&session).await;
                (session, done)
            }
            Job::Compacted(summary) => {
                let done = self.compare(&summary).await;
                (summary.session, done)
            }
            Job::Restored(session, by) => {
                let done = self.restored(&session, by).await;
                (session, done)
            }
            Job::Withdrawn(session) => {
                let done = self.withdrawn(&session).await;
                (session, done)
            }
        };
        if let Err(error) = done {
            tracing::warn!(%session, %error, "cannot prepare or compare the summary of a session");
        }
    }

    /// Reads what a session is about. A session that begins may not be recorded yet.
    async fn material(&self, session: &ClientSessionId) -> Result<Option<SessionMaterial>, StoreError> {
        let context = self.monitor.context(session);
        for _ in 0..ATTEMPTS {
            let closings = lock(&context).closings.iter().cloned().map(closing).collect();
            let material = self.material.material(session, closings).await?;
            if material.is_some() {
                return Ok(material);
            }
            tokio::time::sleep(RETRY_DELAY).await;
        }
        Ok(None)
    }

    /// Prepares the summary of a session unless there is a current one.
    async fn prepare(&self, session: &ClientSessionId) -> Result<(), StoreError> {
        let context = self.monitor.context(session);
        // Before the material is read: the summary must not claim to cover what came later.
        let responses = lock(&context).responses;
        let Some(material) = self.material(session).await? else {
            return Ok(());
        };
        let (known, summary_at) = {
            let context = lock(&context);
            (context.summary.clone(), context.summary_at)
        };
        let is_recent =
            summary_at.is_some_and(|at| responses.saturating_sub(at) < super::STALE_AFTER_RESPONSES);
        if let Some(known) = &known
            && is_recent
            && !known.is_stale(&material.contract.goal, material.prompts)
        {
            return Ok(());
        }
        // Not asked twice while the judge thinks.
        lock(&context).summary_at = Some(responses);
        let earlier = self.stored_points(session).await?;
        let rules = self.summary_by_rules(&material, earlier.as_ref());
        // At once, because a model takes seconds and may fail.
        if let Some(summary) = &rules {
            lock(&context).keep_summary(summary, responses);
        }
        let question = Redacted::of(&material.question);
        let digest = self.judge.summarize(material.task.as_ref(), &question).await;
        let summary = match digest {
            Some(digest) => {
                let mut points = SessionPoints::new(&material.contract, digest);
                points.carry(rules.as_ref().map(|summary| &*summary.points));
                self.summary(points, JudgedBy::Model, &material)
            }
            None => rules,
        };
        let Some(summary) = summary else {
            return Ok(());
        };
        self.store
            .save_prepared_summary(&Redacted::of(&PreparedSummary {
                client_session_id: session.clone(),
                points: serde_json::to_string(&*summary.points).ok(),
                written_by: summary.by,
                prompts: summary.prompts,
                made_at: summary.made_at,
            }))
            .await?;
        lock(&context).keep_summary(&summary, responses);
        Ok(())
    }

    async fn stored_points(&self, session: &ClientSessionId) -> Result<Option<SessionPoints>, StoreError> {
        let stored = self.store.prepared_summary(session).await?;
        let points = stored.and_then(|stored| serde_json::from_str(&stored.points?).ok());
        Ok(points)
    }

    fn summary_by_rules(
        &self,
        material: &SessionMaterial,
        earlier: Option<&SessionPoints>,
    ) -> Option<ContextSummary> {
        let mut points = SessionPoints::new(&material.contract, session_summary(&material.question));
        points.carry(earlier);
        self.summary(points, JudgedBy::Rules, material)
    }

    fn summary(
        &self,
        points: SessionPoints,
        by: JudgedBy,
        material: &SessionMaterial,
    ) -> Option<ContextSummary> {
        ContextSummary::new(Redacted::of(&points), by, self.clock.now(), material.prompts)
    }

    /// Compares the client's summary with what the session must not lose.
    async fn compare(&self, compacted: &CompactionSummary) -> Result<(), StoreError> {
        let session = &compacted.session;
        let Some(material) = self.material(session).await? else {
            lock(&self.monitor.context(session)).restoration = Restoration::Done;
            return Ok(());
        };
        let earlier = self.stored_points(session).await?;
        let Some(summary) = self.summary_by_rules(&material, earlier.as_ref()) else {
            lock(&self.monitor.context(session)).restoration = Restoration::Done;
            return Ok(());
        };
        let retention = Retention::of(&summary.points, &compacted.text);
        tracing::info!(
            %session, kept = retention.kept.len(), lost = retention.lost.len(), "the client compacted a session"
        );
        let nothing_lost = retention.is_complete();
        let compaction = Compaction {
            client_session_id: session.clone(),
            id: compacted.id.clone(),
            is_compared: true,
            tokens_before: compacted.tokens_before,
            kept: retention.kept,
            lost: if nothing_lost { Vec::new() } else { retention.lost },
            restored: Vec::new(),
            restored_at: nothing_lost.then_some(compacted.at),
            at: compacted.at,
        };
        let compaction = Redacted::of(&compaction);
        lock(&self.monitor.context(session)).lost = Some(compaction.clone());
        self.store.save_compaction(&compaction).await
    }

    /// Records that the agent has the lost points again.
    async fn restored(&self, session: &ClientSessionId, by: RestoredBy) -> Result<(), StoreError> {
        let newest = self.store.compactions(session, 1).await?;
        for mut compaction in newest {
            if compaction.restored_at.is_none() {
                compaction.restored.clone_from(&compaction.lost);
                compaction.restored_at = Some(self.clock.now());
                tracing::info!(%session, ?by, lost = compaction.lost.len(), "gave back what a compaction lost");
                self.store.save_compaction(&Redacted::of(&compaction)).await?;
            }
        }
        Ok(())
    }

    /// Records that the agent did not get them after all.
    async fn withdrawn(&self, session: &ClientSessionId) -> Result<(), StoreError> {
        let newest = self.store.compactions(session, 1).await?;
        for mut compaction in newest {
            compaction.restored.clear();
            compaction.restored_at = None;
            self.store.save_compaction(&Redacted::of(&compaction)).await?;
        }
        Ok(())
    }
}

fn closing(text: String) -> Statement {
    Statement {
        source: StatementSource::Closing,
        text,
    }
}
