//! The user's own client as the judge: with a script in its place, and the real one before a simulated API.

use crate::claude_cli::{Client, LONG, hanging, installed, is_gone};
use crate::ledger::Book;
use grov_domain::{
    CallOutcome, Intent, IntentQuestion, Judge, Judged, JudgedBy, MicroUsd, Redacted, SystemClock,
};
use grov_llm::{
    Answering, ClaudeCliSettings, ClientLogin, JudgeSettings, ModelJudge, Provider, RulesReason, client_login,
};
use grov_sim::{Sim, SimConfig};
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

const GOOD: &str = r#"{"goal":"Fix the login","scope":[],"constraints":[],"keywords":[]}"#;

struct Stage {
    judge: ModelJudge,
    book: Arc<Book>,
}

fn variables(folder: &Path, home: &Path) -> Vec<(String, OsString)> {
    let path = format!("{}:/usr/bin:/bin", folder.display());
    [
        ("PATH", path.as_str()),
        ("HOME", home.to_str().unwrap()),
        ("GROV_LLM_API_KEY", "secret"),
        ("ANTHROPIC_BASE_URL", "http://127.0.0.1:8080"),
        ("HTTPS_PROXY", "http://127.0.0.1:8080"),
    ]
    .map(|(name, value)| (name.to_owned(), OsString::from(value)))
    .to_vec()
}

fn stage_with(folder: &Path, change: impl FnOnce(JudgeSettings) -> JudgeSettings) -> Stage {
    let book = Arc::new(Book::default());
    let settings = JudgeSettings {
        provider: Provider::ClaudeCli,
        timeout: LONG,
        own_listeners: vec!["127.0.0.1:8080".parse().unwrap()],
        client_environment: variables(folder, folder),
        ..JudgeSettings::default()
    };
    let judge = ModelJudge::new(change(settings), Arc::clone(&book) as _, Arc::new(SystemClock)).unwrap();
    Stage { judge, book }
}

fn stage(client: &Client) -> Stage {
    stage_with(client.directory.path(), |settings| settings)
}

impl Stage {
    async fn ask(&self, text: &str) -> Judged<Intent> {
        let question = IntentQuestion {
            prompts: vec![text.to_owned()],
            first_files: Vec::new(),
        };
        self.judge.extract_intent(None, &Redacted::of(&question)).await
    }

    fn costs(&self) -> Vec<u64> {
        self.book.all().iter().map(|call| call.cost.0).collect()
    }
}

/// A script that prints results with these texts, one at each start.
fn answers(texts: &[&str]) -> Client {
    let cases = texts.iter().enumerate().map(|(index, text)| {
        let result = serde_json::json!({
            "type": "result", "subtype": "success", "is_error": false, "result": text, "stop_reason": "end_turn",
            "total_cost_usd": 0.002, "usage": {"input_tokens": 3, "output_tokens": 2},
        });
        format!("{}) echo '{result}';;", index + 1)
    });
    let cases: Vec<String> = cases.collect();
    Client::new(&format!(
        r#"cat > "$SEEN/stdin"; env > "$SEEN/env"; ls -A . > "$SEEN/files"; echo x >> "$SEEN/starts"
        for argument in "$@"; do echo "<$argument>"; done > "$SEEN/arguments"
        case $(wc -l < "$SEEN/starts" | tr -d ' ') in {}
        esac"#,
        cases.join("\n")
    ))
}

/// A script that prints this result as an error.
fn fails(message: &str) -> Client {
    let result =
        serde_json::json!({"type": "result", "is_error": true, "result": message, "total_cost_usd": 0});
    Client::new(&format!(
        r#"echo x >> "$SEEN/starts"; cat > /dev/null; echo '{result}'; exit 1"#
    ))
}

fn starts(client: &Client) -> usize {
    client.seen("starts").lines().count()
}

#[tokio::test]
async fn the_client_judges_without_hooks_servers_tools_or_a_project() {
    let client = answers(&[GOOD]);
    let stage = stage(&client);
    let judged = stage.ask("fix the login of the shop").await;
    assert_eq!(
        (judged.by, judged.answer.goal.as_str()),
        (JudgedBy::Model, "Fix the login")
    );
    let calls = stage.book.all();
    assert_eq!(calls.len(), 1);
    let call = &calls[0];
    assert_eq!(
        (call.outcome, call.cost, call.usage.input),
        (CallOutcome::Answered, MicroUsd(2_000), 3)
    );
    assert_eq!(
        (call.provider.as_str(), call.model.as_str()),
        ("claude_cli", "claude-haiku-4-5-20251001")
    );
    let arguments = client.seen("arguments");
    for argument in [
        "<-p>",
        "<--tools>\n<>",
        "<--setting-sources>\n<>",
        "<--strict-mcp-config>",
        "<--no-session-persistence>",
        "<--settings>",
        "<--model>\n<claude-haiku-4-5-20251001>",
    ] {
        assert!(arguments.contains(argument), "{arguments}");
    }
    assert!(client.seen("stdin").contains("login of the shop"));
    assert!(!arguments.contains("shop") && client.seen("files").is_empty());
    let environment = client.seen("env");
    assert!(
        environment.contains("ANTHROPIC_BASE_URL=https://api.anthropic.com\n")
            && environment.contains("MAX_THINKING_TOKENS=0\n")
    );
    assert!(
        !environment.contains("secret") && !environment.contains("8080"),
        "{environment}"
    );
    let status = stage.judge.status();
    assert_eq!(status.answering, Answering::Model);
}

#[tokio::test]
async fn an_unusable_answer_is_repaired_once() {
    let client = answers(&["I think it is fine.", GOOD]);
    let stage = stage(&client);
    assert_eq!(stage.ask("fix the login").await.by, JudgedBy::Model);
    assert!(client.seen("stdin").contains("could not be used"));
    assert_eq!(
        stage.book.outcomes(),
        [CallOutcome::Unusable, CallOutcome::Answered]
    );
    assert_eq!(stage.costs(), [2_000, 2_000]);

    let client = answers(&["no", "no", GOOD]);
    let unusable = self::stage(&client);
    assert_eq!(unusable.ask("fix the login").await.by, JudgedBy::Rules);
    assert_eq!(starts(&client), 2);
}

#[tokio::test]
async fn what_is_no_answer_leaves_the_question_to_the_rules() {
    let flood = "exec yes xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
    for script in ["exit 3", "cat > /dev/null; echo '{\"type\":\"res'", flood] {
        let client = Client::new(&format!("echo x >> \"$SEEN/starts\"; {script}"));
        let stage = stage(&client);
        assert_eq!(stage.ask("fix the login").await.by, JudgedBy::Rules, "{script}");
        assert_eq!(
            starts(&client),
            3,
            "{script}: tried again as with other providers"
        );
        // The API was not asked.
        assert_eq!(stage.costs(), [0, 0, 0], "{script}");
    }
}

#[tokio::test]
async fn a_client_without_login_is_reported_and_not_started_again() {
    let client = fails("Not logged in · Please run /login");
    let stage = stage(&client);
    assert_eq!(stage.ask("fix the login").await.by, JudgedBy::Rules);
    assert_eq!(
        stage.judge.status().answering,
        Answering::Rules(RulesReason::LoggedOut)
    );
    assert_eq!(stage.ask("fix the logout").await.by, JudgedBy::Rules);
    assert_eq!(starts(&client), 1);
    assert_eq!(stage.costs(), [0]);
}

#[tokio::test]
async fn a_missing_client_is_reported() {
    let nowhere = tempfile::tempdir().unwrap();
    let stage = stage_with(nowhere.path(), |settings| JudgeSettings {
        client_environment: vec![("PATH".to_owned(), nowhere.path().into())],
        ..settings
    });
    assert_eq!(stage.ask("fix the login").await.by, JudgedBy::Rules);
    assert_eq!(
        stage.judge.status().answering,
        Answering::Rules(RulesReason::ClientMissing)
    );
}

#[tokio::test]
async fn a_client_of_a_version_manager_judges_for_a_daemon_without_the_users_path() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".nvm/versions/node/v20.11.1/bin");
    std::fs::create_dir_all(&folder).unwrap();
    // The client is a script of an interpreter that is in no other folder.
    let result = serde_json::json!({"type": "result", "result": GOOD});
    for (name, text) in [
        ("claude", "#!/usr/bin/env grov-test-node\n".to_owned()),
        (
            "grov-test-node",
            format!("#!/bin/sh\ncat > /dev/null\necho '{result}'\n"),
        ),
    ] {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    }
    let stage = stage_with(home.path(), |settings| JudgeSettings {
        client_environment: [
            ("PATH", OsString::from("/usr/bin:/bin")),
            ("HOME", home.path().into()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec(),
        ..settings
    });
    assert_eq!(stage.ask("fix the login").await.by, JudgedBy::Model);
}

#[tokio::test]
async fn a_client_that_is_replaced_between_two_questions_goes_on_judging() {
    let client = answers(&[GOOD]);
    let stage = stage(&client);
    assert_eq!(stage.ask("fix the login").await.by, JudgedBy::Model);
    let program = client.directory.path().join("claude");
    // As its updater does it: a new file, and a link that leads to it.
    let newer = client.directory.path().join("claude-2");
    std::fs::copy(&program, &newer).unwrap();
    std::fs::write(client.directory.path().join("starts"), "").unwrap();
    std::fs::remove_file(&program).unwrap();
    std::os::unix::fs::symlink(&newer, &program).unwrap();
    assert_eq!(stage.ask("fix the logout").await.by, JudgedBy::Model);
    assert_eq!(starts(&client), 1);
}

#[tokio::test]
async fn a_client_that_hangs_is_ended_and_may_have_cost() {
    let client = hanging();
    let stage = stage_with(client.directory.path(), |settings| JudgeSettings {
        timeout: Duration::from_secs(2),
        ..settings
    });
    assert_eq!(stage.ask("fix the login").await.by, JudgedBy::Rules);
    assert!(is_gone(&client.seen("child")).await);
    assert_eq!(stage.book.outcomes(), [CallOutcome::Failed]);
    assert!(stage.costs()[0] > 0, "the reservation stays");
}

#[tokio::test]
async fn closing_ends_a_running_client() {
    let client = hanging();
    let stage = stage(&client);
    let closed = async {
        while client.seen("child").is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let begun = Instant::now();
        stage.judge.close().await;
        begun.elapsed()
    };
    let (judged, took) = tokio::join!(stage.ask("fix the login"), closed);
    assert_eq!(judged.by, JudgedBy::Rules);
    assert!(took < LONG / 4, "{took:?}");
    assert!(is_gone(&client.seen("child")).await);
    assert!(stage.costs()[0] > 0, "the reservation stays");
}

#[tokio::test]
async fn at_most_two_clients_run_at_a_time() {
    let client = Client::new(&format!(
        r#"mkdir "$SEEN/run.$$"; ls -d "$SEEN"/run.* | wc -l >> "$SEEN/together"; cat > /dev/null; sleep 0.3; rmdir "$SEEN/run.$$"
        echo '{{"type":"result","result":{}}}'"#,
        serde_json::json!(GOOD)
    ));
    let stage = stage_with(client.directory.path(), |settings| JudgeSettings {
        concurrency: 8,
        ..settings
    });
    let texts = ["a", "b", "c", "d", "e"].map(|name| format!("fix the login of {name}"));
    let [a, b, c, d, e] = &texts;
    let judged = tokio::join!(
        stage.ask(a),
        stage.ask(b),
        stage.ask(c),
        stage.ask(d),
        stage.ask(e)
    );
    assert_eq!(judged.4.by, JudgedBy::Model);
    let together = client.seen("together");
    let most = together
        .lines()
        .filter_map(|line| line.trim().parse::<u32>().ok())
        .max();
    assert_eq!((together.lines().count(), most), (5, Some(2)));
}

fn login_settings(environment: Vec<(String, OsString)>) -> ClaudeCliSettings {
    ClaudeCliSettings {
        program: "claude".into(),
        environment,
        model: None,
        base_url: None,
        api_key: None,
        proxy: None,
        timeout: LONG,
        own_listeners: Vec::new(),
    }
}

#[tokio::test]
async fn the_real_client_judges_whatever_its_own_files_say() {
    let Some(program) = installed() else { return };
    // Knows the judge's questions, and answers them.
    let sim = Sim::start(SimConfig::default()).await.unwrap();
    let home = tempfile::tempdir().unwrap();
    let at = |name: &str| home.path().join(name);
    let folder = program.parent().unwrap();
    let without_login = login_settings(variables(folder, home.path()));
    assert_eq!(client_login(&without_login).await, Ok(ClientLogin::LoggedOut));
    // The user's own settings name a Grov proxy and Grov's hooks.
    let elsewhere = serde_json::json!({"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"});
    let hook = format!("touch '{}'", at("hooked").display());
    let settings = serde_json::json!({
        "env": elsewhere, "hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": hook}]}]},
    });
    std::fs::create_dir_all(at(".claude")).unwrap();
    std::fs::write(at(".claude/settings.json"), settings.to_string()).unwrap();
    std::fs::write(at(".claude/CLAUDE.md"), "Answer in verse.").unwrap();
    std::fs::write(
        at(".claude.json"),
        serde_json::json!({"env": elsewhere}).to_string(),
    )
    .unwrap();
    let stage = stage_with(folder, |settings| JudgeSettings {
        base_url: Some(format!("{}/v1", sim.url())),
        api_key: Some("sk-ant-api03-test-0000".into()),
        timeout: Duration::from_secs(50),
        client_environment: variables(folder, home.path()),
        ..settings
    });
    let judged = stage.ask("fix the login").await;
    assert_eq!(
        (judged.by, judged.answer.goal.as_str()),
        (JudgedBy::Model, "A simulated goal.")
    );
    let call = &stage.book.all()[0];
    assert!(call.usage.output > 0 && call.cost > MicroUsd(0), "{call:?}");
    let requests = sim.messages();
    assert_eq!(requests.len(), 1, "one call for one question");
    let body: serde_json::Value = serde_json::from_slice(&requests[0].body).unwrap();
    assert_eq!(body["model"], "claude-haiku-4-5-20251001");
    // Otherwise thinking may leave no tokens for the answer.
    assert!(
        body["thinking"].is_null() || body["thinking"]["type"] == "disabled",
        "{body}"
    );
    assert!(
        body["tools"].as_array().is_none_or(Vec::is_empty),
        "{}",
        body["tools"]
    );
    let text = body.to_string();
    assert!(
        !text.contains("verse") && !text.contains("cache_control"),
        "{text}"
    );
    assert!(!at("hooked").exists(), "a hook of the user ran");
    assert!(
        !at(".claude/projects").exists(),
        "the client keeps no record of the question"
    );
}
