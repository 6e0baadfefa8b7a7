//! How certain findings are: hard findings, repetition and doubts.

use grov_domain::{Assessment, Rule};

/// Whether an assessment has a hard finding: a broken constraint or danger.
pub(crate) fn has_hard_finding(assessment: &Assessment) -> bool {
    assessment.findings.iter().any(|finding| finding.rule.is_hard())
}

/// Whether the findings only doubt that an action is related to the goal: no hard finding and no repetition.
pub(crate) fn is_doubt_only(assessment: &Assessment) -> bool {
    let gravest = assessment.findings.first().map(|finding| finding.rule);
    gravest.is_some_and(is_doubt) && !has_hard_finding(assessment)
}

/// Whether a rule only doubts that an action is related to the goal.
pub(crate) fn is_doubt(rule: Rule) -> bool {
    matches!(rule, Rule::Scope | Rule::Tangent | Rule::ScopeCreep)
}
