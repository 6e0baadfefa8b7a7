//! Grov's own proxy, where the client talks to it: it must be up, and what it says the hooks leave unsaid.

use super::Call;
use grov_runtime::{Settings, Url, daemon};
use std::ffi::OsStr;
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// On one machine a connection is made at once or never.
const CONNECT_PATIENCE: Duration = Duration::from_millis(200);
/// The client is told to wait a little longer.
const START_PATIENCE: Duration = Duration::from_secs(17);
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Starts the proxy if the client is about to talk to it and it is down: a client without it tries for minutes.
pub(super) fn start(call: &Call<'_>) -> Result<(), String> {
    if call.environment.get("ANTHROPIC_BASE_URL").is_none() {
        return Ok(());
    }
    let settings = call.settings(None)?;
    let Some(proxy) = own(call, &settings) else {
        return Ok(());
    };
    if TcpStream::connect_timeout(&proxy, CONNECT_PATIENCE).is_ok() {
        return Ok(());
    }
    let mut command = call.own_command()?;
    // Where the client looks for it, which the settings may have been changed from since.
    command
        .args(["proxy", "--detach", "--port"])
        .arg(proxy.port().to_string());
    wait_for(command)
}

fn wait_for(mut command: Command) -> Result<(), String> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("the proxy: {error}"))?;
    let deadline = Instant::now() + START_PATIENCE;
    while Instant::now() < deadline {
        match child.try_wait() {
            Ok(None) => std::thread::sleep(LOOK_AGAIN),
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("the proxy did not start: {status}")),
            Err(error) => return Err(format!("the proxy: {error}")),
        }
    }
    Err("the proxy did not start in time".to_owned())
}

/// Where Grov's proxy listens, if that is where the client sends its requests: the port of the settings, or that of the
/// daemon that was started last.
pub(super) fn own(call: &Call<'_>, settings: &Settings) -> Option<SocketAddr> {
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
