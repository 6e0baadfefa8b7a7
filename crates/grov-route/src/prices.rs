//! What tokens cost: prices from the provider file, else list prices from `prices.json`.

use crate::target::Target;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The built-in list prices.
const BUILT_IN: &str = include_str!("../prices.json");

/// Prices of a model in USD per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Prices {
    /// Input tokens that were not in the cache.
    pub input: f64,
    /// Output tokens, thinking included.
    pub output: f64,
    /// Input tokens read from the cache.
    pub cache_read: f64,
    /// Input tokens written to the cache; 0 where writing is not billed apart.
    pub cache_write: f64,
}

/// Tokens of one or more responses. The classes do not overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenCounts {
    /// Input tokens that were not in the cache.
    pub input: u64,
    /// Output tokens, thinking included.
    pub output: u64,
    /// Input tokens read from the cache.
    pub cache_read: u64,
    /// Input tokens written to the cache.
    pub cache_write: u64,
}

/// A model with its prices.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct PricedModel {
    /// The model's name, without a release date.
    pub model: String,
    /// Who offers it.
    #[serde(default)]
    pub provider: Option<String>,
    /// Its prices.
    #[serde(flatten)]
    pub prices: Prices,
    /// The factor of the prices in fast mode, if it has one.
    #[serde(default)]
    pub fast: Option<f64>,
    /// The prices of tokens beyond 200,000 of their class in one request, if they differ.
    #[serde(default)]
    pub above_200k: Option<Prices>,
}

/// List prices of models.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct PriceTable {
    /// The days as of which prices are known, by the names of families of models.
    pub as_of: BTreeMap<String, String>,
    /// Models that answer prompts.
    pub models: Vec<PricedModel>,
    /// Embedding models, which have input tokens only.
    pub embeddings: Vec<PricedModel>,
}

/// What a routed response cost, and what the model that was asked for would have cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoutedCost {
    /// Millionths of a USD; `None` if the price of the target is unknown.
    pub cost: Option<u64>,
    /// Millionths of a USD; `None` if the price of the model that was asked for is unknown.
    pub asked_for: Option<u64>,
}

impl Prices {
    /// The cost of tokens in millionths of a USD, rounded up.
    pub fn cost(&self, tokens: &TokenCounts) -> u64 {
        let classes = [
            (tokens.input, self.input),
            (tokens.output, self.output),
            (tokens.cache_read, self.cache_read),
            (tokens.cache_write, self.cache_write),
        ];
        // Billionths, so that the sum has no error of floating-point numbers.
        let billionths: u64 = classes
            .into_iter()
            .map(|(tokens, price)| tokens.saturating_mul((price * 1_000.0).round() as u64))
            .fold(0, u64::saturating_add);
        billionths.div_ceil(1_000)
    }
}

impl PriceTable {
    /// The built-in table.
    pub fn built_in() -> &'static Self {
        static TABLE: OnceLock<PriceTable> = OnceLock::new();
        // A test parses it.
        TABLE.get_or_init(|| serde_json::from_str(BUILT_IN).unwrap_or_default())
    }

    /// The prices of a model that answers prompts; `None` for an unknown one.
    pub fn of(&self, model: &str) -> Option<Prices> {
        self.find(model).map(|row| row.prices)
    }

    /// A model that answers prompts, with all that is known of it; `None` for an unknown one.
    pub fn find(&self, model: &str) -> Option<&PricedModel> {
        find(&self.models, model)
    }

    /// The prices of an embedding model; `None` for an unknown one.
    pub fn of_embedding(&self, model: &str) -> Option<Prices> {
        find(&self.embeddings, model).map(|row| row.prices)
    }
}

fn find<'a>(rows: &'a [PricedModel], model: &str) -> Option<&'a PricedModel> {
    rows.iter().find(|row| is_release_of(&row.model, model))
}

/// Whether `model` is `known`, possibly with a release date. Other suffixes are other models.
fn is_release_of(known: &str, model: &str) -> bool {
    let Some(rest) = model.strip_prefix(known) else {
        return false;
    };
    let date = rest.strip_prefix(['-', '@']).unwrap_or("x");
    let digits = date.chars().filter(char::is_ascii_digit).count();
    rest.is_empty()
        || date == "latest"
        || (digits == 8 && date.chars().all(|c| c.is_ascii_digit() || c == '-'))
}

impl Target {
    /// The prices of this target: those of the provider file, else none at all for a model on this machine or a free one, else list prices.
    /// `None` if they are unknown.
    pub fn prices(&self) -> Option<Prices> {
        if self.prices.is_some() {
            return self.prices;
        }
        // OpenRouter marks models without a price.
        if self.is_local() || self.model.ends_with(":free") {
            return Some(Prices::default());
        }
        let table = PriceTable::built_in();
        let without_vendor = self.model.rsplit('/').next().unwrap_or_default();
        table.of(&self.model).or_else(|| table.of(without_vendor))
    }

    /// The cost of a response of this target, and what the model `asked_for` would have cost for the same tokens.
    pub fn cost(&self, asked_for: &str, tokens: &TokenCounts) -> RoutedCost {
        // A suffix such as `[1m]` selects a larger window.
        let asked_for = asked_for.split('[').next().unwrap_or_default();
        let asked_for = PriceTable::built_in().of(asked_for);
        RoutedCost {
            cost: self.prices().map(|prices| prices.cost(tokens)),
            asked_for: asked_for.map(|prices| prices.cost(tokens)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProviderFile;

    const MILLION: TokenCounts = TokenCounts {
        input: 1_000_000,
        output: 1_000_000,
        cache_read: 0,
        cache_write: 0,
    };

    #[test]
    fn every_model_of_the_table_has_prices_and_a_unique_name() {
        let table: PriceTable = serde_json::from_str(BUILT_IN).unwrap();
        assert!(table.embeddings.iter().all(|row| row.prices.input > 0.0));
        for row in &table.models {
            let prices = row.prices;
            assert!(
                prices.input > 0.0 && prices.output > prices.input,
                "{}",
                row.model
            );
            assert!(
                prices.cache_read > 0.0 && prices.cache_read <= prices.input,
                "{}",
                row.model
            );
            let same = table
                .models
                .iter()
                .filter(|other| is_release_of(&other.model, &row.model));
            assert_eq!(same.count(), 1, "{}", row.model);
        }
    }

    #[test]
    fn a_release_date_names_the_same_model_and_another_suffix_another() {
        let table = PriceTable::built_in();
        assert!(table.of("claude-haiku-4-5").is_some());
        assert_eq!(
            table.of("claude-haiku-4-5-20251001"),
            table.of("claude-haiku-4-5")
        );
        assert_eq!(table.of("gpt-4o-2024-11-20"), table.of("gpt-4o"));
        for model in ["gpt-5-pro", "claude-haiku-4-5-turbo", ""] {
            assert_eq!(table.of(model), None, "{model}");
        }
    }

    #[test]
    fn parts_of_a_millionth_are_rounded_up() {
        let prices = PriceTable::built_in().of("gpt-5-nano").unwrap();
        let one = TokenCounts {
            input: 1,
            ..TokenCounts::default()
        };
        assert_eq!(prices.cost(&one), 1);
        assert_eq!(prices.cost(&TokenCounts::default()), 0);
        let most = TokenCounts {
            input: u64::MAX,
            output: 1,
            ..TokenCounts::default()
        };
        assert_eq!(prices.cost(&most), u64::MAX.div_ceil(1_000));
    }

    fn cost(endpoint: &str, model: &str, asked_for: &str) -> (Option<u64>, Option<u64>) {
        let text =
            format!("providers:\n  - name: x\n    endpoint: {endpoint}\n    models:\n      a: {model}\n");
        let file = ProviderFile::read(&text, &|_| None).unwrap();
        let cost = file.target("a").unwrap().cost(asked_for, &MILLION);
        (cost.cost, cost.asked_for)
    }

    #[test]
    fn a_routed_response_is_compared_with_the_model_that_was_asked_for() {
        let remote = "https://example.com/v1";
        assert_eq!(
            cost(remote, "openai/gpt-5", "claude-opus-5[1m]"),
            (Some(11_250_000), Some(30_000_000))
        );
        assert_eq!(
            cost(remote, "{model: m, prices: {input: 1, output: 2}}", "m"),
            (Some(3_000_000), None)
        );
        assert_eq!(
            cost("http://127.0.0.1:1", "unheard-of", "claude-opus-5").0,
            Some(0)
        );
        assert_eq!(cost(remote, "\"x/y:free\"", "claude-opus-5").0, Some(0));
        assert_eq!(cost(remote, "unheard-of", "claude-opus-5").0, None);
    }
}
