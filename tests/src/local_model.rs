//! A llama.cpp server with a small model.

use crate::process::{self, Lines};
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

/// A running server with OpenAI's chat completions or embeddings on loopback. Stops when it is dropped, or when the
/// test process exits.
pub struct LocalModel {
    url: String,
    process: Child,
    /// The server runs until this is closed.
    _lifeline: Option<ChildStdin>,
}

impl LocalModel {
    /// Starts the server, if `scripts/install-llama` has installed it. Otherwise the test is skipped with a visible
    /// warning, or fails if `CI` is set.
    ///
    /// # Errors
    /// The server does not start, or is missing in CI.
    pub fn installed() -> Result<Option<Self>> {
        Self::start(&[])
    }

    /// The same server for embeddings.
    ///
    /// # Errors
    /// The server does not start, or is missing in CI.
    pub fn embedding() -> Result<Option<Self>> {
        Self::start(&["--embeddings"])
    }

    fn start(arguments: &[&str]) -> Result<Option<Self>> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .context("the tests have no parent directory")?;
        let python = root.join(".tools/llama/bin/python");
        if !python.exists() {
            if std::env::var("CI").is_ok_and(|value| !value.is_empty() && value != "false") {
                bail!("the local model is not installed: run scripts/install-llama");
            }
            #[expect(clippy::print_stderr, reason = "a skipped test says so")]
            {
                eprintln!("SKIPPED: the local model is not installed: run scripts/install-llama");
            }
            return Ok(None);
        }
        let mut process = Command::new(&python)
            .arg(root.join("scripts/llama/serve.py"))
            .args(arguments)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", python.display()))?;
        let stdout = Lines::follow(process.stdout.take());
        let stderr = Lines::follow(process.stderr.take());
        let lifeline = process.stdin.take();
        let mut server = Self {
            url: String::new(),
            process,
            _lifeline: lifeline,
        };
        let listening = process::eventually("the local model to listen", || {
            let ended = server.process.try_wait().ok().flatten().is_some();
            let line = stdout.text().lines().next().map(str::to_owned);
            line.map(Some).or(ended.then_some(None))
        })?;
        server.url = listening.with_context(|| format!("the local model ended: {}", stderr.finish()))?;
        Ok(Some(server))
    }

    /// The server's base URL.
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for LocalModel {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
