//! Limits that only a model understands, with the real client: its action is stopped, and nothing else of the session changes.

use super::{bash, call, read, results, script, stopped};
use crate::injected::{assert_cache_preserved, injected};
use crate::judge::{OWN_KEY, all_settings, answer, query};
use crate::upstream::Upstream;
use crate::work::Work;
use anyhow::{Context, Result, ensure};
use grov_domain::Purpose;
use grov_sim::JudgeScript;
use grov_tests::{ClientRun, Daemon, RealClient, Terminal, WireTap, eventually};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// No rule finds a limit here: it names no file, and forbids nothing in usual words.
const PROMPT: &str =
    "Show the discount on the cart page. Whatever the bookkeepers look after is their business, not ours.";
/// What the user means.
const WORDS: &str = "Whatever the bookkeepers look after is their business, not ours";
const SPARED: &str = "ledger/totals.ts";
const BEFORE: &str = "export const total = 1;\n";
const FILES: [(&str, &str); 2] = [
    ("src/cart.ts", "export const cart = () => total;\n"),
    (SPARED, BEFORE),
];
/// The place of the action that breaks the limit among the calls.
const BREACH: usize = 3;

fn edit(file: &str, old: &str, new: &str) -> Value {
    call(
        "Edit",
        json!({"file_path": format!("{{cwd}}/{file}"), "old_string": old, "new_string": new}),
    )
}

/// The agent reads, waits for the test, leaves the limit, and does what it was asked for.
fn calls() -> Vec<Value> {
    vec![
        read("src/cart.ts"),
        read(SPARED),
        bash("until [ -e ../read ]; do sleep 0.1; done"),
        edit(SPARED, "total = 1", "total = 0.9"),
        edit("src/cart.ts", "total;", "total * 0.9;"),
        bash("cat src/cart.ts"),
    ]
}

/// The model's reading of the prompt.
fn limits() -> Value {
    let limit = json!({
        "words": WORDS, "files": ["ledger/**", "**/*ledger*"], "only": [], "except": [], "commands": [], "adds": [],
        "removes": [],
    });
    json!({"limits": [limit]})
}

/// An API whose model plays this, without a word of it in the prompt.
fn api() -> Result<Upstream> {
    let mut script = script(&calls());
    script["default"] = json!("work");
    Upstream::with(&script)
}

fn judge_says(limits: &Value) -> Result<Upstream> {
    let judge = Upstream::start()?;
    let intent = json!({
        "goal": "Show the discount on the cart page", "scope": [], "constraints": [], "keywords": ["discount", "cart"],
    });
    judge.sim().set_judge(
        JudgeScript::default()
            .with(Purpose::ExtractIntent, answer(&intent)?)
            .with(Purpose::ReadLimits, answer(limits)?),
    );
    Ok(judge)
}

/// A project, the client with hooks in it, the proxy, and a judge.
struct Session {
    work: Work,
    judge: Upstream,
    tap: WireTap,
}

impl Session {
    fn begin(limits: &Value) -> Result<Option<Self>> {
        let judge = judge_says(limits)?;
        let Some(work) = Work::against(api()?, &given(&all_settings(&judge)))? else {
            return Ok(None);
        };
        Self::with(work, judge).map(Some)
    }

    /// The same with the client itself as the judge, as `llm.provider = "claude_cli"` sets it up.
    fn judged_by_the_client(limits: &Value) -> Result<Option<Self>> {
        let judge = judge_says(limits)?;
        let Some(client) = RealClient::installed()? else {
            return Ok(None);
        };
        let home = client.home().join(".grov");
        fs::create_dir(&home)?;
        let config = format!(
            "[llm]\nprovider = 'claude_cli'\napi_key = '{OWN_KEY}'\nbase_url = '{}'\ntimeout = '55s'\n",
            judge.url()
        );
        fs::write(home.join("config.toml"), config)?;
        let folder = client
            .program()
            .parent()
            .context("the client is in no directory")?;
        let path = format!("{}:/usr/bin:/bin", folder.display());
        let upstream = api()?;
        let daemon = Daemon::on(&home, &upstream.url()).env("PATH", path).start()?;
        let work = Work {
            client,
            upstream,
            daemon,
            home,
        };
        Self::with(work, judge).map(Some)
    }

    fn with(work: Work, judge: Upstream) -> Result<Self> {
        for (name, content) in FILES {
            let file = work.client.project().join(name);
            fs::create_dir_all(file.parent().context("a file without a folder")?)?;
            fs::write(file, content)?;
        }
        let ended = work.grov().run(&["init"])?;
        ensure!(ended.code() == Some(0), "{ended:?}");
        let tap = WireTap::before(work.daemon.port())?;
        Ok(Self { work, judge, tap })
    }

    fn file(&self, name: &str) -> Result<String> {
        self.work.file(name)
    }

    /// Types the prompt, and lets the agent leave the limit once the model has read it.
    fn plays(&self, arguments: &[&str]) -> Result<ClientRun> {
        let url = self.tap.url();
        std::thread::scope(|scope| {
            let running = scope.spawn(|| self.work.client.prompt(&url, PROMPT, arguments));
            let read = self.wait_until_read();
            self.opens_gate()?;
            let run = running
                .join()
                .map_err(|_| anyhow::anyhow!("the client panicked"))??;
            read?;
            run.result()?;
            Ok(run)
        })
    }

    fn wait_until_read(&self) -> Result<()> {
        eventually("the limits to be read", || {
            let rows = query(&self.work.home, "SELECT read_to FROM read_limits").ok()?;
            rows.contains(&PROMPT.to_owned()).then_some(())
        })
        .with_context(|| {
            let calls = self.judge.sim().judge_calls();
            let purposes: Vec<_> = calls.iter().map(|(_, call)| call.purpose).collect();
            format!("asked were {purposes:?}: {}", self.work.daemon.log())
        })
    }

    fn opens_gate(&self) -> Result<()> {
        Ok(fs::write(self.work.client.project().with_file_name("read"), "")?)
    }

    /// How often the model was asked for limits.
    fn readings(&self) -> usize {
        let calls = self.judge.sim().judge_calls().into_iter();
        calls
            .filter(|(_, call)| call.purpose == Some(Purpose::ReadLimits))
            .count()
    }

    /// Asserts that no request of the session was changed on its way.
    fn is_relayed_unchanged(&self) -> Result<()> {
        for request in self.work.upstream.sim().messages() {
            assert_eq!(injected(&request)?, []);
        }
        assert_cache_preserved(&self.tap, &self.work.upstream)
    }
}

fn given<'a>(settings: &'a [(&'static str, String)]) -> Vec<(&'a str, &'a str)> {
    settings
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect()
}

/// Results without the path of the project, which differs between two sessions.
fn comparable(session: &Session, run: &ClientRun) -> Vec<(bool, String)> {
    let project = session.work.client.project();
    let shown = |path: &Path| path.display().to_string();
    let real = fs::canonicalize(&project).unwrap_or_else(|_| project.clone());
    let plain = |text: String| text.replace(&shown(&real), "").replace(&shown(&project), "");
    results(run)
        .into_iter()
        .map(|(failed, text)| (failed, plain(text)))
        .collect()
}

#[test]
fn an_action_that_breaks_a_limit_that_only_a_model_reads_is_stopped_and_nothing_else() -> Result<()> {
    let Some(free) = Session::begin(&json!({"limits": []}))? else {
        return Ok(());
    };
    let untouched = free.plays(&[])?;
    assert_eq!(
        stopped(&untouched),
        [0; 0],
        "rules read the limit: {:?}",
        results(&untouched)
    );
    assert_ne!(free.file(SPARED)?, BEFORE);
    free.is_relayed_unchanged()?;

    for mode in ["ask", "deny"] {
        let Some(mut limited) = Session::begin(&limits())? else {
            return Ok(());
        };
        limited.work.client = limited.work.client.env("GROV_GUARD_MODE", mode);
        let run = limited.plays(&[])?;
        assert_eq!(stopped(&run), [BREACH], "{mode}: {:?}", results(&run));
        let reason = &results(&run)[BREACH].1;
        assert!(reason.contains(WORDS), "{mode}: {reason}");
        assert_eq!(limited.file(SPARED)?, BEFORE, "{mode}");
        // Everything else is as in the session without the limit.
        let mut expected = comparable(&free, &untouched);
        let mut found = comparable(&limited, &run);
        assert_eq!(expected.len(), found.len(), "{mode}");
        expected.remove(BREACH);
        found.remove(BREACH);
        assert_eq!(found, expected, "{mode}");
        assert_eq!(run.result()?, untouched.result()?);
        assert_eq!(limited.readings(), 1, "{mode}: one question for one prompt");
        limited.is_relayed_unchanged()?;
        let session = run.session()?;
        let log = limited
            .work
            .grov()
            .run_json(&["drift", "log", "--session", session])?
            .json;
        let attempts = log["events"].as_array().map_or(0, Vec::len);
        assert_eq!(
            attempts, 1,
            "{mode}: the attempt is recorded, and causes no correction"
        );
    }
    Ok(())
}

#[test]
fn the_clients_own_model_reads_a_limit_that_the_guard_asks_about() -> Result<()> {
    let Some(session) = Session::judged_by_the_client(&limits())? else {
        return Ok(());
    };
    let run = session.plays(&[])?;
    assert_eq!(stopped(&run), [BREACH], "{:?}", results(&run));
    assert_eq!(session.file(SPARED)?, BEFORE);
    session.is_relayed_unchanged()?;
    // The judge's own client runs no hook, and is no session.
    assert_eq!(session.work.grov().sessions()?.len(), 1);
    Ok(())
}

#[test]
fn a_person_may_allow_what_a_model_read_as_a_limit() -> Result<()> {
    let Some(session) = Session::begin(&limits())? else {
        return Ok(());
    };
    let mut terminal = Terminal::open(&session.work.client, &session.tap.url())?;
    terminal.enter(PROMPT)?;
    session.wait_until_read()?;
    session.opens_gate()?;
    terminal.wait_for_text("Do you want to")?;
    assert!(
        terminal.screen().contains("bookkeepers look"),
        "{}",
        terminal.screen()
    );
    assert_eq!(session.file(SPARED)?, BEFORE, "{}", terminal.screen());
    terminal.confirm()?;
    terminal.wait_for_text("All of it was tried.")?;
    assert!(session.file(SPARED)?.contains("0.9"), "{}", terminal.screen());
    assert!(session.file("src/cart.ts")?.contains("0.9"));
    for request in session.work.upstream.sim().messages() {
        assert_eq!(injected(&request)?, [], "corrected for what the user allowed");
    }
    terminal.leave()
}
