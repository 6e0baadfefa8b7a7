//! Checks the evidence of proposals: what is quoted is there.

use super::draft::DraftEvidence;
use super::quote::find;
use super::source::Source;
use crate::{Evidence, EvidenceKind, Message, MessageRole, SourceKind};
use grov_redact::beginning_of;

/// The most characters of the message that stands for missing evidence.
const MAX_MESSAGE_QUOTE: usize = 300;

/// Where evidence can come from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quotable<'a> {
    /// The message that is answered.
    pub(crate) incoming: &'a Message,
    /// Earlier messages of the thread.
    pub(crate) history: &'a [Message],
    /// Passages and items.
    pub(crate) sources: &'a [Source],
}

impl Quotable<'_> {
    /// Returns the evidence whose quotations are real, with the ids of what they are from; the message that is answered if none
    /// is.
    pub(crate) fn checked(&self, evidence: &[DraftEvidence]) -> Vec<Evidence> {
        let mut checked: Vec<Evidence> = Vec::new();
        for found in evidence.iter().filter_map(|evidence| self.one(evidence)) {
            if !checked.contains(&found) {
                checked.push(found);
            }
        }
        if checked.is_empty() {
            checked.push(of_message(
                self.incoming,
                beginning_of(&self.incoming.content, MAX_MESSAGE_QUOTE),
            ));
        }
        checked
    }

    /// Looks where the evidence says, then everywhere: models name wrong ids more often than wrong words.
    fn one(&self, evidence: &DraftEvidence) -> Option<Evidence> {
        let messages = || std::iter::once(self.incoming).chain(self.history.iter().rev());
        let in_messages = |named: bool| {
            messages()
                .filter(|message| !named || message.id.to_string() == evidence.id)
                .find_map(|message| Some(of_message(message, find(&message.content, &evidence.quote)?)))
        };
        let in_sources = |named: bool| {
            self.sources
                .iter()
                .filter(|source| source.kind == SourceKind::Chunk && (!named || source.id == evidence.id))
                .find_map(|source| {
                    Some(Evidence {
                        kind: EvidenceKind::Document,
                        id: source.id.clone(),
                        quote: find(&source.text, &evidence.quote)?.to_owned(),
                    })
                })
        };
        in_messages(true)
            .or_else(|| in_sources(true))
            .or_else(|| match evidence.kind {
                Some(EvidenceKind::Document) => in_sources(false).or_else(|| in_messages(false)),
                _ => in_messages(false).or_else(|| in_sources(false)),
            })
    }
}

fn of_message(message: &Message, quote: &str) -> Evidence {
    Evidence {
        kind: match message.role {
            MessageRole::Tool => EvidenceKind::ToolResult,
            MessageRole::User | MessageRole::Assistant => EvidenceKind::Message,
        },
        id: message.id.to_string(),
        quote: quote.to_owned(),
    }
}
