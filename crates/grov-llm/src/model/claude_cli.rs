//! A model in the user's own installed client.

use super::{Completion, Model, ModelError};
use crate::SetupError;
use crate::chat::schema::in_words;
use crate::claude_cli::{ClaudeCliSettings, Client, ClientAnswer, ClientError, ClientLimits, ClientPrompt};
use crate::request::ModelRequest;
use async_trait::async_trait;
use tokio::sync::watch;

/// The most clients of one judge at the same time, whatever `concurrency` says.
pub(crate) const MAX_CLIENTS: usize = 2;

/// Judgements have a few hundred tokens, which come one by one with some hundred bytes around each.
const OUTPUT_BYTES: u64 = 4 * 1024 * 1024;

/// Tokens that the client adds to each request: its own name, and the date.
const CLIENT_TOKENS: u64 = 500;

/// A model in the user's own installed client.
pub(crate) struct ClaudeCli {
    client: Client,
    /// Becomes true when running clients must end.
    closing: watch::Sender<bool>,
}

impl ClaudeCli {
    /// A model with these settings. Starts no process.
    pub(crate) fn new(settings: ClaudeCliSettings) -> Result<Self, SetupError> {
        let limits = ClientLimits {
            at_once: MAX_CLIENTS,
            output_bytes: OUTPUT_BYTES,
        };
        let client = Client::new(settings, limits)?
            // The judge itself tries again, and accounts for each call.
            .with_variable("CLAUDE_CODE_MAX_RETRIES", "0")
            // Each question is asked once.
            .with_variable("DISABLE_PROMPT_CACHING", "1");
        Ok(Self {
            client,
            closing: watch::Sender::new(false),
        })
    }
}

#[async_trait]
impl Model for ClaudeCli {
    async fn complete(&self, request: &ModelRequest) -> Result<Completion, ModelError> {
        let prompt = ClientPrompt {
            system: in_words(&request.system, &request.schema.to_string()),
            input: request.user.clone(),
            max_output_tokens: request.max_tokens,
        };
        let mut ignored = |_: &str| {};
        let mut closing = self.closing.subscribe();
        tokio::select! {
            biased;
            _ = closing.wait_for(|closing| *closing) => Err(ModelError::Closed),
            answered = self.client.ask(&prompt, &mut ignored) => {
                answered.map(Completion::from).map_err(ModelError::from)
            }
        }
    }

    fn extra_tokens(&self) -> u64 {
        CLIENT_TOKENS
    }

    fn close(&self) {
        self.closing.send_replace(true);
    }
}

impl From<ClientAnswer> for Completion {
    fn from(answer: ClientAnswer) -> Self {
        Self {
            text: answer.text,
            usage: answer.usage,
            cost: answer.cost,
            stop: answer.stop,
        }
    }
}

impl From<ClientError> for ModelError {
    fn from(error: ClientError) -> Self {
        let shown = error.to_string();
        match error {
            ClientError::NotInstalled => Self::NotInstalled,
            ClientError::LoggedOut => Self::LoggedOut,
            ClientError::Status(status @ (408 | 429 | 500..)) => Self::Unavailable {
                status,
                retry_after: None,
            },
            ClientError::Status(status) => Self::Rejected {
                status,
                kind: "reported by the client".to_owned(),
            },
            // The API was not called, or has not answered.
            ClientError::NotStarted(_)
            | ClientError::NoResult { has_begun: false }
            | ClientError::Failed { has_cost: false } => Self::Unreachable(shown),
            ClientError::NoResult { has_begun: true }
            | ClientError::Failed { has_cost: true }
            | ClientError::Unreadable(_) => Self::Broken(shown),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_reached_no_model_are_free() {
        let of = |error: ClientError| ModelError::from(error);
        for (error, may_have_cost, may_pass) in [
            (ClientError::NotInstalled, false, false),
            (ClientError::LoggedOut, false, false),
            (ClientError::Status(404), false, false),
            (ClientError::Status(529), false, true),
            (ClientError::NoResult { has_begun: false }, false, true),
            (ClientError::NoResult { has_begun: true }, true, true),
            (ClientError::Failed { has_cost: true }, true, true),
        ] {
            let found = of(error.clone());
            assert_eq!(
                (found.may_have_cost(), found.may_pass()),
                (may_have_cost, may_pass),
                "{error:?}"
            );
        }
    }
}
