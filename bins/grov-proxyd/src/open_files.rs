//! The limit of open files, and how many clients it leaves room for.

use grov_proxy_core::Limits;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files that are no clients' and no upstream connections: log, lock, database and its companions, the runtimes' own, what hooks
/// read, calls to a judge. A daemon at rest has some twenty five.
const OWN: u64 = 96;

/// More than the daemon ever has open: two for each of 4,096 clients, and its own. Containers allow a thousand million, and
/// programs that go through all of them take their time.
const ENOUGH: u64 = 16_384;

/// The most open files of a process on macOS.
const OPEN_MAX: u64 = 10_240;

/// So many clients may always be connected, whatever else fails for it.
const LEAST: usize = 16;

/// Raises this process's limit of open files as far as the system lets it. The limit after that; `None`: there is none.
///
/// A shell gives 1,024 by default, for programs that cannot handle more.
pub(crate) fn raise_limit() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    let current = limit.current?;
    let hard = limit.maximum.unwrap_or(ENOUGH).min(ENOUGH);
    if current >= hard {
        return Some(current);
    }
    // macOS takes no more than OPEN_MAX, whatever it names as the most.
    for most in [hard, hard.min(OPEN_MAX)] {
        let raised = Rlimit {
            current: Some(most),
            maximum: limit.maximum,
        };
        if most > current && setrlimit(Resource::Nofile, raised).is_ok() {
            return Some(most);
        }
    }
    tracing::warn!("the limit of open files cannot be raised");
    Some(current)
}

/// How many clients may be connected with so many open files, each with a connection to the upstream.
pub(crate) fn room_for_clients(limit: Option<u64>) -> usize {
    let most = Limits::DEFAULT.connections;
    let Some(limit) = limit else { return most };
    let left = limit.saturating_sub(OWN + Limits::BEYOND as u64) / 2;
    let clients = usize::try_from(left).unwrap_or(most).min(most);
    if clients < LEAST {
        tracing::warn!(
            limit,
            "the limit of open files is too low: raise it (ulimit -n) to 1024 or more"
        );
    }
    clients.max(LEAST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_leave_room_for_the_upstream_and_for_files() {
        for limit in [256, 1024, 4096, 20_000] {
            let clients = room_for_clients(Some(limit));
            let files = 2 * clients + Limits::BEYOND;
            assert!(files as u64 + OWN <= limit, "{limit}: {clients}");
            assert!(clients >= LEAST, "{limit}: {clients}");
        }
        assert_eq!(room_for_clients(Some(1_073_741_816)), Limits::DEFAULT.connections);
        assert_eq!(room_for_clients(None), Limits::DEFAULT.connections);
        assert_eq!(room_for_clients(Some(20)), LEAST);
    }
}
