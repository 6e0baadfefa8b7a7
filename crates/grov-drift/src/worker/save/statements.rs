//! Collects the texts of a task's turns that may state decisions.

use crate::transcript_file::{length, read_range};
use grov_actions::transcript::{Entry, Event, Reader};
use grov_domain::{Statement, StatementSource};
use grov_rules::only_asks;
use std::path::Path;

/// Bytes at the end of a transcript that are read.
const MAX_BYTES: u64 = 16 * 1024 * 1024;
/// Maximum number of turns whose texts are used, the newest.
const MAX_TURNS: usize = 40;
/// A prompt up to this length in bytes may be the answer to a question of the agent.
const MAX_ANSWER: usize = 500;

/// The texts of a turn.
#[derive(Debug, Default)]
struct TurnTexts {
    prompt: String,
    closing: String,
    /// Plans with the ids of their calls.
    plans: Vec<(Option<String>, String)>,
    summaries: Vec<String>,
}

/// Returns the texts of the turns after prompt number `covered`, up to the `newest`: closing texts of turns that changed
/// something, approved plans, answers to questions, and summaries of compactions. A summary is also about earlier tasks, so that
/// it counts only in the first.
pub(super) fn of_task(
    transcript: Option<&Path>,
    covered: u64,
    newest: u64,
    has_changed: impl Fn(u64) -> bool,
) -> Vec<Statement> {
    let turns = transcript.map(turns).unwrap_or_default();
    let mut found = Vec::new();
    let mut add = |source, text: &str| {
        if !text.trim().is_empty() {
            let text = text.to_owned();
            found.push(Statement { source, text });
        }
    };
    let from = turns.len().saturating_sub(MAX_TURNS);
    let mut asked = false;
    for (place, turn) in turns.iter().enumerate().skip(from) {
        let behind = u64::try_from(turns.len() - 1 - place).unwrap_or(u64::MAX);
        let number = newest.saturating_sub(behind);
        if number > covered {
            if asked && turn.prompt.len() <= MAX_ANSWER && !only_asks(&turn.prompt) {
                add(StatementSource::UserAnswer, &turn.prompt);
            }
            for (_, plan) in &turn.plans {
                add(StatementSource::Plan, plan);
            }
            if has_changed(number) {
                add(StatementSource::Closing, &turn.closing);
            }
            for summary in turn.summaries.iter().filter(|_| covered == 0) {
                add(StatementSource::Summary, summary);
            }
        }
        asked = turn.closing.trim_end().ends_with(['?', '？']);
    }
    found
}

/// The turns at the end of a transcript; none if it cannot be read.
fn turns(transcript: &Path) -> Vec<TurnTexts> {
    let Ok(Some(length)) = length(transcript) else {
        return Vec::new();
    };
    let from = length.saturating_sub(MAX_BYTES);
    let bytes = read_range(transcript, from, MAX_BYTES).unwrap_or_default();
    divided(Reader::new(None).read(&bytes).entries)
}

fn divided(entries: Vec<Entry>) -> Vec<TurnTexts> {
    let mut turns: Vec<TurnTexts> = Vec::new();
    for entry in entries.into_iter().filter(|entry| entry.agent.is_none()) {
        if let Event::Prompt { text, .. } = entry.event {
            turns.push(TurnTexts {
                prompt: text,
                ..TurnTexts::default()
            });
            continue;
        }
        if turns.is_empty() {
            turns.push(TurnTexts::default());
        }
        let Some(turn) = turns.last_mut() else { continue };
        match entry.event {
            // After a question of a hook there are several.
            Event::Said(text) => {
                if !turn.closing.is_empty() {
                    turn.closing.push_str("\n\n");
                }
                turn.closing.push_str(&text);
            }
            Event::Summary(text) => turn.summaries.push(text),
            Event::Call(call) => {
                turn.closing.clear();
                let id = call.action.tool_use_id.clone();
                turn.plans.extend(call.plan.map(|plan| (id, plan)));
            }
            Event::Ended(ended) if ended.failed => {
                turn.plans
                    .retain(|(id, _)| id.as_deref() != Some(ended.tool_use_id.as_str()));
            }
            _ => {}
        }
    }
    turns
}
