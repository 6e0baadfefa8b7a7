//! Prompts at the end of a transcript that no hook recorded.

use super::check::KnownSession;
use crate::transcript_file::{length, read_range};
use grov_actions::transcript::{Event, Reader};
use grov_domain::{GoalContract, IntentQuestion};
use grov_scope::is_assent;
use grov_session::{IntentReader, instructions, sanitize_prompt};
use std::path::Path;

/// Bytes at the end of a transcript searched for the newest prompt.
const MAX_TRANSCRIPT_BYTES: u64 = 512 * 1024;

/// Bytes at the end of a transcript searched for prompts that no hook reported.
const MAX_UNREAD_BYTES: u64 = 2 * 1024 * 1024;

/// The most prompts that are read: of a long session that was resumed, the background worker reads the rest.
const MAX_UNREAD_PROMPTS: usize = 20;

/// The newest prompt.
pub(super) fn newest_prompt(transcript: Option<&Path>) -> Option<String> {
    typed_since(transcript?, 0, MAX_TRANSCRIPT_BYTES).pop()
}

/// The prompts after an offset of a transcript, within the last `most` bytes. Lines with tool inputs and results are skipped
/// without parsing.
fn typed_since(path: &Path, from: u64, most: u64) -> Vec<String> {
    let Ok(Some(length)) = length(path) else {
        return Vec::new();
    };
    // A transcript that became shorter was replaced.
    let from = if from > length { 0 } else { from };
    let Ok(end) = read_range(path, from.max(length.saturating_sub(most)), most) else {
        return Vec::new();
    };
    let end = String::from_utf8_lossy(&end);
    // Within a JSON string, quotation marks are escaped, so these patterns match only the structure.
    let is_typed = |line: &&str| {
        let is_result = line.contains(r#""type":"tool_result""#) && !line.contains(r#""type":"text""#);
        !is_result && !line.contains(r#""type":"assistant""#)
    };
    let lines: String = end.split_inclusive('\n').filter(is_typed).collect();
    let entries = Reader::new(None).read(lines.as_bytes()).entries;
    let own = entries.into_iter().filter(|entry| entry.agent.is_none());
    own.filter_map(|entry| match entry.event {
        Event::Prompt { text, .. } => Some(text),
        _ => None,
    })
    .collect()
}

/// Adds prompts that no hook reported: queued prompts run no hook, and another one may have been typed while the store was
/// busy. `None` if there are none.
pub(super) fn with_unread(known: &KnownSession, reader: &IntentReader) -> Option<KnownSession> {
    let session = known.session.as_ref()?;
    let path = session.transcript_path.as_deref()?;
    let mut contract = known.contract.clone();
    let typed = typed_since(Path::new(path), session.read_to, MAX_UNREAD_BYTES);
    let newest = typed.len().saturating_sub(MAX_UNREAD_PROMPTS);
    for prompt in typed.into_iter().skip(newest) {
        contract = with_prompt(contract, Some(prompt), reader).0;
    }
    (contract != known.contract).then(|| KnownSession {
        contract,
        is_released: known.is_released,
        consents: known.consents.clone(),
        is_withdrawn: known.is_withdrawn,
        session: Some(session.clone()),
    })
}

/// Adds the newest prompt to a contract: the stored contract may not contain it yet. Returns the contract, and whether the
/// prompt, a mere confirmation, lifts a "change nothing" request.
pub(super) fn with_prompt(
    mut contract: GoalContract,
    prompt: Option<String>,
    reader: &IntentReader,
) -> (GoalContract, bool) {
    let Some(prompt) = prompt.map(|prompt| sanitize_prompt(&prompt)) else {
        return (contract, false);
    };
    if contract.instructions.contains(&prompt) {
        return (contract, false);
    }
    let mut all = contract.instructions.clone();
    all.push(prompt.clone());
    if !instructions(reader, &all).contains(&prompt) && !contract.instructions.is_empty() {
        return (contract, is_assent(&prompt));
    }
    let intent = reader.intent(&IntentQuestion {
        prompts: vec![prompt.clone()],
        first_files: Vec::new(),
    });
    contract.instructions.push(prompt);
    contract.is_goal_newest = false;
    // No model has read this prompt.
    contract.reading = None;
    for constraint in intent.constraints {
        if !contract.constraints.contains(&constraint) {
            contract.constraints.push(constraint);
        }
    }
    if contract.goal.is_empty() {
        contract.goal = intent.goal;
    }
    (contract, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_prompt_is_found_before_tool_results() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let line = |kind: &str, content: serde_json::Value| {
            let line = serde_json::json!({
                "type": kind, "sessionId": "s", "message": {"id": "m", "role": kind, "model": "m", "content": content},
            });
            format!("{line}\n")
        };
        let call =
            serde_json::json!([{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}]);
        let result =
            serde_json::json!([{"type": "tool_result", "tool_use_id": "t", "content": "x".repeat(100_000)}]);
        let typed = "Do not touch \"type\":\"tool_result\"";
        let text = [
            line("user", "first".into()),
            line("user", typed.into()),
            line("assistant", call),
            line("user", result),
        ]
        .concat();
        std::fs::write(&path, &text).unwrap();
        assert_eq!(newest_prompt(Some(&path)).as_deref(), Some(typed));
        std::fs::write(&path, text + "no json\n").unwrap();
        assert_eq!(newest_prompt(Some(&path)).as_deref(), Some(typed));
        assert_eq!(newest_prompt(Some(&folder.path().join("none"))), None);
        assert_eq!(newest_prompt(None), None);
    }
}
