//! `grov usage`

mod routed;

use crate::arguments::UsageGroup;
use crate::context::Context;
use crate::format::{count, plural, timestamp, when};
use crate::judge::{BudgetView, spent_by_tools_today, spent_today};
use crate::output::{Outcome, Style};
use crate::since::parse_since;
use crate::table::{Table, cell};
use grov_domain::{CallFilter, Clock, LlmCall, MicroUsd, SystemClock, TokenUsage};
use routed::{Routed, routed};
use serde::Serialize;
use std::collections::BTreeMap;

/// Maximum number of calls that are shown as text.
const MAX_SHOWN: usize = 20;
/// The columns of [`amounts`].
const AMOUNTS: &str = "INPUT#, CACHE READ#?, CACHE WRITE#?, OUTPUT#, COST#";

#[derive(Serialize)]
struct Answer {
    calls: Vec<LlmCall>,
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<Vec<GroupView>>,
    total_usd: MicroUsd,
    budget: BudgetView,
    /// The budget of external tools, which is not that of Grov's own calls.
    tools_budget: BudgetView,
    routed: Routed,
    #[serde(skip)]
    grouped_by: Option<UsageGroup>,
}

#[derive(Debug, Default, Serialize)]
struct GroupView {
    /// The day, the session or the purpose; `None` for calls that belong to no session.
    key: Option<String>,
    calls: u64,
    cost_usd: MicroUsd,
    tokens: TokenUsage,
}

pub(crate) fn run(context: &Context, by: Option<UsageGroup>, since: Option<&str>) -> Outcome {
    let since = since
        .map(|text| parse_since(text, SystemClock.now()))
        .transpose()?;
    let filter = CallFilter {
        since,
        ..CallFilter::default()
    };
    let stored = context.read(async |store| {
        Ok((
            store.calls(&filter).await?,
            spent_today(store).await?,
            spent_by_tools_today(store).await?,
            store.routed_usage(since).await?,
        ))
    })?;
    let (calls, spent, by_tools, days) = stored.unwrap_or_default();
    let costs = calls.iter().map(|call| call.cost);
    let answer = Answer {
        groups: by.map(|by| grouped(&calls, by)),
        total_usd: costs.fold(MicroUsd::default(), MicroUsd::plus),
        budget: BudgetView::of(context.settings.llm(), spent),
        tools_budget: BudgetView::of_tools(context.settings.tools(), by_tools),
        routed: routed(days),
        grouped_by: by,
        calls,
    };
    context.answer(answer, text)
}

/// Days in chronological order; sessions and purposes by cost, the most expensive first.
fn grouped(calls: &[LlmCall], by: UsageGroup) -> Vec<GroupView> {
    let mut groups: BTreeMap<Option<String>, GroupView> = BTreeMap::new();
    for call in calls {
        let key = match by {
            UsageGroup::Day => Some(timestamp(call.at).chars().take(10).collect()),
            UsageGroup::Session => call.session_id.as_ref().map(ToString::to_string),
            UsageGroup::Purpose => Some(call.purpose.as_str().to_owned()),
        };
        let group = groups.entry(key.clone()).or_default();
        group.key = key;
        group.calls += 1;
        group.cost_usd = group.cost_usd.plus(call.cost);
        group.tokens = group.tokens.plus(call.usage);
    }
    let mut groups: Vec<GroupView> = groups.into_values().collect();
    if by != UsageGroup::Day {
        groups.sort_by_key(|group| std::cmp::Reverse(group.cost_usd));
    }
    groups
}

fn text(answer: &Answer, style: Style) -> String {
    let budget = format!(
        "budget: {}\ntools: {}\n",
        answer.budget.text(),
        answer.tools_budget.text_of_tools()
    );
    let routed = routed::text(&answer.routed, style);
    if answer.calls.is_empty() {
        return format!("no model calls of Grov recorded\n{budget}{routed}");
    }
    let mut text = match (&answer.groups, answer.grouped_by) {
        (Some(groups), Some(by)) => group_table(answer, groups, by).render(style),
        _ => call_table(answer, style).render(style),
    };
    if answer.groups.is_none() && answer.calls.len() > MAX_SHOWN {
        text.push_str(&format!(
            "only the newest {MAX_SHOWN} calls are shown; the total counts all\n"
        ));
    }
    text + &budget + &routed
}

fn call_table(answer: &Answer, style: Style) -> Table {
    let mut table = Table::new(&format!(
        "WHEN, PURPOSE, MODEL~, {AMOUNTS}, TIME TAKEN#?, OUTCOME, SESSION?"
    ));
    let hidden = answer.calls.len().saturating_sub(MAX_SHOWN);
    for call in answer.calls.iter().skip(hidden) {
        let first = [
            when(call.at, style),
            call.purpose.as_str().to_owned(),
            call.model.clone(),
        ];
        let last = [
            format!("{} ms", call.latency.as_millis()),
            call.outcome.as_str().to_owned(),
            cell(call.session_id.as_ref().map(|session| style.id(session.as_str()))),
        ];
        let amounts = amounts(call.usage, call.cost);
        table.row(first.into_iter().chain(amounts).chain(last));
    }
    let calls = plural(answer.calls.len() as u64, "call", "calls");
    let first = ["total".to_owned(), calls, String::new()];
    table.row(first.into_iter().chain(total(answer)));
    table
}

fn group_table(answer: &Answer, groups: &[GroupView], by: UsageGroup) -> Table {
    let name = match by {
        UsageGroup::Day => "DAY",
        UsageGroup::Session => "SESSION",
        UsageGroup::Purpose => "PURPOSE",
    };
    let mut table = Table::new(&format!("{name}~, CALLS#, {AMOUNTS}"));
    for group in groups {
        let name = group.key.clone().unwrap_or_else(|| "none".to_owned());
        let first = [name, group.calls.to_string()];
        table.row(first.into_iter().chain(amounts(group.tokens, group.cost_usd)));
    }
    let first = ["total".to_owned(), answer.calls.len().to_string()];
    table.row(first.into_iter().chain(total(answer)));
    table
}

fn total(answer: &Answer) -> [String; 5] {
    let tokens = answer.calls.iter().map(|call| call.usage);
    amounts(
        tokens.fold(TokenUsage::default(), TokenUsage::plus),
        answer.total_usd,
    )
}

fn amounts(tokens: TokenUsage, cost: MicroUsd) -> [String; 5] {
    [
        count(tokens.input),
        count(tokens.cache_read),
        count(tokens.cache_creation),
        count(tokens.output),
        cost.to_string(),
    ]
}
