//! `grov route list`

use super::source::Source;
use crate::context::{Context, block_on};
use crate::daemon_health;
use crate::failure::Failure;
use crate::output::{Outcome, Style};
use crate::table::Table;
use grov_llm::ProviderClient;
use grov_route::{ProviderApi, Target};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::time::Duration;

/// How long the daemon may take to answer.
const DAEMON_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Serialize)]
struct Answer {
    file: String,
    routes: Vec<RouteView>,
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
}

/// The daemon's state of a label.
#[derive(Clone, Debug, Deserialize)]
struct LiveRoute {
    label: String,
    healthy: Option<bool>,
    circuit: Option<String>,
}

#[derive(Deserialize)]
struct LiveRoutes {
    routes: Vec<LiveRoute>,
}

pub(super) fn run(context: &Context, source: &Source) -> Outcome {
    let file = source.load_existing()?;
    let live = live_routes(context);
    let view = |target: &Target| {
        let state = live.get(&target.label);
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
        }
    };
    let answer = Answer {
        file: source.path().display().to_string(),
        routes: file.targets().iter().map(|target| view(target)).collect(),
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

/// The daemon's routes by label; empty if none answers.
fn live_routes(context: &Context) -> HashMap<String, LiveRoute> {
    let Some(url) = daemon_health::query(&context.home).url else {
        return HashMap::new();
    };
    let fetched = block_on(async {
        let client = ProviderClient::new(&url, &[], DAEMON_TIMEOUT).await;
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
    let routes = fetched.ok().flatten().map_or_else(Vec::new, |live| live.routes);
    routes
        .into_iter()
        .map(|route| (route.label.clone(), route))
        .collect()
}

fn failure(error: grov_llm::ProviderCallError) -> Failure {
    Failure::error("daemon", error.to_string())
}

fn text(answer: &Answer, style: Style) -> String {
    if answer.routes.is_empty() {
        return "the provider file has no models\n".to_owned();
    }
    let mut table = Table::new("LABEL, PROVIDER, MODEL, TRANSFORMS, STATE");
    for route in &answer.routes {
        let state = match (route.healthy, &route.circuit) {
            (Some(true), _) => "ok".to_owned(),
            (Some(false), Some(circuit)) => format!("failing (circuit {circuit})"),
            (Some(false), None) => "failing".to_owned(),
            (None, _) => "unknown: grov-proxyd is not running".to_owned(),
        };
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
