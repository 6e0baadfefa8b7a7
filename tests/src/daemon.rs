//! A running `grov-proxyd`.

use crate::binary;
use crate::process::{self, Ended, Lines, PATIENCE};
use anyhow::{Context, Result, bail};
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// An unprivileged user and group.
const NOBODY: u32 = 65534;

/// How to start a daemon for a home and an upstream.
#[derive(Clone, Debug)]
pub struct DaemonBuilder {
    home: PathBuf,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    max_file_blocks: Option<u32>,
    open_files: Option<(u32, u32)>,
    port: Option<u16>,
    unprivileged: bool,
}

impl DaemonBuilder {
    /// Adds an argument.
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// Sets an environment variable; otherwise only PATH and HOME are set.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.environment.push((name.into(), value.as_ref().to_owned()));
        self
    }

    /// Runs as an unprivileged user if the test runs as root, so that read-only files cannot be written.
    pub fn unprivileged(mut self) -> Self {
        self.unprivileged = true;
        self
    }

    /// Listens on this port.
    pub fn port(mut self, port: u16) -> Self {
        self.port = Some(port);
        self
    }

    /// Limits each file of the daemon to `blocks` of 512 bytes, which simulates a full disk for this process.
    pub fn max_file_blocks(mut self, blocks: u32) -> Self {
        self.max_file_blocks = Some(blocks);
        self
    }

    /// Sets the soft limit of open files, and the hard limit up to which the daemon may raise it.
    pub fn open_files(mut self, soft: u32, hard: u32) -> Self {
        self.open_files = Some((soft, hard));
        self
    }

    fn command(&self) -> Result<Command> {
        let mut program = binary("grov-proxyd")?;
        let gives_up_root =
            self.unprivileged && std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
        if gives_up_root {
            // Other users may not have access to the build directory.
            let open = self.home.with_file_name("grov-proxyd-for-all");
            std::fs::copy(&program, &open).context("cannot copy grov-proxyd")?;
            program = open;
        }
        let mut limits = String::new();
        if let Some(blocks) = self.max_file_blocks {
            // Beyond the limit a write fails, as on a full disk: the signal that would end the process (25, SIGXFSZ)
            // stays ignored in the daemon.
            limits.push_str(&format!("trap '' 25; ulimit -f {blocks}; "));
        }
        if let Some((soft, hard)) = self.open_files {
            limits.push_str(&format!("ulimit -Sn {soft} && ulimit -Hn {hard} || exit; "));
        }
        let mut command = if limits.is_empty() {
            Command::new(program)
        } else {
            let mut shell = Command::new("sh");
            shell
                .args(["-c", &format!("{limits}exec \"$@\""), "sh"])
                .arg(program);
            shell
        };
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.home.parent().unwrap_or(&self.home));
        if gives_up_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        if let Some(port) = self.port {
            command.arg("--port").arg(port.to_string());
        }
        command
            .arg("--home")
            .arg(&self.home)
            .args(&self.arguments)
            .envs(self.environment.iter().cloned());
        Ok(command)
    }

    /// Starts the daemon and waits until it accepts connections.
    ///
    /// # Errors
    /// The daemon exits, or does not accept connections in time. The error contains its output.
    pub fn start(&self) -> Result<Daemon> {
        let mut command = self.command()?;
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = command.spawn().context("cannot start grov-proxyd")?;
        let log = Lines::follow(child.stderr.take());
        let mut daemon = Daemon {
            child,
            log,
            port: 0,
            home: self.home.clone(),
        };
        let port = process::eventually("the daemon to listen", || {
            match listening_port(&daemon.log.text()) {
                Some(port) => Some(Some(port)),
                None => daemon.child.try_wait().ok().flatten().map(|_| None),
            }
        });
        match port {
            Ok(Some(port)) => daemon.port = port,
            _ => bail!("grov-proxyd does not listen: {}", daemon.log.text()),
        }
        Ok(daemon)
    }

    /// Starts a daemon that is expected to exit immediately.
    ///
    /// # Errors
    /// The daemon keeps running.
    pub fn refuse(&self) -> Result<Ended> {
        process::run(&mut self.command()?, PATIENCE)
    }
}

/// The port in `listening on http://127.0.0.1:8080`; also with `https`.
pub(crate) fn listening_port(log: &str) -> Option<u16> {
    let mut lines = log.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    lines.find_map(|line| {
        let (_, address) = line.split_once("listening on http")?;
        address.trim_end().rsplit(':').next()?.parse().ok()
    })
}

/// A running `grov-proxyd`. Killed when dropped.
pub struct Daemon {
    child: Child,
    log: Lines,
    port: u16,
    home: PathBuf,
}

impl Daemon {
    /// A daemon on `home` that forwards to `upstream` and listens on a free port.
    pub fn on(home: &Path, upstream: &str) -> DaemonBuilder {
        let arguments = ["--upstream", upstream].map(OsString::from).to_vec();
        DaemonBuilder {
            home: home.to_owned(),
            arguments,
            environment: Vec::new(),
            max_file_blocks: None,
            open_files: None,
            port: Some(0),
            unprivileged: false,
        }
    }

    /// A daemon on `home` without further arguments.
    pub fn bare(home: &Path) -> DaemonBuilder {
        DaemonBuilder {
            home: home.to_owned(),
            arguments: Vec::new(),
            environment: Vec::new(),
            max_file_blocks: None,
            open_files: None,
            port: None,
            unprivileged: false,
        }
    }

    /// The port that it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The base URL for a client.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its home directory.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Its output so far.
    pub fn log(&self) -> String {
        self.log.text()
    }

    /// Whether it is still running.
    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Sends a signal, given by its name without `SIG`.
    ///
    /// # Errors
    /// The daemon has exited already.
    pub fn signal(&self, name: &str) -> Result<()> {
        process::signal(self.pid(), name)
    }

    /// Waits until the daemon exits.
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

    /// Sends SIGTERM and waits until the daemon exits.
    ///
    /// # Errors
    /// The daemon does not exit.
    pub fn stop(self) -> Result<Ended> {
        self.signal("TERM")?;
        self.ended(PATIENCE)
    }

    /// Kills the daemon, which simulates a crash.
    ///
    /// # Errors
    /// The daemon had exited before.
    pub fn kill(self) -> Result<Ended> {
        self.signal("KILL")?;
        self.ended(PATIENCE)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            #[expect(
                clippy::print_stderr,
                reason = "the log of the daemon belongs to the report of a failed test"
            )]
            {
                eprintln!("--- log of grov-proxyd ---\n{}---", self.log.text());
            }
        }
    }
}
