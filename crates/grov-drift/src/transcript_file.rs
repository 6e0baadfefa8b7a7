//! Reads transcript files: feeds a follower, and finds the last messages.

use crate::follower::TranscriptFollower;
use grov_actions::transcript::{Event, Reader};
use grov_domain::AgentId;
use serde::Deserialize;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Instant;
use time::OffsetDateTime;

/// Bytes of a transcript read at a time.
const CHUNK_BYTES: u64 = 1024 * 1024;
/// Maximum length of a line in bytes. The client writes no longer lines.
const MAX_LINE_BYTES: u64 = 64 * 1024 * 1024;
/// Bytes at the beginning of a transcript searched for its session and parent session.
pub(crate) const HEAD_BYTES: u64 = 64 * 1024;
/// Bytes at the end of a transcript searched for the last messages.
const TAIL_BYTES: u64 = 512 * 1024;
/// Maximum number of bytes searched if there are no messages within [`TAIL_BYTES`].
const MAX_TAIL_BYTES: u64 = 32 * 1024 * 1024;
/// Maximum number of subagent transcripts that are followed.
const MAX_AGENTS: usize = 256;

/// Follows the transcript to its end or until the deadline. Returns whether the end was reached.
pub(crate) fn catch_up(follower: &mut TranscriptFollower, until: Instant) -> io::Result<bool> {
    let is_at_end = read_on(follower, until)?;
    if is_at_end {
        follower.flush_pending();
    }
    Ok(is_at_end)
}

fn read_on(follower: &mut TranscriptFollower, until: Instant) -> io::Result<bool> {
    let Some(path) = follower.session().transcript_path.clone().map(PathBuf::from) else {
        return Ok(true);
    };
    let mut chunk_bytes = CHUNK_BYTES;
    loop {
        let Some(length) = length(&path)? else {
            return Ok(true);
        };
        let from = follower.offset(length);
        if from >= length {
            return Ok(true);
        }
        let bytes = read_range(&path, from, chunk_bytes)?;
        let taken = follower.read(&bytes);
        let is_end = from + bytes.len() as u64 >= length;
        if taken == 0 {
            // The last line may be incomplete.
            if is_end || chunk_bytes >= MAX_LINE_BYTES {
                return Ok(true);
            }
            chunk_bytes *= 2;
        } else {
            chunk_bytes = CHUNK_BYTES;
        }
        if is_end {
            return Ok(true);
        }
        if Instant::now() >= until {
            return Ok(false);
        }
    }
}

/// Follows the transcripts of the session's subagents.
pub(crate) fn catch_up_subagents(follower: &mut TranscriptFollower) {
    let Some(transcript) = follower.session().transcript_path.clone().map(PathBuf::from) else {
        return;
    };
    let folder = transcript.with_extension("").join("subagents");
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    for file in files.into_iter().take(MAX_AGENTS) {
        let name = file
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let agent = name
            .strip_prefix("agent-")
            .and_then(|name| name.strip_suffix(".jsonl"));
        if let Some(agent) = agent {
            let agent = AgentId::new(agent);
            // Retried by the next hook.
            let _ = catch_up_subagent(follower, &agent, &file);
        }
    }
}

/// The transcript of a subagent.
pub(crate) fn subagent_transcript(transcript: &Path, agent: &AgentId) -> PathBuf {
    let folder = transcript.with_extension("").join("subagents");
    folder.join(format!("agent-{agent}.jsonl"))
}

fn catch_up_subagent(follower: &mut TranscriptFollower, agent: &AgentId, path: &Path) -> io::Result<()> {
    while let Some(length) = length(path)? {
        let from = follower.subagent_offset(agent, length);
        if from >= length {
            break;
        }
        let bytes = read_range(path, from, MAX_LINE_BYTES)?;
        if follower.read_subagent(agent, &bytes) == 0 {
            break;
        }
    }
    Ok(())
}

/// The last messages of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Last {
    pub(crate) prompt: Option<String>,
    /// When the prompt was typed.
    pub(crate) prompted_at: Option<OffsetDateTime>,
    /// The agent's last message since the prompt, after its last tool call; may be empty.
    pub(crate) answer: String,
}

/// The last messages of the main conversation.
pub(crate) fn last(transcript: Option<&Path>) -> Last {
    last_messages_of(None, transcript)
}

/// The last messages of a subagent or the main conversation.
pub(crate) fn last_messages_of(agent: Option<&AgentId>, transcript: Option<&Path>) -> Last {
    let Some(path) = transcript else {
        return Last::default();
    };
    let Ok(Some(length)) = length(path) else {
        return Last::default();
    };
    let mut max_bytes = TAIL_BYTES;
    loop {
        let from = length.saturating_sub(max_bytes);
        let Ok(bytes) = read_range(path, from, max_bytes) else {
            return Last::default();
        };
        // The end contains only tool results or file contents.
        match last_of(agent, &bytes) {
            None if from > 0 && max_bytes < MAX_TAIL_BYTES => max_bytes *= 4,
            last => return last.unwrap_or_default(),
        }
    }
}

/// Maximum number of bytes at the end of a transcript searched for closing texts, and of texts, the newest.
const CLOSINGS_BYTES: u64 = 8 * 1024 * 1024;
const MAX_CLOSINGS: usize = 24;

/// The agent's last texts of its turns in the main conversation, redacted, oldest first.
pub(crate) fn closing_texts(transcript: Option<&Path>) -> Vec<String> {
    let read = |path: &Path| {
        let length = length(path).ok().flatten()?;
        read_range(path, length.saturating_sub(CLOSINGS_BYTES), CLOSINGS_BYTES).ok()
    };
    let bytes = transcript.and_then(read).unwrap_or_default();
    let mut closings = Vec::new();
    let mut newest: Option<String> = None;
    for entry in Reader::new(None).read(&bytes).entries {
        if entry.agent.is_some() {
            continue;
        }
        match entry.event {
            Event::Said(text) => newest = Some(text),
            // A tool call continues the turn.
            Event::Call(_) => newest = None,
            Event::Prompt { is_queued: false, .. } => closings.extend(newest.take()),
            _ => {}
        }
    }
    closings.extend(newest);
    closings.split_off(closings.len().saturating_sub(MAX_CLOSINGS))
}

/// The last messages in a part of a transcript; `None` if there are none.
fn last_of(agent: Option<&AgentId>, bytes: &[u8]) -> Option<Last> {
    let mut found = None;
    for entry in Reader::new(None).read(bytes).entries {
        if entry.agent.as_ref() != agent {
            continue;
        }
        match entry.event {
            Event::Prompt { text, .. } => {
                found = Some(Last {
                    prompt: Some(text),
                    prompted_at: entry.at,
                    answer: String::new(),
                });
            }
            Event::Said(text) => found.get_or_insert_with(Last::default).answer = text,
            // A tool call continues the turn.
            Event::Call(_) => found.get_or_insert_with(Last::default).answer.clear(),
            _ => {}
        }
    }
    found
}

/// The length of a regular file; `None` if there is none. Other kinds of files may have no end.
pub(crate) fn length(path: &Path) -> io::Result<Option<u64>> {
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => Ok(Some(metadata.len())),
        Ok(_) => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads up to `max_bytes` bytes of a regular file from an offset.
///
/// # Errors
/// The file cannot be read, or is not a regular file: opening a pipe would block until it has a writer.
pub(crate) fn read_range(path: &Path, from: u64, max_bytes: u64) -> io::Result<Vec<u8>> {
    if length(path)?.is_none() {
        return Err(io::ErrorKind::NotFound.into());
    }
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(max_bytes).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The working directory in the session's first line of a transcript.
pub(crate) fn first_directory(transcript: &Path, session: &str) -> Option<PathBuf> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Line {
        session_id: String,
        cwd: PathBuf,
    }
    let beginning = read_range(transcript, 0, HEAD_BYTES).ok()?;
    let lines = beginning.split(|byte| *byte == b'\n');
    let mut lines = lines.filter_map(|line| serde_json::from_slice::<Line>(line).ok());
    lines.find(|line| line.session_id == session).map(|line| line.cwd)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resume::{SessionRef, new_session, parent_session};
    use crate::testing::session_ref;
    use std::fs;
    use std::sync::Arc;
    use std::time::Duration;

    fn new_follower(session_ref: &SessionRef) -> TranscriptFollower {
        let mut session = new_session(session_ref);
        // Entries that are older than the session are history.
        session.started_at = time::OffsetDateTime::UNIX_EPOCH;
        TranscriptFollower::resume(session, &[], Arc::new(grov_rules::extract_intent))
    }

    fn call(id: &str, padding: usize) -> String {
        let content = "x".repeat(padding);
        format!(
            r#"{{"type":"assistant","sessionId":"s","timestamp":"2026-01-02T03:04:05.000Z","message":{{"id":"m","model":"m","content":[{{"type":"tool_use","id":"{id}","name":"Write","input":{{"file_path":"/p/a","content":"{content}"}}}}]}}}}"#
        ) + "\n"
    }

    fn long() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    #[test]
    fn a_line_longer_than_a_portion_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let longer = usize::try_from(CHUNK_BYTES).unwrap() * 3;
        let text = [call("a", 10), call("b", longer), call("c", 10)].concat();
        let session_ref = session_ref(folder.path(), &text);
        let mut follower = new_follower(&session_ref);
        assert!(catch_up(&mut follower, long()).unwrap());
        assert_eq!(follower.session().actions, 3);
        assert_eq!(follower.session().read_to, text.len() as u64);
    }

    #[test]
    fn an_incomplete_line_is_read_later() {
        let folder = tempfile::tempdir().unwrap();
        let line = call("a", 10);
        let (new_session, rest) = line.split_at(40);
        let session_ref = session_ref(folder.path(), &(call("z", 1) + new_session));
        let mut follower = new_follower(&session_ref);
        assert!(catch_up(&mut follower, long()).unwrap());
        assert_eq!(follower.session().actions, 1);
        let path = session_ref.transcript.as_ref().unwrap();
        let whole = fs::read_to_string(path).unwrap() + rest;
        fs::write(path, whole).unwrap();
        assert!(catch_up(&mut follower, long()).unwrap());
        assert_eq!(follower.session().actions, 2);
    }

    #[test]
    fn at_the_deadline_a_long_transcript_is_followed_in_part() {
        let folder = tempfile::tempdir().unwrap();
        let read_range = usize::try_from(CHUNK_BYTES).unwrap();
        let text: String = (0..8)
            .map(|number| call(&format!("c{number}"), read_range / 3))
            .collect();
        let session_ref = session_ref(folder.path(), &text);
        let mut follower = new_follower(&session_ref);
        assert!(!catch_up(&mut follower, Instant::now()).unwrap());
        let some = follower.session().actions;
        assert!(some > 0 && some < 8, "{some}");
        assert!(catch_up(&mut follower, long()).unwrap());
        assert_eq!(follower.session().actions, 8);
    }

    #[test]
    fn a_missing_transcript_is_not_an_error() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["missing.jsonl", ""] {
            let session_ref = SessionRef {
                session: "s".to_owned(),
                directory: folder.path().to_owned(),
                transcript: Some(folder.path().join(path)),
            };
            let mut follower = new_follower(&session_ref);
            assert!(catch_up(&mut follower, long()).unwrap(), "{path:?}");
        }
    }

    #[test]
    fn the_last_answer_follows_the_last_prompt() {
        let folder = tempfile::tempdir().unwrap();
        let typed = |text: &str| {
            format!(
                "{{\"type\":\"user\",\"sessionId\":\"s\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
            )
        };
        let message = |text: &str| {
            format!(
                "{{\"type\":\"assistant\",\"sessionId\":\"s\",\"message\":{{\"id\":\"m\",\"model\":\"m\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}\n"
            )
        };
        let turn = [typed("go"), message("First."), call("a", 1), message("Done.")].concat();
        let one = session_ref(folder.path(), &turn);
        let expected = Last {
            prompt: Some("go".to_owned()),
            prompted_at: None,
            answer: "Done.".to_owned(),
        };
        assert_eq!(last(one.transcript.as_deref()), expected);
        for rest in [typed("on"), call("b", 1)] {
            let two = session_ref(folder.path(), &(turn.clone() + &rest));
            assert_eq!(last(two.transcript.as_deref()).answer, "");
        }
        assert_eq!(last(None), Last::default());
    }

    #[test]
    fn a_subagents_last_answer_is_in_its_own_transcript() {
        let folder = tempfile::tempdir().unwrap();
        let agent = AgentId::new("a1");
        let path = subagent_transcript(&folder.path().join("s.jsonl"), &agent);
        assert_eq!(path, folder.path().join("s/subagents/agent-a1.jsonl"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let message = r#"{"type":"assistant","isSidechain":true,"agentId":"a1","sessionId":"s","message":{"id":"m","model":"m","content":[{"type":"text","text":"Three lines."}]}}"#;
        fs::write(&path, format!("{message}\n")).unwrap();
        assert_eq!(last_messages_of(Some(&agent), Some(&path)).answer, "Three lines.");
        assert_eq!(last(Some(&path)).answer, "");
    }

    #[test]
    fn the_last_answer_is_found_before_long_entries() {
        let folder = tempfile::tempdir().unwrap();
        let message = r#"{"type":"assistant","sessionId":"s","message":{"id":"m","model":"m","content":[{"type":"text","text":"The tests are left."}]}}"#;
        let padding = "x".repeat(usize::try_from(TAIL_BYTES).unwrap());
        let long =
            format!("{{\"type\":\"attachment\",\"sessionId\":\"s\",\"text\":\"{padding}\"}}\n").repeat(5);
        let one = session_ref(folder.path(), &format!("{message}\n{long}"));
        assert_eq!(last(one.transcript.as_deref()).answer, "The tests are left.");
    }

    #[test]
    fn the_first_directory_is_in_the_sessions_first_line() {
        let folder = tempfile::tempdir().unwrap();
        let line = |session: &str, cwd: &str| format!("{{\"sessionId\":\"{session}\",\"cwd\":\"{cwd}\"}}\n");
        let text = [
            "{\"type\":\"mode\",\"sessionId\":\"s\"}\n".to_owned(),
            line("old", "/elsewhere"),
            line("s", "/here"),
            line("s", "/later"),
        ]
        .concat();
        let session_ref = session_ref(folder.path(), &text);
        let transcript = session_ref.transcript.as_deref().unwrap();
        assert_eq!(first_directory(transcript, "s"), Some(PathBuf::from("/here")));
        assert_eq!(first_directory(transcript, "other"), None);
        assert_eq!(first_directory(&folder.path().join("none"), "s"), None);
    }

    #[test]
    fn a_pipe_is_not_opened_as_a_transcript() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        let session_ref = SessionRef {
            session: "s".to_owned(),
            directory: folder.path().to_owned(),
            transcript: Some(path.clone()),
        };
        assert!(read_range(&path, 0, HEAD_BYTES).is_err());
        assert_eq!(parent_session(&session_ref), None);
        assert_eq!(last(Some(&path)), Last::default());
        assert!(catch_up(&mut new_follower(&session_ref), long()).unwrap());
    }
}
