//! Starts the daemon for clients that use it, and finds its address.

use crate::error::HookError;
use crate::error_log::log_error;
use crate::hook::HookContext;
use grov_hooks::event;
use grov_hooks::settings::{Registry, SettingsFile, routed_to};
use grov_runtime::port::{Listener, holder, is_answering, listener_at};
use grov_runtime::{Environment, Home, Settings, Url, daemon};
use std::ffi::OsStr;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

/// Loopback connections succeed or fail almost immediately.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(200);

/// How long the client takes to read a settings file again after a change. It waits one second for further changes; measured:
/// 1.0 s.
const SETTINGS_READ: Duration = Duration::from_millis(1_800);

/// Starts the daemon if it is not running and the client sends its requests or hooks to it. Without the daemon the client
/// would retry for minutes.
pub(crate) fn start(context: &HookContext<'_>) -> Result<(), HookError> {
    if context.daemon_port.is_none() && context.environment.get("ANTHROPIC_BASE_URL").is_none() {
        return Ok(());
    }
    let settings = context.settings(None)?;
    let is_used = context.daemon_port.is_some() || proxy_address(context, &settings).is_some();
    if let Some(pid) = daemon::stopped_process(context.home).filter(|_| is_used) {
        return Err(stopped(pid));
    }
    let hooked = |port| SocketAddr::new(settings.proxy().local_host(), port);
    // A home has only one daemon.
    let Some(proxy) = proxy_address(context, &settings).or(context.daemon_port.map(hooked)) else {
        return Ok(());
    };
    let is_listening = TcpStream::connect_timeout(&proxy, CONNECT_TIMEOUT).is_ok();
    let is_own = is_listening && is_home_daemon(context.home, proxy.port());
    if is_listening && !is_own && is_registered(context, proxy.port()) {
        // The next prompt moves there. Its failure is reported then.
        let _ = context.programs.start_proxy(0);
        return Err(HookError::Moving(format!(
            "{} at {proxy}, where this client sends {}. With your next prompt this session moves to a proxy on another port.",
            taken_by(proxy.port()),
            traffic(context)
        )));
    }
    let found = is_listening.then(|| listener_at(proxy));
    match found {
        Some(Listener::Grov { .. }) if is_own => {
            upgrade(context, proxy.port());
            Ok(())
        }
        Some(Listener::Hung { pid }) if is_own => match daemon_at(context.home, proxy.port()) {
            Some(record) if record.pid == pid => Err(HookError::Daemon(format!(
                "grov-proxyd (process {pid}) is running at {proxy} but does not answer, so this client gets no response. Restart it with `grov proxy restart`."
            ))),
            // It is still starting.
            _ => Ok(()),
        },
        Some(Listener::Foreign { holder }) => Err(HookError::Daemon(format!(
            "another program listens at {proxy}, where this client sends {}{}. {}",
            traffic(context),
            holder.map_or_else(String::new, |holder| format!(": {holder}")),
            port_advice(context, proxy.port())
        ))),
        Some(Listener::Hung { pid }) => Err(HookError::Daemon(format!(
            "the Grov daemon of another home (process {pid}) listens at {proxy}, where this client sends {}, and does not answer. {}",
            traffic(context),
            port_advice(context, proxy.port())
        ))),
        // It would record requests in the other home, and reject hooks.
        Some(Listener::Grov { pid }) => Err(HookError::Daemon(format!(
            "the Grov daemon of another home (process {pid}) listens at {proxy}, where this client sends {}. {}",
            traffic(context),
            port_advice(context, proxy.port())
        ))),
        // Start it at the client's address: the settings may have changed since the registration.
        Some(Listener::Nothing) | None => {
            let fault = match context.programs.start_proxy(proxy.port()) {
                Ok(()) => listens_elsewhere(context, proxy),
                Err(fault) => Some(fault.to_string()),
            };
            match (fault, relays_only(context, proxy)) {
                (Some(fault), _) => Err(HookError::Daemon(format!(
                    "grov-proxyd does not listen at {proxy}, where this client sends {}: {fault}",
                    traffic(context)
                ))),
                (None, Some(fault)) => Err(HookError::Daemon(fault)),
                (None, None) => Ok(()),
            }
        }
    }
}

/// Sees to it that the daemon answers a prompt of a client that uses it at this address, which takes less than a millisecond
/// if it does. Returns a reply: a notice for the user, or a refusal of a prompt that would never be answered.
///
/// If another program has the address, daemon and client move to another port. Claude Code 2.1.197 and 2.1.330 read their
/// settings files again while a hook of a prompt runs, and send the prompt to the new address.
pub(crate) fn at_prompt(context: &HookContext<'_>, proxy: SocketAddr) -> Option<String> {
    let refusal = |text: String| {
        log_error(Some(context.home), &text);
        event::go_on(&format!(
            "Grov: {text} The prompt was not sent: nobody would answer it."
        ))
    };
    if let Some(pid) = daemon::stopped_process(context.home) {
        return Some(refusal(stopped(pid).to_string()));
    }
    let port = proxy.port();
    if TcpStream::connect_timeout(&proxy, CONNECT_TIMEOUT).is_err() {
        let Err(fault) = context.programs.start_proxy(port) else {
            let notice = relays_only(context, proxy)?;
            return Some(event::with_notice(None, &format!("Grov: {notice}")));
        };
        return Some(refusal(format!(
            "grov-proxyd does not run, and cannot be started: {fault}."
        )));
    }
    if is_home_daemon(context.home, port) {
        return None;
    }
    let taken = format!(
        "{} at {proxy}, where this client sends its requests.",
        taken_by(port)
    );
    if is_registered(context, port) {
        return Some(match context.programs.move_proxy() {
            Ok(url) => {
                std::thread::sleep(SETTINGS_READ);
                let notice =
                    format!("Grov: {taken} The proxy now listens at {url}, and this session uses it.");
                event::with_notice(None, &notice)
            }
            Err(fault) => refusal(format!("{taken} The proxy could not move: {fault}.")),
        });
    }
    let advice = port_advice(context, port);
    (!is_answering(proxy)).then(|| refusal(format!("{taken} {advice}")))
}

/// What it means for a daemon that was just started that the home cannot be written; `None` if it can.
fn relays_only(context: &HookContext<'_>, proxy: SocketAddr) -> Option<String> {
    let fault = context.home.write_fault()?;
    Some(format!(
        "{} cannot be written: {fault}. The proxy at {proxy} passes requests on, but nothing is recorded.",
        context.home.root().display()
    ))
}

fn stopped(pid: u32) -> HookError {
    HookError::Daemon(format!(
        "grov-proxyd (process {pid}) is stopped, so this client gets no response. Resume it with `kill -CONT {pid}`."
    ))
}

/// Says which program listens on a port.
fn taken_by(port: u16) -> String {
    match holder(port) {
        Some(holder) => format!("another program listens ({holder})"),
        None => "another program listens".to_owned(),
    }
}

/// Whether `grov init --proxy` made the client use this port: then Grov may change it.
fn is_registered(context: &HookContext<'_>, port: u16) -> bool {
    let Ok(registry) = Registry::read(context.home.root()) else {
        return false;
    };
    registry.files().any(|path| {
        let file = SettingsFile::read(path).ok();
        let url = file.and_then(|file| routed_to(file.text(), registry.changes(&file)).ok().flatten());
        url.and_then(|url| Url::parse(&url).ok())
            .is_some_and(|url| url.is_loopback() && url.port() == port)
    })
}

/// Lets a daemon of an older version hand over to the installed one. If that fails, the old one goes on.
fn upgrade(context: &HookContext<'_>, port: u16) {
    let is_older = |record: daemon::Record| is_older(&record.version, env!("CARGO_PKG_VERSION"));
    if daemon_at(context.home, port).is_some_and(is_older) {
        let _ = context.programs.start_proxy(port);
    }
}

/// Whether a version is older than another. False for versions with more than three numbers.
fn is_older(version: &str, other: &str) -> bool {
    let numbers = |version: &str| -> Option<Vec<u64>> {
        let numbers: Option<Vec<u64>> = version.split('.').map(|number| number.parse().ok()).collect();
        numbers.filter(|numbers| numbers.len() == 3)
    };
    matches!((numbers(version), numbers(other)), (Some(version), Some(other)) if version < other)
}

/// An error message if this home's daemon listens at another address.
fn listens_elsewhere(context: &HookContext<'_>, proxy: SocketAddr) -> Option<String> {
    let record = daemon::read(context.home)?;
    let is_there = Url::parse(&record.url).is_ok_and(|url| url.port() == proxy.port());
    (!is_there && daemon::is_running(context.home)).then(|| {
        let option = init_option(context);
        format!(
            "this home's daemon (process {}) listens at {} instead. Run `grov init {option}` and restart the session.",
            record.pid, record.url
        )
    })
}

/// What the client sends to the daemon, for error messages.
fn traffic(context: &HookContext<'_>) -> &'static str {
    match context.daemon_port {
        Some(_) => "its hooks",
        None => "its requests",
    }
}

/// The option of `grov init` that registered the client.
fn init_option(context: &HookContext<'_>) -> &'static str {
    match context.daemon_port {
        Some(_) => "--http",
        None => "--proxy",
    }
}

/// Advice for a port that another program uses.
fn port_advice(context: &HookContext<'_>, port: u16) -> String {
    let other = if port < u16::MAX { port + 1 } else { 8080 };
    let option = init_option(context);
    format!(
        "Stop that program, or use another port: set proxy.port = {other} in {}, run `grov init {option}` and restart the session.",
        context.home.config_file().display()
    )
}

/// Whether the listener at `port` is this home's daemon, or a daemon of `grov run` in this home. A daemon that is still
/// starting may not have published its address.
fn is_home_daemon(home: &Home, port: u16) -> bool {
    let is_starting = || daemon::is_running(home) && daemon::read(home).is_none();
    // Without a writable home a daemon can neither take the lock nor record its address.
    let is_unrecorded = || {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        home.write_fault().is_some() && matches!(listener_at(address), Listener::Grov { .. })
    };
    daemon_at(home, port).is_some() || is_starting() || is_unrecorded()
}

/// The running daemon of this home that listens at `port`.
fn daemon_at(home: &Home, port: u16) -> Option<daemon::Record> {
    let is_there = |record: &daemon::Record| Url::parse(&record.url).is_ok_and(|url| url.port() == port);
    let shared = daemon::read(home).filter(|_| daemon::is_running(home));
    shared
        .filter(is_there)
        .or_else(|| daemon::run_records(home).into_iter().find(is_there))
}

/// The proxy's address if the client uses it: the configured port, the port of the last daemon that started, or that of a
/// running `grov run`.
pub(crate) fn proxy_address(context: &HookContext<'_>, settings: &Settings) -> Option<SocketAddr> {
    address_of(context.home, context.environment, settings)
}

fn address_of(home: &Home, environment: &Environment, settings: &Settings) -> Option<SocketAddr> {
    let url = environment.get("ANTHROPIC_BASE_URL").and_then(OsStr::to_str)?;
    let base_url = url.trim_end_matches('/');
    let url = Url::parse(base_url).ok()?;
    let configured = settings.proxy();
    let last = || daemon::read(home);
    let is_own = match url.is_loopback() {
        true => {
            let port = |record: daemon::Record| Some(Url::parse(&record.url).ok()?.port());
            url.port() == configured.port
                || last().and_then(port) == Some(url.port())
                || daemon_at(home, url.port()).is_some()
        }
        // With TLS, a name of the certificate may be the only host that clients accept.
        false => url.is_secure() && last().is_some_and(|record| record.base_url.as_deref() == Some(base_url)),
    };
    is_own.then(|| SocketAddr::new(configured.local_host(), url.port()))
}

/// Why a client with this environment gets no response from the proxy, in a few words for a status line; `None` if it does not
/// use the proxy, or the proxy listens. Takes less than a millisecond.
pub fn proxy_fault(home: &Home, environment: &Environment) -> Option<String> {
    let settings = crate::hook::settings(home, environment, None).ok()?;
    let proxy = address_of(home, environment, &settings)?;
    let port = proxy.port();
    if TcpStream::connect_timeout(&proxy, CONNECT_TIMEOUT).is_err() {
        return Some(format!("proxy down (port {port})"));
    }
    if !is_home_daemon(home, port) {
        let name = holder(port)
            .map(|holder| holder.name)
            .filter(|name| !name.is_empty());
        let name = name.unwrap_or_else(|| "another program".to_owned());
        return Some(format!("port {port} taken by {name}"));
    }
    daemon::stopped_process(home).map(|pid| format!("proxy stopped (process {pid})"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_runtime::{daemon::Lock, daemon::Record};
    use time::OffsetDateTime;

    #[test]
    fn versions_are_compared_by_number() {
        assert!(is_older("0.9.1", "0.10.0") && !is_older("0.10.0", "0.9.1") && !is_older("1.0.0", "1.0.0"));
        assert!(!is_older("1.0.0-rc1", "1.0.0") && !is_older("", "1.0.0"));
    }

    #[test]
    fn the_homes_daemon_is_recognized_by_its_port() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::locate(Some(folder.path()), &Environment::default()).unwrap();
        assert!(!is_home_daemon(&home, 8080));
        let lock = Lock::acquire(&home).unwrap();
        assert!(is_home_daemon(&home, 8080), "it is just starting");
        let record = Record::of_this_process("http://127.0.0.1:8080", "1.2.3", OffsetDateTime::UNIX_EPOCH);
        lock.publish(&record).unwrap();
        assert!(is_home_daemon(&home, 8080) && !is_home_daemon(&home, 8081));
        let left_over = std::fs::read(home.daemon_record()).unwrap();
        drop(lock);
        std::fs::write(home.daemon_record(), left_over).unwrap();
        assert!(
            !is_home_daemon(&home, 8080),
            "the record of a killed daemon does not count"
        );
    }
}
