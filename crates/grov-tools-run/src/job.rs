//! Calls that run as a job at the provider. A file records each, so that the same command goes on with it after a lost
//! connection, a cancelled command or a killed process. The file is removed with the answer.

use crate::Surroundings;
use crate::cache::{Cache, create_folder};
use crate::http::Line;
use grov_domain::{LlmCall, LlmCallId, MicroUsd};
use grov_tools::perplexity::Chat;
use grov_tools::perplexity::job::{Job, State, poll, with_key};
use grov_tools::{ErrorKind, HttpCall, ToolError};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration as StdDuration;
use time::{Duration, OffsetDateTime};
use tokio::time::Instant;

/// How long a job is asked for after it was submitted.
pub(crate) const LIFETIME: Duration = Duration::DAY;
/// How long one command waits for a job.
const MAX_WAIT: StdDuration = StdDuration::from_secs(60 * 60);
/// The time limit of one question for the state, which is answered at once.
const MAX_POLL: StdDuration = StdDuration::from_secs(30);
/// The pause between the first two questions; each later one is half as long again.
const FIRST_PAUSE: StdDuration = StdDuration::from_millis(500);
/// The longest pause.
const MAX_PAUSE: StdDuration = StdDuration::from_secs(10);

/// The record of a job.
pub(crate) struct JobFile {
    path: PathBuf,
    now: OffsetDateTime,
}

/// A job that was submitted, or may have been.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Begun {
    #[serde(with = "time::serde::rfc3339")]
    at: OffsetDateTime,
    idempotency_key: String,
    /// The provider's name for it, once it answered.
    id: Option<String>,
    /// The call in the spending ledger.
    call: LlmCallId,
    reserved_micro_usd: u64,
}

impl Begun {
    /// The call in the spending ledger: id, time and reserved amount.
    pub(crate) fn call(&self) -> (LlmCallId, OffsetDateTime, MicroUsd) {
        (self.call.clone(), self.at, MicroUsd(self.reserved_micro_usd))
    }
}

impl JobFile {
    /// The record beside the cached answer of the same call.
    pub(crate) fn beside(cache: &Cache, around: &Surroundings) -> Self {
        Self {
            path: cache.beside("job"),
            now: around.clock.now(),
        }
    }

    /// The job that was begun before and is not too old.
    pub(crate) fn begun(&self) -> Option<Begun> {
        let begun: Begun = serde_json::from_slice(&std::fs::read(&self.path).ok()?).ok()?;
        (self.now - begun.at < LIFETIME).then_some(begun)
    }

    /// Records a job before it is submitted.
    ///
    /// # Errors
    ///
    /// The file cannot be written; then nothing may be submitted.
    pub(crate) fn begin(&self, call: &LlmCall) -> Result<(), ToolError> {
        self.write(&Begun {
            at: call.at,
            idempotency_key: format!("grov-{}", call.id),
            id: None,
            call: call.id.clone(),
            reserved_micro_usd: call.cost.0,
        })
    }

    fn write(&self, begun: &Begun) -> Result<(), ToolError> {
        let failed = |error: &dyn std::fmt::Display| {
            ToolError::new(
                ErrorKind::Io,
                format!(
                    "the record of the job cannot be written to {}: {error}",
                    self.path.display()
                ),
            )
        };
        let text = serde_json::to_vec(begun).map_err(|error| failed(&error))?;
        if let Some(folder) = self.path.parent() {
            create_folder(folder).map_err(|error| failed(&error))?;
        }
        grov_runtime::write_private(&self.path, &text).map_err(|error| failed(&error))
    }

    /// Forgets the job.
    pub(crate) fn remove(&self) {
        // A job that stays recorded is asked for once more, and its answer is the same.
        let _ = std::fs::remove_file(&self.path);
    }

    /// Submits the job, unless that was done, and waits for its result.
    pub(crate) async fn run(&self, line: &Line<'_>, call: &HttpCall) -> Result<Chat, ToolError> {
        let mut begun = self.begun().ok_or_else(|| {
            ToolError::new(ErrorKind::Io, "the record of the job is gone").hint("call it again")
        })?;
        let id = match begun.id.clone() {
            Some(id) => id,
            None => {
                let submitted = line.post(&with_key(call, &begun.idempotency_key)).await;
                let job = submitted.and_then(|body| Job::of_body(&body));
                // Without an answer it may have been submitted: the same key finds it again.
                let job = job.inspect_err(|error| {
                    if !matches!(error.kind, ErrorKind::TimedOut | ErrorKind::Incomplete) {
                        self.remove();
                    }
                })?;
                begun.id = Some(job.id.clone());
                self.write(&begun)?;
                job.id
            }
        };
        self.wait(line, &poll(call, &id)).await
    }

    /// Asks for the state until the job is done. Only silence of the provider ends that, not a lost connection.
    async fn wait(&self, line: &Line<'_>, poll: &HttpCall) -> Result<Chat, ToolError> {
        let quick = Line {
            silence: line.silence.min(MAX_POLL),
            ..*line
        };
        let begun = Instant::now();
        let (mut heard, mut pause) = (begun, FIRST_PAUSE);
        loop {
            let asked = quick.get(poll).await.and_then(|body| Job::of_body(&body));
            let state = match asked {
                Ok(job) => {
                    heard = Instant::now();
                    match job.state {
                        State::Done(chat) => return Ok(chat),
                        State::Failed(reason) => {
                            self.remove();
                            return Err(ToolError::new(
                                ErrorKind::ProviderError,
                                format!("the research failed at {}: {reason}", line.provider),
                            )
                            .hint("it may have been billed; ask the question in other words"));
                        }
                        State::Pending(state) => state.to_lowercase(),
                    }
                }
                Err(error) if is_passing(error.kind) => {
                    if heard.elapsed() >= line.silence {
                        return Err(
                            error.hint("the research goes on; the same command within a day gets its result")
                        );
                    }
                    pause = pause.max(error.retry_after.unwrap_or_default());
                    "no connection".to_owned()
                }
                Err(error) => {
                    // The key can be corrected; anything else stays wrong.
                    if error.kind != ErrorKind::Unauthorized {
                        self.remove();
                    }
                    return Err(error);
                }
            };
            if begun.elapsed() >= MAX_WAIT {
                return Err(ToolError::new(
                    ErrorKind::TimedOut,
                    format!(
                        "{} has not finished after {} minutes",
                        line.provider,
                        MAX_WAIT.as_secs() / 60
                    ),
                )
                .hint("the research goes on; the same command within a day gets its result"));
            }
            (line.around.progress)(&format!(
                "{} researches: {state}, {} s",
                line.provider,
                begun.elapsed().as_secs()
            ));
            tokio::time::sleep(pause.min(line.silence)).await;
            pause = (pause * 3 / 2).min(MAX_PAUSE);
        }
    }
}

/// Whether the next question may be answered.
fn is_passing(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::Unreachable
            | ErrorKind::TimedOut
            | ErrorKind::Incomplete
            | ErrorKind::RateLimited
            | ErrorKind::ProviderError
            | ErrorKind::BadAnswer
    )
}
