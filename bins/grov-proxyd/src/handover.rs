//! A restart without a failed request: the daemon starts its successor, which inherits the listening sockets and the home's lock.
//!
//! ```text
//! predecessor ── starts with the sockets and one end of a pair ──▶ successor
//!             ◀── a line: ready, or why it did not start ───────────
//!             ── the lock ─────────────────────────────────────────▶ publishes its record, accepts
//! stops accepting, completes its connections
//! ```
//!
//! The sockets are passed as systemd passes them (`LISTEN_FDS`, `LISTEN_FDNAMES`), so a socket unit can start the daemon too.

mod give;
mod take;

pub(crate) use give::{HandOver, Listener, Successor};
pub(crate) use take::{Inherited, Predecessor};

use serde::{Deserialize, Serialize};

/// The name of the proxy's listener, here and in the socket unit.
const PROXY: &str = "proxy";
/// The name of the CONNECT proxy's listener, likewise.
const MITM: &str = "mitm";
/// The name of the successor's end of the pair.
const PREDECESSOR: &str = "predecessor";

/// What a successor says to its predecessor, in one line.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Report {
    /// It will accept connections once it has the lock.
    Ready,
    Failed(StartFailure),
}

/// Why a successor did not start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StartFailure {
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl StartFailure {
    fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
        }
    }
}
