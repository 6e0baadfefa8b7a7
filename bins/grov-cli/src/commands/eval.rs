//! `grov eval`: what Grov costs and what it does, from recorded sessions or from the bundled sample.
//!
//! Recorded actions are judged again by the rules of this version, so that a run after an upgrade shows what changed.

mod findings;
mod measured;
mod page;
mod sample;
mod stored;

pub(super) use measured::added_latency;

use crate::arguments::EvalArguments;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{ExitStatus, Outcome, note};
use grov_domain::{Clock, SystemClock};
use grov_runtime::write_private;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use time::OffsetDateTime;

/// The figures of one run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
// Reports of other versions may lack a figure.
#[serde(default)]
pub(super) struct Report {
    /// The version whose rules judged.
    version: String,
    /// `recorded` or `sample`.
    source: String,
    #[serde(with = "time::serde::rfc3339::option")]
    at: Option<OffsetDateTime>,
    /// Since when sessions were read; `None` for the sample.
    #[serde(with = "time::serde::rfc3339::option")]
    since: Option<OffsetDateTime>,
    sessions: u64,
    prompts: u64,
    actions: u64,
    /// `None` if it was not measured; the reason is in `not_measured`.
    added_latency: Option<Latency>,
    /// Prompt-cache misses that Grov caused: by the model of the cache in the sample, by what was billed in recorded sessions.
    cache_misses: Option<u64>,
    /// Tokens of injected text, estimated.
    tokens_added: u64,
    /// Prompts of a hundred with an injection.
    prompts_with_injection_percent: Option<f64>,
    /// By rule.
    findings: Vec<RuleCount>,
    /// `None` if it was not measured.
    guard: Option<GuardCount>,
    /// What could not be measured, and why.
    not_measured: Vec<String>,
}

/// Time that Grov added to a request, in milliseconds. Percentiles are upper bounds of the histogram's buckets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Latency {
    requests: u64,
    mean_ms: f64,
    p50_ms: f64,
    p99_ms: f64,
}

/// The findings of a rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct RuleCount {
    rule: String,
    /// `fact` or `doubt`.
    certainty: String,
    findings: u64,
    per_100_actions: f64,
    /// Findings about calls that the user allowed when the guard asked.
    #[serde(default)]
    allowed: u64,
    /// Findings that the user marked as wrong on the dashboard.
    marked_wrong: u64,
}

/// The questions of the guard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct GuardCount {
    questions: u64,
    allowed: u64,
    /// Days (UTC) with a session.
    days: u64,
    per_day: f64,
}

#[derive(Serialize)]
struct Answer {
    #[serde(flatten)]
    report: Report,
    /// The report of the run before, with the same source.
    previous: Option<Report>,
    /// The page, with `--html`.
    page: Option<PathBuf>,
}

pub(crate) fn run(context: &Context, arguments: &EvalArguments) -> Outcome {
    let now = SystemClock.now();
    let report = match arguments.sample {
        true => sample::report()?,
        false => stored::report(context, arguments.since.as_deref(), now)?,
    };
    let report = Report {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        at: Some(now),
        ..report
    };
    let file = context
        .home
        .root()
        .join("eval")
        .join(format!("{}.json", report.source));
    let previous = read_previous(&file);
    keep(context, &file, &report)?;
    let page = match &arguments.html {
        Some(path) => {
            let text = page::html(&report, previous.as_ref());
            let failed = |error| Failure::error("eval", format!("cannot write {}: {error}", path.display()));
            std::fs::write(path, text).map_err(failed)?;
            Some(path.clone())
        }
        None => None,
    };
    let has_missed = report.cache_misses.is_some_and(|misses| misses > 0);
    // Clearing context, which the user switches on, leaves out what was cached.
    let is_good = !(has_missed && arguments.sample);
    let answer = Answer {
        report,
        previous,
        page,
    };
    context.answer(answer, |answer, style| {
        page::text(&answer.report, answer.previous.as_ref(), style)
    })?;
    if has_missed {
        note!(
            "Grov caused prompt-cache misses, which must not happen unless context was cleared: please report it"
        );
    }
    Ok(ExitStatus::success_if(is_good))
}

/// The report of the run before. A file that cannot be read counts as none.
fn read_previous(file: &std::path::Path) -> Option<Report> {
    serde_json::from_slice(&std::fs::read(file).ok()?).ok()
}

/// Keeps the report for the next run.
fn keep(context: &Context, file: &std::path::Path, report: &Report) -> Result<(), Failure> {
    context.home.create()?;
    let failed = |error: &dyn std::fmt::Display| {
        Failure::error("eval", format!("cannot write {}: {error}", file.display()))
    };
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(|error| failed(&error))?;
    }
    let text = serde_json::to_vec(report).map_err(|error| failed(&error))?;
    write_private(file, &text).map_err(|error| failed(&error))
}
