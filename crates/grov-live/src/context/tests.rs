//! The monitor with a real store.

use super::*;
use crate::injection::{ContextSource, Injection, Timeouts};
use bytes::Bytes;
use grov_context::SessionPoints;
use grov_domain::JudgedBy;
use grov_domain::{
    Decision, DriftQuestion, DriftVerdict, ForcedRecovery, ForcedRecoveryQuestion, Intent, IntentQuestion,
    Judged, OWN_TEXT_CLOSING, PointKind, Reasoning, ReasoningQuestion, SessionDigest, SystemClock,
    TaskAnalysis, TaskContextQuestion,
};
use grov_proxy_core::{MessagesRequest, RequestPolicy};
use grov_store::{OpenOptions, SqliteStore};
use grov_wire::Splice;
use grov_wire::response::{Block, Turn, TurnEnd, Usage};
use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

const CONTINUED: &str =
    "This session is being continued from a previous conversation that ran out of context.\n\n";
const HAIKU: &str = "claude-haiku-4-5";

/// A judge that only summarizes, if it has an answer.
#[derive(Default)]
struct Summarizer {
    answer: Option<SessionDigest>,
    asked: AtomicUsize,
}

#[async_trait]
impl Judge for Summarizer {
    async fn extract_intent(&self, _: Option<&SessionId>, _: &Redacted<IntentQuestion>) -> Judged<Intent> {
        unreachable!()
    }

    async fn analyze_task_context(
        &self,
        _: Option<&SessionId>,
        _: &Redacted<TaskContextQuestion>,
    ) -> Judged<TaskAnalysis> {
        unreachable!()
    }

    async fn extract_reasoning(
        &self,
        _: Option<&SessionId>,
        _: &Redacted<ReasoningQuestion>,
    ) -> Judged<Reasoning> {
        unreachable!()
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

    async fn summarize(&self, _: Option<&SessionId>, _: &Redacted<SummaryQuestion>) -> Option<SessionDigest> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.answer.clone()
    }
}

/// A session with one prompt.
struct OnePrompt;

#[async_trait]
impl MaterialReader for OnePrompt {
    async fn material(
        &self,
        _: &ClientSessionId,
        closings: Vec<Statement>,
    ) -> Result<Option<SessionMaterial>, StoreError> {
        let goal = "Add rate limiting to the public API".to_owned();
        let constraints = vec!["do not add a dependency".to_owned()];
        let contract = GoalContract {
            goal: goal.clone(),
            instructions: vec![goal.clone()],
            constraints: constraints.clone(),
            ..GoalContract::default()
        };
        let question = SummaryQuestion {
            goal,
            constraints,
            statements: closings,
            ..SummaryQuestion::default()
        };
        Ok(Some(SessionMaterial {
            task: None,
            contract,
            question,
            prompts: 1,
        }))
    }
}

struct Daemon {
    monitor: Arc<ContextMonitor>,
    policy: Injection,
    store: Arc<SqliteStore>,
    judge: Arc<Summarizer>,
    stops: Vec<oneshot::Sender<()>>,
    work: Vec<JoinHandle<()>>,
}

struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    #[allow(clippy::disallowed_methods, reason = "awaited in stop")]
    async fn daemon(&self, judge: Summarizer) -> Daemon {
        let path = self.0.path().join("grov.db");
        let store = Arc::new(SqliteStore::open(&path, &OpenOptions::default()).await.unwrap());
        let judge = Arc::new(judge);
        let (monitor, worker) = ContextMonitor::new(
            ContextPolicy::default(),
            Arc::clone(&store) as Arc<_>,
            Arc::new(OnePrompt),
            Arc::clone(&judge) as Arc<_>,
            Arc::new(SystemClock),
        );
        let source = RestorationSource::new(Arc::clone(&monitor), Arc::clone(&store) as Arc<_>);
        let sources = vec![Arc::new(source) as Arc<dyn ContextSource>];
        let long = std::time::Duration::from_secs(30);
        let timeouts = Timeouts {
            locate: long,
            load: long,
            load_large: long,
            text: long,
        };
        let (policy, injecting) = Injection::with_timeouts(timeouts, Arc::clone(&store) as Arc<_>, sources);
        let (stop_worker, worker_stopped) = oneshot::channel::<()>();
        let (stop_injection, injection_stopped) = oneshot::channel::<()>();
        let stopped = |stopped: oneshot::Receiver<()>| async {
            let _ = stopped.await;
        };
        let work = vec![
            tokio::spawn(worker.run(stopped(worker_stopped))),
            tokio::spawn(injecting.run(stopped(injection_stopped))),
        ];
        Daemon {
            monitor,
            policy,
            store,
            judge,
            stops: vec![stop_worker, stop_injection],
            work,
        }
    }

    fn request(&self, model: &str, betas: Option<&'static str>, messages: &Value) -> MessagesRequest {
        let mut headers = HeaderMap::new();
        headers.insert("x-claude-code-session-id", HeaderValue::from_static("s"));
        let project = HeaderValue::from_str(self.0.path().to_str().unwrap()).unwrap();
        headers.insert("x-grov-project", project);
        if let Some(betas) = betas {
            headers.insert("anthropic-beta", HeaderValue::from_static(betas));
        }
        let body = json!({
            "model": model, "messages": messages, "max_tokens": 100,
            "tools": [{"name": "Bash"}, {"name": "Edit"}],
        });
        MessagesRequest::new(headers, Bytes::from(body.to_string()), OffsetDateTime::now_utc())
    }
}

impl Daemon {
    /// Shows a request and its answer to the monitor.
    fn answered(&self, request: MessagesRequest, text: &str, tokens: u64) {
        let turn = Turn {
            blocks: vec![Block::Text {
                text: text.to_owned(),
                complete: true,
            }],
            usage: Usage {
                input: 10,
                cache_read: tokens.saturating_sub(30),
                output: 20,
                ..Usage::default()
            },
            stop_reason: Some("end_turn".to_owned()),
            end: TurnEnd::Complete,
            ..Turn::default()
        };
        self.monitor.observe(&ObservedExchange {
            request: Arc::new(request),
            status: 200,
            turn,
            outcome: Outcome::Complete,
            ended_at: OffsetDateTime::now_utc(),
        });
    }

    /// Returns the messages as they are sent upstream.
    async fn send(&self, request: &MessagesRequest) -> String {
        self.policy.prepare(request).await;
        let mut edits = self.policy.replay(request);
        edits.extend(self.policy.propose(request).await);
        let spliced = Splice::apply(request.index().unwrap(), &edits).unwrap();
        let body: Vec<u8> = spliced.iter().flat_map(|piece| piece.to_vec()).collect();
        serde_json::from_slice::<Value>(&body).unwrap()["messages"].to_string()
    }

    async fn compaction(&self, is_expected: impl Fn(&Compaction) -> bool) -> Compaction {
        loop {
            let newest = self.store.compactions(&session(), 1).await.unwrap();
            if let Some(found) = newest.into_iter().find(|found| is_expected(found)) {
                return found;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    }

    async fn stop(self) {
        for stop in self.stops {
            let _ = stop.send(());
        }
        for work in self.work {
            work.await.unwrap();
        }
    }
}

fn session() -> ClientSessionId {
    ClientSessionId::new("s")
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": [{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}]})
}

fn assistant(text: &str) -> Value {
    json!({"role": "assistant", "content": [{"type": "text", "text": text}]})
}

/// A history that ends with the request for a summary.
fn compaction() -> Value {
    json!([
        user("Add rate limiting to the public API. Do not add a dependency."),
        assistant("Done."),
        user("CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.\n\nSum up."),
    ])
}

/// A history that begins with a summary.
fn compacted(summary: &str, prompt: &str) -> Value {
    json!([
        {"role": "user", "content": [
            {"type": "text", "text": format!("{CONTINUED}{summary}")},
            {"type": "text", "text": prompt, "cache_control": {"type": "ephemeral"}},
        ]},
    ])
}

const SUMMARY: &str = "The user wants rate limiting on the public API.";

#[tokio::test]
async fn responses_are_measured_against_the_requested_window() {
    let home = Home::new();
    let daemon = home.daemon(Summarizer::default()).await;
    let messages = json!([user("hello")]);
    let opus = "claude-opus-4-8";
    daemon.answered(home.request(opus, None, &messages), "hi", 150_000);
    let meter = daemon.monitor.meter(&session()).unwrap();
    assert_eq!((meter.tokens, meter.percent()), (150_000, 75));
    let large = Some("effort-2025-11-24,context-1m-2025-08-07");
    daemon.answered(home.request(opus, large, &messages), "hi", 150_000);
    assert_eq!(daemon.monitor.meter(&session()).unwrap().percent(), 15);
    let store = Arc::clone(&daemon.store);
    daemon.stop().await;
    let reading = store.context_reading(&session()).await.unwrap().unwrap();
    assert_eq!((reading.tokens, reading.window_tokens), (150_000, 1_000_000));
    assert!(reading.content.unwrap().contains("tool definitions"));
    assert!(store.prepared_summary(&session()).await.unwrap().is_none());
}

#[test]
fn a_late_summary_does_not_take_the_place_of_a_newer_one() {
    let contract = GoalContract {
        goal: "Add rate limiting".to_owned(),
        ..GoalContract::default()
    };
    let points = Redacted::of(&SessionPoints::new(&contract, SessionDigest::default()));
    let summary = ContextSummary::new(points, JudgedBy::Rules, OffsetDateTime::UNIX_EPOCH, 1).unwrap();
    let mut context = SessionContext {
        summary_at: Some(5),
        ..SessionContext::default()
    };
    context.keep_summary(&summary, 3);
    assert!(
        context.summary.is_none(),
        "it covers less than what is asked for now"
    );
    context.keep_summary(&summary, 5);
    assert!(context.summary.is_some());
}

#[tokio::test]
async fn a_summary_is_prepared_from_85_percent_on() {
    let home = Home::new();
    let digest = SessionDigest {
        decisions: vec![Decision {
            choice: "a sliding window".to_owned(),
            reason: "fixed ones let twice the limit through".to_owned(),
        }],
        next_action: "write the tests".to_owned(),
        ..SessionDigest::default()
    };
    let daemon = home
        .daemon(Summarizer {
            answer: Some(digest),
            ..Summarizer::default()
        })
        .await;
    let messages = json!([user("hello")]);
    daemon.answered(home.request(HAIKU, None, &messages), "hi", 169_000);
    assert_eq!(daemon.monitor.summary(&session()), None);
    daemon.answered(home.request(HAIKU, None, &messages), "hi", 171_000);
    let summary = loop {
        match daemon.monitor.summary(&session()) {
            Some(summary) if summary.text.contains("sliding") => break summary,
            _ => tokio::time::sleep(std::time::Duration::from_millis(5)).await,
        }
    };
    assert!(
        summary.text.contains("do not add a dependency"),
        "{}",
        &*summary.text
    );
    for _ in 0..3 {
        daemon.answered(home.request(HAIKU, None, &messages), "hi", 172_000);
    }
    let (judge, store) = (Arc::clone(&daemon.judge), Arc::clone(&daemon.store));
    daemon.stop().await;
    assert_eq!(judge.asked.load(Ordering::Relaxed), 1);
    let stored = store.prepared_summary(&session()).await.unwrap().unwrap();
    assert!(stored.points.unwrap().contains("sliding window"));
}

#[tokio::test]
async fn what_a_compaction_lost_is_given_back_once() {
    let home = Home::new();
    let daemon = home.daemon(Summarizer::default()).await;
    daemon.answered(
        home.request(HAIKU, None, &json!([user("go")])),
        "Tests are missing.",
        150_000,
    );
    daemon.answered(home.request(HAIKU, None, &compaction()), SUMMARY, 150_900);
    let found = daemon.compaction(|_| true).await;
    assert!(
        found.kept.iter().any(|point| point.kind == PointKind::Goal),
        "{found:?}"
    );
    assert_eq!(found.tokens_before, Some(150_000));
    let lost: Vec<&str> = found.lost.iter().map(|point| point.text.as_str()).collect();
    assert_eq!(lost, ["do not add a dependency", "Tests are missing."]);
    assert_eq!(found.restored_at, None);

    let first = compacted(SUMMARY, "go on");
    let sent = daemon.send(&home.request(HAIKU, None, &first)).await;
    assert!(sent.contains("do not add a dependency"), "{sent}");
    assert_eq!(sent.matches(OWN_TEXT_CLOSING).count(), 1);
    let restored = daemon.compaction(|found| found.restored_at.is_some()).await;
    assert_eq!(restored.restored, restored.lost);

    let mut later = first.as_array().unwrap().clone();
    later.extend([assistant("ok"), user("and now?")]);
    let sent = daemon.send(&home.request(HAIKU, None, &json!(later))).await;
    assert_eq!(
        sent.matches(OWN_TEXT_CLOSING).count(),
        1,
        "repeated, not added: {sent}"
    );
    daemon.stop().await;
}

#[tokio::test]
async fn what_a_hook_gave_back_is_not_given_again() {
    let home = Home::new();
    let daemon = home.daemon(Summarizer::default()).await;
    daemon.answered(home.request(HAIKU, None, &compaction()), SUMMARY, 150_900);
    daemon.compaction(|_| true).await;
    let by_hook =
        "SessionStart hook additional context: <grov-context source=\"session\">\n- x\n</grov-context>";
    let history = compacted(&format!("{SUMMARY}\n{by_hook}"), "go on");
    let sent = daemon.send(&home.request(HAIKU, None, &history)).await;
    assert_eq!(sent.matches(OWN_TEXT_CLOSING).count(), 1, "{sent}");
    daemon.compaction(|found| found.restored_at.is_some()).await;
    daemon.stop().await;
}

#[tokio::test]
async fn after_a_restart_the_loss_is_still_given_back() {
    let home = Home::new();
    let daemon = home.daemon(Summarizer::default()).await;
    daemon.answered(home.request(HAIKU, None, &compaction()), SUMMARY, 150_900);
    daemon.compaction(|_| true).await;
    daemon.stop().await;
    let daemon = home.daemon(Summarizer::default()).await;
    let plain = daemon
        .send(&home.request(HAIKU, None, &json!([user("something else")])))
        .await;
    assert!(!plain.contains(OWN_TEXT_CLOSING), "{plain}");
    let sent = daemon
        .send(&home.request(HAIKU, None, &compacted(SUMMARY, "go on")))
        .await;
    assert!(sent.contains("do not add a dependency"), "{sent}");
    daemon.stop().await;
}
