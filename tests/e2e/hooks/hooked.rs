//! The client with Grov's hooks in its settings and without a proxy.

use super::{init, prepare};
use crate::upstream::Upstream;
use anyhow::{Context, Result, ensure};
use grov_domain::{ClientSessionId, HookSession, HookStore};
use grov_store::{OpenOptions, SqliteStore};
use grov_tests::{ClientRun, Grov, RealClient, eventually};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Stdio};

/// A session with hooks only, in a project with one memory.
pub struct Hooked {
    pub client: RealClient,
    pub upstream: Upstream,
    pub grov: Grov,
}

/// A text block: the final answer, or text between calls.
pub fn says(text: &str) -> Value {
    json!({"blocks": [{"type": "text", "text": text}]})
}

/// A Write call, preceded by the reason for it.
pub fn writes(file: &str) -> Value {
    json!({"blocks": [
        {"type": "text", "text": format!("I write {file} because it belongs there.")},
        {"type": "tool_use", "name": "Write", "input": {"file_path": format!("{{cwd}}/{file}"), "content": "fn main() {}\n"}},
    ]})
}

/// A Bash call.
pub fn runs(command: &str) -> Value {
    json!({"blocks": [
        {"type": "tool_use", "name": "Bash", "input": {"command": command, "description": "go on"}},
    ]})
}

/// A step with its own delivery behaviour.
pub fn delivered(mut step: Value, behaviour: &str) -> Value {
    step["behaviour"] = behaviour.into();
    step
}

impl Hooked {
    /// Without the guard, which would stop the actions that these tests look for. `None` if the client is not installed
    /// and not required.
    pub fn playing(scenarios: &Value) -> Result<Option<Self>> {
        Self::configured(scenarios, "[guard]\nmode = \"off\"\n", |client| client)
    }

    /// The same with a different configuration and a customised client.
    pub fn configured(
        scenarios: &Value,
        configuration: &str,
        changed: impl FnOnce(RealClient) -> RealClient,
    ) -> Result<Option<Self>> {
        let Some(client) = RealClient::installed()? else {
            return Ok(None);
        };
        let client = changed(client);
        let upstream = Upstream::with(&json!({"scenarios": scenarios}))?;
        let grov = prepare(&client, "{}")?;
        fs::write(client.home().join(".grov/config.toml"), configuration)?;
        init(&grov, &[])?;
        Ok(Some(Self {
            client,
            upstream,
            grov,
        }))
    }

    /// Runs one prompt and requires success.
    pub fn prompt(&self, prompt: &str, words: &[&str]) -> Result<ClientRun> {
        let run = self.client.prompt(&self.upstream.url(), prompt, words)?;
        run.result()?;
        Ok(run)
    }

    /// Starts one prompt without waiting for it.
    pub fn begins(&self, prompt: &str, words: &[&str]) -> Result<Child> {
        let mut command = self.client.command(&self.upstream.url(), prompt, words);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.spawn().context("cannot start the client")
    }

    /// The session of the newest request, once there are `count` requests.
    pub fn session_when(&self, requests: usize) -> Result<String> {
        eventually("a request", || {
            let messages = self.upstream.sim().messages();
            let newest = messages.get(requests.checked_sub(1)?..)?.last()?;
            newest.header("x-claude-code-session-id").map(str::to_owned)
        })
    }

    /// The database.
    pub fn store(&self) -> Result<SqliteStore> {
        let path = self.home().join("grov.db");
        Ok(self
            .upstream
            .block_on(SqliteStore::open(&path, &OpenOptions::default()))?)
    }

    /// The session as the hooks recorded it, once `wanted` holds for it.
    pub fn wait_for_session(
        &self,
        what: &str,
        session: &str,
        wanted: impl Fn(&HookSession) -> bool,
    ) -> Result<HookSession> {
        let store = self.store()?;
        let id = ClientSessionId::new(session);
        let known = || self.upstream.block_on(store.hook_session(&id)).ok().flatten();
        let found = eventually(what, || known().filter(|known| wanted(known)));
        let found = found.with_context(|| format!("known is {:#?}; {:?}", known(), self.faults()));
        self.upstream.block_on(store.close())?;
        found
    }

    /// The memories created from sessions, once `wanted` holds for them.
    pub fn wait_for_memories(&self, what: &str, wanted: impl Fn(&[Value]) -> bool) -> Result<Vec<Value>> {
        let memories = || -> Option<Vec<Value>> {
            let answer = self.grov.run_json(&["memory", "list"]).ok()?;
            let mut memories = answer.json["memories"].as_array()?.clone();
            memories.retain(|memory| memory["id"] != "task-webhooks");
            Some(memories)
        };
        eventually(what, || memories().filter(|memories| wanted(memories)))
            .with_context(|| format!("the memories are {:#?}; {:?}", memories(), self.faults()))
    }

    /// The body of the newest request, as text.
    pub fn newest_request(&self) -> Result<String> {
        let requests = self.upstream.sim().messages();
        let newest = requests.last().context("no request arrived")?;
        Ok(String::from_utf8(newest.body.to_vec())?)
    }

    /// Grov's home directory.
    pub fn home(&self) -> PathBuf {
        self.client.home().join(".grov")
    }

    pub fn faults(&self) -> String {
        fs::read_to_string(self.home().join("logs/hooks.log")).unwrap_or_default()
    }

    pub fn assert_no_faults(&self) -> Result<()> {
        let faults = self.faults();
        ensure!(faults.is_empty(), "{faults}");
        Ok(())
    }
}

/// The action kinds of steps, in order.
pub fn kinds(steps: &[Value]) -> Vec<&str> {
    let kinds = steps.iter().map(|step| step["action_type"].as_str());
    kinds.map(Option::unwrap_or_default).collect()
}
