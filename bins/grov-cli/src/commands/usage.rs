//! `grov usage`

use crate::arguments::{Common, UsageGroup};
use crate::context::Context;
use crate::failure::Failure;
use crate::judge::{BudgetView, spent_today};
use crate::output::{Outcome, Style, Terminal, Verdict};
use crate::show::{count, moment};
use crate::table::Table;
use grov_domain::{CallFilter, Clock, LlmCall, MicroUsd, SystemClock, time_before};
use grov_query::TokensView;
use grov_runtime::{Kind, Value};
use serde::Serialize;
use std::collections::BTreeMap;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Single calls that a person is shown.
const SHOWN: usize = 20;

#[derive(Serialize)]
struct Answer {
    calls: Vec<CallView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<Vec<GroupView>>,
    total_usd: f64,
    budget: BudgetView,
    #[serde(skip)]
    total: MicroUsd,
    #[serde(skip)]
    grouped_by: Option<UsageGroup>,
}

#[derive(Serialize)]
struct CallView {
    purpose: &'static str,
    provider: String,
    model: String,
    session_id: Option<String>,
    tokens: TokensView,
    cost_usd: f64,
    latency_ms: u64,
    outcome: &'static str,
    #[serde(with = "time::serde::rfc3339")]
    at: OffsetDateTime,
    #[serde(skip)]
    cost: MicroUsd,
}

#[derive(Debug, Default, Serialize)]
struct GroupView {
    /// The day, the session or the purpose; `None` for calls about no session.
    key: Option<String>,
    calls: u64,
    cost_usd: f64,
    tokens: TokensView,
    #[serde(skip)]
    cost: MicroUsd,
}

impl From<LlmCall> for CallView {
    fn from(call: LlmCall) -> Self {
        Self {
            purpose: call.purpose.as_str(),
            provider: call.provider,
            model: call.model,
            session_id: call.session_id.map(|id| id.to_string()),
            tokens: call.usage.into(),
            cost_usd: call.cost.dollars(),
            latency_ms: u64::try_from(call.latency.as_millis()).unwrap_or(u64::MAX),
            outcome: call.outcome.as_str(),
            at: call.at,
            cost: call.cost,
        }
    }
}

pub(crate) fn run(
    common: &Common,
    by: Option<UsageGroup>,
    since: Option<&str>,
    terminal: Terminal,
) -> Outcome {
    let filter = CallFilter {
        since: since
            .map(|text| moment_since(text, SystemClock.now()))
            .transpose()?,
        ..CallFilter::default()
    };
    let context = Context::load(common)?;
    let stored = context.read(async |store| Ok((store.calls(&filter).await?, spent_today(store).await?)))?;
    let (calls, spent) = stored.unwrap_or_default();
    let calls: Vec<CallView> = calls.into_iter().map(CallView::from).collect();
    let total = calls
        .iter()
        .fold(MicroUsd::default(), |sum, call| sum.plus(call.cost));
    let answer = Answer {
        groups: by.map(|by| grouped(&calls, by)),
        calls,
        total_usd: total.dollars(),
        budget: BudgetView::of(context.settings.llm(), spent),
        total,
        grouped_by: by,
    };
    terminal.answer(answer, text)?;
    Ok(Verdict::Found)
}

/// The time that `--since` names: so long ago, or a date (its beginning, UTC), or a date and time.
fn moment_since(text: &str, now: OffsetDateTime) -> Result<OffsetDateTime, Failure> {
    let text = text.trim();
    if let Ok(Value::Duration(ago)) = (Kind::Duration { least_seconds: 0 }).parse_text(text) {
        return Ok(time_before(now, ago));
    }
    OffsetDateTime::parse(text, &Rfc3339)
        .or_else(|_| OffsetDateTime::parse(&format!("{text}T00:00:00Z"), &Rfc3339))
        .map_err(|_| {
            Failure::usage(format!(
                "--since must be a time like 24h or 7d, or a date like 2026-01-31, but is {text:?}"
            ))
        })
}

/// Days in their order, everything else by cost, the dearest first.
fn grouped(calls: &[CallView], by: UsageGroup) -> Vec<GroupView> {
    let mut groups: BTreeMap<Option<String>, GroupView> = BTreeMap::new();
    for call in calls {
        let key = match by {
            UsageGroup::Day => Some(moment(call.at).chars().take(10).collect()),
            UsageGroup::Session => call.session_id.clone(),
            UsageGroup::Purpose => Some(call.purpose.to_owned()),
        };
        let group = groups.entry(key).or_default();
        group.calls += 1;
        group.cost = group.cost.plus(call.cost);
        group.tokens = group.tokens.plus(call.tokens);
    }
    let mut groups: Vec<GroupView> = groups
        .into_iter()
        .map(|(key, group)| GroupView {
            key,
            cost_usd: group.cost.dollars(),
            ..group
        })
        .collect();
    if by != UsageGroup::Day {
        groups.sort_by_key(|group| std::cmp::Reverse(group.cost));
    }
    groups
}

fn text(answer: &Answer, style: Style) -> String {
    let budget = format!("budget: {}\n", answer.budget.text());
    if answer.calls.is_empty() {
        return format!("no model calls recorded\n{budget}");
    }
    let tokens = answer
        .calls
        .iter()
        .fold(TokensView::default(), |sum, call| sum.plus(call.tokens));
    let calls = answer.calls.len();
    let mut text = match (&answer.groups, answer.grouped_by) {
        (Some(groups), Some(by)) => group_table(groups, by, calls, tokens, answer.total).render(style),
        _ => {
            let hidden = calls.saturating_sub(SHOWN);
            let mut text = call_table(&answer.calls[hidden..], calls, tokens, answer.total).render(style);
            if hidden > 0 {
                let note = format!("the newest {SHOWN} calls are shown; the total counts all\n");
                text.push_str(&note);
            }
            text
        }
    };
    text.push_str(&budget);
    text
}

fn call_table(calls: &[CallView], all: usize, tokens: TokensView, total: MicroUsd) -> Table {
    let mut table = Table::new(&[
        "TIME",
        "PURPOSE",
        "MODEL",
        "INPUT#",
        "CACHE READ#",
        "CACHE WRITE#",
        "OUTPUT#",
        "COST#",
        "TIME TAKEN#",
        "OUTCOME",
        "SESSION",
    ]);
    for call in calls {
        let [input, cache_read, cache_creation, output] = token_cells(call.tokens);
        table.row([
            moment(call.at),
            call.purpose.to_owned(),
            call.model.clone(),
            input,
            cache_read,
            cache_creation,
            output,
            call.cost.to_string(),
            format!("{} ms", call.latency_ms),
            call.outcome.to_owned(),
            call.session_id.clone().unwrap_or_default(),
        ]);
    }
    let [input, cache_read, cache_creation, output] = token_cells(tokens);
    table.row([
        "total".to_owned(),
        calls_cell(all),
        String::new(),
        input,
        cache_read,
        cache_creation,
        output,
        total.to_string(),
        String::new(),
        String::new(),
        String::new(),
    ]);
    table
}

fn group_table(
    groups: &[GroupView],
    by: UsageGroup,
    all: usize,
    tokens: TokensView,
    total: MicroUsd,
) -> Table {
    let mut table = Table::new(&[
        match by {
            UsageGroup::Day => "DAY",
            UsageGroup::Session => "SESSION",
            UsageGroup::Purpose => "PURPOSE",
        },
        "CALLS#",
        "INPUT#",
        "CACHE READ#",
        "CACHE WRITE#",
        "OUTPUT#",
        "COST#",
    ]);
    let mut row = |name: &str, calls: String, tokens: TokensView, cost: MicroUsd| {
        let [input, cache_read, cache_creation, output] = token_cells(tokens);
        table.row([
            name.to_owned(),
            calls,
            input,
            cache_read,
            cache_creation,
            output,
            cost.to_string(),
        ]);
    };
    for group in groups {
        let name = group.key.as_deref().unwrap_or("none");
        row(name, group.calls.to_string(), group.tokens, group.cost);
    }
    row("total", all.to_string(), tokens, total);
    table
}

fn token_cells(tokens: TokensView) -> [String; 4] {
    [
        tokens.input,
        tokens.cache_read,
        tokens.cache_creation,
        tokens.output,
    ]
    .map(count)
}

fn calls_cell(number: usize) -> String {
    match number {
        1 => "1 call".to_owned(),
        number => format!("{number} calls"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    #[test]
    fn since_is_a_span_a_date_or_a_moment() {
        let now = datetime!(2026-05-28 20:00 UTC);
        let since = |text| moment_since(text, now).ok();
        assert_eq!(since("2h"), Some(datetime!(2026-05-28 18:00 UTC)));
        assert_eq!(since("7d"), Some(datetime!(2026-05-21 20:00 UTC)));
        assert_eq!(since("2026-05-01"), Some(datetime!(2026-05-01 0:00 UTC)));
        assert_eq!(
            since("2026-05-01T10:00:00+02:00"),
            Some(datetime!(2026-05-01 8:00 UTC))
        );
        for text in ["", "yesterday", "2026-13-01", "2026-5-1", "-1h", "1h30m", "4000d"] {
            assert_eq!(since(text), None, "{text}");
        }
    }
}
