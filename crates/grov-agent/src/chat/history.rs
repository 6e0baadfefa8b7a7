//! The thread within a budget of tokens: the newest messages as they are, the oldest in short.

use super::prompt::shown_tokens;
use super::sentence::sentences;
use crate::tokens::tokens;
use crate::{Message, MessageRole, ThreadSummary};
use grov_redact::beginning_of;

/// How many messages are read from the store.
pub(crate) const MAX_MESSAGES: u32 = 200;

/// The most messages that are kept as they are. Above this number the older half is summarised.
const MAX_KEPT: usize = 100;

/// The most characters of a message's line in the summary.
const MAX_LINE_CHARS: usize = 200;

/// The part of the budget that the summary may take, as a divisor.
const SUMMARY_PART: u32 = 4;

/// What of a thread is shown to the model.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct History {
    /// What the older part said.
    pub(crate) summary: Option<ThreadSummary>,
    /// The newer messages, oldest first.
    pub(crate) messages: Vec<Message>,
    /// Whether the summary is new and has to be stored.
    pub(crate) is_summary_new: bool,
}

/// Fits a thread into `budget` tokens.
///
/// While the messages that no summary covers fit, all are kept. When they do not, the oldest are summarised until the rest takes
/// half of the budget: so a summary is made rarely, and the beginning of the prompt stays the same for many turns. A summary
/// has a line for each message, its first sentence; the oldest lines are dropped when it takes more than a quarter of the budget.
pub(crate) fn fit(summary: Option<ThreadSummary>, mut messages: Vec<Message>, budget: u32) -> History {
    if let Some(summary) = &summary
        && let Some(place) = messages.iter().position(|message| message.id == summary.until)
    {
        messages.drain(..=place);
    }
    let sizes: Vec<u32> = messages.iter().map(shown_tokens).collect();
    let total = sizes.iter().fold(0_u32, |sum, size| sum.saturating_add(*size));
    let summary_budget = budget / SUMMARY_PART;
    let used = summary.as_ref().map_or(0, |summary| tokens(&summary.text));
    if total.saturating_add(used) <= budget && messages.len() <= MAX_KEPT {
        return History {
            summary,
            messages,
            is_summary_new: false,
        };
    }
    let kept = kept(&sizes, budget / 2);
    let newer = messages.split_off(messages.len() - kept);
    let Some(until) = messages.last().map(|message| message.id) else {
        return History {
            summary,
            messages: newer,
            is_summary_new: false,
        };
    };
    let before = summary.map(|summary| summary.text).unwrap_or_default();
    let lines = before.lines().map(str::to_owned).chain(messages.iter().map(line));
    History {
        summary: Some(ThreadSummary {
            text: newest_lines(lines.collect(), summary_budget),
            until,
        }),
        messages: newer,
        is_summary_new: true,
    }
}

/// Returns how many of the newest messages fit.
fn kept(sizes: &[u32], budget: u32) -> usize {
    let mut rest = budget;
    let fitting = sizes.iter().rev().take(MAX_KEPT / 2).take_while(|size| {
        let fits = **size <= rest;
        rest = rest.saturating_sub(**size);
        fits
    });
    fitting.count()
}

/// A message in short.
fn line(message: &Message) -> String {
    let author = match message.role {
        MessageRole::User => "User",
        MessageRole::Assistant => "Agent",
        MessageRole::Tool => "Tool",
    };
    let first = sentences(&message.content).into_iter().next();
    let words = first.map(|range| &message.content[range]).unwrap_or_default();
    format!("{author}: {}", beginning_of(words, MAX_LINE_CHARS))
}

fn newest_lines(lines: Vec<String>, budget: u32) -> String {
    let mut rest = budget;
    let mut kept: Vec<String> = lines
        .into_iter()
        .rev()
        .take_while(|line| {
            let size = tokens(line).saturating_add(1);
            let fits = size <= rest;
            rest = rest.saturating_sub(size);
            fits
        })
        .collect();
    kept.reverse();
    kept.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MessageId, ThreadId};
    use time::OffsetDateTime;

    fn messages(count: usize, words: usize) -> Vec<Message> {
        let message = |number: usize| Message {
            id: MessageId::fresh(),
            thread_id: ThreadId::of(uuid::Uuid::nil()),
            role: if number.is_multiple_of(2) {
                MessageRole::User
            } else {
                MessageRole::Assistant
            },
            content: format!("Message {number} begins. {}", "word ".repeat(words)),
            response_json: None,
            created_at: OffsetDateTime::UNIX_EPOCH,
        };
        (0..count).map(message).collect()
    }

    fn size(history: &History) -> u32 {
        let summary = history
            .summary
            .as_ref()
            .map_or(0, |summary| tokens(&summary.text));
        history.messages.iter().map(shown_tokens).sum::<u32>() + summary
    }

    #[test]
    fn a_short_thread_is_kept_whole() {
        let history = fit(None, messages(6, 10), 1_000);
        assert_eq!(
            (history.messages.len(), history.summary, history.is_summary_new),
            (6, None, false)
        );
    }

    #[test]
    fn the_oldest_are_summarised_and_the_newest_kept() {
        let all = messages(40, 50);
        let history = fit(None, all.clone(), 1_000);
        assert!(size(&history) <= 1_000 && history.is_summary_new);
        assert_eq!(history.messages.last(), all.last());
        let summary = history.summary.clone().unwrap();
        let covered = all.len() - history.messages.len();
        assert_eq!(summary.until, all[covered - 1].id);
        assert!(
            summary
                .text
                .ends_with(&format!("Message {} begins.", covered - 1)),
            "{}",
            summary.text
        );

        // The next turn keeps the summary, whether the store gives covered messages or not.
        for stored in [all.clone(), history.messages.clone()] {
            let next = fit(Some(summary.clone()), stored, 1_000);
            assert_eq!(
                (next.summary.as_ref(), next.is_summary_new),
                (Some(&summary), false)
            );
            assert_eq!(next.messages, history.messages);
        }
    }

    #[test]
    fn the_arguments_of_earlier_calls_count_and_are_cut() {
        let mut all = messages(20, 0);
        let arguments = serde_json::json!({"text": "word ".repeat(300)});
        for message in &mut all {
            message.role = MessageRole::Assistant;
            message.response_json = Some(serde_json::json!({
                "decision": "ACT", "message": message.content,
                "tool_calls": [{"name": "mail.send", "arguments": arguments}],
            }));
        }
        let history = fit(None, all.clone(), 1_000);
        assert!(
            history.is_summary_new && history.messages.len() < 5,
            "{}",
            history.messages.len()
        );
        let long = serde_json::json!({"text": "word ".repeat(12_000)});
        all[0].response_json = Some(serde_json::json!({
            "decision": "ACT", "tool_calls": [{"name": "mail.send", "arguments": long}],
        }));
        assert!(shown_tokens(&all[0]) < 3_000, "{}", shown_tokens(&all[0]));
    }

    #[test]
    fn one_message_larger_than_the_budget_and_many_small_ones_fit() {
        let history = fit(None, messages(1, 5_000), 1_000);
        assert!(history.messages.is_empty() && size(&history) <= 1_000);
        let history = fit(None, messages(200, 0), 100_000);
        assert_eq!(history.messages.len(), MAX_KEPT / 2);
        let mut summary = None;
        for round in 0..50 {
            let history = fit(summary.take(), messages(10, 100), 500);
            assert!(size(&history) <= 500, "{round}");
            summary = history.summary;
        }
    }
}
