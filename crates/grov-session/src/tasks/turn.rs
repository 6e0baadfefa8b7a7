//! A turn: everything from a prompt to the end of the agent's work on it.

use grov_domain::{ActionSketch, ActionType};

/// Maximum number of actions kept per turn. Beyond it, actions in the middle are dropped.
const MAX_ACTIONS: usize = 200;

/// Maximum number of files that show where the work started.
const MAX_FIRST_FILES: usize = 8;

/// A turn with its prompts and actions.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    /// The prompts, oldest first.
    pub prompts: Vec<String>,
    /// The actions with the ids of their tool calls.
    actions: Vec<(Option<String>, ActionSketch)>,
}

impl Turn {
    /// Adds an action; `call` is the id of its tool call.
    pub fn push_action(&mut self, call: Option<String>, action: ActionSketch) {
        if self.actions.len() >= MAX_ACTIONS {
            self.actions.remove(MAX_ACTIONS / 2);
        }
        self.actions.push((call, action));
    }

    /// Records the result of a tool call.
    pub fn record_result(&mut self, call: &str, failed: bool, output: Option<&str>) {
        let mut newest_first = self.actions.iter_mut().rev();
        if let Some((_, action)) = newest_first.find(|(own, _)| own.as_deref() == Some(call)) {
            action.failed = Some(failed);
            action.output = output.map(str::to_owned);
        }
    }

    /// Whether it has a prompt or an action to judge. A repeated request has no new prompt and no action.
    pub fn is_worth_judging(&self) -> bool {
        !self.prompts.is_empty() || !self.actions.is_empty()
    }

    /// Whether something was changed.
    pub fn has_changed(&self) -> bool {
        self.actions().any(ActionSketch::has_changed)
    }

    /// Returns the actions, in order.
    pub fn actions(&self) -> impl Iterator<Item = &ActionSketch> {
        self.actions.iter().map(|(_, action)| action)
    }

    /// Returns at most 8 files that were read or searched before the first change.
    pub fn first_files(&self) -> Vec<String> {
        let mut files: Vec<String> = Vec::new();
        let looking = self
            .actions()
            .take_while(|action| !action.is_change())
            .filter(|action| matches!(action.action_type, ActionType::Read | ActionType::Search));
        for file in looking.flat_map(|action| &action.files) {
            if files.len() < MAX_FIRST_FILES && !files.contains(file) {
                files.push(file.clone());
            }
        }
        files
    }
}
