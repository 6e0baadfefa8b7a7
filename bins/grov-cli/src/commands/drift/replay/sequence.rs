//! A sequence of actions as a line of a file tells it.

use grov_actions::{ToolCall, understand};
use grov_domain::{ActionSketch, ActionType, GoalContract, IntentQuestion};
use grov_rules::extract_intent;
use serde::Deserialize;
use serde_json::Value;

/// Actions under a goal.
#[derive(Deserialize)]
pub(super) struct Sequence {
    pub(super) seq_id: Value,
    goal: String,
    #[serde(default)]
    expected_scope: Option<Vec<String>>,
    #[serde(default)]
    constraints: Option<Vec<String>>,
    actions: Vec<Told>,
}

/// One action as it is told.
#[derive(Deserialize)]
struct Told {
    #[serde(rename = "type")]
    action_type: String,
    #[serde(default)]
    files: Option<Vec<String>>,
    #[serde(default)]
    command: Option<String>,
    /// Free text that belongs to the action.
    #[serde(default)]
    text: Option<String>,
    /// It failed.
    #[serde(default)]
    error: Option<bool>,
}

impl Sequence {
    /// Understands a line. The error says what is wrong with it.
    pub(super) fn read(line: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(line).map_err(|error| format!("it is no sequence: {error}"))
    }

    /// What the agent was held to: what the goal says as a prompt, and what the line says besides.
    pub(super) fn contract(&self) -> GoalContract {
        let intent = extract_intent(&IntentQuestion {
            prompts: vec![self.goal.clone()],
            first_files: Vec::new(),
        });
        GoalContract {
            // Nobody typed it: it is the goal, whole, and no instruction that lifts what was said before.
            goal: self.goal.clone(),
            scope: merged(intent.scope, self.expected_scope.as_deref()),
            constraints: merged(intent.constraints, self.constraints.as_deref()),
            keywords: intent.keywords,
            ..GoalContract::default()
        }
    }

    /// The actions, in their order.
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

fn sketch(told: &Told) -> ActionSketch {
    let action_type = ActionType::from_name(&told.action_type).unwrap_or_default();
    let mut sketch = ActionSketch::empty(action_type);
    if action_type == ActionType::Bash
        && let Some(command) = &told.command
    {
        // What a command does is in the command; told files may be only some of it.
        let input = serde_json::json!({ "command": command });
        sketch = ActionSketch::of(&understand(&ToolCall {
            name: "Bash",
            id: None,
            input: (&input).into(),
            working_directory: None,
        }));
    }
    ActionSketch {
        files: merged(sketch.files, told.files.as_deref()),
        command: told.command.clone(),
        failed: told.error,
        content: told.text.clone(),
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
    fn what_the_goal_says_and_what_the_line_says_are_one_contract() {
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
    fn commands_are_understood_as_on_the_wire() {
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
