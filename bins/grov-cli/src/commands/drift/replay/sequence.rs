//! A sequence of actions as one line of a file.

use super::super::{command_action, intent_of};
use grov_actions::redacted_end;
use grov_actions::transcript::MAX_OUTPUT;
use grov_domain::{ActionSketch, ActionType, GoalContract, PromptReading, TextChange};
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;

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

/// The name of an action that is a prompt of the user.
const PROMPT: &str = "prompt";
/// The name of an action that is the text with which the agent ends its turn.
const ANSWER: &str = "answer";

/// An entry of a session.
pub(super) enum Entry {
    /// The user submits a prompt.
    Prompt {
        /// The prompt.
        text: String,
        /// What a model reads in the prompts up to this one.
        reading: Option<PromptReading>,
    },
    /// The agent ends its turn with a text, to which the next prompt may answer.
    Answer {
        /// The text.
        text: String,
    },
    /// The agent acts.
    Action {
        /// The action.
        action: ActionSketch,
        /// The output of a command, as a live session keeps it.
        output: Option<String>,
    },
}

#[derive(Deserialize)]
struct RecordedAction {
    #[serde(rename = "type")]
    action_type: String,
    #[serde(default)]
    files: Option<Vec<String>>,
    #[serde(default)]
    command: Option<String>,
    /// Free text: the content of an edit; of a prompt, what the user typed; in a session with prompts, the output of a
    /// command.
    #[serde(default)]
    text: Option<String>,
    /// The text that an edit replaces.
    #[serde(default)]
    old: Option<String>,
    /// Whether the action failed.
    #[serde(default)]
    error: Option<bool>,
    /// Of a prompt: what a model reads in the prompts up to this one.
    #[serde(default)]
    reading: Option<PromptReading>,
}

impl Sequence {
    /// Parses a line.
    ///
    /// # Errors
    /// The problem, as the end of a sentence that begins with the line.
    pub(super) fn read(line: &[u8]) -> Result<Self, String> {
        let sequence: Self =
            serde_json::from_slice(line).map_err(|error| format!("it is not a sequence: {error}"))?;
        let has_items = |list: &Option<Vec<String>>| list.as_ref().is_some_and(|list| !list.is_empty());
        if sequence.has_prompts() && (has_items(&sequence.expected_scope) || has_items(&sequence.constraints))
        {
            return Err(
                "scope and constraints of a sequence with prompts come from the prompts alone".to_owned(),
            );
        }
        Ok(sequence)
    }

    /// Whether it is a session with the user's prompts.
    pub(super) fn has_prompts(&self) -> bool {
        self.actions.iter().any(RecordedAction::is_prompt)
    }

    /// The goal of a session with prompts, if it was typed before the first entry.
    pub(super) fn goal(&self) -> Option<&str> {
        Some(self.goal.as_str()).filter(|goal| !goal.trim().is_empty())
    }

    /// The entries of a session with prompts, in order.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry> {
        self.actions.iter().map(RecordedAction::entry)
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

impl RecordedAction {
    fn is_prompt(&self) -> bool {
        self.action_type == PROMPT
    }

    fn entry(&self) -> Entry {
        let text = self.text.as_deref().unwrap_or_default();
        if self.is_prompt() {
            return Entry::Prompt {
                text: text.to_owned(),
                reading: self.reading.clone(),
            };
        }
        if self.action_type == ANSWER {
            return Entry::Answer {
                text: text.to_owned(),
            };
        }
        let action = sketch(self);
        if action.action_type.modifies_files() {
            return Entry::Action { action, output: None };
        }
        Entry::Action {
            action: ActionSketch {
                content: None,
                ..action
            },
            output: Some(redacted_end(text.trim_end(), MAX_OUTPUT)).filter(|output| !output.is_empty()),
        }
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
        change: change(recorded, action_type),
        ..sketch
    }
}

/// The change of an edit whose replaced text is known.
fn change(recorded: &RecordedAction, action_type: ActionType) -> Option<Arc<TextChange>> {
    let before = recorded.old.clone().filter(|_| action_type.modifies_files())?;
    Some(Arc::new(TextChange {
        before: Some(before),
        after: recorded.text.clone().unwrap_or_default(),
    }))
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
    fn the_text_that_an_edit_replaces_is_read() {
        let sequence = read(
            r#"{"seq_id": 1, "goal": "Fix it", "constraints": [], "actions": [
                {"type": "edit", "files": ["a.c"], "text": "int b;", "old": "int a;"}, {"type": "read", "files": ["a.c"], "old": "x"}]}"#,
        );
        let changes: Vec<_> = sequence.actions().map(|action| action.change).collect();
        let expected = TextChange {
            before: Some("int a;".to_owned()),
            after: "int b;".to_owned(),
        };
        assert_eq!(changes, [Some(Arc::new(expected)), None]);
    }

    #[test]
    fn the_text_of_a_command_in_a_session_with_prompts_is_its_output() {
        let sequence = read(
            r#"{"seq_id": 1, "goal": "", "constraints": [], "actions": [{"type": "prompt", "text": "fix it"},
                {"type": "bash", "command": "make", "text": "1 error\n"}, {"type": "edit", "files": ["a.c"], "text": "int a;"}]}"#,
        );
        assert!(sequence.has_prompts() && sequence.goal().is_none());
        let entries: Vec<Entry> = sequence.entries().collect();
        let [
            Entry::Prompt {
                text: prompt,
                reading: None,
            },
            Entry::Action {
                action: make,
                output: Some(output),
            },
            Entry::Action {
                action: edit,
                output: None,
            },
        ] = entries.as_slice()
        else {
            panic!("not these entries");
        };
        assert_eq!((prompt.as_str(), output.as_str()), ("fix it", "1 error"));
        assert_eq!(
            (make.content.as_deref(), edit.content.as_deref()),
            (None, Some("int a;"))
        );
    }

    #[test]
    fn a_sequence_with_prompts_has_no_other_scope_or_constraints() {
        let line = r#"{"seq_id": 1, "goal": "", "constraints": ["no push"], "actions": [{"type": "prompt", "text": "a"}]}"#;
        assert!(Sequence::read(line.as_bytes()).is_err_and(|error| error.contains("prompts")));
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
