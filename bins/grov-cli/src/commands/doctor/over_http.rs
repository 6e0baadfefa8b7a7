//! Hooks that go to the daemon: whether one answers, and takes them for this user's.

use super::client::Found;
use super::{Check, Remedy};
use crate::commands::registration::others_can_read;
use crate::context::Context;
use crate::daemon_health::{self, ProxyView, taken_at};
use grov_drift::token;
use grov_hooks::event::{PRE_TOOL_USE, SESSION_START};
use grov_hooks::settings::{OwnHook, reachable};
use grov_runtime::{Environment, Url};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

const OVER_HTTP: &str = "hooks over HTTP";

/// A hook over HTTP and where it stands.
struct Placed<'f> {
    path: &'f Path,
    scope: &'static str,
    hook: &'f OwnHook,
}

impl Placed<'_> {
    fn again(&self) -> Remedy {
        Remedy::Register {
            scope: self.scope,
            http: true,
            status_line: false,
        }
    }
}

/// What is wrong with them; `None` where there are none.
pub(super) fn check(context: &Context, found: &Found, process: &Environment) -> Option<Check> {
    let over_http: Vec<Placed<'_>> = all(found).collect();
    let first = over_http.first()?;
    let daemon = daemon_health::ask(&context.home);
    let check = no_token(context, &over_http)
        .or_else(|| other_port(found, &over_http, &daemon))
        .or_else(|| down(&daemon, first))
        .or_else(|| unreachable(found, process))
        .or_else(|| fails_closed(context, &over_http))
        .or_else(|| readable(&over_http));
    Some(check.unwrap_or_else(|| {
        let where_to = daemon.url.unwrap_or_default();
        Check::well(
            OVER_HTTP,
            format!("{} go to {where_to}, which answers", over_http.len()),
        )
    }))
}

/// Whether the client sends hooks to a daemon.
pub(super) fn are_registered(found: &Found) -> bool {
    all(found).next().is_some()
}

fn all(found: &Found) -> impl Iterator<Item = Placed<'_>> {
    found.files.iter().flat_map(|(path, scope, inspected)| {
        let over_http = inspected.hooks.iter().filter(|hook| hook.program.is_none());
        over_http.map(|hook| Placed { path, scope, hook })
    })
}

fn no_token(context: &Context, over_http: &[Placed<'_>]) -> Option<Check> {
    let known = token::read(&context.home);
    let unlike = over_http
        .iter()
        .find(|placed| placed.hook.token.is_none() || placed.hook.token != known)?;
    let (path, event) = (unlike.path.display(), &unlike.hook.event);
    let evidence = match (known, &unlike.hook.token) {
        (None, _) => format!("{} is missing or no token", context.home.hook_token().display()),
        (_, None) => format!("{path}: {event} shows no token"),
        _ => format!(
            "{path}: {event} shows another token than that of {}",
            context.home.hook_token().display()
        ),
    };
    let consequence = "the daemon refuses these hooks, so nothing is remembered, told or guarded";
    let remedy = unlike.again();
    Some(Check::ill(OVER_HTTP, evidence, consequence, remedy.words()).with(remedy))
}

/// That they go where no daemon of this home is, or will be started by the next session.
fn other_port(found: &Found, over_http: &[Placed<'_>], daemon: &ProxyView) -> Option<Check> {
    let running = daemon.url.as_deref().filter(|_| daemon.running);
    let running = running.and_then(|url| Some(Url::parse(url).ok()?.port()));
    let (port, where_it_is) = match (running, started_at(found)) {
        (Some(port), _) => (port, "the daemon listens at"),
        (None, Some(port)) => (port, "a session starts the daemon at"),
        // That no session starts one is told with the hooks that are missing.
        (None, None) => return None,
    };
    let other = over_http
        .iter()
        .find(|placed| placed.hook.daemon_port != Some(port))?;
    let told = other
        .hook
        .daemon_port
        .map_or("none".to_owned(), |port| port.to_string());
    let evidence = format!(
        "{}: {} goes to port {told}, and {where_it_is} {port}",
        other.path.display(),
        other.hook.event
    );
    let consequence = "where nobody answers these hooks, nothing is remembered, told or guarded";
    let remedy = other.again();
    Some(Check::ill(OVER_HTTP, evidence, consequence, remedy.words()).with(remedy))
}

/// The port at which a session starts the daemon.
fn started_at(found: &Found) -> Option<u16> {
    let hooks = found.files.iter().flat_map(|(_, _, inspected)| &inspected.hooks);
    let mut starts = hooks.filter(|hook| hook.event == SESSION_START);
    starts.find_map(|hook| hook.daemon_port)
}

fn down(daemon: &ProxyView, first: &Placed<'_>) -> Option<Check> {
    let port = first.hook.daemon_port.filter(|_| !daemon.running)?;
    let consequence =
        "in sessions that are running nothing is remembered, told or guarded, and the client shows an error";
    if let Some(taken) = taken_at(SocketAddr::from((Ipv4Addr::LOCALHOST, port))) {
        let fix = "stop that program, or set proxy.port and run `grov init --http` again";
        return Some(Check::ill(OVER_HTTP, taken, consequence, fix));
    }
    let evidence = format!("nobody answers at port {port}; the next session starts the daemon");
    let remedy = Remedy::StartProxyAt(port);
    Some(Check::ill(OVER_HTTP, evidence, consequence, remedy.words()).with(remedy))
}

fn unreachable(found: &Found, process: &Environment) -> Option<Check> {
    let variables = found.environment(process);
    let wanted = reachable("", |name| variables.get(name).cloned()).unwrap_or_default();
    let (name, value) = wanted.first()?;
    Some(Check::ill(
        OVER_HTTP,
        format!("there is a proxy for everything, and {name} does not leave out this machine"),
        "the client sends these hooks to that proxy",
        format!("grov init --http, or set {name}={value}"),
    ))
}

fn fails_closed(context: &Context, over_http: &[Placed<'_>]) -> Option<Check> {
    let mut hooks = over_http.iter();
    let guard = hooks.find(|placed| placed.hook.event == PRE_TOOL_USE)?;
    let remedy = guard.again();
    context.settings.guard().fails_closed.then(|| {
        Check::ill(
            OVER_HTTP,
            format!("guard.fail is \"closed\", and {PRE_TOOL_USE} goes to the daemon"),
            "a daemon that is down can refuse nothing: what could not be looked at runs then",
            format!("{}, which makes it a process", remedy.words()),
        )
        .with(remedy)
    })
}

fn readable(over_http: &[Placed<'_>]) -> Option<Check> {
    let path = over_http
        .iter()
        .map(|placed| placed.path)
        .find(|path| others_can_read(path))?;
    let consequence = "who has the token can ask the daemon what a hook is told, and hand it made-up events";
    let fix = format!("chmod 600 {}", path.display());
    Some(
        Check::ill(
            OVER_HTTP,
            format!("others can read the token in {}", path.display()),
            consequence,
            fix,
        )
        .with(Remedy::MakePrivate(vec![(path.to_owned(), 0o600)])),
    )
}
