//! A turn, a subagent or a session is over: what was done is followed and kept, by a process that nobody waits for.

use super::Call;
use super::proxy;
use super::worker::Work;
use grov_runtime::daemon;
use std::io::Write;
use std::process::Stdio;

/// Characters of what the agent said last that are handed over.
const LONGEST_ANSWER: usize = 8_000;

/// Starts the work, and returns at once.
pub(super) fn is_over(call: &Call<'_>, event: &str) -> Result<Option<String>, String> {
    let Some(whose) = call.whose() else {
        return Ok(None);
    };
    let settings = call.settings(Some(&whose.directory))?;
    // What goes through the proxy is recorded there.
    if proxy::own(call, &settings).is_some() {
        return Ok(None);
    }
    let answer = call.input.last_assistant_message.as_deref().unwrap_or_default();
    let work = Work {
        answer: answer.chars().take(LONGEST_ANSWER).collect(),
        event: event.to_owned(),
        whose,
    };
    let text = serde_json::to_vec(&work).map_err(|error| format!("work to be handed over: {error}"))?;
    let mut command = call.own_command()?;
    command.arg("hook-worker").arg(&work.whose.session);
    // The client's keys, tokens and addresses are none of ours.
    let environment = daemon::scrubbed(call.environment, &settings);
    command.env_clear().envs(environment.iter());
    command
        .current_dir(call.home.root())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut worker = command.spawn().map_err(|error| format!("a worker: {error}"))?;
    if let Some(mut stdin) = worker.stdin.take() {
        // It fits into the pipe: nobody is waited for.
        stdin
            .write_all(&text)
            .map_err(|error| format!("a worker did not take its work: {error}"))?;
    }
    Ok(None)
}
