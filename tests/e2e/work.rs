//! The real client with the proxy and the simulated API.

use crate::upstream::Upstream;
use anyhow::{Context, Result};
use grov_tests::{ClientRun, Daemon, Grov, RealClient, ToolUse, eventually, tool_uses};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

/// A client, a proxy and the simulated API, connected to each other.
pub struct Work {
    pub client: RealClient,
    pub upstream: Upstream,
    pub daemon: Daemon,
    pub home: PathBuf,
}

impl Work {
    /// `None` if the client is not installed and not required.
    pub fn begin() -> Result<Option<Self>> {
        Self::against(Upstream::start()?, &[])
    }

    /// The same with scenarios of the test.
    pub fn with(script: &Value) -> Result<Option<Self>> {
        Self::against(Upstream::with(script)?, &[])
    }

    /// The same with additional environment variables for the daemon.
    pub fn against(upstream: Upstream, environment: &[(&str, &str)]) -> Result<Option<Self>> {
        let Some(client) = RealClient::installed()? else {
            return Ok(None);
        };
        let home = client.home().join(".grov");
        let builder = Daemon::on(&home, &upstream.url());
        let daemon = environment
            .iter()
            .fold(builder, |builder, (name, value)| builder.env(name, value))
            .start()?;
        Ok(Some(Self {
            client,
            upstream,
            daemon,
            home,
        }))
    }

    pub fn prompt(&self, prompt: &str, arguments: &[&str]) -> Result<ClientRun> {
        self.client.prompt(&self.daemon.url(), prompt, arguments)
    }

    /// The newest request after a prompt.
    pub fn request_of(&self, prompt: &str) -> Result<String> {
        self.prompt(prompt, &[])?.result()?;
        let messages = self.upstream.sim().messages();
        let newest = messages.last().context("no request")?;
        Ok(String::from_utf8(newest.body.to_vec())?)
    }

    /// Whether a prompt's request comes to contain all of these texts. Asked in new sessions again and again, because on a busy
    /// machine a search may be too late for a request.
    pub fn injects(&self, prompt: &str, texts: &[&str]) -> Result<()> {
        eventually("the text to be injected", || {
            let request = self.request_of(prompt).ok()?;
            texts.iter().all(|text| request.contains(text)).then_some(())
        })
    }

    pub fn grov(&self) -> Grov {
        Grov::on(&self.home).within(&self.client.project())
    }

    pub fn file(&self, name: &str) -> Result<String> {
        fs::read_to_string(self.client.project().join(name))
            .with_context(|| format!("the client wrote no {name}"))
    }

    /// Asserts that the client's transcript and Grov's records agree. Returns the calls of the session.
    pub fn agree(&self, session: &str) -> Result<Vec<ToolUse>> {
        let mut calls = tool_uses(&self.client.home())?;
        calls.retain(|call| call.session == session);
        let steps = self.grov().wait_for_steps(session, calls.len())?;
        let agents: std::collections::BTreeSet<Option<&str>> =
            calls.iter().map(|call| call.agent.as_deref()).collect();
        for agent in agents {
            let done: Vec<Value> = calls
                .iter()
                .filter(|call| call.agent.as_deref() == agent)
                .map(expected)
                .collect();
            let recorded: Vec<Value> = steps
                .iter()
                .filter(|step| step["agent_id"].as_str() == agent)
                .map(essence)
                .collect();
            assert_eq!(recorded, done, "steps of {agent:?}");
        }
        assert_eq!(steps.len(), calls.len(), "{steps:?}");
        Ok(calls)
    }

    pub fn session(&self, session: &str) -> Result<Value> {
        let mut sessions = self.grov().sessions()?;
        sessions.retain(|known| known["client_session_id"] == session);
        assert_eq!(sessions.len(), 1, "one session: {sessions:?}");
        Ok(sessions.remove(0))
    }
}

/// The recorded step that a tool call should lead to.
pub fn expected(call: &ToolUse) -> Value {
    let (action, files, command) = match call.name.as_str() {
        "Write" => ("write", json!([call.input["file_path"]]), Value::Null),
        "Edit" => ("edit", json!([call.input["file_path"]]), Value::Null),
        "Read" => ("read", json!([call.input["file_path"]]), Value::Null),
        "Agent" => ("task", json!([]), call.input["prompt"].clone()),
        // The files of a command are extracted by rules that have their own tests.
        "Bash" => ("bash", Value::Null, call.input["command"].clone()),
        other => unreachable!("no scenario calls {other}"),
    };
    json!({"action_type": action, "files": files, "command": command})
}

/// The same fields of a recorded step.
pub fn essence(step: &Value) -> Value {
    let files = if step["action_type"] == "bash" {
        Value::Null
    } else {
        step["files"].clone()
    };
    json!({"action_type": step["action_type"], "files": files, "command": step["command"]})
}
