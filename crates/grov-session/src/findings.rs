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

/// Identifies the interpretations that an assessment rests on, if it rests on nothing else: the constraints and names of its
/// hard findings. Empty if one of them, or a repetition, is certain.
pub(crate) fn interpretations(assessment: &Assessment) -> Vec<u64> {
    let is_certain = |finding: &&Finding| {
        !finding.rule.is_doubt() && !finding.is_interpreted && finding.at_most < OFF_GOAL_BELOW
    };
    if assessment.findings.iter().any(|finding| is_certain(&finding)) {
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
