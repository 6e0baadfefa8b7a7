use super::*;
use crate::tasks::testing::orchestrator_with_task;
use bytes::Bytes;
use grov_domain::Redacted;
use grov_domain::SinkHealth;
use grov_proxy_core::{ConnectionProfile, MessagesRequest, UpstreamHandle};
use grov_wire::response::{Block, Turn, TurnEnd};
use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};
use time::OffsetDateTime;

#[derive(Default)]
struct Kept(Mutex<Vec<ExchangeRecord>>);

impl RecordSink for Kept {
    fn submit(&self, record: Redacted<ExchangeRecord>) {
        self.0.lock().unwrap().push(record.into_inner());
    }

    fn health(&self) -> SinkHealth {
        SinkHealth::default()
    }
}

struct Session {
    kept: Arc<Kept>,
    recorder: Recorder,
    messages: Vec<Value>,
    agent: Option<&'static str>,
    profile: Option<Arc<ConnectionProfile>>,
}

impl Session {
    fn new() -> Self {
        let kept = Arc::new(Kept::default());
        let recorder = Recorder::new(Arc::clone(&kept) as Arc<_>, UserNaming::Off, None);
        Self {
            kept,
            recorder,
            messages: Vec::new(),
            agent: None,
            profile: None,
        }
    }

    fn message(&mut self, role: &str, content: Value) -> &mut Self {
        self.messages.push(json!({"role": role, "content": content}));
        self
    }

    /// Sends the conversation and records the answer. Returns the record.
    fn answered(&mut self, blocks: Vec<Block>, outcome: Outcome) -> ExchangeRecord {
        self.observe(blocks, outcome);
        self.kept.0.lock().unwrap().last().unwrap().clone()
    }

    fn observe(&mut self, blocks: Vec<Block>, outcome: Outcome) {
        let tools: Vec<Value> = (0..20).map(|n| json!({"name": format!("T{n}")})).collect();
        let body = json!({
            "model": "m", "messages": self.messages, "tools": tools,
            "system": [{"type": "text", "text": "# Environment\n - Primary working directory: /nowhere/project\n"}],
        });
        let mut headers = HeaderMap::new();
        headers.insert("x-claude-code-session-id", HeaderValue::from_static("s1"));
        if let Some(agent) = self.agent {
            headers.insert("x-claude-code-agent-id", HeaderValue::from_static(agent));
        }
        let request =
            MessagesRequest::new(headers, Bytes::from(body.to_string()), OffsetDateTime::UNIX_EPOCH)
                .with_profile(self.profile.clone());
        let turn = Turn {
            blocks,
            end: TurnEnd::Complete,
            ..Turn::default()
        };
        self.recorder.observe(&ObservedExchange {
            request: Arc::new(request),
            status: 200,
            turn,
            outcome,
            ended_at: OffsetDateTime::UNIX_EPOCH,
        });
    }
}

fn call(id: &str, name: &str, input: Value) -> Block {
    Block::ToolUse {
        id: id.into(),
        name: name.into(),
        input: input.to_string(),
        complete: true,
    }
}

fn results(ids: &[&str]) -> Value {
    ids.iter()
        .map(|id| json!({"type": "tool_result", "tool_use_id": id, "content": "ok"}))
        .collect()
}

fn uses(ids: &[&str]) -> Value {
    ids.iter()
        .map(|id| json!({"type": "tool_use", "id": id, "name": "Bash", "input": {}}))
        .collect()
}

#[test]
fn seventy_requests_of_a_prompt_are_one_prompt_and_seventy_steps() {
    let mut session = Session::new();
    session.message("user", json!("fix everything"));
    for step in 0..70 {
        let id = format!("t{step}");
        let record = session.answered(
            vec![call(&id, "Bash", json!({"command": "ls"}))],
            Outcome::Complete,
        );
        assert_eq!(record.session_id.as_str(), "s1");
        session
            .message("assistant", uses(&[&id]))
            .message("user", results(&[&id]));
    }
    let records = session.kept.0.lock().unwrap();
    assert_eq!(
        records.iter().map(|record| record.prompts.len()).sum::<usize>(),
        1
    );
    assert_eq!(records.iter().map(|record| record.steps.len()).sum::<usize>(), 70);
}

#[test]
fn a_repeated_request_has_no_new_prompt() {
    let mut session = Session::new();
    session.message("user", json!("fix it"));
    assert_eq!(
        session.answered(Vec::new(), Outcome::UpstreamError).prompts.len(),
        1
    );
    assert_eq!(
        session.answered(Vec::new(), Outcome::UpstreamError).prompts.len(),
        0
    );
    assert_eq!(session.answered(Vec::new(), Outcome::Complete).prompts.len(), 0);
}

#[test]
fn calls_of_an_incomplete_answer_count_when_their_results_arrive() {
    let broken = || {
        vec![
            call("ran", "Write", json!({"file_path": "/p/a"})),
            call("not", "Write", json!({"file_path": "/p/b"})),
        ]
    };
    let mut session = Session::new();
    session.message("user", json!("go"));
    assert_eq!(session.answered(broken(), Outcome::Truncated).steps.len(), 0);
    session
        .message("assistant", uses(&["ran"]))
        .message("user", results(&["ran"]));
    let steps = session
        .answered(
            vec![call("next", "Bash", json!({"command": "ls"}))],
            Outcome::Complete,
        )
        .steps;
    let ids: Vec<_> = steps
        .iter()
        .filter_map(|step| step.action.tool_use_id.as_deref())
        .collect();
    assert_eq!(ids, ["ran", "next"]);
}

#[test]
fn a_subagent_has_its_own_steps_and_no_prompts() {
    let mut session = Session::new();
    session.agent = Some("a1");
    session.message("user", json!("look around"));
    let record = session.answered(
        vec![call("t", "Read", json!({"file_path": "/p/x"}))],
        Outcome::Complete,
    );
    assert_eq!(record.kind, ExchangeKind::Subagent);
    assert_eq!(record.agent_id.unwrap().as_str(), "a1");
    assert_eq!((record.prompts.len(), record.steps.len()), (0, 1));
}

#[test]
fn the_nearest_text_is_the_reasoning_and_the_project_is_found() {
    let mut session = Session::new();
    session.message("user", json!("go"));
    let text = |text: &str| Block::Text {
        text: text.into(),
        complete: true,
    };
    let record = session.answered(
        vec![
            text("First this."),
            call("a", "Bash", json!({"command": "ls"})),
            text("Then that."),
            call("b", "Edit", json!({"file_path": "src/x.rs"})),
            call("c", "Bash", json!({"command": "make"})),
            text("Done."),
        ],
        Outcome::Complete,
    );
    assert_eq!(record.project.path.as_deref(), Some("/nowhere/project"));
    let reasons: Vec<_> = record
        .steps
        .iter()
        .map(|step| step.reasoning.as_deref().unwrap())
        .collect();
    assert_eq!(reasons, ["First this.", "Then that.", "Then that."]);
    assert_eq!(record.steps[0].id.as_str(), format!("{}-000", record.id));
}

#[test]
fn an_incomplete_call_is_not_an_action() {
    let mut session = Session::new();
    session.message("user", json!("go"));
    let cut = Block::ToolUse {
        id: "t".into(),
        name: "Write".into(),
        input: "{\"file".into(),
        complete: false,
    };
    assert_eq!(session.answered(vec![cut], Outcome::Complete).steps.len(), 0);
}

#[test]
fn questions_to_the_user_include_the_plan() {
    let turn = Turn {
        blocks: vec![
            call("q", "AskUserQuestion", json!({"questions": []})),
            call("p", "ExitPlanMode", json!({"plan": "1. Drop the table"})),
            call("b", "Bash", json!({"command": "ls"})),
        ],
        ..Turn::default()
    };
    let asked = questions(&ClientDialect::CLAUDE_CODE, &turn);
    let plans: Vec<_> = asked
        .iter()
        .map(|one| (one.tool_use_id.as_str(), one.plan.as_deref()))
        .collect();
    assert_eq!(plans, [("q", None), ("p", Some("1. Drop the table"))]);
}

/// Records the task of each checked exchange, and whether it is known.
#[derive(Default)]
struct Shown(Mutex<Vec<(String, bool)>>);

impl ActionChecker for Shown {
    fn check(&self, exchange: &PendingExchange<'_>) -> CheckResult {
        let task = exchange.record.session_id.as_str().to_owned();
        self.0.lock().unwrap().push((task, exchange.task_is_known));
        CheckResult::default()
    }
}

#[test]
fn the_current_task_is_known_only_from_the_orchestrator() {
    for (tasks, task, is_known) in [
        (None, "s1", true),
        (Some(orchestrator_with_task(None)), "s1", false),
        (Some(orchestrator_with_task(Some("s1"))), "s1", true),
        (Some(orchestrator_with_task(Some("second"))), "second", true),
    ] {
        let shown = Arc::new(Shown::default());
        let mut session = Session::new();
        session.recorder.tasks = tasks;
        session.recorder.checker = Some(Arc::clone(&shown) as Arc<_>);
        session.message("user", json!("go on"));
        session.answered(Vec::new(), Outcome::Complete);
        assert_eq!(*shown.0.lock().unwrap(), [(task.to_owned(), is_known)]);
    }
}

#[test]
fn texts_are_redacted_before_they_are_cut() {
    let password = "tr0ub4dor/and/3-staples";
    let mut session = Session::new();
    session.message(
        "user",
        json!(format!("Run mysql -u root -p{password} and read out.txt")),
    );
    let command = json!({"command": format!("curl -u deploy:{password} -o out.txt https://example.org")});
    let record = session.answered(vec![call("t", "Bash", command)], Outcome::Complete);
    assert_eq!(
        record.prompts[0].text,
        "Run mysql -u root -p[redacted:command-password] and read out.txt"
    );
    let text = format!("{record:?}");
    for part in ["tr0ub4dor", "staples"] {
        assert!(!text.contains(part), "{text}");
    }
    assert!(text.contains("/nowhere/project/out.txt"), "{text}");
}

struct Hooked(bool);

impl HookSessions for Hooked {
    fn is_hooked(&self, session: &ClientSessionId) -> bool {
        assert_eq!(session.as_str(), "s1");
        self.0
    }
}

#[test]
fn an_intercepted_session_is_recorded_unless_hooks_record_it() {
    let profile = Arc::new(ConnectionProfile {
        host: "api.anthropic.com".to_owned(),
        port: 443,
        upstream: UpstreamHandle::MAIN,
        edits: false,
    });
    for (is_hooked, profile, records) in [
        (true, Some(Arc::clone(&profile)), 0),
        (false, Some(profile), 1),
        (true, None, 1),
    ] {
        let mut session = Session::new();
        session.recorder = session.recorder.with_hook_sessions(Arc::new(Hooked(is_hooked)));
        session.profile = profile;
        session.message("user", json!([{"type": "text", "text": "Go on."}]));
        session.observe(Vec::new(), Outcome::Complete);
        assert_eq!(session.kept.0.lock().unwrap().len(), records);
    }
}
