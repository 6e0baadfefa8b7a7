//! The classes of errors that the log and messages name.

use std::fmt;

/// The class of an error of a routed exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorCategory {
    /// The provider could not be reached, or the connection broke.
    Connection,
    /// The provider was too slow, or the client gave up.
    Timeout,
    /// The provider answered with this status.
    Http(u16),
    /// A request could not be translated.
    Translate,
    /// The provider's answer is not in the documented form.
    Parse,
    /// Anything else.
    Internal,
}

const CONNECTION: &[&str] = &[
    "connection refused",
    "no such host",
    "dial tcp",
    "connection reset",
    "connection closed",
    "connection aborted",
    "connection error",
    "error trying to connect",
    "failed to lookup",
    "dns error",
    "broken pipe",
    "unreachable",
    "end of file",
];

const TIMEOUT: &[&str] = &[
    "deadline exceeded",
    "client.timeout",
    "context canceled",
    "timed out",
    "timeout",
    "time-out",
];

impl ErrorCategory {
    /// Classifies an error of the transport by its message.
    pub fn of(message: &str) -> Self {
        let message = message.to_ascii_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| message.contains(word));
        if has(CONNECTION) {
            Self::Connection
        } else if has(TIMEOUT) {
            Self::Timeout
        } else {
            Self::Internal
        }
    }
}

impl ErrorCategory {
    /// What the user can do about an error of this class.
    pub(crate) fn advice(self) -> &'static str {
        match self {
            Self::Connection => "Check that it runs and that its endpoint in the provider file is right.",
            Self::Timeout => "Try again, or raise its `timeouts` in the provider file.",
            Self::Http(401 | 403) => "Check its key in the provider file; `grov route test LABEL` tries it.",
            Self::Http(402) => "Check the balance of its account.",
            Self::Http(404) => {
                "Check its endpoint (many end with /v1) and the name of the model; `grov route test LABEL` tries them."
            }
            Self::Http(429) => "Wait, or name a `fallback` for the label.",
            Self::Http(500..) => "Try again later, or name a `fallback` for the label.",
            Self::Http(_) => "It does not accept the request; `grov route test LABEL` shows what it accepts.",
            Self::Translate => "The request cannot be sent to this model.",
            Self::Parse => {
                "Check `api` and `endpoint` in the provider file; `grov route test LABEL` shows the answer."
            }
            Self::Internal => "`grov route test LABEL` shows more.",
        }
    }
}

impl fmt::Display for ErrorCategory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connection => f.write_str("CONNECTION"),
            Self::Timeout => f.write_str("TIMEOUT"),
            Self::Http(status) => write!(f, "HTTP_{status}"),
            Self::Translate => f.write_str("TRANSLATE"),
            Self::Parse => f.write_str("PARSE"),
            Self::Internal => f.write_str("INTERNAL"),
        }
    }
}
