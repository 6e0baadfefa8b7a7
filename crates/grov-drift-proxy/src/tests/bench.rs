//! A drift monitor with a store, a judge and a clock in memory.

use super::double::{Answers, MemoryStore, Ticking};
use crate::{DriftMonitor, Policy};
use grov_domain::{
    Action, ActionSketch, AgentId, ClientSessionId, CorrectionLevel, DriftState, ExchangeId, ExchangeKind,
    ExchangeRecord, GoalEdit, GoalEditId, GoalEditKind, GoalStore, Lineage, Outcome, Project, Prompt,
    SessionId, Step, StepId, TokenUsage,
};
use grov_live::{
    ActionChecker, CheckResult, ContextSource, InjectionPoint, Location, PendingExchange, ToolOutcome,
    ToolResult, UserQuestion,
};
use grov_redact::Redactor;
use grov_session::testing::{edit, read_intent};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

pub(super) const ROOT: &str = "/home/me/app";

/// A drift monitor and the parts it uses.
pub(super) struct TestBed {
    pub(super) drift: Arc<DriftMonitor>,
    pub(super) store: Arc<MemoryStore>,
    pub(super) judge: Arc<Answers>,
    pub(super) clock: Arc<Ticking>,
    /// Stops the background work when dropped.
    pub(super) _work: JoinSet<()>,
    pub(super) calls: AtomicUsize,
}

/// A response of the agent.
#[derive(Default)]
pub(super) struct Response<'a> {
    pub(super) prompts: &'a [&'a str],
    pub(super) actions: Vec<ActionSketch>,
    pub(super) agent: Option<&'a str>,
    pub(super) begins: bool,
    pub(super) ends: bool,
    pub(super) answered: &'a [String],
    pub(super) failed: &'a [String],
    pub(super) answer: Option<&'a str>,
    pub(super) questions: Vec<UserQuestion>,
    pub(super) output: Option<&'a str>,
    pub(super) earlier: &'a [&'a str],
    /// The current task, if it is not the first.
    pub(super) task: Option<&'a str>,
    /// Whether the current task is unknown.
    pub(super) task_is_unknown: bool,
}

/// A text that has nothing to do with the goals of the tests.
pub(super) const UNRELATED: &str = "Soup of the day with bread and butter, roasted carrots, a glass of red wine \
    and lemon cake for guests who order lunch before noon";

impl TestBed {
    pub(super) fn new() -> Self {
        Self::with(Policy::PER_ACTION, Arc::default(), Arc::default())
    }

    pub(super) fn with(settings: Policy, store: Arc<MemoryStore>, judge: Arc<Answers>) -> Self {
        let clock = Arc::new(Ticking::default());
        let (drift, work) = DriftMonitor::new(
            settings,
            Arc::<Answers>::clone(&judge),
            Arc::<MemoryStore>::clone(&store),
            Arc::<Ticking>::clone(&clock),
            Arc::new(read_intent),
        );
        let mut running = JoinSet::new();
        running.spawn(work.run(std::future::pending()));
        Self {
            drift,
            store,
            judge,
            clock,
            _work: running,
            calls: AtomicUsize::new(0),
        }
    }

    /// Stops the background work.
    pub(super) fn without_background(mut self) -> Self {
        self._work.abort_all();
        self
    }

    /// Returns the same session in a restarted daemon.
    pub(super) fn restarted(&self) -> Self {
        let bench = Self::with(
            Policy::PER_ACTION,
            Arc::clone(&self.store),
            Arc::clone(&self.judge),
        );
        bench
            .calls
            .store(self.calls.load(Ordering::Relaxed), Ordering::Relaxed);
        bench.clock.set(self.clock.get() + 60);
        bench
    }

    /// Checks an exchange and records it. Returns its tool calls and the result of the check.
    pub(super) fn exchange(&self, response: Response<'_>) -> (Vec<String>, CheckResult) {
        let record = self.record(&response);
        let calls: Vec<String> = record
            .steps
            .iter()
            .filter_map(|step| step.action.tool_use_id.clone())
            .collect();
        let results: Vec<ToolOutcome> = response
            .answered
            .iter()
            .map(|call| ToolOutcome {
                tool_use_id: call.clone(),
                failed: response.failed.contains(call),
                output: response.output.map(str::to_owned),
            })
            .collect();
        let earlier = || {
            response
                .earlier
                .iter()
                .map(|prompt| (*prompt).to_owned())
                .collect()
        };
        let checked = self.drift.check(&PendingExchange {
            record: &record,
            task_is_known: !response.task_is_unknown,
            actions: &response.actions,
            results: &results,
            working_directory: Some(ROOT.as_ref()),
            begins: response.begins,
            ends_turn: response.ends,
            answer: response.answer,
            questions: &response.questions,
            earlier_prompts: &earlier,
        });
        self.store.record(record, &checked);
        (calls, checked)
    }

    pub(super) fn record(&self, response: &Response<'_>) -> ExchangeRecord {
        let id = ExchangeId::fresh();
        let now = self.clock.tick();
        let step = |(index, action): (usize, &ActionSketch)| Step {
            id: StepId::of(&id, index),
            action: Action {
                tool: action.action_type.as_str().to_owned(),
                tool_use_id: Some(format!("call-{}", self.calls.fetch_add(1, Ordering::Relaxed))),
                action_type: action.action_type,
                files: action.files.clone(),
                folders: Vec::new(),
                command: action.command.clone(),
                effects: Vec::new(),
                line: None,
                change: None,
            },
            reasoning: None,
            keywords: Vec::new(),
            is_key_decision: false,
            timestamp: now,
            verdict: None,
        };
        let prompt = |text: &&str| Prompt {
            text: (*text).to_owned(),
            queued: false,
        };
        ExchangeRecord {
            session_id: response
                .task
                .map_or_else(|| session().first_task(), SessionId::new),
            client_session_id: session(),
            agent_id: response.agent.map(AgentId::new),
            kind: if response.agent.is_some() {
                ExchangeKind::Subagent
            } else {
                ExchangeKind::Main
            },
            project: Project {
                path: Some(ROOT.to_owned()),
                remote: None,
            },
            user: None,
            model: None,
            started_at: now,
            ended_at: now,
            prompts: response.prompts.iter().map(prompt).collect(),
            steps: response.actions.iter().enumerate().map(step).collect(),
            failures: Vec::new(),
            usage: TokenUsage::default(),
            stop_reason: None,
            outcome: Outcome::Complete,
            drift: None,
            edits: None,
            id,
        }
    }

    /// Checks an edit in a tool loop.
    pub(super) fn change(&self, file: &str, text: &str) -> (Vec<String>, CheckResult) {
        self.exchange(Response {
            actions: vec![edit(&format!("{ROOT}/{file}"), text)],
            ..Response::default()
        })
    }

    /// Makes two edits that look unrelated. The next unrelated edit causes a correction.
    pub(super) fn cause_doubt(&self) {
        for file in ["kitchen/menu/lunch.xml", "assets/icons/moon.svg"] {
            let (_, checked) = self.change(file, UNRELATED);
            let is_off_goal = checked
                .verdicts
                .iter()
                .flatten()
                .any(grov_domain::StepVerdict::is_off_goal);
            assert!(is_off_goal && level(&checked).is_none(), "{checked:?}");
        }
    }

    pub(super) fn point(&self, prompt: &str, answered: &[String]) -> InjectionPoint {
        InjectionPoint {
            lineage: lineage(None),
            location: Arc::new(Location {
                project: Project {
                    path: Some(ROOT.to_owned()),
                    remote: None,
                },
                root: PathBuf::from(ROOT),
                exists: true,
            }),
            prompt: prompt.to_owned(),
            answered: answered
                .iter()
                .map(|call| ToolResult {
                    tool_use_id: call.clone(),
                    failed: false,
                })
                .collect(),
            begins: false,
            body: self.history().into(),
            quoted: Default::default(),
            // By the real clock, which a busy machine must not exceed. Tests of waiting use the paused clock.
            deadline: Instant::now() + Duration::from_secs(3600),
        }
    }

    /// Returns a request body with all calls so far.
    pub(super) fn history(&self) -> String {
        let calls = 0..self.calls.load(Ordering::Relaxed);
        calls.map(|call| format!("\"call-{call}\",")).collect()
    }

    /// Returns the correction in the next request of the main conversation.
    pub(super) async fn next_request(&self, prompt: &str, answered: &[String]) -> Option<String> {
        let point = self.point(prompt, answered);
        if !self.drift.applies(&point) {
            return None;
        }
        let words = self.drift.context(&point).await?;
        self.drift.delivered(&point);
        Some(words.text.into_inner())
    }

    /// Edits the contract as a user and waits until the monitor has applied it.
    pub(super) async fn edit_goal(&self, kind: GoalEditKind, text: &str) {
        let edit = GoalEdit {
            id: GoalEditId::fresh(),
            client_session_id: session(),
            kind,
            text: text.to_owned(),
            at: self.clock.tick(),
            since_prompt: None,
        };
        self.store
            .edit_goal(&Redactor::shared().clean(edit))
            .await
            .unwrap();
        let slot = self.drift.shared.slot(&session());
        until(|| {
            let session = slot.session();
            let contract = session.engine.contract();
            [&contract.allowed, &contract.forbidden, &contract.constraints]
                .iter()
                .any(|list| list.iter().any(|entry| entry == text))
        })
        .await;
    }

    pub(super) fn state(&self) -> DriftState {
        self.drift
            .shared
            .slot(&session())
            .session()
            .engine
            .drift()
            .state()
            .clone()
    }

    pub(super) fn contract(&self) -> grov_domain::GoalContract {
        let slot = self.drift.shared.slot(&session());
        slot.session().engine.contract().clone()
    }

    pub(super) fn session_is_loaded(&self) -> bool {
        self.drift
            .shared
            .slot(&session())
            .session()
            .engine
            .is_history_loaded()
    }

    pub(super) fn session_is_loading(&self) -> bool {
        self.drift.shared.slot(&session()).session().is_state_loading()
    }

    pub(super) fn counted(&self, name: &str) -> u64 {
        let all = self.drift.counters().all();
        all.iter().find(|(known, _)| *known == name).unwrap().1
    }

    /// Starts a session, with two folders that the user forbade.
    pub(super) async fn begin(&self, prompt: &str) {
        self.exchange(Response {
            prompts: &[prompt],
            begins: true,
            actions: vec![edit(&format!("{ROOT}/src/auth/token.ts"), "const ttl = 60;")],
            ..Response::default()
        });
        self.edit_goal(GoalEditKind::Forbid, "src/styles/**").await;
        self.edit_goal(GoalEditKind::Forbid, "src/components/**").await;
    }
}

pub(super) fn session() -> ClientSessionId {
    ClientSessionId::new("session")
}

pub(super) fn lineage(agent: Option<&str>) -> Lineage {
    Lineage {
        session: session(),
        agent: agent.map(AgentId::new),
    }
}

pub(super) fn level(checked: &CheckResult) -> Option<CorrectionLevel> {
    checked
        .verdicts
        .iter()
        .flatten()
        .find_map(|verdict| verdict.level)
}

/// Waits until a condition is true. Panics after about 20 seconds.
pub(super) async fn until(condition: impl Fn() -> bool) {
    for _ in 0..20_000 {
        if condition() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    panic!("it did not come true");
}

pub(super) const GOAL: &str = "Fix the token refresh in src/auth/token.ts";
