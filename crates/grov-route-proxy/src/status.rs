//! The state of the routes for `/_grov/routes` and `/_grov/health`.

use crate::provider::Provider;
use crate::routes::Routes;
use async_trait::async_trait;
use grov_proxy_core::{AdminRequest, AdminResponse, AdminRoute};
use grov_route::{BreakerState, Problem, ProviderFile, Target};
use http::{Method, StatusCode};
use serde_json::{Map, Value, json};
use std::time::Instant;

impl Routes {
    /// Returns the state for `/_grov/health`.
    pub(crate) fn health(&self) -> Value {
        let table = self.table();
        let counters: Map<String, Value> = self
            .shared
            .counters
            .all()
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.into()))
            .collect();
        json!({
            "file": table.path.as_deref().map(|path| path.display().to_string()),
            "models": table.file.as_ref().map_or(0, |file| file.targets().len()),
            "problems": problems(&table.problems),
            "counters": counters,
            "misspelled_markers": self.shared.near_misses.all(),
        })
    }

    /// Returns the labels with their providers and circuits, and the newest decisions.
    pub(crate) fn list(&self) -> Value {
        let table = self.table();
        let now = Instant::now();
        let targets = table.file.iter().flat_map(ProviderFile::targets);
        let routes: Vec<Value> = targets
            .map(|target| {
                let prepared = table.target(&target.label);
                let provider = prepared.map(|prepared| &*prepared.provider);
                route(target, provider, now)
            })
            .collect();
        json!({
            "file": table.path.as_deref().map(|path| path.display().to_string()),
            "problems": problems(&table.problems),
            "routes": routes,
            "decisions": self.shared.decisions.all(),
        })
    }
}

fn problems(problems: &[Problem]) -> Vec<Value> {
    let problem =
        |problem: &Problem| json!({"line": problem.line, "message": problem.message, "hint": problem.hint});
    problems.iter().map(problem).collect()
}

fn route(target: &Target, provider: Option<&Provider>, now: Instant) -> Value {
    let circuit = provider.map(|provider| provider.circuit(now));
    let is_contacted = provider.is_some_and(Provider::is_contacted);
    let fault = provider.and_then(Provider::fault);
    let is_healthy = circuit == Some(BreakerState::Closed) && fault.is_none();
    let retry_seconds = match circuit {
        Some(BreakerState::Open { remaining }) => Some(remaining.as_secs() + 1),
        _ => None,
    };
    json!({
        "label": target.label,
        "provider": target.provider,
        "model": target.model,
        "endpoint": target.endpoint,
        "transforms": target.transforms,
        "fallback": target.fallback,
        "contacted": is_contacted,
        "healthy": is_contacted.then_some(is_healthy),
        "fault": fault,
        "limited": provider.is_some_and(Provider::is_limited),
        "unusable": target.unusable(),
        "circuit": circuit.map(BreakerState::name),
        "retry_seconds": retry_seconds,
    })
}

#[async_trait]
impl AdminRoute for Routes {
    fn body_limit(&self) -> u64 {
        0
    }

    async fn handle(&self, request: AdminRequest) -> AdminResponse {
        // A POST has the provider file read first.
        let is_list =
            request.rest.is_empty() && matches!(request.method, Method::GET | Method::HEAD | Method::POST);
        if is_list && request.method == Method::POST {
            let routes = self.clone();
            // Fails only while the process is going down.
            let _ = tokio::task::spawn_blocking(move || routes.read_again()).await;
        }
        let (status, body) = if is_list {
            (StatusCode::OK, self.list())
        } else {
            let error = json!({"type": "not_found_error", "message": "grov-proxyd: no such admin route."});
            (StatusCode::NOT_FOUND, json!({"type": "error", "error": error}))
        };
        AdminResponse {
            status,
            content_type: "application/json",
            body: body.to_string().into(),
        }
    }
}
