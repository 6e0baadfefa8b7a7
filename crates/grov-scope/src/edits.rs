//! Edits that a careful colleague asks about first: weakened tests, disabled checks, removed safeguards.
//!
//! An edit that the user requested ("skip the flaky test", "turn off that rule") is not reported. Neither are new tests, moved
//! tests, tests rewritten as a table, and a single suppressed warning.

mod counts;
mod file_change;
mod file_removal;
mod language;
mod marks;
mod request;
mod settings;
#[cfg(test)]
mod tests;

use crate::analyzed_action::AnalyzedAction;
use crate::danger::EvaluationContext;
use crate::file_kind::{FileKind, is_build_output, is_temporary};
pub(crate) use file_change::FileChange;
use grov_domain::{Finding, Rule};
use request::{
    ADDING, CONFIGURING, COVERAGE, DEPLOYING, FOCUSING, HOOKS, REMOVING, RESTRUCTURING, RETRYING, Request,
    SKIPPING, TLS, Topic,
};

/// The score of an edit that is asked about.
const ASKED_ABOUT: u8 = 4;

/// The most changed files of an action that are checked.
const MAX_FILES: usize = 20;

/// What a dangerous edit does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Weakening {
    SkipsTests,
    TestsExcluded,
    FocusesTests,
    RetriesTests,
    RemovesTests,
    RemovesInnerTests,
    RemovesAssertions,
    TrivialAssertion,
    LowersCoverage,
    ChecksOff,
    LinesUnchecked,
    SomeLinesUnchecked,
    RulesOff,
    CommandOff,
    FailureIgnored,
    StepRemoved,
    PipelineRemoved,
    CertificatesUnchecked,
    SafeguardOff,
    HookOff,
}

/// How a weakening is reported.
struct Report {
    weakening: Weakening,
    /// What the edit does; the file follows.
    words: &'static str,
    /// Words of a request for it.
    requests: &'static [&'static [&'static str]],
    /// The topic of requests that it works against. It is then a fact that a correction may quote.
    against: Option<Topic>,
    /// It is reported only against such a request.
    only_against: bool,
}

const fn report(
    weakening: Weakening,
    words: &'static str,
    requests: &'static [&'static [&'static str]],
    against: Option<Topic>,
    only_against: bool,
) -> Report {
    Report {
        weakening,
        words,
        requests,
        against,
        only_against,
    }
}

#[rustfmt::skip]
const REPORTS: &[Report] = &[
    report(Weakening::SkipsTests, "Tests are skipped in", &[SKIPPING], Some(Topic::Tests), false),
    report(Weakening::TestsExcluded, "Tests are excluded in", &[SKIPPING, CONFIGURING], Some(Topic::Tests), true),
    report(Weakening::FocusesTests, "Other tests are left out by a focused test in", &[SKIPPING, FOCUSING], None, false),
    report(Weakening::RetriesTests, "Failing tests are retried in", &[SKIPPING, RETRYING], Some(Topic::Tests), true),
    report(Weakening::RemovesTests, "Tests are removed from", &[SKIPPING, REMOVING, RESTRUCTURING], Some(Topic::Tests), false),
    report(Weakening::RemovesInnerTests, "Tests are removed from", &[SKIPPING, REMOVING, RESTRUCTURING], Some(Topic::Tests), true),
    report(Weakening::RemovesAssertions, "Assertions are removed from", &[SKIPPING, REMOVING, RESTRUCTURING], Some(Topic::Tests), true),
    report(Weakening::TrivialAssertion, "An assertion that always holds is added to", &[SKIPPING, RESTRUCTURING], Some(Topic::Tests), false),
    report(Weakening::LowersCoverage, "The required test coverage is lowered in", &[SKIPPING, CONFIGURING, COVERAGE], None, false),
    report(Weakening::ChecksOff, "Checks are switched off in", &[SKIPPING, CONFIGURING], Some(Topic::Checks), false),
    report(Weakening::LinesUnchecked, "Many warnings are suppressed line by line in", &[SKIPPING, CONFIGURING], Some(Topic::Checks), false),
    report(Weakening::SomeLinesUnchecked, "Warnings are suppressed line by line in", &[SKIPPING, CONFIGURING], Some(Topic::Checks), true),
    report(Weakening::RulesOff, "Rules are switched off in", &[SKIPPING, CONFIGURING, ADDING], Some(Topic::Checks), true),
    report(Weakening::CommandOff, "A check no longer runs after a change of", &[SKIPPING, REMOVING, CONFIGURING], Some(Topic::Any), false),
    report(Weakening::FailureIgnored, "Failures of a check are ignored in", &[SKIPPING, CONFIGURING], Some(Topic::Any), false),
    report(Weakening::StepRemoved, "A step that tests or checks the code is removed from", &[SKIPPING, REMOVING, RESTRUCTURING, CONFIGURING], Some(Topic::Any), true),
    report(Weakening::PipelineRemoved, "A pipeline is removed:", &[SKIPPING, REMOVING, RESTRUCTURING], Some(Topic::Any), false),
    report(Weakening::CertificatesUnchecked, "Certificates are no longer verified in", &[TLS], None, false),
    report(Weakening::SafeguardOff, "A safeguard against deletion is switched off in", &[SKIPPING, REMOVING, DEPLOYING], None, false),
    report(Weakening::HookOff, "Git hooks are switched off by a change of", &[HOOKS], None, false),
];

/// Which findings are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Edits against the request, which corrections quote.
    Facts,
    /// The others, which only the guard asks about.
    Questions,
}

/// The findings of one kind for an action.
pub(crate) fn findings(
    action: &AnalyzedAction<'_>,
    context: &EvaluationContext<'_>,
    kind: Kind,
) -> Vec<Finding> {
    let mut found = Vec::new();
    if action.is_read_only() {
        return found;
    }
    let changes = FileChange::of_action(action);
    let mut weakenings: Vec<(Weakening, &str)> = Vec::new();
    for change in changes.iter().take(MAX_FILES) {
        let place = change.place;
        if is_free(place, context) {
            continue;
        }
        weakenings.extend(
            marks::weakenings(change)
                .into_iter()
                .map(|weakening| (weakening, place.display())),
        );
        if !weakenings
            .iter()
            .any(|(known, file)| *known == Weakening::SkipsTests && *file == place.display())
        {
            weakenings.extend(counts::weakenings(change).map(|weakening| (weakening, place.display())));
        }
        weakenings.extend(
            settings::weakenings(change)
                .into_iter()
                .map(|weakening| (weakening, place.display())),
        );
    }
    let removed = file_removal::weakenings(action, context);
    weakenings.extend(
        removed
            .iter()
            .map(|(weakening, place)| (*weakening, place.display())),
    );
    if weakenings.is_empty() {
        return found;
    }
    weakenings.sort_unstable();
    weakenings.dedup();
    let request = Request::new(&context.compiled.request);
    for (weakening, file) in weakenings {
        let Some(report) = REPORTS.iter().find(|report| report.weakening == weakening) else {
            continue;
        };
        let is_against = report.against.is_some_and(|topic| request.is_to_mend(topic));
        let is_wanted = match kind {
            Kind::Facts => is_against,
            Kind::Questions => !is_against && !report.only_against,
        };
        if is_wanted && !request.asks_for(report.requests) {
            let reason = format!("{} {file}, which was not requested", report.words);
            // Without the file: permission covers this weakening alone, not every change of the file.
            found.push(crate::finding::finding(Rule::Danger, ASKED_ABOUT, None, reason));
        }
    }
    found.truncate(4);
    found
}

/// Whether edits of a file are not checked.
fn is_free(place: &crate::normalized_path::NormalizedPath, context: &EvaluationContext<'_>) -> bool {
    is_temporary(place)
        || is_build_output(place)
        || FileKind::Vendored.is(place)
        || FileKind::Docs.is(place)
        || context.compiled.is_allowed(place)
        || place.name().contains(".min.")
}
