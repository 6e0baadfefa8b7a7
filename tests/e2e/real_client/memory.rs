//! Team memory with the real client: a finding of one session is injected into another one, at one place, and stays
//! there for the rest of the conversation.

mod chosen;

use crate::injected::{InjectedText, assert_cache_preserved, injected, injected_blocks};
use crate::judge::{all_settings, answer, reasoning, verdict};
use crate::upstream::Upstream;
use crate::work::Work;
use anyhow::{Context, Result, bail, ensure};
use grov_domain::{OWN_TEXT_CLOSING, OWN_TEXT_OPENING, Purpose};
use grov_sim::{JudgeScript, Player, PlayerConfig, RecordedRequest};
use grov_tests::{ClientRun, Daemon, Grov, Request, WireTap, eventually, exchange};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// A question that the memory answers.
const QUESTION: &str = "How are failed webhooks sent again, and why that way?";

/// Two working trees of one repository, a client, and a tap between client and daemon.
struct Team {
    work: Work,
    judge: Upstream,
    tap: WireTap,
    /// The second working tree.
    side: PathBuf,
}

impl Team {
    fn begin() -> Result<Option<Self>> {
        let judge = Upstream::start()?;
        let intent = json!({
            "goal": "Send failed webhooks again", "scope": ["src/webhooks.rs"], "constraints": ["Lose no event"],
            "keywords": ["webhooks", "retry"],
        });
        let found = json!({
            "reasoning_trace": ["A timer per event does not survive a restart of the sender"],
            "decisions": [{
                "choice": "Keep failed webhooks in an outbox table", "reason": "They survive a restart of the sender",
            }],
            "constraints": [], "tags": ["webhooks"],
        });
        let finished = json!({
            "action": "new_task", "task_id": null, "goal": "Send failed webhooks again", "finished": true,
            "constraints": [], "reasoning": "It was done at once.",
        });
        judge.sim().set_judge(
            JudgeScript::default()
                .with(Purpose::ExtractIntent, answer(&intent)?)
                .with(Purpose::AnalyzeTaskContext, answer(&finished)?)
                // Later sessions do not finish their tasks.
                .with(Purpose::AnalyzeTaskContext, verdict("new_task")?)
                .with(Purpose::ExtractReasoning, answer(&found)?)
                .with(Purpose::ExtractReasoning, reasoning("Nothing further")?),
        );
        let talk = |text: &str| json!({"type": "text", "text": text});
        let call = |name: &str, input: Value| json!({"type": "tool_use", "name": name, "input": input});
        let helped = "How are failed webhooks sent again? [[scenario:count-lines]]";
        let script = json!({"scenarios": {
            "solve": {"steps": [
                {"blocks": [
                    talk("I keep failed webhooks in an outbox table."),
                    call("Write", json!({"file_path": "{cwd}/webhooks.rs", "content": "// outbox\n"})),
                ]},
                {"blocks": [talk("Done. All tests pass. Task complete.")]},
            ]},
            "wait": {"steps": [
                {"blocks": [call("Bash", json!({
                    "command": "until [ -e ../asked ]; do sleep 0.1; done", "description": "Wait",
                }))]},
                {"repeat": 6, "blocks": [call("Bash", json!({
                    "command": "sleep 1; echo {step}", "description": "Look",
                }))]},
                {"blocks": [talk("It is known.")]},
            ]},
            "help": {"steps": [
                {"blocks": [call("Agent", json!({
                    "description": "Look", "subagent_type": "general-purpose", "prompt": helped,
                }))]},
                {"blocks": [talk("They are kept in a table.")]},
            ]},
        }});
        let environment = all_settings(&judge);
        let environment: Vec<(&str, &str)> = environment
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let Some(work) = Work::against(Upstream::with(&script)?, &environment)? else {
            return Ok(None);
        };
        let project = work.client.project();
        let side = project.with_file_name("side");
        git(&project, &["init", "--quiet"])?;
        let person = ["-c", "user.name=Dev", "-c", "user.email=dev@example.org"];
        git(
            &project,
            &[
                &person[..],
                &["commit", "--quiet", "--allow-empty", "-m", "Begin"],
            ]
            .concat(),
        )?;
        let place = side.to_str().context("the path is not UTF-8")?;
        git(&project, &["worktree", "add", "--quiet", "-b", "side", place])?;
        let tap = WireTap::before(work.daemon.port())?;
        Ok(Some(Self {
            work,
            judge,
            tap,
            side,
        }))
    }

    /// The same with an imported memory, and with the client in the second working tree.
    fn remembering() -> Result<Option<Self>> {
        let Some(mut team) = Self::begin()? else {
            return Ok(None);
        };
        let record = json!({
            "id": "outbox", "project_path": "elsewhere", "user": "Ada", "original_query": "Send failed webhooks again",
            "goal": "Send failed webhooks again", "reasoning_trace": ["A timer does not survive a restart"],
            "files_touched": ["webhooks.rs"],
            "decisions": [{"choice": "Keep failed webhooks in an outbox table", "reason": "They survive a restart"}],
            "constraints": [], "tags": ["webhooks"], "status": "complete", "created_at": "2026-01-02T03:04:05Z",
        });
        team.import(&record)?;
        team.work.client.enter(&team.side);
        Ok(Some(team))
    }

    fn import(&self, record: &Value) -> Result<()> {
        let file = self.work.client.home().join("records.jsonl");
        fs::write(&file, format!("{record}\n"))?;
        let answer = self.grov().run_json(&[
            "memory",
            "import",
            file.to_str().context("the path is not UTF-8")?,
        ])?;
        ensure!(answer.json["added"] == 1, "{:#}", answer.json);
        Ok(())
    }

    fn grov(&self) -> Grov {
        all_settings(&self.judge)
            .into_iter()
            .fold(self.work.grov(), |grov, (name, value)| grov.env(name, &value))
    }

    fn types(&self, prompt: &str, arguments: &[&str]) -> Result<ClientRun> {
        let run = self.work.client.prompt(&self.tap.url(), prompt, arguments)?;
        run.result()?;
        Ok(run)
    }

    /// Injections that were skipped because they were late or could not be stored in time.
    fn skipped_injections(&self) -> Result<u64> {
        let health = exchange(self.work.daemon.port(), &Request::new("GET", "/_grov/health"))?;
        let health: Value = serde_json::from_slice(&health.body)?;
        let count = |name: &str| health["context"][name].as_u64();
        let names = ["late", "not_kept", "not_loaded", "not_located"];
        let counts: Option<Vec<u64>> = names.into_iter().map(count).collect();
        Ok(counts.context("no counter")?.iter().sum())
    }

    /// Asks in new sessions until a memory is injected. A busy machine may miss the deadline, and counts that.
    fn ask_until_injected(&self, prompt: &str) -> Result<String> {
        self.ask_until_injected_with(prompt, &[])
    }

    /// The same with additional arguments for the client.
    fn ask_until_injected_with(&self, prompt: &str, arguments: &[&str]) -> Result<String> {
        for _ in 0..10 {
            let skipped_injections = self.skipped_injections()?;
            let run = self.types(prompt, arguments)?;
            let session = run.session()?;
            let first = self.arrived(session).first().context("no request")?.clone();
            if !injected(&first)?.is_empty() {
                return Ok(session.to_owned());
            }
            ensure!(
                self.skipped_injections()? > skipped_injections,
                "nothing was injected for {prompt:?}"
            );
        }
        bail!("this machine is too busy")
    }

    /// The requests of a session.
    fn arrived(&self, session: &str) -> Vec<Arc<RecordedRequest>> {
        let mut requests = self.work.upstream.sim().messages();
        requests.retain(|request| request.header("x-claude-code-session-id") == Some(session));
        requests
    }

    /// Asserts that every request of the session from number `from` on contains exactly these injected texts.
    fn assert_injected(&self, session: &str, from: usize, expected: &[InjectedText]) -> Result<usize> {
        let requests = self.arrived(session);
        ensure!(requests.len() > from, "no request after the first {from}");
        for (number, request) in requests.iter().enumerate().skip(from) {
            assert_eq!(injected(request)?, expected, "request {number} of {session}");
        }
        Ok(requests.len())
    }

    /// Whether a memory is injected into a new session of the simulated client, which starts fast.
    fn is_injected(&self, prompt: &str) -> Result<bool> {
        for _ in 0..20 {
            let skipped_injections = self.skipped_injections()?;
            let mut player = Player::new(&self.work.daemon.url(), PlayerConfig::in_directory(&self.side))?;
            let session = self
                .work
                .upstream
                .block_on(player.run([prompt]))
                .session_id
                .clone();
            let first = self.arrived(&session).first().context("no request")?.clone();
            let injected = !injected(&first)?.is_empty();
            if injected || self.skipped_injections()? == skipped_injections {
                return Ok(injected);
            }
        }
        bail!("this machine is too busy")
    }

    fn assert_cache_preserved(&self) -> Result<()> {
        assert_cache_preserved(&self.tap, &self.work.upstream)
    }
}

fn git(directory: &Path, arguments: &[&str]) -> Result<()> {
    let status = Command::new("git")
        .args(arguments)
        .current_dir(directory)
        .status()?;
    ensure!(status.success(), "git {arguments:?}");
    Ok(())
}

#[test]
fn a_finding_of_one_session_is_injected_into_another() -> Result<()> {
    let Some(mut team) = Team::begin()? else {
        return Ok(());
    };
    let run = team.types(
        "Failed webhooks must be sent again, without losing any. [[scenario:solve]]",
        &[],
    )?;
    let first = run.session()?.to_owned();
    team.assert_injected(&first, 0, &[])?;
    eventually("the task to be remembered", || {
        let status = team.grov().run_json(&["status"]).ok()?.json;
        (status["tasks"] == 1).then_some(())
    })?;

    // In the other working tree, in a new session: in the first request and in every later one of the tool loop.
    team.work.client.enter(&team.side.clone());
    let prompt = format!("{QUESTION} [[scenario:tools]]");
    let session = team.ask_until_injected(&prompt)?;
    let memories = injected(&team.arrived(&session)[0])?;
    assert_eq!(memories.len(), 1, "{memories:?}");
    assert_eq!(memories[0].follows, prompt);
    for part in [
        "Send failed webhooks again",
        "outbox table",
        "survive a restart",
        "grov memory show",
    ] {
        assert!(memories[0].block.contains(part), "{part}: {}", memories[0].block);
    }
    let count = team.assert_injected(&session, 0, &memories)?;
    assert_eq!(count, 5);

    // In the next turn, run by a new process of the client with a prompt that is not a question.
    team.types("thanks", &["--resume", &session])?;
    let count = team.assert_injected(&session, count, &memories)?;

    // After the daemon was killed and restarted.
    let Work {
        client,
        upstream,
        daemon,
        home,
    } = team.work;
    let port = daemon.port();
    daemon.kill()?;
    let daemon = all_settings(&team.judge)
        .into_iter()
        .fold(
            Daemon::on(&home, &upstream.url()).port(port),
            |builder, (name, value)| builder.env(name, value),
        )
        .start()?;
    team.work = Work {
        client,
        upstream,
        daemon,
        home,
    };
    team.types(
        "Paint the garden shed green. [[scenario:parallel]]",
        &["--resume", &session],
    )?;
    team.assert_injected(&session, count, &memories)?;

    // In a fork of the session.
    let run = team.types("thanks a lot", &["--resume", &session, "--fork-session"])?;
    let fork = run.session()?.to_owned();
    assert_ne!(fork, session);
    team.assert_injected(&fork, 0, &memories)?;
    team.assert_cache_preserved()
}

#[test]
fn in_the_older_dialect_an_injected_memory_stays_in_the_conversation() -> Result<()> {
    let Some(team) = Team::remembering()? else {
        return Ok(());
    };
    let older = ["--model", "claude-sonnet-4-5"];
    let prompt = format!("{QUESTION} [[scenario:tools]]");
    let session = team.ask_until_injected_with(&prompt, &older)?;
    for request in team.arrived(&session) {
        let body: Value = serde_json::from_slice(&request.body)?;
        let messages = body["messages"].as_array().context("no messages")?;
        assert!(messages.iter().all(|message| message["role"] != "system"));
    }
    let memories = injected(&team.arrived(&session)[0])?;
    assert_eq!(memories.len(), 1, "{memories:?}");
    assert_eq!(memories[0].follows, prompt);
    let count = team.assert_injected(&session, 0, &memories)?;
    let resumed = [&older[..], &["--resume", &session]].concat();
    team.types("thanks", &resumed)?;
    team.assert_injected(&session, count, &memories)?;
    let run = team.types("thanks a lot", &[&resumed[..], &["--fork-session"]].concat())?;
    team.assert_injected(run.session()?, 0, &memories)?;
    team.assert_cache_preserved()
}

#[test]
fn unrelated_prompts_get_no_memory() -> Result<()> {
    let Some(team) = Team::remembering()? else {
        return Ok(());
    };
    team.ask_until_injected(QUESTION)?;
    for prompt in [
        "Paint the garden shed green, please.",
        "thanks",
        "yes, go on",
        "ok",
    ] {
        let run = team.types(prompt, &[])?;
        team.assert_injected(run.session()?, 0, &[])?;
    }
    // Nothing is injected into a subagent that asks the same question; the session that started it does get the memory.
    let session =
        team.ask_until_injected("How are failed webhooks sent again? Ask somebody. [[scenario:help]]")?;
    let requests = team.arrived(&session);
    let of_agent: Vec<_> = requests
        .iter()
        .filter(|request| request.header("x-claude-code-agent-id").is_some())
        .collect();
    assert!(!of_agent.is_empty());
    for request in of_agent {
        assert_eq!(
            injected(request)?,
            [],
            "text was injected into a subagent request"
        );
    }
    team.assert_cache_preserved()
}

#[test]
fn after_grov_off_earlier_injections_stay_and_no_new_one_is_added() -> Result<()> {
    let Some(team) = Team::remembering()? else {
        return Ok(());
    };
    let session = team.ask_until_injected(&format!("{QUESTION} [[scenario:text]]"))?;
    let memories = injected(&team.arrived(&session)[0])?;
    let switch = |word: &str| -> Result<()> {
        let ended = team.grov().run(&[word])?;
        ensure!(ended.code() == Some(0), "grov {word}: {ended:?}");
        Ok(())
    };
    switch("off")?;
    eventually("the switch to be seen", || {
        (!team.is_injected(QUESTION).ok()?).then_some(())
    })?;
    let run = team.types(QUESTION, &[])?;
    team.assert_injected(run.session()?, 0, &[])?;
    team.types(&format!("{QUESTION} Once more."), &["--resume", &session])?;
    let count = team.assert_injected(&session, 0, &memories)?;

    switch("on")?;
    eventually("the switch to be seen", || {
        team.is_injected(QUESTION).ok()?.then_some(())
    })?;
    team.ask_until_injected(QUESTION)?;
    // The decision for the earlier prompt is final, although injection is on again.
    team.types("thanks", &["--resume", &session])?;
    team.assert_injected(&session, count, &memories)?;
    Ok(())
}

#[test]
fn the_proxy_does_not_repeat_a_memory_injected_by_a_hook() -> Result<()> {
    let Some(team) = Team::remembering()? else {
        return Ok(());
    };
    let context = format!("{OWN_TEXT_OPENING} source=\"team-memory\">\nFrom a hook.\n{OWN_TEXT_CLOSING}");
    let output =
        json!({"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": context}});
    let file = team.work.client.home().join("hook-output.json");
    fs::write(&file, output.to_string())?;
    let hook = json!({"type": "command", "command": format!("cat '{}'", file.display())});
    let folder = team.work.client.home().join(".claude");
    fs::create_dir_all(&folder)?;
    let hooks = json!({"hooks": {"UserPromptSubmit": [{"hooks": [hook]}]}});
    fs::write(folder.join("settings.json"), hooks.to_string())?;
    let run = team.types(&format!("{QUESTION} [[scenario:tools]]"), &[])?;
    for request in team.arrived(run.session()?) {
        let body = String::from_utf8_lossy(&request.body).into_owned();
        assert!(body.contains("From a hook."), "the hook did not speak: {body}");
        assert!(
            injected_blocks(&body).is_empty() && !body.contains("outbox table"),
            "{body}"
        );
    }
    team.assert_cache_preserved()
}

#[test]
fn private_text_in_a_question_is_not_stored() -> Result<()> {
    let Some(team) = Team::remembering()? else {
        return Ok(());
    };
    let prompt = format!("<private>The code word is swordfish-4711.</private> {QUESTION} [[scenario:tools]]");
    let run = team.types(&prompt, &[])?;
    let session = run.session()?;
    eventually("the prompt to be stored", || {
        let sessions = team.grov().sessions().ok()?;
        sessions
            .iter()
            .any(|known| known["client_session_id"] == session && known["prompts"] == 1)
            .then_some(())
    })?;
    for entry in fs::read_dir(&team.work.home)? {
        let path = entry?.path();
        if path.is_file() {
            let content = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
            assert!(!content.contains("swordfish"), "in {}", path.display());
        }
    }
    team.assert_cache_preserved()
}
