//! The listening socket.

use crate::daemon::Stop;
use crate::port_holder;
use anyhow::anyhow;
use grov_runtime::ProxySettings;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use tokio::net::{TcpListener, TcpSocket};

/// Connections that may wait to be accepted. With the usual 128, some clients of a larger burst wait for a second.
const BACKLOG: u32 = 1024;

/// Binds the configured address. Returns the socket and its address, which has the actual port if the configured one is 0.
pub(crate) fn bind(settings: &ProxySettings) -> Result<(TcpListener, SocketAddr), Stop> {
    bind_at(SocketAddr::new(settings.host, settings.port), "--port")
}

/// Like [`bind`] for the CONNECT proxy.
pub(crate) fn bind_connect_proxy(host: IpAddr, port: u16) -> Result<(TcpListener, SocketAddr), Stop> {
    bind_at(SocketAddr::new(host, port), "--mitm-port")
}

/// `flag` is the one that chooses another port.
fn bind_at(address: SocketAddr, flag: &str) -> Result<(TcpListener, SocketAddr), Stop> {
    let listener = listen(address).map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => in_use(address, flag),
        ErrorKind::PermissionDenied => Stop::fault(anyhow!("no permission to listen on {address}"))
            .with_hint(format!(
                "ports below 1024 are reserved: choose another with {flag}"
            )),
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

fn in_use(address: SocketAddr, flag: &str) -> Stop {
    let port = address.port();
    let who = match port_holder::find(address) {
        Some(holder) => format!("another program listens on port {port}: {holder}"),
        None => format!("another program listens on port {port}"),
    };
    let hint = format!(
        "stop it, or choose another port: grov-proxyd {flag} {}",
        next_port(port)
    );
    Stop::fault(anyhow!("{address} is already in use: {who}")).with_hint(hint)
}

/// Suggests another port.
fn next_port(port: u16) -> u16 {
    if port < u16::MAX { port + 1 } else { 8080 }
}
