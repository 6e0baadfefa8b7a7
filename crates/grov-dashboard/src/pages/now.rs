//! *Now*: the sessions, newest first, and what they cost.

use crate::Site;
use crate::access::Session;
use crate::format::{ago, billionths, count, line, timestamp};
use crate::money::Costs;
use crate::page::{Frame, PageError, is_partial, render};
use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use grov_cost::PriceBook;
use grov_domain::{Clock, SystemClock};
use grov_query::{LiveState, SessionCard, session_cards};
use time::OffsetDateTime;

/// Sessions on the page.
const SESSIONS: u32 = 30;

#[derive(Template)]
#[template(path = "now.html")]
struct Page {
    frame: Frame,
    cards: Vec<Card>,
    totals: Totals,
}

/// The part that live updates replace.
#[derive(Template)]
#[template(path = "now_cards.html")]
struct Part {
    cards: Vec<Card>,
    totals: Totals,
}

struct Totals {
    working: usize,
    waiting: usize,
    off_goal: usize,
    cost: String,
}

/// A session as it is shown, on this page and at the head of its own.
pub(super) struct Card {
    pub(super) id: String,
    pub(super) short: String,
    pub(super) state: &'static str,
    pub(super) path: &'static str,
    pub(super) goal: String,
    pub(super) project: String,
    pub(super) when: String,
    pub(super) at: String,
    pub(super) prompts: u64,
    pub(super) actions: String,
    pub(super) is_off_goal: bool,
    pub(super) score: Option<u8>,
    pub(super) last_action: String,
    pub(super) context: Option<Window>,
    pub(super) cost: Option<Money>,
}

/// How full a context window is.
pub(super) struct Window {
    pub(super) percent: u64,
    pub(super) tokens: String,
    pub(super) size: String,
    pub(super) model: String,
}

/// Tokens and costs by class.
pub(super) struct Money {
    pub(super) total: String,
    pub(super) classes: Vec<(&'static str, String, String)>,
    pub(super) has_unpriced: bool,
}

impl Card {
    pub(super) fn of(card: &SessionCard, prices: &PriceBook, now: OffsetDateTime) -> Self {
        let session = &card.session;
        let last_action = card.last_action.as_ref();
        Self {
            id: session.id.to_string(),
            short: line(&session.short_id),
            state: session.state.as_str(),
            path: session.path.as_str(),
            goal: session.goal.as_deref().map(line).unwrap_or_default(),
            project: session.project_path.as_deref().map(line).unwrap_or_default(),
            when: ago(session.last_update, now),
            at: timestamp(session.last_update),
            prompts: card.prompts,
            actions: count(card.actions),
            is_off_goal: card.is_off_goal,
            score: card.drift_score,
            last_action: last_action
                .map(|step| line(&format!("{} {}", step.tool, step.subject())))
                .unwrap_or_default(),
            context: card.context.as_ref().map(|reading| Window {
                percent: reading.tokens.saturating_mul(100) / reading.window_tokens.max(1),
                tokens: count(reading.tokens),
                size: count(reading.window_tokens),
                model: reading.model.as_deref().map(line).unwrap_or_default(),
            }),
            cost: (!card.usage.is_empty()).then(|| Money::of(card, Costs::of(prices, &card.usage))),
        }
    }
}

impl Money {
    fn of(card: &SessionCard, costs: Costs) -> Self {
        let tokens = card.tokens;
        Self {
            total: billionths(costs.total()),
            classes: vec![
                ("input", count(tokens.input), billionths(costs.input)),
                (
                    "cache read",
                    count(tokens.cache_read),
                    billionths(costs.cache_read),
                ),
                (
                    "cache write",
                    count(tokens.cache_creation),
                    billionths(costs.cache_write),
                ),
                ("output", count(tokens.output), billionths(costs.output)),
            ],
            has_unpriced: costs.unpriced > 0,
        }
    }
}

/// `GET /_grov/ui`
pub(super) async fn page(
    State(site): State<Site>,
    Extension(session): Extension<Session>,
    headers: HeaderMap,
) -> Result<Response, PageError> {
    let now = SystemClock.now();
    let read = async || session_cards(&*site.store, SESSIONS, now).await;
    let found = site.newest.get(site.live.version(), read).await?;
    let is = |state: LiveState| found.iter().filter(|card| card.session.state == state).count();
    let prices = site.prices();
    let cost: u128 = found
        .iter()
        .map(|card| Costs::of(&prices, &card.usage).total())
        .sum();
    let totals = Totals {
        working: is(LiveState::Working),
        waiting: is(LiveState::Waiting),
        off_goal: found
            .iter()
            .filter(|card| card.is_off_goal && card.session.state != LiveState::Ended)
            .count(),
        cost: billionths(cost),
    };
    let cards = found.iter().map(|card| Card::of(card, &prices, now)).collect();
    Ok(match is_partial(&headers) {
        true => render(&Part { cards, totals }),
        false => render(&Page {
            frame: Frame::from(&session).at("Now"),
            cards,
            totals,
        }),
    })
}
