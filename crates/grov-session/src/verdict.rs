//! Creates the verdicts that are recorded for actions.

use crate::assessed_action::AssessedAction;
use crate::state_machine::Transition;
use grov_domain::{Assessment, Correction, Finding, JudgedBy, Rule, StepVerdict};

/// Minimum score of an action that follows a correction.
pub(crate) const FOLLOWS: u8 = 8;
/// Maximum score of a danger that no goal asks for: overwriting a device, deleting everything.
const GRAVE: u8 = 1;

/// Keeps the findings that hold without the goal: repetition, the worst dangers and, once the history is loaded, broken
/// constraints.
pub(crate) fn certain_findings(assessment: Assessment, is_loaded: bool) -> Assessment {
    let mut findings = assessment.findings;
    findings.retain(|finding| match finding.rule {
        Rule::Constraint => is_loaded,
        Rule::Repetition => true,
        Rule::Danger => finding.at_most <= GRAVE,
        Rule::Scope | Rule::Tangent | Rule::ScopeCreep | Rule::Judge => false,
    });
    match findings.first() {
        Some(gravest) => Assessment {
            score: gravest.at_most.clamp(1, 10),
            findings,
        },
        None => Assessment::on_goal(),
    }
}

/// Returns the verdict to record for each action; `None` for actions of subagents without findings.
pub(crate) fn verdicts(response: &[AssessedAction], transition: &Transition) -> Vec<Option<StepVerdict>> {
    let new_correction = transition.new_correction.as_ref();
    let verdict = |(index, one): (usize, &AssessedAction)| {
        if one.is_delegated && one.assessment.findings.is_empty() {
            return None;
        }
        let correction = new_correction
            .filter(|(about, correction)| *about == Some(index) && correction.tool_use_id == one.call)
            .map(|(_, correction)| correction);
        let is_followed = transition.exempt.contains(&index);
        let findings: &[Finding] = if is_followed {
            &[]
        } else {
            &one.assessment.findings
        };
        let score = if is_followed {
            one.assessment.score.max(FOLLOWS)
        } else {
            one.assessment.score
        };
        Some(step_verdict(
            score,
            JudgedBy::Rules,
            findings.to_vec(),
            correction,
        ))
    };
    response.iter().enumerate().map(verdict).collect()
}

/// Returns a verdict with the correction that followed, if there was one.
pub(crate) fn step_verdict(
    score: u8,
    by: JudgedBy,
    findings: Vec<Finding>,
    correction: Option<&Correction>,
) -> StepVerdict {
    let plan = correction.map(|correction| correction.recovery_plan.clone());
    StepVerdict {
        score,
        by,
        findings,
        level: correction.map(|correction| correction.level),
        correction: correction.map(|correction| correction.text.clone()),
        recovery_plan: plan.unwrap_or_default(),
    }
}
