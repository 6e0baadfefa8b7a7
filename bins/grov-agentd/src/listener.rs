//! The listening socket.

use crate::stop::Stop;
use anyhow::anyhow;
use grov_runtime::port::{Holder, holder};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use tokio::net::{TcpListener, TcpSocket};

/// The name of this program.
const PROGRAM: &str = "grov-agentd";

/// Connections that may wait to be accepted. With the usual 128, some clients of a larger burst wait for a second.
const BACKLOG: u32 = 1024;

/// Binds an address. Returns the socket and its address, which has the actual port if the configured one is 0.
pub(crate) fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr), Stop> {
    let listener = listen(address).map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => in_use(address, holder(address.port())),
        ErrorKind::PermissionDenied => Stop::fault(anyhow!("no permission to listen on {address}"))
            .with_hint("ports below 1024 are reserved: choose another with --port"),
        _ => Stop::fault(anyhow!("cannot listen on {address}: {error}")),
    })?;
    let bound = listener.local_addr().map_err(Stop::fault)?;
    Ok((listener, bound))
}

/// The error for a port that another program has: often the service itself, which runs already.
fn in_use(address: SocketAddr, holder: Option<Holder>) -> Stop {
    let who = holder
        .as_ref()
        .map_or_else(|| "another program".to_owned(), Holder::to_string);
    match holder {
        Some(Holder { pid, name }) if name == PROGRAM => {
            let error = anyhow!("{address} is already in use by another {who}: the service runs already");
            Stop::fault(error).with_hint(format!(
                "use the one that runs, or end it first: kill {pid}; another service needs a home and a port of its own: --home, --port"
            ))
        }
        _ => Stop::fault(anyhow!("{address} is already in use by {who}"))
            .with_hint("stop it, or choose another port with --port"),
    }
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()
    } else {
        TcpSocket::new_v6()
    }?;
    // So that a restarted service can use the port at once.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_service_is_told_that_the_first_one_runs() {
        let message = |name: &str| {
            let holder = (!name.is_empty()).then(|| Holder {
                pid: 7,
                name: name.to_owned(),
            });
            let stop = in_use(SocketAddr::from(([127, 0, 0, 1], 8181)), holder);
            format!("{}; {}", stop.error, stop.hint.unwrap_or_default())
        };
        let own = message("grov-agentd");
        assert!(
            own.contains("the service runs already") && own.contains("kill 7"),
            "{own}"
        );
        assert!(message("nginx").contains("already in use by nginx (process 7)"));
        assert!(message("").contains("already in use by another program"));
    }
}
