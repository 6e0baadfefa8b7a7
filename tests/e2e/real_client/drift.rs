//! Drift with the real client: an agent that leaves its goal is corrected once, in the very next request. An agent that
//! stays on its goal is never corrected.

mod correction;
mod model_judge;
mod on_goal;
mod review;
mod rounds;
mod survival;
mod user_commands;

use crate::injected::{InjectedText, assert_cache_preserved, injected};
use crate::upstream::Upstream;
use crate::work::Work;
use anyhow::{Context, Result, bail, ensure};
use grov_memory::estimated_tokens;
use grov_sim::{RecordedRequest, ScenarioSet};
use grov_tests::{ClientRun, Daemon, Grov, Request, ToolUse, WireTap, eventually, exchange, tool_uses};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

/// The prompt of most stories.
const GOAL: &str =
    "Fix the auth bug in src/auth/token.ts: tokens are still accepted after they have expired.";

/// The same with a constraint.
const LIMITED: &str = "Fix the auth bug in src/auth/token.ts: tokens are still accepted after they have expired. \
    Don't touch src/styles.";

/// The maximum length of one injected text, in tokens.
const MAX_TOKENS: usize = 600;

/// A small web application in which edits in one place are unrelated to the others.
const FILES: [(&str, &str); 12] = [
    ("src/auth/token.ts", TOKEN),
    ("src/auth/token.test.ts", TOKEN_TEST),
    ("src/auth/session.ts", SESSION),
    ("src/styles/theme.css", ":root {\n  --primary: #0055ff;\n}\n"),
    ("src/styles/header.css", ".header {\n  height: 48px;\n}\n"),
    ("src/styles/footer.css", ".footer {\n  height: 32px;\n}\n"),
    ("src/styles/print.css", "@page {\n  margin: 1cm;\n}\n"),
    (
        "src/components/Button.tsx",
        "export const Button = () => <button className=\"primary\" />;\n",
    ),
    (
        "src/db/schema.sql",
        "CREATE TABLE tokens (\n  id TEXT PRIMARY KEY\n);\n",
    ),
    ("CHANGELOG.md", "# Changelog\n\n## Unreleased\n"),
    (
        "package.json",
        "{\n  \"name\": \"shop\",\n  \"scripts\": {\"test\": \"vitest run\"}\n}\n",
    ),
    // A substitute for the test runner.
    ("node_modules/.bin/vitest", "#!/bin/sh\necho \"1 passed\"\n"),
];

const TOKEN: &str = "import { now } from './session';

export interface Token {
  user: string;
  expires: number;
}

export function isValid(token: Token): boolean {
  return token.user !== '';
}
";

const TOKEN_TEST: &str = "import { isValid } from './token';

test('a token without a user is not valid', () => {
  expect(isValid({ user: '', expires: 1 })).toBe(false);
});
";

const SESSION: &str = "export const now = (): number => Date.now();
export const lifetime = 3600;
";

/// What the model says and does in one step.
fn step(blocks: &[Value]) -> Value {
    json!({"blocks": blocks})
}

fn says(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn calls(name: &str, input: &Value) -> Value {
    json!({"type": "tool_use", "name": name, "input": input})
}

fn reads(file: &str) -> Value {
    calls("Read", &json!({"file_path": format!("{{cwd}}/{file}")}))
}

fn edits(file: &str, old: &str, new: &str) -> Value {
    let path = format!("{{cwd}}/{file}");
    calls(
        "Edit",
        &json!({"file_path": path, "old_string": old, "new_string": new}),
    )
}

fn writes(file: &str, content: &str) -> Value {
    calls(
        "Write",
        &json!({"file_path": format!("{{cwd}}/{file}"), "content": content}),
    )
}

fn runs(command: &str) -> Value {
    calls("Bash", &json!({"command": command, "description": "Run it"}))
}

/// The repair that the prompt asks for.
fn repairs() -> Value {
    edits(
        "src/auth/token.ts",
        "return token.user !== '';",
        "return token.user !== '' && token.expires > now();",
    )
}

/// Work on colours, which the prompt does not ask for.
fn recolours() -> Value {
    edits("src/styles/theme.css", "#0055ff", "#ff5500")
}

/// The requested repair, then unrelated colour changes, then `then`.
fn repairs_then_drifts(then: impl IntoIterator<Item = Value>) -> Vec<Value> {
    let looks = [
        "src/auth/token.ts",
        "src/styles/theme.css",
        "src/styles/header.css",
    ]
    .map(reads);
    let begins = [step(&looks), step(&[repairs()]), step(&[recolours()])];
    begins.into_iter().chain(then).collect()
}

fn tests() -> Value {
    runs("node_modules/.bin/vitest run src/auth/token.test.ts")
}

/// A command that ends when the test releases it.
fn waits_for(gate: &str) -> Value {
    runs(&format!("until [ -e ../{gate} ]; do sleep 0.1; done"))
}

/// A project, a client in it, and a tap between client and daemon.
struct Story {
    work: Work,
    tap: WireTap,
    environment: Vec<(String, String)>,
    /// Texts that came too late, in daemons that have crashed since.
    skipped_injections: u64,
}

/// Plays a story until no text in it came too late: a busy machine may miss the deadline of an injection, and counts
/// that.
fn retry_until_on_time<T>(
    begin: impl Fn() -> Result<Option<Story>>,
    play: impl Fn(&mut Story) -> Result<T>,
) -> Result<Option<(Story, T)>> {
    for _ in 0..8 {
        let Some(mut story) = begin()? else {
            return Ok(None);
        };
        let played = play(&mut story);
        if story.skipped_injections()? == 0 {
            return Ok(Some((story, played?)));
        }
    }
    bail!("this machine is too busy")
}

impl Story {
    /// `None` if the client is not installed and not required.
    fn begin(steps: &[Value]) -> Result<Option<Self>> {
        Self::with(steps, &[])
    }

    /// The same with additional environment variables for the daemon.
    fn with(steps: &[Value], environment: &[(&str, String)]) -> Result<Option<Self>> {
        let given: Vec<(&str, &str)> = environment
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let Some(work) = Work::against(Upstream::start()?, &given)? else {
            return Ok(None);
        };
        let project = work.client.project();
        for (name, content) in FILES {
            let file = project.join(name);
            fs::create_dir_all(file.parent().context("a file without a folder")?)?;
            fs::write(&file, content)?;
        }
        run(&project, "chmod", &["+x", "node_modules/.bin/vitest"])?;
        fs::write(project.join(".gitignore"), "node_modules\n")?;
        run(&project, "git", &["init", "--quiet"])?;
        run(&project, "git", &["add", "."])?;
        let person = ["-c", "user.name=Dev", "-c", "user.email=dev@example.org"];
        run(
            &project,
            "git",
            &[&person[..], &["commit", "--quiet", "-m", "Begin"]].concat(),
        )?;
        let story = Self {
            tap: WireTap::before(work.daemon.port())?,
            work,
            environment: environment
                .iter()
                .map(|(name, value)| ((*name).to_owned(), value.clone()))
                .collect(),
            skipped_injections: 0,
        };
        story.plays(steps)?;
        Ok(Some(story))
    }

    /// Sets the model's script. Prompts do not mention it, so that only the story itself is judged.
    fn plays(&self, steps: &[Value]) -> Result<()> {
        self.plays_with(steps, &json!({}))
    }

    /// The same, with scenarios for subagents.
    fn plays_with(&self, steps: &[Value], others: &Value) -> Result<()> {
        let mut scenarios = others.clone();
        scenarios["main"] = json!({"steps": steps});
        let script = json!({"default": "main", "scenarios": scenarios});
        let set = ScenarioSet::default().with_json(script.to_string().as_bytes())?;
        self.work.upstream.sim().set_script(set);
        Ok(())
    }

    /// Types a prompt and waits for the end of the turn. Returns the session.
    fn types(&self, prompt: &str, arguments: &[&str]) -> Result<String> {
        let run: ClientRun = self.work.client.prompt(&self.tap.url(), prompt, arguments)?;
        run.result()?;
        Ok(run.session()?.to_owned())
    }

    /// Types a prompt and returns when the client waits at a gate.
    fn begins(&self, prompt: &str) -> Result<Running> {
        let process = self
            .work
            .client
            .command(&self.tap.url(), prompt, &[])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let mut running = Running {
            process,
            session: String::new(),
        };
        running.session = eventually("the session", || {
            let requests = self.work.upstream.sim().messages();
            requests
                .first()?
                .header("x-claude-code-session-id")
                .map(str::to_owned)
        })?;
        Ok(running)
    }

    /// Releases a waiting command.
    fn opens_gate(&self, gate: &str) -> Result<()> {
        let folder = self.work.client.project();
        fs::write(folder.with_file_name(gate), "")?;
        Ok(())
    }

    /// Kills the daemon and starts another one in its place.
    fn crash_and_restart(&mut self) -> Result<()> {
        self.skipped_injections = self.skipped_injections()?;
        let daemon = &self.work.daemon;
        daemon.signal("KILL")?;
        let port = daemon.port();
        eventually("the port to be free", || {
            TcpListener::bind(("127.0.0.1", port)).ok()
        })?;
        let builder = Daemon::on(&self.work.home, &self.work.upstream.url()).port(port);
        self.work.daemon = self
            .environment
            .iter()
            .fold(builder, |builder, (name, value)| builder.env(name, value))
            .start()?;
        Ok(())
    }

    /// Injections that were skipped because they were late or could not be stored in time, and requests forwarded
    /// before their history was loaded.
    fn skipped_injections(&self) -> Result<u64> {
        let health = exchange(self.work.daemon.port(), &Request::new("GET", "/_grov/health"))?;
        let health: Value = serde_json::from_slice(&health.body)?;
        let count = |name: &str| health["context"][name].as_u64();
        let skipped_injections =
            ["late", "not_kept", "not_loaded", "not_located"].map(|name| count(name).context("no counter"));
        Ok(skipped_injections.into_iter().sum::<Result<u64>>()? + self.skipped_injections)
    }

    fn grov(&self) -> Grov {
        let grov = self.work.grov();
        self.environment
            .iter()
            .fold(grov, |grov, (name, value)| grov.env(name, value))
    }

    /// Runs a `grov` command, which must succeed.
    fn commands(&self, arguments: &[&str]) -> Result<()> {
        let ended = self.grov().run(arguments)?;
        ensure!(ended.code() == Some(0), "grov {arguments:?}: {ended:?}");
        Ok(())
    }

    /// The requests of a session's main conversation, in order.
    fn arrived(&self, session: &str) -> Vec<Arc<RecordedRequest>> {
        let mut requests = self.work.upstream.sim().messages();
        requests.retain(|request| {
            request.header("x-claude-code-session-id") == Some(session)
                && request.header("x-claude-code-agent-id").is_none()
        });
        requests
    }

    /// The texts injected in a session. Asserts that each one stays in its place in every later request, that no two
    /// are equal, that none is too long, and that none caused a cache miss.
    fn injected(&self, session: &str) -> Result<Vec<InjectedText>> {
        let mut so_far: Vec<InjectedText> = Vec::new();
        for (number, request) in self.arrived(session).iter().enumerate() {
            let now = injected(request)?;
            ensure!(
                now.starts_with(&so_far),
                "request {number} says {now:#?}\nand not any more {so_far:#?}"
            );
            so_far = now;
        }
        let mut words = BTreeSet::new();
        for said in &so_far {
            let text = said.text()?;
            assert!(estimated_tokens(&text) <= MAX_TOKENS, "{text}");
            // The client uses this marker next to tool results for text that the user did not type.
            let in_loop = said.follows.starts_with("toolu_");
            assert_eq!(text.starts_with("<system-reminder>"), in_loop, "{text}");
            assert_eq!(text.trim_end().ends_with("</system-reminder>"), in_loop, "{text}");
            let plain: Vec<String> = text
                .lines()
                .filter(|line| !line.starts_with('<'))
                .map(str::to_owned)
                .collect();
            assert!(words.insert(plain), "this is said twice: {text}");
        }
        assert_cache_preserved(&self.tap, &self.work.upstream)?;
        Ok(so_far)
    }

    /// The number of the first request, from 0, that contains the `at`-th injected text.
    fn first_request_with(&self, session: &str, at: usize) -> Result<usize> {
        let requests = self.arrived(session);
        let numbers: Vec<usize> = requests
            .iter()
            .map(|request| Ok(injected(request)?.len()))
            .collect::<Result<_>>()?;
        let first = numbers.iter().position(|injected| *injected > at);
        first.with_context(|| format!("too few injected texts: {numbers:?}"))
    }

    /// Asserts that nothing was injected in a session and that no drift was recorded.
    fn is_content(&self, session: &str) -> Result<()> {
        for step in self.steps(session)? {
            let score = step["drift_score"].as_u64();
            // Actions of a subagent are not judged unless they violate a constraint.
            let is_unjudged = score.is_none() && !step["agent_id"].is_null();
            assert!(is_unjudged || score >= Some(8), "{step:#}");
        }
        assert_eq!(self.events(session)?, Vec::<Value>::new());
        assert_eq!(self.injected(session)?, []);
        assert_eq!(self.mode(session)?, "normal");
        Ok(())
    }

    /// The tool calls in the client's transcript.
    fn done(&self, session: &str) -> Result<Vec<ToolUse>> {
        let mut calls = tool_uses(&self.work.client.home())?;
        calls.retain(|call| call.session == session);
        Ok(calls)
    }

    /// The id of the `at`-th change of a file, from 0.
    fn id_of_change(&self, session: &str, file: &str, at: usize) -> Result<String> {
        let mut calls = self.done(session)?;
        calls.retain(|call| {
            ["Edit", "Write"].contains(&call.name.as_str())
                && call.input["file_path"]
                    .as_str()
                    .is_some_and(|path| path.ends_with(file))
        });
        let call = calls.get(at).with_context(|| format!("{file} was not changed"))?;
        Ok(call.id.clone())
    }

    /// The steps that are not in the drift log, once each tool call is a step.
    fn steps(&self, session: &str) -> Result<Vec<Value>> {
        let calls = self.done(session)?.len();
        let mut counted = 0;
        let steps = eventually("every call to be recorded", || {
            let steps = self.grov().steps(session).ok()?;
            counted = steps.len();
            (counted == calls).then_some(steps)
        });
        let mut steps = steps.with_context(|| format!("{counted} steps of {calls} calls"))?;
        let events = self.events(session)?;
        steps.retain(|step| events.iter().all(|event| event["id"] != step["id"]));
        Ok(steps)
    }

    /// The entries of the drift log for a session, oldest first.
    fn events(&self, session: &str) -> Result<Vec<Value>> {
        let answer = self.grov().run_json(&["drift", "log", "--session", session])?;
        let events = answer.json["events"].as_array().cloned();
        events.with_context(|| format!("no events in {:#}", answer.json))
    }

    /// The drift log once it has `count` entries.
    fn wait_for_events(&self, session: &str, count: usize) -> Result<Vec<Value>> {
        let mut newest = Ok(Vec::new());
        let found = eventually("drift to be noticed", || {
            newest = self.events(session);
            newest
                .as_ref()
                .is_ok_and(|events| events.len() >= count)
                .then_some(())
        });
        let newest = newest?;
        found.with_context(|| format!("the log holds {newest:#?}"))?;
        Ok(newest)
    }

    /// The drift mode of the active task: `normal`, `drifted` or `forced`.
    fn mode(&self, session: &str) -> Result<String> {
        let mut tasks = self.grov().sessions()?;
        tasks.retain(|task| task["client_session_id"] == session);
        tasks.sort_by_key(|task| task["start_time"].to_string());
        let newest = tasks.last().context("no such session")?;
        Ok(text(newest, "session_mode").to_owned())
    }

    fn wait_for_mode(&self, session: &str, mode: &str) -> Result<()> {
        let mut newest = String::new();
        let found = eventually("another mode", || {
            newest = self.mode(session).ok()?;
            (newest == mode).then_some(())
        });
        found.with_context(|| {
            format!(
                "the session is {newest}, not {mode}: {:#?}",
                self.grov().sessions()
            )
        })
    }
}

/// A running client. Killed when dropped.
struct Running {
    process: Child,
    session: String,
}

impl Running {
    /// Waits for the client to end and requires success.
    fn ends(&mut self) -> Result<()> {
        let status = eventually("the client to end", || self.process.try_wait().ok().flatten())?;
        ensure!(status.success(), "the client gave up: {status}");
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn run(directory: &Path, program: &str, arguments: &[&str]) -> Result<()> {
    let status = Command::new(program)
        .args(arguments)
        .current_dir(directory)
        .status()?;
    ensure!(status.success(), "{program} {arguments:?}");
    Ok(())
}

/// Whether a step or an event is about a file.
fn is_about(entry: &Value, file: &str) -> bool {
    let files = entry["files"].as_array().into_iter().flatten();
    files.filter_map(Value::as_str).any(|path| path.ends_with(file))
}

fn text<'a>(entry: &'a Value, key: &str) -> &'a str {
    entry[key].as_str().unwrap_or_default()
}
