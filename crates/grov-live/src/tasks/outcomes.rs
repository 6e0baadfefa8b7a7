//! How tool calls ended, as far as it was seen.

use crate::action_checker::ToolOutcome;
use std::collections::{HashMap, VecDeque};

/// Tool results remembered per session.
const MAX_OUTCOMES: usize = 256;

/// The newest results of a session's tool calls.
#[derive(Default)]
pub(super) struct Outcomes {
    by_call: HashMap<String, (bool, Option<String>)>,
    order: VecDeque<String>,
}

impl Outcomes {
    pub(super) fn remember(&mut self, outcome: &ToolOutcome) {
        let known = (outcome.failed, outcome.output.clone());
        if self.by_call.insert(outcome.tool_use_id.clone(), known).is_none() {
            self.order.push_back(outcome.tool_use_id.clone());
        }
        if self.order.len() > MAX_OUTCOMES
            && let Some(oldest) = self.order.pop_front()
        {
            self.by_call.remove(&oldest);
        }
    }

    /// Whether the call failed, and the end of its output.
    pub(super) fn of(&self, call: &str) -> Option<(bool, Option<String>)> {
        self.by_call.get(call).cloned()
    }
}
