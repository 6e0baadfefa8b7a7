//! `grov route list`

use super::live::{LiveRoute, live_routes};
use super::source::Source;
use crate::context::Context;
use crate::output::{Outcome, Style};
use crate::table::Table;
use grov_route::{ProviderApi, Target};
use serde::Serialize;
use std::collections::HashMap;

#[derive(Serialize)]
struct Answer {
    file: String,
    routes: Vec<RouteView>,
    /// The running daemon's newest decisions with their reasons, newest first.
    decisions: Vec<serde_json::Value>,
}

#[derive(Serialize)]
struct RouteView {
    label: String,
    provider: String,
    model: String,
    endpoint: String,
    api: &'static str,
    transforms: Vec<String>,
    max_tokens: Option<u64>,
    fallback: Vec<String>,
    /// Whether the provider answers, as far as the running daemon knows; `None` without a daemon.
    healthy: Option<bool>,
    /// The state of the daemon's circuit breaker.
    circuit: Option<String>,
    /// Whether the running daemon has sent it a request; `None` without a daemon.
    contacted: Option<bool>,
    /// What was wrong with its newest answer.
    fault: Option<String>,
    /// Whether the running daemon has read this entry; `None` without a daemon.
    loaded: Option<bool>,
    /// Whether it gets no requests because it asked to wait.
    limited: Option<bool>,
    /// Why it cannot be used.
    unusable: Option<String>,
}

pub(super) fn run(context: &Context, source: &Source) -> Outcome {
    let file = source.load_existing()?;
    let live = live_routes(context);
    let is_running = live.is_some();
    let (routes, decisions) = live.map_or_else(Default::default, |live| (live.routes, live.decisions));
    let live: HashMap<&str, &LiveRoute> = routes.iter().map(|route| (route.label.as_str(), route)).collect();
    let view = |target: &Target| {
        let state = live.get(target.label.as_str());
        RouteView {
            label: target.label.clone(),
            provider: target.provider.clone(),
            model: target.model.clone(),
            endpoint: target.endpoint.clone(),
            api: api_name(target.api),
            transforms: target.transforms.clone(),
            max_tokens: target.max_tokens,
            fallback: target.fallback.clone(),
            healthy: state.and_then(|state| state.healthy),
            circuit: state.and_then(|state| state.circuit.clone()),
            contacted: state.and_then(|state| state.contacted),
            fault: state.and_then(|state| state.fault.clone()),
            loaded: is_running.then_some(state.is_some()),
            limited: state.and_then(|state| state.limited),
            unusable: target.unusable(),
        }
    };
    let answer = Answer {
        file: source.path().display().to_string(),
        routes: file.targets().iter().map(|target| view(target)).collect(),
        decisions,
    };
    context.answer(answer, text)
}

fn api_name(api: ProviderApi) -> &'static str {
    match api {
        ProviderApi::Chat => "chat",
        ProviderApi::Responses => "responses",
        ProviderApi::Anthropic => "anthropic",
    }
}

/// The state of a provider in words.
fn state(route: &RouteView) -> String {
    if let Some(reason) = &route.unusable {
        return reason.clone();
    }
    if route.loaded == Some(false) {
        return "not read yet: grov-proxyd looks at the file every second".to_owned();
    }
    match (route.contacted, route.healthy, &route.circuit) {
        (Some(false), ..) => "not contacted yet".to_owned(),
        (_, Some(true), _) => "ok".to_owned(),
        (_, Some(false), _) if route.limited == Some(true) => "limited: it asked to wait".to_owned(),
        (_, Some(false), circuit) => {
            let fault = route.fault.iter().map(|fault| format!(": {fault}"));
            // A closed circuit keeps nothing back.
            let circuit = circuit.iter().filter(|circuit| *circuit != "closed");
            let circuit = circuit.map(|circuit| format!(" (circuit {circuit})"));
            let details: String = fault.chain(circuit).collect();
            format!("failing{details}")
        }
        (_, None, _) => "unknown: grov-proxyd is not running".to_owned(),
    }
}

fn text(answer: &Answer, style: Style) -> String {
    if answer.routes.is_empty() {
        return "the provider file has no models\n".to_owned();
    }
    let mut table = Table::new("LABEL, PROVIDER, MODEL~, TRANSFORMS~?, STATE~");
    for route in &answer.routes {
        let state = state(route);
        let transforms = route.transforms.join(", ");
        let model = route.model.clone();
        table.row([
            route.label.clone(),
            route.provider.clone(),
            model,
            transforms,
            state,
        ]);
    }
    table.render(style)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_that_was_never_contacted_is_not_called_ok() {
        let route = |contacted, healthy, limited| RouteView {
            label: "l".to_owned(),
            provider: "p".to_owned(),
            model: "m".to_owned(),
            endpoint: String::new(),
            api: "chat",
            transforms: Vec::new(),
            max_tokens: None,
            fallback: Vec::new(),
            healthy,
            circuit: healthy.map(|_| "open".to_owned()),
            contacted,
            fault: None,
            loaded: contacted.map(|_| true),
            limited,
            unusable: None,
        };
        assert_eq!(state(&route(Some(false), None, Some(false))), "not contacted yet");
        assert_eq!(state(&route(Some(true), Some(true), Some(false))), "ok");
        assert_eq!(
            state(&route(Some(true), Some(false), Some(true))),
            "limited: it asked to wait"
        );
        assert_eq!(
            state(&route(Some(true), Some(false), Some(false))),
            "failing (circuit open)"
        );
        assert!(state(&route(None, None, None)).starts_with("unknown"));
        let refused = RouteView {
            fault: Some("status 401".to_owned()),
            circuit: Some("closed".to_owned()),
            ..route(Some(true), Some(false), Some(false))
        };
        assert_eq!(state(&refused), "failing: status 401");
        let new = RouteView {
            loaded: Some(false),
            ..route(None, None, None)
        };
        assert!(state(&new).starts_with("not read yet"));
    }
}
