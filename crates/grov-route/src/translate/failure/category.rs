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
