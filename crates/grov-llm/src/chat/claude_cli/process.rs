//! Runs the client once, in a process group that ends with the call.

use super::output::{self, Line};
use super::{Run, unavailable};
use grov_domain::{ChatCompletion, ChatError};
use rustix::process::{Pid, Signal, kill_process_group};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::pin::pin;
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};

/// The most that the client may print, in bytes.
const MAX_OUTPUT_BYTES: u64 = 32 * 1024 * 1024;

/// How long the client may take to end after its result.
const END_TIMEOUT: Duration = Duration::from_secs(2);

/// Runs the client. The process and all that it started end before this returns, and also if the future is dropped.
pub(super) async fn run(
    run: Run<'_>,
    on_text: &mut (dyn FnMut(&str) + Send),
) -> Result<ChatCompletion, ChatError> {
    // Blocking, but only a few small files.
    let directory = prepare(&run.system).map_err(|error| {
        let reason = format!("no temporary directory for the client: {error}");
        unavailable(&reason)
    })?;
    let mut child = spawn(&run, &directory).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => unavailable("the client `claude` is not installed, or not in PATH"),
        _ => unavailable(&format!("the client cannot be started: {error}")),
    })?;
    let group = Group::of(&child);
    let answered = talk(&mut child, &run.input, on_text).await;
    // Before the process is waited for: afterwards its number may belong to another one.
    drop(group);
    let _ = child.wait().await;
    answered
}

/// A private directory with the system prompt, and an empty one in it to work in.
fn prepare(system: &str) -> io::Result<TempDir> {
    let directory = tempfile::Builder::new().prefix("grov-chat-").tempdir()?;
    std::fs::DirBuilder::new()
        .mode(0o700)
        .create(directory.path().join("work"))?;
    std::fs::write(directory.path().join("system.txt"), system)?;
    Ok(directory)
}

fn spawn(run: &Run<'_>, directory: &TempDir) -> io::Result<Child> {
    Command::new(run.program)
        .args(&run.arguments)
        .arg("--system-prompt-file")
        .arg(directory.path().join("system.txt"))
        .env_clear()
        .envs(run.environment.iter().map(|(name, value)| (name, value)))
        .env("CLAUDE_CODE_MAX_OUTPUT_TOKENS", run.max_output_tokens.to_string())
        .current_dir(directory.path().join("work"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
}

/// Writes the conversation and reads lines until the result.
async fn talk(
    child: &mut Child,
    input: &str,
    on_text: &mut (dyn FnMut(&str) + Send),
) -> Result<ChatCompletion, ChatError> {
    let pipes = child.stdin.take().zip(child.stdout.take());
    let (mut stdin, stdout) = pipes.ok_or_else(|| unavailable("the client has no input and output"))?;
    let mut lines = BufReader::new(stdout.take(MAX_OUTPUT_BYTES)).lines();
    // Dropping the input at its end tells the client that it is complete. An error shows in the missing result.
    let write = async move {
        let _ = stdin.write_all(input.as_bytes()).await;
        let _ = stdin.shutdown().await;
    };
    let read = async {
        while let Some(line) = lines.next_line().await.transpose() {
            let line = line.map_err(|error| ChatError::Broken(error.to_string()))?;
            match output::line(&line) {
                Line::Text(text) => on_text(&text),
                Line::Result(result) => return result,
                Line::Other => {}
            }
        }
        Err(unavailable(
            "the client ended without a result; run `claude -p hello` to see why",
        ))
    };
    // A client that answers without reading everything is not waited for.
    let answered = {
        let mut read = pin!(read);
        tokio::select! {
            answered = &mut read => answered,
            () = write => read.await,
        }
    };
    // The client may still be writing its own files.
    let ended = async { while let Ok(Some(_)) = lines.next_line().await {} };
    let _ = tokio::time::timeout(END_TIMEOUT, ended).await;
    answered
}

/// A process group that ends when this is dropped.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        let number = child.id().and_then(|id| i32::try_from(id).ok());
        Self(number.and_then(Pid::from_raw))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(leader) = self.0 {
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}
