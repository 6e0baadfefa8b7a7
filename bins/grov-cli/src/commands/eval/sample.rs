//! The bundled sample: the sessions of `grov demo`, through the real proxy against a simulated model with a prompt cache.

use super::{Report, stored};
use crate::commands::demo;
use crate::failure::Failure;

/// Plays the sample and measures it.
pub(super) fn report() -> Result<Report, Failure> {
    let played = demo::measure()?;
    let prompts = played.prompts;
    let percent = |count: usize| (prompts > 0).then(|| count as f64 * 100.0 / prompts as f64);
    Ok(Report {
        source: "sample".to_owned(),
        sessions: played.sessions,
        prompts,
        actions: played.actions,
        added_latency: played.added_latency,
        cache_misses: Some(played.cache_misses as u64),
        tokens_added: played.injected.iter().map(|text| stored::tokens(text)).sum(),
        prompts_with_injection_percent: percent(played.injected.iter().count()),
        not_measured: vec![
            "drift findings and guard questions: the sample has no drift; run `grov eval` on your own sessions".to_owned(),
        ],
        ..Report::default()
    })
}
