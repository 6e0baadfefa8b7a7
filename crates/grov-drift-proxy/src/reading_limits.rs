//! Asks the judge in the background which limits the user set, for the guard. Without a model nothing happens.

use crate::monitor::Shared;
use crate::session::Slot;
use grov_domain::{LimitsQuestion, ReadLimits};
use grov_redact::Redactor;

impl Shared {
    /// Reads the limits of a session's prompts and stores them, unless a newer prompt arrived meanwhile, which is read with
    /// them by its own job.
    pub(crate) async fn read_limits(&self, slot: &Slot) {
        let prompts = |slot: &Slot| slot.session().engine.contract().instructions.clone();
        let asked = prompts(slot);
        // Before the earlier prompts are known, a reading would miss their limits.
        if asked.is_empty() || !slot.session().engine.is_contract_complete() {
            return;
        }
        let (id, task) = slot.ids();
        let question = LimitsQuestion {
            prompts: asked.clone(),
        };
        let question = Redactor::shared().clean(question);
        let Some(limits) = self.judge.read_limits(Some(&task), &question).await else {
            return;
        };
        if prompts(slot) != asked {
            return;
        }
        let read = ReadLimits {
            client_session_id: id.clone(),
            read_to: asked.last().cloned().unwrap_or_default(),
            limits,
            read_at: self.clock.now(),
        };
        if let Err(error) = self.store.save_read_limits(&Redactor::shared().clean(read)).await {
            tracing::warn!(session = %id, %error, "cannot store the limits that the model read; the guard has those of the rules");
        }
    }
}
