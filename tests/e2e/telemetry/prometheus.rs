//! The metrics with the real Prometheus: promtool finds no fault in the text, and each query of `docs/metrics.md` has an answer.

use super::{PROMPT, metrics};
use crate::judge::TestHome;
use anyhow::{Context, Result, bail, ensure};
use grov_tests::{Daemon, Request, eventually, exchange};
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The folder of `scripts/install-prometheus`, or `None` with a visible warning; required if `GROV_REAL` is set.
fn installed() -> Result<Option<PathBuf>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .context("no parent")?;
    let folder = root.join(".tools/prometheus");
    if folder.join("promtool").exists() {
        return Ok(Some(folder));
    }
    if std::env::var_os("GROV_REAL").is_some() {
        bail!("Prometheus is not installed: run scripts/install-prometheus");
    }
    #[expect(clippy::print_stderr, reason = "a skipped test says so")]
    {
        eprintln!("SKIPPED: Prometheus is not installed: run `cargo xtask real metrics`");
    }
    Ok(None)
}

/// The queries of the documentation.
fn queries() -> Result<Vec<String>> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/metrics.md");
    let page = fs::read_to_string(page)?;
    let blocks = page.split("```promql\n").skip(1);
    let queries: Vec<String> = blocks
        .filter_map(|block| Some(block.split_once("```")?.0.trim().to_owned()))
        .collect();
    ensure!(
        queries.len() >= 10,
        "docs/metrics.md has {} queries",
        queries.len()
    );
    Ok(queries)
}

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn promtool_and_prometheus_accept_the_metrics() -> Result<()> {
    let Some(tools) = installed()? else { return Ok(()) };
    let home = TestHome::new()?;
    let daemon = Daemon::on(&home.path(), &home.api.url()).start()?;
    let mut person = home.person(&daemon)?;
    person.types(PROMPT)?;

    let mut promtool = Command::new(tools.join("promtool"))
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut input = promtool.stdin.take().context("no input")?;
    input.write_all(metrics(&daemon)?.as_bytes())?;
    drop(input);
    let checked = promtool.wait_with_output()?;
    let said =
        String::from_utf8_lossy(&checked.stderr).into_owned() + &String::from_utf8_lossy(&checked.stdout);
    ensure!(
        checked.status.success() && said.trim().is_empty(),
        "promtool: {said}"
    );

    let folder = tempfile::tempdir()?;
    let config = format!(
        "global:\n  scrape_interval: 1s\nscrape_configs:\n- job_name: grov\n  metrics_path: /_grov/metrics\n  static_configs:\n  - targets: ['127.0.0.1:{}']\n",
        daemon.port()
    );
    fs::write(folder.path().join("prometheus.yml"), config)?;
    let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
    let _prometheus = Killed(
        Command::new(tools.join("prometheus"))
            .arg(format!(
                "--config.file={}",
                folder.path().join("prometheus.yml").display()
            ))
            .arg(format!(
                "--storage.tsdb.path={}",
                folder.path().join("data").display()
            ))
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?,
    );
    let count = |query: &str| -> Option<usize> {
        let response = exchange(
            port,
            &Request::new("GET", &format!("/api/v1/query?query={}", encoded(query))),
        )
        .ok()?;
        let answer: Value = serde_json::from_slice(&response.body).ok()?;
        (answer["status"] == "success").then(|| answer["data"]["result"].as_array().map_or(0, Vec::len))
    };
    // Rates need a scrape before and one after something happened.
    eventually("the first scrape", || {
        (count("grov_prompts_total")? > 0).then_some(())
    })?;
    for _ in 0..2 {
        person.types(PROMPT)?;
    }
    for query in queries()? {
        eventually(&query, || (count(&query)? > 0).then_some(()))?;
    }
    Ok(())
}

/// A query as part of a URL.
fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        })
        .collect()
}
