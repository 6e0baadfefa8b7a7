//! The real client with an agent on another model.

use super::{providers, write_providers};
use crate::upstream::Upstream;
use crate::work::Work;
use anyhow::Result;
use grov_tests::{Daemon, RealClient, eventually};
use serde_json::{Value, json};
use std::fs;

/// The main agent, which delegates to the agent `writer`.
pub fn delegating() -> Value {
    json!({"scenarios": {"main": {"steps": [
        {"blocks": [{"type": "tool_use", "name": "Agent", "input": {
            "description": "Write a greeting", "subagent_type": "writer",
            "prompt": "Write greeting.txt. [[scenario:write]]",
        }}]},
        {"blocks": [{"type": "text", "text": "The greeting is written."}]},
    ]}}})
}

/// The agent's model, which writes a file and changes it.
pub fn writing() -> Value {
    let file = "{cwd}/greeting.txt";
    let call = |name: &str, input: Value| json!({"type": "tool_use", "name": name, "input": input});
    json!({"scenarios": {"write": {"steps": [
        {"blocks": [
            {"type": "thinking", "thinking": "First the file."},
            {"type": "text", "text": "I write it."},
            call("Write", json!({"file_path": file, "content": "hello\n"})),
        ]},
        {"blocks": [call("Edit", json!({"file_path": file, "old_string": "hello", "new_string": "hello from elsewhere"}))]},
        {"blocks": [
            call("Read", json!({"file_path": file})),
            call("Bash", json!({"command": "wc -l < greeting.txt", "description": "Count the lines"})),
        ]},
        {"blocks": [{"type": "text", "text": "greeting.txt is written."}]},
    ]}}})
}

/// Lets a marked agent of the real client work on a provider whose answers behave like this.
fn agent_writes(behaviour: &str, transforms: &str) -> Result<()> {
    let Some(client) = RealClient::installed()? else {
        return Ok(());
    };
    let (anthropic, provider) = (Upstream::with(&delegating())?, Upstream::with(&writing())?);
    let path = grov_sim::When::Path("/v1/chat/completions".to_owned());
    provider
        .sim()
        .inject(grov_sim::Rule::new(path, behaviour.parse()?));
    let agents = client.project().join(".claude/agents");
    fs::create_dir_all(&agents)?;
    let agent = "---\nname: writer\ndescription: Writes greetings\n---\n<!-- @proxy-local-route:af83e9 model=fast -->\nYou write greetings.\n";
    fs::write(agents.join("writer.md"), agent)?;
    let home = client.home().join(".grov");
    write_providers(
        &home,
        &providers(
            &provider,
            "provider-key",
            &format!("    transform: [{transforms}]\n"),
        ),
    )?;
    let daemon = Daemon::on(&home, &anthropic.url()).start()?;
    let work = Work {
        client,
        upstream: anthropic,
        daemon,
        home,
    };

    let run = work.prompt("Have a greeting written. [[scenario:main]]", &[])?;
    assert_eq!(run.result()?, "The greeting is written.", "{}", work.daemon.log());
    assert_eq!(work.file("greeting.txt")?, "hello from elsewhere\n");

    let calls = work.agree(run.session()?)?;
    let of_agent: Vec<&str> = calls
        .iter()
        .filter(|call| call.agent.is_some())
        .map(|call| call.name.as_str())
        .collect();
    assert_eq!(of_agent, ["Write", "Edit", "Read", "Bash"]);
    let requests = provider.sim().requests();
    assert_eq!(requests.len(), 4);
    for request in &requests {
        let received = format!("{:?}{}", request.head, String::from_utf8_lossy(&request.body));
        assert_eq!(request.header("authorization"), Some("Bearer provider-key"));
        for word in [
            "sk-ant",
            "proxy-local-route",
            "x-anthropic-billing-header",
            "anthropic-beta",
        ] {
            assert!(!received.contains(word), "{word} in {received}");
        }
    }
    for request in work.upstream.sim().requests() {
        let received = format!("{:?}{}", request.head, String::from_utf8_lossy(&request.body));
        assert!(
            !received.contains("provider-key") && !received.contains("model=fast"),
            "{received}"
        );
        assert_eq!(request.header("x-claude-code-agent-id"), None);
    }
    // The agent's tokens count too.
    let own = run
        .events
        .last()
        .map(|event| event["usage"]["output_tokens"].clone());
    let session = eventually("the tokens of the agent", || {
        let session = work.session(run.session().ok()?).ok()?;
        (session["tokens"]["output"].as_u64() >= Some(40)).then_some(session)
    })?;
    assert_eq!(session["steps"], json!(5), "{session} {own:?}");
    Ok(())
}

#[test]
fn agent_edits_a_file_on_another_model_while_the_main_agent_stays() -> Result<()> {
    agent_writes("", "reasoning")
}

#[test]
fn agent_works_on_a_provider_with_quirks() -> Result<()> {
    agent_writes(
        "quirk=numeric-ids,quirk=interleaved,quirk=think,quirk=usage-null-choices,frame=9",
        "extrathinktag, enhancetool",
    )
}

#[test]
fn agent_survives_a_stream_that_its_provider_cuts() -> Result<()> {
    let Some(client) = RealClient::installed()? else {
        return Ok(());
    };
    let (anthropic, provider) = (Upstream::with(&delegating())?, Upstream::with(&writing())?);
    let path = grov_sim::When::Path("/v1/chat/completions".to_owned());
    // Within the first answer, after it called no tool yet.
    provider
        .sim()
        .inject(grov_sim::Rule::new(path, "cut-events=2,times=1".parse()?));
    let agents = client.project().join(".claude/agents");
    fs::create_dir_all(&agents)?;
    let agent = "---\nname: writer\ndescription: Writes greetings\n---\n<!-- @proxy-local-route:af83e9 model=fast -->\nYou write greetings.\n";
    fs::write(agents.join("writer.md"), agent)?;
    let home = client.home().join(".grov");
    write_providers(&home, &providers(&provider, "provider-key", ""))?;
    let daemon = Daemon::on(&home, &anthropic.url()).start()?;
    let run = client.prompt(&daemon.url(), "Have a greeting written. [[scenario:main]]", &[])?;
    assert_eq!(run.result()?, "The greeting is written.", "{}", daemon.log());
    let written = fs::read_to_string(client.project().join("greeting.txt"))?;
    assert_eq!(written, "hello from elsewhere\n");
    assert!(daemon.log().contains("[LOCAL_ERR:"), "{}", daemon.log());
    Ok(())
}
