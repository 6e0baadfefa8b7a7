//! The limit of open files, and how many connections it allows.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files reserved for the log, the database, the runtime, uploads and calls to providers.
const RESERVED: u64 = 160;
/// The limit to raise to. Not the maximum, because containers allow 1,000,000,000.
const ENOUGH: u64 = 16_384;
/// Connections that are allowed if the limit permits.
const CONNECTIONS: u64 = 4096;
/// Connections that are always allowed.
const MIN_CONNECTIONS: u64 = 16;

/// Raises the limit of open files as far as the system permits, and returns how many connections may be open. Each may need a
/// second file for its call to a provider.
pub(crate) fn connections() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let current = limit.current.unwrap_or(ENOUGH);
    let target = limit.maximum.unwrap_or(ENOUGH).min(ENOUGH).max(current);
    let raised = Rlimit {
        current: Some(target),
        maximum: limit.maximum,
    };
    let files = if setrlimit(Resource::Nofile, raised).is_ok() {
        target
    } else {
        current
    };
    let connections = (files.saturating_sub(RESERVED) / 2).clamp(MIN_CONNECTIONS, CONNECTIONS);
    usize::try_from(connections).unwrap_or(usize::MAX)
}
