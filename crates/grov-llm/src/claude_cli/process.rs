//! Runs the client once, in a process group that ends with the call.

use super::output::{self, Line};
use super::{Client, ClientAnswer, ClientError, ClientPrompt};
use crate::model::Stop;
use rustix::process::{Pid, Signal, kill_process_group};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::pin::pin;
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};

/// How long the client may take to end after its result.
const END_TIMEOUT: Duration = Duration::from_secs(2);

/// Runs the client. The process and all that it started end before this returns, and also if the future is dropped.
pub(super) async fn run(
    client: &Client,
    prompt: &ClientPrompt,
    on_text: &mut (dyn FnMut(&str) + Send),
) -> Result<ClientAnswer, ClientError> {
    let program = client.environment.find(&client.program);
    let program = program.ok_or(ClientError::NotInstalled)?;
    // Blocking, but only a few small files.
    let directory = prepare(client, &prompt.system)
        .map_err(|error| ClientError::NotStarted(format!("no temporary directory: {error}")))?;
    let mut child = spawn(client, &program, prompt, &directory).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => ClientError::NotInstalled,
        _ => ClientError::NotStarted(error.to_string()),
    })?;
    let group = Group::of(&child);
    let answered = talk(&mut child, client.limits.output_bytes, &prompt.input, on_text).await;
    // Before the process is waited for: afterwards its number may belong to another one.
    drop(group);
    let _ = child.wait().await;
    answered
}

/// A private directory with the system prompt and the client's settings, and an empty one in it to work in.
fn prepare(client: &Client, system: &str) -> io::Result<TempDir> {
    let directory = tempfile::Builder::new().prefix("grov-client-").tempdir()?;
    std::fs::DirBuilder::new()
        .mode(0o700)
        .create(directory.path().join("work"))?;
    std::fs::write(directory.path().join("system.txt"), system)?;
    let settings = client.environment.client_settings().to_string();
    std::fs::write(directory.path().join("settings.json"), settings)?;
    Ok(directory)
}

fn spawn(client: &Client, program: &Path, prompt: &ClientPrompt, directory: &TempDir) -> io::Result<Child> {
    Command::new(program)
        .args(client.arguments())
        .arg("--settings")
        .arg(directory.path().join("settings.json"))
        .arg("--system-prompt-file")
        .arg(directory.path().join("system.txt"))
        .env_clear()
        .envs(client.environment.variables())
        .envs(client.environment.path_for(program).map(|path| ("PATH", path)))
        .env(
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
            prompt.max_output_tokens.to_string(),
        )
        .current_dir(directory.path().join("work"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
}

/// Writes the message and reads lines until the result.
async fn talk(
    child: &mut Child,
    max_bytes: u64,
    input: &str,
    on_text: &mut (dyn FnMut(&str) + Send),
) -> Result<ClientAnswer, ClientError> {
    let pipes = child.stdin.take().zip(child.stdout.take());
    let no_pipes = || ClientError::NotStarted("it has no input and output".to_owned());
    let (mut stdin, stdout) = pipes.ok_or_else(no_pipes)?;
    let mut lines = BufReader::new(stdout.take(max_bytes)).lines();
    // Dropping the input at its end tells the client that it is complete. An error shows in the missing result.
    let write = async move {
        let _ = stdin.write_all(input.as_bytes()).await;
        let _ = stdin.shutdown().await;
    };
    let mut is_cut = false;
    let read = async {
        let mut has_begun = false;
        let mut so_far = String::new();
        while let Some(line) = lines.next_line().await.transpose() {
            let line = line.map_err(|error| ClientError::Unreadable(error.to_string()))?;
            match output::line(&line) {
                Line::Begun => has_begun = true,
                Line::Text(text) => {
                    so_far.push_str(&text);
                    on_text(&text);
                }
                Line::Cut => {
                    is_cut = true;
                    return Ok(ClientAnswer {
                        text: so_far,
                        stop: Stop::Length,
                        usage: None,
                        cost: None,
                    });
                }
                Line::End(result) => return result,
                Line::Other => {}
            }
        }
        Err(ClientError::NoResult { has_begun })
    };
    // A client that answers without reading everything is not waited for.
    let answered = {
        let mut read = pin!(read);
        tokio::select! {
            answered = &mut read => answered,
            () = write => read.await,
        }
    };
    // The client may still be writing its own files. But one that was cut off would make another call.
    if !is_cut {
        let ended = async { while let Ok(Some(_)) = lines.next_line().await {} };
        let _ = tokio::time::timeout(END_TIMEOUT, ended).await;
    }
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
