//! What sessions cost, by class of tokens.

use grov_cost::PriceBook;
use grov_domain::{ExchangeUsage, TokenUsage};

/// Costs by class, in billionths of a USD.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Costs {
    pub(crate) input: u128,
    pub(crate) cache_read: u128,
    pub(crate) cache_write: u128,
    pub(crate) output: u128,
    /// Tokens of models without a known price.
    pub(crate) unpriced: u64,
}

impl Costs {
    pub(crate) fn of(prices: &PriceBook, usage: &[ExchangeUsage]) -> Self {
        usage.iter().fold(Self::default(), |sum, one| {
            sum.plus(Self::of_model(
                prices,
                one.model.as_deref().unwrap_or_default(),
                one.tokens,
            ))
        })
    }

    pub(crate) fn of_model(prices: &PriceBook, model: &str, tokens: TokenUsage) -> Self {
        let none = TokenUsage::default();
        let class = |tokens: TokenUsage| prices.cost(model, false, &tokens);
        let input = class(TokenUsage {
            input: tokens.input,
            ..none
        });
        let Some(input) = input else {
            return Self {
                unpriced: tokens.input + tokens.cache_read + tokens.cache_creation + tokens.output,
                ..Self::default()
            };
        };
        let cache_read = class(TokenUsage {
            cache_read: tokens.cache_read,
            ..none
        });
        let cache_write = class(TokenUsage {
            input: 0,
            cache_read: 0,
            output: 0,
            ..tokens
        });
        let output = class(TokenUsage {
            output: tokens.output,
            ..none
        });
        Self {
            input,
            cache_read: cache_read.unwrap_or_default(),
            cache_write: cache_write.unwrap_or_default(),
            output: output.unwrap_or_default(),
            unpriced: 0,
        }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            input: self.input + other.input,
            cache_read: self.cache_read + other.cache_read,
            cache_write: self.cache_write + other.cache_write,
            output: self.output + other.output,
            unpriced: self.unpriced + other.unpriced,
        }
    }

    pub(crate) fn total(self) -> u128 {
        self.input + self.cache_read + self.cache_write + self.output
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_add_up_to_the_price_of_all() {
        let prices = PriceBook::default();
        let tokens = TokenUsage {
            input: 1_000,
            cache_read: 20_000,
            cache_creation: 3_000,
            cache_creation_1h: 1_000,
            cache_creation_5m: 2_000,
            output: 400,
        };
        let costs = Costs::of_model(&prices, "claude-opus-4-8", tokens);
        assert_eq!(
            Some(costs.total()),
            prices.cost("claude-opus-4-8", false, &tokens)
        );
        assert!(costs.cache_write > costs.cache_read && costs.output > 0);
        let unknown = Costs::of_model(&prices, "nobody-s-model", tokens);
        assert_eq!((unknown.total(), unknown.unpriced), (0, 24_400));
    }
}
