//! An action and what the rules found of it.

use grov_domain::{ActionSketch, Assessment, StepId};
use serde::{Deserialize, Serialize};

/// An action and what was found of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssessedAction {
    /// The action.
    pub action: ActionSketch,
    /// The step it is recorded as.
    pub step: Option<StepId>,
    /// The tool call that it is.
    pub call: Option<String>,
    /// What was found.
    pub assessment: Assessment,
    /// A subagent did it: only matters of fact count.
    pub is_delegated: bool,
    /// Files that it put back: what was changed there against a constraint is undone.
    #[serde(default)]
    pub put_back: Vec<String>,
}
