//! Records a prompt without following the transcript: loading the engine is expensive, and most prompts follow no unchecked
//! actions.

use super::position::text_hash;
use grov_actions::transcript::{Event, Reader};
use grov_domain::{HookSession, PendingPrompt};
use grov_session::{GoalContractBuilder, IntentReader, sanitize_prompt};

/// Maximum number of pending prompts; beyond that the transcript is followed first.
const MAX_PENDING: usize = 8;

/// Whether a prompt can be recorded with [`record_pending`]: the queue has room, and no followed action awaits a check.
pub(crate) fn can_defer(session: &HookSession, is_checked: bool) -> bool {
    let is_due = is_checked && session.is_unchecked;
    !is_due && session.waiting.len() < MAX_PENDING
}

/// Whether an unread part of the transcript contains no actions, results, or prompts besides the pending ones and this one.
pub(crate) fn has_no_actions(session: &HookSession, transcript: &[u8], prompt: &str) -> bool {
    let id = session.client_session_id.as_str();
    let entries = Reader::new(Some(id)).read(transcript).entries;
    entries.iter().all(|entry| match &entry.event {
        Event::Prompt { text, .. } => {
            let known = text_hash(text);
            known == text_hash(prompt) || session.waiting.iter().any(|one| one.hash == known)
        }
        Event::Call(_) | Event::Ended(_) => false,
        Event::Said(_) | Event::Compacted { .. } | Event::Summary(_) | Event::Used(_) => true,
    })
}

/// Records a prompt that was typed when the transcript had `length` bytes. It joins the contract immediately; the engine
/// processes it later.
pub(crate) fn record_pending(session: &mut HookSession, prompt: &str, length: u64, read: IntentReader) {
    let mut builder = GoalContractBuilder::new(read);
    builder.load_instructions(session.contract.instructions.clone());
    let has_content = builder.add_prompt(prompt);
    // "Push" has no content for a goal, and is an instruction nevertheless.
    let typed = builder.typed_contract();
    let is_act = !typed.instructions.is_empty() && typed.instructions != session.contract.instructions;
    if has_content || is_act {
        session.contract = typed.clone();
    }
    session.prompts += 1;
    session.waiting.push(pending_prompt(prompt, length));
}

pub(crate) fn pending_prompt(prompt: &str, length: u64) -> PendingPrompt {
    PendingPrompt {
        text: sanitize_prompt(prompt),
        hash: text_hash(prompt),
        at: length,
    }
}
