//! Calls that the user was asked about before they ran. A call that ran all the same was allowed.

use crate::assessed_action::AssessedAction;
use grov_domain::{ActionSketch, AskedCall, beginning_of};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Actions that are kept until it is known whether the user was asked about them.
const MAX_OPEN: usize = 32;
/// Calls that the user was asked about, kept at most.
const MAX_ASKED: usize = 256;
/// So much of what an open action wrote is kept, in characters.
const MAX_CONTENT: usize = 400;

/// What the user was asked, and actions against a fact of which it is not known yet whether the user allowed them.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct Permissions {
    /// Whether a call that the user was asked about is known to have run.
    asked: BTreeMap<String, bool>,
    open: Vec<Open>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Open {
    action: AssessedAction,
    has_run: bool,
}

impl Permissions {
    /// An action that a fact is found of.
    pub(crate) fn add(&mut self, action: AssessedAction) {
        if action.call.is_none() {
            return;
        }
        if self.open.len() >= MAX_OPEN {
            self.open.remove(0);
        }
        let content = action.action.content.as_deref();
        let sketch = ActionSketch {
            content: content.map(|text| beginning_of(text, MAX_CONTENT).to_owned()),
            output: None,
            reasoning: None,
            ..action.action
        };
        self.open.push(Open {
            action: AssessedAction {
                action: sketch,
                ..action
            },
            has_run: false,
        });
    }

    /// A call ended. Whether it is one of the open ones and ran.
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

    /// Whether it is not known yet if the user allowed this call.
    pub(crate) fn is_open(&self, call: &str) -> bool {
        let mut open = self.open.iter();
        open.any(|open| open.action.call.as_deref() == Some(call))
    }

    /// Whether the user was asked about a call that is known to have run: they said yes.
    pub(crate) fn was_allowed(&self, call: &str) -> bool {
        self.asked.get(call) == Some(&true)
    }

    /// Whether the user was asked about a call that is not known to have run.
    pub(crate) fn may_be_refused(&self, call: &str) -> bool {
        self.asked.get(call) == Some(&false)
    }

    /// Takes in what the user was asked. Returns the open actions that ran all the same: the user said yes.
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

    /// The open actions that ran though the user was asked about them; they are open no more.
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
