//! One request of a session: what it used, and what Grov changed of it.

use super::edits::EditsView;
use crate::Site;
use crate::access::Session;
use crate::format::{billionths, count, line, timestamp};
use crate::money::Costs;
use crate::page::{Frame, PageError, render};
use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use grov_domain::{ClientSessionId, ExchangeId, Outcome};
use grov_query::request_view;

#[derive(Template)]
#[template(path = "request.html")]
struct Page {
    frame: Frame,
    session: String,
    short: String,
    title: String,
    started: String,
    milliseconds: i128,
    /// How it ended, if it did not end well.
    trouble: String,
    stop_reason: String,
    agent: String,
    /// Tokens and list prices by class.
    classes: Vec<(&'static str, String, String)>,
    total: String,
    edits: Option<EditsView>,
    /// The request before it in the conversation.
    previous: Option<String>,
}

/// `GET /_grov/ui/sessions/{id}/requests/{request}`
pub(super) async fn page(
    State(site): State<Site>,
    Extension(session): Extension<Session>,
    Path((id, request)): Path<(String, String)>,
) -> Result<Response, PageError> {
    let id = ClientSessionId::new(id);
    let found = request_view(&*site.store, &id, &ExchangeId::new(request)).await?;
    let view = found.ok_or(PageError::Missing("There is no such request"))?;
    let exchange = &view.exchange;
    let model = exchange.model.as_deref().unwrap_or("unknown model");
    let tokens = exchange.tokens;
    let costs = Costs::of_model(&site.prices(), model, tokens);
    let price = |amount: u128| match costs.unpriced {
        0 => billionths(amount),
        _ => "no known price".to_owned(),
    };
    Ok(render(&Page {
        frame: Frame::from(&session).at("Session"),
        short: line(id.as_str()).chars().take(8).collect(),
        session: id.to_string(),
        title: format!("{} request to {}", exchange.kind.as_str(), line(model)),
        started: timestamp(exchange.started_at),
        milliseconds: (exchange.ended_at - exchange.started_at).whole_milliseconds(),
        trouble: match exchange.outcome {
            Outcome::Complete => String::new(),
            other => other.as_str().replace('_', " "),
        },
        stop_reason: exchange.stop_reason.as_deref().map(line).unwrap_or_default(),
        agent: exchange
            .agent_id
            .as_ref()
            .map(|agent| line(agent.as_str()))
            .unwrap_or_default(),
        classes: vec![
            ("input", count(tokens.input), price(costs.input)),
            ("cache read", count(tokens.cache_read), price(costs.cache_read)),
            (
                "cache write",
                count(tokens.cache_creation),
                price(costs.cache_write),
            ),
            ("output", count(tokens.output), price(costs.output)),
        ],
        total: price(costs.total()),
        edits: exchange.edits.as_ref().map(|edits| EditsView::of(edits, &view)),
        previous: view.previous.as_ref().map(|previous| previous.id.to_string()),
    }))
}
