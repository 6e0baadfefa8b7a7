//! Chat models with a real server on a socket that gives all kinds of answers.

use crate::server::{Line, Server};
use grov_domain::{ChatCompletion, ChatError, ChatMessage, ChatModel, ChatPrompt, ChatRole, MicroUsd};
use grov_llm::{ChatApi, HttpChat, HttpChatSettings, SetupError};
use grov_redact::{Redacted, Redactor};
use grov_sim::{Sim, SimConfig};
use serde_json::{Value, json};
use std::time::Duration;

const KEY: &str = "own-key-7f3a";
const APIS: [ChatApi; 2] = [ChatApi::OpenAi, ChatApi::Anthropic];

struct Stage {
    server: Server,
    chat: HttpChat,
}

async fn stage(api: ChatApi, script: Vec<Line>) -> Stage {
    stage_with(api, script, |settings| settings).await
}

async fn stage_with(
    api: ChatApi,
    script: Vec<Line>,
    change: impl FnOnce(HttpChatSettings) -> HttpChatSettings,
) -> Stage {
    let server = Server::play(script).await;
    let settings = change(HttpChatSettings {
        base_url: Some(format!("http://{}/v1", server.address)),
        api_key: Some(KEY.into()),
        model: Some("claude-haiku-4-5-20251001".to_owned()),
        timeout: Duration::from_secs(20),
        ..HttpChatSettings::new(api)
    });
    let chat = HttpChat::new(settings).unwrap();
    Stage { server, chat }
}

fn redacted(text: &str) -> Redacted {
    Redactor::shared().text(text)
}

fn prompt() -> ChatPrompt {
    let said = |role, text: &str| ChatMessage {
        role,
        text: redacted(text),
    };
    ChatPrompt {
        system: redacted("You help."),
        messages: vec![
            said(ChatRole::User, "Hi"),
            said(ChatRole::Assistant, "Hello"),
            said(ChatRole::User, "What now?"),
        ],
        schema: r#"{"type":"object","properties":{"decision":{"type":"string"}},"required":["decision"],"additionalProperties":false}"#.to_owned(),
        max_output_tokens: 77,
    }
}

impl Stage {
    async fn ask(&self) -> (Result<ChatCompletion, ChatError>, Vec<String>) {
        let mut heard = Vec::new();
        let result = self
            .chat
            .complete(&prompt(), &mut |text| heard.push(text.to_owned()))
            .await;
        (result, heard)
    }

    fn received(&self, at: usize) -> (String, Value) {
        let received = self.server.received();
        let (head, body) = received[at].split_once("\r\n\r\n").unwrap();
        (head.to_ascii_lowercase(), serde_json::from_str(body).unwrap())
    }
}

fn status(status: u16, body: &str) -> Line {
    Line::Reply(status, "", body.to_owned())
}

/// A whole answer in the API's format.
fn whole(api: ChatApi, text: &str) -> Line {
    let body = match api {
        ChatApi::OpenAi => json!({
            "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1000, "completion_tokens": 100},
        }),
        ChatApi::Anthropic => json!({
            "content": [{"type": "text", "text": text}], "stop_reason": "end_turn",
            "usage": {"input_tokens": 1000, "output_tokens": 100},
        }),
    };
    status(200, &body.to_string())
}

fn event(data: &Value) -> String {
    let name = data["type"].as_str().map(|name| format!("event: {name}\n"));
    format!("{}data: {data}\n\n", name.unwrap_or_default())
}

/// A streamed answer of two pieces in the API's format, ended for this reason.
fn streamed(api: ChatApi, pieces: [&str; 2], reason: &str) -> Vec<String> {
    match api {
        ChatApi::OpenAi => {
            let delta = |text: &str| {
                event(&json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}]}))
            };
            vec![
                event(
                    &json!({"choices": [{"index": 0, "delta": {"role": "assistant"}, "finish_reason": null}]}),
                ),
                delta(pieces[0]),
                ": keep-alive\n\n".to_owned(),
                delta(pieces[1]),
                event(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})),
                event(&json!({"choices": [], "usage": {"prompt_tokens": 1000, "completion_tokens": 100}})),
                "data: [DONE]\n\n".to_owned(),
            ]
        }
        ChatApi::Anthropic => {
            let delta = |text: &str| {
                event(
                    &json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}),
                )
            };
            vec![
                event(
                    &json!({"type": "message_start", "message": {"usage": {"input_tokens": 1000, "output_tokens": 1}}}),
                ),
                event(
                    &json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
                ),
                delta(pieces[0]),
                event(&json!({"type": "ping"})),
                delta(pieces[1]),
                event(
                    &json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 100}}),
                ),
                event(&json!({"type": "message_stop"})),
            ]
        }
    }
}

fn end_of(api: ChatApi) -> &'static str {
    match api {
        ChatApi::OpenAi => "stop",
        ChatApi::Anthropic => "end_turn",
    }
}

const ANSWER: &str = r#"{"decision":"NOOP"}"#;
const PIECES: [&str; 2] = [r#"{"decision":"#, r#""NOOP"}"#];

#[tokio::test]
async fn streamed_and_whole_answers_are_the_same() {
    for api in APIS {
        let script = vec![
            whole(api, ANSWER),
            Line::Stream(streamed(api, PIECES, end_of(api))),
        ];
        let stage = stage(api, script).await;
        for heard in [vec![ANSWER], PIECES.to_vec()] {
            let (completion, pieces) = stage.ask().await;
            let completion = completion.unwrap();
            assert_eq!(completion.text, ANSWER);
            assert_eq!((completion.usage.input, completion.usage.output), (1000, 100));
            // 1 USD per million of input, 5 USD per million of output.
            assert_eq!(completion.cost, Some(MicroUsd(1500)));
            assert_eq!(pieces, heard, "{api:?}");
        }
        assert!(stage.chat.is_ok());
    }
}

#[tokio::test]
async fn a_stream_may_be_cut_anywhere() {
    for api in APIS {
        let text = streamed(api, ["{\"a\":\"ä", "ö\"}"], end_of(api)).concat();
        let parts = text.chars().map(String::from).collect();
        let (completion, heard) = stage(api, vec![Line::Stream(parts)]).await.ask().await;
        assert_eq!(completion.unwrap().text, "{\"a\":\"äö\"}");
        assert_eq!(heard.len(), 2);
    }
}

#[tokio::test]
async fn requests_are_as_the_apis_want_them() {
    let openai = stage(ChatApi::OpenAi, vec![whole(ChatApi::OpenAi, ANSWER)]).await;
    openai.ask().await.0.unwrap();
    let (head, body) = openai.received(0);
    assert!(head.starts_with("post /v1/chat/completions "), "{head}");
    assert!(head.contains(&format!("authorization: bearer {KEY}")));
    let messages = body["messages"].as_array().unwrap();
    let roles: Vec<_> = messages
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["system", "user", "assistant", "user"]);
    assert_eq!(messages[0]["content"], "You help.");
    assert_eq!(body["max_tokens"], 77);
    assert_eq!(body["stream"], true);
    assert_eq!(body["stream_options"]["include_usage"], true);
    assert_eq!(body["response_format"]["json_schema"]["strict"], true);
    assert_eq!(
        body["response_format"]["json_schema"]["schema"]["required"][0],
        "decision"
    );

    let anthropic = stage(ChatApi::Anthropic, vec![whole(ChatApi::Anthropic, ANSWER)]).await;
    anthropic.ask().await.0.unwrap();
    let (head, body) = anthropic.received(0);
    assert!(head.starts_with("post /v1/messages "), "{head}");
    assert!(head.contains(&format!("x-api-key: {KEY}")));
    assert!(head.contains("anthropic-beta: structured-outputs"));
    assert_eq!(body["system"], "You help.");
    assert_eq!(body["messages"].as_array().unwrap().len(), 3);
    assert_eq!(body["output_config"]["format"]["type"], "json_schema");
}

#[tokio::test]
async fn an_open_schema_is_only_for_servers_that_take_one() {
    let mut open = prompt();
    open.schema = r#"{"type":"object","properties":{"arguments":{"type":"object"}}}"#.to_owned();
    for api in APIS {
        let stage = stage(api, vec![whole(api, ANSWER)]).await;
        stage.chat.complete(&open, &mut |_| {}).await.unwrap();
        let (head, body) = stage.received(0);
        match api {
            ChatApi::OpenAi => assert_eq!(body["response_format"]["json_schema"]["strict"], false),
            ChatApi::Anthropic => {
                assert!(body.get("output_config").is_none() && !head.contains("anthropic-beta"));
                assert!(body["system"].to_string().contains("JSON Schema"));
            }
        }
    }
}

#[tokio::test]
async fn the_schema_is_left_out_once_it_was_refused() {
    for api in APIS {
        let script = vec![status(400, r#"{"error":{"type":"x"}}"#), whole(api, ANSWER)];
        let stage = stage(api, script).await;
        stage.ask().await.0.unwrap();
        stage.ask().await.0.unwrap();
        let asked: Vec<Value> = (0..3).map(|at| stage.received(at).1).collect();
        let enforced = |body: &Value| {
            body.get("response_format")
                .or(body.get("output_config"))
                .is_some()
        };
        assert_eq!(
            asked.iter().map(enforced).collect::<Vec<_>>(),
            [true, false, false]
        );
        let in_words = |body: &Value| body.to_string().contains("JSON Schema");
        assert_eq!(
            asked.iter().map(in_words).collect::<Vec<_>>(),
            [false, true, true]
        );
    }
}

#[tokio::test]
async fn a_request_that_is_refused_without_a_schema_too_is_an_error() {
    for api in APIS {
        let stage = stage(
            api,
            vec![status(
                400,
                r#"{"error":{"type":"invalid_request_error","message":"own-key-7f3a"}}"#,
            )],
        )
        .await;
        let error = stage.ask().await.0.unwrap_err();
        assert_eq!(stage.server.received().len(), 2);
        assert!(error.to_string().contains("invalid_request_error"), "{error}");
        assert!(!format!("{error:?}").contains(KEY));
        assert!(stage.chat.is_ok(), "the provider can be reached");
    }
}

#[tokio::test]
async fn a_server_that_does_not_know_stream_options_is_asked_without() {
    let refusal = r#"{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"]}]}"#;
    let api = ChatApi::OpenAi;
    let stage = stage(api, vec![status(422, refusal), whole(api, ANSWER)]).await;
    stage.ask().await.0.unwrap();
    let (_, body) = stage.received(1);
    assert!(body.get("stream_options").is_none());
    assert!(body.get("response_format").is_some());
}

#[tokio::test]
async fn both_spellings_of_the_base_url_work() {
    let api = ChatApi::OpenAi;
    let without_v1 = |settings: HttpChatSettings| HttpChatSettings {
        base_url: settings
            .base_url
            .map(|url| url.trim_end_matches("/v1").to_owned()),
        ..settings
    };
    let stage = stage_with(api, vec![status(404, "no"), whole(api, ANSWER)], without_v1).await;
    stage.ask().await.0.unwrap();
    stage.ask().await.0.unwrap();
    let paths: Vec<String> = (0..3)
        .map(|at| stage.received(at).0.split(' ').nth(1).unwrap().to_owned())
        .collect();
    assert_eq!(
        paths,
        [
            "/chat/completions",
            "/v1/chat/completions",
            "/v1/chat/completions"
        ]
    );

    let stage = stage_with(api, vec![status(404, "no")], without_v1).await;
    for _ in 0..2 {
        assert!(matches!(stage.ask().await.0, Err(ChatError::Rejected(_))));
    }
    assert_eq!(stage.server.received().len(), 4);
}

#[tokio::test]
async fn calls_at_once_do_not_change_each_others_form() {
    let without_v1 = |settings: HttpChatSettings| HttpChatSettings {
        base_url: settings
            .base_url
            .map(|url| url.trim_end_matches("/v1").to_owned()),
        ..settings
    };
    let stage = stage_with(ChatApi::OpenAi, vec![status(404, "no")], without_v1).await;
    let (one, two, three, four) = tokio::join!(stage.ask(), stage.ask(), stage.ask(), stage.ask());
    for (result, _) in [one, two, three, four] {
        assert!(matches!(result, Err(ChatError::Rejected(_))), "{result:?}");
    }
    // Each call tries both paths, and each path once.
    let received = stage.server.received();
    assert_eq!(received.len(), 8);
    let versioned = received.iter().filter(|request| request.starts_with("POST /v1/"));
    assert_eq!(versioned.count(), 4);
}

#[tokio::test]
async fn passing_failures_are_tried_again_twice() {
    for api in APIS {
        let busy = || Line::Reply(529, "retry-after: 0\r\n", String::new());
        let stage_of = |failures: usize| {
            let mut script: Vec<Line> = (0..failures).map(|_| busy()).collect();
            script.push(whole(api, ANSWER));
            stage(api, script)
        };
        assert!(stage_of(2).await.ask().await.0.is_ok());
        let stage = stage_of(3).await;
        let error = stage.ask().await.0.unwrap_err();
        assert!(matches!(error, ChatError::Unavailable { .. }), "{error}");
        assert!(!stage.chat.is_ok());
        assert!(stage.ask().await.0.is_ok());
        assert!(stage.chat.is_ok());
    }
}

#[tokio::test]
async fn a_long_retry_after_is_passed_on_at_once() {
    for api in APIS {
        let script = vec![Line::Reply(429, "retry-after: 90\r\n", String::new())];
        let stage = stage(api, script).await;
        let ChatError::Unavailable { retry_after, .. } = stage.ask().await.0.unwrap_err() else {
            panic!("another error");
        };
        assert_eq!(retry_after, Some(Duration::from_secs(90)));
        assert_eq!(stage.server.received().len(), 1);
    }
}

#[tokio::test]
async fn text_never_comes_twice() {
    for api in APIS {
        let mut cut = streamed(api, PIECES, end_of(api));
        cut.truncate(3);
        let stage = stage(api, vec![Line::Stream(cut), whole(api, ANSWER)]).await;
        let (result, heard) = stage.ask().await;
        assert!(matches!(result, Err(ChatError::Broken(_))), "{result:?}");
        assert_eq!(heard, [PIECES[0]]);
        assert_eq!(stage.server.received().len(), 1);
    }
}

#[tokio::test]
async fn cut_off_and_refused_answers_are_no_answers() {
    let reasons = [
        (ChatApi::OpenAi, "length", "content_filter"),
        (ChatApi::Anthropic, "max_tokens", "refusal"),
    ];
    for (api, length, refusal) in reasons {
        let cut = stage(api, vec![Line::Stream(streamed(api, PIECES, length))]).await;
        let error = cut.ask().await.0.unwrap_err();
        assert!(error.to_string().contains("agent.max_output_tokens"), "{error}");
        let refused = stage(api, vec![Line::Stream(streamed(api, PIECES, refusal))]).await;
        assert_eq!(refused.ask().await.0, Err(ChatError::Refused));
    }
}

#[tokio::test]
async fn wrong_keys_broken_answers_and_silence_are_told_apart() {
    for api in APIS {
        let stage_now = stage(api, vec![status(401, KEY)]).await;
        assert_eq!(stage_now.ask().await.0, Err(ChatError::KeyRefused(401)));
        assert!(!stage_now.chat.is_ok());
        for broken in [
            status(200, "<html>"),
            status(200, "{}"),
            Line::Stream(vec!["data: {\n\n".to_owned()]),
        ] {
            let stage = stage(api, vec![broken]).await;
            let result = stage.ask().await.0;
            assert!(matches!(result, Err(ChatError::Broken(_))), "{result:?}");
        }
        let short = |settings| HttpChatSettings {
            timeout: Duration::from_millis(200),
            ..settings
        };
        let silent = stage_with(api, vec![Line::Hang], short).await;
        let timed_out = Err(ChatError::TimedOut(Duration::from_millis(200)));
        assert_eq!(silent.ask().await.0, timed_out);
        assert!(!silent.chat.is_ok());
    }
}

#[tokio::test]
async fn calls_never_go_to_an_own_listener() {
    for api in APIS {
        let own = |settings: HttpChatSettings| HttpChatSettings {
            own_listeners: vec!["127.0.0.1:8090".parse().unwrap()],
            base_url: Some("http://localhost:8090/v1".to_owned()),
            model: Some("m".to_owned()),
            ..settings
        };
        let refused = HttpChat::new(own(HttpChatSettings::new(api)));
        assert!(matches!(refused, Err(SetupError::OwnListener { .. })));
    }
    let nameless = HttpChat::new(HttpChatSettings::new(ChatApi::OpenAi));
    assert!(matches!(nameless, Err(SetupError::NoModel)));
}

#[tokio::test]
async fn the_simulated_api_takes_the_requests() {
    let sim = Sim::start(SimConfig::default()).await.unwrap();
    for api in APIS {
        let chat = HttpChat::new(HttpChatSettings {
            base_url: Some(sim.url()),
            api_key: Some(KEY.into()),
            model: Some("claude-haiku-4-5-20251001".to_owned()),
            ..HttpChatSettings::new(api)
        })
        .unwrap();
        let mut heard = String::new();
        let completion = chat.complete(&prompt(), &mut |text| heard.push_str(text)).await;
        let completion = completion.unwrap();
        assert_eq!(completion.text, heard, "{api:?}");
        // The simulation writes an answer that fits the schema which it was given.
        let answer: Value = serde_json::from_str(&completion.text).unwrap();
        assert!(answer["decision"].is_string(), "{api:?}: {answer}");
        assert!(completion.usage.output > 0);
    }
}
