//! `grov route add` and `grov route test`, with a provider on a socket.

use crate::scene::{self, Scene};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// Answers the body of a request to `/v1/chat/completions` with a status and a body.
type Answer = fn(&Value) -> (u16, String);

struct Provider {
    base: String,
    /// Request lines and headers, in lower case.
    heads: Arc<Mutex<Vec<String>>>,
}

impl Provider {
    fn start(models: &'static [&'static str], answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let heads = Arc::new(Mutex::new(Vec::new()));
        let recorded = Arc::clone(&heads);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let _ = serve(stream.unwrap(), models, answer, &recorded);
            }
        });
        Self { base, heads }
    }

    fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

fn serve(
    mut stream: TcpStream,
    models: &[&str],
    answer: Answer,
    heads: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head)? == 0 {
            return Ok(());
        }
    }
    let head = head.to_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body)?;
    let (status, body) = if head.starts_with("get /v1/models ") {
        let data: Vec<Value> = models.iter().map(|id| json!({"id": id})).collect();
        (200, json!({"data": data}).to_string())
    } else {
        answer(&serde_json::from_slice(&body).unwrap_or_default())
    };
    heads.lock().unwrap().push(head);
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

/// The deltas of an answer, as a stream or as one body, as the request asks.
fn answered(request: &Value, message: &Value, tokens: u64) -> (u16, String) {
    let usage = json!({"prompt_tokens": 100, "completion_tokens": tokens});
    let finish = if message["tool_calls"].is_array() {
        "tool_calls"
    } else {
        "stop"
    };
    if request["stream"] != true {
        let choice = json!({"message": message, "finish_reason": finish});
        return (
            200,
            json!({"id": "x", "choices": [choice], "usage": usage}).to_string(),
        );
    }
    let chunk = |value: &Value| format!("data: {value}\n\n");
    let delta = json!({"id": "x", "choices": [{"index": 0, "delta": message}]});
    let end = json!({"id": "x", "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]});
    let last = json!({"id": "x", "choices": [], "usage": usage});
    (
        200,
        chunk(&delta) + &chunk(&end) + &chunk(&last) + "data: [DONE]\n\n",
    )
}

fn call(id: &Value) -> Value {
    let function = json!({"name": "read_file", "arguments": "{\"path\": \"notes/today.txt\"}"});
    json!([{"index": 0, "id": id, "type": "function", "function": function}])
}

/// As documented by OpenAI.
fn regular(request: &Value) -> (u16, String) {
    match request["tools"].is_array() {
        true => answered(
            request,
            &json!({"role": "assistant", "tool_calls": call(&json!("call_1"))}),
            20,
        ),
        false => answered(request, &json!({"role": "assistant", "content": "1, 2"}), 16),
    }
}

/// Refuses full schemas, numbers its calls, reasons, and does not know `max_completion_tokens`.
fn peculiar(request: &Value) -> (u16, String) {
    if request.to_string().contains("additionalProperties") {
        return (400, json!({"error": {"message": "unknown field"}}).to_string());
    }
    if !request["tools"].is_array() {
        let tokens = if request["max_tokens"].is_u64() { 16 } else { 120 };
        return answered(
            request,
            &json!({"role": "assistant", "content": "1, 2, 3"}),
            tokens,
        );
    }
    answered(
        request,
        &json!({"reasoning_content": "hm", "tool_calls": call(&json!(7))}),
        20,
    )
}

fn silent(request: &Value) -> (u16, String) {
    answered(request, &json!({"content": "I would rather talk."}), 9)
}

/// Calls the tool for another file.
fn mistaken(request: &Value) -> (u16, String) {
    let function = json!({"name": "read_file", "arguments": "{\"path\": \"today.txt\"}"});
    let call = json!([{"index": 0, "id": "call_1", "type": "function", "function": function}]);
    answered(request, &json!({"role": "assistant", "tool_calls": call}), 20)
}

fn lost(_: &Value) -> (u16, String) {
    (404, "404 page not found".to_owned())
}

fn closed(_: &Value) -> (u16, String) {
    (
        401,
        json!({"error": {"message": "Incorrect API key provided: sk-proj-abcdefghij0123456789"}}).to_string(),
    )
}

const PROVIDERS: &str = "home/.grov/providers.yaml";

fn names(answer: &Value) -> Vec<&str> {
    let transforms = answer["transforms"].as_array().unwrap();
    transforms
        .iter()
        .map(|transform| transform["name"].as_str().unwrap())
        .collect()
}

#[test]
fn a_regular_provider_needs_no_more_than_its_schema() {
    let provider = Provider::start(&["only"], regular);
    let scene = Scene::new();
    let answer = scene.ask(&["route", "add", "mine", "--endpoint", &provider.base]);
    assert_eq!(names(&answer), ["schema:openai"]);
    assert_eq!(
        (&answer["written"], &answer["checked"], &answer["model"]),
        (&json!(true), &json!(true), &json!("only"))
    );
    assert_eq!(scene.run(&["route", "check"]).code, 0);
    for words in [
        &["route", "test", "mine"][..],
        &["route", "test", "mine", "--stream"],
    ] {
        let tested = scene.ask(words);
        assert_eq!(
            (&tested["ok"], &tested["status"]),
            (&json!(true), &json!(200)),
            "{tested}"
        );
        assert_eq!(tested["tool_calls"][0]["input"]["path"], "notes/today.txt");
        assert_eq!(tested["usage"]["input"], 100);
    }
    assert!(
        provider
            .heads()
            .iter()
            .all(|head| !head.contains("authorization"))
    );
}

#[test]
fn quirks_that_are_seen_become_transforms_and_the_rest_of_the_file_stays() {
    let provider = Provider::start(&["big", "small"], peculiar);
    let scene = Scene::new().env("MY_KEY", "hunter2-hunter2");
    let before =
        "# mine\nproviders:\n  - name: other # keep\n    endpoint: http://127.0.0.1:9\n    models: {x: m}\n";
    let rules = "\n# last\nrules: {default: x}\n";
    scene.write(PROVIDERS, &format!("{before}{rules}"));
    let mut words = vec![
        "route",
        "add",
        "odd",
        "--endpoint",
        &provider.base,
        "--model",
        "small",
        "--label",
        "cheap",
    ];
    words.extend(["--key-env", "MY_KEY"]);
    let dry = scene.ask(&[&words[..], &["--dry-run"]].concat());
    assert_eq!((&dry["written"], &dry["checked"]), (&json!(false), &json!(true)));
    assert_eq!(
        std::fs::read_to_string(scene.path(PROVIDERS)).unwrap(),
        format!("{before}{rules}")
    );

    let answer = scene.ask(&words);
    assert_eq!(
        names(&answer),
        ["groq", "reasoning", "maxtokens", "schema:generic"]
    );
    let text = std::fs::read_to_string(scene.path(PROVIDERS)).unwrap();
    assert!(text.starts_with(before) && text.ends_with(rules), "{text}");
    assert!(
        text.contains("api_key: ${MY_KEY}") && !text.contains("hunter2"),
        "{text}"
    );
    assert!(!answer.to_string().contains("hunter2"));
    assert!(
        provider
            .heads()
            .iter()
            .all(|head| head.contains("authorization: bearer hunter2-hunter2"))
    );
    let tested = scene.ask(&["route", "test", "cheap", "--stream"]);
    assert_eq!(
        (&tested["ok"], &tested["thinking"]),
        (&json!(true), &json!(true)),
        "{tested}"
    );
}

#[test]
fn a_model_without_tool_calls_is_not_added() {
    let provider = Provider::start(&["only"], silent);
    let scene = Scene::new();
    let words = ["route", "add", "mine", "--endpoint", &provider.base];
    let refused = scene.run(&words);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stderr.contains("I would rather talk"), "{refused:?}");
    assert!(!scene.path(PROVIDERS).exists());
    let forced = scene.ask(&[&words[..], &["--unchecked", "--model", "only"]].concat());
    assert_eq!(
        (&forced["written"], &forced["checked"]),
        (&json!(true), &json!(false))
    );
    let tested = scene.run(&["route", "test", "mine"]);
    assert_eq!(tested.code, 1, "{tested:?}");
}

#[test]
fn a_refused_key_is_reported_without_it() {
    let provider = Provider::start(&["only"], closed);
    let scene = Scene::new();
    let refused = scene.run(&["route", "add", "mine", "--endpoint", &provider.base]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.stderr.contains("Incorrect API key"), "{refused:?}");
    assert!(!refused.stderr.contains("abcdefghij"), "{refused:?}");
}

#[test]
fn what_is_missing_is_asked_for() {
    let provider = Provider::start(&["one-large", "one-small"], regular);
    let scene = Scene::new();
    let fails = |words: &[&str], code: i32, text: &str| {
        let ended = scene.run(&[&["route", "add"], words].concat());
        assert_eq!(ended.code, code, "{words:?}: {ended:?}");
        assert!(ended.stderr.contains(text), "{words:?}: {ended:?}");
    };
    let base = provider.base.as_str();
    fails(&["mine"], 64, "give it with --endpoint URL; known are ollama");
    fails(&["deepseek"], 64, "DEEPSEEK_API_KEY");
    fails(
        &["mine", "--endpoint", base, "--key-env", "UNSET_KEY"],
        64,
        "UNSET_KEY",
    );
    fails(
        &["mine", "--endpoint", base],
        64,
        "name one with --model: one-large, one-small",
    );
    fails(
        &["mine", "--endpoint", base, "--model", "one-smal"],
        1,
        "it has one-large, one-small",
    );
    fails(&["mine", "--endpoint", "localhost:1"], 64, "has the scheme");
    fails(
        &["mine", "--endpoint", "http://127.0.0.1:1"],
        2,
        "cannot be reached",
    );
    scene.ask(&["route", "add", "mine", "--endpoint", base, "--model", "one-small"]);
    fails(&["mine", "--endpoint", base], 2, "is in the file already");
    fails(
        &["other", "--endpoint", base, "--label", "mine"],
        2,
        "choose another one with --label",
    );
}

#[test]
fn the_usual_key_is_not_sent_to_another_endpoint() {
    let provider = Provider::start(&["only"], regular);
    let scene = Scene::new().env("DEEPSEEK_API_KEY", "hunter2-hunter2");
    let answer = scene.ask(&["route", "add", "deepseek", "--endpoint", &provider.base]);
    assert_eq!(names(&answer), ["deepseek", "reasoning", "schema:openai"]);
    assert!(!provider.heads().is_empty());
    assert!(provider.heads().iter().all(|head| !head.contains("hunter2")));
}

#[test]
fn a_list_in_brackets_is_left_to_the_user() {
    let provider = Provider::start(&["only"], regular);
    let scene = Scene::new();
    scene.write(PROVIDERS, "providers: []\n");
    let ended = scene.run(&["route", "add", "mine", "--endpoint", &provider.base, "--json"]);
    assert_eq!(ended.code, 2, "{ended:?}");
    let hint = scene::json(&ended)["error"]["hint"].as_str().unwrap().to_owned();
    assert!(hint.contains("- name: mine"), "{hint}");
    assert_eq!(
        std::fs::read_to_string(scene.path(PROVIDERS)).unwrap(),
        "providers: []\n"
    );
}

#[test]
fn a_call_with_wrong_arguments_is_not_reported_as_no_call() {
    let provider = Provider::start(&["only"], mistaken);
    let scene = Scene::new();
    let words = ["route", "add", "mine", "--endpoint", &provider.base];
    let refused = scene.run(&words);
    assert!(
        refused.code == 1
            && refused
                .stderr
                .contains("with the arguments {\"path\":\"today.txt\"} instead of"),
        "{refused:?}"
    );
    scene.ask(&[&words[..], &["--unchecked", "--model", "only"]].concat());
    let tested = scene.run(&["route", "test", "mine"]);
    assert!(
        tested.code == 1 && tested.stdout.contains("with the arguments"),
        "{tested:?}"
    );
}

#[test]
fn an_endpoint_without_its_version_gets_a_hint() {
    let provider = Provider::start(&["only"], lost);
    let base = provider.base.trim_end_matches("/v1");
    let refused = Scene::new().run(&["route", "add", "mine", "--endpoint", base, "--model", "only"]);
    assert!(
        refused.code == 2 && refused.stderr.contains(&format!("try --endpoint {base}/v1")),
        "{refused:?}"
    );
}

#[test]
fn an_edit_made_while_the_provider_is_asked_is_kept() {
    let scene = Scene::new();
    let file = scene.path(PROVIDERS);
    let edited = file.clone();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            std::fs::create_dir_all(edited.parent().unwrap()).unwrap();
            std::fs::write(&edited, "# mine\nproviders: []\n".replace("[]", "")).unwrap();
            let _ = serve(stream.unwrap(), &["only"], regular, &Mutex::default());
        }
    });
    scene.ask(&["route", "add", "other", "--endpoint", &base]);
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(
        text.starts_with("# mine\n") && text.contains("name: other"),
        "{text}"
    );
}
