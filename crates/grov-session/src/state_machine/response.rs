//! Evaluates the actions of a response.

use crate::assessed_action::{AssessedAction, reason};
use crate::findings::{has_hard_finding, is_certainly_off};
use crate::level::ON_GOAL_FROM;
use crate::violation::Violation;
use grov_domain::{ActionSketch, Assessment};
use grov_redact::Redactor;

/// Maximum length of the description of an action, in characters.
pub(super) const MAX_DESCRIPTION: usize = 160;

/// Returns the response with these actions counted as on goal.
pub(super) fn with_exemptions(response: &[AssessedAction], exempt: &[usize]) -> Vec<AssessedAction> {
    let mut eased = response.to_vec();
    for index in exempt {
        if let Some(one) = eased.get_mut(*index) {
            one.assessment = Assessment {
                score: ON_GOAL_FROM,
                findings: Vec::new(),
            };
        }
    }
    eased
}

/// Returns the actions whose violations a later action of the same response undoes.
pub(super) fn restored_within(response: &[AssessedAction]) -> Vec<usize> {
    let is_undone = |(index, one): &(usize, &AssessedAction)| {
        let later = response.iter().skip(index + 1);
        let back: Vec<String> = later.flat_map(|one| one.put_back.iter().cloned()).collect();
        !back.is_empty() && Violation::of(one, true).is_undone_by(&back)
    };
    let found = response.iter().enumerate().filter(is_undone);
    found.map(|(index, _)| index).collect()
}

/// Combines scores: that of the model counts, unless a hard finding is worse.
pub(crate) fn combined(rules: &Assessment, model: u8) -> u8 {
    let model = model.clamp(1, 10);
    if has_hard_finding(rules) {
        rules.score.min(model)
    } else {
        model
    }
}

/// Returns the worst action that changed something or has findings: the worst certain one, if there is one.
pub(super) fn worst(response: &[AssessedAction], followed: &[usize]) -> Option<usize> {
    let counts = |one: &AssessedAction| {
        if one.is_delegated {
            has_hard_finding(&one.assessment)
        } else {
            one.assessment.score < ON_GOAL_FROM || one.action.is_change()
        }
    };
    let counted = response.iter().enumerate();
    let counted = counted.filter(|(index, one)| counts(one) && !followed.contains(index));
    counted
        .min_by_key(|(_, one)| {
            let found = &one.assessment;
            (!is_certainly_off(found), found.score, !has_hard_finding(found))
        })
        .map(|(index, _)| index)
}

/// Returns the reasons of all findings.
pub(super) fn reasons(one: &AssessedAction) -> Vec<String> {
    let findings = one.assessment.findings.iter();
    findings
        .map(|finding| reason(finding, one.is_delegated))
        .collect()
}

/// Returns the reasons of hard findings.
pub(super) fn facts(one: &AssessedAction) -> Vec<String> {
    let findings = one.assessment.findings.iter();
    let facts = findings.filter(|finding| finding.rule.is_hard());
    facts.map(|finding| reason(finding, one.is_delegated)).collect()
}

/// Describes an action in a few words.
pub(super) fn described(action: &ActionSketch) -> String {
    let what = action.action_type.as_str();
    let on = action.files.first().or(action.command.as_ref());
    // Redacted before it is cut: the redactor does not recognize half a secret.
    let on = on.map(|text| Redactor::shared().redact(text)).unwrap_or_default();
    let on: String = on.chars().take(MAX_DESCRIPTION).collect();
    format!("{what} of {on}")
}
