//! Gives back what a compaction lost, with the next request.

use super::{ContextMonitor, Job, Restoration, RestoredBy, lock};
use crate::injection::{ContextSource, ContextText, InjectionPoint};
use async_trait::async_trait;
use grov_context::{SessionPoints, restoration};
use grov_domain::{ClientDialect, ClientSessionId, Compaction, ContextStore, Lineage, Redacted};
use grov_redact::Redactor;
use memchr::memmem;
use std::sync::Arc;

const CLIENT: ClientDialect = ClientDialect::CLAUDE_CODE;

/// Maximum size of the text in tokens.
const MAX_TOKENS: usize = 1_000;
/// The beginning of a restoration by a hook, as it is in a body.
const BY_HOOK: &[u8] = br#"<grov-context source=\"session\""#;

/// The source of lost points. Hooks do the same when the client starts the new history; then its text is in the history and
/// nothing is added.
pub struct RestorationSource {
    monitor: Arc<ContextMonitor>,
    store: Arc<dyn ContextStore>,
}

impl RestorationSource {
    /// Creates a source for the sessions of `monitor`.
    pub fn new(monitor: Arc<ContextMonitor>, store: Arc<dyn ContextStore>) -> Self {
        Self { monitor, store }
    }

    fn state(&self, lineage: &Lineage) -> Restoration {
        let context = self.monitor.context(&lineage.session);
        lock(&context).restoration.clone()
    }

    /// The newest compaction: from memory, or after a restart from the store.
    async fn newest(&self, session: &ClientSessionId) -> Option<Redacted<Compaction>> {
        let known = lock(&self.monitor.context(session)).lost.clone();
        if known.is_some() {
            return known;
        }
        match self.store.compactions(session, 1).await {
            Ok(newest) => newest.first().map(Redacted::of),
            Err(error) => {
                tracing::debug!(%error, "cannot read what a compaction lost; nothing is added");
                None
            }
        }
    }

    fn set(&self, lineage: &Lineage, state: Restoration) {
        lock(&self.monitor.context(&lineage.session)).restoration = state;
    }
}

#[async_trait]
impl ContextSource for RestorationSource {
    fn name(&self) -> &'static str {
        "compaction"
    }

    fn applies(&self, point: &InjectionPoint) -> bool {
        let is_open = point.lineage.agent.is_none() && !point.begins;
        is_open
            && matches!(
                self.state(&point.lineage),
                Restoration::Unknown | Restoration::Pending
            )
            && is_compacted(&point.body)
    }

    fn is_useful_later(&self) -> bool {
        true
    }

    async fn context(&self, point: &InjectionPoint) -> Option<ContextText> {
        let session = &point.lineage.session;
        if memmem::find(&point.body, BY_HOOK).is_some() {
            self.set(&point.lineage, Restoration::Done);
            self.monitor
                .submit(Job::Restored(session.clone(), RestoredBy::Hook));
            return None;
        }
        let Some(compaction) = self.newest(session).await else {
            // The comparison may still be running.
            if self.state(&point.lineage) == Restoration::Unknown {
                self.set(&point.lineage, Restoration::Done);
            }
            return None;
        };
        if compaction.restored_at.is_some() {
            self.set(&point.lineage, Restoration::Done);
            return None;
        }
        let points = Redacted::of(&SessionPoints::of_list(&compaction.lost));
        let mut text = restoration(&points, MAX_TOKENS)?;
        if point.prompt.is_empty() {
            // Inside a tool loop, in the client's own form.
            let (opening, closing) = (CLIENT.reminder_opening, CLIENT.reminder_closing);
            text = Redactor::shared().text(&format!("{opening}\n{}\n{closing}", &*text));
        }
        Some(ContextText {
            text,
            memories: Vec::new(),
        })
    }

    fn delivered(&self, point: &InjectionPoint) {
        // Called for the texts of this source only.
        let context = self.monitor.context(&point.lineage.session);
        let mut context = lock(&context);
        context.restoration = Restoration::Delivered(context.responses);
        drop(context);
        let session = point.lineage.session.clone();
        self.monitor.submit(Job::Restored(session, RestoredBy::Request));
    }

    fn withdrawn(&self, lineage: &Lineage) {
        let context = self.monitor.context(&lineage.session);
        let mut context = lock(&context);
        // After the response, the withdrawn text is another one.
        if context.restoration == Restoration::Delivered(context.responses) {
            context.restoration = Restoration::Pending;
            self.monitor.submit(Job::Withdrawn(lineage.session.clone()));
        }
    }
}

/// Whether a history begins with a summary of an earlier one. The text may also be quoted somewhere; then the store has no
/// compaction that waits.
fn is_compacted(body: &[u8]) -> bool {
    memmem::find(body, CLIENT.continued.as_bytes()).is_some()
}
