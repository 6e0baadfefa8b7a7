//! Generates random client histories: the requests that Claude Code sends when sessions are resumed, forked, rewound,
//! cleared and compacted, requests are repeated, turns interrupted, results cleared and reminders moved, in both
//! message dialects.
//!
//! [`play`] turns [`Operation`]s into the requests that they cause, deterministically. Operations are decoded from
//! bytes ([`Operation::decode`]), so that a tool that generates and shrinks bytes generates and shrinks histories.
//!
//! The client does not depend on actual responses: answers are part of the operations.
//! [`CacheAudit`](crate::cache::CacheAudit) checks a proxy's changes to the requests.

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

/// An event on the wire.
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
    /// The index of the operation that caused it.
    pub operation: usize,
    /// The time.
    pub at: OffsetDateTime,
    /// The client's session.
    pub session: String,
    /// The subagent that sends it, if any.
    pub agent: Option<String>,
    /// Equal for all sessions and subagents whose histories have a common origin.
    pub family: usize,
    /// Its purpose.
    pub purpose: Purpose,
    /// The body.
    pub body: Bytes,
    /// Whether its response begins. Otherwise the request was refused, and none of it is cached.
    pub began: bool,
}

impl Sent {
    /// The headers that identify the request, and those that every request needs.
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

/// All events caused by these operations, in order.
pub fn play(operations: &[Operation]) -> Vec<Event> {
    client::Client::play(operations)
}

#[cfg(test)]
mod tests;
