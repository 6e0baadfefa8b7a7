//! Random lives of a client, as a producer of requests: what Claude Code sends when sessions are resumed, forked, rewound,
//! cleared and compacted, when requests are repeated, turns broken off, results cleared and reminders moved, in both
//! message dialects.
//!
//! [`play`] turns [`Operation`]s into the requests that they cause, always the same for the same operations. Operations
//! are made from bytes ([`Operation::decode`]), so that any tool that makes and shrinks bytes makes and shrinks histories.
//!
//! The client does not depend on what it is answered: answers are part of the operations. What a proxy makes of the
//! requests is judged with [`CacheAudit`](crate::cache::CacheAudit).

mod body;
mod client;
mod conversation;
mod operation;
mod transcript;

pub use body::{DIRECTORY, MODELS};
pub use operation::{Moment, Operation, Why};

use crate::request::Purpose;
use bytes::Bytes;
use time::OffsetDateTime;

/// What happens on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A request is sent.
    Sent(Sent),
    /// The proxy is restarted.
    Restart,
}

/// A request of the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The operation that caused it, by its number.
    pub operation: usize,
    /// When.
    pub at: OffsetDateTime,
    /// The client's session.
    pub session: String,
    /// The subagent, if it is one's.
    pub agent: Option<String>,
    /// The same for all sessions and subagents whose histories have a beginning in common that is no coincidence.
    pub family: usize,
    /// What it is for.
    pub purpose: Purpose,
    /// The body.
    pub body: Bytes,
    /// Its response begins. If not, it was refused, and nothing of it is cached.
    pub began: bool,
}

impl Sent {
    /// The headers by which the request is told apart, and those that every request needs.
    pub fn headers(&self) -> Vec<(&'static str, String)> {
        let mut headers = vec![
            ("anthropic-version", "2023-06-01".to_owned()),
            ("x-api-key", "sk-ant-simulated".to_owned()),
            ("x-claude-code-session-id", self.session.clone()),
        ];
        if let Some(agent) = &self.agent {
            headers.push(("x-claude-code-agent-id", agent.clone()));
        }
        headers
    }
}

/// Everything that is sent when these things happen one after the other.
pub fn play(operations: &[Operation]) -> Vec<Event> {
    client::Client::play(operations)
}

#[cfg(test)]
mod tests;
