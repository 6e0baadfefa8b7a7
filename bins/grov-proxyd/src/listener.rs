//! The listening socket.

use crate::daemon::Stop;
use crate::port_holder;
use anyhow::anyhow;
use grov_runtime::ProxySettings;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use tokio::net::{TcpListener, TcpSocket};

/// Connections that may wait to be accepted. With the usual 128, some clients of a larger burst wait for a second.
const BACKLOG: u32 = 1024;

/// Binds the configured address. Returns the socket and its address, which has the actual port if the configured one is 0.
pub(crate) fn bind(settings: &ProxySettings) -> Result<(TcpListener, SocketAddr), Stop> {
    let address = SocketAddr::new(settings.host, settings.port);
    let listener = listen(address).map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => in_use(address),
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
    // So that a restarted daemon can use the port at once.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

fn in_use(address: SocketAddr) -> Stop {
    let port = address.port();
    let who = match port_holder::find(address) {
        Some(holder) => format!("another program listens on port {port}: {holder}"),
        None => format!("another program listens on port {port}"),
    };
    let hint = format!(
        "stop it, or choose another port: grov-proxyd --port {}",
        next_port(port)
    );
    Stop::fault(anyhow!("{address} is already in use: {who}")).with_hint(hint)
}

/// Suggests another port.
fn next_port(port: u16) -> u16 {
    if port < u16::MAX { port + 1 } else { 8080 }
}
