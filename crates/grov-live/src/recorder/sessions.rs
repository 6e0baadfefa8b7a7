//! The recorder's state of a client session.

use super::steps::PerformedAction;
use grov_domain::{AgentId, Project};
use hashlink::LruCache;

/// Prompts remembered per session. Requests are repeated within minutes.
const MAX_PROMPTS: usize = 64;

/// Lineages per session with unconfirmed steps.
const MAX_UNCONFIRMED: usize = 64;

/// A client session.
pub(super) struct RecordedSession {
    pub(super) project: Project,
    pub(super) user: Option<String>,
    pub(super) working_directory: Option<String>,
    /// Requests searched for the directory without success.
    pub(super) searches: u8,
    /// Whether hooks record it. Once they do, they do until the end.
    pub(super) is_hooked: bool,
    /// Keys of the newest prompts.
    prompts: LruCache<u128, ()>,
    /// Complete tool calls of incomplete answers, by subagent. It is unknown whether the client ran them.
    unconfirmed: LruCache<Option<AgentId>, Vec<PerformedAction>>,
}

impl Default for RecordedSession {
    fn default() -> Self {
        Self {
            project: Project::default(),
            user: None,
            working_directory: None,
            searches: 0,
            is_hooked: false,
            prompts: LruCache::new(MAX_PROMPTS),
            unconfirmed: LruCache::new(MAX_UNCONFIRMED),
        }
    }
}

impl RecordedSession {
    /// Returns whether this prompt is new, and remembers it.
    pub(super) fn is_new_prompt(&mut self, key: u128) -> bool {
        self.prompts.insert(key, ()).is_none()
    }

    pub(super) fn keep_unconfirmed(&mut self, agent: Option<AgentId>, steps: Vec<PerformedAction>) {
        self.unconfirmed.insert(agent, steps);
    }

    pub(super) fn take_unconfirmed(&mut self, agent: &Option<AgentId>) -> Vec<PerformedAction> {
        self.unconfirmed.remove(agent).unwrap_or_default()
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
        assert!(session.take_unconfirmed(&None).is_empty());
        assert_eq!(session.unconfirmed.len(), 1);
        session.take_unconfirmed(&Some(AgentId::new("a")));
        assert!(session.unconfirmed.is_empty());
    }
}
