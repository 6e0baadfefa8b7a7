//! Qdrant's engine behind its REST API, started by `scripts/qdrant/serve`.

use anyhow::{Context, Result, ensure};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A server with its own temporary directory. It ends with this value, and with the process.
#[derive(Debug)]
pub struct QdrantEngine {
    process: Child,
    port: u16,
}

impl QdrantEngine {
    /// Starts a server; `None`, with a visible warning, if `scripts/install-qdrant` has not installed the engine.
    ///
    /// # Errors
    /// It does not start, or is missing in CI.
    pub fn start() -> Result<Option<Self>> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        if !root.join(".tools/qdrant/bin/python").exists() {
            let is_ci = std::env::var("CI").is_ok_and(|value| !value.is_empty() && value != "false");
            ensure!(!is_ci, "Qdrant is not installed: run scripts/install-qdrant");
            #[expect(clippy::print_stderr, reason = "a skipped test says so")]
            {
                eprintln!("SKIPPED: Qdrant is not installed: run scripts/install-qdrant");
            }
            return Ok(None);
        }
        let mut process = Command::new(root.join("scripts/qdrant/serve"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("scripts/qdrant/serve cannot be run")?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().context("no output")?).read_line(&mut line)?;
        let port = line.trim().rsplit(':').next().and_then(|port| port.parse().ok());
        let port = port.with_context(|| format!("Qdrant does not start: {line:?}"))?;
        Ok(Some(Self { process, port }))
    }

    /// The port that it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for QdrantEngine {
    fn drop(&mut self) {
        // Its input ends, and it deletes its directory before it ends.
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}
