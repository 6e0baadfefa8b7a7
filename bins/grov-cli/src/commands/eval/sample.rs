//! The bundled sample: the sessions of `grov demo`, through the real proxy against a simulated model with a prompt cache.

use super::findings::Findings;
use super::{Report, stored};
use crate::commands::demo;
use crate::failure::Failure;
use std::collections::HashSet;

/// Plays the sample and measures it.
pub(super) fn report() -> Result<Report, Failure> {
    let played = demo::measure()?;
    let prompts = played.prompts;
    let mut findings = Findings::default();
    for action in &played.judged {
        findings.add(action, &HashSet::new());
    }
    let percent = |count: usize| (prompts > 0).then(|| count as f64 * 100.0 / prompts as f64);
    Ok(Report {
        source: "sample".to_owned(),
        sessions: played.sessions,
        prompts,
        actions: findings.actions,
        added_latency: played.added_latency,
        cache_misses: Some(played.cache_misses as u64),
        tokens_added: played.injected.iter().map(|text| stored::tokens(text)).sum(),
        prompts_with_injection_percent: percent(played.injected.iter().count()),
        findings: findings.rules(),
        guard: None,
        not_measured: vec![
            "guard: no hooks run in the sample; `grov eval` counts those of your own sessions".to_owned(),
        ],
        ..Report::default()
    })
}
