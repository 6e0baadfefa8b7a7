//! Routes the requests of the proxy.

use crate::answers;
use crate::exchange::RoutedExchange;
use crate::own_thinking::OwnThinking;
use crate::plan;
use crate::routes::Routes;
use crate::table::Table;
use grov_domain::ClientDialect;
use grov_proxy_core::{
    Failover, Forward, MessagesRequest, ObservedExchange, Route, RouteRequest, Router, Target, TurnObserver,
    UpstreamHandle,
};
use grov_route::translate::has_too_many_values;
use grov_route::{
    Agent, Choice, LocalAnswer, RouteDecision, Rules, choose, is_unreadable_and_marked, near_miss,
    strip_marker,
};
use http::{HeaderMap, Method};
use std::sync::Arc;
use std::time::Instant;

/// The header with which a client leaves a request out of observation.
const BYPASS: &str = "x-grov-bypass";

/// What a request asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    Message,
    TokenCount,
    Other,
}

impl Asked {
    fn of(request: &RouteRequest<'_>) -> Self {
        let path = request.uri.path().trim_end_matches('/');
        if *request.method != Method::POST {
            Self::Other
        } else if path.ends_with("/v1/messages") {
            Self::Message
        } else if path.ends_with("/v1/messages/count_tokens") {
            Self::TokenCount
        } else {
            Self::Other
        }
    }
}

/// Why a marked request was answered by Grov.
const NO_FILE: &str = "there is no usable provider file";

/// The model that the client asked for; empty if it named none.
fn asked_model(message: &MessagesRequest) -> String {
    let model = message.index().and_then(|index| index.model());
    model.map(String::from).unwrap_or_default()
}

impl Router for Routes {
    fn route(&self, request: &RouteRequest<'_>) -> Option<Route> {
        let message = request.message?;
        let table = self.table();
        let asked = Asked::of(request);
        let local = |answer: LocalAnswer, label: &str, why: &str| {
            self.shared.counters.answered_locally.increment();
            if asked == Asked::Message {
                self.shared
                    .decisions
                    .answered_here(label, asked_model(message), why);
            }
            Some(Route::answer(answers::response(answer, label)))
        };
        let marker = strip_marker(message.body()).map(|marked| marked.label);
        if marker.is_none() && is_unreadable_and_marked(message.body()) {
            tracing::warn!("[LOCAL_ERR:HTTP_400] a marked request is no valid JSON");
            return local(
                answers::unreadable(),
                "unreadable",
                "the marked request is no valid JSON",
            );
        }
        if marker.is_none()
            && let Some(spelling) = near_miss(message.body())
        {
            self.shared.near_misses.note(&spelling);
        }
        match choice(&table, message, marker, request.headers) {
            Choice::Anthropic => OwnThinking::is_in(message.body()).then(|| {
                Route::to(Target {
                    codec: Some(Arc::new(OwnThinking)),
                    ..Target::new(UpstreamHandle::MAIN)
                })
            }),
            Choice::UnknownLabel { label, nearest } => {
                tracing::warn!("[LOCAL_ERR:HTTP_400] {label}: the provider file has no such label");
                let problem = table.problems.first().map(ToString::to_string);
                let answer = LocalAnswer::unknown_label(&label, nearest.as_deref(), problem.as_deref());
                local(answer, &label, "the provider file has no such label")
            }
            Choice::Stub { label } => {
                let problems = &table.problems;
                let is_stream = message.index().is_some_and(|index| index.stream());
                tracing::warn!(
                    "LOCAL_ROUTE {} → model={label}: there is no usable provider file",
                    request.uri.path()
                );
                if !problems.is_empty() {
                    return local(
                        answers::broken_file(table.path.as_deref(), problems),
                        &label,
                        NO_FILE,
                    );
                }
                if asked == Asked::TokenCount {
                    return Some(self.token_count(&table, message, label));
                }
                local(LocalAnswer::stub(&label, is_stream), &label, NO_FILE)
            }
            Choice::Route(decision) => match asked {
                Asked::Message => Some(self.forward(&table, message, request, decision)),
                Asked::TokenCount => Some(self.token_count(&table, message, decision.label)),
                Asked::Other => local(answers::unsupported(request.uri.path()), &decision.label, ""),
            },
        }
    }
}

impl Routes {
    fn token_count(&self, table: &Table, message: &MessagesRequest, label: String) -> Route {
        self.shared.counters.answered_locally.increment();
        self.shared.calibrator.count_was_asked();
        let provider = table
            .target(&label)
            .map(|prepared| Arc::clone(&prepared.provider));
        answers::token_count(message.body().clone(), label, provider)
    }

    fn forward(
        &self,
        table: &Table,
        message: &MessagesRequest,
        request: &RouteRequest<'_>,
        decision: RouteDecision,
    ) -> Route {
        let RouteDecision {
            label,
            provider,
            model,
            reason,
        } = decision;
        let reason = reason.to_string();
        let is_stream = message.index().is_some_and(|index| index.stream());
        let kind = if is_stream { "streaming" } else { "non-streaming" };
        tracing::info!(
            "LOCAL_ROUTE {} {} → model={label} ({kind}) {provider}/{model}: {reason}",
            request.method,
            request.uri.path()
        );
        let shared = &self.shared;
        let chain = table.chain(&label);
        if chain.is_empty() {
            // Its endpoint cannot be used, which the problems of the table say.
            shared.counters.answered_locally.increment();
            shared
                .decisions
                .answered_here(&label, asked_model(message), NO_FILE);
            let answer = answers::broken_file(table.path.as_deref(), &table.problems);
            return Route::answer(answers::response(answer, &label));
        }
        let (chain, unusable): (Vec<_>, Vec<_>) = chain
            .into_iter()
            .partition(|prepared| prepared.target.unusable().is_none());
        let reasons = unusable.iter().filter_map(|prepared| prepared.target.unusable());
        if let Some(reason) = reasons.min().filter(|_| chain.is_empty()) {
            shared.counters.answered_locally.increment();
            tracing::warn!("[LOCAL_ERR:HTTP_400] {label}: {reason}");
            shared
                .decisions
                .answered_here(&label, asked_model(message), &reason);
            return Route::answer(answers::response(answers::unusable(&reason), &label));
        }
        let is_translated = chain.iter().any(|prepared| prepared.translator.is_some());
        if is_translated && has_too_many_values(message.body()) {
            shared.counters.answered_locally.increment();
            tracing::warn!(
                "[LOCAL_ERR:HTTP_413] {label}: the request has too many JSON values to be translated"
            );
            let why = "the request has too many JSON values to be translated";
            shared.decisions.answered_here(&label, asked_model(message), why);
            return Route::answer(answers::response(answers::too_many_values(), &label));
        }
        let planned = match plan::plan(chain, Instant::now()) {
            Ok(planned) => planned,
            Err(open) => {
                shared.counters.circuit_open.increment();
                let reason = if open.are_limited {
                    "HTTP_429"
                } else {
                    "CONNECTION"
                };
                tracing::warn!(
                    "[LOCAL_ERR:{reason}] {label}: the circuits of {} are open",
                    open.providers
                );
                let why = format!("the circuits of {} are open", open.providers);
                shared.decisions.answered_here(&label, asked_model(message), &why);
                return Route::answer(answers::circuit_open(&label, &open));
            }
        };
        shared.counters.routed.increment();
        let targets = planned
            .attempts
            .iter()
            .map(|plan| plan::target(plan, &label, &reason, &shared.settings))
            .collect();
        // The proxy reports the end of such a request to nobody.
        let is_observed = request.headers.get(BYPASS).is_none_or(|value| value != "1");
        let chosen = format!("{provider}/{model}");
        let decision = shared
            .decisions
            .chosen(&label, asked_model(message), chosen, &reason);
        let exchange = Arc::new(RoutedExchange::new(shared, label, planned, is_observed, decision));
        message.extensions().insert(Arc::clone(&exchange));
        Route::Forward(Forward {
            targets,
            failover: Some(exchange as Arc<dyn Failover>),
        })
    }
}

/// Chooses what happens to a request with that label in its marker. Without marker and rules, the body is not parsed.
fn choice(table: &Table, message: &MessagesRequest, marker: Option<String>, headers: &HeaderMap) -> Choice {
    let body = message.body();
    let file = table.file.as_ref();
    let has_rules = file.is_some_and(|file| *file.rules() != Rules::default());
    let model = || message.index().and_then(|index| index.model());
    let is_explicit = || file.is_some() && model().is_some_and(|model| model.contains(','));
    let facts = if marker.is_some() {
        grov_route::RouteRequest {
            marker,
            ..grov_route::RouteRequest::default()
        }
    } else if has_rules || is_explicit() {
        grov_route::RouteRequest::read(body, None, agent(headers))
    } else {
        return Choice::Anthropic;
    };
    choose(&facts, file)
}

fn agent(headers: &HeaderMap) -> Agent {
    let id = headers.get(ClientDialect::CLAUDE_CODE.agent_header);
    Agent {
        id: id.and_then(|id| id.to_str().ok()).map(str::to_owned),
        kind: None,
    }
}

impl TurnObserver for Routes {
    fn name(&self) -> &'static str {
        "routes"
    }

    fn observe(&self, exchange: &ObservedExchange) {
        let routed = exchange
            .request
            .extensions()
            .get::<Arc<RoutedExchange>>()
            .cloned();
        if let Some(routed) = routed {
            routed.ended(exchange);
        }
    }
}
