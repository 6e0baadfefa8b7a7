//! The door: every free text passes here on its way to the database or the spool.
//!
//! Identifiers, hashes, the project's key and names that the client's protocol defines (tool, model, stop reason)
//! are no free text. Paths are: they rarely hold a secret, and a lookup by path passes the same door, so that it
//! finds what was stored.

use grov_domain::{Action, Decision, Effect, ExchangeRecord, Step};
use grov_redact::Redactor;
use std::borrow::Cow;

/// The text as it may be stored.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    Redactor::shared().redact(text)
}

/// The same for a text that may be missing.
pub(crate) fn optional(text: &Option<String>) -> Option<Cow<'_, str>> {
    text.as_deref().map(self::text)
}

/// The same for each text of a list.
pub(crate) fn list(texts: &[String]) -> Vec<Cow<'_, str>> {
    texts.iter().map(|text| self::text(text)).collect()
}

/// The same for the paths of effects.
pub(crate) fn effects(effects: &[Effect]) -> Cow<'_, [Effect]> {
    let clean = effects.iter().all(|effect| {
        effect
            .paths
            .iter()
            .all(|path| matches!(text(path), Cow::Borrowed(_)))
    });
    if clean {
        return Cow::Borrowed(effects);
    }
    Cow::Owned(
        effects
            .iter()
            .map(|effect| Effect {
                kind: effect.kind,
                paths: owned_list(&effect.paths),
            })
            .collect(),
    )
}

/// The same for decisions.
pub(crate) fn decisions(decisions: &[Decision]) -> Vec<Decision> {
    decisions
        .iter()
        .map(|decision| Decision {
            choice: text(&decision.choice).into_owned(),
            reason: text(&decision.reason).into_owned(),
        })
        .collect()
}

/// A whole record as it may be written to the spool.
pub(crate) fn exchange(record: &ExchangeRecord) -> ExchangeRecord {
    let mut record = record.clone();
    owned_optional(&mut record.user);
    owned_optional(&mut record.project.remote);
    for prompt in &mut record.prompts {
        owned(&mut prompt.text);
    }
    for step in &mut record.steps {
        let Step {
            id: _,
            action,
            reasoning,
            keywords,
            is_key_decision: _,
            timestamp: _,
        } = step;
        let Action {
            tool: _,
            tool_use_id: _,
            action_type: _,
            files,
            folders,
            command,
            effects,
        } = action;
        owned_optional(reasoning);
        owned_optional(command);
        for text in keywords.iter_mut().chain(files).chain(folders) {
            owned(text);
        }
        for text in effects.iter_mut().flat_map(|effect| &mut effect.paths) {
            owned(text);
        }
    }
    record
}

fn owned(text: &mut String) {
    if let Cow::Owned(redacted) = self::text(text) {
        *text = redacted;
    }
}

fn owned_optional(text: &mut Option<String>) {
    if let Some(text) = text {
        owned(text);
    }
}

fn owned_list(texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| self::text(text).into_owned()).collect()
}
