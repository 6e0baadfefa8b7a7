//! The listening socket.

use crate::daemon::Stop;
use anyhow::anyhow;
use grov_runtime::ProxySettings;
use grov_runtime::port::{Listener, holder, listener_at};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use tokio::net::{TcpListener, TcpSocket};

/// Connections that may wait to be accepted. With the usual 128, some clients of a larger burst wait for a second.
const BACKLOG: u32 = 1024;

/// Binds the configured address, unless a socket is inherited. Returns the socket and its address, which has the actual port if the
/// configured one is 0.
pub(crate) fn bind(
    settings: &ProxySettings,
    inherited: Option<std::net::TcpListener>,
) -> Result<(TcpListener, SocketAddr), Stop> {
    let configured = SocketAddr::new(settings.host, settings.port);
    match inherited {
        Some(listener) => adopt(listener, configured),
        None => bind_at(configured, "--port"),
    }
}

/// Like [`bind`] for the CONNECT proxy.
pub(crate) fn bind_connect_proxy(
    host: IpAddr,
    port: u16,
    inherited: Option<std::net::TcpListener>,
) -> Result<(TcpListener, SocketAddr), Stop> {
    let configured = SocketAddr::new(host, port);
    match inherited {
        Some(listener) => adopt(listener, configured),
        None => bind_at(configured, "--mitm-port"),
    }
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

/// Uses an inherited socket. Other machines can reach it only if the configuration allows that.
fn adopt(listener: std::net::TcpListener, configured: SocketAddr) -> Result<(TcpListener, SocketAddr), Stop> {
    listener.set_nonblocking(true).map_err(Stop::fault)?;
    let listener = TcpListener::from_std(listener).map_err(Stop::fault)?;
    let address = listener.local_addr().map_err(Stop::fault)?;
    if !address.ip().to_canonical().is_loopback() && address.ip() != configured.ip() {
        let error = anyhow!("the inherited socket listens on {address}, which is not configured");
        return Err(Stop::fault(error).with_hint("give the socket unit a ListenStream on 127.0.0.1"));
    }
    if configured.port() != 0 && configured.port() != address.port() {
        tracing::info!(%address, "the inherited socket is used, not the configured port");
    }
    Ok((listener, address))
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
    let who = holder_of(address).map_or_else(String::new, |holder| format!(": {holder}"));
    let who = format!("another program listens on port {port}{who}");
    let hint = format!(
        "stop it, or choose another port: grov-proxyd {flag} {}",
        next_port(port)
    );
    Stop::fault(anyhow!("{address} is already in use: {who}")).with_hint(hint)
}

/// The program that listens there, if this user may see it.
fn holder_of(address: SocketAddr) -> Option<String> {
    match listener_at(address) {
        Listener::Nothing => holder(address.port()).map(|holder| holder.to_string()),
        Listener::Grov { pid } => Some(format!("another grov-proxyd (process {pid})")),
        Listener::Hung { pid } => Some(format!(
            "another grov-proxyd, which does not answer (process {pid})"
        )),
        Listener::Foreign { holder } => holder.map(|holder| holder.to_string()),
    }
}

/// Suggests another port.
fn next_port(port: u16) -> u16 {
    if port < u16::MAX { port + 1 } else { 8080 }
}
