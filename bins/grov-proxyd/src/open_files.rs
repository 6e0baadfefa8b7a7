//! The limit of open files, and how many connections it allows.

use grov_mitm::MitmLimits;
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

/// How many connections fit in the limit of open files. Each needs a second file for its other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    /// Clients of the proxy, intercepted ones included.
    pub(crate) clients: usize,
    /// Connections of the CONNECT proxy that are tunnelled or not yet intercepted.
    pub(crate) tunnels: usize,
}

/// Returns the room for clients, and for up to `tunnels` tunnels; 0 without a CONNECT proxy. If there is not enough for both,
/// tunnels get at most half.
pub(crate) fn room(limit: Option<u64>, tunnels: usize) -> Room {
    let max = Limits::DEFAULT.connections;
    let Some(limit) = limit else {
        return Room {
            clients: max,
            tunnels,
        };
    };
    let beyond = Limits::BEYOND + if tunnels > 0 { MitmLimits::BEYOND } else { 0 };
    let pairs = limit.saturating_sub(RESERVED + beyond as u64) / 2;
    let pairs = usize::try_from(pairs).unwrap_or(usize::MAX);
    let room_for_tunnels = tunnels.min(pairs / 2);
    let clients = (pairs - room_for_tunnels).min(max);
    if clients < MIN_CLIENTS || room_for_tunnels < tunnels {
        tracing::warn!(
            limit,
            clients,
            tunnels = room_for_tunnels,
            "the limit of open files is low: raise it (ulimit -n), or lower mitm.connections"
        );
    }
    Room {
        clients: clients.max(MIN_CLIENTS),
        tunnels: room_for_tunnels.max(MIN_CLIENTS.min(tunnels)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_leave_room_for_the_upstream_and_for_files() {
        for limit in [256, 1024, 4096, 20_000] {
            let Room { clients, tunnels } = room(Some(limit), 0);
            let files = 2 * clients + Limits::BEYOND;
            assert!(files as u64 + RESERVED <= limit, "{limit}: {clients}");
            assert!(clients >= MIN_CLIENTS && tunnels == 0, "{limit}: {clients}");
        }
        let clients = |limit| room(limit, 0).clients;
        assert_eq!(clients(Some(1_073_741_816)), Limits::DEFAULT.connections);
        assert_eq!(clients(None), Limits::DEFAULT.connections);
        assert_eq!(clients(Some(20)), MIN_CLIENTS);
    }

    #[test]
    fn tunnels_count_as_open_files() {
        for limit in [512, 1024, 4096, 16_384] {
            let Room { clients, tunnels } = room(Some(limit), 1024);
            let files = 2 * (clients + tunnels) + Limits::BEYOND + MitmLimits::BEYOND;
            assert!(files as u64 + RESERVED <= limit, "{limit}: {clients}, {tunnels}");
            assert!(
                clients >= tunnels && tunnels >= MIN_CLIENTS,
                "{limit}: {clients}, {tunnels}"
            );
        }
        let wide = Room {
            clients: Limits::DEFAULT.connections,
            tunnels: 1024,
        };
        assert_eq!((room(Some(16_384), 1024), room(None, 1024)), (wide, wide));
        assert_eq!(room(Some(20), 8).tunnels, 8);
    }
}
