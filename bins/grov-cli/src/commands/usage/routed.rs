//! What routing to other models used and saved.

use crate::format::{count, plural};
use crate::output::Style;
use crate::table::Table;
use grov_domain::{MicroUsd, RoutedUsage, TokenUsage};
use serde::Serialize;
use std::collections::BTreeMap;

/// Usage of routed requests, by label.
#[derive(Debug, Default, Serialize)]
pub(super) struct Routed {
    labels: Vec<LabelView>,
    cost_usd: MicroUsd,
    asked_cost_usd: MicroUsd,
    /// Negative if the models that were asked for would have been cheaper.
    saved_usd: f64,
}

#[derive(Debug, Serialize)]
struct LabelView {
    provider: String,
    label: String,
    model: String,
    requests: u64,
    /// Requests without a known price; their costs are not counted.
    unpriced: u64,
    tokens: TokenUsage,
    cost_usd: MicroUsd,
    asked_cost_usd: MicroUsd,
    saved_usd: f64,
}

impl LabelView {
    /// Whether the cost of any request is known.
    fn has_price(&self) -> bool {
        self.unpriced < self.requests
    }

    /// The amount, if it is known: nothing was paid is something else.
    fn priced(&self, amount: String) -> String {
        if self.has_price() {
            amount
        } else {
            "unpriced".to_owned()
        }
    }
}

/// Adds up the days and the models that were asked for.
pub(super) fn routed(days: Vec<RoutedUsage>) -> Routed {
    let mut labels: BTreeMap<(String, String, String), LabelView> = BTreeMap::new();
    let mut all = Routed::default();
    for day in days {
        all.cost_usd = all.cost_usd.plus(day.cost);
        all.asked_cost_usd = all.asked_cost_usd.plus(day.asked_cost);
        let key = (day.provider.clone(), day.label.clone(), day.model.clone());
        let row = labels.entry(key).or_insert_with(|| LabelView {
            provider: day.provider,
            label: day.label,
            model: day.model,
            requests: 0,
            unpriced: 0,
            tokens: TokenUsage::default(),
            cost_usd: MicroUsd::default(),
            asked_cost_usd: MicroUsd::default(),
            saved_usd: 0.0,
        });
        row.requests += day.requests;
        row.unpriced += day.unpriced;
        row.tokens = row.tokens.plus(day.tokens);
        row.cost_usd = row.cost_usd.plus(day.cost);
        row.asked_cost_usd = row.asked_cost_usd.plus(day.asked_cost);
        row.saved_usd = saved(row.cost_usd, row.asked_cost_usd);
    }
    all.saved_usd = saved(all.cost_usd, all.asked_cost_usd);
    all.labels = labels.into_values().collect();
    all
}

fn saved(cost: MicroUsd, asked: MicroUsd) -> f64 {
    asked.dollars() - cost.dollars()
}

/// The table, or nothing without routed requests.
pub(super) fn text(routed: &Routed, style: Style) -> String {
    if routed.labels.is_empty() {
        return String::new();
    }
    let mut table = Table::new(
        "ROUTED TO, MODEL~, REQUESTS#, INPUT#?, CACHE READ#?, OUTPUT#?, COST#, ASKED MODEL#?, SAVED#",
    );
    for row in &routed.labels {
        table.row([
            format!("{},{}", row.provider, row.label),
            row.model.clone(),
            count(row.requests),
            count(row.tokens.input),
            count(row.tokens.cache_read),
            count(row.tokens.output),
            row.priced(row.cost_usd.to_string()),
            row.priced(row.asked_cost_usd.to_string()),
            row.priced(signed(row.saved_usd)),
        ]);
    }
    let mut text = format!("\n{}", table.render(style));
    if routed.labels.iter().any(LabelView::has_price) {
        text.push_str(&format!(
            "routing {} than the models that were asked for\n",
            difference(routed.saved_usd)
        ));
    }
    let unpriced: u64 = routed.labels.iter().map(|row| row.unpriced).sum();
    if unpriced > 0 {
        let requests = plural(unpriced, "request has", "requests have");
        text.push_str(&format!(
            "{requests} no known price and count no cost; set `prices` in the provider file\n"
        ));
    }
    text
}

/// How much less or more something cost.
fn difference(saved: f64) -> String {
    let more = if saved < 0.0 { "more" } else { "less" };
    format!("cost ${:.6} {more}", saved.abs())
}

fn signed(dollars: f64) -> String {
    let sign = if dollars < 0.0 { "-" } else { "" };
    format!("{sign}${:.6}", dollars.abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::OffsetDateTime;

    fn day(label: &str, cost: u64, asked: u64) -> RoutedUsage {
        RoutedUsage {
            day: OffsetDateTime::UNIX_EPOCH,
            provider: "local".to_owned(),
            label: label.to_owned(),
            model: "m".to_owned(),
            asked_model: "claude-haiku-4-5".to_owned(),
            requests: 2,
            unpriced: 1,
            tokens: TokenUsage {
                input: 1_000,
                ..TokenUsage::default()
            },
            cost: MicroUsd(cost),
            asked_cost: MicroUsd(asked),
        }
    }

    #[test]
    fn days_add_up_by_label() {
        let all = routed(vec![day("fast", 10, 30), day("deep", 50, 20), day("fast", 5, 30)]);
        assert_eq!(all.labels.len(), 2);
        let fast = all.labels.iter().find(|row| row.label == "fast").unwrap();
        assert_eq!((fast.requests, fast.unpriced, fast.tokens.input), (4, 2, 2_000));
        assert_eq!((fast.cost_usd, fast.asked_cost_usd), (MicroUsd(15), MicroUsd(60)));
        assert!((all.saved_usd - 0.000_015).abs() < 1e-12);
    }

    #[test]
    fn a_model_without_a_price_costs_no_zero_dollars() {
        let unpriced = RoutedUsage {
            unpriced: 2,
            ..day("local", 0, 0)
        };
        let text = text(&routed(vec![unpriced]), Style::plain());
        assert!(text.contains("unpriced") && !text.contains("$0"), "{text}");
        assert!(!text.contains("than the models that were asked for"), "{text}");
        assert!(text.contains("2 requests have no known price"), "{text}");
    }

    #[test]
    fn a_loss_is_no_negative_saving() {
        assert_eq!(signed(-0.25), "-$0.250000");
        assert_eq!(signed(0.000_015), "$0.000015");
        let text = text(&routed(vec![day("deep", 50, 20)]), Style::plain());
        assert!(
            text.contains("routing cost $0.000030 more than the models"),
            "{text}"
        );
        let text = super::text(&routed(vec![day("fast", 20, 50)]), Style::plain());
        assert!(
            text.contains("routing cost $0.000030 less than the models"),
            "{text}"
        );
        assert!(text.contains("1 request has no known price"), "{text}");
    }
}
