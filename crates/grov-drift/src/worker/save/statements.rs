//! Collects the texts of a task's turns that may state decisions.

use super::reports::subagent_reports;
use crate::transcript_file::{length, read_range};
use grov_actions::transcript::{Entry, Event, Reader, newest_title};
use grov_domain::{Statement, StatementSource};
use grov_rules::only_asks;
use std::path::Path;
use time::OffsetDateTime;

/// Bytes at the end of a transcript that are read.
const MAX_BYTES: u64 = 16 * 1024 * 1024;
/// Maximum number of turns whose texts are used, the newest.
const MAX_TURNS: usize = 40;
/// A prompt up to this length in bytes may be the answer to a question of the agent.
const MAX_ANSWER: usize = 500;

/// The texts of a turn.
#[derive(Debug, Default)]
struct TurnTexts {
    /// The time of the prompt.
    at: Option<OffsetDateTime>,
    prompt: String,
    closing: String,
    /// Plans with the ids of their calls.
    plans: Vec<(Option<String>, String)>,
    summaries: Vec<String>,
    /// The last texts of subagents that changed something.
    reports: Vec<String>,
}

/// Returns the texts of the turns after prompt number `covered`, up to the `newest`: closing texts of turns and subagents that
/// changed something, approved plans, answers to questions, and summaries of compactions. A summary is also about earlier tasks, so that
/// it counts only in the first. Turns that began before `forgotten_at` are left out, because the transcript still has what was
/// forgotten.
pub(super) fn of_task(
    transcript: Option<&Path>,
    covered: u64,
    newest: u64,
    forgotten_at: Option<OffsetDateTime>,
    has_changed: impl Fn(u64) -> bool,
) -> Vec<Statement> {
    let turns = transcript
        .map(|path| with_reports(turns(path), path))
        .unwrap_or_default();
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
        let is_forgotten = forgotten_at.is_some_and(|until| turn.at.is_none_or(|at| at <= until));
        if number > covered && !is_forgotten {
            if asked && turn.prompt.len() <= MAX_ANSWER && !only_asks(&turn.prompt) {
                add(StatementSource::UserAnswer, &turn.prompt);
            }
            for (_, plan) in &turn.plans {
                add(StatementSource::Plan, plan);
            }
            if has_changed(number) {
                for report in &turn.reports {
                    add(StatementSource::Closing, report);
                }
                add(StatementSource::Closing, &turn.closing);
            }
            let is_first = covered == 0 && forgotten_at.is_none();
            for summary in turn.summaries.iter().filter(|_| is_first) {
                add(StatementSource::Summary, summary);
            }
        }
        asked = turn.closing.trim_end().ends_with(['?', '？']);
    }
    found
}

/// The turns at the end of a transcript; none if it cannot be read.
fn turns(transcript: &Path) -> Vec<TurnTexts> {
    divided(Reader::new(None).read(&end_of_transcript(transcript)).entries)
}

/// The turns with the last texts of their subagents.
fn with_reports(mut turns: Vec<TurnTexts>, transcript: &Path) -> Vec<TurnTexts> {
    for report in subagent_reports(transcript) {
        let began = |turn: &&mut TurnTexts| turn.at.is_some_and(|at| at <= report.at);
        if let Some(turn) = turns.iter_mut().rev().find(began) {
            turn.reports.push(report.text);
        }
    }
    turns
}

/// The title that the client's model gave the session, if it is in the end of the transcript.
pub(super) fn title(transcript: Option<&Path>) -> Option<String> {
    newest_title(&end_of_transcript(transcript?))
}

/// The bytes at the end of a transcript; none if it cannot be read.
fn end_of_transcript(transcript: &Path) -> Vec<u8> {
    end_of_file(transcript, MAX_BYTES)
}

/// At most so many bytes at the end of a file; none if it cannot be read.
pub(super) fn end_of_file(file: &Path, most: u64) -> Vec<u8> {
    let Ok(Some(length)) = length(file) else {
        return Vec::new();
    };
    read_range(file, length.saturating_sub(most), most).unwrap_or_default()
}

fn divided(entries: Vec<Entry>) -> Vec<TurnTexts> {
    let mut turns: Vec<TurnTexts> = Vec::new();
    for entry in entries.into_iter().filter(|entry| entry.agent.is_none()) {
        if let Event::Prompt { text, .. } = entry.event {
            turns.push(TurnTexts {
                at: entry.at,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_decision_of_a_subagent_that_wrote_is_kept_and_that_of_one_that_read_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let line = |role: &str, agent: &str, minute: u8, block: &str| {
            format!(
                r#"{{"type":"{role}","sessionId":"s"{agent},"timestamp":"2026-01-01T00:{minute:02}:00Z","message":{{"role":"{role}","id":"m{minute}","model":"m","content":[{block}]}}}}"#
            )
        };
        let text = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
        let main = [
            line("user", "", 1, &text("describe the cache")),
            line(
                "assistant",
                "",
                5,
                &text("The subagent finished; caching is by ETag."),
            ),
            line("user", "", 6, &text("and the limit")),
            line("assistant", "", 9, &text("Done.")),
        ];
        std::fs::write(&path, main.join("\n") + "\n").unwrap();
        std::fs::create_dir_all(folder.path().join("s/subagents")).unwrap();
        for (agent, tool) in [("a1", "Write"), ("a2", "Read")] {
            let of_agent = format!(r#","agentId":"{agent}","isSidechain":true"#);
            let call = format!(
                r#"{{"type":"tool_use","id":"t{agent}","name":"{tool}","input":{{"file_path":"/p/notes/cache.md","content":"x"}}}}"#
            );
            let lines = [
                line("user", &of_agent, 2, &text("write it")),
                line("assistant", &of_agent, 3, &call),
                line(
                    "assistant",
                    &of_agent,
                    4,
                    &text(&format!("I decided on ETag, says {agent}.")),
                ),
            ];
            let file = folder.path().join(format!("s/subagents/agent-{agent}.jsonl"));
            std::fs::write(file, lines.join("\n") + "\n").unwrap();
        }
        let stated: Vec<String> = of_task(Some(&path), 0, 2, None, |prompt| prompt == 1)
            .into_iter()
            .map(|statement| statement.text)
            .collect();
        assert_eq!(
            stated,
            [
                "I decided on ETag, says a1.",
                "The subagent finished; caching is by ETag."
            ]
        );
        assert_eq!(of_task(Some(&path), 1, 2, None, |_| true).len(), 1);
    }

    #[test]
    fn turns_that_were_forgotten_are_not_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let line = |role: &str, content: &str, minute: u8| {
            let content = format!(r#"[{{"type":"text","text":"{content}"}}]"#);
            format!(
                r#"{{"type":"{role}","sessionId":"s","timestamp":"2026-01-01T00:{minute:02}:00Z","message":{{"role":"{role}","id":"m{minute}","model":"m","content":{content}}}}}"#
            )
        };
        let lines = [
            line("user", "plan the queue", 1),
            line("assistant", "Redis or the database?", 2),
            line("user", "the database, Redis is one more service", 3),
            line("assistant", "Done.", 4),
            line("user", "and the limit", 10),
            line("assistant", "The limit is 100 now.", 11),
        ];
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
        let stated = |forgotten_at| -> Vec<String> {
            let statements = of_task(Some(&path), 0, 3, forgotten_at, |_| true);
            statements.into_iter().map(|statement| statement.text).collect()
        };
        assert_eq!(stated(None).len(), 4);
        let minute_five = OffsetDateTime::UNIX_EPOCH + time::Duration::seconds(1_767_225_900);
        assert_eq!(stated(Some(minute_five)), ["The limit is 100 now."]);
    }
}
