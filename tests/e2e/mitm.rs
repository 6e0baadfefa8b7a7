//! The CONNECT proxy: intercepted hosts, blind tunnels, certificates, bad input.

mod bad_input;
mod certificates;
mod clients;
mod mitmproxy;
mod outer_proxy;
mod real_client;
mod tunnels;
mod websocket;

use crate::turn::session;
use crate::upstream::Upstream;
use anyhow::{Context, Result, ensure};
use grov_tests::{Daemon, DaemonBuilder, Grov, eventually};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

const API: &str = "https://api.anthropic.com";

/// Headers of a request to the API, as arguments of `curl`.
const HEADERS: [&str; 6] = [
    "-H",
    "Content-Type: application/json",
    "-H",
    "anthropic-version: 2023-06-01",
    "-H",
    "x-api-key: sk-ant-api03-test-0000",
];

/// A daemon with a CONNECT proxy before a simulated API.
pub struct Intercepted {
    pub upstream: Upstream,
    pub daemon: Daemon,
    pub home: PathBuf,
    _folder: TempDir,
}

impl Intercepted {
    pub fn start() -> Result<Self> {
        Self::with(Upstream::start()?, |builder| builder)
    }

    pub fn with(upstream: Upstream, more: impl FnOnce(DaemonBuilder) -> DaemonBuilder) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let home = folder.path().join("grov");
        let daemon = more(builder(&home, &upstream.url())).start()?;
        Ok(Self {
            upstream,
            daemon,
            home,
            _folder: folder,
        })
    }

    /// The address for HTTPS_PROXY.
    pub fn proxy(&self) -> Result<String> {
        Ok(format!("http://127.0.0.1:{}", self.port()?))
    }

    pub fn port(&self) -> Result<u16> {
        connect_port(&self.daemon)
    }

    /// The certificates that a client must trust.
    pub fn bundle(&self) -> PathBuf {
        self.home.join("ca/bundle.pem")
    }

    pub fn grov(&self) -> Grov {
        Grov::on(&self.home)
    }

    /// The command `curl` through the CONNECT proxy, with Grov's certificates.
    pub fn curl(&self, arguments: &[&str]) -> Result<Output> {
        curl(&self.proxy()?, &self.bundle(), arguments)
    }

    /// Posts a turn, and returns the answer.
    pub fn turn(&self, number: usize) -> Result<String> {
        let id = session(number);
        let header = format!("X-Claude-Code-Session-Id: {id}");
        let body = turn(number).to_string();
        let url = format!("{API}/v1/messages?beta=true");
        let output = self.curl(&[&HEADERS[..], &["--fail", "-H", &header, "-d", &body, &url]].concat())?;
        ensure!(output.status.success(), "curl: {}", text(&output.stderr));
        Ok(text(&output.stdout))
    }

    /// The counters of the CONNECT proxy.
    pub fn counters(&self) -> Result<Value> {
        let request = grov_tests::Request::new("GET", "/_grov/health");
        let health = grov_tests::exchange(self.daemon.port(), &request)?;
        let health: Value = serde_json::from_slice(&health.body)?;
        Ok(health["mitm"].clone())
    }
}

pub fn builder(home: &Path, upstream: &str) -> DaemonBuilder {
    Daemon::on(home, upstream)
        .arg("--mitm")
        .arg("--mitm-port")
        .arg("0")
}

/// The port of the daemon's CONNECT proxy.
pub fn connect_port(daemon: &Daemon) -> Result<u16> {
    let record = std::fs::read(daemon.home().join("daemon.json"))?;
    let record: Value = serde_json::from_slice(&record)?;
    let url = record["mitm_url"].as_str().context("no CONNECT proxy")?;
    Ok(url.rsplit(':').next().context("no port")?.parse()?)
}

pub fn curl(proxy: &str, bundle: &Path, arguments: &[&str]) -> Result<Output> {
    Command::new("curl")
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .args(["--silent", "--show-error", "--max-time", "30", "--proxy", proxy])
        .arg("--cacert")
        .arg(bundle)
        .args(arguments)
        .output()
        .context("curl is not installed")
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A request of the main agent.
pub fn turn(number: usize) -> Value {
    let id = session(number);
    let user = json!({"device_id": "0".repeat(64), "account_uuid": "", "session_id": id}).to_string();
    json!({
        "model": "claude-opus-4-8", "max_tokens": 64000, "stream": true,
        "system": [{"type": "text", "text": "x-anthropic-billing-header: cc_version=2.1.197.05b; cc_entrypoint=cli; cch=d7437;"}],
        "tools": [
            {"name": "Bash", "description": "Runs", "input_schema": {"type": "object"}},
            {"name": "Read", "description": "Reads", "input_schema": {"type": "object"}},
        ],
        "messages": [{"role": "user", "content": [{"type": "text", "text": format!("Say something, number {number}.")}]}],
        "metadata": {"user_id": user},
    })
}

#[test]
fn an_intercepted_turn_is_answered_recorded_and_unchanged() -> Result<()> {
    let work = Intercepted::start()?;
    let answer = work.turn(1)?;
    assert!(answer.contains("message_stop"), "{answer}");
    let request = work.upstream.sim().requests().remove(0);
    assert_eq!(request.body, turn(1).to_string());
    let recorded = eventually("the turn", || {
        let session = work.grov().sessions().ok()?.into_iter().next()?;
        (session["tokens"]["output"].as_u64()? > 0).then_some(session)
    })?;
    assert_eq!(recorded["client_session_id"], session(1), "{recorded}");
    assert_eq!(recorded["prompts"], 1, "{recorded}");
    assert_eq!(work.counters()?["intercepted"], 1);
    work.daemon.stop()?;
    Ok(())
}

#[test]
fn paths_of_the_proxy_belong_to_the_intercepted_host() -> Result<()> {
    let work = Intercepted::start()?;
    let output = work.curl(&[
        "-o",
        "/dev/null",
        "-w",
        "%{http_code}",
        &format!("{API}/_grov/health"),
    ])?;
    // The simulated API has no such path.
    assert_eq!(text(&output.stdout), "404", "{}", text(&output.stderr));
    assert_eq!(work.upstream.sim().requests().len(), 1);
    let output = work.curl(&[
        "-w",
        "%{http_code}",
        "-H",
        "Host: other.example",
        &format!("{API}/v1/models"),
    ])?;
    assert!(text(&output.stdout).ends_with("421"), "{}", text(&output.stdout));
    assert_eq!(work.upstream.sim().requests().len(), 1);
    Ok(())
}
