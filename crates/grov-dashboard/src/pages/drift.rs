//! *Drift*: findings of all sessions, to be marked as right or wrong.

use crate::Site;
use crate::access::{Session, signed_form};
use crate::format::{ago, line, shown, timestamp};
use crate::page::{Frame, PageError, is_partial, render};
use crate::pages::session::unchanged;
use askama::Template;
use axum::Extension;
use axum::extract::{Query, Request, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Redirect, Response};
use grov_domain::{Clock, DriftEventId, FindingMark, SystemClock};
use grov_query::{FindingsView, MarkedFinding, RuleRecord, findings};
use serde::Deserialize;
use time::OffsetDateTime;

/// Findings on the page.
const FINDINGS: u32 = 100;
/// Longest rule name that a mark may have.
const MAX_RULE: usize = 40;

#[derive(Template)]
#[template(path = "drift.html")]
struct Page {
    frame: Frame,
    list: List,
}

#[derive(Template)]
#[template(path = "drift_list.html")]
struct Part {
    frame: Frame,
    list: List,
}

struct List {
    rules: Vec<RuleRow>,
    findings: Vec<Row>,
    /// The rule that is shown; empty for all.
    rule: String,
}

struct RuleRow {
    name: String,
    shown: usize,
    right: u64,
    wrong: u64,
    rate: String,
}

struct Row {
    id: String,
    rule: String,
    session: String,
    at: String,
    when: String,
    subject: String,
    reason: String,
    score: Option<u8>,
    is_doubt: bool,
    level: String,
    outcome: String,
    correction: String,
    is_right: Option<bool>,
}

/// What the address asks for.
#[derive(Default, Deserialize)]
pub(super) struct Wanted {
    #[serde(default)]
    rule: String,
}

impl List {
    fn of(view: FindingsView, rule: String, now: OffsetDateTime) -> Self {
        let mut names: Vec<&str> = view.by_rule.keys().map(String::as_str).collect();
        names.extend(view.findings.iter().map(|finding| finding.rule.as_str()));
        names.sort_unstable();
        names.dedup();
        let none = RuleRecord::default();
        let row = |name: &str| {
            let record = view.by_rule.get(name).unwrap_or(&none);
            RuleRow {
                name: line(name),
                shown: view.findings.iter().filter(|one| one.rule == name).count(),
                right: record.right,
                wrong: record.wrong,
                rate: match record.false_alarm_percent() {
                    Some(percent) => format!("{percent} %"),
                    None => "not marked yet".to_owned(),
                },
            }
        };
        let rules = names.into_iter().map(row).collect();
        let mut found = view.findings;
        found.retain(|one| rule.is_empty() || one.rule == rule);
        Self {
            rules,
            findings: found.iter().map(|one| Row::of(one, now)).collect(),
            rule,
        }
    }
}

impl Row {
    fn of(found: &MarkedFinding, now: OffsetDateTime) -> Self {
        let event = &found.event;
        let session = event.client_session_id.as_ref();
        Self {
            id: event.id.to_string(),
            rule: line(&found.rule),
            session: session.map(ToString::to_string).unwrap_or_default(),
            at: timestamp(event.timestamp),
            when: ago(event.timestamp, now),
            subject: line(&event.subject()),
            reason: event.reason.as_deref().map(shown).unwrap_or_default(),
            score: event.drift_score,
            is_doubt: found.is_doubt,
            level: event.level.as_deref().map(line).unwrap_or_default(),
            outcome: event.outcome.map(unchanged).unwrap_or_default(),
            correction: event.correction_given.as_deref().map(shown).unwrap_or_default(),
            is_right: found.is_right,
        }
    }
}

/// `GET /_grov/ui/drift`
pub(super) async fn page(
    State(site): State<Site>,
    Extension(session): Extension<Session>,
    Query(wanted): Query<Wanted>,
    headers: HeaderMap,
) -> Result<Response, PageError> {
    let view = findings(&*site.store, FINDINGS).await?;
    let frame = Frame::from(&session).at("Drift");
    let list = List::of(view, wanted.rule, SystemClock.now());
    Ok(match is_partial(&headers) {
        true => render(&Part { frame, list }),
        false => render(&Page { frame, list }),
    })
}

/// A verdict on a finding.
#[derive(Deserialize)]
struct Mark {
    event: String,
    rule: String,
    /// `right`, `wrong`, or anything else to remove the mark.
    verdict: String,
}

/// `POST /_grov/ui/drift/mark`
pub(super) async fn mark(
    State(site): State<Site>,
    Extension(session): Extension<Session>,
    headers: HeaderMap,
    request: Request,
) -> Result<Response, PageError> {
    let form: Mark = match signed_form(&site, request).await {
        Ok(form) => form,
        Err(refused) => return Ok(refused),
    };
    let event = DriftEventId::new(form.event);
    let is_right = match form.verdict.as_str() {
        "right" => Some(true),
        "wrong" => Some(false),
        _ => None,
    };
    match is_right {
        Some(is_right) => {
            let mark = FindingMark {
                event_id: event,
                rule: form.rule.chars().take(MAX_RULE).collect(),
                is_right,
                at: SystemClock.now(),
            };
            site.store.mark_finding(&mark).await?;
        }
        None => site.store.unmark_finding(&event).await?,
    }
    if !is_partial(&headers) {
        return Ok(Redirect::to("/_grov/ui/drift").into_response());
    }
    let view = findings(&*site.store, FINDINGS).await?;
    Ok(render(&Part {
        frame: Frame::from(&session).at("Drift"),
        list: List::of(view, String::new(), SystemClock.now()),
    }))
}
