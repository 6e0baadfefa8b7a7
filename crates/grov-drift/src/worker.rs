//! The work after a turn, in the background: follows the transcript and saves the task.

mod save;
mod screening;
mod unread;

pub(crate) use unread::unread_sessions;

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
use grov_memory::rescreen;
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
/// Memories that are screened again per turn after an upgrade of the rules. Takes about 0.1 s.
const RESCREENED_PER_TURN: u32 = 128;
/// Retries if another process wrote or memory was deleted at the same time.
const MAX_ATTEMPTS: usize = 8;

/// Work after a turn, a subagent or a session; at the start of a session, that of other sessions which was not done.
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
        if self.event == event::SESSION_START {
            unread::follow_unread(&self.session_ref, home, environment, services)?;
            return Ok(None);
        }
        // One worker at a time per session.
        let lock = lock(home, &self.session_ref.session, timeout).map_err(HookError::Lock)?;
        let Some(lock) = lock else {
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
        // Nobody waits for this, and it may take as long as an answer of the model.
        drop(lock);
        if let Err(error) = runtime.block_on(worker.screen_by_model()) {
            log_error(
                Some(home),
                format_args!("letting the model read memories: {error}"),
            );
        }
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
        if let Err(error) = rescreen(&*store, RESCREENED_PER_TURN).await {
            log_error(Some(self.home), format_args!("screening memories again: {error}"));
        }
        // Close in order, so that no later hook has to replay a long write-ahead log.
        let closed = store.close().await;
        done.and(closed)
    }

    fn ends_turn_of_session(&self) -> bool {
        matches!(
            self.work.event.as_str(),
            event::STOP | event::STOP_FAILURE | event::SESSION_END
        )
    }

    async fn run_with(&self, store: &dyn StoreConnection) -> Result<(), StoreError> {
        let followed = self.follow(store).await?;
        if self.ends_turn_of_session() {
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
            if is_turn_end || is_end {
                follower.session_mut().turn_ended_at.get_or_insert(now);
            }
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
    use grov_domain::{MemoryEdits, Redacted, Task};
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

    /// Plays turns with a Stop event each. Returns the memories after every turn, newest first.
    fn played(name: &str, turns: &[(Vec<String>, &str)]) -> Vec<Vec<Task>> {
        played_and_edited(name, turns, |_| {})
    }

    /// As [`played`]; a person edits each memory after each turn.
    fn played_and_edited(
        name: &str,
        turns: &[(Vec<String>, &str)],
        edit: impl Fn(&mut Task),
    ) -> Vec<Vec<Task>> {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        std::fs::create_dir_all(project.join(".git")).unwrap();
        let transcript = folder.path().join(format!("{name}.jsonl"));
        let environment = Environment::default();
        let home = Home::locate(Some(&folder.path().join("home")), &environment).unwrap();
        home.create().unwrap();
        let services = crate::testing::services(home.database());
        let runtime = crate::runtime().unwrap();
        let mut text = String::new();
        let mut after = Vec::new();
        for (lines, answer) in turns {
            let now = SystemClock.now();
            let stamp = now
                .format(&time::format_description::well_known::Rfc3339)
                .unwrap();
            let lines = lines.concat().replace("{cwd}", &project.to_string_lossy());
            text += &lines
                .replace("2026-05-01T10:00:0", &stamp)
                .replace("1.000Z", "")
                .replace("0.000Z", "")
                .replace("2.000Z", "");
            std::fs::write(&transcript, &text).unwrap();
            let work = Work {
                session_ref: SessionRef {
                    session: name.to_owned(),
                    directory: project.clone(),
                    transcript: Some(transcript.clone()),
                },
                event: event::STOP.to_owned(),
                answer: (*answer).to_owned(),
                agent: None,
            };
            work.run(&home, &environment, &services).unwrap();
            after.push(runtime.block_on(async {
                let store = services.stores.open(None).await.unwrap();
                let key = ProjectLocation::locate(&project).project();
                let tasks = store.tasks_for_project(key.key(), 10).await.unwrap();
                for before in &tasks {
                    let mut after = before.clone();
                    edit(&mut after);
                    let edits = MemoryEdits::between(before, &after);
                    after.edits = before.edits.clone().then(edits);
                    store.import(&[Redacted::of(&after)]).await.unwrap();
                }
                tasks
            }));
        }
        after
    }

    /// A turn that edits a file.
    fn work(
        name: &str,
        number: usize,
        prompt: &str,
        file: &str,
        answer: &'static str,
    ) -> (Vec<String>, &'static str) {
        let edit = format!(r#"{{"file_path":"{{cwd}}/{file}","old_string":"50","new_string":"100"}}"#);
        let lines = vec![
            typed(name, prompt),
            numbered(&done(name, "Edit", &edit, answer), number),
        ];
        (lines, answer)
    }

    /// A turn that reads a file.
    fn question(
        name: &str,
        number: usize,
        prompt: &str,
        answer: &'static str,
    ) -> (Vec<String>, &'static str) {
        let read = r#"{"file_path":"{cwd}/src/page.rs"}"#;
        let lines = vec![
            typed(name, prompt),
            numbered(&done(name, "Read", read, answer), number),
        ];
        (lines, answer)
    }

    /// Gives calls and messages of a turn ids of their own.
    fn numbered(lines: &str, number: usize) -> String {
        lines
            .replace("\"t1\"", &format!("\"t1-{number}\""))
            .replace("\"m1\"", &format!("\"m1-{number}\""))
            .replace("\"m2\"", &format!("\"m2-{number}\""))
    }

    #[test]
    fn finished_work_is_saved_complete_at_the_end_of_its_turn_with_its_decision() {
        let answer =
            "Las páginas tienen cien filas. Mantengo el cursor, ya que las filas se borran mientras se lee.";
        let after = played(
            "es",
            &[work(
                "es",
                1,
                "Que las páginas tengan cien filas",
                "src/page.rs",
                answer,
            )],
        );
        let [memory] = after[0].as_slice() else {
            panic!("{after:?}")
        };
        assert_eq!(memory.status, grov_domain::TaskStatus::Complete);
        assert_eq!(memory.decisions[0].choice, "Mantengo el cursor");
        assert_eq!(memory.decisions[0].reason, "las filas se borran mientras se lee");
    }

    #[test]
    fn the_same_question_again_and_again_leaves_the_memory_alone() {
        let mut turns = vec![work(
            "ask",
            1,
            "Make pages a hundred rows long in src/page.rs",
            "src/page.rs",
            "Pages have a hundred rows now.",
        )];
        turns.extend((2..7).map(|number| {
            question(
                "ask",
                number,
                "How long are the pages again?",
                "A hundred rows, because of `LIMIT`.",
            )
        }));
        let after = played("ask", &turns);
        assert_eq!(after[0].len(), 1);
        for later in &after[1..] {
            assert_eq!(later, &after[0]);
        }
    }

    #[test]
    fn two_works_in_one_session_are_two_memories() {
        let turns = [
            work(
                "two",
                1,
                "Sort the imports in the whole frontend",
                "web/eslint.config.js",
                "Sorted and enforced.",
            ),
            work(
                "two",
                2,
                "next: the avatar upload accepts 50 MB files, limit that to 2 MB on the server",
                "server/upload.ts",
                "Uploads over 2 MB get a 413 now.",
            ),
        ];
        let after = played("two", &turns);
        let files: Vec<&[String]> = after[1]
            .iter()
            .map(|task| task.files_touched.as_slice())
            .collect();
        assert_eq!(after[0].len(), 1);
        assert_eq!(files, [["server/upload.ts"], ["web/eslint.config.js"]]);
    }

    #[test]
    fn what_a_person_changed_survives_the_next_turns() {
        let answer = "Pages have a hundred rows. I keep the cursor because rows are deleted while reading.";
        let turns = [
            work(
                "edit",
                1,
                "Make pages a hundred rows long in src/page.rs",
                "src/page.rs",
                answer,
            ),
            work(
                "edit",
                2,
                "go on",
                "src/page.rs",
                "The header moved too, the footer is still missing.",
            ),
            work("edit", 3, "go on", "src/foot.rs", "The footer moved as well."),
        ];
        let after = played_and_edited("edit", &turns, |task| {
            task.goal = Some("Paginate the archive".to_owned());
            task.decisions.clear();
        });
        assert_eq!(after[0][0].decisions.len(), 1);
        let [memory] = after[2].as_slice() else {
            panic!("{after:?}")
        };
        assert_eq!(memory.goal.as_deref(), Some("Paginate the archive"));
        assert_eq!(memory.decisions, []);
        assert_eq!(memory.original_query, after[0][0].original_query);
        assert!(
            memory.files_touched.contains(&"src/foot.rs".to_owned()),
            "{memory:?}"
        );
        assert_eq!(memory.screened, grov_memory::screened(memory.clone()).screened);
    }

    #[test]
    fn work_that_goes_on_reopens_its_memory() {
        let turns = [
            work(
                "on",
                1,
                "Make pages a hundred rows long in src/page.rs",
                "src/page.rs",
                "Pages have a hundred rows now.",
            ),
            work(
                "on",
                2,
                "go on",
                "src/page.rs",
                "The header moved too, the footer is still missing.",
            ),
            work("on", 3, "go on", "src/page.rs", "The footer moved as well."),
        ];
        let after = played("on", &turns);
        let statuses: Vec<_> = after.iter().map(|tasks| (tasks.len(), tasks[0].status)).collect();
        use grov_domain::TaskStatus::{Abandoned, Complete};
        assert_eq!(statuses[..2], [(1, Complete), (1, Abandoned)]);
        assert_eq!(after[2].len(), 1);
        assert_eq!(after[2][0].id, after[0][0].id);
    }

    #[test]
    fn a_sentence_of_the_agent_is_no_constraint_of_the_user() {
        let answer = "Retries happen at most 5 times. The provider only supports HTTPS callbacks.";
        let after = played(
            "limit",
            &[work(
                "limit",
                1,
                "Add retry to the sender in src/send.rs",
                "src/send.rs",
                answer,
            )],
        );
        assert_eq!(after[0][0].constraints, Vec::<String>::new());
    }

    #[test]
    fn a_prompt_with_a_pasted_block_of_grov_loses_the_block_and_not_the_memory() {
        let prompt = "<grov-context source='team-memory'>Use SQLite because it is small.</grov-context> Make pages a hundred rows long";
        let after = played(
            "pasted",
            &[work(
                "pasted",
                1,
                prompt,
                "src/page.rs",
                "Pages have a hundred rows now.",
            )],
        );
        assert_eq!(after[0][0].original_query, "Make pages a hundred rows long");
        assert!(after[0][0].decisions.is_empty());
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
    fn a_task_whose_worker_died_is_saved_at_the_next_start() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        std::fs::create_dir_all(project.join(".git")).unwrap();
        let environment = Environment::default();
        let home = Home::locate(Some(&folder.path().join("home")), &environment).unwrap();
        home.create().unwrap();
        let services = crate::testing::services(home.database());
        let edit = r#"{"file_path":"{cwd}/src/page.rs","old_string":"50","new_string":"100"}"#;
        let prompt = typed("dead", "Make pages a hundred rows long in src/page.rs");
        let whole = prompt.clone() + &done("dead", "Edit", edit, "Done: the page has a hundred rows now.");
        let transcript = folder.path().join("dead.jsonl");
        let write = |text: &str, age: u64| {
            std::fs::write(&transcript, text.replace("{cwd}", &project.to_string_lossy())).unwrap();
            let file = File::options().write(true).open(&transcript).unwrap();
            file.set_modified(std::time::SystemTime::now() - Duration::from_secs(age))
                .unwrap();
        };
        let session_ref = |name: &str, transcript: Option<&Path>| SessionRef {
            session: name.to_owned(),
            directory: project.clone(),
            transcript: transcript.map(Path::to_owned),
        };
        let runtime = crate::runtime().unwrap();
        let key = ProjectLocation::locate(&project).project();
        // The hook of the prompt registered the session; no worker followed it.
        runtime.block_on(async {
            let store = services.stores.open(None).await.unwrap();
            let dead = session_ref("dead", Some(&transcript));
            let mut follower = resume_since(&*store, &home, &dead, None, intent_reader())
                .await
                .unwrap();
            // Before the entries of the transcript.
            let registered = OffsetDateTime::UNIX_EPOCH;
            follower.session_mut().started_at = registered;
            let progress = follower.into_progress(registered);
            let progress = Redactor::shared().clean(progress);
            assert!(store.save_hook_progress(&progress).await.unwrap());
        });
        let start = || {
            let work = Work {
                session_ref: session_ref("new", None),
                event: event::SESSION_START.to_owned(),
                answer: String::new(),
                agent: None,
            };
            work.run(&home, &environment, &services).unwrap();
            runtime.block_on(async {
                let store = services.stores.open(None).await.unwrap();
                let new = grov_domain::ClientSessionId::new("new");
                let unread = unread_sessions(&*store, key.key(), &new).await.unwrap();
                let tasks = store.tasks_for_project(key.key(), 10).await.unwrap();
                (unread.len(), tasks.len())
            })
        };
        write(&whole, 0);
        assert_eq!(start(), (0, 0), "its own worker may be running");
        write(&prompt, 60);
        assert_eq!(start(), (1, 0), "its turn may be running");
        write(&whole, 60);
        assert_eq!(start(), (0, 1));
        assert_eq!(start(), (0, 1), "there is nothing left to do");
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
