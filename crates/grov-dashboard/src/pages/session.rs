//! *Session*: one session from its head to its oldest entry.

use super::edits;
use super::now::Card;
use crate::Site;
use crate::access::Session;
use crate::chart::Chart;
use crate::format::{billionths, clock, count, line, shown, timestamp};
use crate::money::Costs;
use crate::page::{Frame, PageError, is_partial, render};
use askama::Template;
use axum::Extension;
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use grov_cost::PriceBook;
use grov_domain::{
    ClientSessionId, Clock, DriftEvent, JournalExchange, OFF_GOAL_BELOW, StepOutcome, StepRow, SystemClock,
};
use grov_query::{InjectionView, Timeline, TimelineEntry, TimelineKind, session_card, timeline};
use serde::Deserialize;
use std::collections::HashMap;
use time::OffsetDateTime;

/// Entries on a page.
const ENTRIES: u32 = 150;

/// What the address asks for.
#[derive(Deserialize)]
pub(super) struct Wanted {
    /// The time of the oldest entry of the page before, in milliseconds.
    before: Option<i64>,
}

#[derive(Template)]
#[template(path = "session.html")]
struct Page {
    frame: Frame,
    card: Card,
    started: String,
    line: Line,
}

/// The part that live updates replace.
#[derive(Template)]
#[template(path = "session_line.html")]
struct Part {
    card: Card,
    line: Line,
}

/// The time line.
struct Line {
    entries: Vec<Entry>,
    older: Option<i128>,
    is_newest: bool,
    chart: Option<Chart>,
}

/// An entry of the time line.
struct Entry {
    /// Names it on the page, also after newer ones were added.
    key: String,
    /// The kind's name, which is also its style.
    kind: &'static str,
    clock: String,
    at: String,
    title: String,
    /// Short facts behind the title.
    facts: Vec<Fact>,
    /// What is shown on demand, with its heading.
    details: Vec<(&'static str, String)>,
    /// The path of the page of a request, below that of the session.
    link: Option<String>,
}

struct Fact {
    text: String,
    is_bad: bool,
}

fn fact(text: impl Into<String>) -> Fact {
    Fact {
        text: text.into(),
        is_bad: false,
    }
}

fn bad(text: impl Into<String>) -> Fact {
    Fact {
        text: text.into(),
        is_bad: true,
    }
}

impl Line {
    fn of(found: &Timeline, prices: &PriceBook, is_newest: bool) -> Self {
        let mut entries: Vec<Entry> = found
            .entries
            .iter()
            .map(|entry| Entry::of(entry, prices))
            .collect();
        let mut used: HashMap<String, usize> = HashMap::new();
        for entry in entries.iter_mut().rev() {
            let number = used.entry(entry.key.clone()).or_default();
            *number += 1;
            entry.key.push_str(&format!("-{number}"));
        }
        Self {
            entries,
            older: found.older_than.map(milliseconds),
            is_newest,
            chart: Chart::of(&found.scores),
        }
    }
}

fn milliseconds(time: OffsetDateTime) -> i128 {
    time.unix_timestamp_nanos() / 1_000_000
}

impl Entry {
    fn of(entry: &TimelineEntry, prices: &PriceBook) -> Self {
        let filled = match &entry.kind {
            TimelineKind::Prompt(text) => prompt(text),
            TimelineKind::Action(step) => action(step),
            TimelineKind::Finding(event) => finding(event),
            TimelineKind::Injection(view) => injection(view),
            TimelineKind::Request(exchange) => request(exchange, prices),
        };
        Self {
            key: format!("{}-{}", filled.kind, milliseconds(entry.at)),
            clock: clock(entry.at),
            at: timestamp(entry.at),
            ..filled
        }
    }

    fn new(kind: &'static str, title: String) -> Self {
        Self {
            kind,
            key: String::new(),
            clock: String::new(),
            at: String::new(),
            title,
            facts: Vec::new(),
            details: Vec::new(),
            link: None,
        }
    }
}

fn prompt(text: &str) -> Entry {
    let mut entry = Entry::new("prompt", line(text));
    if entry.title.len() < text.trim().len() {
        entry.details.push(("whole prompt", shown(text)));
    }
    entry
}

fn action(step: &StepRow) -> Entry {
    let mut entry = Entry::new("action", line(&format!("{} {}", step.tool, step.subject())));
    entry.facts.extend(
        step.agent_id
            .as_ref()
            .map(|agent| fact(format!("agent {}", line(agent.as_str())))),
    );
    entry
        .facts
        .extend(step.outcome.map(|outcome| bad(StepOutcome::as_str(outcome))));
    if let Some(score) = step.drift_score {
        let text = format!("score {score}");
        entry.facts.push(if score < OFF_GOAL_BELOW {
            bad(text)
        } else {
            fact(text)
        });
    }
    if let Some(command) = &step.command {
        entry.details.push(("command", shown(command)));
    }
    if step.files.len() > 1 {
        entry.details.push(("files", shown(&step.files.join("\n"))));
    }
    if let Some(reasoning) = &step.reasoning {
        entry
            .details
            .push(("the agent's last words before it", shown(reasoning)));
    }
    entry
}

/// How an action off the goal ended that did not succeed.
pub(super) fn unchanged(outcome: StepOutcome) -> String {
    match outcome {
        StepOutcome::Denied => "denied: it did not run".to_owned(),
        StepOutcome::Failed | StepOutcome::Stopped => outcome.as_str().to_owned(),
    }
}

fn finding(event: &DriftEvent) -> Entry {
    let reason = event.reason.as_deref().unwrap_or("off the goal");
    let mut entry = Entry::new("finding", line(&format!("{}: {reason}", event.subject())));
    entry
        .facts
        .extend(event.outcome.map(|outcome| fact(unchanged(outcome))));
    entry
        .facts
        .extend(event.drift_score.map(|score| bad(format!("score {score}"))));
    entry
        .facts
        .extend(event.level.as_deref().map(|level| fact(line(level))));
    let findings = event.findings.iter();
    let findings: Vec<String> = findings
        .map(|finding| format!("{}: {}", finding.rule.as_str(), finding.reason))
        .collect();
    if !findings.is_empty() {
        entry.details.push(("findings", shown(&findings.join("\n"))));
    }
    if let Some(correction) = &event.correction_given {
        entry.details.push(("correction", shown(correction)));
    }
    if !event.recovery_plan.is_empty() {
        entry
            .details
            .push(("recovery", shown(&event.recovery_plan.join("\n"))));
    }
    entry
}

fn injection(view: &InjectionView) -> Entry {
    let title = format!("{} added to the {}", view.kind, view.place.replace('_', " "));
    let mut entry = Entry::new("injection", title);
    entry.facts.push(fact(format!("{} bytes", view.bytes)));
    entry.facts.push(fact(view.path));
    entry.facts.extend(view.followed.map(|followed| match followed {
        true => fact("followed"),
        false => bad("not followed"),
    }));
    if let Some(reason) = &view.reason {
        entry.details.push(("why", shown(reason)));
    }
    entry
        .details
        .push(("the text, as the agent received it", shown(&view.text)));
    entry
}

fn request(exchange: &JournalExchange, prices: &PriceBook) -> Entry {
    let model = exchange.model.as_deref().unwrap_or("unknown model");
    let title = format!("{} request to {}", exchange.kind.as_str(), line(model));
    let mut entry = Entry::new("request", title);
    let tokens = exchange.tokens;
    let costs = Costs::of_model(prices, model, tokens);
    entry
        .facts
        .push(fact(format!("read {}", count(tokens.cache_read))));
    entry
        .facts
        .push(fact(format!("write {}", count(tokens.cache_creation))));
    entry.facts.push(fact(format!("input {}", count(tokens.input))));
    entry.facts.push(fact(format!("output {}", count(tokens.output))));
    if costs.unpriced == 0 {
        entry.facts.push(fact(billionths(costs.total())));
    }
    let milliseconds = (exchange.ended_at - exchange.started_at).whole_milliseconds();
    entry.facts.push(fact(format!("{milliseconds} ms")));
    if exchange.outcome != grov_domain::Outcome::Complete {
        entry.facts.push(bad(exchange.outcome.as_str().replace('_', " ")));
    }
    if let Some(edits) = &exchange.edits {
        let text = edits::summary(edits);
        entry
            .facts
            .push(if edits.refused { bad(text) } else { fact(text) });
    }
    entry.link = Some(exchange.id.to_string());
    entry
}

/// `GET /_grov/ui/sessions/{id}`
pub(super) async fn page(
    State(site): State<Site>,
    Extension(session): Extension<Session>,
    Path(id): Path<String>,
    Query(wanted): Query<Wanted>,
    headers: HeaderMap,
) -> Result<Response, PageError> {
    let now = SystemClock.now();
    let id = ClientSessionId::new(id);
    let found = session_card(&*site.store, &id, now).await?;
    let found = found.ok_or(PageError::Missing("There is no such session"))?;
    let before = wanted.before.and_then(|milliseconds| {
        let nanoseconds = i128::from(milliseconds).checked_mul(1_000_000)?;
        OffsetDateTime::from_unix_timestamp_nanos(nanoseconds).ok()
    });
    let hooked = site.store.hook_session_summary(&id).await?;
    let transcribed = match hooked.is_some_and(|session| session.transcript_path.is_some()) {
        true => {
            site.hook_texts
                .of(&*site.commands, &id, found.session.last_update)
                .await
        }
        false => None,
    };
    let entries = timeline(&*site.store, &id, before, ENTRIES, transcribed.as_deref()).await?;
    let prices = site.prices();
    let line = Line::of(&entries, &prices, before.is_none());
    let card = Card::of(&found, &prices, now);
    Ok(match is_partial(&headers) {
        true => render(&Part { card, line }),
        false => render(&Page {
            frame: Frame::from(&session).at("Session"),
            started: timestamp(found.session.started_at),
            card,
            line,
        }),
    })
}
