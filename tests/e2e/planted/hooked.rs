//! The same on the hook path: real hook processes with a transcript, and the work after the turn.

use super::kinds::KINDS;
use super::{Leaks, SecretPlanter, chosen, topic};
use crate::judge::TestHome;
use anyhow::{Context, Result, ensure};
use grov_tests::{binary, eventually};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A client's session as hooks see it.
struct Session {
    id: String,
    transcript: PathBuf,
    home: PathBuf,
    project: PathBuf,
    environment: Vec<(String, String)>,
    calls: usize,
}

impl Session {
    fn write(&self, line: &Value) -> Result<()> {
        let mut line = line.clone();
        line["sessionId"] = json!(self.id);
        line["cwd"] = json!(self.project);
        let at = time::OffsetDateTime::now_utc();
        line["timestamp"] = json!(at.format(&time::format_description::well_known::Rfc3339)?);
        let mut file = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.transcript)?;
        Ok(writeln!(file, "{line}")?)
    }

    fn says(&self, text: &str) -> Result<()> {
        let content = json!([{"type": "text", "text": text}]);
        self.write(&json!({"type": "assistant", "message": {"id": "m", "model": "m", "content": content}}))
    }

    fn calls(&mut self, name: &str, input: &Value, result: &str) -> Result<()> {
        self.calls += 1;
        let id = format!("toolu_{}_{}", self.id, self.calls);
        let content = json!([{"type": "tool_use", "id": id, "name": name, "input": input}]);
        self.write(&json!({"type": "assistant", "message": {"id": format!("m{id}"), "model": "m", "content": content}}))?;
        let content = json!([{"type": "tool_result", "tool_use_id": id, "content": result}]);
        self.write(&json!({"type": "user", "message": {"role": "user", "content": content}}))
    }

    /// Runs the prompt hook and then writes the prompt to the transcript, in the client's order.
    fn types(&self, prompt: &str) -> Result<String> {
        let outputs = self.hook("UserPromptSubmit", &json!({"prompt": prompt}))?;
        self.write(&json!({"type": "user", "message": {"role": "user", "content": prompt}}))?;
        Ok(outputs)
    }

    fn hook(&self, event: &str, more: &Value) -> Result<String> {
        let mut input = json!({
            "session_id": self.id, "transcript_path": self.transcript, "cwd": self.project,
            "hook_event_name": event, "permission_mode": "default",
        });
        if let (Some(input), Some(more)) = (input.as_object_mut(), more.as_object()) {
            input.extend(more.clone());
        }
        let mut child = Command::new(binary("grov")?)
            .args(["hook", event])
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home.parent().unwrap_or(Path::new("/")))
            .env("GROV_HOME", &self.home)
            .envs(self.environment.iter().cloned())
            .current_dir(&self.project)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        child
            .stdin
            .take()
            .context("no input")?
            .write_all(input.to_string().as_bytes())?;
        let output = child.wait_with_output()?;
        ensure!(output.status.success(), "{event}: {output:?}");
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

#[test]
fn no_planted_secret_leaks_on_the_hook_path() -> Result<()> {
    let mut planter = SecretPlanter::new();
    let home = TestHome::new()?;
    let path = home.path();
    let (mut leaks, mut outputs) = (Leaks::default(), Vec::new());
    // Half of the sessions use a model, the others rules alone.
    for (number, kind) in chosen().enumerate() {
        let environment = if number.is_multiple_of(2) {
            Vec::new()
        } else {
            let settings = crate::judge::all_settings(&home.judge);
            let own = settings.into_iter().map(|(name, value)| (name.to_owned(), value));
            own.chain([("GROV_LLM_DAILY_BUDGET_USD".to_owned(), "1000".to_owned())])
                .collect()
        };
        let mut session = Session {
            id: format!("hooked-{kind}"),
            transcript: home.project().join(format!("{kind}.jsonl")),
            home: path.clone(),
            project: home.project(),
            environment,
            calls: 0,
        };
        let secret = &mut |place: &str| planter.plant(kind, place);
        outputs.push(session.types(&format!(
            "{}\nSet up the {}. Do not touch docs/",
            secret("a prompt"),
            topic(kind)
        ))?);
        session.says(&format!(
            "I decided to write it because: {}",
            secret("words before an action")
        ))?;
        let command = format!("cat > .env <<'EOF'\n{}\nEOF", secret("a command"));
        session.calls("Bash", &json!({"command": command}), &secret("a result"))?;
        let long = format!(
            "{}{}\n{}",
            "x ".repeat(4_000),
            secret("the end of a long result"),
            "y ".repeat(100)
        );
        session.calls("Bash", &json!({"command": secret("a command of its own")}), &long)?;
        let named = format!("docs/{}.txt", secret("the name of a file"));
        session.calls("Read", &json!({"file_path": named}), "")?;
        let named = format!("docs/{}.md", secret("the name of a file that is written"));
        let written = json!({"file_path": named, "content": secret("what is written")});
        session.calls("Write", &written, "done")?;
        outputs.push(session.types(&format!("Go on with it: {}", secret("a second prompt")))?);
        let answer = format!("Done. All tests pass. Task complete. {}", secret("an answer"));
        session.calls(
            "Edit",
            &json!({"file_path": "src/gateway.rs", "old_string": "a", "new_string": secret("an edit")}),
            "done",
        )?;
        session.says(&answer)?;
        outputs.push(session.hook("Stop", &json!({"last_assistant_message": answer}))?);
        let id = session.id.clone();
        eventually("the session to be remembered", || {
            home.saved(&id).ok().filter(|saved| !saved.is_empty())
        })
        .context(KINDS[kind].0)?;
        outputs.push(session.hook("SessionStart", &json!({"source": "compact"}))?);
    }
    leaks.look_through(&planter.traces, &path)?;
    let asked = home.judge.sim().requests();
    ensure!(!asked.is_empty(), "no model was asked");
    for request in asked {
        leaks.look(&planter.traces, "the questions to the judge", &request.body);
    }
    leaks.look(&planter.traces, "hook output", outputs.concat().as_bytes());
    leaks.assert_none(&planter.traces)
}
