//! Hooks over HTTP: whether the daemon answers them and accepts their token.

use super::client::{ClientFile, ClientSettings};
use super::{Check, Remedy};
use crate::commands::registration::others_can_read;
use crate::context::Context;
use crate::daemon_health::{ProxyView, port_taken_by};
use grov_drift::token;
use grov_hooks::event::{PRE_TOOL_USE, SESSION_START};
use grov_hooks::settings::{OwnHook, loopback_exceptions};
use grov_runtime::Url;
use std::net::{Ipv4Addr, SocketAddr};

const NAME: &str = "hooks over HTTP";
const HOOKS_FAIL: &str = "These hooks fail: Grov will not inject memory, guard actions or record sessions.";

/// A hook over HTTP and its file.
struct HttpHook<'f> {
    file: &'f ClientFile,
    hook: &'f OwnHook,
}

impl HttpHook<'_> {
    fn register(&self) -> Remedy {
        Remedy::register(self.file.scope, true, false)
    }
}

/// Reports the first problem; `None` if there are no such hooks.
pub(super) fn check(context: &Context, settings: &ClientSettings, daemon: &ProxyView) -> Option<Check> {
    let hooks: Vec<HttpHook<'_>> = all(settings).collect();
    let first = hooks.first()?;
    let check = wrong_token(context, &hooks)
        .or_else(|| wrong_port(settings, &hooks, daemon))
        .or_else(|| daemon_down(daemon, first))
        .or_else(|| intercepted(settings))
        .or_else(|| fails_closed(context, &hooks))
        .or_else(|| readable_token(&hooks));
    Some(check.unwrap_or_else(|| {
        let url = daemon.url.as_deref().unwrap_or_default();
        Check::ok(NAME, format!("{} go to {url}, which answers", hooks.len()))
    }))
}

/// Whether the client sends hooks to a daemon.
pub(super) fn are_registered(settings: &ClientSettings) -> bool {
    all(settings).next().is_some()
}

fn all(settings: &ClientSettings) -> impl Iterator<Item = HttpHook<'_>> {
    settings.files.iter().flat_map(|file| {
        let hooks = file.content.hooks.iter().filter(|hook| hook.program.is_none());
        hooks.map(move |hook| HttpHook { file, hook })
    })
}

fn wrong_token(context: &Context, hooks: &[HttpHook<'_>]) -> Option<Check> {
    let expected = token::read(&context.home);
    let is_wrong = |hook: &&HttpHook<'_>| hook.hook.token.is_none() || hook.hook.token != expected;
    let wrong = hooks.iter().find(is_wrong)?;
    let (path, event) = (wrong.file.path.display(), &wrong.hook.event);
    let token_file = context.home.hook_token();
    let token_file = token_file.display();
    let evidence = match (expected, &wrong.hook.token) {
        (None, _) => format!("{token_file} is missing or holds no token"),
        (_, None) => format!("{path}: {event} sends no token"),
        _ => format!("{path}: {event} sends another token than the one in {token_file}"),
    };
    Some(
        Check::fail(NAME, evidence)
            .consequence(HOOKS_FAIL)
            .remedy(wrong.register()),
    )
}

/// Reports a hook whose port is not the one where the daemon listens, or where the next session starts it.
fn wrong_port(settings: &ClientSettings, hooks: &[HttpHook<'_>], daemon: &ProxyView) -> Option<Check> {
    let running = daemon.url.as_deref().filter(|_| daemon.running);
    let running = running.and_then(|url| Some(Url::parse(url).ok()?.port()));
    let (port, place) = match (running, start_port(settings)) {
        (Some(port), _) => (port, "the daemon listens on port"),
        (None, Some(port)) => (port, "sessions start the daemon on port"),
        // The check of the hooks reports that SessionStart is missing.
        (None, None) => return None,
    };
    let other = hooks.iter().find(|hook| hook.hook.daemon_port != Some(port))?;
    let used = other
        .hook
        .daemon_port
        .map_or("none".to_owned(), |port| port.to_string());
    let (path, event) = (other.file.path.display(), &other.hook.event);
    Some(
        Check::fail(
            NAME,
            format!("{path}: {event} goes to port {used}, but {place} {port}"),
        )
        .consequence(HOOKS_FAIL)
        .remedy(other.register()),
    )
}

/// The port at which a session starts the daemon.
fn start_port(settings: &ClientSettings) -> Option<u16> {
    let mut hooks = settings.files.iter().flat_map(|file| &file.content.hooks);
    hooks.find_map(|hook| hook.daemon_port.filter(|_| hook.event == SESSION_START))
}

fn daemon_down(daemon: &ProxyView, first: &HttpHook<'_>) -> Option<Check> {
    let port = first.hook.daemon_port.filter(|_| !daemon.running)?;
    let consequence = "Hooks of running sessions fail, and the client shows an error.";
    if let Some(taken) = port_taken_by(SocketAddr::from((Ipv4Addr::LOCALHOST, port))) {
        let check = Check::fail(NAME, taken).consequence(consequence);
        return Some(check.fix("stop that program, or set proxy.port and run `grov init --http` again"));
    }
    Some(
        Check::fail(
            NAME,
            format!("no daemon answers on port {port}; the next session starts it"),
        )
        .consequence(consequence)
        .remedy(Remedy::start_proxy(Some(port))),
    )
}

/// Reports a client that sends requests for this machine to an HTTP proxy.
fn intercepted(settings: &ClientSettings) -> Option<Check> {
    let variables = settings.environment();
    let wanted = loopback_exceptions("", |name| variables.get(name).cloned()).unwrap_or_default();
    let (name, value) = wanted.first()?;
    Some(
        Check::fail(
            NAME,
            format!("an HTTP proxy is configured, and {name} does not exclude this machine"),
        )
        .consequence("The client sends these hooks to that proxy.")
        .fix(format!("grov init --http, or set {name}={value}")),
    )
}

fn fails_closed(context: &Context, hooks: &[HttpHook<'_>]) -> Option<Check> {
    let guard = hooks.iter().find(|hook| hook.hook.event == PRE_TOOL_USE)?;
    let remedy = guard.register();
    context.settings.guard().fails_closed.then(|| {
        Check::fail(
            NAME,
            format!("guard.fail is \"closed\", but {PRE_TOOL_USE} goes to the daemon"),
        )
        .consequence("While the daemon is down the guard cannot refuse actions, so they run.")
        .fix(format!("{}, which registers a command for it", remedy.command()))
        .remedy(remedy)
    })
}

fn readable_token(hooks: &[HttpHook<'_>]) -> Option<Check> {
    let path = hooks
        .iter()
        .map(|hook| &hook.file.path)
        .find(|path| others_can_read(path))?;
    Some(
        Check::fail(
            NAME,
            format!("other users can read the token in {}", path.display()),
        )
        .consequence("With the token they can read the replies to hooks and send forged events.")
        .fix(format!("chmod 600 {}", path.display()))
        .remedy(Remedy::MakePrivate(vec![(path.clone(), 0o600)])),
    )
}
