//! Why a tool has no answer.

use serde::Serialize;
use std::time::Duration;

/// The kind of an error: a stable name for scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// The command line or an argument is wrong.
    Usage,
    /// A key or another setting is missing or wrong.
    Configuration,
    /// The tool's key is not set.
    NoKey,
    /// The provider refused the key.
    Unauthorized,
    /// The provider refused the request.
    InvalidRequest,
    /// The provider limits the number of requests.
    RateLimited,
    /// A limit of the user's plan with the provider is reached.
    PlanLimit,
    /// The provider failed.
    ProviderError,
    /// There is no connection to the provider.
    Unreachable,
    /// The provider did not answer in time.
    TimedOut,
    /// The response broke off.
    Incomplete,
    /// The response could not be used.
    BadAnswer,
    /// The response is empty.
    EmptyAnswer,
    /// The provider blocked the request or its answer.
    Blocked,
    /// The daily budget does not allow the call.
    Budget,
    /// The user cancelled the call.
    Cancelled,
    /// A file must not be sent.
    RefusedFile,
    /// A file, a plan or a branch does not exist.
    NotFound,
    /// A file or the spending ledger cannot be read or written.
    Io,
    /// Git failed.
    Git,
    /// A tool of the user failed.
    UserTool,
}

impl ErrorKind {
    /// Whether the same request may succeed later, and the provider did not bill it.
    pub fn is_unbilled_and_passing(self) -> bool {
        matches!(self, Self::RateLimited | Self::Unreachable)
    }

    /// Whether the provider may bill the request although there is no answer.
    pub fn may_have_cost(self) -> bool {
        matches!(
            self,
            Self::TimedOut
                | Self::Incomplete
                | Self::BadAnswer
                | Self::EmptyAnswer
                | Self::Blocked
                | Self::Cancelled
                | Self::ProviderError
        )
    }
}

/// Why a tool has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    /// The kind.
    pub kind: ErrorKind,
    /// What happened.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
    /// When the provider wants the next request.
    pub retry_after: Option<Duration>,
}

impl ToolError {
    /// An error without a hint.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: None,
            retry_after: None,
        }
    }

    /// An error of usage.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// With what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// With the provider's `Retry-After`.
    #[must_use]
    pub fn after(mut self, pause: Option<Duration>) -> Self {
        self.retry_after = pause;
        self
    }
}
