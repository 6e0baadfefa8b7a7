//! A turn: everything from a prompt to the point where the conversation comes to rest.

use grov_domain::{ActionSketch, ActionType};

/// Actions of a turn that are kept for its verdict; of more, the first and the last half of this.
const MAX_ACTIONS: usize = 200;

/// Files that tell where the work began.
const MAX_FIRST_FILES: usize = 8;

/// A turn under way.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    /// What the user typed, oldest first.
    pub prompts: Vec<String>,
    /// Each with the tool call it was.
    actions: Vec<(Option<String>, ActionSketch)>,
}

impl Turn {
    /// Adds an action; `call` is the tool call that it was.
    pub fn act(&mut self, call: Option<String>, action: ActionSketch) {
        if self.actions.len() >= MAX_ACTIONS {
            self.actions.remove(MAX_ACTIONS / 2);
        }
        self.actions.push((call, action));
    }

    /// Notes how a tool call of the turn ended.
    pub fn ended(&mut self, call: &str, failed: bool, output: Option<&str>) {
        let mut newest_first = self.actions.iter_mut().rev();
        if let Some((_, action)) = newest_first.find(|(own, _)| own.as_deref() == Some(call)) {
            action.failed = Some(failed);
            action.output = output.map(str::to_owned);
        }
    }

    /// Whether there is something to judge: a repeated request carries neither a new prompt nor an action.
    pub fn has_substance(&self) -> bool {
        !self.prompts.is_empty() || !self.actions.is_empty()
    }

    /// Whether something was changed.
    pub fn has_changed(&self) -> bool {
        self.actions().any(ActionSketch::has_changed)
    }

    /// The actions, in order.
    pub fn actions(&self) -> impl Iterator<Item = &ActionSketch> {
        self.actions.iter().map(|(_, action)| action)
    }

    /// The files that were read or searched before anything was changed.
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
