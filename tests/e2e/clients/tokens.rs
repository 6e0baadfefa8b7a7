//! Tokens: what an upstream said in its answers, and what is stored.

use crate::judge::query;
use anyhow::{Context, Result};
use grov_tests::eventually;
use serde_json::Value;
use std::path::Path;

/// The tokens of exchanges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Exchanges with a usage.
    pub exchanges: u64,
    /// Input that was not cached.
    pub input: u64,
    pub cached: u64,
    pub output: u64,
}

impl Tokens {
    /// The sum over answers, by the fields that each API documents.
    pub fn told<'a>(answers: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let usages = answers.into_iter().filter_map(usage);
        usages.fold(Self::default(), |sum, one| Self {
            exchanges: sum.exchanges + one.exchanges,
            input: sum.input + one.input,
            cached: sum.cached + one.cached,
            output: sum.output + one.output,
        })
    }

    fn stored(home: &Path) -> Result<Self> {
        let sums = "count(*) || ' ' || sum(input) || ' ' || sum(cache_read) || ' ' || sum(output)";
        let rows = query(
            home,
            &format!("SELECT {sums} FROM exchanges WHERE input + output > 0"),
        )?;
        let row = rows.first().context("no row")?;
        let numbers: Vec<u64> = row.split(' ').filter_map(|number| number.parse().ok()).collect();
        let [exchanges, input, cached, output] = numbers[..] else {
            return Ok(Self::default());
        };
        Ok(Self {
            exchanges,
            input,
            cached,
            output,
        })
    }
}

/// Checks that the stored tokens become these.
pub fn assert_stored(home: &Path, told: Tokens) -> Result<()> {
    assert!(told.exchanges > 0 && told.output > 0, "{told:?}");
    let mut stored = Tokens::default();
    let equal = eventually("the tokens to be stored", || {
        stored = Tokens::stored(home).ok()?;
        (stored == told).then_some(())
    });
    equal.with_context(|| format!("the upstream said {told:?}, stored are {stored:?}"))
}

/// The last usage in an answer: a stream of events, or a document.
fn usage(answer: &[u8]) -> Option<Tokens> {
    let text = String::from_utf8_lossy(answer);
    let events = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let events = events.filter_map(|data| serde_json::from_str::<Value>(data).ok());
    let documents: Vec<Value> = events.chain(serde_json::from_str(&text).ok()).collect();
    documents.iter().rev().find_map(|document| {
        let places = ["/response/usage", "/usage", "/usageMetadata"];
        let usage = places.iter().find_map(|place| document.pointer(place));
        let usage = usage.filter(|usage| usage.is_object())?;
        let number = |fields: [&str; 3]| {
            let found = fields.iter().find_map(|field| usage.pointer(field)?.as_u64());
            found.unwrap_or_default()
        };
        let all = number(["/input_tokens", "/prompt_tokens", "/promptTokenCount"]);
        let cached = number([
            "/input_tokens_details/cached_tokens",
            "/prompt_tokens_details/cached_tokens",
            "/cachedContentTokenCount",
        ]);
        Some(Tokens {
            exchanges: 1,
            input: all - cached,
            cached,
            output: number(["/output_tokens", "/completion_tokens", "/candidatesTokenCount"]),
        })
    })
}
