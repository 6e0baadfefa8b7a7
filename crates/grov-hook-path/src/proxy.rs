//! Grov's own proxy, where the client talks to it: it must be up, and what it says the hooks leave unsaid.

use crate::call::Call;
use grov_runtime::{Settings, Url, daemon};
use std::ffi::OsStr;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// On one machine a connection is made at once or never.
const CONNECT_PATIENCE: Duration = Duration::from_millis(200);

/// Starts the proxy if the client is about to talk to it, or its other hooks are, and it is down: a client without it tries
/// for minutes.
pub(crate) fn start(call: &Call<'_>) -> Result<(), String> {
    if call.daemon_port.is_none() && call.environment.get("ANTHROPIC_BASE_URL").is_none() {
        return Ok(());
    }
    let settings = call.settings(None)?;
    let hooked = |port| SocketAddr::new(settings.proxy().host, port);
    // One daemon of a home is all there is.
    let Some(proxy) = own(call, &settings).or(call.daemon_port.map(hooked)) else {
        return Ok(());
    };
    if TcpStream::connect_timeout(&proxy, CONNECT_PATIENCE).is_ok() {
        return Ok(());
    }
    // Where the client looks for it, which the settings may have been changed from since.
    call.programs.start_proxy(proxy.port())
}

/// Where Grov's proxy listens, if that is where the client sends its requests: the port of the settings, or that of the
/// daemon that was started last.
pub(crate) fn own(call: &Call<'_>, settings: &Settings) -> Option<SocketAddr> {
    let url = call
        .environment
        .get("ANTHROPIC_BASE_URL")
        .and_then(OsStr::to_str)?;
    let url = Url::parse(url)
        .ok()
        .filter(|url| url.is_loopback() && !url.is_secure())?;
    let configured = settings.proxy();
    let is_last = || {
        let last = daemon::read(call.home).and_then(|record| Url::parse(&record.url).ok());
        last.is_some_and(|last| last.port() == url.port())
    };
    let is_own = url.port() == configured.port || is_last();
    is_own.then(|| SocketAddr::new(configured.host, url.port()))
}
