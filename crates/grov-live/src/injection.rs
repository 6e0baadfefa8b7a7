//! The injection ledger: what is said to an agent once is said again with every later request of that history, byte for
//! byte and at the same place, so that the prompt cache never notices.
//!
//! [`Injection`] is the policy. It asks its [`ContextSource`]s once for each place where something can be said, and keeps
//! what was decided, "nothing" included, in a store: what is not kept is not said. Lineages are held in memory from the
//! first sight on; a session that was forked off another takes over what was decided for the history they share.

mod cache_window;
mod ledger_writer;
mod lineage_state;
mod policy;
mod shared;
mod slot;

#[cfg(test)]
mod tests;

pub use policy::{Injection, InjectionWorker};

use crate::project_locator::Location;
use async_trait::async_trait;
use bytes::Bytes;
use grov_domain::{LedgerStore, Lineage, Redacted, SwitchStore, TaskId};
use memchr::memmem;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// What the ledger needs of a store.
pub trait LedgerBackend: LedgerStore + SwitchStore {}

impl<T: LedgerStore + SwitchStore> LedgerBackend for T {}

/// A place in a conversation where something can be said.
#[derive(Clone, Debug)]
pub struct InjectionPoint {
    /// Whose conversation.
    pub lineage: Lineage,
    /// The project it is about.
    pub location: Arc<Location>,
    /// What the user typed since the agent last spoke, without secrets; empty inside a tool loop.
    pub prompt: String,
    /// Tool calls whose results stand here; empty outside a tool loop.
    pub answered: Vec<ToolResult>,
    /// A conversation begins: nobody has answered yet, and nothing was summed up.
    pub begins: bool,
    /// The request's body, see [`InjectionPoint::has_call`].
    pub body: Bytes,
    /// Memories that this history quotes already.
    pub quoted: HashSet<TaskId>,
    /// Later than this nothing can be said.
    pub deadline: Instant,
}

/// A tool call whose result stands at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolResult {
    /// The call.
    pub tool_use_id: String,
    /// The tool reported an error, or the call was denied.
    pub failed: bool,
}

impl InjectionPoint {
    /// Whether this history holds a tool call. The body is searched for it, so only ask where it matters.
    pub fn has_call(&self, tool_use_id: &str) -> bool {
        let is_here = |one: &ToolResult| one.tool_use_id == tool_use_id;
        let quoted = format!("\"{tool_use_id}\"");
        self.answered.iter().any(is_here) || memmem::find(&self.body, quoted.as_bytes()).is_some()
    }
}

/// Something to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextText {
    /// The text, from its first line ([`grov_domain::OWN_TEXT_OPENING`]) to its last
    /// ([`grov_domain::OWN_TEXT_CLOSING`]).
    pub text: Redacted,
    /// Memories it quotes: forgetting one takes the text away.
    pub memories: Vec<TaskId>,
}

/// Where new text comes from.
#[async_trait]
pub trait ContextSource: Send + Sync + 'static {
    /// Name for the log.
    fn name(&self) -> &'static str;

    /// Whether it may have something to say here. From memory only.
    fn applies(&self, point: &InjectionPoint) -> bool;

    /// What it has to say. It is asked once for each place, and what comes after the deadline is never used.
    async fn context(&self, point: &InjectionPoint) -> Option<ContextText>;

    /// What it had to say is kept, and stands in every request of this history from now on.
    fn delivered(&self, _occasion: &InjectionPoint) {}

    /// What was said here last was taken back before anybody read it, or the request that held it was refused.
    fn withdrawn(&self, _lineage: &Lineage) {}
}

/// What the ledger counts.
#[derive(Debug, Default)]
pub struct Counters {
    added: AtomicU64,
    repeated: AtomicU64,
    nothing: AtomicU64,
    late: AtomicU64,
    not_kept: AtomicU64,
    withdrawn: AtomicU64,
    not_loaded: AtomicU64,
    not_located: AtomicU64,
    notes_lost: AtomicU64,
}

impl Counters {
    /// The counters by name.
    pub fn all(&self) -> [(&'static str, u64); 9] {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        [
            // Texts said for the first time.
            ("added", read(&self.added)),
            // Blocks said again.
            ("repeated", read(&self.repeated)),
            // ProjectLocator where there was nothing to say.
            ("nothing", read(&self.nothing)),
            // Texts that came too late.
            ("late", read(&self.late)),
            // Texts that were not said because the store did not take them.
            ("not_kept", read(&self.not_kept)),
            // Texts taken back because they would have cost cached prompt.
            ("withdrawn", read(&self.withdrawn)),
            // Requests that went out without what was said before, because the store did not answer.
            ("not_loaded", read(&self.not_loaded)),
            // Requests to which nothing new could be said because their directory was not looked at in time.
            ("not_located", read(&self.not_located)),
            // Notes about lineages that were lost.
            ("notes_lost", read(&self.notes_lost)),
        ]
    }
}
