//! A prompt, noted without following the session: its course is long, and most prompts find nothing to be looked at.

use super::position::text_hash;
use grov_actions::transcript::{Event, Reader};
use grov_domain::{HookSession, PendingPrompt};
use grov_session::{GoalContractBuilder, IntentReader, sanitize_prompt};

/// So many prompts wait to be taken in. With more, the session is followed first.
const MOST_WAITING: usize = 8;

/// Whether a prompt may be noted with [`announce`] before the session is followed: not too many wait already, and nothing
/// that was followed is left to be checked, where anybody checks.
pub(crate) fn can_defer(session: &HookSession, is_checked: bool) -> bool {
    let is_due = is_checked && session.is_unchecked;
    !is_due && session.waiting.len() < MOST_WAITING
}

/// Whether a piece of the session's transcript that was not followed yet holds nothing to be looked at: no action, no
/// result, and nothing that was typed but what waits or is this prompt.
pub(crate) fn has_no_actions(session: &HookSession, transcript: &[u8], prompt: &str) -> bool {
    let id = session.client_session_id.as_str();
    let entries = Reader::new(Some(id)).read(transcript).entries;
    entries.iter().all(|entry| match &entry.event {
        Event::Prompt { text, .. } => {
            let known = text_hash(text);
            known == text_hash(prompt) || session.waiting.iter().any(|one| one.known_by == known)
        }
        Event::Call(_) | Event::Ended(_) => false,
        Event::Said(_) | Event::Compacted { .. } | Event::Used(_) => true,
    })
}

/// Notes what the user typed when the transcript had `length` bytes: the agent is held to it from now on, and whoever
/// follows the session next takes it in.
pub(crate) fn record_pending(session: &mut HookSession, prompt: &str, length: u64, read: IntentReader) {
    let mut builder = GoalContractBuilder::new(read);
    builder.load_instructions(session.contract.instructions.clone());
    if builder.add_prompt(prompt) {
        session.contract = builder.typed_contract().clone();
    }
    session.prompts += 1;
    session.waiting.push(pending_prompt(prompt, length));
}

pub(crate) fn pending_prompt(prompt: &str, length: u64) -> PendingPrompt {
    PendingPrompt {
        text: sanitize_prompt(prompt),
        known_by: text_hash(prompt),
        at: length,
    }
}
