//! The proxy path: requests and responses of the Messages API, as passed to the recorder, with a real store.

use crate::hooks::guarded;
use crate::session::{Call, Response, Session};
use crate::{INTERRUPTED, ROOT, SESSION, Seen};
use bytes::Bytes;
use grov_actions::transcript::typed_text;
use grov_domain::{
    ClientSessionId, Clock, DriftEvent, DriftFilter, DriftStore, ExchangeRecord, ExchangeStore, HookStore,
    Lineage, OWN_TEXT_OPENING, Project, RecordSink, Redacted, SessionStore, SinkHealth,
};
use grov_drift_proxy::{DriftMonitor, Policy};
use grov_live::{ActionChecker, ContextSource, InjectionPoint, Location, Recorder, ToolResult, UserNaming};
use grov_llm::{JudgeSettings, ModelJudge};
use grov_proxy_core::{MessagesRequest, ObservedExchange, Outcome, TurnObserver};
use grov_store::{OpenOptions, SqliteStore};
use grov_wire::response::{Block, Turn, TurnEnd};
use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use time::OffsetDateTime;
use tokio::task::JoinSet;

/// The timeout for expected records of background work.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long to wait for background work when no record is expected yet.
const UNKNOWN: Duration = Duration::from_millis(500);

/// A clock that advances by one second for each request.
struct Ticking(AtomicI64);

impl Ticking {
    fn tick(&self) -> OffsetDateTime {
        self.0.fetch_add(1, Ordering::Relaxed);
        self.now()
    }
}

impl Clock for Ticking {
    fn now(&self) -> OffsetDateTime {
        OffsetDateTime::from_unix_timestamp(self.0.load(Ordering::Relaxed)).unwrap()
    }
}

/// A sink that returns when the records are stored.
#[derive(Default)]
struct Kept(Mutex<Vec<Redacted<ExchangeRecord>>>);

impl RecordSink for Kept {
    fn submit(&self, record: Redacted<ExchangeRecord>) {
        self.0.lock().unwrap().push(record);
    }

    fn health(&self) -> SinkHealth {
        SinkHealth::default()
    }
}

/// A client that sends requests, and the proxy's parts between it and its model.
struct Client {
    drift: Arc<DriftMonitor>,
    recorder: Recorder,
    store: Arc<SqliteStore>,
    kept: Arc<Kept>,
    clock: Arc<Ticking>,
    /// The main conversation under "", and one for each subagent.
    messages: BTreeMap<String, Vec<Value>>,
    /// The findings recorded for each call together with its exchange.
    verdicts: BTreeMap<String, Value>,
    newest_call: Option<String>,
    turn: usize,
    seen: Seen,
}

pub(crate) async fn watch(session: &Session) -> Seen {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&folder.path().join("grov.db"), &OpenOptions::default()).await;
    let store = Arc::new(store.unwrap());
    let clock = Arc::new(Ticking(AtomicI64::new(1_800_000_000)));
    let judge = ModelJudge::new(
        JudgeSettings::default(),
        Arc::clone(&store) as _,
        Arc::clone(&clock) as _,
    );
    let (drift, work) = DriftMonitor::new(
        Policy::PER_ACTION,
        Arc::new(judge.unwrap()),
        Arc::clone(&store) as _,
        Arc::clone(&clock) as _,
        Arc::new(grov_rules::extract_intent),
    );
    let mut background = JoinSet::new();
    background.spawn(work.run(std::future::pending()));
    let kept = Arc::new(Kept::default());
    let recorder = Recorder::new(Arc::clone(&kept) as _, UserNaming::Off, None);
    let mut client = Client {
        recorder: recorder.with_action_checker(Arc::clone(&drift) as Arc<dyn ActionChecker>),
        drift,
        store,
        kept,
        clock,
        messages: BTreeMap::new(),
        verdicts: BTreeMap::new(),
        newest_call: None,
        turn: 0,
        seen: Seen::default(),
    };
    for (number, turn) in session.turns.iter().enumerate() {
        client.turn = number + 1;
        client.types(&turn.prompt);
        for response in &turn.responses {
            client.respond(response).await;
        }
        client.rest(session.expected_turn(number, "proxy")).await;
    }
    client.seen.actions = client.stored(session).await;
    client.seen
}

impl Client {
    /// The prompt goes with the next request. If results are pending there, the user interrupted the turn.
    fn types(&mut self, text: &str) {
        let messages = self.messages.entry(String::new()).or_default();
        let block = json!({"type": "text", "text": text});
        match messages.last_mut().filter(|last| last["role"] == "user") {
            Some(last) => {
                let content = last["content"].as_array_mut().unwrap();
                content.push(json!({"type": "text", "text": INTERRUPTED}));
                content.push(block);
            }
            None => messages.push(json!({"role": "user", "content": [block]})),
        }
    }

    /// A request, the injection into it, and the response.
    async fn respond(&mut self, response: &Response) {
        let agent = response.agent.clone().unwrap_or_default();
        let messages = self.messages.entry(agent.clone()).or_insert_with(|| {
            vec![json!({"role": "user", "content": [{"type": "text", "text": "Do what you were sent for."}]})]
        });
        let newest = messages.last().cloned().unwrap();
        let request = request(&agent, messages, self.clock.tick());
        if agent.is_empty() {
            self.inject(&newest, request.body().clone()).await;
        }
        let said = response.says.iter().map(|text| Block::Text {
            text: text.clone(),
            complete: true,
        });
        let called = response.calls.iter().map(|call| Block::ToolUse {
            id: call.id.clone(),
            name: call.tool.clone(),
            input: call.input.to_string(),
            complete: true,
        });
        let ends = response.calls.is_empty();
        self.recorder.observe(&ObservedExchange {
            request: Arc::new(request),
            status: 200,
            turn: Turn {
                blocks: said.chain(called).collect(),
                stop_reason: Some(if ends { "end_turn" } else { "tool_use" }.to_owned()),
                end: TurnEnd::Complete,
                ..Turn::default()
            },
            outcome: Outcome::Complete,
            ended_at: self.clock.tick(),
        });
        self.store_records().await;
        let said = response
            .says
            .iter()
            .map(|text| json!({"type": "text", "text": text}));
        let called = response
            .calls
            .iter()
            .map(|call| json!({"type": "tool_use", "id": call.id, "name": call.tool, "input": call.input}));
        let results = response.calls.iter().map(|call| {
            json!({"type": "tool_result", "tool_use_id": call.id, "content": call.output, "is_error": call.failed})
        });
        let messages = self.messages.entry(agent).or_default();
        messages.push(json!({"role": "assistant", "content": said.chain(called).collect::<Vec<Value>>()}));
        if !ends {
            messages.push(json!({"role": "user", "content": results.collect::<Vec<Value>>()}));
        }
        for call in &response.calls {
            if call.asked {
                let guarded = guarded(call, self.clock.now());
                self.store
                    .save_guard_record(&Redacted::of(&guarded))
                    .await
                    .unwrap();
            }
            self.newest_call = Some(call.id.clone());
        }
    }

    /// Injects a correction into a request with this newest message, if one is due, and records it.
    async fn inject(&mut self, newest: &Value, body: Bytes) {
        let blocks = newest["content"].as_array().unwrap();
        let texts = blocks.iter().filter_map(|block| block["text"].as_str());
        let texts: Vec<Cow<'_, str>> = texts.map(Cow::Borrowed).collect();
        let answered = blocks.iter().filter_map(|block| {
            Some(ToolResult {
                tool_use_id: block["tool_use_id"].as_str()?.to_owned(),
                failed: block["is_error"] == true,
            })
        });
        let answered: Vec<ToolResult> = answered.collect();
        let point = InjectionPoint {
            lineage: Lineage {
                session: ClientSessionId::new(SESSION),
                agent: None,
            },
            location: Arc::new(Location {
                project: Project {
                    path: Some(ROOT.to_owned()),
                    remote: None,
                },
                root: PathBuf::from(ROOT),
                exists: true,
            }),
            prompt: typed_text(
                &grov_domain::ClientDialect::CLAUDE_CODE,
                &texts,
                !answered.is_empty(),
            ),
            answered,
            begins: self.newest_call.is_none() && self.turn == 1,
            body,
            quoted: Default::default(),
            // Other tests cover the deadline of an injection on a busy machine.
            deadline: Instant::now() + Duration::from_secs(3600),
        };
        if !self.drift.applies(&point) {
            return;
        }
        if let Some(words) = self.drift.context(&point).await {
            assert!(words.text.contains(OWN_TEXT_OPENING.trim()), "{}", words.text);
            self.drift.delivered(&point);
            self.seen.said.push(json!({
                "turn": self.turn, "behind": self.newest_call, "level": level_of(&words.text),
            }));
        }
    }

    async fn store_records(&mut self) {
        let records = std::mem::take(&mut *self.kept.0.lock().unwrap());
        for step in records.iter().flat_map(|record| &record.steps) {
            let call = step.action.tool_use_id.clone().unwrap();
            let verdict = step.verdict.as_ref();
            self.verdicts.insert(
                call,
                json!({
                    "score": verdict.map(|verdict| verdict.score),
                    "findings": verdict.map_or(&[][..], |verdict| &verdict.findings),
                }),
            );
        }
        self.store.append(&records).await.unwrap();
    }

    /// Ends the turn. Returns mode and escalation once background work has stored them.
    async fn rest(&mut self, expected: Option<&Value>) {
        let until = Instant::now() + expected.map_or(UNKNOWN, |_| PATIENCE);
        loop {
            let state = self
                .store
                .drift_state(&ClientSessionId::new(SESSION))
                .await
                .unwrap();
            let state = state.expect("a session that acted has a state");
            let found = json!({"mode": state.mode, "escalation": state.escalation});
            if expected == Some(&found) || Instant::now() >= until {
                self.seen.turns.push(found);
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// The stored findings of the actions, once background work has written them.
    async fn stored(&self, session: &Session) -> Vec<Value> {
        let expected = session.expected_actions("proxy");
        let until = Instant::now() + expected.as_ref().map_or(UNKNOWN, |_| PATIENCE);
        loop {
            let found = self.stored_now(session).await;
            if expected.as_ref() == Some(&found) || Instant::now() >= until {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    async fn stored_now(&self, session: &Session) -> Vec<Value> {
        let id = ClientSessionId::new(SESSION);
        let steps = self.store.client_steps(&id).await.unwrap();
        let filter = DriftFilter {
            client_session_id: Some(id),
            ..DriftFilter::default()
        };
        let events: Vec<DriftEvent> = self.store.drift_events(&filter).await.unwrap();
        let of = |call: &Call| {
            let recorded = &self.verdicts[&call.id];
            let step = steps
                .iter()
                .find(|step| step.tool_use_id.as_ref() == Some(&call.id));
            // An action off goal is not a step; its findings were recorded with the exchange.
            let score = match step {
                Some(step) => json!(step.drift_score),
                None => recorded["score"].clone(),
            };
            let is_as_recorded = score == recorded["score"];
            let findings = if is_as_recorded {
                recorded["findings"].clone()
            } else {
                json!([])
            };
            json!({"call": call.id, "score": score, "findings": findings})
        };
        let actions: Vec<Value> = session.calls().map(of).collect();
        assert_eq!(
            steps.len() + events.len(),
            actions.len(),
            "each action is stored once"
        );
        actions
    }
}

/// The escalation level of a correction's text.
fn level_of(text: &str) -> String {
    let start = text.find("level=\"").map(|at| at + "level=\"".len());
    let rest = start.map(|start| &text[start..]);
    rest.and_then(|rest| rest.split('"').next())
        .unwrap_or("?")
        .to_owned()
}

fn request(agent: &str, messages: &[Value], at: OffsetDateTime) -> MessagesRequest {
    let tools: Vec<Value> = (0..20)
        .map(|number| json!({"name": format!("T{number}")}))
        .collect();
    let body = json!({
        "model": "claude", "messages": messages, "tools": tools,
        "system": [{"type": "text", "text": format!("# Environment\n - Primary working directory: {ROOT}\n")}],
    });
    let mut headers = HeaderMap::new();
    headers.insert("x-claude-code-session-id", HeaderValue::from_static(SESSION));
    if !agent.is_empty() {
        headers.insert("x-claude-code-agent-id", HeaderValue::from_str(agent).unwrap());
    }
    MessagesRequest::new(headers, Bytes::from(body.to_string()), at)
}
