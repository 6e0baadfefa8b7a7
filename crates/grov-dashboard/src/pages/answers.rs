//! *Cost*, *Settings* and *Doctor*: answers of the command line as pages.

use super::misses::Misses;
use crate::Site;
use crate::access::Session;
use crate::commands::CommandError;
use crate::format::{count, dollars, line, shown};
use crate::page::{Frame, PageError, render};
use askama::Template;
use axum::Extension;
use axum::extract::{Query, State};
use axum::response::Response;
use grov_domain::{Clock, SystemClock};
use grov_query::cache_misses;
use serde::Deserialize;
use serde_json::Value;

/// An answer of the command line, or why there is none.
pub(super) type Answer = Result<Value, CommandError>;

/// Returns the text of a field; empty if there is none.
pub(super) fn text(value: &Value, field: &str) -> String {
    value[field].as_str().map(shown).unwrap_or_default()
}

/// Returns a list of the answer.
pub(super) fn list<'v>(answer: &'v Answer, field: &str) -> &'v [Value] {
    let found = answer.as_ref().ok().and_then(|answer| answer[field].as_array());
    found.map(Vec::as_slice).unwrap_or_default()
}

/// Why a page has no answer.
pub(super) struct Fault {
    pub(super) message: String,
    pub(super) hint: String,
}

impl Fault {
    /// Returns the fault, unless it is of a kind that the page says in its own words.
    pub(super) fn of_all_but(answer: &Answer, kind: &str) -> Option<Self> {
        Self::of(answer).filter(|_| answer.as_ref().err().is_some_and(|error| error.kind != kind))
    }

    pub(super) fn of(answer: &Answer) -> Option<Self> {
        let error = answer.as_ref().err()?;
        Some(Self {
            message: shown(&error.message),
            hint: error.hint.as_deref().map(shown).unwrap_or_default(),
        })
    }
}

#[derive(Template)]
#[template(path = "doctor.html")]
struct Doctor {
    frame: Frame,
    fault: Option<Fault>,
    checks: Vec<Check>,
    problems: usize,
}

struct Check {
    name: String,
    status: String,
    evidence: String,
    consequence: String,
    fix: String,
}

/// `GET /_grov/ui/doctor`
pub(super) async fn doctor(State(site): State<Site>, Extension(session): Extension<Session>) -> Response {
    let answer = site.commands.run(&["doctor"]).await;
    let checks: Vec<Check> = list(&answer, "checks")
        .iter()
        .map(|check| Check {
            name: text(check, "name").replace('_', " "),
            status: text(check, "status"),
            evidence: text(check, "evidence"),
            consequence: text(check, "consequence"),
            fix: text(check, "fix"),
        })
        .collect();
    render(&Doctor {
        frame: Frame::from(&session).at("Doctor"),
        fault: Fault::of(&answer),
        problems: checks.iter().filter(|check| check.status != "ok").count(),
        checks,
    })
}

#[derive(Template)]
#[template(path = "settings.html")]
struct Settings {
    frame: Frame,
    fault: Option<Fault>,
    groups: Vec<(String, Vec<Setting>)>,
}

struct Setting {
    key: String,
    value: String,
    origin: String,
    is_default: bool,
}

/// `GET /_grov/ui/settings`
pub(super) async fn settings(State(site): State<Site>, Extension(session): Extension<Session>) -> Response {
    let answer = site.commands.run(&["config", "list"]).await;
    let mut groups: Vec<(String, Vec<Setting>)> = Vec::new();
    for setting in list(&answer, "settings") {
        let key = text(setting, "key");
        let group = key.split('.').next().unwrap_or_default().to_owned();
        let setting = Setting {
            value: match &setting["value"] {
                Value::Null => "not set".to_owned(),
                Value::String(value) => shown(value),
                other => shown(&other.to_string()),
            },
            origin: origin(&setting["origin"]),
            is_default: setting["origin"]["kind"] == "default",
            key,
        };
        match groups.last_mut().filter(|(name, _)| *name == group) {
            Some((_, settings)) => settings.push(setting),
            None => groups.push((group, vec![setting])),
        }
    }
    render(&Settings {
        frame: Frame::from(&session).at("Settings"),
        fault: Fault::of(&answer),
        groups,
    })
}

/// Where a value comes from.
fn origin(origin: &Value) -> String {
    let mut parts = vec![text(origin, "kind").replace('_', " ")];
    parts.extend(origin["name"].as_str().map(shown));
    parts.extend(origin["path"].as_str().map(|path| match origin["line"].as_u64() {
        Some(line) => format!("{}:{line}", shown(path)),
        None => shown(path),
    }));
    parts.join(" ")
}

/// What requests to a provider used.
pub(super) struct Spent {
    pub(super) key: String,
    pub(super) tokens: String,
    pub(super) cost: String,
}

fn tokens(value: &Value, class: &str) -> u64 {
    value[class].as_u64().unwrap_or_default()
}

pub(super) fn all_tokens(value: &Value) -> u64 {
    let classes = ["input", "cache_read", "cache_creation", "output"];
    classes.iter().map(|class| tokens(value, class)).sum()
}

/// What the address of the cost page asks for.
#[derive(Deserialize)]
pub(super) struct Grouping {
    #[serde(default)]
    by: String,
    #[serde(default)]
    since: String,
}

#[derive(Template)]
#[template(path = "cost.html")]
struct Cost {
    frame: Frame,
    fault: Option<Fault>,
    by: &'static str,
    since: &'static str,
    rows: Vec<CostRow>,
    total: String,
    as_of: String,
    unpriced: Option<String>,
    own: Vec<Spent>,
    own_total: String,
    misses: Misses,
}

struct CostRow {
    key: String,
    is_session: bool,
    input: String,
    output: String,
    cache_read: String,
    cache_write: String,
    cost: String,
    /// Its share of the most expensive row, in percent.
    share: u64,
}

/// The groupings of `grov cost`.
const GROUPINGS: &[&str] = &["day", "session", "project", "model", "provider", "agent"];
/// The periods that are offered, as `grov cost --since` takes them, with their days; the last is all time.
const PERIODS: &[(&str, &str, Option<i64>)] = &[
    ("1d", "last day", Some(1)),
    ("7d", "7 days", Some(7)),
    ("30d", "30 days", Some(30)),
    ("all", "all", None),
];
/// Prompt-cache misses that are read.
const MAX_MISSES: u32 = 5_000;

/// `GET /_grov/ui/cost`
pub(super) async fn cost(
    State(site): State<Site>,
    Extension(session): Extension<Session>,
    Query(wanted): Query<Grouping>,
) -> Result<Response, PageError> {
    // Only known words reach the command line.
    let by = GROUPINGS
        .iter()
        .find(|by| **by == wanted.by)
        .copied()
        .unwrap_or("day");
    let period = PERIODS.iter().find(|(period, ..)| *period == wanted.since);
    let (since, _, days) = period.copied().unwrap_or(("7d", "", Some(7)));
    let mut words = vec!["cost", "--by", by];
    if since != "all" {
        words.extend(["--since", since]);
    }
    let now = SystemClock.now();
    let from = days.and_then(|days| now.checked_sub(time::Duration::days(days)));
    // Other processes answer the commands meanwhile.
    let (answer, own, misses) = tokio::join!(
        site.commands.run(&words),
        site.commands.run(&["usage", "--by", "purpose"]),
        cache_misses(&*site.store, from, MAX_MISSES),
    );
    let misses = misses?;
    let usd = |value: &Value| value["cost_usd"].as_f64().unwrap_or_default();
    let rows = list(&answer, "rows");
    let most = rows.iter().map(usd).fold(0.0, f64::max);
    let top = answer.as_ref().ok();
    let unpriced = top.and_then(|answer| answer["unpriced_tokens"].as_u64());
    let shown_rows = rows.iter().map(|row| CostRow {
        key: line(row["key"].as_str().unwrap_or_default()),
        is_session: by == "session",
        input: count(tokens(&row["tokens"], "input")),
        output: count(tokens(&row["tokens"], "output")),
        cache_read: count(tokens(&row["tokens"], "cache_read")),
        cache_write: count(tokens(&row["tokens"], "cache_creation")),
        cost: dollars(usd(row)),
        share: if most > 0.0 {
            (usd(row) / most * 100.0).round() as u64
        } else {
            0
        },
    });
    Ok(render(&Cost {
        frame: Frame::from(&session).at("Cost"),
        fault: Fault::of(&answer),
        by,
        since,
        rows: shown_rows.collect(),
        total: dollars(
            top.and_then(|answer| answer["total_usd"].as_f64())
                .unwrap_or_default(),
        ),
        as_of: top.map(|answer| text(answer, "prices_as_of")).unwrap_or_default(),
        unpriced: unpriced.filter(|tokens| *tokens > 0).map(count),
        own: own_spending(&own),
        own_total: dollars(
            own.as_ref()
                .ok()
                .and_then(|own| own["total_usd"].as_f64())
                .unwrap_or_default(),
        ),
        misses: Misses::of(&misses, &site.prices(), now),
    }))
}

/// What Grov's own calls cost.
fn own_spending(own: &Answer) -> Vec<Spent> {
    let row = |row: &Value| Spent {
        key: text(row, "key"),
        tokens: count(all_tokens(&row["tokens"])),
        cost: dollars(row["cost_usd"].as_f64().unwrap_or_default()),
    };
    list(own, "groups").iter().map(row).collect()
}
