//! *Routes*: models of the provider file with their providers' health, and the newest decisions with their reasons.

use super::answers::{Fault, Spent, all_tokens, list, text};
use super::memory::texts;
use crate::Site;
use crate::access::Session;
use crate::format::{ago, count, dollars, shown, timestamp};
use crate::page::{Frame, render};
use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use grov_domain::{Clock, SystemClock};
use serde_json::Value;
use time::OffsetDateTime;

#[derive(Template)]
#[template(path = "routes.html")]
struct Routes {
    frame: Frame,
    fault: Option<Fault>,
    routes: Vec<Route>,
    decisions: Vec<Decision>,
    spent: Vec<Spent>,
}

/// What was decided about a request, and what became of it.
struct Decision {
    at: String,
    when: String,
    label: String,
    asked: String,
    chosen: String,
    reason: String,
    failures: Vec<String>,
    result: String,
    is_bad: bool,
    took: String,
}

impl Decision {
    fn of(value: &Value, now: OffsetDateTime) -> Self {
        let milliseconds = value["at_ms"].as_i64().unwrap_or_default();
        let at = OffsetDateTime::from_unix_timestamp_nanos(i128::from(milliseconds) * 1_000_000);
        let at = at.unwrap_or(OffsetDateTime::UNIX_EPOCH);
        let answered_by = text(value, "answered_by");
        let result = text(value, "result");
        let chosen = text(value, "chosen");
        Self {
            at: timestamp(at),
            when: ago(at, now),
            label: text(value, "label"),
            asked: text(value, "asked_model"),
            reason: text(value, "reason"),
            failures: texts(value, "failures"),
            is_bad: !matches!(result.as_str(), "" | "complete" | "began; not observed"),
            result: match (result.is_empty(), answered_by.is_empty() || answered_by == chosen) {
                (true, _) => "at work".to_owned(),
                (false, true) => result,
                (false, false) => format!("{result} by {answered_by}"),
            },
            took: value["ms"]
                .as_u64()
                .map(|ms| format!("{ms} ms"))
                .unwrap_or_default(),
            chosen,
        }
    }
}

struct Route {
    label: String,
    provider: String,
    model: String,
    endpoint: String,
    transforms: String,
    health: String,
    is_bad: bool,
    unusable: String,
}

/// The state of a provider, as far as the daemon knows.
fn health(route: &Value) -> String {
    match (route["contacted"].as_bool(), route["healthy"].as_bool()) {
        (Some(false), _) | (_, None) => "not used yet".to_owned(),
        (_, Some(true)) => "healthy".to_owned(),
        (_, Some(false)) if route["limited"] == true => "asked to wait".to_owned(),
        (_, Some(false)) if route["fault"].is_string() => format!("failing: {}", text(route, "fault")),
        (_, Some(false)) => match route["circuit"].as_str() {
            Some(circuit) => format!("failing, circuit {}", shown(&circuit.replace('_', " "))),
            None => "failing".to_owned(),
        },
    }
}

/// `GET /_grov/ui/routes`
pub(super) async fn page(State(site): State<Site>, Extension(session): Extension<Session>) -> Response {
    let (answer, cost) = tokio::join!(
        site.commands.run(&["route", "list"]),
        site.commands.run(&["cost", "--by", "provider"])
    );
    let routes = list(&answer, "routes").iter().map(|route| {
        let transforms = route["transforms"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        let transforms: Vec<String> = transforms.iter().filter_map(Value::as_str).map(shown).collect();
        let health = health(route);
        Route {
            label: text(route, "label"),
            provider: text(route, "provider"),
            model: text(route, "model"),
            endpoint: text(route, "endpoint"),
            transforms: transforms.join(", "),
            health,
            is_bad: route["healthy"] == false,
            unusable: text(route, "unusable"),
        }
    });
    render(&Routes {
        frame: Frame::from(&session).at("Routes"),
        fault: Fault::of_all_but(&answer, "no_providers"),
        routes: routes.collect(),
        decisions: list(&answer, "decisions")
            .iter()
            .map(|one| Decision::of(one, SystemClock.now()))
            .collect(),
        spent: list(&cost, "rows")
            .iter()
            .map(|row| Spent {
                key: text(row, "key"),
                tokens: count(all_tokens(&row["tokens"])),
                cost: dollars(row["cost_usd"].as_f64().unwrap_or_default()),
            })
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn health_is_what_the_daemon_saw() {
        let of = |contacted: bool, healthy: Option<bool>, limited: bool| {
            health(
                &json!({"contacted": contacted, "healthy": healthy, "limited": limited, "circuit": "half_open"}),
            )
        };
        assert_eq!(of(false, None, false), "not used yet");
        assert_eq!(of(true, Some(true), false), "healthy");
        assert_eq!(of(true, Some(false), true), "asked to wait");
        assert_eq!(of(true, Some(false), false), "failing, circuit half open");
        let refused =
            json!({"contacted": true, "healthy": false, "fault": "status 401", "circuit": "closed"});
        assert_eq!(health(&refused), "failing: status 401");
        assert_eq!(health(&json!({})), "not used yet");
    }

    #[test]
    fn a_decision_says_who_answered_instead() {
        let of = |result: &str, by: &str| {
            Decision::of(
                &json!({"result": result, "chosen": "a/x", "answered_by": by}),
                OffsetDateTime::UNIX_EPOCH,
            )
        };
        let fallback = of("complete", "b/y");
        assert_eq!(
            (fallback.result.as_str(), fallback.is_bad),
            ("complete by b/y", false)
        );
        assert_eq!(of("complete", "a/x").result, "complete");
        assert_eq!(of("", "").result, "at work");
        assert!(of("failed", "a/x").is_bad);
    }
}
