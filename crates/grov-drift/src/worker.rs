//! The work after a turn, in the background: follows the transcript and saves the task.

mod save;

use crate::error::HookError;
use crate::error_log::log_error;
use crate::follower::TranscriptFollower;
use crate::hook::settings;
use crate::private_file;
use crate::resume::{SessionRef, intent_reader, resume_since};
use crate::services::Services;
use crate::transcript_file::{
    catch_up, catch_up_subagents, last, last_messages_of, length, subagent_transcript,
};
use grov_domain::{AgentId, Clock, HookCheck, HookSession, StoreConnection, StoreError, SystemClock};
use grov_hooks::event;
use grov_redact::Redactor;
use grov_runtime::{Environment, Home, Settings};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};
use time::OffsetDateTime;

/// Time limit for following a transcript.
const FOLLOW_TIMEOUT: Duration = Duration::from_secs(60);
/// How long to wait for the last message to appear in the transcript.
const TRANSCRIPT_TIMEOUT: Duration = Duration::from_secs(3);
const RETRY_INTERVAL: Duration = Duration::from_millis(25);
/// How long to wait for other workers in the lane, which may call models.
const LOCK_TIMEOUT: Duration = Duration::from_secs(180);
/// Retries if another process wrote or memory was deleted at the same time.
const MAX_ATTEMPTS: usize = 8;

/// Work after a turn, a subagent or a session.
#[derive(Debug, Serialize, Deserialize)]
pub struct Work {
    #[serde(rename = "whose")]
    pub(crate) session_ref: SessionRef,
    /// The event's name.
    pub(crate) event: String,
    /// The agent's last message; empty if unknown.
    pub(crate) answer: String,
    /// The subagent that ended.
    #[serde(default)]
    pub(crate) agent: Option<String>,
}

impl Work {
    /// The client's session id.
    pub fn session(&self) -> &str {
        &self.session_ref.session
    }

    /// Number of lanes. Work in one lane runs sequentially, across processes.
    pub const LANES: usize = 64;

    /// The lane, below [`Work::LANES`]: the same for all work on a session.
    pub fn lane(&self) -> usize {
        lane(&self.session_ref.session)
    }

    /// How long to wait for earlier work in the lane.
    pub fn lock_timeout(&self) -> Duration {
        if self.event == event::SUBAGENT_STOP {
            Duration::ZERO
        } else {
            LOCK_TIMEOUT
        }
    }

    /// Drops the work because the lane was busy for too long.
    ///
    /// # Errors
    /// Always, except for the end of a subagent, which is followed at the end of the turn.
    pub fn abandon(self) -> Result<(), HookError> {
        if self.lock_timeout().is_zero() {
            return Ok(());
        }
        Err(HookError::LaneBusy { event: self.event })
    }

    /// Runs the work on this thread. Takes seconds, or minutes if the lane is busy or models are called.
    ///
    /// # Errors
    /// The work failed. The next hook of the session continues.
    pub fn run(self, home: &Home, environment: &Environment, services: &Services) -> Result<(), HookError> {
        let timeout = self.lock_timeout();
        match self.run_within(home, environment, services, timeout)? {
            Some(work) => work.abandon(),
            None => Ok(()),
        }
    }

    /// Runs the work on this thread; returns it unchanged if the lane is busy.
    ///
    /// # Errors
    /// As [`Work::run`].
    pub fn try_run(
        self,
        home: &Home,
        environment: &Environment,
        services: &Services,
    ) -> Result<Option<Self>, HookError> {
        self.run_within(home, environment, services, Duration::ZERO)
    }

    fn run_within(
        self,
        home: &Home,
        environment: &Environment,
        services: &Services,
        timeout: Duration,
    ) -> Result<Option<Self>, HookError> {
        // One worker at a time per session.
        let lock = lock(home, &self.session_ref.session, timeout).map_err(HookError::Lock)?;
        let Some(_lock) = lock else {
            return Ok(Some(self));
        };
        // Under the lock, so that the end of the session does not overtake the end of its last turn.
        if ends_a_turn(&self.event) {
            wait_for_transcript(&self);
        }
        let directory = Some(self.session_ref.directory.as_path()).filter(|directory| directory.is_dir());
        let worker = TurnWorker {
            settings: settings(home, environment, directory)?,
            home,
            environment,
            services,
            work: self,
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(HookError::Runtime)?;
        runtime.block_on(worker.run())?;
        Ok(None)
    }
}

/// Whether the event carries a last message.
fn ends_a_turn(event: &str) -> bool {
    matches!(event, event::STOP | event::STOP_FAILURE | event::SUBAGENT_STOP)
}

/// Waits until the last message is in the transcript: the client reports the end of a turn earlier. A subagent has its own
/// transcript.
fn wait_for_transcript(work: &Work) {
    let answer = work.answer.trim();
    let agent = work.agent.as_deref().map(AgentId::new);
    let own = work.session_ref.transcript.as_deref();
    let path = match &agent {
        Some(agent) => own.map(|transcript| subagent_transcript(transcript, agent)),
        None => own.map(Path::to_owned),
    };
    let transcript = path.as_deref();
    let until = Instant::now() + TRANSCRIPT_TIMEOUT;
    let is_there = || {
        let last = last_messages_of(agent.as_ref(), transcript).answer;
        // Event and transcript contain different parts of long messages.
        last.trim() == answer || last.chars().count() >= 1_000
    };
    let length = || transcript.and_then(|path| length(path).ok().flatten());
    let mut checked_length = None;
    while !answer.is_empty() && Instant::now() < until {
        let length = length();
        if checked_length != Some(length) {
            if is_there() {
                break;
            }
            checked_length = Some(length);
        }
        std::thread::sleep(RETRY_INTERVAL);
    }
}

/// The lane of a session.
fn lane(session: &str) -> usize {
    let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(session);
    usize::try_from(hash % Work::LANES as u64).unwrap_or_default()
}

/// Locks a session; `None` if another process holds the lock for longer than `timeout`.
fn lock(home: &Home, session: &str, timeout: Duration) -> io::Result<Option<File>> {
    let path = home.root().join(format!("hooks/working/{}.lock", lane(session)));
    private_file::lock(&path, timeout, RETRY_INTERVAL)
}

struct TurnWorker<'a> {
    home: &'a Home,
    environment: &'a Environment,
    services: &'a Services,
    settings: Settings,
    work: Work,
}

impl TurnWorker<'_> {
    async fn run(&self) -> Result<(), StoreError> {
        let store = self.services.stores.open(None).await?;
        let done = self.run_with(&*store).await;
        // No hook waits here. The next worker tries again.
        if let Err(error) = store.scrub_secrets().await {
            log_error(
                Some(self.home),
                format_args!("scrubbing secrets from old rows: {error}"),
            );
        }
        // Close in order, so that no later hook has to replay a long write-ahead log.
        let closed = store.close().await;
        done.and(closed)
    }

    async fn run_with(&self, store: &dyn StoreConnection) -> Result<(), StoreError> {
        let followed = self.follow(store).await?;
        let is_turn = matches!(
            self.work.event.as_str(),
            event::STOP | event::STOP_FAILURE | event::SESSION_END
        );
        if is_turn {
            for _ in 0..MAX_ATTEMPTS {
                if self.save(store, followed).await? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Follows the session and its subagents.
    async fn follow(&self, store: &dyn StoreConnection) -> Result<Followed, StoreError> {
        let home = self.home;
        let is_end = self.work.event == event::SESSION_END;
        let intents = intent_reader();
        let turn_began = last(self.work.session_ref.transcript.as_deref()).prompted_at;
        for _ in 0..MAX_ATTEMPTS {
            let mut follower =
                resume_since(store, home, &self.work.session_ref, turn_began, intents.clone()).await?;
            let before = follower.session().updated_at;
            let known = (follower.session().prompts, follower.session().actions);
            let is_at_end =
                catch_up(&mut follower, Instant::now() + FOLLOW_TIMEOUT).unwrap_or_else(|error| {
                    log_error(Some(home), HookError::Transcript(error));
                    false
                });
            catch_up_subagents(&mut follower);
            let is_turn_end = matches!(self.work.event.as_str(), event::STOP | event::STOP_FAILURE);
            if is_turn_end && is_at_end && self.settings.drift().enabled {
                follower.settle(SystemClock.now());
            }
            let session = follower.session();
            let is_new = (session.prompts, session.actions) != known;
            let now = SystemClock.now();
            if is_end {
                follower.session_mut().ended_at = Some(now);
            }
            let mut progress = follower.into_progress(now);
            if is_end && self.settings.drift().enabled {
                progress.check = self.unreported_check(store, &progress.session, now).await?;
                let score = progress.check.as_ref().map(|check| check.score);
                progress.session.drift_score = score.or(progress.session.drift_score);
            }
            if store
                .save_hook_progress(&Redactor::shared().clean(progress))
                .await?
            {
                return Ok(Followed { is_new, before });
            }
        }
        Err(StoreError::Busy(
            "other hooks kept writing to the session".to_owned(),
        ))
    }

    /// A check at the end of a session, stored without a correction. If the session is resumed, it is checked again and this
    /// one replaced.
    async fn unreported_check(
        &self,
        store: &dyn StoreConnection,
        session: &HookSession,
        now: OffsetDateTime,
    ) -> Result<Option<HookCheck>, StoreError> {
        let edits = store.goal_edits(&session.client_session_id).await?;
        let mut follower = TranscriptFollower::resume(session.clone(), &edits, intent_reader());
        follower.set_corrects(false);
        Ok(follower.check(now))
    }
}

/// The result of following a session.
#[derive(Clone, Copy, Debug)]
struct Followed {
    /// The transcript had new entries.
    is_new: bool,
    /// When the session was last followed before.
    before: OffsetDateTime,
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_domain::Task;
    use grov_project::ProjectLocation;

    #[test]
    fn a_subagents_end_does_not_wait_for_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::locate(Some(&folder.path().join("home")), &Environment::default()).unwrap();
        let timeout = Duration::ZERO;
        let locked = lock(&home, "s", timeout).unwrap();
        assert!(locked.is_some());
        assert!(lock(&home, "s", timeout).unwrap().is_none());
        drop(locked);
        assert!(lock(&home, "s", timeout).unwrap().is_some());
        assert!(ends_a_turn(event::SUBAGENT_STOP) && !ends_a_turn(event::PRE_COMPACT));
        assert!(ends_a_turn(event::STOP) && ends_a_turn(event::STOP_FAILURE));
    }

    #[test]
    fn waiting_for_a_lock_is_limited() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::locate(Some(&folder.path().join("home")), &Environment::default()).unwrap();
        let _held = lock(&home, "s", Duration::ZERO).unwrap();
        assert!(lock(&home, "s", RETRY_INTERVAL).unwrap().is_none());
    }

    /// Runs the worker on a transcript and returns the saved tasks.
    fn saved_tasks(name: &str, lines: &[String], answer: &str) -> Vec<Task> {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        std::fs::create_dir_all(project.join(".git")).unwrap();
        let transcript = folder.path().join(format!("{name}.jsonl"));
        std::fs::write(
            &transcript,
            lines.concat().replace("{cwd}", &project.to_string_lossy()),
        )
        .unwrap();
        let environment = Environment::default();
        let home = Home::locate(Some(&folder.path().join("home")), &environment).unwrap();
        home.create().unwrap();
        let services = crate::testing::services(home.database());
        for event in [event::STOP, event::SESSION_END] {
            let work = Work {
                session_ref: SessionRef {
                    session: name.to_owned(),
                    directory: project.clone(),
                    transcript: Some(transcript.clone()),
                },
                event: event.to_owned(),
                answer: answer.to_owned(),
                agent: None,
            };
            work.run(&home, &environment, &services).unwrap();
        }
        let runtime = crate::runtime().unwrap();
        runtime.block_on(async {
            let store = services.stores.open(None).await.unwrap();
            let id = grov_domain::ClientSessionId::new(name);
            assert!(
                store
                    .hook_session(&id)
                    .await
                    .unwrap()
                    .is_some_and(|session| session.actions == 1)
            );
            let key = ProjectLocation::locate(&project).project();
            store.tasks_for_project(key.key(), 10).await.unwrap()
        })
    }

    fn typed(session: &str, text: &str) -> String {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"u1\",\"sessionId\":\"{session}\",\"cwd\":\"{{cwd}}\",\
             \"timestamp\":\"2026-05-01T10:00:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
        )
    }

    /// A tool call, its result, and the last message.
    fn done(session: &str, tool: &str, input: &str, answer: &str) -> String {
        let message = |id: &str, block: &str| {
            format!(
                "{{\"type\":\"assistant\",\"uuid\":\"{id}\",\"sessionId\":\"{session}\",\"cwd\":\"{{cwd}}\",\
                 \"timestamp\":\"2026-05-01T10:00:01.000Z\",\
                 \"message\":{{\"id\":\"{id}\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[{block}]}}}}\n"
            )
        };
        let result = format!(
            "{{\"type\":\"user\",\"uuid\":\"u2\",\"sessionId\":\"{session}\",\"cwd\":\"{{cwd}}\",\
             \"timestamp\":\"2026-05-01T10:00:02.000Z\",\"message\":{{\"role\":\"user\",\"content\":\
             [{{\"type\":\"tool_result\",\"tool_use_id\":\"t1\",\"content\":\"ok\"}}]}}}}\n"
        );
        let call = format!("{{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"{tool}\",\"input\":{input}}}");
        let last = format!("{{\"type\":\"text\",\"text\":\"{answer}\"}}");
        [message("m1", &call), result, message("m2", &last)].concat()
    }

    #[test]
    fn a_question_without_changes_is_not_saved() {
        let answer = "It reads fifty rows at a time.";
        let read = r#"{"file_path":"{cwd}/src/page.rs"}"#;
        let lines = [
            typed("asked", "How does paging work in src/page.rs?"),
            done("asked", "Read", read, answer),
        ];
        assert_eq!(saved_tasks("asked", &lines, answer), []);
    }

    #[test]
    fn work_is_saved() {
        let answer = "Done: the page has a hundred rows now.";
        let edit = r#"{"file_path":"{cwd}/src/page.rs","old_string":"50","new_string":"100"}"#;
        let lines = [
            typed("worked", "Make pages a hundred rows long in src/page.rs"),
            done("worked", "Edit", edit, answer),
        ];
        assert_eq!(saved_tasks("worked", &lines, answer).len(), 1);
        let installed = [
            typed("installed", "Add left-pad"),
            done(
                "installed",
                "Bash",
                r#"{"command":"npm install left-pad"}"#,
                "Added.",
            ),
        ];
        assert_eq!(saved_tasks("installed", &installed, "Added.").len(), 1);
    }
}
