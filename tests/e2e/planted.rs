//! Plants secrets of every kind wherever text reaches Grov. None may be stored, injected or sent to the judge.

mod embedder;
mod hooked;
mod kinds;
mod ordinary;
mod random;
mod traces;

use crate::judge::{TestHome, answer};
use anyhow::{Context, Result, ensure};
use embedder::Embedder;
use grov_domain::{OWN_TEXT_OPENING, Purpose};
use grov_sim::JudgeScript;
use grov_tests::{Daemon, Request, eventually, exchange};
use kinds::{KINDS, Secret};
use random::Random;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;
use traces::{Planted, Traces};

/// The seed of the random numbers; every run plants the same secrets.
const START: u64 = 0x6772_6f76;

/// Makes secrets and records each one.
struct SecretPlanter {
    random: Random,
    traces: Traces,
}

impl SecretPlanter {
    fn new() -> Self {
        Self {
            random: Random::from(START),
            traces: Traces::default(),
        }
    }

    /// A new secret of a kind, in its usual context, recorded as planted in `place`.
    fn plant(&mut self, kind: usize, place: &str) -> String {
        let secret = self.secret(kind, place);
        secret.text
    }

    /// The same on one line; `None` for a kind that needs several lines.
    fn plant_on_a_line(&mut self, kind: usize, place: &str) -> Option<String> {
        let secret = Secret::of(&KINDS[kind], &mut self.random);
        if !secret.is_one_line() {
            return None;
        }
        self.note(&secret, place);
        Some(secret.text.trim_end().to_owned())
    }

    fn secret(&mut self, kind: usize, place: &str) -> Secret {
        let secret = Secret::of(&KINDS[kind], &mut self.random);
        self.note(&secret, place);
        secret
    }

    fn note(&mut self, secret: &Secret, place: &str) {
        let planted = Planted {
            kind: secret.kind,
            place: place.to_owned(),
        };
        self.traces.plant(planted, &secret.parts);
    }
}

/// The subject of a kind's memory, in words that occur nowhere else.
fn topic(kind: usize) -> String {
    let name = KINDS[kind].0.to_lowercase();
    let word: String = ["bo", "ka", "lu", "mi", "ne", "po", "ra", "su", "ti", "vo"]
        .iter()
        .cycle()
        .skip(kind % 10)
        .step_by(kind / 10 + 1)
        .take(4)
        .copied()
        .collect();
    format!("{word} gateway with its {name}")
}

/// The model's scenario for a kind: its texts, tool inputs and tool results contain secrets.
fn scenario(kind: usize, project: &Path, planter: &mut SecretPlanter) -> Result<Value> {
    let folder = project.join(format!("k{kind}"));
    fs::create_dir_all(&folder)?;
    fs::write(
        folder.join("notes.txt"),
        planter.plant(kind, "a file that is read"),
    )?;
    fs::write(
        folder.join("log.txt"),
        planter.plant(kind, "the output of a command"),
    )?;
    let secret = &mut |place| planter.plant(kind, place);
    let here = |file: &str| format!("{{cwd}}/k{kind}/{file}");
    let command = format!("cat > k{kind}/.env <<'EOF'\n{}\nEOF", secret("a command"));
    // A shell that ran these lines one by one would quote them in its error messages, without the context that
    // identifies the secret.
    let alone = match secret("a command of its own") {
        lines if lines.trim_end().contains('\n') => "true".to_owned(),
        line => format!("false && {line}"),
    };
    let named = format!("{}.txt", secret("the name of a file"));
    let talk = |text: String| json!({"type": "text", "text": text});
    let call = |name: &str, input: Value| json!({"type": "tool_use", "name": name, "input": input});
    Ok(json!({"steps": [
        {"blocks": [
            {"type": "thinking", "thinking": format!("I see {}", secret("thinking"))},
            talk(format!("I decided to set up the gateway because it is needed: {}", secret("words before an action"))),
            call("Bash", json!({"command": command})),
            call("Bash", json!({"command": format!("cat k{kind}/log.txt")})),
            call("Bash", json!({"command": alone})),
            call("Read", json!({"file_path": here("notes.txt")})),
            call("Read", json!({"file_path": here(&named)})),
            call("Write", json!({"file_path": here("config"), "content": secret("a file that is written")})),
        ]},
        {"blocks": [
            talk(secret("words between actions")),
            call("Edit", json!({
                "file_path": here("config"), "old_string": secret("text that is replaced"),
                "new_string": secret("text that is put in its place"),
            })),
            call("Agent", json!({
                "description": "Look", "subagent_type": "general-purpose",
                "prompt": format!("Look at this: {} [[scenario:text]]", secret("the order to a subagent")),
            })),
        ]},
        {"blocks": [talk(format!("Done. All tests pass. Task complete. {}", secret("the last words")))]},
    ]}))
}

/// The judge's answers for the kinds, in order.
fn judgements(planter: &mut SecretPlanter) -> Result<JudgeScript> {
    let mut script = JudgeScript::default();
    for kind in 0..KINDS.len() {
        let topic = topic(kind);
        let words = |planter: &mut SecretPlanter, place: &str| planter.plant(kind, place);
        let line = |planter: &mut SecretPlanter, place: &str| planter.plant_on_a_line(kind, place);
        let goal = format!("Set up the {topic}: {}", words(planter, "a goal"));
        let intent = json!({
            "goal": goal,
            "scope": [words(planter, "a scope")],
            "constraints": [words(planter, "a constraint of the goal")],
            "keywords": Vec::from_iter(line(planter, "a keyword")),
        });
        let verdict = json!({
            "action": "new_task", "task_id": null, "finished": true, "goal": words(planter, "the goal of a verdict"),
            "constraints": [words(planter, "a constraint of a verdict")],
            "reasoning": words(planter, "the reason of a verdict"),
        });
        let reasoning = json!({
            "reasoning_trace": [format!("The {topic} needs this: {}", words(planter, "what was found"))],
            "decisions": [{
                "choice": format!("Keep {}", words(planter, "a decision")),
                "reason": format!("It is {}", words(planter, "the reason of a decision")),
            }],
            "constraints": [words(planter, "a limit that was found")],
            "tags": Vec::from_iter(line(planter, "a tag")),
        });
        script = script
            .with(Purpose::ExtractIntent, answer(&intent)?)
            .with(Purpose::AnalyzeTaskContext, answer(&verdict)?)
            .with(Purpose::ExtractReasoning, answer(&reasoning)?);
    }
    Ok(script)
}

/// A record for `grov memory import` with secrets in every field that is text.
fn record(kind: usize, planter: &mut SecretPlanter) -> String {
    let secret = &mut |place| planter.plant(kind, place);
    let record = json!({
        "id": format!("imported-{kind}"),
        "project_path": "elsewhere",
        "user": secret("an imported user"),
        "original_query": format!("The imported {}: {}", topic(kind), secret("an imported prompt")),
        "goal": format!("Import the {}: {}", topic(kind), secret("an imported goal")),
        "reasoning_trace": [secret("an imported finding")],
        "files_touched": [secret("an imported path")],
        "decisions": [{"choice": secret("an imported decision"), "reason": secret("the reason of an imported decision")}],
        "constraints": [secret("an imported constraint")],
        "tags": [secret("an imported tag")],
        "status": "complete",
        "created_at": "2026-01-02T03:04:05Z",
    });
    format!("{record}\n")
}

/// Secrets found where they must not be, by the place where they were found and the place where they were planted:
/// their kinds, and the text around one of them.
#[derive(Default)]
struct Leaks(BTreeMap<(String, String), (BTreeSet<&'static str>, String)>);

impl Leaks {
    fn look(&mut self, traces: &Traces, place: &str, content: &[u8]) {
        const AROUND: usize = 60;
        for (planted, at) in traces.found_in(content) {
            let key = (place.to_owned(), planted.place.clone());
            let (kinds, example) = self.0.entry(key).or_default();
            kinds.insert(planted.kind);
            if example.is_empty() {
                let around = &content[at.saturating_sub(AROUND)..content.len().min(at + AROUND)];
                *example = String::from_utf8_lossy(around).into_owned();
            }
        }
    }

    /// Fails if any leak was found.
    fn assert_none(&self, traces: &Traces) -> Result<()> {
        ensure!(self.0.is_empty(), "{:#?}\nof {} secrets", self.0, traces.count());
        Ok(())
    }

    /// Searches every file below a folder.
    fn look_through(&mut self, traces: &Traces, folder: &Path) -> Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                self.look_through(traces, &path)?;
            } else if path.is_file() {
                let name = path
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned();
                self.look(traces, &name, &fs::read(&path)?);
            }
        }
        Ok(())
    }
}

fn git(project: &Path, arguments: &[&str]) -> Result<()> {
    let status = Command::new("git")
        .args(arguments)
        .current_dir(project)
        .status()?;
    ensure!(status.success(), "git {arguments:?}");
    Ok(())
}

/// A test setup whose project has a git remote with a password, and whose model and judge use the scenarios of all
/// kinds.
fn planted_home(planter: &mut SecretPlanter) -> Result<TestHome> {
    let home = TestHome::new()?;
    let project = home.project();
    git(&project, &["init", "--quiet"])?;
    let remote = KINDS
        .iter()
        .position(|(kind, _)| *kind == "token in a git remote");
    let remote = planter.plant(remote.context("no such kind")?, "the remote of the project");
    git(&project, &["remote", "add", "origin", &remote])?;
    let mut scenarios = Map::new();
    for kind in 0..KINDS.len() {
        scenarios.insert(format!("k{kind}"), scenario(kind, &project, planter)?);
    }
    let script = json!({"scenarios": scenarios}).to_string();
    home.api
        .sim()
        .set_script(grov_sim::ScenarioSet::default().with_json(script.as_bytes())?);
    home.script(judgements(planter)?);
    Ok(home)
}

/// Kinds for a slow test: all those recognised by the words before them, and some of the others.
fn chosen() -> impl Iterator<Item = usize> {
    const TOLD_BY_WORDS: &[&str] = &[
        "AWS access key",
        "bearer header",
        "basic header",
        "API key header",
        "password of mysql",
        "password of sshpass",
        "password of curl",
        "RSA private key",
        "netrc entry",
        "password in JSON",
        "password in .env",
        "token in a query string",
        "basic auth in a URL",
        "GitHub personal token",
        "private words",
    ];
    let is_chosen = |kind: &usize| kind.is_multiple_of(7) || TOLD_BY_WORDS.contains(&KINDS[*kind].0);
    (0..KINDS.len()).filter(is_chosen)
}

/// Runs a session for every kind, until each has become a memory.
fn work(home: &TestHome, daemon: &Daemon, planter: &mut SecretPlanter) -> Result<Vec<String>> {
    let mut sessions = Vec::new();
    for (kind, (name, _)) in KINDS.iter().enumerate() {
        let headers: Vec<(String, String)> = ["x-note", "cookie", "authorization"]
            .iter()
            .filter_map(|name| {
                let value = planter.plant_on_a_line(kind, &format!("the header {name}"))?;
                Some(((*name).to_owned(), value))
            })
            .collect();
        let prompt = format!(
            "Set up the {}: {}\nThen go on. [[scenario:k{kind}]]",
            topic(kind),
            planter.plant(kind, "a prompt")
        );
        let mut person = home.person_with(daemon, |mut config| {
            config.headers = headers;
            config.tools_size = 2048;
            config.system_size = 512;
            config
        })?;
        person.types(&prompt)?;
        let session = person.session.clone();
        eventually("the task to be saved", || {
            home.saved(&session).ok().filter(|saved| !saved.is_empty())
        })
        .context(*name)?;
        sessions.push(session);
    }
    Ok(sessions)
}

/// Asks about every kind in new sessions without secrets. Returns the request bodies, for how many questions a memory
/// was injected, and for how many none was although there was time. An injection skipped on a busy machine is tried
/// again.
fn ask(home: &TestHome, daemon: &Daemon) -> Result<(Vec<u8>, usize, usize)> {
    const ATTEMPTS: usize = 4;
    let (mut arrived, mut answered, mut silent) = (Vec::new(), 0, 0);
    for kind in 0..KINDS.len() {
        for _ in 0..ATTEMPTS {
            let skipped_injections = skipped_injections(daemon)?;
            home.api.sim().clear();
            let mut person = home.person_with(daemon, |mut config| {
                config.tools_size = 2048;
                config.system_size = 512;
                config
            })?;
            person.types(&format!("How did we set up the {}?", topic(kind)))?;
            let requests = home.api.sim().messages();
            let bodies: Vec<u8> = requests
                .iter()
                .flat_map(|request| request.body.to_vec())
                .collect();
            let is_injected = String::from_utf8_lossy(&bodies).contains(OWN_TEXT_OPENING);
            arrived.extend(bodies);
            if is_injected {
                answered += 1;
                break;
            }
            if self::skipped_injections(daemon)? == skipped_injections {
                silent += 1;
                break;
            }
        }
    }
    Ok((arrived, answered, silent))
}

/// How often an injection was late or could not be stored.
fn skipped_injections(daemon: &Daemon) -> Result<u64> {
    let health = exchange(daemon.port(), &Request::new("GET", "/_grov/health"))?;
    let health: Value = serde_json::from_slice(&health.body)?;
    let counts = ["late", "not_kept"].map(|name| health["context"][name].as_u64());
    counts.into_iter().sum::<Option<u64>>().context("no counters")
}

#[test]
fn no_planted_secret_leaks_with_a_model_as_judge() -> Result<()> {
    let mut planter = SecretPlanter::new();
    let home = planted_home(&mut planter)?;
    let records: String = (0..KINDS.len()).map(|kind| record(kind, &mut planter)).collect();
    let file = home.project().join("records.jsonl");
    fs::write(&file, records)?;
    let daemon = home.with_model().env("GROV_LLM_DAILY_BUDGET_USD", "1000");
    let daemon = daemon.arg("--log-level").arg("trace").start()?;
    let mut leaks = Leaks::default();
    let grov = home.grov();
    let imported = grov
        .run_json(&[
            "memory",
            "import",
            file.to_str().context("the path is not UTF-8")?,
        ])?
        .json;
    assert_eq!(imported["added"], KINDS.len(), "{imported:#}");

    let sessions = work(&home, &daemon, &mut planter)?;
    broken(&daemon, &mut planter)?;
    leaks.look_through(&planter.traces, &home.path())?;
    let log = daemon.stop()?.stderr;
    assert!(!log.is_empty(), "the log is empty at its highest level");
    leaks.look(&planter.traces, "the log", log.as_bytes());

    let daemon = home.with_rules().arg("--log-level").arg("debug").start()?;
    let (arrived, answered, silent) = ask(&home, &daemon)?;
    let traces = &planter.traces;
    let judged: Vec<u8> = home
        .judge
        .sim()
        .requests()
        .iter()
        .flat_map(|request| request.body.to_vec())
        .collect();
    leaks.look(traces, "the questions to the judge", &judged);
    leaks.look(traces, "the text for the agent", &arrived);
    let metrics = exchange(daemon.port(), &Request::new("GET", "/_grov/metrics"))?;
    leaks.look(traces, "the metrics", &metrics.body);
    let health = exchange(daemon.port(), &Request::new("GET", "/_grov/health"))?;
    leaks.look(traces, "the health answer", &health.body);
    let mut commands: Vec<Vec<&str>> = vec![
        vec!["memory", "export"],
        vec!["memory", "list", "--json"],
        vec!["memory", "list"],
        vec!["memory", "search", "gateway", "--why", "--json"],
        vec!["memory", "show", "imported-1"],
        vec!["memory", "stats", "--json"],
        vec!["status", "--json"],
        vec!["proxy-status", "--json"],
        vec!["usage", "--json"],
        vec!["store", "stats", "--json"],
    ];
    commands.extend(sessions.iter().map(|session| vec!["steps", session, "--json"]));
    for command in &commands {
        let ended = grov.run(command)?;
        assert_eq!(ended.code(), Some(0), "{command:?}: {}", ended.stderr);
        assert!(!ended.stdout.is_empty(), "{command:?} has no output");
        let place = format!("grov {}", command[..command.len().min(2)].join(" "));
        leaks.look(traces, &place, ended.stdout.as_bytes());
        leaks.look(traces, &place, ended.stderr.as_bytes());
    }
    leaks.look_through(traces, &home.path())?;
    let log = daemon.stop()?.stderr;
    leaks.look(traces, "the log", log.as_bytes());
    leaks.look_through(traces, &home.path())?;

    assert!(
        KINDS.len() >= 40 && traces.count() >= 500,
        "{} secrets",
        traces.count()
    );
    assert!(
        leaks.0.is_empty(),
        "{:#?}\nof {} secrets",
        leaks.0,
        traces.count()
    );
    assert!(
        answered > 0 && silent * 10 <= KINDS.len(),
        "text was injected for {answered} questions, not for {silent}: {}",
        health.text()
    );
    Ok(())
}

/// Rules alone handle the prompts and the judgements, so that a model's answers cannot hide a secret that the rules let
/// through. A server that embeds receives the texts too.
#[test]
fn no_planted_secret_leaks_with_rules_as_judge() -> Result<()> {
    let mut planter = SecretPlanter::new();
    let home = planted_home(&mut planter)?;
    let embedder = Embedder::start()?;
    let records: String = chosen().map(|kind| record(kind, &mut planter)).collect();
    let file = home.project().join("records.jsonl");
    fs::write(&file, records)?;
    let file = file.to_str().context("the path is not UTF-8")?;
    ensure!(home.grov().run(&["memory", "import", file])?.code() == Some(0));
    let daemon = home
        .with_rules()
        .env("GROV_DRIFT_ENABLED", "true")
        .env("GROV_EMBEDDER_PROVIDER", "openai")
        .env("GROV_EMBEDDER_BASE_URL", embedder.url())
        .env("GROV_EMBEDDER_MODEL", "simulated")
        .arg("--log-level")
        .arg("trace")
        .start()?;
    let mut leaks = Leaks::default();
    for kind in chosen() {
        let prompt = planter.plant(kind, "a prompt");
        let mut person = home.person(&daemon)?;
        person.types(&format!(
            "Set up the {}: {prompt}\n[[scenario:k{kind}]]",
            topic(kind)
        ))?;
        home.judged(&person.session, 1)?;
    }
    let embedded = eventually("memories to be embedded", || {
        Some(embedder.requests()).filter(|embedded| !embedded.is_empty())
    })
    .with_context(|| daemon.log())?;
    leaks.look_through(&planter.traces, &home.path())?;
    let log = daemon.stop()?.stderr;
    leaks.look(&planter.traces, "the log", log.as_bytes());
    leaks.look_through(&planter.traces, &home.path())?;
    leaks.look(&planter.traces, "what is embedded", &embedded);
    leaks.look(&planter.traces, "what is embedded later", &embedder.requests());
    leaks.assert_none(&planter.traces)
}

/// The model judges every action and every prompt that the rules are suspicious about.
#[test]
fn no_planted_secret_is_in_a_question_about_drift() -> Result<()> {
    let mut planter = SecretPlanter::new();
    let home = planted_home(&mut planter)?;
    home.script(JudgeScript::default());
    let mut daemon = home.with_model().env("GROV_LLM_DAILY_BUDGET_USD", "1000");
    for (name, value) in [("GROV_DRIFT_ENABLED", "true"), ("GROV_DRIFT_CHECK_INTERVAL", "1")] {
        daemon = daemon.env(name, value);
    }
    let daemon = daemon.start()?;
    for kind in chosen() {
        let prompt = planter.plant(kind, "a prompt");
        let mut person = home.person(&daemon)?;
        // The secret comes first in the prompt: the goal, its scope and its keywords are made from it.
        person.types(&format!(
            "{prompt}\nSet up the {}. [[scenario:k{kind}]]",
            topic(kind)
        ))?;
    }
    let questions = || home.judge.sim().requests();
    eventually("the judge to be asked", || {
        (questions().len() >= chosen().count()).then_some(())
    })?;
    daemon.stop()?;
    let mut leaks = Leaks::default();
    for request in questions() {
        leaks.look(&planter.traces, "the questions to the judge", &request.body);
    }
    leaks.look_through(&planter.traces, &home.path())?;
    leaks.assert_none(&planter.traces)
}

/// Requests that are not a conversation: a body that is not JSON, a URL with secrets.
fn broken(daemon: &Daemon, planter: &mut SecretPlanter) -> Result<()> {
    for kind in 0..KINDS.len() {
        let body = format!(
            "{{\"messages\": [ {}",
            planter.plant(kind, "a body that is no JSON")
        );
        exchange(daemon.port(), &Request::new("POST", "/v1/messages").body(body))?;
    }
    Ok(())
}
