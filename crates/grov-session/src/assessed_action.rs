//! An action with the findings of the rules.

use crate::event::ObservedAction;
use grov_domain::{ActionSketch, Assessment, StepId};
use grov_scope::Rules;
use serde::{Deserialize, Serialize};

/// An action with its assessment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssessedAction {
    /// The action.
    pub action: ActionSketch,
    /// The step under which it is recorded.
    pub step: Option<StepId>,
    /// The id of the tool call.
    pub call: Option<String>,
    /// The findings and the score.
    pub assessment: Assessment,
    /// Whether a subagent acted. Only hard findings count then.
    pub is_delegated: bool,
    /// Files that it restored: an earlier change of them against a constraint is undone.
    #[serde(default)]
    pub put_back: Vec<String>,
}

/// Assesses an action; the rules record it.
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
        action,
        step,
        call,
        assessment,
        is_delegated,
    }
}
