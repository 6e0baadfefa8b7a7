//! What has arrived of an answer, and the answer that it makes.

use crate::model::{Completion, ModelError, Stop};
use grov_domain::{ChatError, TokenUsage};
use std::time::Duration;

/// What has arrived of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Partial {
    /// The text so far.
    pub(super) text: String,
    /// Tokens by class, as far as the server said.
    pub(super) usage: Option<TokenUsage>,
    /// Why it ended; `None` until it has.
    pub(super) stop: Option<Stop>,
    /// Whether nothing more will come.
    pub(super) is_over: bool,
}

impl From<Completion> for Partial {
    fn from(completion: Completion) -> Self {
        Self {
            text: completion.text,
            usage: completion.usage,
            stop: Some(completion.stop),
            is_over: true,
        }
    }
}

impl Partial {
    /// The text and the tokens of a complete answer.
    pub(super) fn finished(self, max_tokens: u32) -> Result<(String, TokenUsage), ChatError> {
        let broken = |reason: String| Err(ChatError::Broken(reason));
        match self.stop {
            Some(Stop::Refusal) => Err(ChatError::Refused),
            Some(Stop::Length) => broken(format!(
                "it was cut off at the limit of {max_tokens} tokens, or at the model's own; raise agent.max_output_tokens"
            )),
            None if !self.is_over => broken("it ended early".to_owned()),
            _ if self.text.trim().is_empty() => broken("it has no text".to_owned()),
            _ => Ok((self.text, self.usage.unwrap_or_default())),
        }
    }
}

/// The error of a call as the port has it.
pub(super) fn chat_error(error: ModelError, limit: Duration) -> ChatError {
    let shown = error.to_string();
    match error {
        ModelError::KeyRefused(status) => ChatError::KeyRefused(status),
        ModelError::Rejected { status, kind } => ChatError::Rejected(format!("status {status}, {kind}")),
        ModelError::FormatRefused | ModelError::OwnListener(_) => ChatError::Rejected(shown),
        ModelError::Unavailable { status, retry_after } => ChatError::Unavailable {
            reason: format!("status {status}"),
            retry_after,
        },
        ModelError::Unreachable(reason) => ChatError::Unavailable {
            reason,
            retry_after: None,
        },
        ModelError::Broken(reason) => ChatError::Broken(reason),
        ModelError::TimedOut(_) => ChatError::TimedOut(limit),
        ModelError::NotInstalled | ModelError::LoggedOut | ModelError::Closed => ChatError::Rejected(shown),
    }
}

/// Whether a provider with this result can be used.
pub(super) fn is_usable<T>(result: &Result<T, ChatError>) -> bool {
    !matches!(
        result,
        Err(ChatError::KeyRefused(_) | ChatError::Unavailable { .. } | ChatError::TimedOut(_))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn partial(text: &str, stop: Option<Stop>, is_over: bool) -> Partial {
        Partial {
            text: text.to_owned(),
            usage: None,
            stop,
            is_over,
        }
    }

    #[test]
    fn only_a_complete_answer_is_one() {
        assert!(partial("{}", Some(Stop::End), false).finished(9).is_ok());
        assert!(partial("{}", None, true).finished(9).is_ok());
        let error = |partial: Partial| partial.finished(9).unwrap_err();
        assert_eq!(
            error(partial("{}", Some(Stop::Refusal), true)),
            ChatError::Refused
        );
        for cut in [
            partial("{", Some(Stop::Length), true),
            partial("{}", None, false),
            partial(" \n", Some(Stop::End), true),
        ] {
            assert!(matches!(error(cut), ChatError::Broken(_)));
        }
    }
}
