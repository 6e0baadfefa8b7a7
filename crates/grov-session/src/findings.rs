//! How certain findings are: hard findings, repetition and doubts.

use grov_domain::{Assessment, Finding};

/// Whether an assessment has a hard finding: a broken constraint or danger.
pub(crate) fn has_hard_finding(assessment: &Assessment) -> bool {
    assessment.findings.iter().any(|finding| finding.rule.is_hard())
}

/// Whether the findings only doubt that an action is related to the goal: no hard finding and no repetition.
pub(crate) fn is_doubt_only(assessment: &Assessment) -> bool {
    Finding::are_doubts(&assessment.findings)
}
