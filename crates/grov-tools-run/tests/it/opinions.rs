//! Questions and opinions: files, plans, diffs, repair, providers.

use crate::server::{Reply, Server};
use crate::world::World;
use grov_domain::MicroUsd;
use serde_json::{Value, json};

fn gemini(text: &str) -> Reply {
    let body = json!({
        "candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 1000, "candidatesTokenCount": 100}, "modelVersion": "gemini-2.5-pro",
    });
    Reply::json(200, &body.to_string())
}

fn world(url: &str) -> World {
    World::new(&[("VERTEX_API_KEY", "vertex-key"), ("VERTEX_BASE_URL", url)])
}

const APPROVED: &str =
    r#"{"verdict":"approved","issues":[],"questions_for_user":["Which port?"],"recommended_edits":[]}"#;
const REVIEWED: &str = r#"{"step_reviewed":1,"verdict":"needs_work","plan_adherence":{"on_track":true,"deviations":[]},"issues":[{"file":"a.rs","line":2,"severity":"high","issue":"i","suggestion":"s"}],"approved_steps":[],"questions_for_user":[]}"#;

/// The text that the model was asked.
fn asked(server: &Server, number: usize) -> String {
    server.requests()[number].body["contents"][0]["parts"][0]["text"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[tokio::test]
async fn a_question_sends_files_and_piped_text_between_tags() {
    let server = Server::start(vec![gemini(" It adds. ")]);
    let world = world(&server.url);
    world.write("src/a.rs", "fn add() {}");
    let printed = world
        .run_with(
            "vertex-ask",
            &[("query", "What is it?"), ("files", "src/*.rs"), ("stdin", "")],
            Some("piped </stdin> text"),
            std::future::pending(),
        )
        .await;
    assert_eq!(
        printed.value["data"],
        json!({"content": "It adds.", "thinking": null})
    );
    // 1000 tokens at 1.25 and 100 at 10 dollars per million.
    assert_eq!(printed.value["metadata"]["cost_usd"], 0.00225);
    let text = asked(&server, 0);
    assert!(
        text.contains("<file path=\"src/a.rs\">\nfn add() {}\n</file>")
            && text.contains("piped <\\/stdin> text"),
        "{text}"
    );
    assert!(text.ends_with("What is it?"));
    let request = &server.requests()[0];
    assert_eq!(
        request.line,
        "POST /v1/publishers/google/models/gemini-2.5-pro:generateContent HTTP/1.1"
    );
    assert!(request.head.contains("x-goog-api-key: vertex-key"));
    assert!(request.body.get("systemInstruction").is_none());
}

#[tokio::test]
async fn studio_keys_use_the_path_of_ai_studio() {
    let server = Server::start(vec![gemini("x")]);
    let world = World::new(&[("GEMINI_API_KEY", "g"), ("VERTEX_BASE_URL", &server.url)]);
    world
        .run("vertex-ask", &[("query", "q"), ("model", "gemini-2.5-flash")])
        .await;
    assert_eq!(
        server.requests()[0].line,
        "POST /v1beta/models/gemini-2.5-flash:generateContent HTTP/1.1"
    );
}

#[tokio::test]
async fn a_project_of_google_cloud_uses_the_token_of_a_command() {
    let server = Server::start(vec![gemini("x")]);
    let world = World::with_file(
        &[
            ("VERTEX_PROJECT", "p1"),
            ("VERTEX_LOCATION", "europe-west4"),
            ("VERTEX_BASE_URL", &server.url),
        ],
        "VERTEX_TOKEN_COMMAND=\"printf a-token\"\n",
    );
    assert_eq!(world.run("vertex-ask", &[("query", "q")]).await.code, 0);
    let request = &server.requests()[0];
    assert!(
        request
            .line
            .contains("/v1/projects/p1/locations/europe-west4/publishers/google/models/"),
        "{}",
        request.line
    );
    assert!(request.head.contains("authorization: Bearer a-token"));
    let failing = World::with_file(&[("VERTEX_PROJECT", "p1")], "VERTEX_TOKEN_COMMAND=false\n");
    assert_eq!(
        failing.run("vertex-ask", &[("query", "q")]).await.kind(),
        "no_key"
    );
}

#[tokio::test]
async fn validate_finds_the_plan_of_the_branch_and_records_its_verdict() {
    let server = Server::start(vec![gemini(&format!("```json\n{APPROVED}\n```"))]);
    let world = world(&server.url);
    world.git(&["init", "-q", "-b", "feat/auth"]);
    world.write(
        ".claude/plans/feat-auth/plan.md",
        "# Feature: auth\n\n## Status: draft\n\n## Validation\n- Last validated: never\n",
    );
    world.write(
        ".claude/plans/feat-auth/queries.jsonl",
        "{\"prompt\":\"add a login\"}\n{\"prompt\":\"keep it small\"}\n",
    );
    world.write(
        ".claude/plans/feat-auth/files.jsonl",
        "{\"path\":\"src/login.rs\"}\n",
    );
    world.write("src/login.rs", "fn login() {}");
    let printed = world.run("vertex-validate", &[]).await;
    assert_eq!(printed.code, 0, "{}", printed.value);
    assert_eq!(printed.value["data"]["verdict"], "approved");
    assert_eq!(printed.value["metadata"]["prompt"], "validate 1");
    let text = asked(&server, 0);
    let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part} in {text}"));
    assert!(
        place("add a login") < place("keep it small") && place("keep it small") < place("# Feature: auth")
    );
    assert!(text.contains("fn login() {}"));
    let body = &server.requests()[0].body;
    assert_eq!(
        body["generationConfig"]["responseJsonSchema"]["properties"]["verdict"]["enum"][0],
        "approved"
    );
    assert!(
        body["systemInstruction"]["parts"][0]["text"]
            .as_str()
            .unwrap()
            .contains("over-engineered")
    );
    let plan = world.read(".claude/plans/feat-auth/plan.md");
    assert!(
        plan.contains("approved") && plan.contains("Which port?"),
        "{plan}"
    );
}

#[tokio::test]
async fn a_plan_or_query_file_that_leads_to_keys_is_not_sent() {
    let server = Server::start(vec![gemini(APPROVED)]);
    let world = world(&server.url);
    world.git(&["init", "-q", "-b", "feature"]);
    world.write(".env", "KEY=1\n");
    world.write(".claude/plans/feature/branch", "feature\n");
    world.write("real.md", "# Plan\n");
    let link = |name: &str| {
        let to = world.around.directory.join(".env");
        std::os::unix::fs::symlink(to, world.around.directory.join(name)).unwrap();
    };
    link(".claude/plans/feature/plan.md");
    link("linked.md");
    link("queries.txt");
    for arguments in [
        &[][..],
        &[("plan", ".claude/plans/feature")],
        &[("plan", ".claude/plans/feature/plan.md")],
        &[("plan", "linked.md")],
        &[("plan", "real.md"), ("queries", "queries.txt")],
        &[("plan", "real.md"), ("queries", ".env")],
    ] {
        let printed = world.run("vertex-validate", arguments).await;
        assert_ne!(printed.code, 0, "{arguments:?}: {}", printed.value);
    }
    assert!(server.requests().is_empty());
    assert_eq!(world.read(".env"), "KEY=1\n");
}

#[tokio::test]
async fn review_compares_with_the_merge_base_and_names_what_is_left_out() {
    let server = Server::start(vec![gemini(REVIEWED)]);
    let world = world(&server.url);
    world.git(&["init", "-q", "-b", "main"]);
    world.write("a.rs", "one\n");
    world.write(".gitignore", ".claude/\n");
    world.git(&["add", "-A"]);
    world.git(&["commit", "-q", "-m", "first"]);
    world.git(&["checkout", "-q", "-b", "feature"]);
    world.write("a.rs", "one\ntwo\n");
    world.write("Cargo.lock", "x\n");
    world.git(&["add", "-A"]);
    world.git(&["commit", "-q", "-m", "second"]);
    world.write("new.txt", "untracked");
    world.write(".claude/plans/feature/plan.md", "# Plan\n1. [ ] Add two\n");
    let printed = world
        .run(
            "vertex-review",
            &[("step", "1"), ("plan", ".claude/plans/feature")],
        )
        .await;
    assert_eq!(
        printed.value["data"]["verdict"], "needs_work",
        "{}",
        printed.value
    );
    let text = asked(&server, 0);
    assert!(
        text.contains("+two") && text.contains("Add two") && text.contains("The step that is reviewed: 1"),
        "{text}"
    );
    let omitted = printed.value["metadata"]["omitted"].to_string();
    assert!(
        omitted.contains("Cargo.lock") && omitted.contains("new.txt"),
        "{omitted}"
    );
    assert!(world.read(".claude/plans/feature/plan.md").contains("needs_work"));
}

#[tokio::test]
async fn review_without_plan_or_changes_says_so() {
    let server = Server::start(vec![gemini(REVIEWED)]);
    let world = world(&server.url);
    assert_eq!(world.run("vertex-review", &[]).await.kind(), "git");
    world.git(&["init", "-q", "-b", "main"]);
    world.write("a.rs", "one\n");
    world.git(&["add", "-A"]);
    world.git(&["commit", "-q", "-m", "first"]);
    assert_eq!(world.run("vertex-review", &[]).await.kind(), "not_found");
    assert_eq!(
        world.run("vertex-review", &[("plan", "none.md")]).await.kind(),
        "not_found"
    );
    assert_eq!(
        world
            .run("vertex-review", &[("diff_against", "nowhere")])
            .await
            .kind(),
        "not_found"
    );
    assert_eq!(world.run("vertex-validate", &[]).await.kind(), "not_found");
    world.write("a.rs", "one\ntwo\n");
    assert_eq!(world.run("vertex-review", &[]).await.code, 0);
}

#[tokio::test]
async fn an_answer_is_repaired_once() {
    let server = Server::start(vec![gemini("no JSON at all"), gemini(APPROVED)]);
    let world = world(&server.url);
    world.write("plan.md", "# Plan\n");
    let printed = world.run("vertex-validate", &[("plan", "plan.md")]).await;
    assert_eq!(printed.code, 0, "{}", printed.value);
    assert_eq!(printed.value["metadata"]["cost_usd"], 0.0045);
    let turns = server.requests()[1].body["contents"].as_array().unwrap().len();
    assert_eq!(turns, 3);
    let server = Server::start(vec![gemini(r#"{"verdict":"great"}"#)]);
    let world = World::new(&[("VERTEX_API_KEY", "k"), ("VERTEX_BASE_URL", &server.url)]);
    world.write("plan.md", "# Plan\n");
    let printed = world.run("vertex-validate", &[("plan", "plan.md")]).await;
    assert_eq!((printed.kind(), server.requests().len()), ("bad_answer", 2));
    assert_eq!(world.calls().await[0].cost, MicroUsd(4500));
}

#[tokio::test]
async fn blocked_and_empty_answers_are_errors() {
    for (body, kind) in [
        (r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#, "blocked"),
        (r#"{"candidates":[]}"#, "empty_answer"),
        (r#"{"candidates":[{"content"#, "bad_answer"),
    ] {
        let server = Server::start(vec![Reply::json(200, body)]);
        assert_eq!(
            world(&server.url)
                .run("vertex-ask", &[("query", "q")])
                .await
                .kind(),
            kind
        );
    }
}

#[tokio::test]
async fn other_providers_are_named_by_their_variables() {
    let answer = json!({"content": [{"type": "tool_use", "name": "answer", "input": serde_json::from_str::<Value>(APPROVED).unwrap()}], "model": "claude-x", "usage": {"input_tokens": 1, "output_tokens": 1}});
    let server = Server::start(vec![Reply::json(200, &answer.to_string())]);
    let world = World::new(&[("ANTHROPIC_API_KEY", "a"), ("ANTHROPIC_BASE_URL", &server.url)]);
    world.write("plan.md", "# Plan\n");
    let printed = world
        .run(
            "vertex-validate",
            &[("plan", "plan.md"), ("provider", "anthropic")],
        )
        .await;
    assert_eq!(printed.value["data"]["verdict"], "approved", "{}", printed.value);
    assert_eq!(server.requests()[0].line, "POST /v1/messages HTTP/1.1");

    let chat = |text: &str| {
        Reply::json(
            200,
            &json!({"choices": [{"message": {"content": text}}], "model": "small"}).to_string(),
        )
    };
    let server = Server::start(vec![
        Reply::json(400, "{\"error\":\"response_format is unknown\"}"),
        chat(APPROVED),
    ]);
    let url = format!("{}/v1", server.url);
    let world = World::new(&[("LLAMA_BASE_URL", &url)]);
    world.write("plan.md", "# Plan\n");
    let printed = world
        .run("vertex-validate", &[("plan", "plan.md"), ("provider", "llama")])
        .await;
    assert_eq!(printed.code, 0, "{}", printed.value);
    let requests = server.requests();
    assert_eq!(requests[1].line, "POST /v1/chat/completions HTTP/1.1");
    assert!(
        requests[0].body.get("response_format").is_some()
            && requests[1].body.get("response_format").is_none()
    );
    assert_eq!(
        world
            .run("vertex-ask", &[("query", "q"), ("provider", "unknown")])
            .await
            .code,
        64
    );
}

#[tokio::test]
async fn a_project_can_replace_a_prompt() {
    let server = Server::start(vec![gemini(APPROVED)]);
    let world = world(&server.url);
    world.write("plan.md", "# Plan\n");
    world.write(".claude/envoy/prompts/validate.txt", "You are strict.");
    let printed = world.run("vertex-validate", &[("plan", "plan.md")]).await;
    assert!(
        printed.value["metadata"]["prompt"]
            .as_str()
            .unwrap()
            .starts_with("project: ")
    );
    let system = &server.requests()[0].body["systemInstruction"]["parts"][0]["text"];
    assert!(
        system.as_str().unwrap().starts_with("You are strict.")
            && system.as_str().unwrap().contains("JSON Schema")
    );
}

#[tokio::test]
async fn key_files_are_not_sent() {
    let server = Server::start(vec![gemini("x")]);
    let world = world(&server.url);
    world.write(".env", "TOKEN=hunter2hunter2");
    let printed = world
        .run("vertex-ask", &[("query", "q"), ("files", ".env")])
        .await;
    assert_eq!((printed.kind(), server.requests().len()), ("refused_file", 0));
    let printed = world
        .run(
            "vertex-ask",
            &[
                ("query", "q"),
                ("files", ".env"),
                ("force", ""),
                ("show_request", ""),
            ],
        )
        .await;
    let text = printed.value["data"]["request"].to_string();
    assert!(text.contains("TOKEN=") && !text.contains("hunter2"), "{text}");
}

#[tokio::test]
async fn a_prompt_that_links_to_another_file_of_the_user_is_not_sent() {
    let server = Server::start(vec![gemini(APPROVED)]);
    let world = world(&server.url);
    world.write("plan.md", "# Plan\n");
    world.write("keys/server.pem", "inside");
    let outside = world.folder.path().join("notes.txt");
    std::fs::write(&outside, "private notes").unwrap();
    let prompt = world.around.directory.join(".claude/envoy/prompts/validate.txt");
    std::fs::create_dir_all(prompt.parent().unwrap()).unwrap();
    for target in [outside, world.around.directory.join("keys/server.pem")] {
        std::os::unix::fs::symlink(&target, &prompt).unwrap();
        let printed = world.run("vertex-validate", &[("plan", "plan.md")]).await;
        assert_eq!((printed.kind(), server.requests().len()), ("io", 0), "{target:?}");
        std::fs::remove_file(&prompt).unwrap();
    }
}

#[tokio::test]
async fn a_key_of_the_file_is_not_sent_to_an_address_of_the_environment() {
    for (file, provider, tool) in [
        ("PERPLEXITY_API_KEY=p\n", "PERPLEXITY", "perplexity-ask"),
        ("VERTEX_API_KEY=v\n", "VERTEX", "vertex-ask"),
        ("GEMINI_API_KEY=v\n", "VERTEX", "vertex-ask"),
        (
            "VERTEX_PROJECT=p\nVERTEX_TOKEN_COMMAND=printf t\n",
            "VERTEX",
            "vertex-ask",
        ),
        (
            "ANTHROPIC_API_KEY=a\nENVOY_PROVIDER=anthropic\n",
            "ANTHROPIC",
            "vertex-ask",
        ),
        (
            "OPENAI_API_KEY=o\nENVOY_PROVIDER=openai\n",
            "OPENAI",
            "vertex-ask",
        ),
    ] {
        let variable = format!("{provider}_BASE_URL");
        let elsewhere = [(variable.as_str(), "https://192.0.2.1:9")];
        let printed = World::with_file(&elsewhere, file)
            .run(tool, &[("query", "q")])
            .await;
        assert_eq!(printed.kind(), "configuration", "{file}: {}", printed.value);
        let hint = printed.value["error"]["hint"].as_str().unwrap();
        assert!(hint.contains(&variable) && hint.contains(".env"), "{hint}");
    }
}

#[tokio::test]
async fn a_loopback_address_of_the_environment_takes_a_key_of_the_file() {
    let server = Server::start(vec![gemini("x")]);
    let world = World::with_file(&[("VERTEX_BASE_URL", &server.url)], "VERTEX_API_KEY=v\n");
    assert_eq!(world.run("vertex-ask", &[("query", "q")]).await.code, 0);
}

#[tokio::test]
async fn a_token_command_of_the_environment_is_not_run() {
    let world = World::new(&[("VERTEX_PROJECT", "p1"), ("VERTEX_TOKEN_COMMAND", "touch ran")]);
    let printed = world.run("vertex-ask", &[("query", "q")]).await;
    assert_eq!(printed.kind(), "configuration", "{}", printed.value);
}

#[tokio::test]
async fn queries_of_a_key_file_are_not_sent() {
    let server = Server::start(vec![gemini(APPROVED)]);
    let world = world(&server.url);
    world.write("plan.md", "# Plan\n");
    world.write(".env", "TOKEN=x");
    let given = [("plan", "plan.md"), ("queries", ".env")];
    let printed = world.run("vertex-validate", &given).await;
    assert_eq!((printed.kind(), server.requests().len()), ("refused_file", 0));
}

#[tokio::test]
async fn many_files_that_are_left_out_are_counted() {
    let server = Server::start(vec![gemini("x")]);
    let world = world(&server.url);
    world.write("a.txt", "text");
    for number in 0..50 {
        world.write(&format!("{number}.pem"), "key");
    }
    let printed = world.run("vertex-ask", &[("query", "q"), ("files", "*")]).await;
    let omitted = printed.value["metadata"]["omitted"].as_array().unwrap();
    assert_eq!((omitted.len(), &omitted[20]), (21, &json!("30 more")));
}

#[tokio::test]
async fn a_recorded_verdict_is_neither_sent_nor_asked_for_again() {
    let server = Server::start(vec![gemini(APPROVED)]);
    let world = world(&server.url);
    world.write("plan.md", "# Plan\n\n## Steps\n1. One\n");
    let given = [("plan", "plan.md")];
    world.run("vertex-validate", &given).await;
    let recorded = world.read("plan.md");
    assert!(recorded.contains("Verdict: approved"), "{recorded}");
    let again = world.run("vertex-validate", &given).await;
    assert_eq!(again.value["metadata"]["cached"], true, "{}", again.value);
    assert_eq!((server.requests().len(), world.read("plan.md")), (1, recorded));
    world.run("vertex-validate", &[given[0], ("fresh", "")]).await;
    assert_eq!(asked(&server, 1), asked(&server, 0));
}

/// What an agent reads of a call: the command and the object that it prints, in bytes.
fn read_by_agent(command: &str, printed: &crate::world::Printed) -> usize {
    command.len() + printed.value.to_string().len()
}

/// Compares the bytes that an agent would read instead with those that it reads, and prints both.
#[expect(clippy::print_stderr, reason = "the figures are reported")]
fn compare(what: &str, instead: usize, read: usize) {
    eprintln!(
        "{what}: {} tokens instead of {} ({:.2} %)",
        read / 4,
        instead / 4,
        100.0 * read as f64 / instead as f64
    );
    assert!(read * 50 <= instead, "{what}: {read} of {instead} bytes");
}

/// An opinion with twelve issues, each in two sentences.
fn issues(of: impl Fn(usize, &str) -> Value) -> Vec<Value> {
    let text =
        "The error of the write is dropped, so that a full disk looks like success. Callers cannot retry.";
    (0..12).map(|number| of(number, text)).collect()
}

#[tokio::test]
async fn a_review_costs_the_context_at_most_two_percent_of_its_diff() {
    let issues = issues(|number, text| {
        json!({"file": format!("src/part{number}.rs"), "line": 40 + number, "severity": "high", "issue": text,
            "suggestion": "Return the error and let the caller decide."})
    });
    let answer = json!({"step_reviewed": null, "verdict": "needs_work", "issues": issues, "approved_steps": [1],
        "plan_adherence": {"on_track": true, "deviations": []}, "questions_for_user": []});
    let server = Server::start(vec![gemini(&answer.to_string())]);
    let world = world(&server.url);
    world.git(&["init", "-q", "-b", "main"]);
    let source = |file: usize, word: &str| -> String {
        let line = |number: usize| {
            format!(
                "    let {word}_{number} = compute_value(input.field_{file}, {number}).unwrap_or_default();\n"
            )
        };
        (0..100).map(line).collect()
    };
    for file in 0..25 {
        world.write(&format!("src/part{file}.rs"), &source(file, "old"));
    }
    world.write(
        "plan.md",
        "# Plan\n\n## Implementation Steps\n1. [ ] Rename the values\n",
    );
    world.git(&["add", "-A"]);
    world.git(&["commit", "-q", "-m", "first"]);
    for file in 0..25 {
        world.write(&format!("src/part{file}.rs"), &source(file, "new"));
    }
    let printed = world.run("vertex-review", &[("plan", "plan.md")]).await;
    assert_eq!(printed.code, 0, "{}", printed.value);
    let sent = asked(&server, 0);
    let changed = sent.lines().filter(|line| line.starts_with(['+', '-'])).count();
    assert!(changed >= 5000, "{changed} lines");
    let diff = std::process::Command::new("git")
        .args(["diff", "main"])
        .current_dir(&world.around.directory)
        .output();
    let diff = diff.unwrap().stdout.len();
    compare(
        "review of 5,000 changed lines",
        diff,
        read_by_agent("envoy vertex review --plan plan.md", &printed),
    );
}

#[tokio::test]
async fn a_validation_costs_the_context_at_most_two_percent_of_its_files() {
    let issues = issues(
        |number, text| json!({"section": format!("Step {number}"), "problem": text, "suggestion": "Leave it out."}),
    );
    let answer = json!({"verdict": "needs_simplification", "issues": issues, "questions_for_user": ["Which port?"],
        "recommended_edits": [{"section": "Step 1", "current": "A queue of its own", "proposed": "The existing queue"}]});
    let server = Server::start(vec![gemini(&answer.to_string())]);
    let world = world(&server.url);
    world.git(&["init", "-q", "-b", "feature"]);
    let mut instead = 0;
    let mut write = |path: &str, text: &str| {
        instead += text.len();
        world.write(path, text);
    };
    let step =
        |number: usize| format!("{number}. [ ] Move the part number {number} behind the port, with tests.\n");
    let steps: String = (1..40).map(step).collect();
    write(
        ".claude/plans/feature/plan.md",
        &format!("# Plan\n\n## Implementation Steps\n{steps}"),
    );
    write(
        ".claude/plans/feature/queries.jsonl",
        "{\"prompt\":\"move the parts behind ports\"}\n",
    );
    let files: String = (0..10)
        .map(|file| format!("{{\"path\":\"src/part{file}.rs\"}}\n"))
        .collect();
    write(".claude/plans/feature/files.jsonl", &files);
    for file in 0..10 {
        let line = |number: usize| {
            format!("    let value_{number} = compute_value(input.field_{file}, {number})?;\n")
        };
        write(
            &format!("src/part{file}.rs"),
            &(0..400).map(line).collect::<String>(),
        );
    }
    let printed = world.run("vertex-validate", &[]).await;
    assert_eq!(printed.code, 0, "{}", printed.value);
    assert!(asked(&server, 0).contains("field_9, 399"));
    compare(
        "validation with ten files",
        instead,
        read_by_agent("envoy vertex validate", &printed),
    );
}
