mod abandoned;
mod cleared;
mod disturbed;
mod remembered;
mod verdicts;

use super::exchange::{RecordedExchange, SketchedAction};
use super::session::Session;
use super::{Context, CurrentTasks, TaskOrchestrator};
use async_trait::async_trait;
use grov_domain::Redacted;
use grov_domain::*;
use grov_store::{OpenOptions, SqliteStore};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use time::OffsetDateTime;

/// A judge with scripted answers that records its questions.
#[derive(Default)]
struct Script {
    verdicts: Mutex<VecDeque<TaskAnalysis>>,
    task_questions: Mutex<Vec<TaskContextQuestion>>,
    reasoning_questions: Mutex<Vec<ReasoningQuestion>>,
    /// Decisions in the next extracted reasonings.
    decisions: Mutex<Vec<Decision>>,
    /// Whether a model extracted them.
    has_model: Mutex<bool>,
    /// Memories to forget while the next question of a kind is answered.
    forget_during: Mutex<Option<Forgotten>>,
}

struct Forgotten {
    at: JudgeQuestion,
    tasks: Vec<TaskId>,
    store: Arc<SqliteStore>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JudgeQuestion {
    WhichTask,
    WhatToRemember,
}

impl Script {
    async fn forget_during_question(&self, question: JudgeQuestion) {
        let meanwhile = self
            .forget_during
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
    async fn extract_intent(
        &self,
        _: Option<&SessionId>,
        question: &Redacted<IntentQuestion>,
    ) -> Judged<Intent> {
        rules(Intent {
            goal: question.prompts.last().cloned().unwrap_or_default(),
            scope: question.first_files.clone(),
            ..Intent::default()
        })
    }

    async fn analyze_task_context(
        &self,
        _: Option<&SessionId>,
        question: &Redacted<TaskContextQuestion>,
    ) -> Judged<TaskAnalysis> {
        self.task_questions.lock().unwrap().push((**question).clone());
        self.forget_during_question(JudgeQuestion::WhichTask).await;
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
        question: &Redacted<ReasoningQuestion>,
    ) -> Judged<Reasoning> {
        self.reasoning_questions
            .lock()
            .unwrap()
            .push((**question).clone());
        self.forget_during_question(JudgeQuestion::WhatToRemember).await;
        let trace = question.actions.iter().flat_map(|action| action.files.clone());
        Judged {
            answer: Reasoning {
                reasoning_trace: trace.collect(),
                decisions: self.decisions.lock().unwrap().clone(),
                ..Reasoning::default()
            },
            by: if *self.has_model.lock().unwrap() {
                JudgedBy::Model
            } else {
                JudgedBy::Rules
            },
        }
    }

    async fn check_drift(&self, _: Option<&SessionId>, _: &Redacted<DriftQuestion>) -> Option<DriftVerdict> {
        unreachable!()
    }

    async fn generate_forced_recovery(
        &self,
        _: Option<&SessionId>,
        _: &Redacted<ForcedRecoveryQuestion>,
    ) -> Option<ForcedRecovery> {
        unreachable!()
    }
}

/// A clock that only tests advance.
struct ManualClock(Mutex<OffsetDateTime>);

impl Clock for ManualClock {
    fn now(&self) -> OffsetDateTime {
        *self.0.lock().unwrap()
    }
}

/// A client session with a real store.
struct TestSession {
    store: Arc<SqliteStore>,
    judge: Arc<Script>,
    clock: Arc<ManualClock>,
    context: Arc<Context>,
    session: Session,
    project: tempfile::TempDir,
    home: tempfile::TempDir,
    exchanges: i64,
}

const HOUR: Duration = Duration::from_secs(3600);

impl TestSession {
    async fn begin() -> Self {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("grov.db");
        let store = Arc::new(SqliteStore::open(&path, &OpenOptions::default()).await.unwrap());
        let judge = Arc::new(Script::default());
        let clock = Arc::new(ManualClock(Mutex::new(OffsetDateTime::UNIX_EPOCH)));
        let context = Arc::new(Context {
            judge: Arc::clone(&judge) as Arc<_>,
            store: Arc::clone(&store) as Arc<_>,
            clock: Arc::clone(&clock) as Arc<_>,
            current_tasks: Arc::new(CurrentTasks::default()),
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

    /// Restarts the process: only the store remains.
    fn restart(&mut self) {
        let started_at = self.clock.now() + Duration::from_secs(1);
        self.context = Arc::new(Context {
            judge: Arc::clone(&self.judge) as Arc<_>,
            store: Arc::clone(&self.store) as Arc<_>,
            clock: Arc::clone(&self.clock) as Arc<_>,
            current_tasks: Arc::new(CurrentTasks::default()),
            abandon_after: HOUR,
            started_at,
        });
        self.session = Session::new(Arc::clone(&self.context), ClientSessionId::new("s1"));
    }

    /// Returns an exchange and its record. `edits` are the files that its answer edits.
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
                line: None,
                change: None,
            },
            reasoning: Some("because".to_owned()),
            keywords: Vec::new(),
            is_key_decision: true,
            timestamp: at,
            verdict: None,
        });
        let steps: Vec<Step> = steps.collect();
        let record = ExchangeRecord {
            session_id: self
                .context
                .current_tasks
                .get(&client)
                .unwrap_or_else(|| client.first_task()),
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
            failures: Vec::new(),
            usage: TokenUsage {
                output: 10,
                ..TokenUsage::default()
            },
            stop_reason: Some(if ends { "end_turn" } else { "tool_use" }.to_owned()),
            outcome: Outcome::Complete,
            drift: None,
            edits: None,
        };
        let event = RecordedExchange {
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
            report: None,
            summary: None,
            title: None,
            stop_reason: record.stop_reason.clone(),
            ends_turn: ends,
            begins: false,
            started_at: at,
            ended_at: at,
        };
        (record, event)
    }

    /// Records an exchange and has the session handle it.
    async fn handle(&mut self, prompt: Option<&str>, edits: &[&str], ends: bool) {
        let (record, event) = self.exchange(prompt, edits, ends);
        self.store.append(&Redacted::each(&[record])).await.unwrap();
        self.session.on_exchange(&event).await.unwrap();
    }

    /// Runs a turn with a prompt, an edit and an end, and the verdict on it.
    async fn turn(&mut self, prompt: &str, edit: &str, verdict: TaskAnalysis) {
        self.handle(Some(prompt), &[edit], false).await;
        self.next_verdict(verdict);
        self.handle(None, &[], true).await;
    }

    /// Adds a verdict to the judge's answers.
    fn next_verdict(&self, verdict: TaskAnalysis) {
        self.judge.verdicts.lock().unwrap().push_back(verdict);
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

    /// Returns goal, type, status, exchanges, prompts and steps of each task.
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

    /// Runs a step of a subagent.
    async fn handle_subagent(&mut self, agent: &str, edit: &str) {
        self.handle_subagent_step(agent, &[edit], None).await;
    }

    /// Runs a step of a subagent, which may end with a report.
    async fn handle_subagent_step(&mut self, agent: &str, edits: &[&str], report: Option<&str>) {
        let (mut record, mut event) = self.exchange(None, edits, false);
        event.report = report.map(str::to_owned);
        record.kind = ExchangeKind::Subagent;
        record.agent_id = Some(AgentId::new(agent));
        event.kind = ExchangeKind::Subagent;
        event.agent_id = Some(AgentId::new(agent));
        self.store.append(&Redacted::each(&[record])).await.unwrap();
        self.session.on_exchange(&event).await.unwrap();
    }

    /// Records the end of a turn that the session does not handle.
    async fn record_turn_end(&mut self) {
        let (record, _) = self.exchange(None, &[], true);
        self.store.append(&Redacted::each(&[record])).await.unwrap();
    }
}

fn verdict(action: TaskAction) -> TaskAnalysis {
    TaskAnalysis {
        action,
        task_id: None,
        goal: "what the judge made of it".to_owned(),
        finished: false,
        looks_finished: false,
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
