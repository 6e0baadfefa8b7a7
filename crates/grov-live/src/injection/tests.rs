//! The injection policy with a real store.

use super::shared::Timeouts;
use super::*;
use bytes::Bytes;
use grov_domain::{
    ClientSessionId, MemoryStore, OWN_TEXT_CLOSING, OWN_TEXT_OPENING, SwitchScope, Task, TaskStore,
};
use grov_proxy_core::MessagesRequest;
use grov_proxy_core::RequestPolicy;
use grov_redact::Redactor;
use grov_store::{OpenOptions, SqliteStore};
use grov_wire::Splice;
use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};
use std::sync::Mutex;
use std::time::Duration;
use tempfile::TempDir;
use time::OffsetDateTime;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

mod late_lost;
mod left_out;

/// For tests that are not about timeouts.
const LONG_TIMEOUTS: Timeouts = Timeouts {
    locate: Duration::from_secs(30),
    load: Duration::from_secs(30),
    load_large: Duration::from_secs(30),
    text: Duration::from_secs(30),
};

/// Returns a numbered text for each prompt.
#[derive(Default)]
struct TestSource {
    prompts_seen: Mutex<Vec<String>>,
    delay: Duration,
    /// How many of the first answers are delayed; `None` for all.
    delayed: Option<usize>,
    quotes: Vec<TaskId>,
}

#[async_trait]
impl ContextSource for TestSource {
    fn name(&self) -> &'static str {
        "source"
    }

    fn applies(&self, point: &InjectionPoint) -> bool {
        !point.prompt.is_empty()
    }

    fn is_useful_later(&self) -> bool {
        true
    }

    fn is_memory(&self) -> bool {
        true
    }

    async fn context(&self, point: &InjectionPoint) -> Option<ContextText> {
        let number = {
            let mut prompts_seen = self.prompts_seen.lock().unwrap();
            prompts_seen.push(point.prompt.clone());
            prompts_seen.len()
        };
        if self.delayed.is_none_or(|delayed| number <= delayed) {
            tokio::time::sleep(self.delay).await;
        }
        Some(ContextText {
            text: Redactor::shared().text(&format!("{OWN_TEXT_OPENING}>\nnote {number}\n{OWN_TEXT_CLOSING}")),
            memories: self.quotes.clone(),
        })
    }
}

/// Waits until a condition is true. The test runner ends a test that waits forever.
async fn wait_until(condition: impl AsyncFn() -> bool) {
    while !condition().await {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A policy with its background work, as in a daemon.
struct Daemon {
    policy: Injection,
    source: Arc<TestSource>,
    stop: oneshot::Sender<()>,
    work: JoinHandle<()>,
}

/// A home directory with a database, which is also the project.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    async fn store(&self) -> Arc<SqliteStore> {
        let path = self.0.path().join("grov.db");
        Arc::new(SqliteStore::open(&path, &OpenOptions::default()).await.unwrap())
    }

    async fn daemon(&self, source: TestSource) -> Daemon {
        // Only a slow source needs real timeouts. A fast one must not time out on a busy machine.
        let timeouts = if source.delay.is_zero() {
            LONG_TIMEOUTS
        } else {
            Timeouts::default()
        };
        self.daemon_with_timeouts(timeouts, source).await
    }

    async fn daemon_with_timeouts(&self, timeouts: Timeouts, source: TestSource) -> Daemon {
        let source = Arc::new(source);
        let sources = vec![Arc::clone(&source) as Arc<dyn ContextSource>];
        let (policy, work) = Injection::with_timeouts(timeouts, self.store().await, sources);
        let (stop, stopped) = oneshot::channel();
        #[allow(clippy::disallowed_methods, reason = "awaited in stop")]
        let work = tokio::spawn(work.run(async {
            let _ = stopped.await;
        }));
        Daemon {
            policy,
            source,
            stop,
            work,
        }
    }

    /// Waits until the store has one decision for session "s": nothing.
    async fn wait_for_one_decision(&self) {
        let store = self.store().await;
        let lineage = Lineage {
            session: grov_domain::ClientSessionId::new("s"),
            agent: None,
        };
        wait_until(async || {
            let kept = store.lineage(&lineage).await.unwrap().unwrap_or_default();
            matches!(&kept.entries[..], [entry] if entry.block.is_none())
        })
        .await;
    }

    fn request(&self, session: &str, messages: &Value) -> MessagesRequest {
        self.request_of(session, None, messages)
    }

    fn request_of(&self, session: &str, agent: Option<&str>, messages: &Value) -> MessagesRequest {
        let mut headers = HeaderMap::new();
        let mut put = |name: &'static str, value: &str| {
            headers.insert(name, HeaderValue::from_str(value).unwrap());
        };
        put("x-claude-code-session-id", session);
        put("x-grov-project", self.0.path().to_str().unwrap());
        if let Some(agent) = agent {
            put("x-claude-code-agent-id", agent);
        }
        let body = json!({
            "model": "claude-test",
            "messages": messages,
            "tools": [{"name": "Bash"}, {"name": "Edit"}],
            "max_tokens": 100,
        });
        MessagesRequest::new(headers, Bytes::from(body.to_string()), OffsetDateTime::now_utc())
    }
}

impl Daemon {
    /// Returns the messages as they are sent upstream.
    async fn send(&self, request: &MessagesRequest) -> Value {
        let edits = self.edits(request).await;
        let spliced = Splice::apply(request.index().unwrap(), &edits).unwrap();
        let body: Vec<u8> = spliced.iter().flat_map(|piece| piece.to_vec()).collect();
        serde_json::from_slice::<Value>(&body).unwrap()["messages"].clone()
    }

    async fn edits(&self, request: &MessagesRequest) -> Vec<grov_wire::Edit> {
        self.policy.prepare(request).await;
        let mut edits = self.policy.replay(request);
        edits.extend(self.policy.propose(request).await);
        edits
    }

    fn call_count(&self) -> usize {
        self.source.prompts_seen.lock().unwrap().len()
    }

    fn count(&self, name: &str) -> u64 {
        let all = self.policy.counters().all();
        all.into_iter().find(|(known, _)| *known == name).unwrap().1
    }

    async fn stop(self) {
        let _ = self.stop.send(());
        self.work.await.unwrap();
    }
}

fn text(words: &str) -> Value {
    json!({"type": "text", "text": words})
}

fn marked(words: &str) -> Value {
    json!({"type": "text", "text": words, "cache_control": {"type": "ephemeral"}})
}

fn note(number: usize) -> Value {
    text(&format!("{OWN_TEXT_OPENING}>\nnote {number}\n{OWN_TEXT_CLOSING}"))
}

fn user(content: Value) -> Value {
    json!({"role": "user", "content": content})
}

fn assistant(content: Value) -> Value {
    json!({"role": "assistant", "content": content})
}

/// The first request of a conversation. In later requests the prompt is a plain string.
fn first() -> Value {
    json!([user(json!([marked("fix the retry")]))])
}

fn second() -> Value {
    json!([
        user(json!("fix the retry")),
        assistant(json!([{"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}])),
        user(
            json!([{"type": "tool_result", "tool_use_id": "t1", "content": "ok", "cache_control": {"type": "ephemeral"}}])
        ),
    ])
}

#[tokio::test]
async fn an_added_text_is_repeated_at_the_same_place() {
    let home = Home::new();
    let daemon = home.daemon(TestSource::default()).await;
    let sent = daemon.send(&home.request("s", &first())).await;
    assert_eq!(sent[0]["content"], json!([marked("fix the retry"), note(1)]));
    let sent = daemon.send(&home.request("s", &second())).await;
    assert_eq!(sent[0]["content"], json!([text("fix the retry"), note(1)]));
    assert_eq!(sent[2], second()[2], "nothing new inside a tool loop");
    assert_eq!(daemon.call_count(), 1);
    assert_eq!((daemon.count("added"), daemon.count("repeated")), (1, 1));
}

#[tokio::test]
async fn a_repeated_request_gets_the_same_text() {
    let home = Home::new();
    let daemon = home.daemon(TestSource::default()).await;
    let sent = daemon.send(&home.request("s", &first())).await;
    let again = daemon.send(&home.request("s", &first())).await;
    assert_eq!(sent, again);
    let (one, other) = (home.request("t", &first()), home.request("t", &first()));
    let (one, other) = tokio::join!(daemon.send(&one), daemon.send(&other));
    assert_eq!(one, other, "prompts_seen at the same time");
    assert_eq!(daemon.call_count(), 2);
}

#[tokio::test]
async fn a_restarted_daemon_repeats_the_text() {
    let home = Home::new();
    let daemon = home.daemon(TestSource::default()).await;
    let sent = daemon.send(&home.request("s", &first())).await;
    daemon.stop().await;
    let daemon = home.daemon(TestSource::default()).await;
    assert_eq!(daemon.send(&home.request("s", &first())).await, sent);
    let later = daemon.send(&home.request("s", &second())).await;
    assert_eq!(later[0]["content"][1], note(1));
    assert_eq!(daemon.call_count(), 0);
}

#[tokio::test]
async fn a_fork_adopts_the_texts_and_a_session_with_the_same_prompt_does_not() {
    let home = Home::new();
    let daemon = home.daemon(TestSource::default()).await;
    daemon.send(&home.request("s", &first())).await;
    daemon.send(&home.request("s", &second())).await;
    daemon.stop().await;
    let daemon = home.daemon(TestSource::default()).await;
    let twin = daemon.send(&home.request("twin", &first())).await;
    assert_eq!(
        (daemon.call_count(), &twin[0]["content"][1]),
        (1, &note(1)),
        "its own note"
    );
    let mut forked = second();
    forked.as_array_mut().unwrap().extend([
        assistant(json!("done")),
        user(json!([marked("and now the tests")])),
    ]);
    let sent = daemon.send(&home.request("fork", &forked)).await;
    assert_eq!(sent[0]["content"][1], note(1));
    assert_eq!(sent[4]["content"][1], note(2));
    assert_eq!(daemon.call_count(), 2);
}

#[tokio::test]
async fn a_late_text_is_not_added_at_its_own_place() {
    let home = Home::new();
    let slow = TestSource {
        delay: Duration::from_secs(5),
        ..TestSource::default()
    };
    let daemon = home.daemon(slow).await;
    assert_eq!(daemon.send(&home.request("s", &first())).await, first());
    assert_eq!(daemon.count("late"), 1);
    daemon.stop().await;
    let daemon = home.daemon(TestSource::default()).await;
    assert_eq!(daemon.send(&home.request("s", &first())).await, first());
    assert_eq!(daemon.call_count(), 0, "the decision was kept");
}

/// A source whose first answer is late and whose others are not.
fn late_once() -> TestSource {
    TestSource {
        delay: Duration::from_secs(5),
        delayed: Some(1),
        ..TestSource::default()
    }
}

impl Daemon {
    /// Waits until a session has a late text.
    async fn wait_for_late_text(&self, session: &str) {
        let lineage = Lineage {
            session: ClientSessionId::new(session),
            agent: None,
        };
        let slot = self.policy.shared.slot(&lineage);
        wait_until(async || slot.state().late_texts().is_ready()).await;
    }
}

/// A third request of the same turn.
fn third() -> Value {
    let mut messages = second();
    messages[2] = user(json!([{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]));
    messages.as_array_mut().unwrap().extend([
        assistant(json!([{"type": "tool_use", "id": "t2", "name": "Bash", "input": {}}])),
        user(
            json!([{"type": "tool_result", "tool_use_id": "t2", "content": "ok", "cache_control": {"type": "ephemeral"}}]),
        ),
    ]);
    messages
}

#[tokio::test]
async fn a_late_text_is_added_at_the_next_place_of_the_turn_once() {
    let home = Home::new();
    let daemon = home.daemon(late_once()).await;
    assert_eq!(daemon.send(&home.request("s", &first())).await, first());
    daemon.wait_for_late_text("s").await;
    let sent = daemon.send(&home.request("s", &second())).await;
    assert_eq!(sent[0], second()[0], "nothing where it was too late");
    assert_eq!(sent[2]["content"], json!([second()[2]["content"][0], note(2)]));
    assert_eq!(daemon.send(&home.request("s", &second())).await, sent, "repeated");
    let sent = daemon.send(&home.request("s", &third())).await;
    assert_eq!(sent[2]["content"], json!([third()[2]["content"][0], note(2)]));
    assert_eq!(sent[4], third()[4], "once");
    assert_eq!((daemon.count("late"), daemon.count("added_later")), (1, 1));
    daemon.stop().await;
    let daemon = home.daemon(TestSource::default()).await;
    assert_eq!(
        daemon.send(&home.request("s", &third())).await,
        sent,
        "after a restart"
    );
}

#[tokio::test]
async fn a_late_text_is_not_added_in_another_turn_or_history() {
    let home = Home::new();
    let daemon = home.daemon(late_once()).await;
    daemon.send(&home.request("s", &first())).await;
    daemon.wait_for_late_text("s").await;
    let other = json!([
        user(json!("something else")),
        assistant(json!([{"type": "tool_use", "id": "t9", "name": "Bash", "input": {}}])),
        user(json!([{"type": "tool_result", "tool_use_id": "t9", "content": "ok"}])),
    ]);
    assert_eq!(
        daemon.send(&home.request("s", &other)).await,
        other,
        "the user went back"
    );
    let next = json!([
        user(json!("fix the retry")),
        assistant(json!("done")),
        user(json!([marked("and now the tests")])),
    ]);
    let sent = daemon.send(&home.request("s", &next)).await;
    assert_eq!(sent[2]["content"], json!([marked("and now the tests"), note(3)]));
}

#[tokio::test]
async fn a_late_text_about_a_forgotten_memory_is_not_added() {
    let home = Home::new();
    let store = home.store().await;
    store
        .save_task(&Redacted::of(&memory(&home, "m1")))
        .await
        .unwrap();
    let quoting = TestSource {
        quotes: vec![TaskId::new("m1")],
        ..late_once()
    };
    let daemon = home.daemon(quoting).await;
    daemon.send(&home.request("s", &first())).await;
    daemon.wait_for_late_text("s").await;
    store.forget(&[TaskId::new("m1")]).await.unwrap();
    assert_eq!(daemon.send(&home.request("s", &second())).await, second());
}

#[tokio::test]
async fn a_late_text_waits_while_there_is_no_room() {
    let home = Home::new();
    let daemon = home.daemon(late_once()).await;
    daemon.send(&home.request("s", &first())).await;
    daemon.wait_for_late_text("s").await;
    // The cached prefix is at the edge of the look-back.
    let answer: Vec<Value> = (0..17).map(|part| text(&format!("part {part}"))).collect();
    let results = json!([
        {"type": "tool_result", "tool_use_id": "t1", "content": "ok"},
        {"type": "text", "text": "<system-reminder>x</system-reminder>", "cache_control": {"type": "ephemeral"}},
    ]);
    let mut calls = answer;
    calls.push(json!({"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}));
    let wide = json!([
        user(json!("fix the retry")),
        assistant(json!(calls)),
        user(results)
    ]);
    assert_eq!(daemon.send(&home.request("s", &wide)).await, wide);
    let slot = daemon.policy.shared.slot(&Lineage {
        session: ClientSessionId::new("s"),
        agent: None,
    });
    assert!(slot.state().late_texts().is_ready());
}

#[tokio::test]
async fn a_request_that_stopped_waiting_stays_without_text() {
    let home = Home::new();
    let slow = TestSource {
        delay: Duration::from_millis(3),
        ..TestSource::default()
    };
    let daemon = home.daemon(slow).await;
    let request = home.request("s", &first());
    daemon.policy.prepare(&request).await;
    assert!(daemon.policy.replay(&request).is_empty());
    let impatient = tokio::time::timeout(Duration::ZERO, daemon.policy.propose(&request)).await;
    assert!(impatient.is_err());
    home.wait_for_one_decision().await;
    daemon.wait_for_late_text("s").await;
    assert_eq!(daemon.send(&home.request("s", &first())).await, first());
    // Its text comes with the next request of the turn, and the first message still has none.
    let sent = daemon.send(&home.request("s", &second())).await;
    assert_eq!(sent[0], second()[0]);
    assert_ne!(sent, second());
    daemon.stop().await;
    let daemon = home.daemon(TestSource::default()).await;
    assert_eq!(daemon.send(&home.request("s", &second())).await, sent);
}

#[tokio::test]
async fn side_requests_get_earlier_texts_only() {
    let home = Home::new();
    let daemon = home.daemon(TestSource::default()).await;
    daemon.send(&home.request("s", &first())).await;
    let mut suggestion = second();
    suggestion.as_array_mut().unwrap().extend([
        assistant(json!([marked("done")])),
        user(json!("[SUGGESTION MODE: what next?")),
    ]);
    let sent = daemon.send(&home.request("s", &suggestion)).await;
    assert_eq!(sent[0]["content"][1], note(1));
    assert_eq!(sent[4], suggestion[4]);
    let agent = home.request_of("s", Some("a1"), &json!([user(json!("look at the retry"))]));
    assert_eq!(
        daemon.send(&agent).await,
        json!([user(json!("look at the retry"))])
    );
    assert_eq!(daemon.call_count(), 1);
}

#[tokio::test]
async fn no_text_is_added_to_a_turn_with_text_of_a_hook() {
    let home = Home::new();
    let daemon = home.daemon(TestSource::default()).await;
    let spoken = json!([
        user(json!([text("fix the retry")])),
        {"role": "system", "content": format!("hook says {OWN_TEXT_OPENING}>x{OWN_TEXT_CLOSING}")},
    ]);
    assert_eq!(daemon.send(&home.request("s", &spoken)).await, spoken);
    assert_eq!(daemon.call_count(), 0);
}

#[tokio::test]
async fn a_block_of_grov_that_the_user_pasted_does_not_switch_memory_off() {
    let home = Home::new();
    let daemon = home.daemon(TestSource::default()).await;
    let pasted = format!("{OWN_TEXT_OPENING}>x{OWN_TEXT_CLOSING} fix the retry");
    let spoken = json!([user(json!([marked(&pasted)]))]);
    let sent = daemon.send(&home.request("s", &spoken)).await;
    assert_eq!(sent[0]["content"], json!([marked(&pasted), note(1)]));
    assert_eq!(daemon.call_count(), 1);
}

#[tokio::test]
async fn switching_off_stops_new_texts_and_keeps_earlier_ones() {
    let home = Home::new();
    let daemon = home.daemon(TestSource::default()).await;
    daemon.send(&home.request("s", &first())).await;
    let project = project_key(&home);
    let store = home.store().await;
    store
        .switch(&SwitchScope::Project(project.clone()), false)
        .await
        .unwrap();
    let session = ClientSessionId::new("s");
    wait_until(async || daemon.policy.shared.watcher.is_switched_off(&session, &project)).await;
    let mut later = second();
    later.as_array_mut().unwrap().extend([
        assistant(json!("done")),
        user(json!([marked("and now the tests")])),
    ]);
    let sent = daemon.send(&home.request("s", &later)).await;
    assert_eq!(sent[0]["content"][1], note(1));
    assert_eq!(sent[4], later[4]);
}

fn project_key(home: &Home) -> String {
    grov_project::ProjectLocation::locate(home.0.path())
        .project()
        .key()
        .to_owned()
}

fn memory(home: &Home, id: &str) -> Task {
    Task::new(id, &project_key(home), "a query")
}

#[tokio::test]
async fn forgetting_a_memory_removes_its_quotes() {
    let home = Home::new();
    let store = home.store().await;
    store
        .save_task(&Redacted::of(&memory(&home, "m1")))
        .await
        .unwrap();
    let quoting = TestSource {
        quotes: vec![TaskId::new("m1")],
        ..TestSource::default()
    };
    let daemon = home.daemon(quoting).await;
    let sent = daemon.send(&home.request("s", &first())).await;
    assert_eq!(sent[0]["content"][1], note(1));
    store.forget(&[TaskId::new("m1")]).await.unwrap();
    let repeated = home.request("s", &first());
    wait_until(async || {
        daemon.policy.prepare(&repeated).await;
        daemon.policy.replay(&repeated).is_empty()
    })
    .await;
    assert_eq!(daemon.send(&home.request("s", &second())).await, second());
}

#[tokio::test]
async fn a_rejected_request_disables_edits_of_its_lineage() {
    let home = Home::new();
    let daemon = home.daemon(TestSource::default()).await;
    let request = home.request("s", &first());
    daemon.send(&request).await;
    daemon.policy.edits_rejected(&request);
    assert_eq!(daemon.send(&home.request("s", &second())).await, second());
    daemon.stop().await;
    let daemon = home.daemon(TestSource::default()).await;
    assert_eq!(daemon.send(&home.request("s", &second())).await, second());
}

#[tokio::test]
async fn edits_that_were_not_sent_are_not_repeated() {
    let home = Home::new();
    let daemon = home.daemon(TestSource::default()).await;
    let request = home.request("s", &first());
    assert_eq!(daemon.edits(&request).await.len(), 1);
    daemon.policy.edits_discarded(&request);
    assert_eq!(daemon.send(&home.request("s", &second())).await, second());
}

/// A history that another session can continue.
fn forked() -> Value {
    let mut forked = second();
    forked.as_array_mut().unwrap().extend([
        assistant(json!("done")),
        user(json!([marked("and now the tests")])),
    ]);
    forked
}

#[tokio::test]
async fn a_fork_adopts_the_texts_once_its_project_is_known() {
    let home = Home::new();
    let daemon = home.daemon(TestSource::default()).await;
    daemon.send(&home.request("s", &first())).await;
    daemon.send(&home.request("s", &second())).await;
    daemon.stop().await;
    let daemon = home.daemon(TestSource::default()).await;
    let mut headers = HeaderMap::new();
    headers.insert("x-claude-code-session-id", HeaderValue::from_static("fork"));
    let placeless = home.request("fork", &forked()).body().clone();
    let placeless = MessagesRequest::new(headers, placeless, OffsetDateTime::now_utc());
    assert_eq!(daemon.send(&placeless).await, forked());
    let sent = daemon.send(&home.request("fork", &forked())).await;
    assert_eq!(sent[0]["content"][1], note(1));
}

#[tokio::test]
async fn a_directory_that_times_out_is_counted_and_retried() {
    let home = Home::new();
    let timeouts = Timeouts {
        locate: Duration::from_millis(1),
        ..LONG_TIMEOUTS
    };
    let daemon = home.daemon_with_timeouts(timeouts, TestSource::default()).await;
    let hangs = daemon
        .policy
        .shared
        .projects
        .hold(home.0.path().to_str().unwrap());
    let request = home.request("s", &first());
    assert_eq!(daemon.send(&request).await, first());
    assert_eq!((daemon.count("not_located"), daemon.call_count()), (1, 0));
    drop(hangs);
    let mut sessions = 0..1000;
    while daemon.call_count() == 0 {
        let session = sessions.next().expect("it is looked at again");
        daemon.send(&home.request(&session.to_string(), &first())).await;
    }
    daemon.stop().await;
}

#[tokio::test]
async fn a_stored_text_that_was_not_sent_is_withdrawn_at_once() {
    let home = Home::new();
    let slow = TestSource {
        delay: Duration::from_millis(3),
        ..TestSource::default()
    };
    let daemon = home.daemon(slow).await;
    let request = home.request("s", &first());
    daemon.policy.prepare(&request).await;
    assert!(daemon.policy.replay(&request).is_empty());
    let is_sent = tokio::select! {
        biased;
        _ = daemon.policy.propose(&request) => true,
        () = std::future::ready(()) => false,
    };
    assert!(!is_sent);
    home.wait_for_one_decision().await;
    daemon.work.abort();
    let daemon = home.daemon(TestSource::default()).await;
    assert_eq!(daemon.send(&home.request("s", &second())).await, second());
}

#[tokio::test]
async fn a_history_that_grows_during_a_decision_gets_no_text_there() {
    let home = Home::new();
    let slow = TestSource {
        delay: Duration::from_millis(3),
        ..TestSource::default()
    };
    let daemon = home.daemon(slow).await;
    let (one, two) = (home.request("s", &first()), home.request("s", &second()));
    daemon.policy.prepare(&one).await;
    daemon.policy.replay(&one);
    let (_, sent) = tokio::join!(daemon.policy.propose(&one), daemon.send(&two));
    let later = daemon.send(&home.request("s", &forked())).await;
    assert_eq!(sent[0]["content"].is_array(), later[0]["content"].is_array());
}

#[tokio::test]
async fn a_memory_is_quoted_once_in_a_history() {
    let home = Home::new();
    let store = home.store().await;
    let about = "exponential backoff for the webhook retry queue in src/webhook/retry.rs";
    let known = Task {
        goal: Some(about.to_owned()),
        files_touched: vec!["src/webhook/retry.rs".to_owned()],
        ..memory(&home, "m1")
    };
    store.save_task(&Redacted::of(&known)).await.unwrap();
    let source = crate::memory_source::MemorySource::new(
        store.clone(),
        grov_memory::Ranking::for_injection(),
        grov_memory::Budget::default(),
    );
    let (policy, work) = Injection::with_timeouts(LONG_TIMEOUTS, store, vec![Arc::new(source)]);
    let mut turns = Vec::new();
    let sending = async {
        for part in 0..3 {
            turns.push(user(json!([marked(&format!("{about}, part {part}"))])));
            let request = home.request("s", &json!(turns));
            policy.prepare(&request).await;
            let edits = [policy.replay(&request), policy.propose(&request).await].concat();
            assert_eq!(edits.len(), 1, "turn {part}");
            turns.push(assistant(json!(format!("done {part}"))));
        }
    };
    tokio::select! {
        () = sending => {}
        () = work.run(std::future::pending()) => {}
    }
}

/// Returns a second request, after an answer with this many parts.
fn wide(parts: usize) -> Value {
    let answer: Vec<Value> = (0..parts).map(|part| text(&format!("part {part}"))).collect();
    json!([
        user(json!("fix the retry")),
        assistant(json!(answer)),
        user(json!([marked("and now the tests")])),
    ])
}

#[tokio::test]
async fn a_block_that_would_invalidate_the_cached_prefix_is_withdrawn() {
    let home = Home::new();
    let daemon = home.daemon(TestSource::default()).await;
    for (session, parts, stays) in [("a", 17, true), ("b", 18, false), ("c", 19, true)] {
        daemon.send(&home.request(session, &first())).await;
        let sent = daemon.send(&home.request(session, &wide(parts))).await;
        assert_eq!(sent[0]["content"].is_array(), stays, "{parts} parts");
    }
    assert_eq!(daemon.count("withdrawn"), 1);
    daemon.stop().await;
    let daemon = home.daemon(TestSource::default()).await;
    let sent = daemon.send(&home.request("b", &wide(18))).await;
    assert!(sent[0]["content"].is_string(), "for good");
}

#[tokio::test]
async fn with_an_unreadable_store_requests_go_out_unchanged() {
    let home = Home::new();
    let source = Arc::new(TestSource::default());
    let path = home.0.path().join("grov.db");
    std::fs::write(
        &path,
        b"this is no database, but long enough to be taken for a broken one",
    )
    .unwrap();
    let store = Arc::new(SqliteStore::reopening(
        &path,
        &OpenOptions::default(),
        grov_store::OnCorruption::Fail,
    ));
    let (policy, _work) = Injection::with_timeouts(LONG_TIMEOUTS, store, vec![source.clone()]);
    let request = home.request("s", &first());
    policy.prepare(&request).await;
    assert!(policy.replay(&request).is_empty());
    assert!(policy.propose(&request).await.is_empty());
    assert!(policy.counters().all().contains(&("not_loaded", 1)));
}

#[test]
fn the_stored_block_equals_the_sent_block() {
    let text = "one \"two\"\n\u{1} é 修 </grov-context>";
    let redacted = Redactor::shared().text(text);
    let block = super::shared::block_of(&[redacted.clone(), redacted]);
    assert_eq!(
        block.as_bytes(),
        &grov_wire::text_block(&format!("{text}\n{text}"))[..]
    );
}
