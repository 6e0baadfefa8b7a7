//! The listening socket.

use crate::stop::Stop;
use anyhow::anyhow;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use tokio::net::{TcpListener, TcpSocket};

/// Connections that may wait to be accepted. With the usual 128, some clients of a larger burst wait for a second.
const BACKLOG: u32 = 1024;

/// Binds an address. Returns the socket and its address, which has the actual port if the configured one is 0.
pub(crate) fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr), Stop> {
    let listener = listen(address).map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => Stop::fault(anyhow!("{address} is already in use by another program"))
            .with_hint("stop it, or choose another port with --port"),
        ErrorKind::PermissionDenied => Stop::fault(anyhow!("no permission to listen on {address}"))
            .with_hint("ports below 1024 are reserved: choose another with --port"),
        _ => Stop::fault(anyhow!("cannot listen on {address}: {error}")),
    })?;
    let bound = listener.local_addr().map_err(Stop::fault)?;
    Ok((listener, bound))
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
