use crate::{Answer, connect, exchange, messages_request, sim};
use grov_domain::Purpose;
use grov_sim::json::Json;
use grov_sim::judge::Dialect;
use grov_sim::{JudgeScript, Rule, ScenarioSet, Sim, SimConfig, When};

const SCHEMA: &str = r#"{"type":"object","additionalProperties":false,"required":["score","diagnostic"],"properties":{"score":{"type":"integer"},"diagnostic":{"type":"string"}}}"#;
const RIGHT: &str = r#"{"score":9,"diagnostic":"A simulated diagnostic."}"#;

fn json(text: &str) -> Json {
    Json::parse(text.as_bytes()).unwrap()
}

fn quoted(text: &str) -> String {
    Json::from(text).to_string()
}

fn anthropic(schema: &str, user: &str) -> String {
    let body = format!(
        r#"{{"model":"claude-haiku-4-5","max_tokens":300,"system":"Judge.","messages":[{{"role":"user","content":{}}}],"output_config":{{"format":{{"type":"json_schema","schema":{schema}}}}}}}"#,
        quoted(user)
    );
    messages_request(&body, "")
}

fn chat(fields: &str) -> String {
    let body = format!(
        r#"{{"model":"local","messages":[{{"role":"system","content":"Judge.\nShape: {{\"score\": 9, \"diagnostic\": \"...\"}}"}},{{"role":"user","content":"edit a.rs"}}]{fields}}}"#
    );
    format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: sim\r\nAuthorization: Bearer local-key\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn by_schema(strict: bool) -> String {
    format!(
        r#","response_format":{{"type":"json_schema","json_schema":{{"name":"answer","strict":{strict},"schema":{SCHEMA}}}}}"#
    )
}

async fn asked(sim: &Sim, request: &str) -> Answer {
    exchange(&mut connect(sim).await, request).await
}

/// Text and `stop_reason` of an answer of the Messages API.
fn message(answer: &Answer) -> (String, String) {
    assert_eq!(answer.status(), 200, "{}", answer.text());
    let body = json(&answer.text());
    let blocks = body.get("content").unwrap().as_array().unwrap();
    let text: Vec<&str> = blocks.iter().filter_map(|block| block.get_str("text")).collect();
    (text.concat(), body.get_str("stop_reason").unwrap().to_owned())
}

/// Content, or refusal, and `finish_reason` of a chat completion.
fn completion(answer: &Answer) -> (String, String) {
    assert_eq!(answer.status(), 200, "{}", answer.text());
    let body = json(&answer.text());
    let choice = &body.get("choices").unwrap().as_array().unwrap()[0];
    let message = choice.get("message").unwrap();
    let text = message.get_str("content").or_else(|| message.get_str("refusal"));
    (
        text.unwrap().to_owned(),
        choice.get_str("finish_reason").unwrap().to_owned(),
    )
}

fn error(answer: &Answer) -> Json {
    json(&answer.text()).get("error").unwrap().clone()
}

#[tokio::test]
async fn both_apis_answer_by_the_schema_and_record_the_question() {
    let sim = sim().await;
    let answer = asked(
        &sim,
        &anthropic(SCHEMA, "edit [[scenario:tools]] [[sim:status=500]]"),
    )
    .await;
    assert_eq!(message(&answer), (RIGHT.to_owned(), "end_turn".to_owned()));
    let answer = asked(&sim, &chat(&by_schema(true))).await;
    assert_eq!(completion(&answer), (RIGHT.to_owned(), "stop".to_owned()));
    let usage = json(&answer.text()).get("usage").unwrap().clone();
    let count = |name| usage.get(name).and_then(Json::as_u64).unwrap();
    assert!(
        count("prompt_tokens") > 50 && count("completion_tokens") > 5,
        "{usage}"
    );
    assert_eq!(
        count("total_tokens"),
        count("prompt_tokens") + count("completion_tokens")
    );

    let calls = sim.judge_calls();
    let (request, call) = &calls[0];
    assert_eq!(request.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(
        (call.dialect, call.purpose),
        (Dialect::Anthropic, Some(Purpose::CheckDrift))
    );
    assert_eq!(
        (call.model.as_str(), call.max_tokens),
        ("claude-haiku-4-5", Some(300))
    );
    assert_eq!((call.system.as_str(), call.key.as_deref()), ("Judge.", Some("k")));
    assert!(call.user.starts_with("edit ["));
    assert_eq!(call.schema, Some(json(SCHEMA)));
    let (_, call) = &calls[1];
    assert_eq!(
        (call.dialect, call.purpose),
        (Dialect::OpenAi, Some(Purpose::CheckDrift))
    );
    assert_eq!(
        (call.user.as_str(), call.key.as_deref()),
        ("edit a.rs", Some("Bearer local-key"))
    );
    assert_eq!(calls.len(), 2);
}

#[tokio::test]
async fn titles_turns_and_chats_are_not_questions() {
    let sim = sim().await;
    let title = anthropic(
        r#"{"type":"object","properties":{"title":{"type":"string"}},"required":["title"]}"#,
        "name it",
    );
    assert_eq!(
        message(&asked(&sim, &title).await).0,
        r#"{"title":"Simulated session"}"#
    );
    let turn = anthropic(SCHEMA, "hi").replace(
        r#""model":"#,
        r#""tools":[{"name":"Bash","input_schema":{"type":"object"}}],"model":"#,
    );
    let length = turn.split_once("\r\n\r\n").unwrap().1.len();
    let (before, after) = turn.split_once("Content-Length: ").unwrap();
    let turn = format!(
        "{before}Content-Length: {length}{}",
        &after[after.find('\r').unwrap()..]
    );
    assert_ne!(message(&asked(&sim, &turn).await).0, RIGHT);
    let plain = chat("").replace("Shape: ", "Form:  ");
    assert_eq!(
        completion(&asked(&sim, &plain).await).0,
        "This is a simulated answer."
    );
    assert!(sim.judge_calls().is_empty());
}

#[tokio::test]
async fn answers_come_from_a_file_or_from_the_test() {
    let file = br#"{"scenarios":{},"judge":{"check_drift":[{"score":2,"diagnostic":"off"},{"score":8,"diagnostic":"on"}]}}"#;
    let sim = Sim::start(SimConfig {
        scenarios: ScenarioSet::default().with_json(file).unwrap(),
        ..SimConfig::default()
    })
    .await
    .unwrap();
    let first = anthropic(SCHEMA, "one");
    for (request, expected) in [
        (&first, r#"{"score":2,"diagnostic":"off"}"#),
        (&first, r#"{"score":2,"diagnostic":"off"}"#),
        (&anthropic(SCHEMA, "two"), r#"{"score":8,"diagnostic":"on"}"#),
        (&chat(&by_schema(true)), r#"{"score":8,"diagnostic":"on"}"#),
    ] {
        let answer = asked(&sim, request).await;
        let (text, _) = match request.contains("/chat/") {
            true => completion(&answer),
            false => message(&answer),
        };
        assert_eq!(text, expected);
    }
    sim.set_judge(JudgeScript::default().with(Purpose::CheckDrift, "nonsense"));
    assert_eq!(message(&asked(&sim, &first).await).0, "nonsense");
}

#[tokio::test]
async fn a_refused_question_uses_up_no_answer() {
    let sim = sim().await;
    let script = JudgeScript::default()
        .with(Purpose::CheckDrift, "first")
        .with(Purpose::CheckDrift, "second");
    sim.set_judge(script);
    sim.inject(Rule::new(When::Judge, "structured=none".parse().unwrap()));
    assert_eq!(asked(&sim, &anthropic(SCHEMA, "one")).await.status(), 400);
    assert_eq!(asked(&sim, &chat(&by_schema(true))).await.status(), 400);
    assert_eq!(completion(&asked(&sim, &chat("")).await).0, "first");
    sim.clear_rules();
    assert_eq!(message(&asked(&sim, &anthropic(SCHEMA, "one")).await).0, "second");
}

#[tokio::test]
async fn wrong_answers_are_chosen_by_rules() {
    let sim = sim().await;
    for (wrong, text, stop, finish) in [
        ("truncated", "", "max_tokens", "length"),
        ("prose", "Sure!", "end_turn", "stop"),
        ("fenced", "```json\n{", "end_turn", "stop"),
        ("refusal", "I'm sorry", "refusal", "stop"),
        ("empty", "", "end_turn", "stop"),
        ("types", r#"{"score":"9 of ten""#, "end_turn", "stop"),
        ("values", r#"{"score":999}"#, "end_turn", "stop"),
    ] {
        sim.clear_rules();
        let behaviour = format!("answer={wrong}").parse().unwrap();
        sim.inject(Rule::new(When::JudgeFor(Purpose::CheckDrift), behaviour));
        let (answer, reason) = message(&asked(&sim, &anthropic(SCHEMA, wrong)).await);
        assert!(answer.starts_with(text) && answer != RIGHT, "{wrong}: {answer}");
        assert_eq!(reason, stop, "{wrong}");
        let (answer, reason) = completion(&asked(&sim, &chat(&by_schema(true))).await);
        assert!(answer.starts_with(text) && answer != RIGHT, "{wrong}: {answer}");
        assert_eq!(reason, finish, "{wrong}");
    }
    sim.clear_rules();
    sim.inject(Rule::new(
        When::JudgeFor(Purpose::ExtractIntent),
        "answer=empty".parse().unwrap(),
    ));
    assert_eq!(message(&asked(&sim, &anthropic(SCHEMA, "x")).await).0, RIGHT);
}

#[tokio::test]
async fn faults_have_the_format_of_each_api() {
    let sim = sim().await;
    sim.inject(Rule::new(
        When::Judge,
        "status=429,retry-after=7,times=2".parse().unwrap(),
    ));
    sim.inject(Rule::new(When::Judge, "status=529,times=2".parse().unwrap()));
    for (status, kind) in [(429, "rate_limit_error"), (529, "overloaded_error")] {
        let answer = asked(&sim, &anthropic(SCHEMA, "x")).await;
        assert_eq!(answer.status(), status);
        assert_eq!(error(&answer).get_str("type"), Some(kind));
        let answer = asked(&sim, &chat(&by_schema(true))).await;
        assert_eq!(answer.status(), status);
        let error = error(&answer);
        assert!(
            error.get_str("message").is_some() && error.get("code").is_some(),
            "{error}"
        );
        assert!(answer.head.header("request-id").is_none());
        let retry_after = answer.head.header("retry-after");
        assert_eq!(retry_after, (status == 429).then_some("7"));
    }
    assert_eq!(message(&asked(&sim, &anthropic(SCHEMA, "x")).await).0, RIGHT);
}

#[tokio::test]
async fn structured_output_can_be_refused() {
    let sim = sim().await;
    let object = r#","response_format":{"type":"json_object"}"#;
    for (behaviour, schema_status, object_status) in [
        ("", 200, 200),
        ("structured=objects", 400, 200),
        ("structured=none", 400, 400),
    ] {
        sim.clear_rules();
        sim.inject(Rule::new(When::Judge, behaviour.parse().unwrap()));
        let by_schema = asked(&sim, &chat(&by_schema(false))).await;
        assert_eq!(by_schema.status(), schema_status, "{behaviour}");
        let by_object = asked(&sim, &chat(object)).await;
        assert_eq!(by_object.status(), object_status, "{behaviour}");
        let messages = asked(&sim, &anthropic(SCHEMA, "x")).await;
        assert_eq!(messages.status(), schema_status, "{behaviour}");
        // Without an output format, the example in the prompt determines the answer.
        assert_eq!(completion(&asked(&sim, &chat("")).await).0, RIGHT, "{behaviour}");
    }
}

#[tokio::test]
async fn unsupported_schemas_are_refused() {
    let sim = sim().await;
    let open = SCHEMA.replace(r#""additionalProperties":false,"#, "");
    let bounded = SCHEMA.replace(r#""type":"integer""#, r#""type":"integer","minimum":1"#);
    for schema in [
        open.as_str(),
        &bounded,
        r#"{"type":"array","items":{"type":"object"}}"#,
    ] {
        let answer = asked(&sim, &anthropic(schema, "x")).await;
        assert_eq!(answer.status(), 400, "{schema}");
        let message = error(&answer).get_str("message").unwrap().to_owned();
        assert!(
            message.starts_with("output_config.format.schema: For '"),
            "{message}"
        );
    }
    let named_so =
        r#"{"type":"object","additionalProperties":false,"properties":{"minimum":{"type":"string"}}}"#;
    assert_eq!(asked(&sim, &anthropic(named_so, "x")).await.status(), 200);

    let partly = SCHEMA.replace(r#""score","diagnostic""#, r#""score""#);
    for (fields, problem) in [
        (by_schema(true).replace(SCHEMA, &open), "'additionalProperties'"),
        (by_schema(true).replace(SCHEMA, &partly), "Missing 'diagnostic'"),
        (by_schema(true).replace("name", "title"), "json_schema.name"),
        (r#","response_format":{"type":"xml"}"#.to_owned(), "'xml'"),
    ] {
        let answer = asked(&sim, &chat(&fields)).await;
        assert_eq!(answer.status(), 400, "{fields}");
        let message = error(&answer).get_str("message").unwrap().to_owned();
        assert!(message.contains(problem), "{message}");
    }
    let lenient = asked(&sim, &chat(&by_schema(false).replace(SCHEMA, &open))).await;
    assert_eq!(lenient.status(), 200);
}

#[tokio::test]
async fn invalid_chat_requests_are_refused() {
    let sim = sim().await;
    for body in [
        "{",
        "{}",
        r#"{"model":"m"}"#,
        r#"{"model":"m","messages":[]}"#,
        r#"{"model":"m","messages":[{"role":"robot","content":""}]}"#,
        r#"{"model":"m","messages":[{"role":"user"}]}"#,
    ] {
        let request = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nHost: sim\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let answer = asked(&sim, &request).await;
        assert_eq!(answer.status(), 400, "{body}");
        assert_eq!(
            error(&answer).get_str("type"),
            Some("invalid_request_error"),
            "{body}"
        );
    }
}

#[tokio::test]
async fn chat_completions_can_stream() {
    let sim = sim().await;
    let fields = by_schema(true) + r#","stream":true,"stream_options":{"include_usage":true}"#;
    let answer = asked(&sim, &chat(&fields)).await;
    let text = answer.text();
    let events: Vec<&str> = text.split_terminator("\n\n").map(|event| &event[6..]).collect();
    assert_eq!(events.last(), Some(&"[DONE]"));
    let chunks: Vec<Json> = events[..events.len() - 1]
        .iter()
        .map(|event| json(event))
        .collect();
    let answer: String = chunks
        .iter()
        .filter_map(|chunk| {
            let choice = chunk.get("choices")?.as_array()?.first()?;
            choice.get("delta")?.get_str("content")
        })
        .collect();
    assert_eq!(answer, RIGHT);
    assert!(chunks.last().unwrap().get("usage").is_some());
}
