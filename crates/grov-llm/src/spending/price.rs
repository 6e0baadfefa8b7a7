//! Token prices in whole numbers, from the table of `grov-route`.

use grov_domain::{MicroUsd, TokenUsage};
use grov_route::{PriceTable, PricedModel, Prices};

/// Prices of one model by class of token, in billionths of a dollar per token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Price {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
}

/// Dollars per million tokens as billionths of a dollar per token.
fn billionths(dollars: f64) -> u64 {
    (dollars * 1_000.0).round() as u64
}

impl From<Prices> for Price {
    fn from(prices: Prices) -> Self {
        Self {
            input: billionths(prices.input),
            output: billionths(prices.output),
            cache_read: billionths(prices.cache_read),
            cache_write: billionths(prices.cache_write),
        }
    }
}

/// The cost of `usage` at the list price of `model`, rounded up; `None` for an unknown model.
pub fn list_price(model: &str, usage: &TokenUsage) -> Option<MicroUsd> {
    let prices = PriceTable::built_in().of(model)?;
    Some(Price::from(prices).cost(usage))
}

impl Price {
    /// The price of `model`. An unknown model on this machine is free. An unknown remote model has the price of the
    /// most expensive known one, so that the budget is not exceeded.
    pub(crate) fn of(model: &str, on_this_machine: bool) -> Self {
        let table = PriceTable::built_in();
        Self::known_or(table.of(model), &table.models, on_this_machine)
    }

    /// The price of a model that the user's client knows, perhaps by a short name such as `haiku`: then that of the most
    /// expensive model of that name.
    pub(crate) fn of_client_model(name: &str) -> Self {
        let table = PriceTable::built_in();
        let family: Vec<PricedModel> = table
            .models
            .iter()
            .filter(|row| row.model.starts_with("claude-") && row.model.contains(name))
            .cloned()
            .collect();
        let rows = if family.is_empty() { &table.models } else { &family };
        Self::known_or(table.of(name), rows, false)
    }

    /// The price of an embedding model.
    pub(crate) fn of_embedding(model: &str, on_this_machine: bool) -> Self {
        let table = PriceTable::built_in();
        Self::known_or(table.of_embedding(model), &table.embeddings, on_this_machine)
    }

    fn known_or(known: Option<Prices>, rows: &[PricedModel], on_this_machine: bool) -> Self {
        match known {
            Some(prices) => prices.into(),
            None if on_this_machine => Self::default(),
            None => rows
                .iter()
                .map(|row| row.prices.into())
                .fold(Self::default(), Self::max),
        }
    }

    /// The cost of `usage`, rounded up.
    pub(crate) fn cost(&self, usage: &TokenUsage) -> MicroUsd {
        let billionths = usage
            .input
            .saturating_mul(self.input)
            .saturating_add(usage.output.saturating_mul(self.output))
            .saturating_add(usage.cache_read.saturating_mul(self.cache_read))
            .saturating_add(usage.cache_creation.saturating_mul(self.cache_write));
        MicroUsd(billionths.div_ceil(1_000))
    }

    fn max(self, other: Self) -> Self {
        Self {
            input: self.input.max(other.input),
            output: self.output.max(other.output),
            cache_read: self.cache_read.max(other.cache_read),
            cache_write: self.cache_write.max(other.cache_write),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(input: u64, output: u64) -> TokenUsage {
        TokenUsage {
            input,
            output,
            ..TokenUsage::default()
        }
    }

    #[test]
    fn known_models_cost_their_list_price() {
        let haiku = Price::of(crate::DEFAULT_ANTHROPIC_MODEL, false);
        assert_eq!(haiku.cost(&tokens(1_000_000, 0)), MicroUsd(1_000_000));
        assert_eq!(haiku.cost(&tokens(0, 1_000_000)), MicroUsd(5_000_000));
        let cached = TokenUsage {
            cache_read: 1_000_000,
            cache_creation: 1_000_000,
            ..TokenUsage::default()
        };
        assert_eq!(haiku.cost(&cached), MicroUsd(1_350_000));
        assert_eq!(Price::of("gpt-4o-2024-11-20", false), Price::of("gpt-4o", false));
    }

    #[test]
    fn short_names_of_the_client_cost_as_their_family() {
        assert_eq!(
            Price::of_client_model("haiku"),
            Price::of("claude-haiku-4-5", false)
        );
        let known = crate::DEFAULT_ANTHROPIC_MODEL;
        assert_eq!(Price::of_client_model(known), Price::of(known, false));
        assert_eq!(
            Price::of_client_model("sonnet[1m]"),
            Price::of("claude-opus-4-1", false)
        );
    }

    #[test]
    fn unknown_models_are_free_locally_and_expensive_remotely() {
        assert_eq!(
            Price::of("smollm2", true).cost(&tokens(1_000_000, 1_000_000)),
            MicroUsd(0)
        );
        let dearest = Price::of("claude-opus-4-1", false);
        for model in ["smollm2", "gpt-5-pro", "claude-haiku-4-5-turbo", ""] {
            assert_eq!(Price::of(model, false), dearest, "{model}");
        }
    }

    #[test]
    fn unknown_models_have_no_list_price() {
        let usage = tokens(1_000_000, 0);
        assert_eq!(
            list_price("claude-haiku-4-5-20251001", &usage),
            Some(MicroUsd(1_000_000))
        );
        for model in ["smollm2", "gpt-5-pro", ""] {
            assert_eq!(list_price(model, &usage), None, "{model}");
        }
    }

    #[test]
    fn embedding_models_have_separate_prices() {
        let million = tokens(1_000_000, 0);
        let cost = |model, here| Price::of_embedding(model, here).cost(&million);
        assert_eq!(cost("text-embedding-3-small", false), MicroUsd(20_000));
        assert_eq!(cost("nomic-embed-text", true), MicroUsd(0));
        assert_eq!(cost("nomic-embed-text", false), MicroUsd(130_000));
    }

    #[test]
    fn parts_of_a_millionth_are_rounded_up() {
        assert_eq!(Price::of("gpt-5-nano", false).cost(&tokens(1, 0)), MicroUsd(1));
        assert_eq!(
            Price::of("gpt-5-nano", false).cost(&tokens(u64::MAX, 1)).0,
            u64::MAX.div_ceil(1_000)
        );
    }
}
