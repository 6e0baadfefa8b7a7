//! The cache model under random traffic.

use grov_sim::cache::{CacheAudit, LOOK_BACK, PromptCache, RenderedPrompt};
use grov_sim::request::MessagesRequest;
use proptest::prelude::*;
use time::OffsetDateTime;
use time::macros::datetime;

const NOW: OffsetDateTime = datetime!(2026-01-01 00:00 UTC);

/// A request with these messages, alternately of user and assistant, with a breakpoint on the last one. The message at
/// the addition's index has the addition as a second block.
fn body(messages: &[String], addition: Option<(usize, &str)>) -> String {
    let last = messages.len() - 1;
    let messages: Vec<String> = messages
        .iter()
        .enumerate()
        .map(|(at, text)| {
            let role = if at % 2 == 0 { "user" } else { "assistant" };
            let control = if at == last {
                r#","cache_control":{"type":"ephemeral"}"#
            } else {
                ""
            };
            let added = match addition {
                Some((place, text)) if place == at => format!(r#",{{"type":"text","text":"{text}"}}"#),
                _ => String::new(),
            };
            format!(r#"{{"role":"{role}","content":[{{"type":"text","text":"{text}"{control}}}{added}]}}"#)
        })
        .collect();
    format!(
        r#"{{"model":"claude-opus-4-8","messages":[{}]}}"#,
        messages.join(",")
    )
}

fn texts(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("[a-z]{1,400}", count)
}

fn low_minimum() -> PromptCache {
    PromptCache::default().with_minimum("claude-opus-4-8", 1)
}

proptest! {
    #[test]
    fn token_classes_add_up_and_a_growing_history_reads_everything_cached(
        history in texts(2..40),
        cuts in prop::collection::vec(1..LOOK_BACK, 1..8),
    ) {
        let mut cache = low_minimum();
        let mut length = 0;
        let mut cached = 0;
        for cut in cuts {
            length = (length + cut).min(history.len());
            let request = MessagesRequest::parse(body(&history[..length], None).as_bytes()).unwrap();
            let prompt = RenderedPrompt::of(&request);
            let plan = cache.plan(&prompt, NOW);
            let usage = plan.usage;
            prop_assert_eq!(usage.input + usage.read + usage.creation(), prompt.tokens());
            prop_assert_eq!(usage.read, cached);
            cache.commit(&plan, NOW);
            cached = prompt.tokens();
        }
    }

    #[test]
    fn repeated_additions_cause_no_miss_and_removed_ones_do(
        history in texts(6..16),
        place in 0usize..4,
        addition in "[A-Z]{1,100}",
    ) {
        let with = |length: usize| body(&history[..length], Some((place, addition.as_str())));
        let mut faithful = CacheAudit::starting_with(low_minimum());
        let mut forgetful = CacheAudit::starting_with(low_minimum());
        for length in 4..=history.len() {
            let sent = body(&history[..length], None);
            let seen = faithful.observe(sent.as_bytes(), with(length).as_bytes(), NOW).unwrap();
            prop_assert!(!seen.caused_a_miss(), "{:?}", seen);
            let arrived = if length == history.len() { sent.clone() } else { with(length) };
            let seen = forgetful.observe(sent.as_bytes(), arrived.as_bytes(), NOW).unwrap();
            prop_assert_eq!(seen.caused_a_miss(), length == history.len(), "{:?}", seen);
        }
    }
}
