//! An action with the findings of the rules.

use grov_domain::{ActionSketch, Assessment, StepId};
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
