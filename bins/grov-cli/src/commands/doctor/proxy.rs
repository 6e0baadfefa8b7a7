//! The proxy, and whether the client's requests reach it.

use super::client::ClientSettings;
use super::{Check, Remedy, access, http_hooks, shell};
use crate::commands::proxy::relocate;
use crate::commands::registration::configured_base_url;
use crate::context::Context;
use crate::daemon_health::{LiveMemory, LiveStore, ProxyView, port_taken_by};
use crate::format::plural;
use grov_hooks::settings::{Route, route};
use grov_runtime::{Environment, Url, without_credentials};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

const PROXY: &str = "proxy";
const BASE_URL: &str = "base address";
/// How long to wait for a connection to this machine.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(300);

/// Returns whether the client sends its requests to the proxy.
pub(super) fn is_used(context: &Context, client: &ClientSettings, daemon: &ProxyView) -> bool {
    let variables = client.environment();
    let base_url = variables.get("ANTHROPIC_BASE_URL").filter(|url| !url.is_empty());
    base_url.is_some_and(|url| is_same_listener(url, &listener(context, daemon)))
}

/// Returns the address of the running proxy, else the configured one.
fn listener(context: &Context, daemon: &ProxyView) -> String {
    match (&daemon.base_url, daemon.running) {
        (Some(url), true) => url.clone(),
        _ => configured_base_url(context),
    }
}

fn configured(context: &Context) -> SocketAddr {
    let settings = context.settings.proxy();
    SocketAddr::new(settings.local_host(), settings.port)
}

pub(super) fn checks(context: &Context, client: &ClientSettings, daemon: &ProxyView) -> Vec<Check> {
    let variables = client.environment();
    let has_http_hooks = http_hooks::are_registered(client);
    let configured = configured(context);
    let listener = listener(context, daemon);
    let base_url = variables.get("ANTHROPIC_BASE_URL").filter(|url| !url.is_empty());
    let uses_proxy = is_used(context, client, daemon);

    let mut checks = vec![if daemon.running {
        Check::ok(PROXY, format!("running at {listener}"))
    } else if let Some((problem, fix)) = daemon.not_answering() {
        Check::fail(PROXY, problem)
            .consequence("Requests and hooks that go to it wait until the client gives up.")
            .fix(fix)
    } else if let Some(check) = refused(context, uses_proxy) {
        check
    } else if uses_proxy {
        let can_move = || relocate::has_clients(context);
        not_running(
            port_taken_by(configured),
            &listener,
            client.starts_proxy(),
            can_move,
        )
    } else if has_http_hooks {
        Check::ok(PROXY, "not running; only hooks use it")
    } else {
        Check::ok(PROXY, "not running, and the client does not use it")
    }];
    checks.extend(refused(context, uses_proxy).filter(|_| daemon.running));
    checks.extend(daemon.store.as_ref().and_then(recording));
    checks.extend(daemon.memory.as_ref().and_then(memory));
    let target = match base_url {
        Some(url) if uses_proxy => url.clone(),
        Some(url) => without_credentials(url),
        None => "the API directly".to_owned(),
    };
    let evidence = format!("the client sends its requests to {target}");
    if uses_proxy && has_other_scheme(base_url.map_or("", String::as_str), &listener) {
        let check = Check::fail(
            BASE_URL,
            format!("{evidence}, but the proxy's address is {listener}"),
        );
        let check = check.consequence("The proxy cannot answer the client's requests.");
        checks.push(check.fix("grov init --proxy"));
    } else if uses_proxy {
        checks.push(Check::ok(BASE_URL, evidence));
        checks.extend(environment(&variables, &listener));
    } else if base_url.is_some_and(|url| is_refused_here(url)) {
        let check = Check::fail(BASE_URL, format!("{evidence}, where nothing listens"))
            .consequence("The client retries for three minutes and then fails.");
        checks.push(check.fix(format!(
            "set proxy.port to that port, or run `grov init --proxy` for {listener}"
        )));
    } else if daemon.running && shell::runs_claude(context) {
        checks.push(Check::ok(
            BASE_URL,
            format!("{evidence}; `grov run` sends them through the proxy"),
        ));
    } else if daemon.running && !has_http_hooks {
        let check =
            Check::warn(BASE_URL, evidence).consequence("The proxy is running but receives no requests.");
        checks.push(check.fix("grov init --proxy"));
    } else {
        checks.push(Check::ok(BASE_URL, evidence));
    }
    checks.extend(access::checks(context, daemon, uses_proxy.then_some(&variables)));
    checks
}

/// Reports settings with which no proxy starts.
fn refused(context: &Context, uses_proxy: bool) -> Option<Check> {
    let error = context
        .settings
        .ensure_startable(&Environment::of_process())
        .err()?;
    let evidence = format!("it does not start with these settings: {error}");
    let check = match uses_proxy {
        true => Check::fail(PROXY, evidence)
            .consequence("Without a running proxy the client retries for three minutes and then fails."),
        false => Check::warn(PROXY, evidence).consequence("`grov proxy start` fails."),
    };
    Some(check.fix(error.hint().unwrap_or_else(|| "correct the settings".to_owned())))
}

/// The client uses the proxy, which is not running. `taken` is the program that has its port. `can_move` says whether `grov proxy move`
/// can change where the client sends its requests: a variable of the shell is not Grov's to change.
fn not_running(
    taken: Option<String>,
    listener: &str,
    sessions_start_it: bool,
    can_move: impl FnOnce() -> bool,
) -> Check {
    match (taken, sessions_start_it) {
        (Some(taken), _) => Check::fail(PROXY, taken)
            .consequence("The client sends its requests to that program, and may wait minutes for an answer.")
            .fix(match can_move() {
                true => "stop that program, or run `grov proxy move`; another port: set proxy.port and run `grov init --proxy`",
                false => "stop that program, or set proxy.port to another port and run `grov init --proxy`",
            }),
        (None, true) => Check::warn(PROXY, format!("nothing listens at {listener} yet"))
            .consequence("The next session starts it.")
            .remedy(Remedy::start_proxy(None)),
        (None, false) => Check::fail(PROXY, format!("nothing listens at {listener}"))
            .consequence("The client retries for three minutes and then fails.")
            .remedy(Remedy::start_proxy(None)),
    }
}

/// Reports a daemon that cannot record.
fn recording(store: &LiveStore) -> Option<Check> {
    if store.ok {
        return None;
    }
    let evidence = match (&store.last_error, store.lost) {
        (Some(error), _) => format!("the proxy reports: {error}"),
        (None, 1) => "the proxy lost 1 record since it started".to_owned(),
        (None, lost) => format!("the proxy lost {lost} records since it started"),
    };
    Some(
        Check::fail("recording", evidence)
            .consequence("Requests pass, but steps and memories of this time may be incomplete.")
            .fix("see the log of grov-proxyd"),
    )
}

/// Reports whether memory was in time; `None` before the first prompt.
fn memory(memory: &LiveMemory) -> Option<Check> {
    const NAME: &str = "memory in time";
    let Some(lateness) = memory.lateness() else {
        let prompts = plural(memory.prompts, "prompt", "prompts");
        let is_asked = memory.prompts > 0;
        return is_asked.then(|| Check::ok(NAME, format!("for {prompts} since the proxy started")));
    };
    if memory.lost() == 0 {
        return Some(Check::ok(NAME, lateness));
    }
    let check = Check::warn(NAME, lateness)
        .consequence("A request waits 8 ms for memory; on a busy machine or disk it goes out without it.");
    Some(
        check.fix("see what else runs on this machine; `grov memory search` finds what a prompt did not get"),
    )
}

/// The other variables that `grov init --proxy` sets.
fn environment(variables: &BTreeMap<String, String>, listener: &str) -> Vec<Check> {
    let to = Route {
        url: listener,
        project: None,
        token: None,
    };
    // An empty file cannot be malformed.
    let wanted = route("", |name| variables.get(name).cloned(), &[], to).unwrap_or_default();
    let is_on = variables
        .get("ENABLE_TOOL_SEARCH")
        .is_some_and(|value| value == "true");
    let tool_search = match is_on {
        true => Check::ok("tool search", "ENABLE_TOOL_SEARCH is true"),
        false => Check::warn("tool search", "ENABLE_TOOL_SEARCH is not true")
            .consequence("With a custom base URL the client then sends every tool in full with each request.")
            .fix("grov init --proxy, or set ENABLE_TOOL_SEARCH to true"),
    };
    let mut environment = wanted.environment.iter();
    let loopback = match environment.find(|(name, _)| name.eq_ignore_ascii_case("NO_PROXY")) {
        None => Check::ok("no_proxy", "requests to this machine go through no other proxy"),
        Some((name, value)) => Check::fail(
            "no_proxy",
            format!("an HTTP proxy is configured, and {name} does not exclude this machine"),
        )
        .consequence("The client sends requests for grov-proxyd to that proxy.")
        .fix(format!("grov init --proxy, or set {name}={value}")),
    };
    vec![tool_search, loopback]
}

/// Returns whether an address of this machine refuses connections.
fn is_refused_here(url: &str) -> bool {
    let port = Url::parse(url)
        .ok()
        .filter(Url::is_loopback)
        .map(|url| url.port());
    port.is_some_and(|port| {
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let connected = TcpStream::connect_timeout(&address, CONNECT_TIMEOUT);
        connected.is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
    })
}

fn is_same_listener(one: &str, other: &str) -> bool {
    match (Url::parse(one), Url::parse(other)) {
        (Ok(one), Ok(other)) => {
            let is_same_host = one.is_loopback() && other.is_loopback() || one.host() == other.host();
            is_same_host && one.port() == other.port()
        }
        _ => false,
    }
}

fn has_other_scheme(one: &str, other: &str) -> bool {
    match (Url::parse(one), Url::parse(other)) {
        (Ok(one), Ok(other)) => one.is_secure() != other.is_secure(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_came_too_late_is_a_warning_only_if_it_was_lost() {
        let status = |prompts, late, told_later| {
            let memory = LiveMemory {
                prompts,
                late,
                told_later,
            };
            super::memory(&memory).map(|check| serde_json::to_value(check).unwrap()["status"].clone())
        };
        assert_eq!(status(0, 0, 0), None);
        assert_eq!(status(7, 0, 0), Some("ok".into()));
        assert_eq!(status(7, 2, 2), Some("ok".into()));
        assert_eq!(status(7, 2, 1), Some("warn".into()));
    }

    #[test]
    fn a_taken_port_points_to_proxy_move_only_where_that_helps() {
        let taken = || Some("another program listens on port 8080".to_owned());
        let fix = |can_move: bool| {
            let check = not_running(taken(), "http://127.0.0.1:8080", true, || can_move);
            serde_json::to_string(&check).unwrap()
        };
        assert!(fix(true).contains("grov proxy move"), "{}", fix(true));
        assert!(!fix(false).contains("grov proxy move"), "{}", fix(false));
        assert!(fix(false).contains("proxy.port"), "{}", fix(false));
    }
}
