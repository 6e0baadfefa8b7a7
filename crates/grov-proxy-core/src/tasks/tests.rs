use super::exchange::{RecordedExchange, SketchedAction};
use super::session::Session;
use super::{Context, TaskBoard, TaskOrchestrator};
use async_trait::async_trait;
use grov_domain::*;
use grov_store::{OpenOptions, SqliteStore};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use time::OffsetDateTime;

/// Answers as it was told to, and remembers what it was asked.
#[derive(Default)]
struct Script {
    verdicts: Mutex<VecDeque<TaskAnalysis>>,
    asked: Mutex<Vec<TaskContextQuestion>>,
    remembered: Mutex<Vec<ReasoningQuestion>>,
    /// What somebody forgets while the next question of this kind is answered.
    forgotten_meanwhile: Mutex<Option<Forgotten>>,
}

struct Forgotten {
    at: Question,
    tasks: Vec<TaskId>,
    store: Arc<SqliteStore>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Question {
    WhichTask,
    WhatToRemember,
}

impl Script {
    async fn time_passes(&self, question: Question) {
        let meanwhile = self
            .forgotten_meanwhile
            .lock()
            .unwrap()
            .take_if(|forgotten| forgotten.at == question);
        if let Some(Forgotten { tasks, store, .. }) = meanwhile {
            assert_eq!(MemoryStore::forget(&*store, &tasks).await.unwrap(), tasks);
        }
    }
}

fn rules<T>(answer: T) -> Judged<T> {
    Judged {
        answer,
        by: JudgedBy::Rules,
    }
}

#[async_trait]
impl Judge for Script {
    async fn extract_intent(&self, _: Option<&SessionId>, question: &IntentQuestion) -> Judged<Intent> {
        rules(Intent {
            goal: question.prompts.last().cloned().unwrap_or_default(),
            scope: question.first_files.clone(),
            ..Intent::default()
        })
    }

    async fn analyze_task_context(
        &self,
        _: Option<&SessionId>,
        question: &TaskContextQuestion,
    ) -> Judged<TaskAnalysis> {
        self.asked.lock().unwrap().push(question.clone());
        self.time_passes(Question::WhichTask).await;
        rules(
            self.verdicts
                .lock()
                .unwrap()
                .pop_front()
                .expect("no verdict was expected"),
        )
    }

    async fn extract_reasoning(
        &self,
        _: Option<&SessionId>,
        question: &ReasoningQuestion,
    ) -> Judged<Reasoning> {
        self.remembered.lock().unwrap().push(question.clone());
        self.time_passes(Question::WhatToRemember).await;
        let trace = question.actions.iter().flat_map(|action| action.files.clone());
        rules(Reasoning {
            reasoning_trace: trace.collect(),
            ..Reasoning::default()
        })
    }

    async fn session_summary(&self, _: Option<&SessionId>, _: &SummaryQuestion) -> Judged<SessionDigest> {
        unreachable!()
    }

    async fn check_drift(&self, _: Option<&SessionId>, _: &DriftQuestion) -> Judged<DriftVerdict> {
        unreachable!()
    }

    async fn generate_forced_recovery(
        &self,
        _: Option<&SessionId>,
        _: &ForcedRecoveryQuestion,
    ) -> Judged<ForcedRecovery> {
        unreachable!()
    }
}

/// A clock that stands where it was put.
struct Stopped(Mutex<OffsetDateTime>);

impl Clock for Stopped {
    fn now(&self) -> OffsetDateTime {
        *self.0.lock().unwrap()
    }
}

/// One client session against a real store.
struct Work {
    store: Arc<SqliteStore>,
    judge: Arc<Script>,
    clock: Arc<Stopped>,
    context: Arc<Context>,
    session: Session,
    project: tempfile::TempDir,
    home: tempfile::TempDir,
    exchanges: i64,
}

const HOUR: Duration = Duration::from_secs(3600);

impl Work {
    async fn begin() -> Self {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("grov.db");
        let store = Arc::new(SqliteStore::open(&path, &OpenOptions::default()).await.unwrap());
        let judge = Arc::new(Script::default());
        let clock = Arc::new(Stopped(Mutex::new(OffsetDateTime::UNIX_EPOCH)));
        let context = Arc::new(Context {
            judge: Arc::clone(&judge) as Arc<_>,
            store: Arc::clone(&store) as Arc<_>,
            clock: Arc::clone(&clock) as Arc<_>,
            board: Arc::new(TaskBoard::default()),
            abandon_after: HOUR,
            started_at: OffsetDateTime::UNIX_EPOCH,
        });
        Self {
            session: Session::new(Arc::clone(&context), ClientSessionId::new("s1")),
            store,
            judge,
            clock,
            context,
            project: tempfile::tempdir().unwrap(),
            home,
            exchanges: 0,
        }
    }

    /// As after a restart: all that is known is in the store.
    fn restart(&mut self) {
        let started_at = self.clock.now() + Duration::from_secs(1);
        self.context = Arc::new(Context {
            judge: Arc::clone(&self.judge) as Arc<_>,
            store: Arc::clone(&self.store) as Arc<_>,
            clock: Arc::clone(&self.clock) as Arc<_>,
            board: Arc::new(TaskBoard::default()),
            abandon_after: HOUR,
            started_at,
        });
        self.session = Session::new(Arc::clone(&self.context), ClientSessionId::new("s1"));
    }

    /// An exchange and its record. `edits` are files that its answer edits.
    fn exchange(
        &mut self,
        prompt: Option<&str>,
        edits: &[&str],
        ends: bool,
    ) -> (ExchangeRecord, RecordedExchange) {
        self.exchanges += 1;
        let id = ExchangeId::new(format!("x{}", self.exchanges));
        let at = OffsetDateTime::UNIX_EPOCH + time::Duration::minutes(self.exchanges);
        *self.clock.0.lock().unwrap() = at;
        let directory = self.project.path().to_str().unwrap().to_owned();
        let client = ClientSessionId::new("s1");
        let steps = edits.iter().enumerate().map(|(number, file)| Step {
            id: StepId::of(&id, number),
            action: Action {
                tool: "Edit".to_owned(),
                tool_use_id: Some(format!("{id}-{number}")),
                action_type: ActionType::Edit,
                files: vec![format!("{directory}/{file}")],
                folders: Vec::new(),
                command: None,
                effects: Vec::new(),
            },
            reasoning: Some("because".to_owned()),
            keywords: Vec::new(),
            is_key_decision: true,
            timestamp: at,
            verdict: None,
        });
        let steps: Vec<Step> = steps.collect();
        let record = ExchangeRecord {
            session_id: self.context.board.task(&client),
            id,
            client_session_id: client.clone(),
            agent_id: None,
            kind: ExchangeKind::Main,
            project: Project {
                path: Some(directory.clone()),
                remote: Some("example.org/team/project".to_owned()),
            },
            user: Some("dev".to_owned()),
            model: None,
            started_at: at,
            ended_at: at,
            prompts: prompt
                .map(|text| Prompt {
                    text: text.to_owned(),
                    queued: false,
                })
                .into_iter()
                .collect(),
            steps,
            usage: TokenUsage {
                output: 10,
                ..TokenUsage::default()
            },
            stop_reason: Some(if ends { "end_turn" } else { "tool_use" }.to_owned()),
            outcome: Outcome::Complete,
            drift: None,
        };
        let told = RecordedExchange {
            id: record.id.clone(),
            client_session_id: client,
            agent_id: None,
            kind: record.kind,
            project: record.project.clone(),
            user: record.user.clone(),
            working_directory: Some(directory),
            prompts: record.prompts.clone(),
            actions: record.steps.iter().map(SketchedAction::of).collect(),
            results: Vec::new(),
            answer: Some("Done.".to_owned()),
            stop_reason: record.stop_reason.clone(),
            ends_turn: ends,
            begins: false,
            started_at: at,
            ended_at: at,
        };
        (record, told)
    }

    /// Records an exchange and tells the session.
    async fn hears(&mut self, prompt: Option<&str>, edits: &[&str], ends: bool) {
        let (record, told) = self.exchange(prompt, edits, ends);
        self.store.append(&[record]).await.unwrap();
        self.session.recorded(&told).await.unwrap();
    }

    /// A whole turn: a prompt, an edit, an end, and the verdict on it.
    async fn turn(&mut self, prompt: &str, edit: &str, verdict: TaskAnalysis) {
        self.hears(Some(prompt), &[edit], false).await;
        self.judge.verdicts.lock().unwrap().push_back(verdict);
        self.hears(None, &[], true).await;
    }

    async fn tasks(&self) -> Vec<SessionSummary> {
        self.store
            .client_session(&ClientSessionId::new("s1"))
            .await
            .unwrap()
    }

    async fn memory(&self) -> Vec<Task> {
        let project = self.project.path().to_str().unwrap();
        self.store.tasks_for_project(project, 100).await.unwrap()
    }

    /// Goal, type, status, exchanges, prompts and steps of each task.
    async fn overview(&self) -> Vec<(String, &'static str, &'static str, u64, u64, u64)> {
        self.tasks()
            .await
            .into_iter()
            .map(|task| {
                (
                    task.state.original_goal.unwrap_or_default(),
                    task.state.task_type.as_str(),
                    task.state.status.as_str(),
                    task.exchanges,
                    task.prompts,
                    task.steps,
                )
            })
            .collect()
    }
}

fn verdict(action: TaskAction) -> TaskAnalysis {
    TaskAnalysis {
        action,
        task_id: None,
        goal: "what the judge made of it".to_owned(),
        finished: false,
        constraints: Vec::new(),
        reasoning: String::new(),
    }
}

fn row(
    goal: &str,
    task_type: &'static str,
    status: &'static str,
    counts: (u64, u64, u64),
) -> (String, &'static str, &'static str, u64, u64, u64) {
    (goal.to_owned(), task_type, status, counts.0, counts.1, counts.2)
}

#[tokio::test]
async fn the_first_turn_is_the_first_task() {
    let mut work = Work::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::NewTask))
        .await;
    assert_eq!(
        work.overview().await,
        [row("add dark mode", "main", "active", (2, 1, 1))]
    );
    assert_eq!(work.tasks().await[0].state.session_id.as_str(), "s1");
    assert_eq!(work.judge.asked.lock().unwrap()[0].current, None);
}

#[tokio::test]
async fn the_goal_is_known_before_the_first_turn_ends() {
    let mut work = Work::begin().await;
    work.hears(Some("add dark mode"), &[], false).await;
    assert_eq!(
        work.overview().await,
        [row("add dark mode", "main", "active", (1, 1, 0))]
    );
}

#[tokio::test]
async fn new_work_takes_its_turn_with_it() {
    let mut work = Work::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::NewTask))
        .await;
    work.turn("now fix the login bug", "login.rs", verdict(TaskAction::NewTask))
        .await;
    work.turn("and log it", "login.rs", verdict(TaskAction::Continue))
        .await;
    let expected = [
        row("add dark mode", "main", "active", (2, 1, 1)),
        row("now fix the login bug", "main", "active", (4, 2, 2)),
    ];
    assert_eq!(work.overview().await, expected);
    let login = work.tasks().await[1].state.session_id.clone();
    let files: Vec<_> = work
        .store
        .steps(&login)
        .await
        .unwrap()
        .into_iter()
        .map(|step| step.files)
        .collect();
    assert_eq!(files.len(), 2);
    assert!(files.iter().all(|files| files[0].ends_with("login.rs")));
    assert!(work.memory().await.is_empty());
    let asked = work.judge.asked.lock().unwrap();
    assert_eq!(asked[2].current.as_ref().unwrap().goal, "now fix the login bug");
    assert_eq!(asked[2].others[0].goal, "add dark mode");
    assert_eq!(asked[2].actions[0].files, ["login.rs"]);
}

#[tokio::test]
async fn a_finished_subtask_gives_way_to_its_parent_and_is_linked_when_that_is_saved() {
    let mut work = Work::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::NewTask))
        .await;
    work.turn("first install deps", "package.json", verdict(TaskAction::Subtask))
        .await;
    work.turn("done?", "package.json", verdict(TaskAction::SubtaskComplete))
        .await;
    let saved = work.memory().await;
    assert_eq!((saved.len(), &saved[0].parent_task_id), (1, &None));
    work.turn("go on", "theme.css", verdict(TaskAction::TaskComplete))
        .await;
    let expected = [
        row("add dark mode", "main", "completed", (4, 2, 2)),
        row("first install deps", "subtask", "completed", (4, 2, 2)),
    ];
    assert_eq!(work.overview().await, expected);
    let saved = work.memory().await;
    let parent = saved
        .iter()
        .find(|task| task.goal.as_deref() == Some("add dark mode"))
        .unwrap();
    let child = saved
        .iter()
        .find(|task| task.goal.as_deref() == Some("first install deps"))
        .unwrap();
    assert_eq!(child.parent_task_id.as_ref(), Some(&parent.id));
    assert_eq!(
        (parent.status, parent.trigger_reason),
        (TaskStatus::Complete, Some(TriggerReason::Complete))
    );
    assert_eq!(parent.original_query, "add dark mode");
    assert_eq!(parent.files_touched, ["theme.css"]);
    assert_eq!(parent.project_remote.as_deref(), Some("example.org/team/project"));
    let asked = work.judge.asked.lock().unwrap();
    assert_eq!(asked[3].current.as_ref().unwrap().goal, "add dark mode");
}

#[tokio::test]
async fn work_begun_and_finished_in_one_turn_is_saved_at_once() {
    let mut work = Work::begin().await;
    let mut finished = verdict(TaskAction::NewTask);
    finished.finished = true;
    work.turn("rename it", "a.rs", finished).await;
    assert_eq!(
        work.overview().await,
        [row("rename it", "main", "completed", (2, 1, 1))]
    );
    assert_eq!(work.memory().await.len(), 1);
}

#[tokio::test]
async fn a_parallel_task_that_is_done_leaves_the_main_one_in_work() {
    let mut work = Work::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::NewTask))
        .await;
    let mut beside = verdict(TaskAction::ParallelTask);
    beside.finished = true;
    work.turn("also update the tests", "test.rs", beside).await;
    work.turn("now the toggle", "toggle.rs", verdict(TaskAction::Continue))
        .await;
    let expected = [
        row("add dark mode", "main", "active", (4, 2, 2)),
        row("also update the tests", "parallel", "completed", (2, 1, 1)),
    ];
    assert_eq!(work.overview().await, expected);
}

#[tokio::test]
async fn a_task_that_completes_twice_is_one_memory() {
    let mut work = Work::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::TaskComplete))
        .await;
    let first = work.memory().await;
    let mut again = verdict(TaskAction::TaskComplete);
    again.task_id = Some(SessionId::new("s1"));
    work.turn("and the icons", "icons.svg", again).await;
    let second = work.memory().await;
    assert_eq!((first.len(), second.len()), (1, 1));
    assert_eq!(second[0].id, first[0].id);
    assert_eq!(second[0].files_touched, ["theme.css", "icons.svg"]);
    assert_eq!(
        work.overview().await,
        [row("add dark mode", "main", "completed", (4, 2, 2))]
    );
}

#[tokio::test]
async fn a_question_about_finished_work_leaves_it_finished() {
    let mut work = Work::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::TaskComplete))
        .await;
    let before = work.memory().await;
    let mut about = verdict(TaskAction::Continue);
    about.task_id = Some(SessionId::new("s1"));
    work.hears(Some("why css?"), &[], false).await;
    work.judge.verdicts.lock().unwrap().push_back(about);
    work.hears(None, &[], true).await;
    assert_eq!(
        work.overview().await,
        [row("add dark mode", "main", "completed", (4, 2, 1))]
    );
    assert_eq!(work.memory().await, before);
    assert_eq!(work.judge.remembered.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn an_interrupted_turn_stays_where_it_was() {
    let mut work = Work::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::NewTask))
        .await;
    work.hears(Some("now rewrite everything"), &["all.rs"], false)
        .await;
    work.turn("no, fix the login bug", "login.rs", verdict(TaskAction::NewTask))
        .await;
    let expected = [
        row("add dark mode", "main", "active", (3, 2, 2)),
        row("no, fix the login bug", "main", "active", (2, 1, 1)),
    ];
    assert_eq!(work.overview().await, expected);
}

#[tokio::test]
async fn a_repeated_request_is_not_judged_again() {
    let mut work = Work::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::NewTask))
        .await;
    work.hears(None, &[], true).await;
    assert_eq!(work.judge.asked.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_conversation_that_begins_anew_under_the_same_id_is_new_work() {
    let mut work = Work::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::NewTask))
        .await;
    let (record, mut told) = work.exchange(Some("hello again"), &[], true);
    told.begins = true;
    work.store.append(&[record]).await.unwrap();
    work.judge
        .verdicts
        .lock()
        .unwrap()
        .push_back(verdict(TaskAction::Continue));
    work.session.recorded(&told).await.unwrap();
    let expected = [
        row("add dark mode", "main", "active", (2, 1, 1)),
        row("hello again", "main", "active", (1, 1, 0)),
    ];
    assert_eq!(work.overview().await, expected);
}

#[tokio::test]
async fn after_a_restart_the_open_task_goes_on() {
    let mut work = Work::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::NewTask))
        .await;
    work.turn("now fix the login bug", "login.rs", verdict(TaskAction::NewTask))
        .await;
    work.restart();
    work.turn("and log it", "log.rs", verdict(TaskAction::Continue))
        .await;
    let expected = [
        row("add dark mode", "main", "active", (2, 1, 1)),
        row("now fix the login bug", "main", "active", (4, 2, 2)),
    ];
    assert_eq!(work.overview().await, expected);
}

#[tokio::test]
async fn records_that_arrive_after_the_verdict_go_with_their_turn() {
    let mut work = Work::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::NewTask))
        .await;
    let (first, told_first) = work.exchange(Some("fix the login bug"), &["login.rs"], false);
    let (second, told_second) = work.exchange(None, &[], true);
    work.judge
        .verdicts
        .lock()
        .unwrap()
        .push_back(verdict(TaskAction::NewTask));
    let store = Arc::clone(&work.store);
    let late = async move {
        tokio::time::sleep(Duration::from_millis(100)).await;
        store.append(&[first, second]).await.unwrap();
    };
    let hears = async {
        work.session.recorded(&told_first).await.unwrap();
        work.session.recorded(&told_second).await.unwrap();
    };
    tokio::join!(late, hears);
    let expected = [
        row("add dark mode", "main", "active", (2, 1, 1)),
        row("fix the login bug", "main", "active", (2, 1, 1)),
    ];
    assert_eq!(work.overview().await, expected);
}

#[tokio::test]
async fn an_abandoned_task_is_saved_and_can_be_taken_up_again() {
    let mut work = Work::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::NewTask))
        .await;
    *work.clock.0.lock().unwrap() += HOUR + Duration::from_secs(120);
    let (handle, orchestration) = TaskOrchestrator::new(
        Arc::clone(&work.judge) as Arc<_>,
        Arc::clone(&work.store) as Arc<_>,
        Arc::clone(&work.clock) as Arc<_>,
        HOUR,
    );
    // Found at the start, without anybody having told of the session.
    let store = Arc::clone(&work.store);
    let project = work.project.path().to_str().unwrap().to_owned();
    // In a task of its own: one that waits for the store while nobody polls it keeps the store from everybody else.
    let mut waiting = tokio::task::JoinSet::new();
    waiting.spawn(async move {
        while store.tasks_for_project(&project, 1).await.unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    let saved = async { waiting.join_next().await.unwrap().unwrap() };
    orchestration.run(saved).await;
    drop(handle);
    let saved = work.memory().await;
    assert_eq!(
        (saved[0].status, saved[0].trigger_reason),
        (TaskStatus::Abandoned, Some(TriggerReason::Abandoned))
    );
    assert_eq!(
        work.overview().await,
        [row("add dark mode", "main", "abandoned", (2, 1, 1))]
    );
    work.restart();
    let mut back = verdict(TaskAction::TaskComplete);
    back.task_id = Some(SessionId::new("s1"));
    work.turn("finish dark mode", "theme.css", back).await;
    let again = work.memory().await;
    assert_eq!(
        (again.len(), again[0].status, &again[0].id),
        (1, TaskStatus::Complete, &saved[0].id)
    );
    drop(work.home);
}

#[tokio::test]
async fn work_that_came_in_meanwhile_is_not_abandoned() {
    let mut work = Work::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::NewTask))
        .await;
    work.session.abandon(&SessionId::new("s1")).await.unwrap();
    assert_eq!(
        work.overview().await,
        [row("add dark mode", "main", "active", (2, 1, 1))]
    );
}

#[tokio::test]
async fn a_commit_made_during_the_task_is_linked() {
    let mut work = Work::begin().await;
    let git = |arguments: &[&str]| {
        let status = std::process::Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@t"])
            .args(arguments)
            .current_dir(work.project.path())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .status()
            .unwrap();
        assert!(status.success(), "git {arguments:?}");
    };
    git(&["init", "-q"]);
    git(&["commit", "-q", "--allow-empty", "-m", "one"]);
    work.turn("add dark mode", "theme.css", verdict(TaskAction::NewTask))
        .await;
    let directory = work.project.path().to_owned();
    let commit = |message: &str| {
        let status = std::process::Command::new("git")
            .args([
                "-c",
                "user.name=t",
                "-c",
                "user.email=t@t",
                "commit",
                "-q",
                "--allow-empty",
                "-m",
                message,
            ])
            .current_dir(&directory)
            .status()
            .unwrap();
        assert!(status.success());
    };
    commit("two");
    work.turn("commit it", "theme.css", verdict(TaskAction::TaskComplete))
        .await;
    let saved = work.memory().await;
    let head = grov_project::Place::locate(&directory).head().commit;
    assert!(head.is_some());
    assert_eq!(saved[0].linked_commit, head);
    // Nothing was committed for the next one.
    work.turn("look around", "x.rs", verdict(TaskAction::NewTask))
        .await;
    work.turn("done", "x.rs", verdict(TaskAction::TaskComplete)).await;
    let saved = work.memory().await;
    let second = saved
        .iter()
        .find(|task| task.goal.as_deref() == Some("look around"))
        .unwrap();
    assert_eq!(second.linked_commit, None);
}

#[tokio::test]
async fn what_the_project_keeps_out_of_memory_is_not_remembered() {
    let mut work = Work::begin().await;
    std::fs::write(work.project.path().join(".grovignore"), "secret/\n").unwrap();
    std::fs::create_dir(work.project.path().join("secret")).unwrap();
    std::fs::write(work.project.path().join("theme.css"), "a {}").unwrap();
    work.turn("add dark mode", "secret/key.css", verdict(TaskAction::NewTask))
        .await;
    work.turn("and finish it", "theme.css", verdict(TaskAction::TaskComplete))
        .await;
    let saved = work.memory().await;
    assert_eq!(saved[0].files_touched, ["theme.css"]);
    let pins: Vec<_> = saved[0]
        .file_pins
        .iter()
        .map(|pin| (pin.path.as_str(), pin.hash.is_some()))
        .collect();
    assert_eq!(pins, [("theme.css", true)]);
}

#[tokio::test]
async fn what_the_next_turn_recorded_meanwhile_is_not_remembered_with_a_finished_task() {
    let mut work = Work::begin().await;
    work.hears(Some("add dark mode"), &["theme.css"], false).await;
    let (end, told_end) = work.exchange(None, &[], true);
    // The next turn is under way before the first is judged.
    let (next, told_next) = work.exchange(Some("fix the login bug"), &["login.rs"], false);
    let (last, told_last) = work.exchange(None, &[], true);
    work.store.append(&[end, next, last]).await.unwrap();
    work.judge
        .verdicts
        .lock()
        .unwrap()
        .extend([verdict(TaskAction::TaskComplete), verdict(TaskAction::NewTask)]);
    for told in [told_end, told_next, told_last] {
        work.session.recorded(&told).await.unwrap();
    }
    let saved = work.memory().await;
    assert_eq!(
        (saved.len(), &saved[0].files_touched),
        (1, &vec!["theme.css".to_owned()])
    );
    assert_eq!(
        work.judge.remembered.lock().unwrap()[0].prompts,
        ["add dark mode"]
    );
    let expected = [
        row("add dark mode", "main", "completed", (2, 1, 1)),
        row("fix the login bug", "main", "active", (2, 1, 1)),
    ];
    assert_eq!(work.overview().await, expected);
}

#[tokio::test]
async fn an_abandoned_first_task_that_was_taken_up_keeps_its_id_for_itself() {
    let mut work = Work::begin().await;
    work.hears(Some("add dark mode"), &["theme.css"], false).await;
    *work.clock.0.lock().unwrap() += HOUR + Duration::from_secs(120);
    work.session.abandon(&SessionId::new("s1")).await.unwrap();
    let mut back = verdict(TaskAction::Continue);
    back.task_id = Some(SessionId::new("s1"));
    work.turn("back to dark mode", "theme.css", back).await;
    work.turn("now fix the login bug", "login.rs", verdict(TaskAction::NewTask))
        .await;
    let tasks = work.overview().await;
    assert_eq!(tasks.len(), 2, "{tasks:?}");
}

#[tokio::test]
async fn a_task_is_not_abandoned_while_its_subtask_is_in_work() {
    let mut work = Work::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::NewTask))
        .await;
    work.turn("first fix the build", "b.rs", verdict(TaskAction::Subtask))
        .await;
    work.exchanges += 61;
    work.turn("go on", "b.rs", verdict(TaskAction::Continue)).await;
    work.session.abandon(&SessionId::new("s1")).await.unwrap();
    assert!(work.memory().await.is_empty());
}

#[tokio::test]
async fn the_answer_of_an_earlier_turn_is_not_shown_for_a_silent_one() {
    let mut work = Work::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::NewTask))
        .await;
    let (record, mut told) = work.exchange(Some("now the toggle"), &["t.rs"], true);
    told.answer = None;
    work.store.append(&[record]).await.unwrap();
    work.judge
        .verdicts
        .lock()
        .unwrap()
        .push_back(verdict(TaskAction::Continue));
    work.session.recorded(&told).await.unwrap();
    assert_eq!(work.judge.asked.lock().unwrap()[1].answer, "");
}

#[tokio::test]
async fn the_answer_of_another_task_is_not_remembered() {
    let mut work = Work::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::NewTask))
        .await;
    work.exchanges += 70;
    let (record, mut told) = work.exchange(Some("login bug"), &["t.rs"], true);
    told.answer = Some("Fixed the login bug in t.rs.".to_owned());
    work.store.append(&[record]).await.unwrap();
    work.judge
        .verdicts
        .lock()
        .unwrap()
        .push_back(verdict(TaskAction::NewTask));
    work.session.recorded(&told).await.unwrap();
    *work.clock.0.lock().unwrap() += HOUR + Duration::from_secs(1);
    work.session.abandon(&SessionId::new("s1")).await.unwrap();
    assert_eq!(work.judge.remembered.lock().unwrap()[0].answer, "Done.");
}

#[tokio::test]
async fn an_interrupted_first_prompt_does_not_set_the_goal() {
    let mut work = Work::begin().await;
    work.hears(Some("rewrite everything"), &["all.rs"], false).await;
    work.turn(
        "no, only fix the login bug",
        "login.rs",
        verdict(TaskAction::NewTask),
    )
    .await;
    assert_eq!(work.overview().await[0].0, "no, only fix the login bug");
}

#[tokio::test]
async fn what_was_interrupted_after_a_finished_task_goes_with_the_next_one() {
    let mut work = Work::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::TaskComplete))
        .await;
    work.hears(Some("now fix the login bug"), &["login.rs"], false)
        .await;
    work.turn("use argon2 for it", "login.rs", verdict(TaskAction::NewTask))
        .await;
    let tasks = work.overview().await;
    assert_eq!((tasks[0].3, tasks[0].5), (2, 1), "{tasks:?}");
}

#[tokio::test]
async fn a_subagent_that_outlives_its_turn_works_for_its_task() {
    let mut work = Work::begin().await;
    work.hears(Some("add dark mode"), &["theme.css"], false).await;
    work.hears_agent("a1", "first.css").await;
    work.judge
        .verdicts
        .lock()
        .unwrap()
        .push_back(verdict(TaskAction::NewTask));
    work.hears(None, &[], true).await;
    work.hears(Some("now fix the login bug"), &["login.rs"], false)
        .await;
    work.hears_agent("a1", "second.css").await;
    work.judge
        .verdicts
        .lock()
        .unwrap()
        .push_back(verdict(TaskAction::NewTask));
    work.hears(None, &[], true).await;
    let expected = [
        row("add dark mode", "main", "active", (4, 1, 3)),
        row("now fix the login bug", "main", "active", (2, 1, 1)),
    ];
    assert_eq!(work.overview().await, expected);
}

#[tokio::test]
async fn a_first_turn_that_was_not_judged_before_a_restart_keeps_its_task() {
    let mut work = Work::begin().await;
    work.hears(Some("add dark mode"), &["theme.css"], false).await;
    work.hears_quietly().await;
    work.restart();
    work.turn("now fix the login bug", "login.rs", verdict(TaskAction::NewTask))
        .await;
    let tasks = work.overview().await;
    assert_eq!(tasks[0].0, "add dark mode", "{tasks:?}");
}

impl Work {
    /// A step of a subagent.
    async fn hears_agent(&mut self, agent: &str, edit: &str) {
        let (mut record, mut told) = self.exchange(None, &[edit], false);
        record.kind = ExchangeKind::Subagent;
        record.agent_id = Some(AgentId::new(agent));
        told.kind = ExchangeKind::Subagent;
        told.agent_id = Some(AgentId::new(agent));
        self.store.append(&[record]).await.unwrap();
        self.session.recorded(&told).await.unwrap();
    }

    /// Records the end of a turn that the session is not told of any more.
    async fn hears_quietly(&mut self) {
        let (record, _) = self.exchange(None, &[], true);
        self.store.append(&[record]).await.unwrap();
    }
}

#[tokio::test]
async fn an_abandoned_task_goes_on_the_next_day() {
    let mut work = Work::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::NewTask))
        .await;
    *work.clock.0.lock().unwrap() += HOUR + Duration::from_secs(120);
    work.session.abandon(&SessionId::new("s1")).await.unwrap();
    work.restart();
    work.turn("go on", "theme.css", verdict(TaskAction::Continue))
        .await;
    let tasks = work.overview().await;
    assert_eq!(tasks.len(), 1, "{tasks:?}");
}

#[tokio::test]
async fn idle_sessions_take_no_places_from_live_ones() {
    let mut work = Work::begin().await;
    let mut sessions = super::Sessions {
        context: Arc::clone(&work.context),
        mailboxes: std::collections::HashMap::new(),
        running: tokio::task::JoinSet::new(),
    };
    for n in 0..super::MAX_SESSIONS {
        let id = format!("idle{n}");
        sessions.tell(
            ClientSessionId::new(&*id),
            super::Event::Idle(SessionId::new(&*id)),
        );
    }
    while sessions.running.join_next().await.is_some() {}
    sessions.mailboxes.retain(|_, mailbox| !mailbox.is_closed());
    let (_, told) = work.exchange(Some("live work"), &["a.rs"], false);
    sessions.tell(
        told.client_session_id.clone(),
        super::Event::Recorded(Box::new(told)),
    );
    assert!(
        sessions.mailboxes.contains_key(&ClientSessionId::new("s1")),
        "{}",
        sessions.mailboxes.len()
    );
}

/// What was found of a step that left the goal.
fn off_goal(score: u8, level: CorrectionLevel) -> StepVerdict {
    StepVerdict {
        score,
        by: JudgedBy::Rules,
        findings: vec![Finding {
            rule: Rule::Tangent,
            file: None,
            reason: "theme.css has nothing to do with the login".to_owned(),
            at_most: score,
        }],
        level: Some(level),
        correction: Some("Go back.".to_owned()),
        recovery_plan: Vec::new(),
    }
}

#[tokio::test]
async fn a_task_in_which_the_agent_left_its_goal_is_marked_and_the_next_one_is_not() {
    let mut work = Work::begin().await;
    let (mut record, told) = work.exchange(Some("fix the login"), &["login.rs", "theme.css"], false);
    record.steps[1].verdict = Some(off_goal(2, CorrectionLevel::Halt));
    work.store.append(&[record]).await.unwrap();
    work.session.recorded(&told).await.unwrap();
    let done = verdict(TaskAction::TaskComplete);
    work.judge.verdicts.lock().unwrap().push_back(done);
    work.hears(None, &[], true).await;
    let mut next = verdict(TaskAction::NewTask);
    next.finished = true;
    work.turn("rename the button", "button.rs", next).await;

    let mut memory = work.memory().await;
    memory.sort_by_key(|task| task.created_at);
    assert_eq!(memory[0].tags, ["had-drift", "needs-review"]);
    assert_eq!(memory[0].status, TaskStatus::Partial);
    assert_eq!(
        memory[0].reasoning_trace,
        [
            "login.rs",
            "Warning (halt): theme.css has nothing to do with the login"
        ]
    );
    assert_eq!(memory[0].files_touched, ["login.rs"]);
    assert_eq!(
        (memory[1].tags.as_slice(), memory[1].status),
        (&[][..], TaskStatus::Complete)
    );
    assert_eq!(
        work.overview().await[0],
        row("fix the login", "main", "completed", (2, 1, 1))
    );
}

#[tokio::test]
async fn a_memory_that_is_forgotten_while_the_judge_is_asked_stays_forgotten() {
    for question in [Question::WhichTask, Question::WhatToRemember] {
        let mut work = Work::begin().await;
        let done = || TaskAnalysis {
            task_id: Some(SessionId::new("s1")),
            ..verdict(TaskAction::TaskComplete)
        };
        work.turn(
            "about the aardvark",
            "aardvark.rs",
            verdict(TaskAction::TaskComplete),
        )
        .await;
        work.hears(Some("more of the aardvark"), &["aardvark_too.rs"], false)
            .await;
        let memory: Vec<TaskId> = work.memory().await.into_iter().map(|task| task.id).collect();
        assert_eq!(memory.len(), 1);
        *work.judge.forgotten_meanwhile.lock().unwrap() = Some(Forgotten {
            at: question,
            tasks: memory,
            store: Arc::clone(&work.store),
        });
        let verdicts = if question == Question::WhichTask { 2 } else { 1 };
        let asked = work.judge.asked.lock().unwrap().len();
        work.judge
            .verdicts
            .lock()
            .unwrap()
            .extend(std::iter::repeat_with(done).take(verdicts));
        work.hears(None, &[], true).await;
        assert!(work.judge.forgotten_meanwhile.lock().unwrap().is_none());
        assert_eq!(
            work.judge.asked.lock().unwrap().len(),
            asked + verdicts,
            "{question:?}"
        );

        assert_eq!(work.memory().await, [], "{question:?}");
        for file in ["grov.db", "grov.db-wal"] {
            let bytes = std::fs::read(work.home.path().join(file)).unwrap_or_default();
            let holds_it = bytes
                .windows(8)
                .any(|word| word.eq_ignore_ascii_case(b"aardvark"));
            assert!(!holds_it, "{question:?}: {file} holds it");
        }
    }
}
