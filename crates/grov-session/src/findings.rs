//! How certain findings are: hard findings, repetition and doubts.

use crate::correction;
use grov_domain::{Assessment, Finding, OFF_GOAL_BELOW};

/// Whether an assessment has a hard finding: a broken constraint or danger.
pub(crate) fn has_hard_finding(assessment: &Assessment) -> bool {
    assessment.findings.iter().any(|finding| finding.rule.is_hard())
}

/// Whether the findings only doubt that an action is related to the goal: no hard finding and no repetition.
pub(crate) fn is_doubt_only(assessment: &Assessment) -> bool {
    Finding::are_doubts(&assessment.findings)
}

/// Whether a finding is a fact, or a repetition, that rests on no interpretation.
fn is_certain(finding: &Finding) -> bool {
    !finding.rule.is_doubt() && !finding.is_interpreted
}

/// Whether an action is off the goal for certain.
pub(crate) fn is_certainly_off(assessment: &Assessment) -> bool {
    let mut findings = assessment.findings.iter();
    findings.any(|finding| is_certain(finding) && finding.at_most < OFF_GOAL_BELOW)
}

/// Whether findings rest on these interpretations and on nothing else.
pub(crate) fn rests_on(assessment: &Assessment, told: impl Fn(&u64) -> bool) -> bool {
    let found = interpretations(assessment);
    !found.is_empty() && found.iter().all(told) && !assessment.findings.iter().any(is_certain)
}

/// Identifies the interpretations that an assessment rests on: the constraints and names of its hard findings. Empty if the
/// action is off the goal for certain.
pub(crate) fn interpretations(assessment: &Assessment) -> Vec<u64> {
    if is_certainly_off(assessment) {
        return Vec::new();
    }
    let interpreted = assessment
        .findings
        .iter()
        .filter(|finding| finding.is_interpreted);
    interpreted
        .map(|finding| correction::hash(constraint_in(&finding.reason).unwrap_or(&finding.reason)))
        .collect()
}

/// The constraint that a reason quotes.
fn constraint_in(reason: &str) -> Option<&str> {
    reason
        .split_once(" in violation of ")
        .map(|(_, constraint)| constraint)
}
