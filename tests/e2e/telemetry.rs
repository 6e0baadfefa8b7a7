//! Metrics and traces of a session, and what becomes of traces that nobody takes.

mod collector;
mod prometheus;
mod unwilling;

use crate::judge::TestHome;
use anyhow::{Context, Result, ensure};
use collector::{Collector, Span};
use grov_tests::{Daemon, Request, eventually, exchange};
use serde_json::{Value, json};

const PROMPT: &str = "Add a greeting to the peculiar file. [[scenario:tools]]";

/// The metrics of a daemon as Prometheus text.
fn metrics(daemon: &Daemon) -> Result<String> {
    let response = exchange(daemon.port(), &Request::new("GET", "/_grov/metrics"))?;
    let kind = response.header("content-type").unwrap_or_default();
    ensure!(kind.starts_with("text/plain; version=0.0.4"), "{kind}");
    Ok(response.text())
}

fn health(daemon: &Daemon) -> Result<Value> {
    let health = exchange(daemon.port(), &Request::new("GET", "/_grov/health"))?;
    Ok(serde_json::from_slice(&health.body)?)
}

#[test]
fn metrics_tell_latency_tokens_actions_and_lag() -> Result<()> {
    let home = TestHome::new()?;
    let daemon = Daemon::on(&home.path(), &home.api.url()).start()?;
    let mut person = home.person(&daemon)?;
    person.types(PROMPT)?;
    // Four tool calls and the final answer.
    let last = "grov_exchanges_total{kind=\"main\",outcome=\"complete\"} 5";
    let text = eventually("the exchanges to be counted", || {
        let text = metrics(&daemon).ok()?;
        text.contains(last).then_some(text)
    })?;
    for line in [
        "# TYPE grov_added_latency_seconds histogram",
        "# TYPE grov_time_to_first_byte_seconds histogram",
        "grov_policy_seconds_count{policy=\"injection\"} ",
        "# TYPE grov_tokens_total counter",
        "class=\"cache_read\"",
        "class=\"cache_write_5m\"",
        "grov_prompts_total 1",
        "grov_actions_total{action=\"bash\"} 1",
        "grov_actions_judged_total 4",
        "# TYPE grov_store_lag_seconds gauge",
    ] {
        assert!(text.contains(line), "{line} is missing in {text}");
    }
    assert!(!text.contains("peculiar") && !text.contains("# EOF"), "{text}");
    let open =
        Request::new("GET", "/_grov/metrics").header("accept", "application/openmetrics-text;version=1.0.0");
    assert!(exchange(daemon.port(), &open)?.text().ends_with("# EOF\n"));
    Ok(())
}

#[test]
fn metrics_tell_the_time_of_hooks_that_are_processes() -> Result<()> {
    let home = TestHome::new()?;
    let daemon = Daemon::on(&home.path(), &home.api.url()).start()?;
    let project = home.project();
    let event = json!({"session_id": "s", "cwd": project, "transcript_path": project.join("none.jsonl"),
        "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t", "prompt": "peculiar"});
    let grov = home.grov();
    for name in ["PreToolUse", "PreToolUse", "UserPromptSubmit"] {
        assert_eq!(grov.hook(name, &event)?.code(), Some(0));
    }
    let text = metrics(&daemon)?;
    for (kind, count) in [("guard", 2), ("other", 1)] {
        let labels = format!("{{kind=\"{kind}\",by=\"process\"}}");
        assert!(
            text.contains(&format!("grov_hook_seconds_count{labels} {count}\n")),
            "{text}"
        );
        let sum = text
            .lines()
            .find_map(|line| line.strip_prefix(&format!("grov_hook_seconds_sum{labels} ")));
        let sum: f64 = sum.context("no sum")?.parse()?;
        assert!(sum > 0.0 && sum < 60.0, "{sum}");
    }
    assert_eq!(
        metrics(&daemon)?.matches("by=\"process\"} 2\n").count(),
        text.matches("by=\"process\"} 2\n").count()
    );
    assert_eq!(daemon.stop()?.code(), Some(0));
    assert!(!home.path().join("hook-times").exists());
    assert_eq!(grov.hook("PreToolUse", &event)?.code(), Some(0));
    Ok(())
}

/// The spans of a turn with tool calls, once its root is there; with content if that is set.
fn turn(content: Option<&str>) -> Result<(Vec<Span>, String)> {
    let home = TestHome::new()?;
    let collector = Collector::accepting()?;
    let daemon = Daemon::on(&home.path(), &home.api.url()).env("GROV_OTLP_ENDPOINT", collector.url());
    let daemon = match content {
        Some(value) => daemon.env("GROV_OTLP_CONTENT", value),
        None => daemon,
    };
    let daemon = daemon.start()?;
    let mut person = home.person(&daemon)?;
    person.types(PROMPT)?;
    let trace = eventually("the trace of the turn", || {
        let spans = collector.spans().ok()?;
        let roots = spans.iter().filter(|span| span.name == "invoke_agent");
        let mut traces = roots.map(|root| {
            let of_root = spans.iter().filter(|span| span.trace == root.trace);
            of_root.cloned().collect::<Vec<_>>()
        });
        // A turn with four tool calls: the turn, five calls of the model, four tools.
        traces.find(|trace| trace.len() >= 10)
    })?;
    Ok((trace, collector.text()))
}

#[test]
fn a_turn_is_one_trace_of_model_calls_and_tools() -> Result<()> {
    let (spans, text) = turn(None)?;
    let root = spans
        .iter()
        .find(|span| span.parent.is_empty())
        .context("no root")?;
    let mut names: Vec<&str> = spans.iter().map(|span| span.name.as_str()).collect();
    names.sort_unstable();
    let tools: Vec<&str> = names
        .iter()
        .filter(|name| name.starts_with("execute_tool"))
        .copied()
        .collect();
    assert_eq!(
        tools,
        [
            "execute_tool Bash",
            "execute_tool Edit",
            "execute_tool Read",
            "execute_tool Write"
        ]
    );
    assert_eq!(
        names.iter().filter(|name| name.starts_with("chat ")).count(),
        5,
        "{names:?}"
    );
    for span in &spans {
        assert!(span.parent.is_empty() || span.parent == root.id, "{span:?}");
        assert!(span.start <= span.end && span.start >= root.start, "{span:?}");
    }
    assert!(text.contains("gen_ai.usage.input_tokens") && text.contains("gen_ai.conversation.id"));
    Ok(())
}

#[test]
fn content_is_sent_only_if_the_user_wants_it() -> Result<()> {
    for unset in [None, Some("false")] {
        let (_, text) = turn(unset)?;
        // Words of the prompt, of the model's answers, of commands, files and results, and the project's path.
        for private in [
            "peculiar", "greeting", "scenario", "hello", "echo", "cat ", ".txt", "/tmp", "project",
        ] {
            assert!(!text.contains(private), "{private} left: {text}");
        }
    }
    let (_, text) = turn(Some("true"))?;
    assert!(
        text.contains("peculiar") && text.contains("greeting.txt"),
        "content is on"
    );
    Ok(())
}
