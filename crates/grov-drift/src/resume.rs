//! Loads a session from the store, or starts a new one.

use crate::delivery_log::DeliveryLog;
use crate::follower::TranscriptFollower;
use crate::transcript_file::{HEAD_BYTES, read_range};
use grov_domain::{
    ClientSessionId, Clock, GoalEdit, GuardRecord, HookSession, Intent, IntentQuestion, StoreConnection,
    StoreError, SwitchScope, SystemClock,
};
use grov_project::ProjectLocation;
use grov_redact::Redactor;
use grov_rules::IntentCache;
use grov_runtime::Home;
use grov_session::{IntentReader, ReadIntent};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;
use time::OffsetDateTime;

/// A client session and its paths.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SessionRef {
    /// The client's session id.
    pub(crate) session: String,
    /// The working directory.
    pub(crate) directory: PathBuf,
    /// The session's transcript.
    pub(crate) transcript: Option<PathBuf>,
}

impl SessionRef {
    pub(crate) fn id(&self) -> ClientSessionId {
        ClientSessionId::new(self.session.as_str())
    }
}

/// Resumes the stored session, or starts a new one.
pub(crate) async fn resume(
    store: &dyn StoreConnection,
    home: &Home,
    session_ref: &SessionRef,
    read: IntentReader,
) -> Result<TranscriptFollower, StoreError> {
    resume_since(store, home, session_ref, None, read).await
}

/// Like [`resume`]; a new session starts at `since` if that is earlier than now.
pub(crate) async fn resume_since(
    store: &dyn StoreConnection,
    home: &Home,
    session_ref: &SessionRef,
    since: Option<OffsetDateTime>,
    read: IntentReader,
) -> Result<TranscriptFollower, StoreError> {
    let id = session_ref.id();
    let session = match store.hook_session(&id).await? {
        Some(session) => session,
        None => {
            let mut session = start_session(store, home, session_ref).await?;
            session.started_at = since.map_or(session.started_at, |since| since.min(session.started_at));
            session
        }
    };
    let edits = store.goal_edits(&id).await?;
    let mut follower = TranscriptFollower::resume(session, &edits, read);
    follower.apply_guard_log(&store.guard_log(&id).await?);
    let session = follower.session_mut();
    if let Some(transcript) = &session_ref.transcript {
        session.transcript_path = Some(transcript.to_string_lossy().into_owned());
    }
    Ok(follower)
}

/// A prompt reader with a cache.
struct CachedReader(Arc<IntentCache>);

impl ReadIntent for CachedReader {
    fn intent(&self, question: &IntentQuestion) -> Intent {
        self.0.extract_intent(question)
    }

    fn turns_away(&self, prompt: &str) -> bool {
        self.0.turns_away(prompt)
    }
}

/// A prompt reader that caches in `intents`.
pub(crate) fn reader(intents: &Arc<IntentCache>) -> IntentReader {
    Arc::new(CachedReader(Arc::clone(intents)))
}

/// Loads how rules read the instructions of a stored session, so that they need not be read again.
pub(crate) fn load_readings(intents: &IntentCache, session: &HookSession) {
    if let Some(readings) = &session.prompt_readings {
        intents.load(readings, &session.contract.instructions);
    }
}

/// A prompt reader with its own cache.
pub(crate) fn intent_reader() -> IntentReader {
    reader(&Arc::default())
}

/// Starts a new session, with the state inherited from a parent.
pub(crate) async fn start_session(
    store: &dyn StoreConnection,
    home: &Home,
    session_ref: &SessionRef,
) -> Result<HookSession, StoreError> {
    if let Some(earlier) = parent_session(session_ref) {
        inherit_session(store, home, &earlier, &session_ref.id()).await?;
    }
    Ok(new_session(session_ref))
}

/// A new session.
pub(crate) fn new_session(session_ref: &SessionRef) -> HookSession {
    let project = ProjectLocation::locate(&session_ref.directory).project();
    let directory = session_ref.directory.to_string_lossy().into_owned();
    let mut session = HookSession::new(
        session_ref.id(),
        project.key().to_owned(),
        directory,
        SystemClock.now(),
    );
    let transcript = session_ref.transcript.as_ref();
    session.transcript_path = transcript.map(|path| path.to_string_lossy().into_owned());
    session
}

/// The session whose history was copied to the beginning of this transcript.
pub(crate) fn parent_session(session_ref: &SessionRef) -> Option<ClientSessionId> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Line {
        #[serde(default)]
        session_id: Option<String>,
    }
    let beginning = read_range(session_ref.transcript.as_deref()?, 0, HEAD_BYTES).ok()?;
    let lines = beginning.split(|byte| *byte == b'\n');
    let sessions = lines.filter_map(|line| serde_json::from_slice::<Line>(line).ok()?.session_id);
    let mut others = sessions.filter(|session| *session != session_ref.session);
    others.next().map(ClientSessionId::new)
}

/// Copies delivered memories, goal edits, allowed subjects and the off switch of `from` to `to`. Idempotent.
pub(crate) async fn inherit_session(
    store: &dyn StoreConnection,
    home: &Home,
    from: &ClientSessionId,
    to: &ClientSessionId,
) -> Result<(), StoreError> {
    if let (Some(theirs), Some(own)) = (
        DeliveryLog::of(home.root(), from),
        DeliveryLog::of(home.root(), to),
    ) {
        let known = own.read();
        let delivered: Vec<_> = theirs.read().difference(&known).cloned().collect();
        if !delivered.is_empty() {
            // If this fails, a memory may be delivered twice.
            let _ = own.add(&delivered);
        }
    }
    for edit in store.goal_edits(from).await? {
        // The edit keeps its id, which is unique only within a session.
        let edit = GoalEdit {
            client_session_id: to.clone(),
            ..edit
        };
        store.edit_goal(&Redactor::shared().clean(edit)).await?;
    }
    for guarded in store.guard_log(from).await? {
        if guarded.ran {
            let guarded = GuardRecord {
                client_session_id: to.clone(),
                ..guarded
            };
            store
                .save_guard_record(&Redactor::shared().clean(guarded))
                .await?;
        }
    }
    let off = store.switched_off().await?;
    if off.contains(&SwitchScope::Session(from.clone())) {
        store.switch(&SwitchScope::Session(to.clone()), false).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{services, session_ref};
    use grov_domain::{GoalEditId, GoalEditKind, GuardVerdict};
    use grov_runtime::Environment;

    #[test]
    fn a_fork_inherits_edits_approvals_and_the_off_switch_once() {
        let folder = tempfile::tempdir().unwrap();
        let inputs = Environment::default();
        let home = Home::locate(Some(&folder.path().join("home")), &inputs).unwrap();
        home.create().unwrap();
        let [from, to] = ["old", "new"].map(ClientSessionId::new);
        let guarded = |call: &str, ran| GuardRecord {
            client_session_id: from.clone(),
            tool_use_id: call.to_owned(),
            verdict: GuardVerdict::Ask,
            subject: call.to_owned(),
            reason: "it was forbidden".to_owned(),
            ran,
            at: SystemClock.now(),
        };
        let runtime = crate::runtime().unwrap();
        runtime.block_on(async {
            let store = services(home.database()).stores.open(None).await.unwrap();
            let store = &*store;
            let edit = GoalEdit {
                id: GoalEditId::fresh(),
                client_session_id: from.clone(),
                kind: GoalEditKind::Forbid,
                text: "src/db/**".to_owned(),
                at: SystemClock.now(),
                since_prompt: None,
            };
            store.edit_goal(&Redactor::shared().clean(edit)).await.unwrap();
            store
                .save_guard_record(&Redactor::shared().clean(guarded("yes", true)))
                .await
                .unwrap();
            store
                .save_guard_record(&Redactor::shared().clean(guarded("no", false)))
                .await
                .unwrap();
            store
                .switch(&SwitchScope::Session(from.clone()), false)
                .await
                .unwrap();
            for _ in 0..2 {
                inherit_session(store, &home, &from, &to).await.unwrap();
            }
            let edits = store.goal_edits(&to).await.unwrap();
            let edits: Vec<&str> = edits.iter().map(|edit| edit.text.as_str()).collect();
            assert_eq!(edits, ["src/db/**"]);
            let log = store.guard_log(&to).await.unwrap();
            let log: Vec<(&str, bool)> = log
                .iter()
                .map(|guarded| (guarded.subject.as_str(), guarded.ran))
                .collect();
            assert_eq!(log, [("yes", true)]);
            let off = store.switched_off().await.unwrap();
            assert!(off.contains(&SwitchScope::Session(to.clone())), "{off:?}");
        });
    }

    #[test]
    fn the_parent_session_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let of = |session: &str| format!("{{\"type\":\"user\",\"sessionId\":\"{session}\"}}\n");
        let fork = session_ref(
            folder.path(),
            &["{\"type\":\"mode\"}\n", &of("old"), &of("s")].concat(),
        );
        assert_eq!(parent_session(&fork), Some(ClientSessionId::new("old")));
        let own = session_ref(folder.path(), &(of("s") + "no json\n"));
        assert_eq!(parent_session(&own), None);
    }
}
