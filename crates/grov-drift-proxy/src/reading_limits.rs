//! Asks the judge in the background what the user's prompts forbid and ask for. Without a model nothing happens.

use crate::monitor::Shared;
use crate::session::Slot;
use grov_domain::{ClientSessionId, LimitsQuestion, PromptReading, ReadLimits};
use grov_redact::Redactor;
use grov_session::SessionEvent;
use std::sync::Arc;

impl Shared {
    /// Reads a session's prompts, stores the reading for the guard and gives it to the session, unless a newer prompt arrived
    /// meanwhile, which is read with them by its own job.
    pub(crate) async fn read_limits(&self, slot: &Arc<Slot>) {
        let prompts = |slot: &Slot| slot.session().engine.contract().instructions.clone();
        let asked = prompts(slot);
        // Before the earlier prompts are known, a reading would miss their limits.
        if asked.is_empty() || !slot.session().engine.is_contract_complete() {
            return;
        }
        // A "yes" or "go on" adds nothing to the prompts that were read.
        if slot.session().engine.contract().reading.is_some() {
            return;
        }
        let (id, task) = slot.ids();
        if let Some(read) = self.stored_reading(&id, &asked).await {
            return self.apply_reading(slot, &read);
        }
        let question = LimitsQuestion {
            prompts: asked.clone(),
        };
        let question = Redactor::shared().clean(question);
        let Some(mut reading) = self.judge.read_limits(Some(&task), &question).await else {
            return;
        };
        keep_quoted(&mut reading, &asked);
        if prompts(slot) != asked {
            return;
        }
        let read = ReadLimits {
            client_session_id: id.clone(),
            read_to: asked.last().cloned().unwrap_or_default(),
            reading,
            read_at: self.clock.now(),
        };
        self.apply_reading(slot, &read);
        if let Err(error) = self.store.save_read_limits(&Redactor::shared().clean(read)).await {
            tracing::warn!(session = %id, %error, "cannot store the limits that the model read; the guard has those of the rules");
        }
    }

    /// The reading of exactly these prompts from before a restart.
    async fn stored_reading(&self, id: &ClientSessionId, asked: &[String]) -> Option<ReadLimits> {
        let read = self.store.read_limits(id).await.ok().flatten()?;
        (asked.last() == Some(&read.read_to)).then_some(read)
    }

    fn apply_reading(&self, slot: &Arc<Slot>, read: &ReadLimits) {
        let mut session = slot.session();
        let context = self.context(&session);
        let event = SessionEvent::PromptsRead {
            read_to: &read.read_to,
            reading: read.reading.clone(),
        };
        let mut effects = session.engine.apply(event, &context);
        if self.apply_effects(slot, &mut session, &mut effects) {
            self.save_state(&session);
        }
    }
}

/// Drops requests whose words the user did not type: a question too many is better than a permission that nobody gave.
fn keep_quoted(reading: &mut PromptReading, prompts: &[String]) {
    let plain = |text: &str| {
        let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        words.join(" ")
    };
    let typed: Vec<String> = prompts.iter().map(|prompt| plain(prompt)).collect();
    reading.asked.retain(|request| {
        let words = plain(&request.words);
        !words.is_empty() && typed.iter().any(|prompt| prompt.contains(&words))
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_domain::ReadRequest;

    #[test]
    fn a_request_that_the_user_did_not_type_permits_nothing() {
        let request = |words: &str| ReadRequest {
            words: words.to_owned(),
            ..ReadRequest::default()
        };
        let mut reading = PromptReading {
            asked: vec![
                request("Push  the\nbranch"),
                request("force-push it"),
                request(""),
            ],
            ..PromptReading::default()
        };
        keep_quoted(&mut reading, &["fix it, then push the branch".to_owned()]);
        assert_eq!(reading.asked, [request("Push  the\nbranch")]);
    }
}
