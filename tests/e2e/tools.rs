//! `envoy` against simulated providers: their answers and errors, jobs that survive the command, and large or vanishing
//! surroundings.

use crate::upstream::Upstream;
use anyhow::{Context, Result, ensure};
use grov_sim::{Behaviour, Rule, When};
use grov_tests::{Ended, Grov, eventually};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A project, a home of Grov, and the providers.
struct Desk {
    upstream: Upstream,
    folder: tempfile::TempDir,
    tree: PathBuf,
    grov: Grov,
}

/// Keys and addresses of the simulated providers.
pub fn provider_variables(url: &str) -> [(&'static str, String); 6] {
    [
        ("PERPLEXITY_API_KEY", "pplx-test-key".to_owned()),
        ("PERPLEXITY_BASE_URL", format!("{url}/perplexity")),
        ("TAVILY_API_KEY", "tvly-test-key".to_owned()),
        ("TAVILY_BASE_URL", format!("{url}/tavily")),
        ("GEMINI_API_KEY", "gemini-test-key".to_owned()),
        ("VERTEX_BASE_URL", format!("{url}/gemini")),
    ]
}

impl Desk {
    fn new() -> Result<Self> {
        let upstream = Upstream::start()?;
        let folder = tempfile::tempdir()?;
        let tree = folder.path().canonicalize()?.join("tree");
        fs::create_dir(&tree)?;
        let mut grov = Grov::on(&folder.path().join("grov")).within(&tree);
        for (name, value) in provider_variables(&upstream.url()) {
            grov = grov.env(name, &value);
        }
        Ok(Self {
            upstream,
            folder,
            tree,
            grov,
        })
    }

    fn with(mut self, name: &str, value: &str) -> Self {
        self.grov = self.grov.env(name, value);
        self
    }

    fn command(&self, words: &[&str]) -> Result<Command> {
        self.grov.command(&[&["tools"], words].concat())
    }

    fn run(&self, words: &[&str]) -> Result<(Option<i32>, Value)> {
        printed(&self.grov.run(&[&["tools"], words].concat())?)
    }

    fn behave(&self, path: &str, behaviour: &str) -> Result<()> {
        self.upstream.sim().clear_rules();
        let rule = Rule::new(When::Path(path.to_owned()), behaviour.parse::<Behaviour>()?);
        self.upstream.sim().inject(rule);
        Ok(())
    }

    fn arrived(&self, method: &str, path: &str) -> usize {
        let requests = self.upstream.sim().requests();
        let wanted = |request: &&std::sync::Arc<grov_sim::RecordedRequest>| {
            request.method == method && request.path == path
        };
        requests.iter().filter(wanted).count()
    }

    fn calls(&self) -> Result<Vec<Value>> {
        let usage = self.grov.run_json(&["usage"])?.json;
        Ok(usage["calls"].as_array().cloned().unwrap_or_default())
    }

    fn git(&self, arguments: &[&str]) -> Result<()> {
        let status = Command::new("git")
            .args([
                "-c",
                "user.name=Ada",
                "-c",
                "user.email=a@h",
                "-c",
                "init.defaultBranch=main",
            ])
            .args(arguments)
            .current_dir(&self.tree)
            .env("HOME", self.folder.path())
            .stdout(Stdio::null())
            .status()?;
        ensure!(status.success(), "git {arguments:?}");
        Ok(())
    }
}

/// The exit code and the one object on standard output.
fn printed(ended: &Ended) -> Result<(Option<i32>, Value)> {
    let value = serde_json::from_str(&ended.stdout)
        .with_context(|| format!("{:?} {:?}", ended.stdout, ended.stderr))?;
    Ok((ended.code(), value))
}

const ASK: &str = "/perplexity/chat/completions";
const SEARCH: &str = "/tavily/search";
const GEMINI: &str = "/gemini/v1beta/models/gemini-2.5-pro:generateContent";

#[test]
fn every_provider_answers() -> Result<()> {
    let desk = Desk::new()?;
    for (words, place, expected) in [
        (
            &["perplexity", "ask", "q"][..],
            "/data/content",
            json!("A simulated finding about: q [1]"),
        ),
        (
            &["perplexity", "research", "q"],
            "/data/thinking",
            json!("I compare the sources."),
        ),
        (
            &["perplexity", "research", "q", "--async"],
            "/metadata/cost_usd",
            json!(0.4),
        ),
        (&["perplexity", "search", "q"], "/metadata/result_count", json!(1)),
        (
            &["tavily", "search", "q", "--include-answer", "--max-results", "3"],
            "/metadata/result_count",
            json!(3),
        ),
        (
            &[
                "tavily",
                "extract",
                "https://example.org/1",
                "https://example.org/missing",
            ],
            "/data/failed_results",
            json!([{"url": "https://example.org/missing", "error": "404 Not Found"}]),
        ),
        (
            &["vertex", "ask", "q"],
            "/data/content",
            json!("A simulated answer of gemini-2.5-pro."),
        ),
        (
            &["vertex", "architect", "q"],
            "/data/complexity_assessment",
            json!("simple"),
        ),
    ] {
        let (code, value) = desk.run(words)?;
        assert_eq!(code, Some(0), "{words:?}: {value}");
        assert_eq!(value.pointer(place), Some(&expected), "{words:?}: {value}");
    }
    Ok(())
}

#[test]
fn faults_of_providers_are_named() -> Result<()> {
    let desk = Desk::new()?.with("ENVOY_TIMEOUT_MS", "1500");
    let ask: &[&str] = &["perplexity", "ask", "q"];
    let research: &[&str] = &["perplexity", "research", "q"];
    let search: &[&str] = &["tavily", "search", "q"];
    let vertex: &[&str] = &["vertex", "ask", "q"];
    for (words, path, behaviour, kind) in [
        (ask, ASK, "status=401", "unauthorized"),
        (ask, ASK, "status=429,retry-after=77", "rate_limited"),
        (ask, ASK, "html", "bad_answer"),
        (ask, ASK, "cut=300", "incomplete"),
        (ask, ASK, "reset", "incomplete"),
        (research, ASK, "cut-events=1", "incomplete"),
        (research, ASK, "stall-events=1", "timed_out"),
        (search, SEARCH, "status=432", "plan_limit"),
        (search, SEARCH, "status=500", "provider_error"),
        (search, SEARCH, "head-delay=60000", "timed_out"),
        (vertex, GEMINI, "status=400", "invalid_request"),
        (vertex, GEMINI, "status=403", "unauthorized"),
        (vertex, GEMINI, "empty", "bad_answer"),
    ] {
        desk.behave(path, behaviour)?;
        let (code, value) = desk.run(words)?;
        assert_eq!(
            (code, value["error"]["kind"].as_str()),
            (Some(2), Some(kind)),
            "{words:?} {behaviour}: {value}"
        );
        assert!(!value.to_string().contains("test-key"), "{value}");
    }
    Ok(())
}

#[test]
fn a_job_goes_on_after_the_command_was_killed() -> Result<()> {
    let desk = Desk::new()?;
    let (submit, poll) = (
        "/perplexity/async/chat/completions",
        "/perplexity/async/chat/completions/sim-job-0",
    );
    desk.behave(poll, "head-delay=60000,times=1")?;
    let words = ["perplexity", "research", "How do teams share memory?", "--async"];
    let mut killed = desk
        .command(&words)?
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    eventually("the first question for the state", || {
        (desk.arrived("GET", poll) > 0).then_some(())
    })?;
    killed.kill()?;
    killed.wait()?;
    assert_eq!(desk.calls()?[0]["outcome"], "reserved");

    let (code, value) = desk.run(&words)?;
    assert_eq!(code, Some(0), "{value}");
    assert_eq!(value["data"]["citations"], json!(["https://example.org/1"]));
    assert_eq!(desk.arrived("POST", submit), 1);
    let calls = desk.calls()?;
    assert_eq!(
        (calls.len(), &calls[0]["outcome"]),
        (1, &json!("answered")),
        "{calls:?}"
    );
    let (_, again) = desk.run(&words)?;
    assert_eq!(again["metadata"]["cached"], true);
    Ok(())
}

/// The most memory that a process has used so far, in MiB.
fn peak(process: u32) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line
        .and_then(|line| line.trim().strip_suffix(" kB"))
        .context("no VmHWM")?;
    Ok(kibibytes.trim().parse::<u64>()? / 1024)
}

fn write_lines(path: &Path, megabytes: usize, text: &str) -> Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    let line = format!("{text} {}\n", "x".repeat(80 - text.len()));
    for _ in 0..megabytes * 1024 * 1024 / line.len() {
        file.write_all(line.as_bytes())?;
    }
    Ok(file.flush()?)
}

#[test]
fn a_diff_of_200_megabytes_is_bounded_in_request_and_memory() -> Result<()> {
    let desk = Desk::new()?;
    desk.git(&["init", "-q"])?;
    fs::write(desk.tree.join("large.txt"), "before\n")?;
    fs::write(desk.tree.join("small.txt"), "before\n")?;
    desk.git(&["add", "."])?;
    desk.git(&["commit", "-q", "-m", "first"])?;
    write_lines(&desk.tree.join("large.txt"), 200, "a line of data")?;
    fs::write(desk.tree.join("small.txt"), "after\n")?;
    fs::write(
        desk.tree.join("plan.md"),
        "# Plan\n\n## Implementation Steps\n1. [ ] Change the data\n",
    )?;
    // While the provider is silent, the command has done all its work on the diff.
    desk.behave(GEMINI, "head-delay=60000,times=1")?;
    let words = ["vertex", "review", "--plan", "plan.md"];
    let mut waiting = desk
        .command(&words)?
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let arrived = eventually("the request", || (desk.arrived("POST", GEMINI) > 0).then_some(()));
    let used = peak(waiting.id());
    waiting.kill()?;
    waiting.wait()?;
    arrived?;
    let used = used?;
    assert!(used <= 60, "{used} MiB");

    let (code, value) = desk.run(&words)?;
    assert_eq!(code, Some(0), "{value}");
    let omitted = value["metadata"]["omitted"].to_string();
    assert!(omitted.contains("large.txt"), "{omitted}");
    let requests = desk.upstream.sim().requests();
    let last = requests.last().context("no request")?;
    assert!(last.body_length < 512 * 1024, "{} bytes", last.body_length);
    assert!(String::from_utf8_lossy(&last.body).contains("+after"));
    Ok(())
}

#[test]
fn fifty_megabytes_of_piped_text_stay_out_of_memory() -> Result<()> {
    let desk = Desk::new()?;
    let file = desk.folder.path().join("piped.txt");
    write_lines(&file, 50, "plain words")?;
    desk.behave(GEMINI, "head-delay=60000")?;
    let mut waiting = desk
        .command(&["vertex", "ask", "--stdin", "q"])?
        .stdin(File::open(&file)?)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let arrived = eventually("the request", || (desk.arrived("POST", GEMINI) > 0).then_some(()));
    let used = peak(waiting.id());
    waiting.kill()?;
    waiting.wait()?;
    arrived?;
    let used = used?;
    assert!(used <= 60, "{used} MiB");
    let requests = desk.upstream.sim().requests();
    assert!(requests[0].body_length < 600 * 1024);
    Ok(())
}

#[test]
fn a_terminal_that_goes_away_cancels_the_call() -> Result<()> {
    let desk = Desk::new()?;
    desk.behave(SEARCH, "head-delay=60000")?;
    let like = desk.command(&["tavily", "search", "q"])?;
    let identifier = desk.folder.path().join("identifier");
    // `script` of util-linux holds the terminal.
    let mut terminal = Command::new("script");
    terminal
        .env_clear()
        .envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .env("PROGRAM", like.get_program())
        .env("IDENTIFIER", &identifier)
        .current_dir(&desk.tree)
        .args(["--quiet", "--command"])
        .arg("echo $$ > \"$IDENTIFIER\"; exec \"$PROGRAM\" tools tavily search q")
        .arg("/dev/null")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut terminal = terminal.spawn().context("cannot start `script` of util-linux")?;
    eventually("the request", || (desk.arrived("POST", SEARCH) > 0).then_some(()))?;
    let process = fs::read_to_string(&identifier)?.trim().to_owned();
    terminal.kill()?;
    terminal.wait()?;
    eventually("the command to end", || {
        (!Path::new(&format!("/proc/{process}")).exists()).then_some(())
    })?;
    let calls = desk.calls()?;
    assert_eq!(
        (calls.len(), &calls[0]["outcome"]),
        (1, &json!("failed")),
        "{calls:?}"
    );
    Ok(())
}
