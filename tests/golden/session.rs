//! The format of a session file.

use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Session {
    #[serde(rename = "about")]
    _about: String,
    #[serde(default, rename = "differs")]
    _differs: Option<String>,
    pub(crate) turns: Vec<Turn>,
    #[serde(default)]
    pub(crate) expected: Option<Value>,
}

/// A prompt, and the agent's responses.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Turn {
    pub(crate) prompt: String,
    pub(crate) responses: Vec<Response>,
}

/// One response of the model. A final response without calls ends the turn.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Response {
    /// The subagent that gave the response.
    #[serde(default)]
    pub(crate) agent: Option<String>,
    #[serde(default)]
    pub(crate) says: Option<String>,
    #[serde(default)]
    pub(crate) calls: Vec<Call>,
}

/// A tool call and its result.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Call {
    /// The name by which expectations refer to it.
    pub(crate) id: String,
    pub(crate) tool: String,
    pub(crate) input: Value,
    #[serde(default)]
    pub(crate) output: String,
    #[serde(default)]
    pub(crate) failed: bool,
    /// Whether the guard asked the user about it before it ran.
    #[serde(default)]
    pub(crate) asked: bool,
}

impl Session {
    /// All calls, in order.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &Call> {
        let responses = self.turns.iter().flat_map(|turn| &turn.responses);
        responses.flat_map(|response| &response.calls)
    }

    /// The expectation for this path at the end of a turn.
    pub(crate) fn expected_turn(&self, number: usize, path: &str) -> Option<&Value> {
        let turn = self.expected.as_ref()?["turns"].get(number)?;
        turn.get(path).or(Some(turn))
    }

    /// The expectations for this path's actions.
    pub(crate) fn expected_actions(&self, path: &str) -> Option<Vec<Value>> {
        let actions = self.expected.as_ref()?["actions"].as_array()?;
        let of_path = |action: &Value| action.get(path).unwrap_or(action).clone();
        Some(actions.iter().map(of_path).collect())
    }
}
