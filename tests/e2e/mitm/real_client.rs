//! The real client through the CONNECT proxy.

use super::Intercepted;
use crate::hooks::hooked::{says, writes};
use crate::hooks::{QUESTION, init, injections, prepare};
use crate::routing::real_client::{delegating, writing};
use crate::routing::{providers, write_providers};
use crate::upstream::Upstream;
use anyhow::Result;
use grov_tests::{ClientRun, Grov, RealClient, eventually};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

/// A client that connects through a CONNECT proxy.
struct Client {
    work: Intercepted,
    client: RealClient,
    home: PathBuf,
}

impl Client {
    /// `None` if the client is not installed and not required.
    fn begin(
        upstream: Upstream,
        edit: bool,
        prepare: impl FnOnce(&RealClient, &Grov) -> Result<()>,
    ) -> Result<Option<Self>> {
        let Some(client) = RealClient::installed()? else {
            return Ok(None);
        };
        let home = client.home().join(".grov");
        let grov = Grov::on(&home).within(&client.project());
        prepare(&client, &grov)?;
        let daemon = super::builder(&home, &upstream.url())
            .env("GROV_MITM_EDIT", edit.to_string())
            .start()?;
        let port = super::connect_port(&daemon)?;
        let bundle = home.join("ca/bundle.pem");
        let client = client
            .env("HTTPS_PROXY", &format!("http://127.0.0.1:{port}"))
            .env("NODE_EXTRA_CA_CERTS", &bundle.to_string_lossy());
        Ok(Some(Self {
            work: Intercepted {
                upstream,
                daemon,
                home: home.clone(),
                _folder: tempfile::tempdir()?,
            },
            client,
            home,
        }))
    }

    fn prompt(&self, prompt: &str, arguments: &[&str]) -> Result<ClientRun> {
        // An empty base URL is none.
        self.client.prompt("", prompt, arguments)
    }

    fn grov(&self) -> Grov {
        Grov::on(&self.home).within(&self.client.project())
    }
}

#[test]
fn a_tool_loop_runs_and_is_recorded() -> Result<()> {
    let Some(work) = Client::begin(Upstream::start()?, false, |_, _| Ok(()))? else {
        return Ok(());
    };
    let run = work.prompt("Add a greeting. [[scenario:tools]]", &[])?;
    assert_eq!(run.result()?, "The greeting is written, changed and counted.");
    assert_eq!(run.retries(), 0);
    let steps = work.grov().wait_for_steps(run.session()?, 4)?;
    let actions: Vec<&Value> = steps.iter().map(|step| &step["action_type"]).collect();
    assert_eq!(actions, ["write", "read", "edit", "bash"]);
    // First-party mode: the request has the check value, and went to the API unchanged.
    let first = work.work.upstream.sim().messages().remove(0);
    let body = String::from_utf8_lossy(&first.body).into_owned();
    assert!(body.contains("cch="), "{}", &body[..500.min(body.len())]);
    assert!(work.work.counters()?["intercepted"].as_u64() > Some(0));
    Ok(())
}

#[test]
fn a_marked_subagent_is_routed_elsewhere() -> Result<()> {
    let provider = Upstream::with(&writing())?;
    let begun = Client::begin(Upstream::with(&delegating())?, false, |client, _| {
        let agents = client.project().join(".claude/agents");
        fs::create_dir_all(&agents)?;
        let marker = "<!-- @proxy-local-route:af83e9 model=fast -->";
        let agent = format!(
            "---\nname: writer\ndescription: Writes greetings\n---\n{marker}\nYou write greetings.\n"
        );
        fs::write(agents.join("writer.md"), agent)?;
        write_providers(
            &client.home().join(".grov"),
            &providers(&provider, "provider-key", ""),
        )
    })?;
    let Some(work) = begun else { return Ok(()) };
    let run = work.prompt("Have a greeting written. [[scenario:main]]", &[])?;
    assert_eq!(
        run.result()?,
        "The greeting is written.",
        "{}",
        work.work.daemon.log()
    );
    let written = fs::read_to_string(work.client.project().join("greeting.txt"))?;
    assert_eq!(written, "hello from elsewhere\n");
    assert_eq!(provider.sim().requests().len(), 4);
    for request in provider.sim().requests() {
        assert_eq!(request.header("authorization"), Some("Bearer provider-key"));
    }
    for request in work.work.upstream.sim().requests() {
        assert!(!String::from_utf8_lossy(&request.body).contains("model=fast"));
    }
    Ok(())
}

/// The hooks deliver memory and record the work. The proxy neither repeats nor records it.
#[test]
fn with_hooks_memory_arrives_once_and_work_is_recorded_once() -> Result<()> {
    let script = json!({"scenarios": {
        "greet": {"steps": [writes("hello.txt"), says("Done. The greeting is in hello.txt. Task complete.")]},
    }});
    let begun = Client::begin(Upstream::with(&script)?, false, |client, _| {
        let grov = prepare(client, "{}")?;
        init(&grov, &[])
    })?;
    let Some(work) = begun else { return Ok(()) };
    let run = work.prompt(
        &format!("{QUESTION} Also add a greeting. [[scenario:greet]]"),
        &[],
    )?;
    run.result()?;
    let (times, saying) = injections(&work.work.upstream)?;
    assert!(
        !times.is_empty() && times.iter().all(|&times| times == 1),
        "{times:?}"
    );
    assert_eq!(saying, times.len(), "every request of the history has the memory");
    let steps = work.grov().wait_for_steps(run.session()?, 1)?;
    assert_eq!(steps.len(), 1, "{steps:?}");
    let memories = eventually("the work to be kept", || {
        let answer = work.grov().run_json(&["memory", "list"]).ok()?;
        let mut memories = answer.json["memories"].as_array()?.clone();
        memories.retain(|memory| memory["id"] != "task-webhooks");
        (!memories.is_empty()).then_some(memories)
    })?;
    assert_eq!(memories.len(), 1, "{memories:#?}");
    // Longer than the proxy's own recording takes.
    std::thread::sleep(std::time::Duration::from_secs(2));
    let sessions = work.grov().sessions()?;
    assert_eq!(sessions.len(), 0, "the proxy recorded it too: {sessions:#?}");
    let faults = fs::read_to_string(work.home.join("logs/hooks.log")).unwrap_or_default();
    assert_eq!(faults, "");
    Ok(())
}

#[test]
fn without_hooks_memory_is_added_only_if_edits_are_allowed() -> Result<()> {
    for edit in [false, true] {
        let begun = Client::begin(Upstream::start()?, edit, |client, _| {
            prepare(client, "{}").map(drop)
        })?;
        let Some(work) = begun else { return Ok(()) };
        work.prompt(&format!("{QUESTION} [[scenario:tools]]"), &[])?
            .result()?;
        let (times, _) = injections(&work.work.upstream)?;
        // The proxy may miss its deadline for the first requests, never for all of a tool loop.
        let added = times.last() == Some(&1);
        assert!(
            times.iter().all(|&times| times <= 1) && added == edit,
            "{edit}: {times:?}"
        );
    }
    Ok(())
}
