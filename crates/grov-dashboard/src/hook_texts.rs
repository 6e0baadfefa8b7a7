//! What hooks said to an agent, and what was typed without the proxy, is in the client's transcript, which only the command
//! line reads: its answers, kept for a while.

use crate::commands::Commands;
use grov_domain::{ClientSessionId, TaskId};
use grov_query::{InjectionView, PromptView, Transcribed};
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Sessions whose texts are kept.
const MOST: usize = 32;
/// How long an answer is used while the session goes on: reading a long transcript takes a while.
const FRESH: Duration = Duration::from_secs(2);

/// The texts of sessions.
#[derive(Default)]
pub(crate) struct HookTexts(Mutex<HashMap<ClientSessionId, Kept>>);

struct Kept {
    /// The time of the session's newest activity.
    as_of: OffsetDateTime,
    read_at: Instant,
    texts: Arc<Transcribed>,
}

impl HookTexts {
    /// Returns what the transcript of a session has; `None` if it cannot be read.
    pub(crate) async fn of(
        &self,
        commands: &dyn Commands,
        session: &ClientSessionId,
        as_of: OffsetDateTime,
    ) -> Option<Arc<Transcribed>> {
        if let Some(texts) = self.kept(session, as_of) {
            return Some(texts);
        }
        let answer = commands.run(&["injected", "--", session.as_str()]).await;
        let answer = answer
            .inspect_err(|error| tracing::debug!(%error, "the texts of hooks cannot be read"))
            .ok()?;
        let said = answer["injections"].as_array()?.iter().filter_map(view);
        let prompts = answer["prompts"].as_array().into_iter().flatten();
        let texts = Arc::new(Transcribed {
            said: said.collect(),
            prompts: prompts
                .filter_map(|one| PromptView::deserialize(one).ok())
                .collect(),
        });
        let kept = Kept {
            as_of,
            read_at: Instant::now(),
            texts: Arc::clone(&texts),
        };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST && !all.contains_key(session) {
            all.clear();
        }
        all.insert(session.clone(), kept);
        Some(texts)
    }

    fn kept(&self, session: &ClientSessionId, as_of: OffsetDateTime) -> Option<Arc<Transcribed>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = all.get(session)?;
        let is_usable = kept.as_of == as_of || kept.read_at.elapsed() < FRESH;
        is_usable.then(|| Arc::clone(&kept.texts))
    }
}

/// Reads a text as the command prints it.
fn view(value: &Value) -> Option<InjectionView> {
    let text = value["text"].as_str()?.to_owned();
    let one_of = |field: &str, names: &[&'static str]| {
        let name = value[field].as_str()?;
        names.iter().copied().find(|known| *known == name)
    };
    let memories = value["memories"].as_array().into_iter().flatten();
    Some(InjectionView {
        at: OffsetDateTime::parse(value["at"].as_str()?, &Rfc3339).ok()?,
        kind: one_of("kind", &["memory", "drift", "context"])?,
        place: one_of("place", &["prompt", "tool_result", "session_start"])?,
        path: one_of("path", &["proxy", "hooks"])?,
        bytes: text.len(),
        text,
        reason: value["reason"].as_str().map(str::to_owned),
        memories: memories.filter_map(Value::as_str).map(TaskId::new).collect(),
        followed: value["followed"].as_bool(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::CommandError;
    use async_trait::async_trait;
    use serde_json::json;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[derive(Default)]
    struct Counted(AtomicUsize);

    #[async_trait]
    impl Commands for Counted {
        async fn run(&self, words: &[&str]) -> Result<Value, CommandError> {
            assert_eq!(words, ["injected", "--", "--help"]);
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(json!({"injections": [
                {"at": "2026-01-02T03:04:05Z", "kind": "memory", "place": "prompt", "path": "hooks", "text": "t",
                 "reason": null, "memories": ["m"], "followed": null},
                {"at": "2026-01-02T03:04:05Z", "kind": "something newer", "text": "t"},
            ], "prompts": [{"at": "2026-01-02T03:04:05Z", "text": "typed"}, {"text": "no time"}]}))
        }
    }

    #[tokio::test]
    async fn texts_are_read_once_while_nothing_happens() {
        let (texts, commands) = (HookTexts::default(), Counted::default());
        // An id is no flag.
        let session = ClientSessionId::new("--help");
        let start = OffsetDateTime::UNIX_EPOCH;
        for _ in 0..3 {
            let found = texts.of(&commands, &session, start).await.unwrap();
            assert_eq!(
                (found.said.len(), found.said[0].path, found.said[0].memories.len()),
                (1, "hooks", 1)
            );
            assert_eq!(found.prompts.len(), 1);
            assert_eq!(found.prompts[0].text, "typed");
        }
        assert_eq!(commands.0.load(Ordering::Relaxed), 1);
    }
}
