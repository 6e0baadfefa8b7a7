//! What the recorder keeps in mind of each client session.

use super::steps::PerformedAction;
use grov_domain::{AgentId, ClientSessionId, Project};
use std::collections::{HashMap, VecDeque};
use time::OffsetDateTime;

/// Sessions kept in mind. The least recently used go first; a forgotten session only loses what guards against
/// counting a repeated request twice.
const MAX_SESSIONS: usize = 1024;

/// Prompts remembered per session: repeats come within minutes of the original.
const MAX_PROMPTS: usize = 64;

/// Lineages per session whose unconfirmed steps are kept.
const MAX_UNCONFIRMED: usize = 64;

/// All sessions in mind.
#[derive(Default)]
pub(super) struct Sessions {
    by_id: HashMap<ClientSessionId, RecordedSession>,
}

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
    used_at: Option<OffsetDateTime>,
}

impl Sessions {
    /// The session, new if it was not known.
    pub(super) fn session(&mut self, id: &ClientSessionId, now: OffsetDateTime) -> &mut RecordedSession {
        if !self.by_id.contains_key(id) && self.by_id.len() >= MAX_SESSIONS {
            self.forget_oldest();
        }
        let session = self.by_id.entry(id.clone()).or_default();
        session.used_at = Some(now);
        session
    }

    /// Forgets a quarter at once, so that the search for the oldest is rare.
    fn forget_oldest(&mut self) {
        let mut times: Vec<_> = self.by_id.values().map(|session| session.used_at).collect();
        times.sort_unstable();
        let Some(limit) = times.get(MAX_SESSIONS / 4).copied() else {
            return;
        };
        self.by_id.retain(|_, session| session.used_at > limit);
    }
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
    fn memory_is_bounded_and_the_newest_stay() {
        let mut sessions = Sessions::default();
        let start = OffsetDateTime::UNIX_EPOCH;
        for second in 0..3 * MAX_SESSIONS {
            let id = ClientSessionId::new(second.to_string());
            sessions.session(&id, start + time::Duration::seconds(second as i64));
        }
        assert!(sessions.by_id.len() <= MAX_SESSIONS);
        let newest = ClientSessionId::new((3 * MAX_SESSIONS - 1).to_string());
        assert!(sessions.by_id.contains_key(&newest));
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
