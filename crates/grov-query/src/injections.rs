//! What was said to the agent of a session: memories, corrections, and context after a compaction.

use crate::hook_sessions;
use crate::memory_match::MemoryMatch;
use grov_domain::{
    ClientSessionId, Correction, CorrectionOutcome, Lineage, OWN_TEXT_CLOSING, OWN_TEXT_OPENING, SessionId,
    Store, StoreError, Task, TaskId,
};
use serde::Serialize;
use time::OffsetDateTime;

/// A text that was given to the agent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InjectionView {
    /// When.
    #[serde(with = "time::serde::rfc3339")]
    pub at: OffsetDateTime,
    /// `memory`, `drift` or `context`.
    pub kind: &'static str,
    /// `prompt`, `tool_result` or `session_start`.
    pub place: &'static str,
    /// Which path gave it: `proxy` or `hooks`.
    pub path: &'static str,
    /// The text as the agent received it.
    pub text: String,
    /// Its length.
    pub bytes: usize,
    /// Why: the deviation with its score, or the words and files that prompt and memories share, with their scores.
    pub reason: Option<String>,
    /// The memories that it quotes.
    pub memories: Vec<TaskId>,
    /// Whether the agent followed a correction; `None` while unknown, and for other text.
    pub followed: Option<bool>,
}

/// A text that a hook gave to the agent, as the client's transcript has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookedText {
    /// When.
    pub at: OffsetDateTime,
    /// The hook's event.
    pub event: String,
    /// The text.
    pub text: String,
    /// The newest prompt.
    pub prompt: String,
}

/// A text before its reason is known.
struct Said {
    at: OffsetDateTime,
    place: &'static str,
    path: &'static str,
    text: String,
    memories: Vec<TaskId>,
    prompt: String,
}

/// Returns what was said to the agent of a session on both paths, oldest first. `hooked` are the texts in its transcript,
/// `delivered` the memories that hooks delivered to it.
///
/// # Errors
/// Returns the store's error.
pub async fn injections(
    store: &dyn Store,
    session: &ClientSessionId,
    hooked: Vec<HookedText>,
    delivered: &[TaskId],
) -> Result<Vec<InjectionView>, StoreError> {
    let mut said = on_the_wire(store, session).await?;
    said.extend(by_hooks(store, hooked, delivered).await?);
    said.sort_by_key(|one| one.at);
    let mut corrections = store.corrections(session).await?;
    let checks = store.hook_checks(session).await?;
    corrections.extend(hook_sessions::corrections(session, &checks));
    add_unseen(&mut said, &corrections);
    let project = project_of(store, session).await?;
    let mut views = Vec::with_capacity(said.len());
    for one in said {
        views.push(view(store, &project, one, &corrections).await?);
    }
    views.sort_by_key(|view| view.at);
    Ok(views)
}

/// What the injection ledger of the main conversation has. Subagents receive nothing.
async fn on_the_wire(store: &dyn Store, session: &ClientSessionId) -> Result<Vec<Said>, StoreError> {
    let lineage = Lineage {
        session: session.clone(),
        agent: None,
    };
    let ledger = store.lineage(&lineage).await?.unwrap_or_default();
    let tasks: Vec<SessionId> = store
        .client_session(session)
        .await?
        .into_iter()
        .map(|task| task.state.session_id)
        .collect();
    let mut said = Vec::new();
    for entry in ledger.entries {
        let Some(block) = entry.block else { continue };
        let block: serde_json::Value = serde_json::from_str(&block).unwrap_or_default();
        let text = block["text"].as_str().unwrap_or_default();
        let mut prompt = String::new();
        for task in &tasks {
            let prompts = store.prompts(task, Some(entry.decided_at)).await?;
            prompt = prompts.last().map_or(prompt, |last| last.text.clone());
        }
        said.extend(framed_parts(text).map(|part| Said {
            at: entry.decided_at,
            // Within a tool loop the text is framed as the client frames its own reminders.
            place: match text.trim_start().starts_with(OWN_TEXT_OPENING) {
                true => "prompt",
                false => "tool_result",
            },
            path: "proxy",
            memories: match kind_of(&part) {
                "memory" => entry.memories.clone(),
                _ => Vec::new(),
            },
            text: part,
            prompt: prompt.clone(),
        }));
    }
    Ok(said)
}

async fn by_hooks(
    store: &dyn Store,
    hooked: Vec<HookedText>,
    delivered: &[TaskId],
) -> Result<Vec<Said>, StoreError> {
    let known = store.memories(delivered).await?;
    let mut said = Vec::new();
    for one in hooked {
        for text in framed_parts(&one.text) {
            let quoted = known.iter().filter(|task| quotes(&text, task));
            said.push(Said {
                at: one.at,
                place: match one.event.as_str() {
                    "SessionStart" => "session_start",
                    "UserPromptSubmit" => "prompt",
                    _ => "tool_result",
                },
                path: "hooks",
                memories: quoted.map(|task| task.id.clone()).collect(),
                text,
                prompt: one.prompt.clone(),
            });
        }
    }
    Ok(said)
}

/// Whether a text quotes a memory by its short id.
fn quotes(text: &str, task: &Task) -> bool {
    kind_of(text) == "memory" && text.contains(grov_memory::short_id(&task.id))
}

/// Adds corrections of which only the record remains, because the transcript or the ledger was removed.
fn add_unseen(said: &mut Vec<Said>, corrections: &[Correction]) {
    for correction in corrections {
        let Some(at) = correction.delivered_at else {
            continue;
        };
        if said.iter().any(|one| one.text.contains(&correction.text)) {
            continue;
        }
        said.push(Said {
            at,
            place: "prompt",
            // A hook's check has no step.
            path: if correction.step_id.is_some() {
                "proxy"
            } else {
                "hooks"
            },
            text: correction.text.clone(),
            memories: Vec::new(),
            prompt: String::new(),
        });
    }
}

/// The project of a session; empty if it is unknown.
async fn project_of(store: &dyn Store, session: &ClientSessionId) -> Result<String, StoreError> {
    let tasks = store.client_session(session).await?;
    if let Some(task) = tasks.into_iter().find(|task| !task.state.project_path.is_empty()) {
        return Ok(task.state.project_path);
    }
    let hooked = store.hook_session_summary(session).await?;
    Ok(hooked.map(|session| session.project_path).unwrap_or_default())
}

async fn view(
    store: &dyn Store,
    project: &str,
    said: Said,
    corrections: &[Correction],
) -> Result<InjectionView, StoreError> {
    let correction = corrections
        .iter()
        .rev()
        .find(|known| said.text.contains(&known.text));
    let kind = match correction {
        Some(_) => "drift",
        None => kind_of(&said.text),
    };
    let reason = match (kind, correction) {
        (_, Some(correction)) => Some(format!("score {} of 10: {}", correction.score, correction.reason)),
        ("memory", _) if said.place == "session_start" => {
            Some("the newest memories of the project, at the start of the session".to_owned())
        }
        ("memory", _) => {
            let found = MemoryMatch::of(store, project, &said.prompt, said.at, &said.memories).await?;
            Some(found.iter().map(MemoryMatch::text).collect::<Vec<_>>().join("; "))
        }
        ("context", _) => Some("the history was compacted".to_owned()),
        _ => None,
    };
    Ok(InjectionView {
        at: said.at,
        kind,
        place: said.place,
        path: said.path,
        bytes: said.text.len(),
        text: said.text,
        reason: reason.filter(|reason| !reason.is_empty()),
        memories: said.memories,
        followed: correction.and_then(|correction| match correction.outcome {
            Some(CorrectionOutcome::Followed) => Some(true),
            Some(CorrectionOutcome::Ignored) => Some(false),
            Some(CorrectionOutcome::Overtaken) | None => None,
        }),
    })
}

/// The kind of a text, which its first line names.
fn kind_of(text: &str) -> &'static str {
    let opening = text.find(OWN_TEXT_OPENING).map_or("", |start| &text[start..]);
    let opening = opening.split('>').next().unwrap_or_default();
    if opening.contains("source=\"team-memory\"") {
        "memory"
    } else if opening.contains("source=\"drift\"") {
        "drift"
    } else {
        "context"
    }
}

/// The texts of Grov in a text, each with its frame.
fn framed_parts(text: &str) -> impl Iterator<Item = String> {
    let parts = text.split_inclusive(OWN_TEXT_CLOSING);
    let part = |part: &str| {
        let start = part.find(OWN_TEXT_OPENING)?;
        Some(part[start..].to_owned())
    };
    parts.filter_map(part).collect::<Vec<_>>().into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_told_apart_by_their_frames() {
        let text = "<system-reminder>\n<grov-context source=\"drift\" level=\"halt\">\nstop\n</grov-context>\n\
             </system-reminder>\n<grov-context source=\"team-memory\">\nx\n</grov-context> and more";
        let parts: Vec<String> = framed_parts(text).collect();
        assert_eq!(parts.len(), 2, "{parts:?}");
        assert_eq!((kind_of(&parts[0]), kind_of(&parts[1])), ("drift", "memory"));
        assert!(parts[0].ends_with("stop\n</grov-context>"));
        assert_eq!(kind_of("<grov-context source=\"session\">x"), "context");
        assert_eq!(framed_parts("nothing of ours").count(), 0);
    }
}
