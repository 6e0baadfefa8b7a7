//! A new user sets the judge up with one command, and sees that it works, what it did, and what keeps it from working.

use crate::turn;
use crate::upstream::Upstream;
use anyhow::{Context, Result, ensure};
use grov_tests::{Grov, eventually, exchange};
use serde_json::json;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Where nvm installs it: only the user's shell has this folder in its `PATH`.
const CLIENT: &str = ".nvm/versions/node/v20.11.1/bin/claude";

/// Stands for the client in print mode: its answer has every field that a question asks for.
const SCRIPT: &str = r#"#!/bin/sh
[ "$1 $2" = "auth status" ] && { echo '{"loggedIn": true}'; exit; }
cat > /dev/null
[ -e "$HOME/nonsense" ] && text='Happy to help!' || text='ANSWER'
printf '{"type":"result","subtype":"success","result":"%s","stop_reason":"end_turn","total_cost_usd":0.002,"usage":{"input_tokens":3,"output_tokens":2}}\n' "$text"
"#;

/// A user with an empty home, an installed client, and a shell that finds it.
struct User {
    folder: TempDir,
    api: Upstream,
    port: u16,
}

impl User {
    fn new() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let answer = json!({
            "limits": [], "goal": "Fix it", "scope": [], "constraints": [], "keywords": [], "action": "new_task", "task_id": null,
            "finished": false, "reasoning": "So", "chosen": [], "reasoning_trace": [], "decisions": [], "tags": [],
            "score": 9, "diagnostic": "Fine",
        });
        let answer = answer.to_string().replace('"', "\\\"");
        let client = folder.path().join(CLIENT);
        fs::create_dir_all(client.parent().context("no folder")?)?;
        fs::write(&client, SCRIPT.replace("ANSWER", &answer))?;
        fs::set_permissions(&client, PermissionsExt::from_mode(0o755))?;
        Ok(Self {
            folder,
            api: Upstream::start()?,
            port: TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port(),
        })
    }

    fn client(&self) -> PathBuf {
        self.folder.path().join(CLIENT)
    }

    /// `grov` in the user's shell.
    fn shell(&self) -> Grov {
        let folder = self.client();
        let folder = folder.parent().unwrap_or(Path::new("/"));
        self.grov()
            .env("PATH", &format!("{}:/usr/bin:/bin", folder.display()))
    }

    /// `grov` as an editor or a service starts it.
    fn grov(&self) -> Grov {
        Grov::on(&self.folder.path().join(".grov"))
            .env("PATH", "/usr/bin:/bin")
            .env("GROV_PROXY_PORT", &self.port.to_string())
            .env("GROV_PROXY_UPSTREAM", &self.api.url())
    }

    fn asks(&self, grov: &Grov, words: &[&str]) -> Result<String> {
        let ended = grov.run(words)?;
        ensure!(ended.code() == Some(0), "grov {words:?}: {ended:?}");
        Ok(ended.stdout)
    }

    /// A session starts, with the client's hooks.
    fn begins_session(&self) -> Result<()> {
        let input = json!({"session_id": turn::session(1), "cwd": self.folder.path(), "transcript_path": "/none.jsonl",
            "hook_event_name": "SessionStart", "source": "startup"});
        let grov = self
            .grov()
            .env("ANTHROPIC_BASE_URL", &format!("http://127.0.0.1:{}", self.port));
        grov.hook("SessionStart", &input)?;
        eventually("the hook to start the proxy", || {
            let health = self.grov().run_json(&["proxy", "status"]).ok()?;
            (health.json["proxy"]["running"] == true).then_some(())
        })
    }

    fn types(&self, session: usize, text: &str) -> Result<()> {
        let answer = exchange(self.port, &turn::prompt(&turn::session(session), text))?;
        ensure!(answer.status == 200, "{}", answer.text());
        Ok(())
    }

    /// Waits until `grov status` and `grov doctor` contain these words.
    fn sees(&self, words: &str) -> Result<()> {
        let seen = || {
            let outputs = ["status", "doctor"]
                .map(|command| self.grov().run(&[command]).ok().map(|ended| ended.stdout));
            outputs.into_iter().collect::<Option<Vec<String>>>()
        };
        eventually(words, || {
            seen()?.iter().all(|output| output.contains(words)).then_some(())
        })
        .with_context(|| format!("{:#?}", seen()))
    }
}

impl Drop for User {
    fn drop(&mut self) {
        let _ = self.grov().run(&["proxy", "stop"]);
    }
}

#[test]
fn a_judge_set_up_with_init_is_found_by_a_proxy_that_a_hook_started() -> Result<()> {
    let user = User::new()?;
    let said = user.asks(&user.shell(), &["init", "--proxy", "--judge", "claude"])?;
    assert!(said.contains("plan's limits"), "{said}");
    user.begins_session()?;
    user.types(1, "Fix the login form. [[scenario:text]]")?;
    user.sees("questions answered since the proxy started")?;
    let usage = user.grov().run_json(&["usage", "--by", "purpose"])?.json;
    assert!(usage.to_string().contains("read_limits"), "{usage:#}");
    let status = user.asks(&user.grov(), &["status"])?;
    assert!(
        status.contains("at list prices; a plan is not charged"),
        "{status}"
    );
    assert!(!status.contains("rules answer now"), "{status}");

    // An update takes the client away for a moment.
    let aside = user.client().with_extension("old");
    fs::rename(user.client(), &aside)?;
    user.types(2, "Fix the logout form. [[scenario:text]]")?;
    user.sees("not installed")?;
    fs::rename(&aside, user.client())?;
    Ok(())
}

#[test]
fn a_judge_that_answers_nonsense_or_is_not_in_use_yet_is_reported() -> Result<()> {
    let user = User::new()?;
    user.asks(&user.shell(), &["init", "--proxy"])?;
    user.begins_session()?;
    fs::write(user.folder.path().join("nonsense"), "")?;
    user.asks(&user.shell(), &["init", "--proxy", "--judge", "claude"])?;
    user.sees("was started with offline")?;
    user.asks(&user.shell(), &["proxy", "restart"])?;
    for session in 1..=2 {
        user.types(session, "Fix the login form. [[scenario:text]]")?;
    }
    user.sees("no usable answer")
}
