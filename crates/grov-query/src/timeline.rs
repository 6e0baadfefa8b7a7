//! The time line of a session: prompts, actions, findings, injected text and requests, newest first, page by page.

use crate::drift::{LogScope, drift_log};
use crate::injections::{InjectionView, injections};
use grov_domain::{ClientSessionId, DriftEvent, JournalExchange, OFF_GOAL_BELOW, StepRow, Store, StoreError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use time::OffsetDateTime;

/// The newest findings of a session that are read.
const MAX_FINDINGS: u32 = 500;

/// An entry of a time line.
#[derive(Clone, Debug, PartialEq)]
pub struct TimelineEntry {
    /// When it happened.
    pub at: OffsetDateTime,
    /// What happened.
    pub kind: TimelineKind,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum TimelineKind {
    /// The user typed a prompt.
    Prompt(String),
    /// The agent acted.
    Action(Box<StepRow>),
    /// An action was judged off the goal.
    Finding(Box<DriftEvent>),
    /// The agent was given a text.
    Injection(Box<InjectionView>),
    /// A request and its response.
    Request(Box<JournalExchange>),
}

/// A prompt that is in no record, because only hooks saw its session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptView {
    /// When it was typed.
    #[serde(with = "time::serde::rfc3339")]
    pub at: OffsetDateTime,
    /// The redacted text.
    pub text: String,
}

/// What the store does not have of a session, but the client's transcript does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcribed {
    /// What the agent was given on both paths.
    pub said: Vec<InjectionView>,
    /// What the user typed, if only hooks saw the session.
    pub prompts: Vec<PromptView>,
}

/// The score of an action.
#[derive(Clone, Debug, PartialEq)]
pub struct ScorePoint {
    /// When the action happened.
    pub at: OffsetDateTime,
    /// 1 (far off) to 10 (on goal).
    pub score: u8,
    /// The command, files or folders of the action.
    pub subject: String,
}

/// A page of a time line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// The entries, newest first.
    pub entries: Vec<TimelineEntry>,
    /// The time before which older entries are; `None` on the last page.
    pub older_than: Option<OffsetDateTime>,
    /// The scores of the actions on this page, oldest first.
    pub scores: Vec<ScorePoint>,
}

/// Returns the entries of a session before a time, or the newest, at most `limit`. Without `transcribed`, only what the store
/// has is shown.
///
/// # Errors
/// Returns the store's error.
pub async fn timeline(
    store: &dyn Store,
    session: &ClientSessionId,
    before: Option<OffsetDateTime>,
    limit: u32,
    transcribed: Option<&Transcribed>,
) -> Result<Timeline, StoreError> {
    let journal = store.journal(session, before, limit).await?;
    let is_wanted = |at: OffsetDateTime| before.is_none_or(|before| at < before);
    let mut entries = Vec::new();
    let mut add = |at, kind| entries.push(TimelineEntry { at, kind });
    for prompt in journal.prompts {
        add(prompt.at, TimelineKind::Prompt(prompt.text));
    }
    let known: BTreeSet<String> = journal
        .steps
        .iter()
        .filter_map(|step| step.tool_use_id.clone())
        .collect();
    for step in journal.steps {
        add(step.timestamp, TimelineKind::Action(Box::new(step)));
    }
    let hooked = journal.hook_steps.into_iter().filter(|step| {
        // The findings have those off the goal.
        let is_off = step.score.is_some_and(|score| score < OFF_GOAL_BELOW);
        !is_off && step.tool_use_id.as_ref().is_none_or(|call| !known.contains(call))
    });
    for step in hooked {
        add(
            step.timestamp,
            TimelineKind::Action(Box::new(step.into_row(session))),
        );
    }
    for exchange in journal.exchanges {
        add(exchange.started_at, TimelineKind::Request(Box::new(exchange)));
    }
    let findings = drift_log(store, &LogScope::Session(session.clone()), Some(MAX_FINDINGS)).await?;
    for event in findings.into_iter().filter(|event| is_wanted(event.timestamp)) {
        add(event.timestamp, TimelineKind::Finding(Box::new(event)));
    }
    let Transcribed { said, prompts } = match transcribed {
        Some(transcribed) => transcribed.clone(),
        None => Transcribed {
            said: injections(store, session, Vec::new(), &[]).await?,
            prompts: Vec::new(),
        },
    };
    for prompt in prompts.into_iter().filter(|prompt| is_wanted(prompt.at)) {
        add(prompt.at, TimelineKind::Prompt(prompt.text));
    }
    for view in said.into_iter().filter(|view| is_wanted(view.at)) {
        add(view.at, TimelineKind::Injection(Box::new(view)));
    }
    Ok(page(entries, limit as usize))
}

fn page(mut entries: Vec<TimelineEntry>, limit: usize) -> Timeline {
    // Stable: what happened at the same time keeps the order of its kinds.
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.at));
    let has_older = entries.len() > limit;
    entries.truncate(limit);
    let older_than = entries.last().filter(|_| has_older).map(|entry| entry.at);
    let scores = entries.iter().rev().filter_map(score).collect();
    Timeline {
        entries,
        older_than,
        scores,
    }
}

fn score(entry: &TimelineEntry) -> Option<ScorePoint> {
    let (score, subject) = match &entry.kind {
        TimelineKind::Action(step) => (step.drift_score?, step.subject()),
        TimelineKind::Finding(event) => (event.drift_score?, event.subject()),
        _ => return None,
    };
    Some(ScorePoint {
        at: entry.at,
        score,
        subject,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::Duration;

    fn prompt(second: i64) -> TimelineEntry {
        TimelineEntry {
            at: OffsetDateTime::UNIX_EPOCH + Duration::seconds(second),
            kind: TimelineKind::Prompt(second.to_string()),
        }
    }

    #[test]
    fn a_page_has_the_newest_and_says_where_older_ones_are() {
        let full = page(vec![prompt(1), prompt(3), prompt(2)], 2);
        assert_eq!(full.entries, [prompt(3), prompt(2)]);
        assert_eq!(full.older_than, Some(prompt(2).at));
        let last = page(vec![prompt(1)], 2);
        assert_eq!((last.entries.len(), last.older_than), (1, None));
    }
}
