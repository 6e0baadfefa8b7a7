//! Tracks which tool calls the user was asked about, and so allowed if they ran.

use crate::assessed_action::{AssessedAction, stored_sketch};
use grov_domain::AskedCall;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Maximum number of actions whose permission is unknown.
const MAX_OPEN: usize = 32;
/// Maximum number of calls kept that the user was asked about.
const MAX_ASKED: usize = 256;

/// Calls that the user was asked about, and actions with hard findings whose permission is unknown.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct Permissions {
    /// Calls that the user was asked about, and whether each is known to have run.
    asked: BTreeMap<String, bool>,
    open: Vec<Open>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Open {
    action: AssessedAction,
    has_run: bool,
}

impl Permissions {
    /// Adds an action with a hard finding.
    pub(crate) fn add(&mut self, action: AssessedAction) {
        if action.call.is_none() {
            return;
        }
        if self.open.len() >= MAX_OPEN {
            self.open.remove(0);
        }
        self.open.push(Open {
            action: AssessedAction {
                action: stored_sketch(action.action),
                ..action
            },
            has_run: false,
        });
    }

    /// Records the end of a call. Returns whether it ran and has a hard finding whose permission is unknown.
    pub(crate) fn ended(&mut self, call: &str, failed: bool) -> bool {
        if failed {
            self.open.retain(|open| open.action.call.as_deref() != Some(call));
            return false;
        }
        let open = self
            .open
            .iter_mut()
            .find(|open| open.action.call.as_deref() == Some(call));
        open.is_some_and(|open| {
            open.has_run = true;
            true
        })
    }

    /// Whether the permission for this call is unknown.
    pub(crate) fn is_open(&self, call: &str) -> bool {
        let mut open = self.open.iter();
        open.any(|open| open.action.call.as_deref() == Some(call))
    }

    /// Whether the user was asked about this call and it ran.
    pub(crate) fn was_allowed(&self, call: &str) -> bool {
        self.asked.get(call) == Some(&true)
    }

    /// Whether the user was asked about this call and it is not known to have run.
    pub(crate) fn may_be_refused(&self, call: &str) -> bool {
        self.asked.get(call) == Some(&false)
    }

    /// Records calls that the user was asked about. Returns the open actions that were allowed.
    pub(crate) fn asked(&mut self, calls: &[AskedCall]) -> Vec<AssessedAction> {
        for call in calls {
            if self.asked.len() >= MAX_ASKED && !self.asked.contains_key(&call.tool_use_id) {
                self.asked.pop_first();
            }
            let ran = self.asked.entry(call.tool_use_id.clone()).or_default();
            *ran |= call.ran;
        }
        self.answered()
    }

    /// Removes and returns the open actions that the user was asked about and that ran.
    pub(crate) fn answered(&mut self) -> Vec<AssessedAction> {
        let is_asked = |open: &Open| {
            open.action
                .call
                .as_ref()
                .is_some_and(|call| self.asked.contains_key(call))
        };
        let allowed = self.open.extract_if(.., |open| open.has_run && is_asked(open));
        allowed.map(|open| open.action).collect()
    }
}
