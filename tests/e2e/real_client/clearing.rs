//! A context that is nearly full is cleared on the wire, and the real client works on without noticing.

use crate::upstream::Upstream;
use crate::work::Work;
use anyhow::{Context, Result, ensure};
use grov_sim::RecordedRequest;
use grov_sim::request::{MessagesRequest, Purpose, Role};
use grov_tests::{Terminal, eventually};
use serde_json::{Value, json};
use std::sync::Arc;

/// The windows. The client's tools and system prompt have about 20,000 tokens, as the simulation counts them, in the older dialect
/// 29,000.
const WINDOW: u64 = 40_000;
const OLDER_WINDOW: u64 = 56_000;

/// The beginning of the block that stands for what is left out.
const SUMMARY: &str = "<grov-context source=\"session\">";

/// A step that makes the context about 2,000 tokens larger.
fn grows() -> Value {
    let bash = |to: u32| json!({"type": "tool_use", "name": "Bash", "input": {"command": format!("seq {{step}} {to}"), "description": "Count"}});
    json!({"blocks": [
        {"type": "thinking", "thinking": "On with step {step}."},
        {"type": "text", "text": "Step {step}."},
        bash(1000), bash(1001),
    ]})
}

fn says(text: &str) -> Value {
    json!({"blocks": [{"type": "text", "text": text}], "stop_reason": "end_turn"})
}

fn repeated(step: Value, times: usize) -> Vec<Value> {
    vec![step; times]
}

fn work(steps: Vec<Value>, window: u64) -> Result<Option<Work>> {
    let script = json!({"scenarios": {
        "grow": {"steps": steps, "summary": "The counting went well."},
        "count": {"steps": [grows(), grows(), says("It counts.")]},
        "answer": {"steps": [says("It is done.")]},
    }});
    let environment = [
        ("GROV_CONTEXT_CLEAR", "true"),
        ("GROV_CONTEXT_WINDOW", &window.to_string()),
    ];
    Work::against(Upstream::with(&script)?, &environment)
}

/// A request of the conversation or its subagents, as it arrived.
struct Arrived {
    request: MessagesRequest,
    agent: Option<String>,
    record: Arc<RecordedRequest>,
}

impl Arrived {
    /// The summary that stands for the beginning.
    fn summary(&self) -> Option<&str> {
        let first = self.request.messages.first()?;
        first.texts().find(|text| text.starts_with(SUMMARY))
    }

    /// The summary, and the first call that is kept.
    fn beginning(&self) -> Option<(&str, &str)> {
        let first = self
            .request
            .messages
            .iter()
            .find(|message| message.role == Role::Assistant)?;
        Some((self.summary()?, first.tool_use_ids().next()?))
    }

    fn is_step(&self) -> bool {
        self.request.purpose() == Purpose::Step && self.agent.is_none()
    }
}

/// Returns the requests that share the history, after checking that all were accepted.
fn arrived(work: &Work) -> Result<Vec<Arrived>> {
    let mut arrived = Vec::new();
    for record in work.upstream.sim().messages() {
        let status = eventually("the response", || record.delivery()?.status)?;
        ensure!(
            status == 200,
            "request {} was answered with {status}",
            record.number
        );
        let request = MessagesRequest::parse(&record.body)?;
        if !matches!(request.purpose(), Purpose::Title | Purpose::WebSearch) {
            let agent = record.header("x-claude-code-agent-id").map(str::to_owned);
            arrived.push(Arrived {
                request,
                agent,
                record,
            });
        }
    }
    Ok(arrived)
}

/// Asserts that once a step was sent without its beginning, every later request is, and that each beginning stays the same until
/// the next clear. Returns the number of clears.
fn assert_sticky(arrived: &[Arrived]) -> Result<usize> {
    let mut beginnings: Vec<(&str, &str)> = Vec::new();
    for one in arrived.iter().filter(|one| one.agent.is_none()) {
        match (one.beginning(), beginnings.last()) {
            (Some(beginning), Some(last)) if beginning == *last => {}
            (Some(beginning), _) => {
                ensure!(one.is_step(), "request {} clears", one.record.number);
                ensure!(!beginnings.contains(&beginning), "an earlier beginning is back");
                let mut messages = one.request.messages.iter();
                let first = messages.find(|message| message.role == Role::Assistant);
                ensure!(
                    first.is_some_and(|message| message.blocks.len() > 1),
                    "the thinking is kept"
                );
                beginnings.push(beginning);
            }
            (None, Some(_)) => anyhow::bail!("request {} has its beginning again", one.record.number),
            (None, None) => {}
        }
    }
    Ok(beginnings.len())
}

fn clear_of(work: &Work, session: &str, count: usize) -> Result<Value> {
    eventually("all clears to be recorded and the last to be measured", || {
        let status = work.grov().run_json(&["proxy-status"]).ok()?.json;
        let sessions = status["sessions"].as_array()?.clone();
        let mut clears = sessions
            .into_iter()
            .filter(|known| known["client_session_id"] == session);
        clears.find(|known| known["clear"]["is_measured"] == true && known["clear"]["count"] == count)
    })
    .map(|session| session["clear"].clone())
}

fn a_loop_is_cleared(model: &[&str], window: u64) -> Result<()> {
    let mut steps = repeated(grows(), 24);
    steps.push(says("All is counted."));
    let Some(work) = work(steps, window)? else {
        return Ok(());
    };
    let run = work.prompt("Count to a thousand, again and again. [[scenario:grow]]", model)?;
    assert_eq!(run.result()?, "All is counted.");
    let session = run.session()?.to_owned();
    // Nothing is done twice, and everything is recorded.
    assert_eq!(work.agree(&session)?.len(), 48);
    let requests = arrived(&work)?;
    let clears = assert_sticky(&requests)?;
    let sizes: Vec<(u64, bool)> = requests
        .iter()
        .map(|one| (one.record.body_length / 4, one.summary().is_some()))
        .collect();
    assert!(clears > 1, "{sizes:?}\n{}", work.daemon.log());
    let first = requests.iter().find_map(Arrived::summary).context("no summary")?;
    assert!(first.contains("Count to a thousand, again and again."), "{first}");
    let clear = clear_of(&work, &session, clears)?;
    let tokens = |name: &str| clear[name].as_u64().unwrap_or_default();
    assert!(tokens("tokens_before") >= window / 10 * 9, "{clear}");
    assert!(
        tokens("tokens_after") + 8_000 < tokens("tokens_before"),
        "{clear}"
    );
    assert!(tokens("saving_micro_usd") > tokens("cost_micro_usd"), "{clear}");

    // A new process continues the session, and the first request is cleared like the last one.
    let before = requests
        .last()
        .and_then(Arrived::beginning)
        .context("not cleared")?;
    let again = work.prompt(
        "Is it done? [[scenario:answer]]",
        &[model, &["--continue"]].concat(),
    )?;
    assert_eq!(again.result()?, "It is done.");
    assert_eq!(again.session()?, session);
    let resumed = arrived(&work)?;
    let last = resumed.last().context("no request")?;
    assert_eq!(last.beginning(), Some(before));
    assert_eq!(assert_sticky(&resumed)?, clears);
    Ok(())
}

#[test]
fn a_tool_loop_is_cleared_inside_and_resumed() -> Result<()> {
    a_loop_is_cleared(&[], WINDOW)
}

#[test]
fn a_tool_loop_of_the_older_dialect_is_cleared_inside_and_resumed() -> Result<()> {
    a_loop_is_cleared(&["--model", "claude-sonnet-4-5"], OLDER_WINDOW)
}

#[test]
fn a_subagent_is_never_cleared() -> Result<()> {
    let helps = json!({"blocks": [{"type": "tool_use", "name": "Agent", "input": {
        "description": "Count", "prompt": "Count beside me. [[scenario:count]]", "subagent_type": "general-purpose"}}]});
    let mut steps = repeated(grows(), 7);
    steps.push(helps);
    steps.extend(repeated(grows(), 6));
    steps.push(says("All is counted."));
    let Some(work) = work(steps, WINDOW)? else {
        return Ok(());
    };
    let run = work.prompt("Count with help. [[scenario:grow]]", &[])?;
    assert_eq!(run.result()?, "All is counted.");
    let requests = arrived(&work)?;
    assert!(assert_sticky(&requests)? > 0);
    let of_agents: Vec<&Arrived> = requests.iter().filter(|one| one.agent.is_some()).collect();
    assert!(of_agents.len() > 2 && of_agents.iter().all(|one| one.summary().is_none()));
    Ok(())
}

#[test]
fn the_clients_own_compaction_ends_a_clear() -> Result<()> {
    let mut steps = repeated(grows(), 12);
    steps.push(says("All is counted."));
    let Some(work) = work(steps, WINDOW)? else {
        return Ok(());
    };
    let mut terminal = Terminal::open(&work.client, &work.daemon.url())?;
    terminal.enter("Count in a terminal. [[scenario:grow]]")?;
    terminal.wait_for_text("All is counted.")?;
    assert!(assert_sticky(&arrived(&work)?)? > 0);
    terminal.enter("/compact")?;
    terminal.wait_for_text("ompacted")?;
    // Clears the input line: the command may still be in it.
    terminal.enter("\u{15}Is it done? [[scenario:answer]]")?;
    terminal.wait_for_text("It is done.")?;
    let requests = arrived(&work)?;
    let compaction = requests
        .iter()
        .position(|one| one.request.purpose() == Purpose::Compaction);
    let compaction = compaction.context("no compaction")?;
    assert!(
        requests[compaction].summary().is_some(),
        "the compaction fits, too"
    );
    let steps: Vec<&Arrived> = requests[compaction + 1..]
        .iter()
        .filter(|one| one.is_step())
        .collect();
    assert!(!steps.is_empty() && steps.iter().all(|one| one.summary().is_none()));
    terminal.leave()
}
