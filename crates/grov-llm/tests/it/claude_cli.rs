//! The user's own client as a chat model: with a script in its place.

use grov_domain::{ChatCompletion, ChatError, ChatMessage, ChatModel, ChatPrompt, ChatRole, MicroUsd};
use grov_llm::{ClaudeCliChat, ClaudeCliSettings};
use grov_redact::Redactor;
use grov_sim::scenario::Block;
use grov_sim::{Scenario, ScenarioSet, Sim, SimConfig, Step};
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A script that stands for the client.
pub(crate) struct Client {
    pub(crate) directory: TempDir,
}

impl Client {
    pub(crate) fn new(script: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("claude");
        std::fs::write(
            &path,
            format!("#!/bin/sh\nSEEN='{}'\n{script}\n", directory.path().display()),
        )
        .unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        Self { directory }
    }

    pub(crate) fn seen(&self, name: &str) -> String {
        std::fs::read_to_string(self.directory.path().join(name)).unwrap_or_default()
    }

    fn chat(&self, timeout: Duration) -> ClaudeCliChat {
        chat("claude".into(), self.directory.path(), timeout)
    }
}

fn chat(program: PathBuf, folder: &Path, timeout: Duration) -> ClaudeCliChat {
    let path = format!("{}:/usr/bin:/bin", folder.display());
    let environment = [
        ("PATH", path.as_str()),
        ("HOME", "/home/me"),
        ("AGENT_API_KEY", "secret"),
        ("ANTHROPIC_BASE_URL", "http://127.0.0.1:8080"),
    ];
    ClaudeCliChat::new(ClaudeCliSettings {
        program,
        environment: environment
            .map(|(name, value)| (name.to_owned(), OsString::from(value)))
            .to_vec(),
        model: Some("haiku".to_owned()),
        base_url: None,
        api_key: None,
        proxy: None,
        timeout,
        own_listeners: Vec::new(),
    })
    .unwrap()
}

async fn ask(chat: &ClaudeCliChat, said: &str) -> (Result<ChatCompletion, ChatError>, Vec<String>) {
    let prompt = ChatPrompt {
        system: Redactor::shared().text("You help."),
        messages: vec![ChatMessage {
            role: ChatRole::User,
            text: Redactor::shared().text(said),
        }],
        schema: r#"{"type":"object"}"#.to_owned(),
        max_output_tokens: 77,
    };
    let mut heard = Vec::new();
    let result = chat
        .complete(&prompt, &mut |text| heard.push(text.to_owned()))
        .await;
    (result, heard)
}

pub(crate) const LONG: Duration = Duration::from_secs(20);

/// Prints two pieces and a result.
const ANSWERS: &str = r#"
delta() { printf '{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"%s"}}}\n' "$1"; }
echo '{"type":"system","subtype":"init"}'
delta one
delta two
echo '{"type":"result","subtype":"success","is_error":false,"result":"onetwo","stop_reason":"end_turn","total_cost_usd":0.01,"usage":{"input_tokens":3,"output_tokens":2}}'
"#;

#[tokio::test]
async fn the_client_answers_without_tools_keys_or_a_project() {
    let client = Client::new(&format!(
        r#"cat > "$SEEN/stdin"; env > "$SEEN/env"; ls -A . > "$SEEN/files"; pwd > "$SEEN/pwd"
        for argument in "$@"; do echo "<$argument>"; last="$argument"; done > "$SEEN/arguments"; cat "$last" > "$SEEN/system"
        {ANSWERS}"#
    ));
    let chat = client.chat(LONG);
    let said = "What\nnow? ".repeat(20_000);
    let (completion, heard) = ask(&chat, &said).await;
    let completion = completion.unwrap();
    assert_eq!(
        (completion.text.as_str(), heard),
        ("onetwo", vec!["one".to_owned(), "two".to_owned()])
    );
    assert_eq!(completion.cost, Some(MicroUsd(10_000)));
    assert_eq!((completion.usage.input, completion.usage.output), (3, 2));
    assert_eq!(client.seen("stdin"), said);
    assert_eq!(client.seen("files"), "");
    let system = client.seen("system");
    assert!(
        system.starts_with("You help.") && system.contains(r#"{"type":"object"}"#),
        "{system}"
    );
    let arguments = client.seen("arguments");
    for argument in [
        "<-p>",
        "<--tools>\n<>",
        "<--setting-sources>\n<>",
        "<--model>\n<haiku>",
    ] {
        assert!(arguments.contains(argument), "{arguments}");
    }
    assert!(
        !arguments.contains("help"),
        "the prompt is not among the arguments"
    );
    let environment = client.seen("env");
    assert!(
        environment.contains("HOME=/home/me") && environment.contains("CLAUDE_CODE_MAX_OUTPUT_TOKENS=77")
    );
    assert!(
        !environment.contains("secret") && !environment.contains("127.0.0.1:8080"),
        "{environment}"
    );
    let directory = client.seen("pwd");
    assert!(!Path::new(directory.trim()).exists(), "{directory} is left");
    assert!(chat.is_ok());
}

/// Waits until the process is gone.
pub(crate) async fn is_gone(pid: &str) -> bool {
    assert!(!pid.trim().is_empty(), "the script has not come so far");
    let begun = Instant::now();
    while begun.elapsed() < LONG {
        let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
        // A zombie has ended.
        match state {
            Ok(state) if !state.contains(") Z ") => tokio::time::sleep(Duration::from_millis(20)).await,
            _ => return true,
        }
    }
    false
}

/// A client that started another process and does not end.
pub(crate) fn hanging() -> Client {
    Client::new(r#"sleep 600 & echo $! > "$SEEN/child.part"; mv "$SEEN/child.part" "$SEEN/child"; wait"#)
}

#[tokio::test]
async fn a_client_that_hangs_ends_with_everything_that_it_started() {
    let client = hanging();
    let chat = client.chat(Duration::from_secs(2));
    let (result, _) = ask(&chat, "hi").await;
    assert_eq!(result, Err(ChatError::TimedOut(Duration::from_secs(2))));
    assert!(is_gone(&client.seen("child")).await);
    assert!(!chat.is_ok());
}

#[tokio::test]
async fn a_cancelled_call_ends_the_client() {
    let client = hanging();
    let chat = client.chat(LONG);
    let started = async {
        while client.seen("child").is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::select! {
        _ = ask(&chat, "hi") => panic!("the client hangs"),
        () = started => {}
    }
    assert!(is_gone(&client.seen("child")).await);
}

#[tokio::test]
async fn what_the_client_leaves_behind_ends_too() {
    let client = Client::new(&format!(
        r#"sleep 600 >/dev/null & echo $! > "$SEEN/child"; cat >/dev/null; {ANSWERS}"#
    ));
    assert!(ask(&client.chat(LONG), "hi").await.0.is_ok());
    assert!(is_gone(&client.seen("child")).await);
}

#[tokio::test]
async fn a_client_that_answers_without_reading_everything_is_not_waited_for() {
    let client = Client::new(&format!("{ANSWERS}\nexec sleep 600"));
    let (result, _) = ask(&client.chat(LONG), &"x".repeat(200_000)).await;
    assert!(result.is_ok(), "{result:?}");
}

#[tokio::test]
async fn failures_are_told_apart() {
    let of = async |script: &str| {
        let client = Client::new(script);
        ask(&client.chat(LONG), &"x".repeat(200_000)).await.0.unwrap_err()
    };
    let error = of("exit 1").await;
    assert!(
        matches!(&error, ChatError::Unavailable { reason, .. } if reason.contains("without a result")),
        "{error}"
    );
    let error =
        of(r#"echo '{"type":"result","is_error":true,"result":"Invalid API key · Please run /login"}'"#)
            .await;
    assert!(error.to_string().contains("log in"), "{error}");
    let error = of(r#"echo '{"type":"result","is_error":true,"result":"API Error: 529 overloaded"}'"#).await;
    assert!(
        matches!(&error, ChatError::Unavailable { reason, .. } if reason == "status 529"),
        "{error}"
    );

    let nowhere = tempfile::tempdir().unwrap();
    let missing = chat("claude-that-is-not-there".into(), nowhere.path(), LONG);
    let error = ask(&missing, "hi").await.0.unwrap_err();
    assert!(error.to_string().contains("not installed"), "{error}");
}

#[tokio::test]
async fn an_answer_that_is_cut_off_ends_the_client_before_it_makes_another_call() {
    let client = Client::new(
        r#"cat > /dev/null; echo '{"type":"stream_event","event":{"type":"message_delta","delta":{"stop_reason":"max_tokens"}}}'
        sleep 1; touch "$SEEN/again"; sleep 600"#,
    );
    let begun = Instant::now();
    let error = ask(&client.chat(LONG), "hi").await.0.unwrap_err();
    assert!(error.to_string().contains("max_output_tokens"), "{error}");
    assert!(begun.elapsed() < LONG / 2);
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert!(!client.directory.path().join("again").exists());
}

#[tokio::test]
async fn endless_output_is_not_read() {
    let client =
        Client::new("exec yes xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
    let result = ask(&client.chat(Duration::from_secs(60)), "hi").await.0;
    assert!(matches!(result, Err(ChatError::Unavailable { .. })), "{result:?}");
}

/// The installed client, if `scripts/install-client` has installed it.
pub(crate) fn installed() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let program = root.join(".tools/client/claude");
    if program.exists() {
        return Some(program);
    }
    let is_ci = std::env::var("CI").is_ok_and(|value| !value.is_empty() && value != "false");
    assert!(
        !is_ci,
        "the real client is not installed: run scripts/install-client"
    );
    #[expect(clippy::print_stderr, reason = "a skipped test says so")]
    {
        eprintln!("SKIPPED: the real client is not installed: run scripts/install-client");
    }
    None
}

#[tokio::test]
async fn the_real_client_answers() {
    let Some(program) = installed() else { return };
    let text = r#"{"decision":"NOOP","answer":"Tuesday"}"#;
    let scenario = Scenario::of(vec![Step::of(vec![Block::Text(text.to_owned())])]);
    let scenarios = ScenarioSet::default().with("chat", scenario).with_default("chat");
    let scenarios = scenarios.unwrap();
    let sim = Sim::start(SimConfig {
        scenarios,
        ..SimConfig::default()
    })
    .await
    .unwrap();
    let home = tempfile::tempdir().unwrap();
    // Hooks of the user must not run: Grov's own would record the chat as a session.
    let hook = format!("touch '{}'", home.path().join("hooked").display());
    let hooks = serde_json::json!({"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": hook}]}]}});
    std::fs::create_dir(home.path().join(".claude")).unwrap();
    std::fs::write(home.path().join(".claude/settings.json"), hooks.to_string()).unwrap();
    let variables = [("PATH", "/usr/bin:/bin"), ("HOME", home.path().to_str().unwrap())];
    let chat = ClaudeCliChat::new(ClaudeCliSettings {
        program,
        environment: variables
            .map(|(name, value)| (name.to_owned(), OsString::from(value)))
            .to_vec(),
        model: Some("claude-haiku-4-5-20251001".to_owned()),
        base_url: Some(sim.url()),
        api_key: Some("sk-ant-api03-test-0000".into()),
        proxy: None,
        timeout: Duration::from_secs(90),
        own_listeners: Vec::new(),
    })
    .unwrap();
    let (completion, heard) = ask(&chat, "When?").await;
    let completion = completion.unwrap();
    assert_eq!(completion.text, text);
    assert_eq!(heard.concat(), completion.text);
    assert!(heard.len() > 1, "the answer is streamed");
    assert!(completion.usage.output > 0 && completion.cost.is_some());
    let requests = sim.messages();
    assert_eq!(requests.len(), 1, "one call for one answer");
    let body: serde_json::Value = serde_json::from_slice(&requests[0].body).unwrap();
    assert!(
        body["tools"].as_array().is_none_or(Vec::is_empty),
        "{}",
        body["tools"]
    );
    assert_eq!(body["max_tokens"], 77);
    assert!(body["system"].to_string().contains("You help."));
    assert!(!home.path().join("hooked").exists(), "a hook of the user ran");
}
