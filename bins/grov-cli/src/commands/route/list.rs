//! `grov route list`

use super::source::Source;
use crate::context::{Context, block_on};
use crate::daemon_health;
use crate::failure::Failure;
use crate::output::{Outcome, Style};
use crate::table::Table;
use grov_llm::ProviderClient;
use grov_redact::Secret;
use grov_route::{ProviderApi, Target};
use grov_runtime::{daemon, port};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::time::Duration;

/// How long the daemon may take to answer.
const DAEMON_TIMEOUT: Duration = Duration::from_secs(2);

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
    /// Whether it gets no requests because it asked to wait.
    limited: Option<bool>,
    /// Why it cannot be used.
    unusable: Option<String>,
}

/// The daemon's state of a label.
#[derive(Clone, Debug, Deserialize)]
struct LiveRoute {
    label: String,
    healthy: Option<bool>,
    circuit: Option<String>,
    contacted: Option<bool>,
    limited: Option<bool>,
}

#[derive(Default, Deserialize)]
struct LiveRoutes {
    routes: Vec<LiveRoute>,
    #[serde(default)]
    decisions: Vec<serde_json::Value>,
}

pub(super) fn run(context: &Context, source: &Source) -> Outcome {
    let file = source.load_existing()?;
    let LiveRoutes { routes, decisions } = live_routes(context);
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

/// The daemon's routes and decisions; empty if none answers.
fn live_routes(context: &Context) -> LiveRoutes {
    let address = daemon::read(&context.home).and_then(|record| record.local_address());
    let Some(address) = address.filter(|_| daemon_health::query(&context.home).running) else {
        return LiveRoutes::default();
    };
    let url = format!("http://{address}");
    let is_local = [(port::LOCAL_HEADER, Secret::new("1"))];
    let fetched = block_on(async {
        let client = ProviderClient::new(&url, &is_local, DAEMON_TIMEOUT).await;
        let response = client
            .map_err(failure)?
            .get("/_grov/routes")
            .await
            .map_err(failure)?;
        if response.status() != 200 {
            return Ok(None);
        }
        let body = response.body().await.map_err(failure)?;
        Ok::<_, Failure>(serde_json::from_slice::<LiveRoutes>(&body).ok())
    });
    fetched.ok().flatten().unwrap_or_default()
}

fn failure(error: grov_llm::ProviderCallError) -> Failure {
    Failure::error("daemon", error.to_string())
}

/// The state of a provider in words.
fn state(route: &RouteView) -> String {
    if let Some(reason) = &route.unusable {
        return reason.clone();
    }
    match (route.contacted, route.healthy, &route.circuit) {
        (Some(false), ..) => "not contacted yet".to_owned(),
        (_, Some(true), _) => "ok".to_owned(),
        (_, Some(false), _) if route.limited == Some(true) => "limited: it asked to wait".to_owned(),
        (_, Some(false), Some(circuit)) => format!("failing (circuit {circuit})"),
        (_, Some(false), None) => "failing".to_owned(),
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
    }
}
