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

/// How long a request waits for its tool results to be judged.
const RULES_TIMEOUT: Duration = Duration::from_millis(5);
/// How often a request tries to lock a session that another thread uses.
const LOCK_INTERVAL: Duration = Duration::from_micros(100);
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
            // The lock is held by another thread.
            return true;
        };
        session.delivered_last = None;
        session.engine.drift().pending_correction().is_some() || !session.has_assessed(&point.answered)
    }

    async fn context(&self, point: &InjectionPoint) -> Option<ContextText> {
        let slot = self.shared.sessions.get(&point.lineage.session)?;
        self.wait_for_rules(&slot, point).await;
        wait_for_lock(&slot, point).await;
        self.check_permissions(&slot, point).await?;
        let prompt = point.prompt.trim();
        wait_for_lock(&slot, point).await;
        let (correction, doubtful) = {
            let mut session = slot.try_session()?;
            session.delivered_last = None;
            let now = self.shared.clock.now();
            for result in point.answered.iter().filter(|result| result.failed) {
                session.engine.note_call_ended(&result.tool_use_id, true);
            }
            let correction = session
                .engine
                .drift()
                .deliverable_correction(now, !prompt.is_empty())?
                .clone();
            // A subagent's calls are not in the history of the main conversation.
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
            let still_applies = tokio::task::spawn_blocking(move || doubtful.still_applies(&prompt));
            if !still_applies.await.unwrap_or(false) {
                return None;
            }
        }
        let in_tool_loop = prompt.is_empty() || !point.answered.is_empty();
        let text = Redactor::shared().text(&framed(&correction.text, correction.level, in_tool_loop));
        wait_for_lock(&slot, point).await;
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
            // A newer correction replaced it, but the agent still receives this one.
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
    /// Returns the session of an injection point. A continued session that is not in memory is loaded, because it may
    /// have a pending correction, and its goal is needed to judge later actions.
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

    /// If the pending correction is about a call that may have been permitted by the user, reads whether it was.
    /// Returns `None` if that cannot be read in time; then nothing is delivered.
    async fn check_permissions(&self, slot: &Arc<Slot>, point: &InjectionPoint) -> Option<()> {
        {
            let mut session = slot.try_session()?;
            let call = session.engine.drift().pending_call();
            if !call.is_some_and(|call| session.engine.is_permission_open(call)) {
                return Some(());
            }
            for result in &point.answered {
                session.engine.note_call_ended(&result.tool_use_id, result.failed);
            }
        }
        let left = point.deadline.saturating_duration_since(Instant::now());
        let lookup = self.shared.check_permissions(slot);
        let looked_up = tokio::time::timeout(left.saturating_sub(RESERVED_TO_COMMIT), lookup).await;
        looked_up.is_ok_and(|looked_up| looked_up.is_ok()).then_some(())
    }

    /// Waits for at most [`RULES_TIMEOUT`] until the actions that the request answers are judged.
    async fn wait_for_rules(&self, slot: &Slot, point: &InjectionPoint) {
        let left = point.deadline.saturating_duration_since(Instant::now());
        let timeout = left.saturating_sub(RESERVED_TO_COMMIT).min(RULES_TIMEOUT);
        let until = tokio::time::Instant::now() + timeout;
        let mut has_waited = false;
        loop {
            let changed = slot.changed.notified();
            tokio::pin!(changed);
            // From here on, notifications are not missed.
            changed.as_mut().enable();
            // With a prompt the correction is checked again, which needs the loaded history.
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

/// Waits briefly while another thread uses the session: a correction should not wait for another request because of it.
async fn wait_for_lock(slot: &Slot, point: &InjectionPoint) {
    let left = point.deadline.saturating_duration_since(Instant::now());
    let until = tokio::time::Instant::now() + left.saturating_sub(RESERVED_TO_COMMIT).min(RULES_TIMEOUT);
    while slot.try_session().is_none() && tokio::time::Instant::now() < until {
        tokio::time::sleep(LOCK_INTERVAL).await;
    }
}

/// Returns whether the action that a correction is about is in the history of the request and did not fail. Corrections
/// stored by older versions have no call; they require that no result of the request failed.
fn happened_here(call: Option<&str>, point: &InjectionPoint) -> bool {
    let has_failed = |call: &str| {
        let mut answered = point.answered.iter();
        answered.any(|result| result.failed && result.tool_use_id == call)
    };
    match call {
        Some(call) => point.has_call(call) && !has_failed(call),
        None => point.answered.iter().all(|result| !result.failed),
    }
}
