//! Counters of recorded exchanges.

use crate::lag::StoreLag;
use grov_domain::{ExchangeRecord, SinkHealth, TokenUsage};
use grov_route::{PriceTable, TokenCounts};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use std::collections::BTreeSet;
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Models that have series of their own. The client names the model, so that their number must have a bound.
const MAX_MODELS: usize = 32;
/// The model of all others, and of records without one.
const OTHER: &str = "other";

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TokenLabels {
    model: String,
    class: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ModelLabel {
    model: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ExchangeLabels {
    kind: &'static str,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ActionLabel {
    action: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RuleLabels {
    rule: &'static str,
    certainty: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct LevelLabel {
    level: &'static str,
}

/// Counters of recorded exchanges. They hold names and numbers, no texts and no paths.
#[derive(Debug, Default)]
pub struct RecordMetrics {
    exchanges: Family<ExchangeLabels, Counter>,
    prompts: Counter,
    tokens: Family<TokenLabels, Counter>,
    cost: Family<ModelLabel, Counter<f64, AtomicU64>>,
    unpriced: Counter,
    actions: Family<ActionLabel, Counter>,
    judged: Counter,
    off_goal: Counter,
    findings: Family<RuleLabels, Counter>,
    corrections: Family<LevelLabel, Counter>,
    models: Mutex<BTreeSet<String>>,
    lag: StoreLag,
}

impl RecordMetrics {
    /// Counts a record that is about to be stored.
    pub(crate) fn count(&self, record: &ExchangeRecord) {
        self.lag.submitted(Instant::now());
        let labels = ExchangeLabels {
            kind: record.kind.as_str(),
            outcome: record.outcome.as_str(),
        };
        self.exchanges.get_or_create(&labels).inc();
        self.prompts.inc_by(record.prompts.len() as u64);
        self.count_usage(record.model.as_deref(), &record.usage);
        for step in &record.steps {
            let action = step.action.action_type.as_str();
            self.actions.get_or_create(&ActionLabel { action }).inc();
            let Some(verdict) = &step.verdict else { continue };
            self.judged.inc();
            if verdict.is_off_goal() {
                self.off_goal.inc();
            }
            for finding in &verdict.findings {
                let labels = RuleLabels {
                    rule: finding.rule.as_str(),
                    certainty: if finding.rule.is_doubt() { "doubt" } else { "fact" },
                };
                self.findings.get_or_create(&labels).inc();
            }
            if let Some(level) = verdict.level {
                let level = level.as_str();
                self.corrections.get_or_create(&LevelLabel { level }).inc();
            }
        }
    }

    fn count_usage(&self, model: Option<&str>, usage: &TokenUsage) {
        if *usage == TokenUsage::default() {
            return;
        }
        let model = self.known(model.unwrap_or(OTHER));
        // Writes whose lifetime is unknown count as the usual ones.
        let hour = usage.cache_creation_1h.min(usage.cache_creation);
        for (class, tokens) in [
            ("input", usage.input),
            ("cache_read", usage.cache_read),
            ("cache_write_5m", usage.cache_creation - hour),
            ("cache_write_1h", hour),
            ("output", usage.output),
        ] {
            let model = model.clone();
            self.tokens
                .get_or_create(&TokenLabels { model, class })
                .inc_by(tokens);
        }
        let Some(prices) = PriceTable::built_in().of(&model) else {
            self.unpriced.inc();
            return;
        };
        // A write for an hour costs twice the input, one for five minutes 1.25 times.
        let counts = TokenCounts {
            input: usage.input.saturating_add(hour.saturating_mul(2)),
            output: usage.output,
            cache_read: usage.cache_read,
            cache_write: usage.cache_creation - hour,
        };
        let micro_usd = prices.cost(&counts);
        self.cost
            .get_or_create(&ModelLabel { model })
            .inc_by(micro_usd as f64 / 1e6);
    }

    /// The name of a model, or `other` beyond the bound.
    fn known(&self, model: &str) -> String {
        let mut models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        if !models.contains(model) {
            if models.len() >= MAX_MODELS || model.len() > 100 {
                return OTHER.to_owned();
            }
            models.insert(model.to_owned());
        }
        model.to_owned()
    }

    /// Registers the counters, and the lag of the store, whose state is `health`.
    pub fn register(&self, registry: &mut Registry, health: &SinkHealth) {
        registry.register(
            "exchanges",
            "Recorded requests to the model, by kind and outcome",
            self.exchanges.clone(),
        );
        registry.register("prompts", "Recorded prompts", self.prompts.clone());
        registry.register("tokens", "Tokens, by model and class", self.tokens.clone());
        registry.register(
            "cost_usd",
            "List price of the recorded tokens in US dollars, by model",
            self.cost.clone(),
        );
        registry.register(
            "responses_unpriced",
            "Responses of models without a known price, which cost_usd leaves out",
            self.unpriced.clone(),
        );
        registry.register(
            "actions",
            "Recorded actions of the agent, by kind",
            self.actions.clone(),
        );
        registry.register(
            "actions_judged",
            "Actions with a verdict of the rules",
            self.judged.clone(),
        );
        registry.register(
            "actions_off_goal",
            "Actions judged off the goal",
            self.off_goal.clone(),
        );
        registry.register(
            "drift_findings",
            "Findings about actions, by rule, and whether they are facts or doubts",
            self.findings.clone(),
        );
        registry.register(
            "corrections",
            "Corrections decided by the rules, by level",
            self.corrections.clone(),
        );
        let lag = Gauge::<f64, AtomicU64>::default();
        lag.set(self.lag.of(health.queued, Instant::now()).as_secs_f64());
        registry.register(
            "store_lag_seconds",
            "Age of the oldest record that is not stored yet",
            lag,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_and_cost_are_counted_by_model_and_class() {
        let metrics = RecordMetrics::default();
        let usage = TokenUsage {
            input: 1_000_000,
            cache_read: 2,
            cache_creation: 10,
            cache_creation_1h: 4,
            output: 5,
            ..TokenUsage::default()
        };
        let model = PriceTable::built_in().models[0].model.clone();
        metrics.count_usage(Some(&model), &usage);
        metrics.count_usage(Some("nobody's-model"), &usage);
        metrics.count_usage(None, &TokenUsage::default());
        let mut registry = Registry::with_prefix("grov");
        metrics.register(&mut registry, &SinkHealth::default());
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).unwrap_or_default();
        for line in [
            format!("grov_tokens_total{{model=\"{model}\",class=\"cache_write_5m\"}} 6"),
            format!("grov_tokens_total{{model=\"{model}\",class=\"cache_write_1h\"}} 4"),
            "grov_tokens_total{model=\"nobody's-model\",class=\"output\"} 5".to_owned(),
            "grov_responses_unpriced_total 1".to_owned(),
        ] {
            assert!(text.contains(&line), "{line} is not in {text}");
        }
        let cost = format!("grov_cost_usd_total{{model=\"{model}\"}} ");
        let cost = text.lines().find_map(|line| line.strip_prefix(&cost));
        let input = PriceTable::built_in().models[0].prices.input;
        let cost: f64 = cost.and_then(|cost| cost.parse().ok()).unwrap_or_default();
        assert!(cost >= input && cost < input * 1.01, "{cost}");
    }

    #[test]
    fn the_number_of_models_has_a_bound() {
        let metrics = RecordMetrics::default();
        for number in 0..MAX_MODELS {
            assert_ne!(metrics.known(&number.to_string()), OTHER);
        }
        assert_eq!(metrics.known("one more"), OTHER);
        assert_eq!(metrics.known("7"), "7");
    }
}
