//! Delivers corrections with the next request.

use crate::monitor::DriftMonitor;
use crate::saving::Save;
use crate::session::{Session, Slot};
use async_trait::async_trait;
use grov_domain::{CorrectionOutcome, Lineage};
use grov_live::{ContextSource, ContextText, InjectionPoint};
use grov_redact::Redactor;
use grov_session::correction::framed;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a request waits until its tool results are assessed.
const RULES_TIMEOUT: Duration = Duration::from_millis(5);
/// Time reserved for storing the correction.
const RESERVED_TO_COMMIT: Duration = Duration::from_millis(2);

#[async_trait]
impl ContextSource for DriftMonitor {
    fn name(&self) -> &'static str {
        "drift"
    }

    fn applies(&self, point: &InjectionPoint) -> bool {
        if !self.shared.policy.corrects || point.lineage.agent.is_some() {
            return false;
        }
        let Some(slot) = self.slot(point) else {
            return false;
        };
        let Some(mut session) = slot.try_session() else {
            // Locked by another thread.
            return true;
        };
        session.delivered_last = None;
        session.engine.drift().pending_correction().is_some() || !session.has_assessed(&point.answered)
    }

    async fn context(&self, point: &InjectionPoint) -> Option<ContextText> {
        let slot = self.shared.sessions.get(&point.lineage.session)?;
        self.wait(&slot, point).await;
        self.check_permissions(&slot, point).await?;
        let prompt = point.prompt.trim();
        let (correction, doubtful) = {
            let mut session = slot.try_session()?;
            session.delivered_last = None;
            let now = self.shared.clock.now();
            for one in point.answered.iter().filter(|one| one.failed) {
                session.engine.note_call_ended(&one.tool_use_id, true);
            }
            let correction = session
                .engine
                .drift()
                .deliverable_correction(now, !prompt.is_empty())?
                .clone();
            // What a subagent called is in its own history alone.
            let is_delegated = session.engine.drift().is_pending_delegated();
            if !is_delegated && !happened_here(session.engine.drift().pending_call(), point) {
                return None;
            }
            let doubtful = (!prompt.is_empty())
                .then(|| session.engine.pending_recheck())
                .flatten();
            (correction, doubtful)
        };
        if let Some(doubtful) = doubtful {
            let prompt = prompt.to_owned();
            let stands = tokio::task::spawn_blocking(move || doubtful.still_applies(&prompt));
            if !stands.await.unwrap_or(false) {
                return None;
            }
        }
        let in_tool_loop = prompt.is_empty() || !point.answered.is_empty();
        let text = Redactor::shared().text(&framed(&correction.text, correction.level, in_tool_loop));
        let mut session = slot.try_session()?;
        // It may have been withdrawn meanwhile.
        if session
            .engine
            .drift()
            .pending_correction()
            .is_none_or(|pending| pending.id != correction.id)
        {
            return None;
        }
        session.offered = Some(correction);
        Some(ContextText {
            text,
            memories: Vec::new(),
        })
    }

    fn delivered(&self, point: &InjectionPoint) {
        let Some(slot) = self.shared.sessions.get(&point.lineage.session) else {
            return;
        };
        let mut session = slot.session();
        let Some(mut offered) = session.offered.take() else {
            return;
        };
        let now = self.shared.clock.now();
        self.shared.counters.delivered.increment();
        session.delivered_last = Some(offered.id.clone());
        if session.engine.mark_delivered(&offered, now) {
            self.shared.save_state(&session);
        } else {
            // Another one took its place meanwhile; this one was read all the same.
            offered.delivered_at = Some(now);
            offered.outcome = Some(CorrectionOutcome::Overtaken);
            self.shared.save(Save::Correction(Box::new(offered)));
        }
    }

    fn withdrawn(&self, lineage: &Lineage) {
        if lineage.agent.is_some() {
            return;
        }
        let Some(slot) = self.shared.sessions.get(&lineage.session) else {
            return;
        };
        let mut session = slot.session();
        let is_ours = session.delivered_last.take().is_some();
        if is_ours && session.engine.mark_undelivered(self.shared.clock.now()) {
            self.shared.save_state(&session);
        }
    }
}

impl DriftMonitor {
    /// The session of an injection point. One that goes on and is not in memory is loaded: a correction may wait in it, and what it
    /// does next is judged by its goal.
    fn slot(&self, point: &InjectionPoint) -> Option<Arc<Slot>> {
        let id = &point.lineage.session;
        let known = self.shared.sessions.get(id);
        if known.is_none() && point.begins {
            return None;
        }
        let slot = known.unwrap_or_else(|| self.shared.slot(id));
        if let Some(mut session) = slot.try_session()
            && !session.is_loading
            && !point.begins
        {
            let root = || Some(point.location.root.to_string_lossy().into_owned());
            session.engine.set_root(root);
            self.shared.request_load(&slot, &mut session);
        }
        Some(slot)
    }

    /// Where what waits to be said is about a call that ran: whether the user was asked about it and said yes. `None`: nobody
    /// could tell in time, so nothing is said yet.
    async fn check_permissions(&self, slot: &Arc<Slot>, point: &InjectionPoint) -> Option<()> {
        {
            let mut session = slot.try_session()?;
            let call = session.engine.drift().pending_call();
            if !call.is_some_and(|call| session.engine.is_permission_open(call)) {
                return Some(());
            }
            for one in &point.answered {
                session.engine.note_call_ended(&one.tool_use_id, one.failed);
            }
        }
        let left = point.deadline.saturating_duration_since(Instant::now());
        let looking = self.shared.check_permissions(slot);
        let looked = tokio::time::timeout(left.saturating_sub(RESERVED_TO_COMMIT), looking).await;
        looked.is_ok_and(|looked| looked.is_ok()).then_some(())
    }

    /// Waits until what the request answers was assessed, a little while.
    async fn wait(&self, slot: &Slot, point: &InjectionPoint) {
        let left = point.deadline.saturating_duration_since(Instant::now());
        let timeout = left.saturating_sub(RESERVED_TO_COMMIT).min(RULES_TIMEOUT);
        let until = tokio::time::Instant::now() + timeout;
        let mut has_waited = false;
        loop {
            let changed = slot.changed.notified();
            tokio::pin!(changed);
            // What is told from here on is not missed.
            changed.as_mut().enable();
            // Under a prompt it has to be looked at again, for which what was done has to be known.
            let is_ready = |session: &Session| {
                session.has_assessed(&point.answered)
                    && (point.prompt.trim().is_empty() || !session.is_state_loading())
            };
            if slot.try_session().is_some_and(|session| is_ready(&session)) {
                return;
            }
            if !std::mem::replace(&mut has_waited, true) {
                self.shared.counters.waited.increment();
            }
            if tokio::time::timeout_at(until, changed).await.is_err() {
                return;
            }
        }
    }
}

/// Whether what a correction is about happened in the history of a request. Where its call is not known, as of one that was
/// kept when calls were not, nothing that stands there may have failed.
fn happened_here(call: Option<&str>, point: &InjectionPoint) -> bool {
    let has_failed = |call: &str| {
        let mut answered = point.answered.iter();
        answered.any(|one| one.failed && one.tool_use_id == call)
    };
    match call {
        Some(call) => point.has_call(call) && !has_failed(call),
        None => point.answered.iter().all(|one| !one.failed),
    }
}
