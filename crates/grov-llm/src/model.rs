//! The [`Model`] trait and its providers.

pub(crate) mod anthropic;
pub(crate) mod claude_cli;
pub(crate) mod openai;
pub(crate) mod transport;

pub(crate) use anthropic::Anthropic;
pub(crate) use claude_cli::ClaudeCli;
pub(crate) use openai::OpenAi;
pub(crate) use transport::{Incoming, Reply, Transport};

use crate::request::ModelRequest;
use async_trait::async_trait;
use grov_domain::{MicroUsd, TokenUsage};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

/// A model. Each `complete` makes exactly one call, so that each can be accounted for.
#[async_trait]
pub(crate) trait Model: Send + Sync {
    /// Makes one call.
    async fn complete(&self, request: &ModelRequest) -> Result<Completion, ModelError>;

    /// Tokens that the provider adds to each request, besides framing.
    fn extra_tokens(&self) -> u64 {
        0
    }

    /// Ends calls that would outlive the judge.
    fn close(&self) {}
}

/// The answer of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Completion {
    /// Its text.
    pub(crate) text: String,
    /// Tokens by class; `None` if the server does not report them.
    pub(crate) usage: Option<TokenUsage>,
    /// What the provider itself says it cost.
    pub(crate) cost: Option<MicroUsd>,
    /// Why it ended.
    pub(crate) stop: Stop,
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The model finished, or the reason is unknown.
    End,
    /// It reached the token limit.
    Length,
    /// The model refused.
    Refusal,
}

/// Why a call failed. Contains no text of the server, which may repeat the key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ModelError {
    /// 401 or 403.
    #[error("the provider refused the API key (status {0}); check the key and what it is allowed to do")]
    KeyRefused(u16),
    /// A status that retrying the same request would not change.
    #[error(
        "the provider rejected the request (status {status}, {kind}); check the model's name and the base URL"
    )]
    Rejected {
        /// The status.
        status: u16,
        /// The provider's name of the error.
        kind: String,
    },
    /// The server does not support the requested output format. The next call uses another one.
    #[error("the provider does not take this kind of output format")]
    FormatRefused,
    /// 429, 5xx or 529: a retry may succeed.
    #[error("the provider cannot answer at present (status {status})")]
    Unavailable {
        /// The status.
        status: u16,
        /// The pause that the provider asks for.
        retry_after: Option<Duration>,
    },
    /// No connection.
    #[error("the provider cannot be reached: {0}")]
    Unreachable(String),
    /// The connection broke, or the response is not one of this API.
    #[error("the provider's answer was broken: {0}")]
    Broken(String),
    /// No answer in time.
    #[error("the provider did not answer within {0:?}")]
    TimedOut(Duration),
    /// The server's name resolves to one of Grov's own listeners.
    #[error(
        "the provider's address is Grov's own listener {0}, so calls would loop; configure the provider's own address"
    )]
    OwnListener(SocketAddr),
    /// The user's client is not there.
    #[error("the client `claude` is not installed, or not in PATH; install Claude Code")]
    NotInstalled,
    /// The user's client has no login, or the API refuses it.
    #[error("the client `claude` is not logged in; run `claude` and log in")]
    LoggedOut,
    /// The judge was closed during the call.
    #[error("the judge was closed")]
    Closed,
}

impl ModelError {
    /// Whether the same call may succeed later.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(
            self,
            Self::Unavailable { .. } | Self::Unreachable(_) | Self::Broken(_)
        )
    }

    /// Whether the provider may have processed the call, and charge for it, although no answer arrived.
    pub(crate) fn may_have_cost(&self) -> bool {
        matches!(self, Self::TimedOut(_) | Self::Broken(_) | Self::Closed)
    }

    /// The pause that the provider asks for.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Unavailable { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// The error for a response with an unsuccessful status.
    pub(crate) fn of_status(reply: &Reply) -> Self {
        let status = reply.status;
        match status {
            401 | 403 => Self::KeyRefused(status),
            408 | 429 | 500.. if reply.may_retry => Self::Unavailable {
                status,
                retry_after: reply.retry_after,
            },
            _ => Self::Rejected {
                status,
                kind: reply.error_kind(),
            },
        }
    }
}

/// The output formats of a provider, best first, and the best one that the server has not refused.
#[derive(Debug)]
pub(crate) struct FormatFallback {
    formats: &'static [OutputFormat],
    used: AtomicU8,
}

/// How JSON output is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    /// With a schema that the server enforces.
    Schema,
    /// As a JSON object of any shape.
    Object,
    /// Only by the prompt.
    Prompt,
}

impl FormatFallback {
    pub(crate) fn new(formats: &'static [OutputFormat]) -> Self {
        Self {
            formats,
            used: AtomicU8::new(0),
        }
    }

    /// The index and value of the format to use now.
    pub(crate) fn current(&self) -> (u8, OutputFormat) {
        let index = self.used.load(Ordering::Relaxed);
        (index, self.at(index))
    }

    /// The format with this index.
    pub(crate) fn at(&self, index: u8) -> OutputFormat {
        let format = self.formats.get(usize::from(index)).copied();
        format.unwrap_or(OutputFormat::Prompt)
    }

    /// The index of the format to try after this one.
    pub(crate) fn after(&self, index: u8) -> Option<u8> {
        let next = index.checked_add(1)?;
        (usize::from(next) < self.formats.len()).then_some(next)
    }

    /// Uses a format that the server took.
    pub(crate) fn took(&self, index: u8) {
        self.used.store(index, Ordering::Relaxed);
    }

    /// Records that the server answered 400 to a request with format `index`. Returns whether there is another format to try; if
    /// not, the format was not the cause, and the best one is used again.
    pub(crate) fn refused(&self, index: u8) -> bool {
        let next = index + 1;
        let more = usize::from(next) < self.formats.len();
        let _ = self.used.compare_exchange(
            index,
            if more { next } else { 0 },
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
        more
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_formats_are_tried_in_order_and_then_from_the_start() {
        let fallback =
            FormatFallback::new(&[OutputFormat::Schema, OutputFormat::Object, OutputFormat::Prompt]);
        let (first, format) = fallback.current();
        assert_eq!(format, OutputFormat::Schema);
        assert!(fallback.refused(first));
        // A second request that was in flight with the same format does not advance further.
        assert!(fallback.refused(first));
        let (second, format) = fallback.current();
        assert_eq!(format, OutputFormat::Object);
        assert!(fallback.refused(second));
        let (third, format) = fallback.current();
        assert_eq!(format, OutputFormat::Prompt);
        assert!(!fallback.refused(third));
        assert_eq!(fallback.current().1, OutputFormat::Schema);
    }
}
