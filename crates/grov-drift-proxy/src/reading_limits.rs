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
        let mut read = ReadLimits {
            client_session_id: id.clone(),
            read_to: asked.last().cloned().unwrap_or_default(),
            reading,
            read_at: self.clock.now(),
        };
        self.apply_reading(slot, &read);
        // Without what the user withdrew meanwhile.
        if let Some(kept) = slot.session().engine.contract().reading.clone() {
            read.reading = kept;
        }
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

/// Drops requests whose words the user did not type: a needless question does less harm than a permission that the user did not give.
fn keep_quoted(reading: &mut PromptReading, prompts: &[String]) {
    let plain = |text: &str| {
        let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        words.join(" ")
    };
    let typed: Vec<String> = prompts
        .iter()
        .map(|prompt| plain(&without_pasted(prompt)))
        .collect();
    reading.asked.retain(|request| {
        let words = plain(&request.words);
        typed.iter().any(|prompt| says(prompt, &words))
    });
}

/// A prompt without what it shows in fences and in quoted lines: a pasted log asks for nothing.
fn without_pasted(prompt: &str) -> String {
    let mut is_fenced = false;
    let own = prompt.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_fenced ^= is_fence;
        !is_fenced && !is_fence && !line.trim_start().starts_with('>')
    });
    own.collect::<Vec<_>>().join("\n")
}

/// Whether a prompt contains words, and not only letters of other words: "a" quotes nothing.
fn says(prompt: &str, words: &str) -> bool {
    let is_letter = |letter: Option<char>| letter.is_some_and(|letter| letter.is_ascii_alphanumeric());
    let mut found = prompt.match_indices(words);
    words.chars().filter(|letter| letter.is_alphanumeric()).count() >= 2
        && found.any(|(at, _)| {
            let (before, from) = prompt.split_at(at);
            let after = from.strip_prefix(words).unwrap_or_default();
            let cuts = |one, other| is_letter(one) && is_letter(other);
            let cuts_start = cuts(before.chars().next_back(), words.chars().next());
            let cuts_end = cuts(words.chars().next_back(), after.chars().next());
            !cuts_start && !cuts_end
        })
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

    #[test]
    fn words_in_pasted_text_permit_nothing() {
        let request = ReadRequest {
            words: "push the branch".to_owned(),
            ..ReadRequest::default()
        };
        for (prompt, permits) in [
            ("what does this say?\n```\npush the branch\n```\n", false),
            ("he wrote:\n> push the branch\nis he right?", false),
            ("```\nerror\n```\npush the branch", true),
        ] {
            let mut reading = PromptReading {
                asked: vec![request.clone()],
                ..PromptReading::default()
            };
            keep_quoted(&mut reading, &[prompt.to_owned()]);
            assert_eq!(!reading.asked.is_empty(), permits, "{prompt}");
        }
    }

    #[test]
    fn letters_of_other_words_are_no_quotation() {
        for (words, is_said) in [
            ("push", true),
            ("fix it, then push the branch", true),
            ("a", false),
            ("pus", false),
            ("ush the", false),
            ("...", false),
        ] {
            assert_eq!(says("fix it, then push the branch", words), is_said, "{words}");
        }
        assert!(says("修好它然后推送分支", "推送"));
    }
}
