//! The proxy, and whether the client's requests reach it.

use super::client::Found;
use super::{Check, Remedy, over_http};
use crate::commands::registration::shown;
use crate::context::Context;
use crate::daemon_health::{self, LiveStore, taken_at};
use crate::failure::Failure;
use grov_hooks::settings::{Route, route};
use grov_runtime::{Environment, Url};
use std::collections::BTreeMap;
use std::net::SocketAddr;

const PROXY: &str = "proxy";
const BASE_URL: &str = "base address";

pub(super) fn checks(context: &Context) -> Result<Vec<Check>, Failure> {
    let process = Environment::of_process();
    let found = Found::here(context, &process)?;
    let variables = found.environment(&process);
    let has_hooks = over_http::are_registered(&found);
    let running = daemon_health::ask(&context.home);
    let settings = context.settings.proxy();
    let listener = match (&running.url, running.running) {
        (Some(url), true) => url.clone(),
        _ => format!("http://{}", SocketAddr::new(settings.host, settings.port)),
    };
    let set = variables.get("ANTHROPIC_BASE_URL").filter(|set| !set.is_empty());
    let is_sent_here = set.is_some_and(|set| is_same_port(set, &listener));

    let no_answer = running.no_answer();
    let taken = match (running.running, is_sent_here, &no_answer) {
        (false, true, None) => taken(&listener),
        _ => None,
    };
    let mut checks = vec![match (running.running, is_sent_here, taken) {
        (false, ..) if no_answer.is_some() => {
            let (what, fix) = no_answer.unwrap_or_default();
            let consequence = "requests and hooks that go to it wait until the client gives up";
            Check::ill(PROXY, what, consequence, fix)
        }
        (true, ..) => Check::well(PROXY, format!("it answers at {listener}")),
        (false, false, _) if has_hooks => Check::well(PROXY, "it is not running, and only hooks go to it"),
        (false, false, _) => Check::well(PROXY, "it is not running, and the client does not need it"),
        (false, true, Some(taken)) => Check::ill(
            PROXY,
            taken,
            "the client sends its requests to that program, and may wait for it for minutes",
            "stop that program, or set proxy.port and run `grov init --proxy` again",
        ),
        (false, true, None) => Check::ill(
            PROXY,
            format!("nobody listens at {listener}"),
            "the client tries for three minutes and then gives up",
            "grov proxy --detach",
        )
        .with(Remedy::StartProxy),
    }];
    checks.extend(running.store.as_ref().and_then(recording));
    match set {
        Some(set) if is_sent_here => {
            checks.push(Check::well(
                BASE_URL,
                format!("the client sends its requests to {set}"),
            ));
            checks.extend(around(&variables, &listener));
        }
        Some(set) if running.running && !has_hooks => checks.push(Check::ill(
            BASE_URL,
            format!("the client sends its requests to {}", shown(set)),
            "the proxy runs and sees none of them",
            "grov init --proxy",
        )),
        Some(set) => {
            let evidence = format!("the client sends its requests to {}", shown(set));
            checks.push(Check::well(BASE_URL, evidence));
        }
        None if running.running && !has_hooks => checks.push(Check::ill(
            BASE_URL,
            "the client sends its requests straight to the API",
            "the proxy runs and sees none of them",
            "grov init --proxy",
        )),
        None => checks.push(Check::well(
            BASE_URL,
            "the client sends its requests straight to the API",
        )),
    }
    Ok(checks)
}

/// What hinders the daemon in recording; `None` where nothing does.
fn recording(store: &LiveStore) -> Option<Check> {
    if store.ok {
        return None;
    }
    let evidence = match (&store.last_error, store.lost) {
        (Some(error), _) => format!("the proxy reports: {error}"),
        (None, 1) => "the proxy lost 1 record since it started".to_owned(),
        (None, lost) => format!("the proxy lost {lost} records since it started"),
    };
    let consequence = "requests pass; steps and memory of this time may be incomplete";
    Some(Check::ill(
        "recording",
        evidence,
        consequence,
        "see the proxy's log",
    ))
}

/// What else the client's environment must say: what `grov init --proxy` would still set.
fn around(variables: &BTreeMap<String, String>, listener: &str) -> Vec<Check> {
    let to = Route {
        url: listener,
        project: None,
    };
    // An empty file always can be read.
    let routed = route("", |name| variables.get(name).cloned(), &[], to).unwrap_or_default();
    let wanted = |name: &str| {
        routed
            .environment
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
    };
    let is_on = variables
        .get("ENABLE_TOOL_SEARCH")
        .is_some_and(|value| value == "true");
    let tool_search = match is_on {
        true => Check::well("tool search", "ENABLE_TOOL_SEARCH is true"),
        false => Check::ill(
            "tool search",
            "ENABLE_TOOL_SEARCH is not true",
            "behind a base address of one's own the client sends every tool in full with each request",
            "grov init --proxy, or set ENABLE_TOOL_SEARCH to true",
        ),
    };
    let loopback = match wanted("NO_PROXY") {
        None => Check::well("no_proxy", "requests to this machine go nowhere else"),
        Some((name, value)) => Check::ill(
            "no_proxy",
            format!("there is a proxy for everything, and {name} does not leave out this machine"),
            "the client sends requests for grov-proxyd to that proxy",
            format!("grov init --proxy, or set {name}={value}"),
        ),
    };
    vec![tool_search, loopback]
}

fn is_same_port(one: &str, other: &str) -> bool {
    match (Url::parse(one), Url::parse(other)) {
        (Ok(one), Ok(other)) => {
            one.is_loopback() && other.is_loopback() && one.port() == other.port() && !one.is_secure()
        }
        _ => false,
    }
}

fn taken(listener: &str) -> Option<String> {
    let url = Url::parse(listener).ok()?;
    taken_at(SocketAddr::new(url.host().parse().ok()?, url.port()))
}
