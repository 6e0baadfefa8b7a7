//! What is to be said is said at the next request.

use crate::counters::count;
use crate::drift::Drift;
use crate::saving::Save;
use crate::session::{Session, Slot};
use async_trait::async_trait;
use grov_domain::{CorrectionOutcome, Lineage};
use grov_live::{ContextSource, Occasion, Words};
use grov_redact::Redactor;
use grov_session::correction::framed;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a request waits for the rules to have looked at what it answers.
const PATIENCE: Duration = Duration::from_millis(5);
/// What is left of the deadline for keeping what is said.
const LEFT_TO_KEEP: Duration = Duration::from_millis(2);

#[async_trait]
impl ContextSource for Drift {
    fn name(&self) -> &'static str {
        "drift"
    }

    fn applies(&self, occasion: &Occasion) -> bool {
        let settings = &self.shared.settings;
        if !settings.enabled || !settings.corrections || occasion.lineage.agent.is_some() {
            return false;
        }
        let Some(slot) = self.slot(occasion) else {
            return false;
        };
        let Some(mut session) = slot.try_session() else {
            // Somebody is at it right now.
            return true;
        };
        session.said_last = None;
        session.engine.pending_correction().is_some() || !session.has_assessed(&occasion.answered)
    }

    async fn words(&self, occasion: &Occasion) -> Option<Words> {
        let slot = self.shared.known(&occasion.lineage.session)?;
        self.wait(&slot, occasion).await;
        self.look_what_was_asked(&slot, occasion).await?;
        let prompt = occasion.prompt.trim();
        let (correction, doubtful) = {
            let mut session = slot.try_session()?;
            session.said_last = None;
            let now = self.shared.clock.now();
            for one in occasion.answered.iter().filter(|one| one.failed) {
                session.engine.note_call_ended(&one.tool_use_id, true);
            }
            let correction = session
                .engine
                .deliverable_correction(now, !prompt.is_empty())?
                .clone();
            // What a subagent called is in its own history alone.
            let is_delegated = session.engine.is_pending_delegated();
            if !is_delegated && !happened_here(session.engine.pending_call(), occasion) {
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
        let in_tool_loop = prompt.is_empty() || !occasion.answered.is_empty();
        let text = Redactor::shared().text(&framed(&correction.text, correction.level, in_tool_loop));
        let mut session = slot.try_session()?;
        // It may have been taken back meanwhile.
        if session
            .engine
            .pending_correction()
            .is_none_or(|pending| pending.id != correction.id)
        {
            return None;
        }
        session.offered = Some(correction);
        Some(Words {
            text,
            memories: Vec::new(),
        })
    }

    fn said(&self, occasion: &Occasion) {
        let Some(slot) = self.shared.known(&occasion.lineage.session) else {
            return;
        };
        let mut session = slot.session();
        let Some(mut offered) = session.offered.take() else {
            return;
        };
        let now = self.shared.clock.now();
        count(&self.shared.counters.delivered);
        session.said_last = Some(offered.id.clone());
        if session.engine.mark_delivered(&offered, now) {
            self.shared.save_state(&session);
        } else {
            // Another one took its place meanwhile; this one was read all the same.
            offered.delivered_at = Some(now);
            offered.outcome = Some(CorrectionOutcome::Overtaken);
            self.shared.save(Save::Correction(Box::new(offered)));
        }
    }

    fn taken_back(&self, lineage: &Lineage) {
        if lineage.agent.is_some() {
            return;
        }
        let Some(slot) = self.shared.known(&lineage.session) else {
            return;
        };
        let mut session = slot.session();
        let is_ours = session.said_last.take().is_some();
        if is_ours && session.engine.mark_undelivered(self.shared.clock.now()) {
            self.shared.save_state(&session);
        }
    }
}

impl Drift {
    /// The session of an occasion. One that goes on and is not in memory is loaded: a correction may wait in it, and what it
    /// does next is judged by its goal.
    fn slot(&self, occasion: &Occasion) -> Option<Arc<Slot>> {
        let id = &occasion.lineage.session;
        let known = self.shared.known(id);
        if known.is_none() && occasion.begins {
            return None;
        }
        let slot = known.unwrap_or_else(|| self.shared.slot(id));
        if let Some(mut session) = slot.try_session()
            && !session.is_loading
            && !occasion.begins
        {
            let root = || Some(occasion.location.root.to_string_lossy().into_owned());
            session.engine.set_root(root);
            self.shared.request_load(&slot, &mut session);
        }
        Some(slot)
    }

    /// Where what waits to be said is about a call that ran: whether the user was asked about it and said yes. `None`: nobody
    /// could tell in time, so nothing is said yet.
    async fn look_what_was_asked(&self, slot: &Arc<Slot>, occasion: &Occasion) -> Option<()> {
        {
            let mut session = slot.try_session()?;
            let call = session.engine.pending_call();
            if !call.is_some_and(|call| session.engine.is_permission_open(call)) {
                return Some(());
            }
            for one in &occasion.answered {
                session.engine.note_call_ended(&one.tool_use_id, one.failed);
            }
        }
        let left = occasion.deadline.saturating_duration_since(Instant::now());
        let looking = self.shared.look_what_was_asked(slot);
        let looked = tokio::time::timeout(left.saturating_sub(LEFT_TO_KEEP), looking).await;
        looked.is_ok_and(|looked| looked.is_ok()).then_some(())
    }

    /// Waits until what the request answers was assessed, a little while.
    async fn wait(&self, slot: &Slot, occasion: &Occasion) {
        let left = occasion.deadline.saturating_duration_since(Instant::now());
        let patience = left.saturating_sub(LEFT_TO_KEEP).min(PATIENCE);
        let until = tokio::time::Instant::now() + patience;
        let mut has_waited = false;
        loop {
            let news = slot.news.notified();
            tokio::pin!(news);
            // What is told from here on is not missed.
            news.as_mut().enable();
            // Under a prompt it has to be looked at again, for which what was done has to be known.
            let is_ready = |session: &Session| {
                session.has_assessed(&occasion.answered)
                    && (occasion.prompt.trim().is_empty() || !session.is_on_the_way())
            };
            if slot.try_session().is_some_and(|session| is_ready(&session)) {
                return;
            }
            if !std::mem::replace(&mut has_waited, true) {
                count(&self.shared.counters.waited);
            }
            if tokio::time::timeout_at(until, news).await.is_err() {
                return;
            }
        }
    }
}

/// Whether what a correction is about happened in the history of a request. Where its call is not known, as of one that was
/// kept when calls were not, nothing that stands there may have failed.
fn happened_here(call: Option<&str>, occasion: &Occasion) -> bool {
    let has_failed = |call: &str| {
        let mut answered = occasion.answered.iter();
        answered.any(|one| one.failed && one.tool_use_id == call)
    };
    match call {
        Some(call) => occasion.has_call(call) && !has_failed(call),
        None => occasion.answered.iter().all(|one| !one.failed),
    }
}
