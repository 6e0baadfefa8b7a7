//! Prices of models, with the user's own before the built-in ones.

use grov_domain::TokenUsage;
use grov_route::{PriceTable, PricedModel, Target};
use std::io;
use std::path::Path;

/// Why a file with prices cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PriceError {
    /// It cannot be read.
    #[error("it cannot be read: {0}")]
    Unreadable(#[source] io::Error),
    /// It is not in the format of `prices.json`.
    #[error("it has no valid prices: {0}")]
    Malformed(#[source] serde_json::Error),
}

/// The prices of models.
#[derive(Clone, Debug, Default)]
pub struct PriceBook {
    own: PriceTable,
    /// Models of the provider file.
    routed: Vec<Routed>,
}

/// A model of a provider file.
#[derive(Clone, Debug)]
struct Routed {
    /// The name under which the client and the store know a translated response.
    label: String,
    provider: String,
    /// The provider's name of the model, and its prices if they are known.
    model: String,
    priced: Option<PricedModel>,
}

impl From<&Target> for Routed {
    fn from(target: &Target) -> Self {
        Self {
            label: target.label.clone(),
            provider: target.provider.clone(),
            model: target.model.clone(),
            priced: target.prices().map(|prices| PricedModel {
                model: target.model.clone(),
                provider: Some(target.provider.clone()),
                prices,
                fast: None,
                above_200k: None,
            }),
        }
    }
}

impl PriceBook {
    /// The built-in prices, and before them those of a file in the same format, if there is one.
    ///
    /// # Errors
    /// The file cannot be used.
    pub fn with_file(path: &Path) -> Result<Self, PriceError> {
        let text = match std::fs::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(PriceError::Unreadable(error)),
        };
        Ok(Self {
            own: serde_json::from_slice(&text).map_err(PriceError::Malformed)?,
            routed: Vec::new(),
        })
    }

    /// Adds models of a provider file.
    pub fn add_targets<'t>(&mut self, targets: impl IntoIterator<Item = &'t Target>) {
        self.routed.extend(targets.into_iter().map(Routed::from));
    }

    /// The day as of which the built-in prices of the client's own models are known.
    pub fn as_of(&self) -> String {
        let own = self.own.as_of.values().max();
        let built_in = PriceTable::built_in().as_of.get("claude");
        own.or(built_in).cloned().unwrap_or_default()
    }

    /// The provider of a model.
    pub fn provider(&self, model: &str) -> String {
        if let Some(routed) = self.routed(model) {
            return routed.provider.clone();
        }
        let known = self.find(model);
        let model = canonical(model);
        let known = known.and_then(|known| known.provider.as_deref());
        match known {
            Some(provider) => provider.to_owned(),
            None if model.starts_with("claude") => "anthropic".to_owned(),
            None => "unknown".to_owned(),
        }
    }

    /// The cost of tokens in billionths of a USD; `None` if the price of the model is unknown.
    pub fn cost(&self, model: &str, is_fast: bool, tokens: &TokenUsage) -> Option<u128> {
        let priced = self.find(model)?;
        let prices = &priced.prices;
        let long = priced.above_200k.as_ref();
        // Writes without a lifetime have the default one, five minutes; one hour costs twice the input.
        let one_hour = tokens.cache_creation_1h.min(tokens.cache_creation);
        let five_minutes = tokens.cache_creation - one_hour;
        let classes = [
            (tokens.input, prices.input, long.map(|long| long.input)),
            (tokens.output, prices.output, long.map(|long| long.output)),
            (
                tokens.cache_read,
                prices.cache_read,
                long.map(|long| long.cache_read),
            ),
            (
                five_minutes,
                prices.cache_write,
                long.map(|long| long.cache_write),
            ),
            (one_hour, 2.0 * prices.input, long.map(|long| 2.0 * long.input)),
        ];
        let cost: u128 = classes
            .into_iter()
            .map(|(tokens, price, above)| cost(tokens, price, above))
            .sum();
        let factor = if is_fast { priced.fast.unwrap_or(1.0) } else { 1.0 };
        // In thousandths, so that the factor may have a fraction.
        Some(cost * u128::from((factor * 1_000.0).round() as u64) / 1_000)
    }

    fn find(&self, model: &str) -> Option<&PricedModel> {
        let name = canonical(model);
        let own = self.own.find(model).or_else(|| self.own.find(name));
        own.or_else(|| self.routed(model)?.priced.as_ref())
            .or_else(|| PriceTable::built_in().find(name))
    }

    /// The model of the provider file that has this label or, if none has, this name.
    fn routed(&self, model: &str) -> Option<&Routed> {
        let by_label = self.routed.iter().find(|routed| routed.label == model);
        by_label.or_else(|| {
            let name = canonical(model);
            let mut routed = self.routed.iter();
            routed.find(|routed| routed.model == model || canonical(&routed.model) == name)
        })
    }
}

/// Tokens of a request above which some models cost more.
const LONG: u64 = 200_000;

/// The cost of one class of tokens: `price` in USD per million, and `above` for those beyond [`LONG`].
fn cost(tokens: u64, price: f64, above: Option<f64>) -> u128 {
    let billionths = |price: f64| u128::from((price * 1_000.0).round() as u64);
    let long = above.map_or(0, |_| tokens.saturating_sub(LONG));
    let above = above.unwrap_or_default();
    u128::from(tokens - long) * billionths(price) + u128::from(long) * billionths(above)
}

/// The name of a model without the vendor before it, the window size behind it, and the version that clouds add.
fn canonical(model: &str) -> &str {
    let model = model.split('[').next().unwrap_or_default();
    let model = model.rsplit('/').next().unwrap_or_default();
    let model = model.rsplit_once("anthropic.").map_or(model, |(_, model)| model);
    match model.rsplit_once("-v") {
        Some((name, version)) if version.contains(':') && name.starts_with("claude") => name,
        _ => model,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use grov_route::ProviderFile;

    fn tokens(input: u64, output: u64) -> TokenUsage {
        TokenUsage {
            input,
            output,
            ..TokenUsage::default()
        }
    }

    #[test]
    fn a_routed_model_has_a_price_and_a_provider_under_its_label() {
        let file = r#"
providers:
  - name: lab
    endpoint: https://lab.example/v1
    models:
      fast: {model: "vendor/qwen3:32b", prices: {input: 2, output: 4}}
      odd: {model: "unheard-of"}
rules: {default: fast}
"#;
        let file = ProviderFile::read(file, &|_| None).unwrap();
        let mut book = PriceBook::default();
        book.add_targets(file.targets().iter().map(AsRef::as_ref));
        for name in ["fast", "vendor/qwen3:32b", "qwen3:32b"] {
            assert_eq!(
                book.cost(name, false, &tokens(1_000_000, 0)),
                Some(2_000_000_000),
                "{name}"
            );
            assert_eq!(book.provider(name), "lab");
        }
        assert_eq!(book.cost("odd", false, &tokens(1, 1)), None);
        assert_eq!(book.provider("odd"), "lab", "a provider is known without prices");
    }

    #[test]
    fn classes_have_prices_of_their_own() {
        let book = PriceBook::default();
        let million = 1_000_000;
        let usd = |tokens: TokenUsage| book.cost("claude-opus-4-8", false, &tokens).unwrap() as f64 / 1e9;
        assert_eq!(usd(tokens(million, 0)), 5.0);
        assert_eq!(usd(tokens(0, million)), 25.0);
        let written = |five, one| TokenUsage {
            cache_creation: five + one,
            cache_creation_5m: five,
            cache_creation_1h: one,
            ..TokenUsage::default()
        };
        assert_eq!(usd(written(million, 0)), 6.25);
        assert_eq!(usd(written(0, million)), 10.0);
        let fast = book.cost("claude-opus-4-8", true, &tokens(million, 0)).unwrap();
        assert_eq!(fast, 10_000_000_000);
    }

    #[test]
    fn long_prompts_may_cost_more() {
        let book = PriceBook::default();
        let cost = |model| book.cost(model, false, &tokens(1_000_000, 0)).unwrap();
        assert_eq!(cost("claude-sonnet-4-5"), 5_400_000_000);
        assert_eq!(cost("claude-sonnet-4-6"), 3_000_000_000);
    }

    #[test]
    fn names_of_a_model_are_recognised() {
        let book = PriceBook::default();
        for model in [
            "claude-opus-4-8[1m]",
            "anthropic/claude-opus-4-8",
            "us.anthropic.claude-opus-4-8-20260101-v1:0",
        ] {
            assert!(book.cost(model, false, &tokens(1, 1)).is_some(), "{model}");
            assert_eq!(book.provider(model), "anthropic");
        }
        assert_eq!(book.cost("mystery-9", false, &tokens(1, 1)), None);
        assert_eq!(book.provider("mystery-9"), "unknown");
        assert_eq!(book.provider("gpt-5"), "openai");
    }

    #[test]
    fn own_prices_come_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("prices.json");
        assert!(PriceBook::with_file(&path).is_ok(), "no file is needed");
        std::fs::write(
            &path,
            r#"{"as_of":{"mine":"2027-01-01"},"models":[{"model":"claude-opus-4-8","input":1,"output":2},{"model":"mine","input":7,"output":7}]}"#,
        )
        .unwrap();
        let book = PriceBook::with_file(&path).unwrap();
        assert_eq!(
            book.cost("claude-opus-4-8", false, &tokens(1_000_000, 0)),
            Some(1_000_000_000)
        );
        assert_eq!(book.cost("mine", false, &tokens(1, 0)), Some(7_000));
        assert_eq!(book.as_of(), "2027-01-01");
        std::fs::write(&path, "{").unwrap();
        assert!(
            PriceBook::with_file(&path)
                .unwrap_err()
                .to_string()
                .contains("prices")
        );
    }
}
