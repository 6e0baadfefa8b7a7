//! Secrets of every kind, planted wherever text reaches Grov: none is written, kept, told or asked about.

mod embedder;
mod hooked;
mod kinds;
mod ordinary;
mod random;
mod traces;

use crate::judge::{Court, answer};
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

/// Where the numbers begin; every run plants the same.
const START: u64 = 0x6772_6f76;

/// Makes secrets and takes note of each.
struct Gardener {
    random: Random,
    traces: Traces,
}

impl Gardener {
    fn new() -> Self {
        Self {
            random: Random::from(START),
            traces: Traces::default(),
        }
    }

    /// A new secret of a kind, with its surroundings, to be put in this place.
    fn plant(&mut self, kind: usize, place: &str) -> String {
        let secret = self.secret(kind, place);
        secret.text
    }

    /// The same on one line; `None` for a kind that takes several.
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

/// What is remembered about a kind; nobody else uses these words.
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

/// What the model does about a kind: it says secrets, writes them, and looks at files and outputs that hold some.
fn scenario(kind: usize, project: &Path, gardener: &mut Gardener) -> Result<Value> {
    let folder = project.join(format!("k{kind}"));
    fs::create_dir_all(&folder)?;
    fs::write(
        folder.join("notes.txt"),
        gardener.plant(kind, "a file that is read"),
    )?;
    fs::write(
        folder.join("log.txt"),
        gardener.plant(kind, "the output of a command"),
    )?;
    let secret = &mut |place| gardener.plant(kind, place);
    let here = |file: &str| format!("{{cwd}}/k{kind}/{file}");
    let command = format!("cat > k{kind}/.env <<'EOF'\n{}\nEOF", secret("a command"));
    // Lines that a shell runs one by one would show up in its complaints, with nothing around that tells what they are.
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

/// What the judge says of the kinds, in their order.
fn judgements(gardener: &mut Gardener) -> Result<JudgeScript> {
    let mut script = JudgeScript::default();
    for kind in 0..KINDS.len() {
        let topic = topic(kind);
        let words = |gardener: &mut Gardener, place: &str| gardener.plant(kind, place);
        let line = |gardener: &mut Gardener, place: &str| gardener.plant_on_a_line(kind, place);
        let goal = format!("Set up the {topic}: {}", words(gardener, "a goal"));
        let intent = json!({
            "goal": goal,
            "scope": [words(gardener, "a scope")],
            "constraints": [words(gardener, "a constraint of the goal")],
            "keywords": Vec::from_iter(line(gardener, "a keyword")),
        });
        let verdict = json!({
            "action": "new_task", "task_id": null, "finished": true, "goal": words(gardener, "the goal of a verdict"),
            "constraints": [words(gardener, "a constraint of a verdict")],
            "reasoning": words(gardener, "the reason of a verdict"),
        });
        let reasoning = json!({
            "reasoning_trace": [format!("The {topic} needs this: {}", words(gardener, "what was found"))],
            "decisions": [{
                "choice": format!("Keep {}", words(gardener, "a decision")),
                "reason": format!("It is {}", words(gardener, "the reason of a decision")),
            }],
            "constraints": [words(gardener, "a limit that was found")],
            "tags": Vec::from_iter(line(gardener, "a tag")),
        });
        script = script
            .with(Purpose::ExtractIntent, answer(&intent)?)
            .with(Purpose::AnalyzeTaskContext, answer(&verdict)?)
            .with(Purpose::ExtractReasoning, answer(&reasoning)?);
    }
    Ok(script)
}

/// A record for `grov memory import` with secrets in every field that is text.
fn record(kind: usize, gardener: &mut Gardener) -> String {
    let secret = &mut |place| gardener.plant(kind, place);
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

/// Secrets that are where they should not be: by that place, and by where they were planted, the kinds and one of them with
/// what stands around it.
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

    /// Fails if there are any.
    fn none(&self, traces: &Traces) -> Result<()> {
        ensure!(self.0.is_empty(), "{:#?}\nof {} secrets", self.0, traces.count());
        Ok(())
    }

    /// Looks through every file of a folder.
    fn look_through(&mut self, traces: &Traces, folder: &Path) -> Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                self.look_through(traces, &path)?;
            } else {
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

/// A court whose project has a remote with a password in it, and the daemon that is used to the talk of everybody.
fn planted_court(gardener: &mut Gardener) -> Result<Court> {
    let court = Court::new()?;
    let project = court.project();
    git(&project, &["init", "--quiet"])?;
    let remote = KINDS
        .iter()
        .position(|(kind, _)| *kind == "token in a git remote");
    let remote = gardener.plant(remote.context("no such kind")?, "the remote of the project");
    git(&project, &["remote", "add", "origin", &remote])?;
    let mut scenarios = Map::new();
    for kind in 0..KINDS.len() {
        scenarios.insert(format!("k{kind}"), scenario(kind, &project, gardener)?);
    }
    let script = json!({"scenarios": scenarios}).to_string();
    court
        .api
        .sim()
        .set_script(grov_sim::ScenarioSet::default().with_json(script.as_bytes())?);
    court.script(judgements(gardener)?);
    Ok(court)
}

/// Kinds for a test that takes long: those that are told by the words before them, and some of the others.
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

/// Has every kind worked on in a session of its own, until each is a memory.
fn work(court: &Court, daemon: &Daemon, gardener: &mut Gardener) -> Result<Vec<String>> {
    let mut sessions = Vec::new();
    for (kind, (name, _)) in KINDS.iter().enumerate() {
        let headers: Vec<(String, String)> = ["x-note", "cookie", "authorization"]
            .iter()
            .filter_map(|name| {
                let value = gardener.plant_on_a_line(kind, &format!("the header {name}"))?;
                Some(((*name).to_owned(), value))
            })
            .collect();
        let prompt = format!(
            "Set up the {}: {}\nThen go on. [[scenario:k{kind}]]",
            topic(kind),
            gardener.plant(kind, "a prompt")
        );
        let mut person = court.person_with(daemon, |mut config| {
            config.headers = headers;
            config.tools_size = 2048;
            config.system_size = 512;
            config
        })?;
        person.types(&prompt)?;
        let session = person.session.clone();
        eventually("the task to be saved", || {
            court.saved(&session).ok().filter(|saved| !saved.is_empty())
        })
        .context(*name)?;
        sessions.push(session);
    }
    Ok(sessions)
}

/// Asks about every kind, in sessions in which nobody says a secret; what arrived of that, and about how many something
/// was told, and about how many nothing was although there was time. A busy machine tells nothing, so that nobody waits.
fn ask(court: &Court, daemon: &Daemon) -> Result<(Vec<u8>, usize, usize)> {
    const ATTEMPTS: usize = 4;
    let (mut arrived, mut told, mut silent) = (Vec::new(), 0, 0);
    for kind in 0..KINDS.len() {
        for _ in 0..ATTEMPTS {
            let missed = missed(daemon)?;
            court.api.sim().clear();
            let mut person = court.person_with(daemon, |mut config| {
                config.tools_size = 2048;
                config.system_size = 512;
                config
            })?;
            person.types(&format!("How did we set up the {}?", topic(kind)))?;
            let requests = court.api.sim().messages();
            let bodies: Vec<u8> = requests
                .iter()
                .flat_map(|request| request.body.to_vec())
                .collect();
            let is_told = String::from_utf8_lossy(&bodies).contains(OWN_TEXT_OPENING);
            arrived.extend(bodies);
            if is_told {
                told += 1;
                break;
            }
            if self::missed(daemon)? == missed {
                silent += 1;
                break;
            }
        }
    }
    Ok((arrived, told, silent))
}

/// How often there was no time to say or to keep something.
fn missed(daemon: &Daemon) -> Result<u64> {
    let health = exchange(daemon.port(), &Request::new("GET", "/_grov/health"))?;
    let health: Value = serde_json::from_slice(&health.body)?;
    let counts = ["late", "not_kept"].map(|name| health["context"][name].as_u64());
    counts.into_iter().sum::<Option<u64>>().context("no counters")
}

#[test]
fn no_planted_secret_is_found_anywhere() -> Result<()> {
    let mut gardener = Gardener::new();
    let court = planted_court(&mut gardener)?;
    let records: String = (0..KINDS.len()).map(|kind| record(kind, &mut gardener)).collect();
    let file = court.project().join("records.jsonl");
    fs::write(&file, records)?;
    let daemon = court.with_model().env("GROV_LLM_DAILY_BUDGET_USD", "1000");
    let daemon = daemon.arg("--log-level").arg("trace").start()?;
    let mut leaks = Leaks::default();
    let grov = court.grov();
    let imported = grov
        .ask(&["memory", "import", file.to_str().context("no UTF-8")?])?
        .json;
    assert_eq!(imported["added"], KINDS.len(), "{imported:#}");

    let sessions = work(&court, &daemon, &mut gardener)?;
    broken(&daemon, &mut gardener)?;
    leaks.look_through(&gardener.traces, &court.home())?;
    let log = daemon.stop()?.stderr;
    assert!(!log.is_empty(), "the log says nothing at its highest level");
    leaks.look(&gardener.traces, "the log", log.as_bytes());

    let daemon = court.with_rules().arg("--log-level").arg("debug").start()?;
    let (arrived, told, silent) = ask(&court, &daemon)?;
    let traces = &gardener.traces;
    let judged: Vec<u8> = court
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
        let said = grov.run(command)?;
        assert_eq!(said.code(), Some(0), "{command:?}: {}", said.stderr);
        assert!(!said.stdout.is_empty(), "{command:?} says nothing");
        let place = format!("grov {}", command[..command.len().min(2)].join(" "));
        leaks.look(traces, &place, said.stdout.as_bytes());
        leaks.look(traces, &place, said.stderr.as_bytes());
    }
    leaks.look_through(traces, &court.home())?;
    let log = daemon.stop()?.stderr;
    leaks.look(traces, "the log", log.as_bytes());
    leaks.look_through(traces, &court.home())?;

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
        told > 0 && silent * 10 <= KINDS.len(),
        "{told} were told, {silent} not: {}",
        health.text()
    );
    Ok(())
}

/// Rules alone understand the prompts, name files, and judge what is done: a model's answers do not cover up what they cut
/// out. A model that embeds hears of it too.
#[test]
fn no_planted_secret_is_found_where_rules_understand_the_prompts() -> Result<()> {
    let mut gardener = Gardener::new();
    let court = planted_court(&mut gardener)?;
    let embedder = Embedder::start()?;
    let records: String = chosen().map(|kind| record(kind, &mut gardener)).collect();
    let file = court.project().join("records.jsonl");
    fs::write(&file, records)?;
    let file = file.to_str().context("no UTF-8")?;
    ensure!(court.grov().run(&["memory", "import", file])?.code() == Some(0));
    let daemon = court
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
        let prompt = gardener.plant(kind, "a prompt");
        let mut person = court.person(&daemon)?;
        person.types(&format!(
            "Set up the {}: {prompt}\n[[scenario:k{kind}]]",
            topic(kind)
        ))?;
        court.judged(&person.session, 1)?;
    }
    let heard = eventually("memories to be embedded", || {
        Some(embedder.heard()).filter(|heard| !heard.is_empty())
    })
    .with_context(|| daemon.log())?;
    leaks.look_through(&gardener.traces, &court.home())?;
    let log = daemon.stop()?.stderr;
    leaks.look(&gardener.traces, "the log", log.as_bytes());
    leaks.look_through(&gardener.traces, &court.home())?;
    leaks.look(&gardener.traces, "what is embedded", &heard);
    leaks.look(&gardener.traces, "what is embedded later", &embedder.heard());
    leaks.none(&gardener.traces)
}

/// The model judges every action and every prompt while rules find what it is asked about.
#[test]
fn no_planted_secret_is_in_a_question_about_what_the_agent_did() -> Result<()> {
    let mut gardener = Gardener::new();
    let court = planted_court(&mut gardener)?;
    court.script(JudgeScript::default());
    let mut daemon = court.with_model().env("GROV_LLM_DAILY_BUDGET_USD", "1000");
    for (name, value) in [("GROV_DRIFT_ENABLED", "true"), ("GROV_DRIFT_CHECK_INTERVAL", "1")] {
        daemon = daemon.env(name, value);
    }
    let daemon = daemon.start()?;
    for kind in chosen() {
        let prompt = gardener.plant(kind, "a prompt");
        let mut person = court.person(&daemon)?;
        // The secret is the first that is said: the goal, its scope and its words are made of it.
        person.types(&format!(
            "{prompt}\nSet up the {}. [[scenario:k{kind}]]",
            topic(kind)
        ))?;
    }
    let questions = || court.judge.sim().requests();
    eventually("the judge to be asked", || {
        (questions().len() >= chosen().count()).then_some(())
    })?;
    daemon.stop()?;
    let mut leaks = Leaks::default();
    for request in questions() {
        leaks.look(&gardener.traces, "the questions to the judge", &request.body);
    }
    leaks.look_through(&gardener.traces, &court.home())?;
    leaks.none(&gardener.traces)
}

/// Requests that are no conversation: a body that is no JSON, an address with secrets.
fn broken(daemon: &Daemon, gardener: &mut Gardener) -> Result<()> {
    for kind in 0..KINDS.len() {
        let body = format!(
            "{{\"messages\": [ {}",
            gardener.plant(kind, "a body that is no JSON")
        );
        exchange(daemon.port(), &Request::new("POST", "/v1/messages").body(body))?;
    }
    Ok(())
}
