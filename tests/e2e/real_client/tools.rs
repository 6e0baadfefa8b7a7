//! The real client runs an installed skill, whose commands call the simulated providers through its Bash tool.

use crate::hooks::{init, prepare};
use crate::tools::provider_variables;
use crate::upstream::Upstream;
use anyhow::{Context, Result, ensure};
use grov_sim::RecordedRequest;
use grov_tests::{Grov, RealClient, binary};
use serde_json::{Value, json};
use std::fs;
use std::sync::Arc;

fn bash(command: &str) -> Value {
    json!({"blocks": [{"type": "tool_use", "name": "Bash", "input": {"command": command, "description": "Ask"}}]})
}

fn says(text: &str) -> Value {
    json!({"blocks": [{"type": "text", "text": text}], "stop_reason": "end_turn"})
}

fn script() -> Value {
    let skill =
        json!({"blocks": [{"type": "tool_use", "name": "Skill", "input": {"skill": "deep-research"}}]});
    let delegate = json!({"blocks": [{"type": "tool_use", "name": "Agent", "input": {
        "description": "Search", "prompt": "Search for it. [[scenario:search-it]]", "subagent_type": "general-purpose"}}]});
    json!({"scenarios": {
        "research": {"steps": [
            skill,
            bash("envoy perplexity research 'how do teams share memory?' --strip-thinking --async"),
            bash("envoy tavily search memory --max-results 2 | envoy tavily extract --stdin | envoy vertex ask --stdin 'what do they agree on?'"),
            says("The research is done."),
        ]},
        "limited": {"steps": [
            bash("envoy perplexity ask 'what is new?'"),
            delegate,
            says("The search is done."),
        ]},
        "search-it": {"steps": [
            bash("envoy tavily search memory"),
            bash("envoy perplexity ask 'by the agent?'"),
            says("It was searched."),
        ]},
    }})
}

/// A client whose Bash tool finds `envoy` and the providers, and a project with the installed files.
fn prepared(upstream: &Upstream) -> Result<Option<(RealClient, Grov)>> {
    let Some(mut client) = RealClient::installed()? else {
        return Ok(None);
    };
    let binaries = binary("envoy")?;
    let folder = binaries.parent().context("envoy is in no folder")?;
    let path = std::env::var("PATH").unwrap_or_default();
    client = client.env("PATH", &format!("{}:{path}", folder.display()));
    for (name, value) in provider_variables(&upstream.url()) {
        client = client.env(name, &value);
    }
    let grov = prepare(&client, "{}")?;
    let installed = grov.run(&["tools", "install"])?;
    ensure!(installed.code() == Some(0), "{installed:?}");
    Ok(Some((client, grov)))
}

/// The texts of all tool results in a request.
fn results(request: &RecordedRequest) -> Result<Vec<String>> {
    let body: Value = serde_json::from_slice(&request.body)?;
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    let blocks = messages
        .iter()
        .filter_map(|message| message["content"].as_array())
        .flatten()
        .filter(|block| block["type"] == "tool_result");
    Ok(blocks
        .map(|block| match &block["content"] {
            Value::String(text) => text.clone(),
            parts => {
                let parts = parts.as_array().into_iter().flatten();
                parts.filter_map(|part| part["text"].as_str()).collect()
            }
        })
        .collect())
}

fn last(requests: &[Arc<RecordedRequest>]) -> Result<&RecordedRequest> {
    let longest = requests.iter().max_by_key(|request| request.body_length);
    longest.map(|request| &**request).context("no request")
}

#[test]
fn a_skill_calls_the_providers_and_gets_small_answers() -> Result<()> {
    let upstream = Upstream::with(&script())?;
    let Some((client, grov)) = prepared(&upstream)? else {
        return Ok(());
    };
    let run = client.prompt(&upstream.url(), "Find out. [[scenario:research]]", &[])?;
    assert_eq!(run.result()?, "The research is done.");
    let requests = upstream.sim().messages();
    let last = last(&requests)?;
    // The client loaded the skill: its text is in the conversation.
    assert!(
        String::from_utf8_lossy(&last.body).contains("Raw sources that you judge yourself"),
        "the skill is not loaded: {:?}",
        results(last)?
    );
    let results = results(last)?;
    let research: Value = serde_json::from_str(&results[1]).with_context(|| results[1].clone())?;
    assert_eq!(
        research["data"]["content"],
        "A simulated finding about: how do teams share memory? [1]"
    );
    assert_eq!(research["metadata"]["untrusted"], true);
    let chained: Value = serde_json::from_str(&results[2]).with_context(|| results[2].clone())?;
    assert_eq!(
        chained["data"]["content"],
        "A simulated answer of gemini-2.5-pro."
    );
    // The pages went to the other model, and never into the conversation.
    let asked = upstream.sim().requests();
    let asked = asked.iter().find(|request| request.path.starts_with("/gemini/"));
    let asked = asked.context("the other model was not asked")?;
    assert!(String::from_utf8_lossy(&asked.body).contains("The page at https://example.org/2."));
    assert!(!String::from_utf8_lossy(&last.body).contains("The page at https://example.org/2."));
    let usage = grov.run_json(&["usage"])?.json;
    assert_eq!(usage["calls"].as_array().map(Vec::len), Some(4), "{usage}");
    Ok(())
}

#[test]
fn main_and_subagent_may_call_only_the_tools_of_their_lists() -> Result<()> {
    let upstream = Upstream::with(&script())?;
    let Some((client, grov)) = prepared(&upstream)? else {
        return Ok(());
    };
    fs::write(
        client.home().join(".grov/config.toml"),
        "[tools]\nallow = [\"main=perplexity ask\", \"general-purpose=tavily *\"]\n",
    )?;
    init(&grov, &[])?;
    let run = client.prompt(&upstream.url(), "Find out. [[scenario:limited]]", &[])?;
    assert_eq!(run.result()?, "The search is done.");
    let requests = upstream.sim().messages();
    let of_agent: Vec<_> = requests
        .iter()
        .filter(|request| request.header("x-claude-code-agent-id").is_some())
        .cloned()
        .collect();
    let results = results(last(&of_agent)?)?;
    assert!(results[0].contains("https://example.org/1"), "{results:?}");
    assert!(
        results[1].contains("the agent general-purpose may not call `envoy perplexity ask`"),
        "{results:?}"
    );
    let asked = |path: &str| {
        upstream
            .sim()
            .requests()
            .iter()
            .filter(|request| request.path == path)
            .count()
    };
    assert_eq!(
        asked("/perplexity/chat/completions"),
        1,
        "only the main agent may ask"
    );
    assert_eq!(asked("/tavily/search"), 1);
    Ok(())
}
