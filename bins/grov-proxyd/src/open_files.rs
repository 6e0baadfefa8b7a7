//! The limit of open files, and how many clients it allows.

use grov_proxy_core::Limits;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files reserved for the log, the lock, the database, the runtimes, hooks and calls to a judge. An idle daemon has about 25
/// open.
const RESERVED: u64 = 96;

/// The limit to raise to: more than two files for each of 4,096 clients and the reserved ones. Not the maximum, because
/// containers allow 1,000,000,000, and some programs iterate over all descriptors.
const ENOUGH: u64 = 16_384;

/// The maximum on macOS.
const OPEN_MAX: u64 = 10_240;

/// Clients that are always allowed.
const MIN_CLIENTS: usize = 16;

/// Raises the limit of open files of this process as far as the system permits. Returns the new limit, or `None` if there is no
/// limit.
///
/// Shells set it to 1,024 by default.
pub(crate) fn raise_limit() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    let current = limit.current?;
    let hard = limit.maximum.unwrap_or(ENOUGH).min(ENOUGH);
    if current >= hard {
        return Some(current);
    }
    // macOS refuses more than OPEN_MAX, even if its hard limit is higher.
    for target in [hard, hard.min(OPEN_MAX)] {
        let raised = Rlimit {
            current: Some(target),
            maximum: limit.maximum,
        };
        if target > current && setrlimit(Resource::Nofile, raised).is_ok() {
            return Some(target);
        }
    }
    tracing::warn!("the limit of open files cannot be raised");
    Some(current)
}

/// Returns how many clients can be connected within a limit of open files. Each needs a second file for its upstream
/// connection.
pub(crate) fn room_for_clients(limit: Option<u64>) -> usize {
    let max = Limits::DEFAULT.connections;
    let Some(limit) = limit else { return max };
    let left = limit.saturating_sub(RESERVED + Limits::BEYOND as u64) / 2;
    let clients = usize::try_from(left).unwrap_or(max).min(max);
    if clients < MIN_CLIENTS {
        tracing::warn!(
            limit,
            "the limit of open files is too low: raise it (ulimit -n) to 1024 or more"
        );
    }
    clients.max(MIN_CLIENTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_leave_room_for_the_upstream_and_for_files() {
        for limit in [256, 1024, 4096, 20_000] {
            let clients = room_for_clients(Some(limit));
            let files = 2 * clients + Limits::BEYOND;
            assert!(files as u64 + RESERVED <= limit, "{limit}: {clients}");
            assert!(clients >= MIN_CLIENTS, "{limit}: {clients}");
        }
        assert_eq!(room_for_clients(Some(1_073_741_816)), Limits::DEFAULT.connections);
        assert_eq!(room_for_clients(None), Limits::DEFAULT.connections);
        assert_eq!(room_for_clients(Some(20)), MIN_CLIENTS);
    }
}
