//! `grov mcp --tools`: the tools of the registry as an agent sees them, what it may decide, and what stays the user's.

use super::Remembered;
use crate::tools::provider_variables;
use crate::upstream::Upstream;
use anyhow::{Context, Result, ensure};
use grov_sim::{Behaviour, Rule, When};
use grov_tests::{Grov, McpClient, eventually};
use serde_json::{Value, json};
use std::fs;
use std::time::{Duration, Instant};

const ASK: &str = "/perplexity/chat/completions";
/// A program of the user's that says its process id and takes its time.
const SLOW: &str = "group = 'local'\nname = 'slow'\ndescription = 'Waits'\nwhen_to_use = 'Never'\n\
    command = ['sh', '-c', 'echo $$ > pid; exec sleep 60']\n";
const FAILING: &str = "group = 'local'\nname = 'failing'\ndescription = 'Fails'\nwhen_to_use = 'Never'\n\
    command = ['sh', '-c', 'echo no such bridge >&2; exit 3']\n";

/// A home with tools of the user's, simulated providers, and their keys.
struct Bench {
    remembered: Remembered,
    upstream: Upstream,
    grov: Grov,
}

impl Bench {
    fn new() -> Result<Self> {
        let remembered = Remembered::new()?;
        let upstream = Upstream::start()?;
        let mut grov = remembered.grov();
        for (name, value) in provider_variables(&upstream.url()) {
            grov = grov.env(name, &value);
        }
        let tools = remembered.home().join("tools");
        fs::create_dir_all(&tools)?;
        fs::write(tools.join("slow.toml"), SLOW)?;
        fs::write(tools.join("failing.toml"), FAILING)?;
        Ok(Self {
            remembered,
            upstream,
            grov,
        })
    }

    fn client(&self) -> Result<McpClient> {
        McpClient::begin(self.grov.command(&["mcp", "--tools"])?)
    }

    fn behave(&self, behaviour: &str) -> Result<()> {
        let rule = Rule::new(When::Path(ASK.to_owned()), behaviour.parse::<Behaviour>()?);
        self.upstream.sim().inject(rule);
        Ok(())
    }

    fn arrived(&self) -> usize {
        let requests = self.upstream.sim().requests();
        requests.iter().filter(|request| request.path == ASK).count()
    }

    /// The entries of the spending ledger.
    fn calls(&self) -> Result<Vec<Value>> {
        let usage = self.grov.run_json(&["usage"])?.json;
        Ok(usage["calls"].as_array().cloned().unwrap_or_default())
    }
}

/// Calls a tool whose text is an envelope.
fn call(client: &mut McpClient, tool: &str, arguments: Value) -> Result<(Value, bool)> {
    let (text, is_error) = client.call(tool, arguments)?;
    let envelope = serde_json::from_str(&text).with_context(|| format!("no envelope: {text}"))?;
    Ok((envelope, is_error))
}

/// The process of the slow program, once it runs.
fn slow_program(bench: &Bench) -> Result<String> {
    let file = bench.remembered.project().join("pid");
    eventually("the program to run", || {
        let text = fs::read_to_string(&file).ok()?;
        text.ends_with('\n').then(|| text.trim().to_owned())
    })
}

/// Whether a process runs; one that was killed and whose parent has not asked for its exit code does not.
fn is_running(process: &str) -> bool {
    let state = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = state.rsplit_once(") ").map_or("", |(_, rest)| rest);
    !state.is_empty() && !state.starts_with('Z')
}

#[test]
fn tools_are_offered_on_request_without_what_is_the_users_to_decide() -> Result<()> {
    let bench = Bench::new()?;
    let listed = |client: &mut McpClient| -> Result<Vec<Value>> {
        let answer = client.request("tools/list", json!({}))?;
        Ok(answer["result"]["tools"].as_array().context("no tools")?.clone())
    };
    let mut without = McpClient::begin(bench.grov.command(&["mcp"])?)?;
    let usual = listed(&mut without)?;
    let (code, is_refused) = {
        let answer = without.request(
            "tools/call",
            json!({"name": "perplexity-ask", "arguments": {"query": "q"}}),
        )?;
        (answer["error"]["code"].clone(), answer["result"].is_null())
    };
    assert!(code == -32602 && is_refused, "{code}");
    let mut with = bench.client()?;
    let all = listed(&mut with)?;
    assert_eq!(all[..usual.len()], usual[..]);
    let find = |name: &str| all.iter().find(|tool| tool["name"] == name);
    for name in ["perplexity-ask", "tavily-search", "vertex-ask", "local-slow"] {
        let tool = find(name).with_context(|| format!("no {name} in {all:?}"))?;
        for field in ["yes", "force", "fresh", "stdin", "show_request"] {
            assert!(tool["inputSchema"]["properties"][field].is_null(), "{tool}");
        }
    }
    let runs_program = find("local-slow").context("no local-slow")?;
    assert_eq!(
        runs_program["annotations"]["readOnlyHint"], false,
        "{runs_program}"
    );
    assert!(find("vertex-ask").is_some_and(|tool| tool["inputSchema"]["properties"]["files"].is_object()));
    Ok(())
}

#[test]
fn a_call_is_answered_with_progress_and_paid_once() -> Result<()> {
    let bench = Bench::new()?;
    let mut client = bench.client()?;
    client.send(
        &json!({"jsonrpc": "2.0", "id": "research", "method": "tools/call", "params": {
            "name": "perplexity-research", "arguments": {"query": "q"}, "_meta": {"progressToken": 7}}})
        .to_string(),
    )?;
    let mut progress = Vec::new();
    let answer = loop {
        let message = client.receive()?;
        match message["method"] == "notifications/progress" {
            true => progress.push(message["params"].clone()),
            false => break message,
        }
    };
    assert_eq!(answer["id"], "research");
    assert!(!progress.is_empty(), "no progress");
    assert!(
        progress.iter().all(|one| one["progressToken"] == 7),
        "{progress:?}"
    );
    let text = answer["result"]["content"][0]["text"]
        .as_str()
        .context("no text")?;
    let envelope: Value = serde_json::from_str(text)?;
    assert_eq!(envelope["status"], "success", "{envelope}");
    assert_eq!(envelope["metadata"]["untrusted"], true, "{envelope}");
    assert!(!text.contains("test-key"));
    let (again, _) = call(&mut client, "perplexity-research", json!({"query": "q"}))?;
    assert_eq!(again["metadata"]["cached"], true, "{again}");
    let calls = bench.calls()?;
    assert_eq!(
        (calls.len(), &calls[0]["outcome"]),
        (1, &json!("answered")),
        "{calls:?}"
    );
    assert_eq!(client.end()?, Some(0));
    Ok(())
}

#[test]
fn the_model_cannot_exceed_the_budget_or_send_files_with_keys() -> Result<()> {
    let bench = Bench::new()?;
    fs::write(bench.remembered.project().join(".env"), "TOKEN=abc\n")?;
    let set = |value: &str| -> Result<()> {
        let ended = bench
            .grov
            .run(&["config", "set", "tools.daily_budget_usd", value])?;
        ensure!(ended.code() == Some(0), "{ended:?}");
        Ok(())
    };
    set("0.001")?;
    let mut client = bench.client()?;
    let (envelope, is_error) = call(&mut client, "perplexity-ask", json!({"query": "q"}))?;
    assert!(is_error && envelope["error"]["kind"] == "budget", "{envelope}");
    for (tool, arguments) in [
        ("perplexity-ask", json!({"query": "q", "yes": true})),
        (
            "vertex-ask",
            json!({"query": "q", "files": [".env"], "force": true}),
        ),
    ] {
        let (text, is_error) = client.call(tool, arguments)?;
        assert!(is_error && text.contains("has no argument"), "{text}");
    }
    assert_eq!(bench.arrived(), 0, "nothing was sent");
    set("5")?;
    let mut client = bench.client()?;
    let (envelope, is_error) = call(
        &mut client,
        "vertex-ask",
        json!({"query": "q", "files": [".env"]}),
    )?;
    assert!(
        is_error && envelope["error"]["kind"] == "refused_file",
        "{envelope}"
    );
    let (envelope, is_error) = call(&mut client, "perplexity-ask", json!({"query": "q"}))?;
    assert!(!is_error && envelope["status"] == "success", "{envelope}");
    Ok(())
}

#[test]
fn the_guard_denies_what_the_user_did_not_allow_an_agent() -> Result<()> {
    let bench = Bench::new()?;
    let ended = bench
        .grov
        .run(&["config", "set", "tools.allow", "main=tavily *"])?;
    ensure!(ended.code() == Some(0), "{ended:?}");
    let decide = |tool: &str| -> Result<String> {
        let event = json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "cwd": bench.remembered.project(),
            "transcript_path": bench.remembered.project().join("none.jsonl"), "tool_name": tool,
            "tool_input": {"query": "q"}, "tool_use_id": "t1",
        });
        Ok(bench.grov.hook("pre-tool-use", &event)?.stdout)
    };
    let denied = decide("mcp__grov__perplexity-ask")?;
    assert!(
        denied.contains("\"deny\"") && denied.contains("tools.allow"),
        "{denied}"
    );
    let allowed = decide("mcp__grov__tavily-search")?;
    assert!(!allowed.contains("deny"), "{allowed}");
    Ok(())
}

#[test]
fn failures_of_tools_are_results_and_unknown_tools_are_errors() -> Result<()> {
    let bench = Bench::new()?;
    let mut client = bench.client()?;
    for name in ["perplexity-nothing", "perplexity ask", "", "../ask"] {
        let answer = client.request("tools/call", json!({"name": name, "arguments": {"query": "q"}}))?;
        assert_eq!(answer["error"]["code"], -32602, "{name}: {answer}");
    }
    bench.behave("status=401")?;
    for (tool, arguments, kind) in [
        ("perplexity-ask", json!({"query": "q"}), "unauthorized"),
        ("perplexity-ask", json!({}), "usage"),
        ("perplexity-ask", json!({"query": 7}), "usage"),
        ("local-failing", json!({}), "user_tool"),
    ] {
        let (envelope, is_error) = call(&mut client, tool, arguments)?;
        assert!(is_error, "{envelope}");
        assert_eq!(envelope["error"]["kind"], kind, "{envelope}");
        assert!(!envelope.to_string().contains("test-key"), "{envelope}");
    }
    let long = json!({"query": "x".repeat(10 << 20)});
    for tool in ["perplexity-ask", "local-failing"] {
        let (text, is_error) = client.call(tool, long.clone())?;
        assert!(is_error && text.len() < 1000, "{} bytes", text.len());
    }
    let (found, is_error) = client.call("memory_search", json!({"query": "webhooks"}))?;
    assert!(!is_error, "{found}");
    assert_eq!(client.end()?, Some(0));
    Ok(())
}

#[test]
fn a_cancelled_call_ends_at_once_and_gets_no_response() -> Result<()> {
    let bench = Bench::new()?;
    bench.behave("head-delay=60000")?;
    let mut client = bench.client()?;
    for (id, tool, arguments) in [
        (1000, "perplexity-ask", json!({"query": "q"})),
        (1001, "local-slow", json!({})),
    ] {
        let params = json!({"name": tool, "arguments": arguments});
        client.send(
            &json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string(),
        )?;
    }
    eventually("the request to the provider", || {
        (bench.arrived() > 0).then_some(())
    })?;
    let program = slow_program(&bench)?;
    for id in [1000, 1001] {
        let params = json!({"requestId": id, "reason": "the user pressed escape"});
        client.send(
            &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).to_string(),
        )?;
    }
    eventually("the program to be ended", || {
        (!is_running(&program)).then_some(())
    })?;
    eventually("the call to be settled", || {
        let calls = bench.calls().ok()?;
        calls.iter().any(|call| call["outcome"] == "failed").then_some(())
    })?;
    // The next message is the response to this ping, and not one to a cancelled call.
    client.send(&json!({"jsonrpc": "2.0", "id": 1002, "method": "ping"}).to_string())?;
    assert_eq!(client.receive()?["id"], 1002);
    assert_eq!(client.end()?, Some(0));
    Ok(())
}

#[test]
fn a_client_that_goes_away_in_a_call_leaves_nothing_running() -> Result<()> {
    let bench = Bench::new()?;
    let mut client = bench.client()?;
    let params = json!({"name": "local-slow", "arguments": {}});
    client.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string())?;
    let program = slow_program(&bench)?;
    let begun = Instant::now();
    assert_eq!(client.end()?, Some(0));
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    eventually("the program to be ended", || {
        (!is_running(&program)).then_some(())
    })?;
    Ok(())
}
