//! Clients of other model APIs than the Messages API.

mod canned;
mod changed;
mod conversation;
mod encoded;
mod real;
mod tokens;

use crate::upstream::Upstream;
use anyhow::Result;
use conversation::Conversation;
use grov_tests::{Daemon, Grov, Request, WireTap, eventually, exchange};
use serde_json::{Value, json};
use std::path::Path;
use tokens::Tokens;

/// Two calls of tools and a closing text, with the tools of each client.
fn script(shell: &str, command: &str, write: &Value) -> Value {
    let calls = |command: &str| json!({"type": "tool_use", "name": shell, "input": {command: "echo hello > made.txt && ls"}});
    json!({"scenarios": {"work": {"steps": [
        {"blocks": [{"type": "text", "text": "I will make the file."}, calls(command)]},
        {"blocks": [write]},
        {"blocks": [{"type": "text", "text": "The file is made."}]},
    ]}}})
}

/// Runs a conversation through the proxy, and checks that every byte was relayed and the tokens are what the upstream said. Returns the stored steps and the session as `grov proxy-status` shows it.
fn record(conversation: &mut dyn Conversation, script: &Value) -> Result<(Vec<Value>, Value)> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let upstream = Upstream::with(script)?;
    let tap = WireTap::before(upstream.port())?;
    let daemon = Daemon::on(&home, &tap.url()).start()?;
    let mut answers = Vec::new();
    let mut requests = Vec::new();
    while let Some(request) = conversation.next_request() {
        let answer = exchange(daemon.port(), &request)?;
        assert_eq!(answer.status, 200, "{}", answer.text());
        conversation.answered(&answer.text());
        answers.push(answer.body);
        requests.push(request);
    }
    let relayed = tap.messages()?;
    assert_eq!(relayed.len(), requests.len());
    for ((message, request), answer) in relayed.iter().zip(&requests).zip(&answers) {
        assert!(message.body == request.payload(), "the request was changed");
        assert!(message.answer == *answer, "the response was changed");
    }
    tokens::assert_stored(&home, Tokens::told(answers.iter().map(Vec::as_slice)))?;
    let grov = Grov::on(&home);
    let session = eventually("the session to be stored", || {
        let sessions = grov.sessions().ok()?;
        sessions.into_iter().find(|session| session["steps"] == 2)
    })?;
    let id = session["session_id"].as_str().unwrap_or_default().to_owned();
    Ok((grov.wait_for_steps(&id, 2)?, session))
}

fn assert_recorded(steps: &[Value], session: &Value, tools: [&str; 2]) {
    let of = |name: &str| steps.iter().map(|step| step[name].clone()).collect::<Vec<_>>();
    assert_eq!(of("tool"), tools, "{steps:?}");
    assert_eq!(steps[0]["command"], "echo hello > made.txt && ls", "{steps:?}");
    assert_eq!(steps[0]["action_type"], "bash");
    assert!(
        steps[1].to_string().contains("/home/dev/app/notes.md"),
        "{steps:?}"
    );
    assert_eq!(session["prompts"], 1, "{session}");
}

#[test]
fn a_conversation_of_the_responses_api_is_recorded_and_relayed_unchanged() -> Result<()> {
    let patch = "*** Begin Patch\n*** Add File: notes.md\n+# Notes\n*** End Patch\n";
    let write = json!({"type": "tool_use", "name": "apply_patch", "input": {"input": patch}});
    let script = script("exec_command", "cmd", &write);
    let (steps, session) = record(&mut conversation::Responses::new(), &script)?;
    assert_recorded(&steps, &session, ["exec_command", "apply_patch"]);
    assert_eq!(session["client_session_id"], conversation::SESSION, "{session}");
    Ok(())
}

#[test]
fn a_conversation_of_the_chat_api_is_recorded_and_relayed_unchanged() -> Result<()> {
    let input = json!({"filePath": "/home/dev/app/notes.md", "content": "# Notes\n"});
    let write = json!({"type": "tool_use", "name": "write", "input": input});
    let (steps, session) = record(&mut conversation::Chat::new(), &script("bash", "command", &write))?;
    assert_recorded(&steps, &session, ["bash", "write"]);
    assert_eq!(session["client_session_id"], conversation::SESSION, "{session}");
    Ok(())
}

#[test]
fn a_conversation_of_the_gemini_api_is_recorded_and_relayed_unchanged() -> Result<()> {
    let input = json!({"file_path": "/home/dev/app/notes.md", "content": "# Notes\n"});
    let write = json!({"type": "tool_use", "name": "write_file", "input": input});
    let script = script("run_shell_command", "command", &write);
    let (steps, session) = record(&mut conversation::Gemini::new(), &script)?;
    assert_recorded(&steps, &session, ["run_shell_command", "write_file"]);
    Ok(())
}

#[test]
fn requests_that_nobody_understands_are_relayed_unchanged() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let upstream = Upstream::start()?;
    let tap = WireTap::before(upstream.port())?;
    let daemon = Daemon::on(&folder.path().join("grov"), &tap.url()).start()?;
    let bodies = [
        "no JSON",
        "[1, 2]",
        "{\"input\":{\"new\":[]},\"messages\":7,\"contents\":\"x\"}",
        "",
    ];
    let paths = [
        "/v1/responses",
        "/v1/chat/completions",
        "/v1beta/models/g:streamGenerateContent?alt=sse",
    ];
    for path in paths {
        for body in bodies {
            let request = Request::new("POST", path)
                .header("content-type", "application/json")
                .body(body);
            let answer = exchange(daemon.port(), &request)?;
            let relayed = tap.messages()?.pop();
            let relayed = relayed.ok_or_else(|| anyhow::anyhow!("{path} was not relayed"))?;
            assert_eq!(
                (relayed.body, relayed.answer),
                (body.into(), answer.body),
                "{path} {body}"
            );
        }
    }
    Ok(())
}

#[test]
fn each_client_is_registered_and_removed_byte_for_byte() -> Result<()> {
    for (client, file, before) in [
        (
            "codex",
            ".codex/config.toml",
            Some("model = \"m\" # mine\n\n[model_providers.other]\nname = \"o\""),
        ),
        ("codex", ".codex/config.toml", None),
        ("gemini", ".gemini/.env", Some("GEMINI_API_KEY=k")),
        ("gemini", ".gemini/.env", None),
        ("opencode", ".config/opencode/config.json", None),
    ] {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join(file);
        if let (Some(before), Some(parent)) = (before, path.parent()) {
            std::fs::create_dir_all(parent)?;
            std::fs::write(&path, before)?;
        }
        let read = || std::fs::read_to_string(&path).ok();
        let grov = Grov::on(&folder.path().join("grov")).env("HOME", &folder.path().to_string_lossy());
        let planned = grov.run(&["init", "--client", client, "--dry-run"])?;
        assert_eq!(
            (planned.code(), read().as_deref()),
            (Some(0), before),
            "{}",
            planned.stderr
        );
        assert!(
            planned.stdout.contains("http://127.0.0.1:8080"),
            "{}",
            planned.stdout
        );
        for _ in 0..2 {
            let done = grov.run(&["init", "--client", client])?;
            assert_eq!(done.code(), Some(0), "{}", done.stderr);
        }
        let text = read().unwrap_or_default();
        assert_eq!(text.matches("http://127.0.0.1:8080").count(), 1, "{text}");
        let moved = grov.run(&["config", "set", "proxy.port", "9001"])?;
        assert_eq!(moved.code(), Some(0), "{}", moved.stderr);
        assert_eq!(grov.run(&["init", "--client", client])?.code(), Some(0));
        let text = read().unwrap_or_default();
        assert!(text.contains(":9001") && !text.contains(":8080"), "{text}");
        let doctor = grov.run_json(&["doctor"])?.json.to_string();
        assert!(doctor.contains("goes through the proxy"), "{doctor}");
        assert_eq!(grov.run(&["unregister"])?.code(), Some(0));
        assert_eq!(read().as_deref(), before);
        assert!(before.is_some() || !path.parent().is_some_and(Path::exists));
    }
    Ok(())
}

#[test]
fn settings_of_another_provider_are_not_replaced() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join(".codex/config.toml");
    std::fs::create_dir_all(folder.path().join(".codex"))?;
    std::fs::write(&path, "model_provider = \"mine\"\n")?;
    let grov = Grov::on(&folder.path().join("grov")).env("HOME", &folder.path().to_string_lossy());
    let refused = grov.run(&["init", "--client", "codex"])?;
    assert!(
        refused.stderr.contains("sets another model_provider"),
        "{}",
        refused.stderr
    );
    assert_eq!(std::fs::read_to_string(&path)?, "model_provider = \"mine\"\n");
    Ok(())
}
