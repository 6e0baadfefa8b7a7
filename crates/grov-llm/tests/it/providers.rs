use crate::ledger::Book;
use crate::server::{Line, Server};
use grov_domain::{CallOutcome, IntentQuestion, Judge, Judged, JudgedBy, MicroUsd, Redacted, SystemClock};
use grov_llm::{Answering, JudgeSettings, ModelJudge, Provider, RulesReason, SetupError};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

const GOOD: &str = r#"{"goal":"Fix the login","scope":[],"constraints":[],"keywords":[]}"#;
const KEY: &str = "own-key-7f3a";

fn message(text: &str) -> Line {
    let body = json!({
        "type": "message", "content": [{"type": "text", "text": text}], "stop_reason": "end_turn",
        "usage": {"input_tokens": 1000, "output_tokens": 100},
    });
    Line::Reply(200, "", body.to_string())
}

fn completion(text: &str) -> Line {
    let body = json!({
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 900, "completion_tokens": 80},
    });
    Line::Reply(200, "", body.to_string())
}

fn failure(status: u16, headers: &'static str) -> Line {
    let body =
        json!({"type": "error", "error": {"type": "some_error", "message": format!("key {KEY} said so")}});
    Line::Reply(status, headers, body.to_string())
}

fn settings(server: &Server, provider: Provider) -> JudgeSettings {
    JudgeSettings {
        provider,
        base_url: Some(format!("http://{}", server.address)),
        api_key: Some(KEY.into()),
        model: (provider == Provider::OpenAi).then(|| "smollm2".to_owned()),
        timeout: Duration::from_secs(20),
        ..JudgeSettings::default()
    }
}

struct Stage {
    server: Server,
    judge: ModelJudge,
    book: Arc<Book>,
}

async fn stage(provider: Provider, script: Vec<Line>) -> Stage {
    stage_with(provider, script, |settings| settings).await
}

async fn stage_with(
    provider: Provider,
    script: Vec<Line>,
    change: impl FnOnce(JudgeSettings) -> JudgeSettings,
) -> Stage {
    let server = Server::play(script).await;
    let book = Arc::new(Book::default());
    let settings = change(settings(&server, provider));
    let judge = ModelJudge::new(settings, Arc::clone(&book) as _, Arc::new(SystemClock)).unwrap();
    Stage { server, judge, book }
}

impl Stage {
    async fn ask(&self) -> Judged<grov_domain::Intent> {
        let question = IntentQuestion {
            prompts: vec!["fix the login".to_owned()],
            first_files: Vec::new(),
        };
        self.judge.extract_intent(None, &Redacted::of(&question)).await
    }

    fn body(&self, at: usize) -> Value {
        let received = self.server.received();
        serde_json::from_str(received[at].split_once("\r\n\r\n").unwrap().1).unwrap()
    }
}

#[tokio::test]
async fn anthropic_gets_its_request_format() {
    let stage = stage(Provider::Anthropic, vec![message(GOOD)]).await;
    let judged = stage.ask().await;
    assert_eq!(
        (judged.by, judged.answer.goal.as_str()),
        (JudgedBy::Model, "Fix the login")
    );
    let head = stage.server.received()[0].to_ascii_lowercase();
    assert!(head.starts_with("post /v1/messages http/1.1\r\n"), "{head}");
    for header in [
        "x-api-key: own-key-7f3a",
        "anthropic-version: 2023-06-01",
        "anthropic-beta: structured-outputs-2025-12-15",
        "content-type: application/json",
        "x-grov-bypass: 1",
    ] {
        assert!(head.contains(&format!("\r\n{header}\r\n")), "{header} in {head}");
    }
    let body = stage.body(0);
    assert_eq!(body["model"], "claude-haiku-4-5-20251001");
    assert_eq!(body["output_config"]["format"]["type"], "json_schema");
    assert_eq!(body["messages"][0]["role"], "user");
    assert!(body["max_tokens"].as_u64().unwrap() > 0);
    let calls = stage.book.all();
    assert_eq!(
        (calls[0].cost, calls[0].outcome),
        (MicroUsd(1_500), CallOutcome::Answered)
    );
    assert_eq!((calls[0].usage.input, calls[0].usage.output), (1_000, 100));
}

#[tokio::test]
async fn an_openai_compatible_server_gets_its_request_format() {
    let stage = stage(
        Provider::OpenAi,
        vec![completion(&format!("```json\n{GOOD}\n```"))],
    )
    .await;
    assert_eq!(stage.ask().await.by, JudgedBy::Model);
    let head = stage.server.received()[0].to_ascii_lowercase();
    assert!(
        head.starts_with("post /v1/chat/completions http/1.1\r\n"),
        "{head}"
    );
    assert!(
        head.contains("\r\nauthorization: bearer own-key-7f3a\r\n"),
        "{head}"
    );
    let body = stage.body(0);
    assert_eq!(body["response_format"]["type"], "json_schema");
    assert_eq!(body["response_format"]["json_schema"]["strict"], true);
    assert_eq!(
        (&body["model"], &body["messages"][0]["role"]),
        (&json!("smollm2"), &json!("system"))
    );
    // An unknown model on this machine is free, but its calls are in the ledger.
    assert_eq!(
        (stage.book.all()[0].cost, stage.book.all()[0].usage.input),
        (MicroUsd(0), 900)
    );
}

#[tokio::test]
async fn a_server_that_refuses_the_output_format_gets_another_one() {
    let script = vec![
        failure(400, ""),
        failure(400, ""),
        completion(GOOD),
        completion(GOOD),
    ];
    let stage = stage(Provider::OpenAi, script).await;
    assert_eq!(stage.ask().await.by, JudgedBy::Model);
    assert_eq!(stage.body(1)["response_format"], json!({"type": "json_object"}));
    assert_eq!(stage.body(2).get("response_format"), None);
    // The supported format is remembered, so the next question needs one call.
    assert_eq!(stage.ask().await.by, JudgedBy::Model);
    assert_eq!(stage.body(3).get("response_format"), None);
}

#[tokio::test]
async fn anthropic_without_structured_output_gets_a_plain_request() {
    let stage = stage(Provider::Anthropic, vec![failure(400, ""), message(GOOD)]).await;
    assert_eq!(stage.ask().await.by, JudgedBy::Model);
    assert_eq!(stage.body(1).get("output_config"), None);
    assert!(!stage.server.received()[1].contains("anthropic-beta"));
}

#[tokio::test]
async fn invalid_answers_are_repaired_or_replaced_by_rules() {
    let prose = format!("Here you are:\n{GOOD}\nAnything else?");
    for (script, by, calls) in [
        (vec![message(&prose)], JudgedBy::Model, 1),
        (
            vec![message("{\"goal\": \"Fix"), message(GOOD)],
            JudgedBy::Model,
            2,
        ),
        (vec![message(""), message(GOOD)], JudgedBy::Model, 2),
        (vec![message("I cannot help with that.")], JudgedBy::Rules, 2),
        (
            vec![Line::Reply(200, "", "<html>".to_owned()), message(GOOD)],
            JudgedBy::Model,
            2,
        ),
        (vec![Line::Broken, message(GOOD)], JudgedBy::Model, 2),
        (vec![failure(529, ""), message(GOOD)], JudgedBy::Model, 2),
        (
            vec![failure(429, "retry-after: 1\r\n"), message(GOOD)],
            JudgedBy::Model,
            2,
        ),
        (
            vec![failure(429, "x-should-retry: false\r\n"), message(GOOD)],
            JudgedBy::Rules,
            1,
        ),
        (vec![failure(404, "")], JudgedBy::Rules, 1),
        (
            vec![Line::Reply(
                302,
                "location: http://127.0.0.1:1/\r\n",
                String::new(),
            )],
            JudgedBy::Rules,
            1,
        ),
    ] {
        let stage = stage(Provider::Anthropic, script).await;
        assert_eq!(stage.ask().await.by, by, "{:?}", stage.book.outcomes());
        assert_eq!(stage.server.received().len(), calls);
        assert_eq!(stage.book.all().len(), calls);
        assert!(!stage.book.outcomes().contains(&CallOutcome::Reserved));
    }
}

#[tokio::test]
async fn a_hung_connection_times_out() {
    let stage = stage_with(Provider::Anthropic, vec![Line::Hang], |settings| JudgeSettings {
        timeout: Duration::from_millis(100),
        ..settings
    })
    .await;
    assert_eq!(stage.ask().await.by, JudgedBy::Rules);
    assert_eq!(stage.book.outcomes(), [CallOutcome::Failed]);
}

#[tokio::test]
async fn a_refused_key_ends_the_calls_and_is_never_shown() {
    let stage = stage(Provider::Anthropic, vec![failure(401, "")]).await;
    assert_eq!(stage.ask().await.by, JudgedBy::Rules);
    assert_eq!(stage.ask().await.by, JudgedBy::Rules);
    assert_eq!(stage.server.received().len(), 1);
    assert_eq!(
        stage.judge.status().answering,
        Answering::Rules(RulesReason::KeyRefused)
    );
    let shown = format!(
        "{:?} {:?} {:?}",
        stage.judge,
        stage.judge.status(),
        stage.book.all()
    );
    assert!(!shown.contains(KEY), "{shown}");
}

#[tokio::test]
async fn an_unreachable_server_is_paused() {
    let stage = stage_with(Provider::OpenAi, vec![Line::Hang], |settings| JudgeSettings {
        base_url: Some("http://127.0.0.1:1/v1".to_owned()),
        ..settings
    })
    .await;
    stage.ask().await;
    stage.ask().await;
    assert_eq!(
        stage.judge.status().answering,
        Answering::Rules(RulesReason::ProviderDown)
    );
    assert!(stage.server.received().is_empty());
}

#[tokio::test]
async fn only_the_configured_proxy_is_used() {
    let proxy = Server::play(vec![message(GOOD)]).await;
    let address = proxy.address;
    let stage = stage_with(Provider::Anthropic, vec![Line::Hang], |settings| JudgeSettings {
        base_url: Some("http://provider.invalid".to_owned()),
        proxy: Some(format!("http://{address}")),
        ..settings
    })
    .await;
    assert_eq!(stage.ask().await.by, JudgedBy::Model);
    let received = proxy.received()[0].to_ascii_lowercase();
    assert!(
        received.starts_with("post http://provider.invalid/v1/messages http/1.1\r\n"),
        "{received}"
    );
    assert!(!received.contains("x-grov-bypass"), "{received}");
    assert!(stage.server.received().is_empty());
}

#[tokio::test]
async fn an_own_listener_is_refused_before_any_request() {
    let server = Server::play(vec![message(GOOD)]).await;
    for base in [
        server.address.to_string(),
        format!("localhost:{}", server.address.port()),
    ] {
        let looped = JudgeSettings {
            base_url: Some(format!("http://{base}/v1")),
            own_listeners: vec![server.address],
            ..settings(&server, Provider::OpenAi)
        };
        let refused = ModelJudge::new(looped, Arc::new(Book::default()), Arc::new(SystemClock));
        assert!(matches!(refused, Err(SetupError::OwnListener { .. })));
    }
    assert!(server.received().is_empty());
}
