//! The real Claude Code client, with its own home and project directory.

use crate::process::{self, Ended};
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// A run of the client takes a few seconds, and tens of seconds with many model steps or retries.
const RUN_LIMIT: Duration = Duration::from_secs(150);

/// The client's API key.
const KEY: &str = "sk-ant-api03-test-0000";

/// The client with a temporary home and an empty project directory.
pub struct RealClient {
    program: PathBuf,
    folder: TempDir,
    project: PathBuf,
    environment: Vec<(String, String)>,
}

/// The result of one run of the client.
#[derive(Debug)]
pub struct ClientRun {
    /// How the process ended.
    pub ended: Ended,
    /// The lines of its `stream-json` output.
    pub events: Vec<Value>,
}

impl RealClient {
    /// The client, if `scripts/install-client` has installed it. Otherwise the test is skipped with a visible warning,
    /// or fails if `CI` is set.
    ///
    /// # Errors
    /// No temporary directory can be created, or the client is missing in CI.
    pub fn installed() -> Result<Option<Self>> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .context("the tests have no parent directory")?;
        let program = root.join(".tools/client/claude");
        if !program.exists() {
            if std::env::var("CI").is_ok_and(|value| !value.is_empty() && value != "false") {
                bail!("the real client is not installed: run scripts/install-client");
            }
            #[expect(clippy::print_stderr, reason = "a skipped test says so")]
            {
                eprintln!("SKIPPED: the real client is not installed: run scripts/install-client");
            }
            return Ok(None);
        }
        let folder = tempfile::tempdir()?;
        for name in ["home", "project"] {
            std::fs::create_dir(folder.path().join(name))?;
        }
        Ok(Some(Self {
            program,
            project: folder.path().join("project"),
            folder,
            environment: Vec::new(),
        }))
    }

    /// Sets an environment variable of the client.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The client's home directory.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// The client's working directory.
    pub fn project(&self) -> PathBuf {
        self.project.clone()
    }

    /// Changes the client's working directory for later runs.
    pub fn enter(&mut self, directory: &Path) {
        directory.clone_into(&mut self.project);
    }

    /// The path of the client's program.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// The end of the API key, which the client shows when it asks whether to use the key.
    pub(crate) fn key_suffix(&self) -> &'static str {
        &KEY[KEY.len() - 20..]
    }

    /// Sets a command's environment and directory to the client's, and nothing else. An empty base URL is none.
    pub(crate) fn client_environment(&self, command: &mut Command, base_url: &str) {
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home());
        command.envs([
            ("TERM", "xterm"),
            ("LANG", "C.UTF-8"),
            // Lets root skip the permission prompts, which the test cannot answer.
            ("IS_SANDBOX", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("ANTHROPIC_API_KEY", KEY),
        ]);
        if !base_url.is_empty() {
            command.env("ANTHROPIC_BASE_URL", base_url);
        }
        command
            .envs(self.environment.iter().cloned())
            .current_dir(self.project());
    }

    /// The command that runs one prompt against `base_url`, or the real API if that is empty.
    pub fn command(&self, base_url: &str, prompt: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        self.client_environment(&mut command, base_url);
        command.args([
            "-p",
            prompt,
            "--output-format",
            "stream-json",
            "--verbose",
            "--dangerously-skip-permissions",
        ]);
        command.args(arguments);
        command
    }

    /// Runs one prompt until the client exits.
    ///
    /// # Errors
    /// The client does not start, does not exit, or its output is not JSON lines.
    pub fn prompt(&self, base_url: &str, prompt: &str, arguments: &[&str]) -> Result<ClientRun> {
        self.run(&mut self.command(base_url, prompt, arguments))
    }

    /// Runs a command that runs the client, until it exits.
    ///
    /// # Errors
    /// It does not start, does not exit, or its output is not JSON lines.
    pub fn run(&self, command: &mut Command) -> Result<ClientRun> {
        let ended = process::run(command, RUN_LIMIT)?;
        let events = ended
            .stdout
            .lines()
            .map(|line| serde_json::from_str(line).with_context(|| format!("the client printed {line:?}")))
            .collect::<Result<_>>()?;
        Ok(ClientRun { ended, events })
    }
}

impl ClientRun {
    /// The session id that the client reports.
    ///
    /// # Errors
    /// The output contains no session id.
    pub fn session(&self) -> Result<&str> {
        let session = self.events.iter().find_map(|event| event["session_id"].as_str());
        session.with_context(|| format!("the client named no session: {}", self.ended.stderr))
    }

    /// The final answer.
    ///
    /// # Errors
    /// The run did not end successfully.
    pub fn result(&self) -> Result<&str> {
        let last = self.events.last().context("the client printed nothing")?;
        ensure!(
            self.ended.code() == Some(0) && last["type"] == "result" && last["is_error"] == false,
            "the client ended with {:?}: {last} {}",
            self.ended.status,
            self.ended.stderr
        );
        last["result"].as_str().context("the client ended without a text")
    }

    /// The number of retries that the client reported.
    pub fn retries(&self) -> usize {
        self.events
            .iter()
            .filter(|event| event["subtype"] == "api_retry")
            .count()
    }
}
