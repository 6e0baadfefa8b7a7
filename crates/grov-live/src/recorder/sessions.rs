//! The recorder's state of a client session.

use super::steps::PerformedAction;
use grov_domain::{AgentId, Project};
use std::collections::VecDeque;

/// Prompts remembered per session. Requests are repeated within minutes.
const MAX_PROMPTS: usize = 64;

/// Lineages per session with unconfirmed steps.
const MAX_UNCONFIRMED: usize = 64;

/// A client session.
#[derive(Default)]
pub(super) struct RecordedSession {
    pub(super) project: Project,
    pub(super) user: Option<String>,
    pub(super) working_directory: Option<String>,
    /// Requests searched for the directory without success.
    pub(super) searches: u8,
    /// Keys of the newest prompts.
    prompts: VecDeque<u128>,
    /// Complete tool calls of incomplete answers, by subagent. It is unknown whether the client ran them.
    unconfirmed: Vec<(Option<AgentId>, Vec<PerformedAction>)>,
}

impl RecordedSession {
    /// Returns whether this prompt is new, and remembers it.
    pub(super) fn is_new_prompt(&mut self, key: u128) -> bool {
        if self.prompts.contains(&key) {
            return false;
        }
        if self.prompts.len() >= MAX_PROMPTS {
            self.prompts.pop_front();
        }
        self.prompts.push_back(key);
        true
    }

    pub(super) fn keep_unconfirmed(&mut self, agent: Option<AgentId>, steps: Vec<PerformedAction>) {
        if self.unconfirmed.len() >= MAX_UNCONFIRMED {
            self.unconfirmed.remove(0);
        }
        self.unconfirmed.push((agent, steps));
    }

    pub(super) fn take_unconfirmed(&mut self, agent: Option<&AgentId>) -> Vec<PerformedAction> {
        let mut taken = Vec::new();
        self.unconfirmed.retain_mut(|(owner, steps)| {
            if owner.as_ref() == agent {
                taken.append(steps);
                false
            } else {
                true
            }
        });
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_new_once() {
        let mut session = RecordedSession::default();
        assert!(session.is_new_prompt(1));
        assert!(!session.is_new_prompt(1));
        assert!(session.is_new_prompt(2));
    }

    #[test]
    fn unconfirmed_steps_go_to_their_own_lineage() {
        let mut session = RecordedSession::default();
        session.keep_unconfirmed(Some(AgentId::new("a")), Vec::new());
        assert!(session.take_unconfirmed(None).is_empty());
        assert_eq!(session.unconfirmed.len(), 1);
        session.take_unconfirmed(Some(&AgentId::new("a")));
        assert!(session.unconfirmed.is_empty());
    }
}
