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
    ADDING, CONFIGURING, COVERAGE, DEPLOYING, FOCUSING, HOOKS, REMOVING, RETRYING, Request, SKIPPING, TLS,
    Topic,
};
pub(crate) use request::{RESTRUCTURING, names_checks};

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
    RemovesTestFiles,
    RemovesAssertions,
    TrivialAssertion,
    LowersCoverage,
    ChecksOff,
    LinesUnchecked,
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
    /// The requests that it works against. It is then a fact that a correction may quote.
    against: Against,
    /// Whether the guard asks about it otherwise. What ordinary work does as well is not asked about.
    asks: bool,
}

/// Requests that a weakening works against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Against {
    /// None.
    Nothing,
    /// Those that say that a topic succeeds: it defeats them in any case.
    Wish(Topic),
    /// Those that mainly ask for this. Otherwise it may be a part of ordinary work.
    MainPoint(Topic),
}
use Against::{MainPoint, Nothing, Wish};

const fn report(
    weakening: Weakening,
    words: &'static str,
    requests: &'static [&'static [&'static str]],
    against: Against,
    asks: bool,
) -> Report {
    Report {
        weakening,
        words,
        requests,
        against,
        asks,
    }
}

#[rustfmt::skip]
const REPORTS: &[Report] = &[
    report(Weakening::SkipsTests, "Tests are skipped in", &[SKIPPING], Wish(Topic::Tests), true),
    report(Weakening::TestsExcluded, "Tests are excluded in", &[SKIPPING, CONFIGURING], MainPoint(Topic::Tests), false),
    report(Weakening::FocusesTests, "Other tests are left out by a focused test in", &[SKIPPING, FOCUSING], Nothing, true),
    report(Weakening::RetriesTests, "Failing tests are retried in", &[SKIPPING, RETRYING], MainPoint(Topic::Tests), false),
    report(Weakening::RemovesTests, "Tests are removed from", &[SKIPPING, REMOVING, RESTRUCTURING], MainPoint(Topic::Tests), false),
    report(Weakening::RemovesTestFiles, "Tests are removed:", &[SKIPPING, REMOVING, RESTRUCTURING], MainPoint(Topic::Tests), true),
    report(Weakening::RemovesAssertions, "Assertions are removed from", &[SKIPPING, REMOVING, RESTRUCTURING], MainPoint(Topic::Tests), false),
    report(Weakening::TrivialAssertion, "An assertion that always holds is added to", &[SKIPPING, RESTRUCTURING], Wish(Topic::Tests), true),
    report(Weakening::LowersCoverage, "The required test coverage is lowered in", &[SKIPPING, CONFIGURING, COVERAGE], Nothing, true),
    report(Weakening::ChecksOff, "Checks are switched off in", &[SKIPPING, CONFIGURING], Wish(Topic::Checks), true),
    report(Weakening::LinesUnchecked, "Many warnings are suppressed line by line in", &[SKIPPING, CONFIGURING], MainPoint(Topic::Checks), false),
    report(Weakening::RulesOff, "Rules are switched off in", &[SKIPPING, CONFIGURING, ADDING], MainPoint(Topic::Checks), false),
    report(Weakening::CommandOff, "A check no longer runs after a change of", &[SKIPPING, REMOVING, CONFIGURING], Wish(Topic::Any), true),
    report(Weakening::FailureIgnored, "Failures of a check are ignored in", &[SKIPPING, CONFIGURING], Wish(Topic::Any), true),
    report(Weakening::StepRemoved, "A step that tests or checks the code is removed from", &[SKIPPING, REMOVING, RESTRUCTURING, CONFIGURING], MainPoint(Topic::Any), false),
    report(Weakening::PipelineRemoved, "A pipeline is removed:", &[SKIPPING, REMOVING, RESTRUCTURING], MainPoint(Topic::Any), true),
    report(Weakening::CertificatesUnchecked, "Certificates are no longer verified in", &[TLS], Nothing, true),
    report(Weakening::SafeguardOff, "A safeguard against deletion is switched off in", &[SKIPPING, REMOVING, DEPLOYING], Nothing, true),
    report(Weakening::HookOff, "Git hooks are switched off by a change of", &[HOOKS], Nothing, true),
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
        // What the agent made weakens nothing that was there.
        if is_free(place, context) || kind == Kind::Questions && context.has_created(place) {
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
        let is_against = match report.against {
            Nothing => false,
            Wish(topic) => request.is_to_mend(topic, false),
            MainPoint(topic) => request.is_to_mend(topic, true),
        };
        let is_wanted = match kind {
            Kind::Facts => is_against,
            Kind::Questions => !is_against && report.asks,
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
