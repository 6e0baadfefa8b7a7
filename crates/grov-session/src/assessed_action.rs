//! Assesses actions by the rules.

use crate::event::ObservedAction;
use grov_domain::{ActionSketch, Assessment, Correction, Finding, StepId, beginning_of};
use grov_scope::Rules;
use serde::{Deserialize, Serialize};

/// Characters of written content kept per stored action.
const MAX_CONTENT: usize = 400;

/// An action with its assessment by the rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssessedAction {
    /// The action.
    pub action: ActionSketch,
    /// The id under which it is recorded, if it is.
    pub step: Option<StepId>,
    /// The id of the tool call.
    pub call: Option<String>,
    /// The findings and the score.
    pub assessment: Assessment,
    /// The log-odds that it is unrelated to the goal, in hundredths; 0 if the rules do not doubt it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub log_odds: u16,
    /// Whether a subagent acted. Only hard findings count then.
    pub is_delegated: bool,
    /// The files that it restored, which undoes an earlier violation of a constraint.
    #[serde(default)]
    pub put_back: Vec<String>,
}

/// Whether a number is left out of a stored state.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(crate) fn is_zero(number: &u16) -> bool {
    *number == 0
}

/// Assesses an action. The rules record it for later assessments.
pub(crate) fn assess(rules: &mut Rules, observed: ObservedAction) -> AssessedAction {
    let ObservedAction {
        action,
        call,
        step,
        is_delegated,
    } = observed;
    let assessment = if is_delegated {
        rules.assess_subagent(&action)
    } else {
        rules.assess(&action, call.as_deref())
    };
    AssessedAction {
        put_back: rules.reverted_files().to_vec(),
        log_odds: rules.log_odds(),
        action,
        step,
        call,
        assessment,
        is_delegated,
    }
}

/// How a reason begins if a subagent acted.
const BY_SUBAGENT: &str = "a subagent did this: ";

/// Whether a correction is about an action of a subagent.
pub fn is_about_subagent(correction: &Correction) -> bool {
    correction.reason.starts_with(BY_SUBAGENT)
}

/// Returns the reason of a finding, which says if a subagent acted.
pub(crate) fn reason(finding: &Finding, is_delegated: bool) -> String {
    match is_delegated {
        true => format!("{BY_SUBAGENT}{}", finding.reason),
        false => finding.reason.clone(),
    }
}

/// Returns an action as it is stored with a finding: without output and reasoning, with the beginning of its content.
pub(crate) fn stored_sketch(action: ActionSketch) -> ActionSketch {
    let content = action.content.as_deref();
    ActionSketch {
        content: content.map(|text| beginning_of(text, MAX_CONTENT).to_owned()),
        output: None,
        reasoning: None,
        change: None,
        ..action
    }
}
