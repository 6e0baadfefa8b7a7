//! A sequence of actions as one line of a file.

use super::super::{command_action, intent_of};
use grov_domain::{ActionSketch, ActionType, GoalContract};
use serde::Deserialize;
use serde_json::Value;

/// A goal and actions.
#[derive(Deserialize)]
pub(super) struct Sequence {
    pub(super) seq_id: Value,
    goal: String,
    #[serde(default)]
    expected_scope: Option<Vec<String>>,
    #[serde(default)]
    constraints: Option<Vec<String>>,
    actions: Vec<RecordedAction>,
}

#[derive(Deserialize)]
struct RecordedAction {
    #[serde(rename = "type")]
    action_type: String,
    #[serde(default)]
    files: Option<Vec<String>>,
    #[serde(default)]
    command: Option<String>,
    /// Free text, such as an edit's content.
    #[serde(default)]
    text: Option<String>,
    /// Whether the action failed.
    #[serde(default)]
    error: Option<bool>,
}

impl Sequence {
    /// Parses a line.
    ///
    /// # Errors
    /// The problem, as the end of a sentence that begins with the line.
    pub(super) fn read(line: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(line).map_err(|error| format!("it is not a sequence: {error}"))
    }

    /// The contract: extracted from the goal, with the scope and constraints of the line added.
    pub(super) fn contract(&self) -> GoalContract {
        let intent = intent_of(&self.goal);
        GoalContract {
            // The goal is not added to the instructions, which could release earlier constraints.
            goal: self.goal.clone(),
            scope: merged(intent.scope, self.expected_scope.as_deref()),
            constraints: merged(intent.constraints, self.constraints.as_deref()),
            keywords: intent.keywords,
            ..GoalContract::default()
        }
    }

    /// The actions, in order.
    pub(super) fn actions(&self) -> impl Iterator<Item = ActionSketch> {
        self.actions.iter().map(sketch)
    }
}

fn merged(mut list: Vec<String>, more: Option<&[String]>) -> Vec<String> {
    for item in more.unwrap_or_default() {
        if !list.contains(item) {
            list.push(item.clone());
        }
    }
    list
}

fn sketch(recorded: &RecordedAction) -> ActionSketch {
    let action_type = ActionType::from_name(&recorded.action_type).unwrap_or_default();
    let sketch = match &recorded.command {
        // The line may name only some of the files of the command.
        Some(command) if action_type == ActionType::Bash => command_action(command),
        _ => ActionSketch::empty(action_type),
    };
    ActionSketch {
        files: merged(sketch.files, recorded.files.as_deref()),
        command: recorded.command.clone(),
        failed: recorded.error,
        content: recorded.text.clone(),
        ..sketch
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_domain::EffectKind;

    fn read(line: &str) -> Sequence {
        Sequence::read(line.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn the_goal_and_the_line_make_one_contract() {
        let sequence = read(
            r#"{"seq_id": 1, "goal": "Fix the login in src/auth.rs. Do not touch the docs.",
                "expected_scope": ["src/auth.rs", "src/session"], "constraints": ["no new dependencies"], "actions": []}"#,
        );
        let contract = sequence.contract();
        assert_eq!(contract.scope, ["src/auth.rs", "src/session"]);
        assert_eq!(
            contract.constraints,
            ["Do not touch the docs", "no new dependencies"]
        );
        assert_eq!(
            contract.goal,
            "Fix the login in src/auth.rs. Do not touch the docs."
        );
        assert_eq!(contract.newest_instruction(), "");
    }

    #[test]
    fn commands_are_parsed_like_recorded_ones() {
        let sequence = read(
            r#"{"seq_id": "s", "goal": "", "actions": [
                {"type": "bash", "files": ["x"], "command": "cd src && rm old.rs"},
                {"type": "edit", "files": null, "text": "fn a() {}", "error": true},
                {"type": "juggle"}]}"#,
        );
        let actions: Vec<_> = sequence.actions().collect();
        assert_eq!(actions[0].files, ["src/old.rs", "x"]);
        assert_eq!(actions[0].effects, [EffectKind::Delete]);
        assert_eq!(
            (actions[1].content.as_deref(), actions[1].failed),
            (Some("fn a() {}"), Some(true))
        );
        assert_eq!(actions[2].action_type, ActionType::Other);
    }
}
