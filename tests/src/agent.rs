//! A running `grov-agentd`.

use crate::binary;
use crate::http::{Request, Response, exchange};
use crate::process::{self, Ended, Lines, PATIENCE};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The admin key of every agent service in a test.
const ADMIN_KEY: &str = "test-admin-key";

/// How to start an agent service for a home.
#[derive(Clone, Debug)]
pub struct AgentBuilder {
    home: PathBuf,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
}

impl AgentBuilder {
    /// Adds an argument.
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// Sets an environment variable; otherwise only PATH, HOME and AGENT_API_KEY are set.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.environment.push((name.into(), value.as_ref().to_owned()));
        self
    }

    fn command(&self) -> Result<Command> {
        let mut command = Command::new(binary("grov-agentd")?);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home.parent().unwrap_or(&self.home))
            .env("AGENT_API_KEY", ADMIN_KEY)
            .args(&self.arguments)
            .arg("--home")
            .arg(&self.home)
            .envs(self.environment.iter().cloned());
        Ok(command)
    }

    /// Starts the service on a free port and waits until it accepts connections.
    ///
    /// # Errors
    /// It exits, or does not accept connections in time. The error contains its output.
    pub fn start(&self) -> Result<Agent> {
        let mut command = self.command()?;
        command
            .args(["--port", "0"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = command.spawn().context("cannot start grov-agentd")?;
        let log = Lines::follow(child.stderr.take());
        let mut agent = Agent {
            child,
            log,
            port: 0,
            builder: self.clone(),
        };
        let port = process::eventually(
            "the agent service to listen",
            || match crate::daemon::listening_port(&agent.log.text()) {
                Some(port) => Some(Some(port)),
                None => agent.child.try_wait().ok().flatten().map(|_| None),
            },
        );
        match port {
            Ok(Some(port)) => agent.port = port,
            _ => bail!("grov-agentd does not listen: {}", agent.log.text()),
        }
        Ok(agent)
    }

    /// Runs a command, such as `key list`, or a start that is expected to be refused.
    ///
    /// # Errors
    /// It keeps running.
    pub fn run(&self, arguments: &[&str]) -> Result<Ended> {
        process::run(self.command()?.args(arguments), PATIENCE)
    }
}

/// A running `grov-agentd`. Killed when dropped.
pub struct Agent {
    child: Child,
    log: Lines,
    port: u16,
    builder: AgentBuilder,
}

impl Agent {
    /// An agent service on `home`.
    pub fn on(home: &Path) -> AgentBuilder {
        AgentBuilder {
            home: home.to_owned(),
            arguments: Vec::new(),
            environment: Vec::new(),
        }
    }

    /// The port that it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its output so far.
    pub fn log(&self) -> String {
        self.log.text()
    }

    /// Runs a command on the same home.
    ///
    /// # Errors
    /// It keeps running.
    pub fn run(&self, arguments: &[&str]) -> Result<Ended> {
        self.builder.run(arguments)
    }

    /// A request with the admin key.
    pub fn request(&self, method: &str, target: &str) -> Request {
        Request::new(method, target).header("X-AGENT-KEY", ADMIN_KEY)
    }

    /// Sends a request without changes.
    ///
    /// # Errors
    /// There is no HTTP answer.
    pub fn send(&self, request: &Request) -> Result<Response> {
        exchange(self.port, &request.clone().header("Connection", "close"))
    }

    /// Calls a path with the admin key and a JSON body unless it is null.
    ///
    /// # Errors
    /// There is no HTTP answer, or its body is not JSON.
    pub fn call(&self, method: &str, target: &str, body: &Value) -> Result<(u16, Value)> {
        self.call_as(ADMIN_KEY, method, target, body)
    }

    /// Calls a path with a key and a JSON body unless it is null.
    ///
    /// # Errors
    /// There is no HTTP answer, or its body is not JSON.
    pub fn call_as(&self, key: &str, method: &str, target: &str, body: &Value) -> Result<(u16, Value)> {
        let mut request = Request::new(method, target).header("X-AGENT-KEY", key);
        if !body.is_null() {
            request = request
                .header("Content-Type", "application/json")
                .body(body.to_string());
        }
        let answer = self.send(&request)?;
        json_of(&answer)
    }

    /// Sends a signal, given by its name without `SIG`.
    ///
    /// # Errors
    /// The service has exited already.
    pub fn signal(&self, name: &str) -> Result<()> {
        process::signal(self.pid(), name)
    }

    /// Waits until the service exits.
    ///
    /// # Errors
    /// It is still running after `limit`.
    pub fn ended(mut self, limit: Duration) -> Result<Ended> {
        let status = process::wait(&mut self.child, limit).with_context(|| self.log.text())?;
        Ok(Ended {
            status,
            stdout: String::new(),
            stderr: self.log.finish(),
        })
    }

    /// Sends SIGTERM and waits until the service exits.
    ///
    /// # Errors
    /// It does not exit.
    pub fn stop(self) -> Result<Ended> {
        self.signal("TERM")?;
        self.ended(PATIENCE)
    }

    /// Kills the service, which simulates a crash.
    ///
    /// # Errors
    /// It had exited before.
    pub fn kill(self) -> Result<Ended> {
        self.signal("KILL")?;
        self.ended(PATIENCE)
    }
}

/// Status and body of an answer. An empty body is null.
///
/// # Errors
/// The body is not JSON.
pub fn json_of(answer: &Response) -> Result<(u16, Value)> {
    if answer.body.is_empty() {
        return Ok((answer.status, Value::Null));
    }
    let body = serde_json::from_slice(&answer.body).with_context(|| answer.text())?;
    Ok((answer.status, body))
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            #[expect(
                clippy::print_stderr,
                reason = "the log of the service belongs to the report of a failed test"
            )]
            {
                eprintln!("--- log of grov-agentd ---\n{}---", self.log.text());
            }
        }
    }
}
