//! What the recorder keeps in mind of each client session.

use super::steps::PerformedAction;
use grov_domain::{AgentId, Project};
use std::collections::VecDeque;

/// Prompts remembered per session: repeats come within minutes of the original.
const MAX_PROMPTS: usize = 64;

/// Lineages per session whose unconfirmed steps are kept.
const MAX_UNCONFIRMED: usize = 64;

/// One client session.
#[derive(Default)]
pub(super) struct RecordedSession {
    pub(super) project: Project,
    pub(super) user: Option<String>,
    pub(super) working_directory: Option<String>,
    /// How often the directory was looked for in vain.
    pub(super) searches: u8,
    /// Keys of the newest prompts.
    prompts: VecDeque<u128>,
    /// Whole tool calls of a broken answer, per subagent: nobody knows yet whether the client ran them.
    unconfirmed: Vec<(Option<AgentId>, Vec<PerformedAction>)>,
}

impl RecordedSession {
    /// Whether this prompt is seen for the first time; it is remembered.
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
