//! Actions of subagents, when only hooks observe the session.

use super::hooked::{Hooked, delivered, kinds, says, writes};
use anyhow::Result;
use grov_tests::tool_uses;
use serde_json::{Value, json};

fn delegates(task: &str) -> Value {
    json!({"blocks": [{"type": "tool_use", "name": "Agent", "input": {
        "description": "Count", "subagent_type": "general-purpose",
        "prompt": format!("{task} [[scenario:count-lines]]"),
    }}]})
}

/// Asserts that the steps of the session's subagents match the client's transcripts. Returns their number.
fn of_agents(hooked: &Hooked, steps: &[Value]) -> Result<usize> {
    let calls = tool_uses(&hooked.client.home())?;
    let own: Vec<_> = calls.iter().filter(|call| call.agent.is_some()).collect();
    for call in &own {
        let step = steps.iter().filter(|step| {
            let is_kind = step["tool"] == call.name.as_str();
            is_kind && step["agent_id"].as_str() == call.agent.as_deref()
        });
        assert_eq!(step.count(), 1, "{call:?}: {steps:#?}");
    }
    let found = steps.iter().filter(|step| !step["agent_id"].is_null()).count();
    assert_eq!(found, own.len(), "{steps:#?}");
    Ok(found)
}

#[test]
fn actions_of_a_subagent_carry_its_id() -> Result<()> {
    let script = json!({"help": {"steps": [
        writes("list.txt"),
        delegates("Count the lines of list.txt."),
        says("Done. There is one line."),
    ]}});
    let Some(hooked) = Hooked::playing(&script)? else {
        return Ok(());
    };
    let run = hooked.prompt(
        "Write list.txt and have its lines counted. [[scenario:help]]",
        &[],
    )?;
    let steps = hooked.grov.wait_for_steps(run.session()?, 4)?;
    assert_eq!(kinds(&steps), ["write", "task", "bash", "read"]);
    assert_eq!(of_agents(&hooked, &steps)?, 2);
    let memories = hooked.wait_for_memories("the session to be kept", |memories| memories.len() == 1)?;
    assert_eq!(memories[0]["files_touched"], json!(["list.txt"]));
    hooked.assert_no_faults()
}

#[test]
fn actions_of_a_subagent_are_recorded_although_the_client_is_killed() -> Result<()> {
    let script = json!({
        "help": {"steps": [
            writes("list.txt"),
            delegates("Count the lines of list.txt."),
            // The client's main conversation receives the result and never answers.
            delivered(says("There is one line."), "stall-events=1"),
        ]},
        "answer": {"steps": [says("There is one line.")]},
    });
    let Some(hooked) = Hooked::playing(&script)? else {
        return Ok(());
    };
    let prompt = "Write list.txt and have its lines counted. [[scenario:help]]";
    let mut running = hooked.begins(prompt, &[])?;
    let session = hooked.session_when(1)?;
    let steps = hooked.grov.wait_for_steps(&session, 4);
    running.kill()?;
    running.wait()?;
    let steps = steps?;
    assert_eq!(of_agents(&hooked, &steps)?, 2);

    hooked.prompt("How many are there? [[scenario:answer]]", &["--continue"])?;
    hooked.wait_for_session("the session to end", &session, |known| {
        known.prompts == 2 && known.ended_at.is_some()
    })?;
    assert_eq!(hooked.grov.steps(&session)?, steps, "nothing is there twice");
    hooked.assert_no_faults()
}
