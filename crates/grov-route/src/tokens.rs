//! Counts input tokens without asking the provider.

use crate::body_edit::Fields;
use crate::request_facts::{DOCUMENT_CHARACTERS_PER_TOKEN, IMAGE_TOKENS};
use crate::text_scan::{Part, Scan};
use serde::de::IgnoredAny;

/// Tokens around each message and tool.
const TOKENS_PER_ITEM: u64 = 4;

/// Counts the input tokens of a request with OpenAI's vocabulary `o200k_base`. Other vocabularies differ by some percent; see [`Calibration`].
/// Images and documents have fixed costs. Too slow for every request. `None` if the body is not a JSON object.
pub fn count_tokens(body: &[u8]) -> Option<u64> {
    let fields = Fields::parse(body)?;
    let tokenizer = bpe_openai::o200k_base();
    let mut tokens = 0;
    let mut sink = |part: Part<'_>| {
        tokens += match part {
            Part::Text(text) => tokenizer.count(text) as u64,
            Part::Literal => 1,
            Part::Image => IMAGE_TOKENS,
            Part::Document(length) => length as u64 / DOCUMENT_CHARACTERS_PER_TOKEN,
        }
    };
    let mut items = 0;
    for (name, value) in &fields.0 {
        match name.as_ref() {
            "system" => Scan::content(&mut sink).visit(value),
            "messages" => {
                items += length(value.get());
                Scan::content(&mut sink).visit(value);
            }
            "tools" => {
                items += length(value.get());
                Scan::tools(&mut sink).visit(value);
            }
            _ => {}
        }
    }
    Some(tokens + items * TOKENS_PER_ITEM)
}

/// The number of items of a list; 0 for another value.
fn length(json: &str) -> u64 {
    serde_json::from_str::<Vec<IgnoredAny>>(json).map_or(0, |items| items.len() as u64)
}

/// How a provider's own counts compare with ours.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Calibration {
    ratio: Option<f64>,
}

impl Calibration {
    /// Smaller requests say little about the ratio.
    const MIN_TOKENS: u64 = 200;

    /// Ratios outside of this range come from a provider that reports something else, for example without cached tokens.
    const PLAUSIBLE: std::ops::RangeInclusive<f64> = 0.5..=2.0;

    /// The weight of the newest ratio.
    const WEIGHT: f64 = 0.2;

    /// Learns from a response: `counted` is our count of the request, `reported` the provider's count, cached tokens included.
    pub fn observe(&mut self, counted: u64, reported: u64) {
        if counted < Self::MIN_TOKENS {
            return;
        }
        let ratio = reported as f64 / counted as f64;
        if Self::PLAUSIBLE.contains(&ratio) {
            self.ratio = Some(match self.ratio {
                Some(mean) => mean + (ratio - mean) * Self::WEIGHT,
                None => ratio,
            });
        }
    }

    /// What the provider would probably report for our count.
    pub fn adjust(&self, counted: u64) -> u64 {
        (counted as f64 * self.ratio.unwrap_or(1.0)).round() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn count(body: &serde_json::Value) -> u64 {
        count_tokens(body.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn texts_are_counted_by_the_vocabulary() {
        let words = "the quick brown fox jumps over the lazy dog ".repeat(100);
        let tokens = count(&json!({"messages": [{"role": "user", "content": words}]}));
        assert_eq!(tokens, 901 + TOKENS_PER_ITEM);
    }

    #[test]
    fn tools_count_with_their_schemas() {
        let tool = json!({"name": "Read", "description": "Reads a file", "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}}});
        let without = count(&json!({"messages": []}));
        assert_eq!(without, 0);
        let with = count(&json!({"messages": [], "tools": [tool]}));
        assert!((12..30).contains(&with), "{with}");
    }

    #[test]
    fn a_signature_costs_nothing_and_an_image_a_fixed_number() {
        let thinking = json!({"type": "thinking", "thinking": "", "signature": "abc ".repeat(1000)});
        assert_eq!(
            count(&json!({"messages": [{"role": "assistant", "content": [thinking]}]})),
            TOKENS_PER_ITEM
        );
        let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A".repeat(100_000)}});
        let tokens = count(&json!({"messages": [{"role": "user", "content": [image]}]}));
        assert_eq!(tokens, IMAGE_TOKENS + TOKENS_PER_ITEM);
    }

    #[test]
    fn other_bodies_have_no_count() {
        assert_eq!(count_tokens(b"[]"), None);
        assert_eq!(count_tokens(b"{"), None);
    }

    #[test]
    fn a_calibration_follows_the_provider_slowly() {
        let mut calibration = Calibration::default();
        assert_eq!(calibration.adjust(1_000), 1_000);
        calibration.observe(1_000, 1_200);
        assert_eq!(calibration.adjust(1_000), 1_200);
        calibration.observe(1_000, 700);
        assert_eq!(calibration.adjust(1_000), 1_100);
    }

    #[test]
    fn implausible_and_small_counts_teach_nothing() {
        let mut calibration = Calibration::default();
        calibration.observe(1_000, 3);
        calibration.observe(1_000, 90_000);
        calibration.observe(10, 15);
        calibration.observe(0, 0);
        assert_eq!(calibration, Calibration::default());
    }
}
