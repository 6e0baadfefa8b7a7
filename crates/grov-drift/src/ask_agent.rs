//! Asks the agent what to remember of a task that it finished (`memory.ask_agent`).

use crate::answered_events::answer_once;
use crate::error::HookError;
use crate::hook::HookContext;
use crate::transcript_file::{length, read_range};
use grov_actions::transcript::{Event, Reader};
use grov_domain::{ActionSketch, TaskContextQuestion};
use grov_hooks::event;
use grov_rules::analyze_task_context;
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

/// Bytes at the end of a transcript that are read: few, and more only if the turn began before them.
const BYTES: [u64; 3] = [1024 * 1024, 8 * 1024 * 1024, 64 * 1024 * 1024];

/// The question. The answer is read by [`grov_rules::agent_summary`].
const QUESTION: &str = "Grov keeps a memory of this finished task for later sessions. Answer in at most 200 tokens, in exactly this \
form, and change nothing:\nGoal: <one line>\nDecision: <choice>, because <reason> (one line each; none if there was none)\nOpen: \
<what is left to do, or none>";

/// Returns the question if the turn finished a task, once per prompt; `None` if a hook already prolonged the turn.
pub(crate) fn question(
    context: &HookContext<'_>,
    transcript: Option<&Path>,
) -> Result<Option<String>, HookError> {
    let answer = context
        .input
        .last_assistant_message
        .as_deref()
        .unwrap_or_default();
    if context.input.stop_hook_active == Some(true) {
        return Ok(None);
    }
    let Some(turn) = transcript.and_then(newest_turn) else {
        return Ok(None);
    };
    let key = format!("ask-agent-{:016x}", xxh3_64(turn.prompts.concat().as_bytes()));
    if !finishes_work(turn, answer) {
        return Ok(None);
    }
    answer_once(context, Some(&key), None, || Ok(Some(event::go_on(QUESTION))))
}

/// Whether a turn changed something and finished it.
fn finishes_work(turn: TaskContextQuestion, answer: &str) -> bool {
    let turn = TaskContextQuestion {
        answer: answer.to_owned(),
        unchecked_finishes: true,
        is_remembered_complete: false,
        ..turn
    };
    turn.actions.iter().any(ActionSketch::has_changed) && analyze_task_context(&turn).finished
}

/// The newest turn of a transcript: its prompt and its actions.
fn newest_turn(transcript: &Path) -> Option<TaskContextQuestion> {
    let length = length(transcript).ok().flatten()?;
    for (place, bytes) in BYTES.into_iter().enumerate() {
        let is_all = length <= bytes || place + 1 == BYTES.len();
        let turn = newest_turn_in(&read_range(transcript, length.saturating_sub(bytes), bytes).ok()?);
        if is_all || turn.is_some() {
            return turn;
        }
    }
    None
}

/// The newest turn whose prompt is in these bytes.
fn newest_turn_in(bytes: &[u8]) -> Option<TaskContextQuestion> {
    let mut turn = TaskContextQuestion::default();
    let mut calls: Vec<Option<String>> = Vec::new();
    for entry in Reader::new(None).read(bytes).entries {
        match entry.event {
            Event::Prompt { text, .. } if entry.agent.is_none() => {
                turn = TaskContextQuestion {
                    prompts: vec![text],
                    ..TaskContextQuestion::default()
                };
                calls.clear();
            }
            Event::Call(call) => {
                calls.push(call.action.tool_use_id.clone());
                turn.actions.push(ActionSketch::of(&call.action));
            }
            Event::Ended(ended) => {
                let of_call = |id: &Option<String>| id.as_deref() == Some(ended.tool_use_id.as_str());
                if let Some(place) = calls.iter().position(of_call) {
                    turn.actions[place].failed = Some(ended.failed);
                    turn.actions[place].output = ended.output;
                }
            }
            _ => {}
        }
    }
    (!turn.prompts.is_empty()).then_some(turn)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transcript(folder: &Path, prompt: &str, edits: bool) -> std::path::PathBuf {
        let typed =
            format!(r#"{{"type":"user","sessionId":"s","message":{{"role":"user","content":"{prompt}"}}}}"#);
        let tool = if edits { "Edit" } else { "Read" };
        let call = format!(
            r#"{{"type":"assistant","sessionId":"s","message":{{"id":"m","model":"m","content":[{{"type":"tool_use","id":"t","name":"{tool}","input":{{"file_path":"/p/a.rs"}}}}]}}}}"#
        );
        let result = r#"{"type":"user","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]}}"#;
        let path = folder.join("s.jsonl");
        std::fs::write(&path, format!("{typed}\n{call}\n{result}\n")).unwrap();
        path
    }

    #[test]
    fn a_turn_of_more_than_a_mebibyte_is_read_from_its_prompt() {
        let folder = tempfile::tempdir().unwrap();
        let path = transcript(folder.path(), "Make pages a hundred rows long", true);
        let mut text = std::fs::read_to_string(&path).unwrap();
        let result = text
            .lines()
            .last()
            .unwrap()
            .replace("ok", &"x".repeat(3 * 1024 * 1024));
        text.push_str(&result);
        text.push('\n');
        std::fs::write(&path, text).unwrap();
        let turn = newest_turn(&path).unwrap();
        assert_eq!((turn.prompts.len(), turn.actions.len()), (1, 1));
    }

    #[test]
    fn the_agent_is_asked_about_finished_work_only() {
        let folder = tempfile::tempdir().unwrap();
        let finishes = |prompt: &str, edits: bool, answer: &str| {
            let turn = newest_turn(&transcript(folder.path(), prompt, edits)).unwrap();
            finishes_work(turn, answer)
        };
        assert!(finishes(
            "Make pages a hundred rows long",
            true,
            "Pages have a hundred rows now."
        ));
        assert!(!finishes(
            "Make pages a hundred rows long",
            true,
            "The export is still missing."
        ));
        assert!(!finishes(
            "Make pages a hundred rows long",
            true,
            "Which pages do you mean?"
        ));
        assert!(!finishes("How long are pages?", false, "A hundred rows."));
    }
}
