//! The injection ledger. Text that was added to a request once is added to every later request of that history, byte
//! for byte and at the same place, so that the prompt cache stays valid.
//!
//! [`Injection`] is the policy. It asks its [`ContextSource`]s once per injection point and stores the decision,
//! including "nothing". Text that is not stored is not added. Lineages are kept in memory after their first request. A
//! forked session adopts the decisions for the history that it shares.

mod cache_use;
mod cache_window;
mod clear_summary;
mod clearing;
mod cut_choice;
mod history;
mod late;
mod ledger_writer;
mod lineage_state;
mod policy;
mod shared;
mod slot;
mod trim;
mod trimming;

#[cfg(test)]
mod tests;

pub use clearing::{ClearSettings, ContextClearing, ReadySummary, SummarySource, Window};
pub use cut_choice::InputPrices;
pub use policy::{ContextEdits, Injection, InjectionWorker};
#[cfg(test)]
pub(crate) use shared::Timeouts;

use crate::project_locator::Location;
use async_trait::async_trait;
use bytes::Bytes;
use grov_domain::{CutStore, LedgerStore, Lineage, Redacted, SwitchStore, TaskId};
use memchr::memmem;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The stores that the ledger needs.
pub trait LedgerBackend: LedgerStore + CutStore + SwitchStore {}

impl<T: LedgerStore + CutStore + SwitchStore> LedgerBackend for T {}

/// A place in a conversation where text can be added.
#[derive(Clone, Debug)]
pub struct InjectionPoint {
    /// The message list.
    pub lineage: Lineage,
    /// The project.
    pub location: Arc<Location>,
    /// What the user typed since the last answer, redacted. Empty inside a tool loop.
    pub prompt: String,
    /// Tool results at this point. Empty outside a tool loop.
    pub answered: Vec<ToolResult>,
    /// Whether the conversation begins: no answer yet, and no summary of an earlier one.
    pub begins: bool,
    /// The request's body, which [`InjectionPoint::has_call`] searches.
    pub body: Bytes,
    /// Memories that this history already quotes.
    pub quoted: HashSet<TaskId>,
    /// Text that arrives after this is not added.
    pub deadline: Instant,
}

/// A tool result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolResult {
    /// The id of the tool call.
    pub tool_use_id: String,
    /// Whether the tool reported an error or the call was denied.
    pub failed: bool,
}

impl InjectionPoint {
    /// Returns whether this history has a tool call. Searches the body, which is slow.
    pub fn has_call(&self, tool_use_id: &str) -> bool {
        let is_here = |result: &ToolResult| result.tool_use_id == tool_use_id;
        let quoted = format!("\"{tool_use_id}\"");
        self.answered.iter().any(is_here) || memmem::find(&self.body, quoted.as_bytes()).is_some()
    }
}

/// Text to add to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextText {
    /// The text, from its first line ([`grov_domain::OWN_TEXT_OPENING`]) to its last
    /// ([`grov_domain::OWN_TEXT_CLOSING`]).
    pub text: Redacted,
    /// Memories that it quotes. Forgetting one removes the text.
    pub memories: Vec<TaskId>,
}

/// A source of text for requests.
#[async_trait]
pub trait ContextSource: Send + Sync + 'static {
    /// Returns the name for log lines.
    fn name(&self) -> &'static str;

    /// Returns whether it may have text for this point. Must not block.
    fn applies(&self, point: &InjectionPoint) -> bool;

    /// Returns the text for this point. Text after the deadline is dropped. Called once per point, and once more for a
    /// prompt if the text came too late and [`ContextSource::is_useful_later`].
    async fn context(&self, point: &InjectionPoint) -> Option<ContextText>;

    /// Returns whether text for a prompt that came too late is still useful at the next injection point of the same turn.
    fn is_useful_later(&self) -> bool {
        self.answers_within().is_some()
    }

    /// The time that it needs to answer, if a request cannot wait that long: then it is asked once the request has gone out,
    /// and its text waits for the next injection point of the same turn.
    fn answers_within(&self) -> Option<Duration> {
        None
    }

    /// Returns whether its text is memory. A person is told how often memory came too late.
    fn is_memory(&self) -> bool {
        false
    }

    /// Called when the text is stored and will be part of every later request of this history.
    fn delivered(&self, _point: &InjectionPoint) {}

    /// Called when the last text was withdrawn before the agent read it, or the request with it was rejected.
    fn withdrawn(&self, _lineage: &Lineage) {}
}

crate::counters! {
    /// The counters of the ledger.
    pub struct Counters {
        /// Texts added for the first time.
        added,
        /// Blocks added again.
        repeated,
        /// Injection points at which nothing was added.
        nothing,
        /// Texts that came too late.
        late,
        /// Texts that came too late and were added at the next injection point of their turn.
        added_later,
        /// Prompts for which memory was searched.
        memory_asked,
        /// Prompts whose memory came too late for their request.
        memory_late,
        /// Prompts whose memory came too late and was added later in the same turn.
        memory_added_later,
        /// Texts that could not be stored.
        not_kept,
        /// Texts withdrawn because they would invalidate the cached prompt.
        withdrawn,
        /// Contexts cleared: requests without the beginning of their history for the first time.
        cleared,
        /// Contexts that were full before a summary was ready.
        no_summary,
        /// Full contexts that were not cleared, because it does not pay.
        not_worth_clearing,
        /// Results of tools replaced for the first time.
        trimmed,
        /// Requests without their earlier text, because the store did not answer.
        not_loaded,
        /// Requests without new text, because their directory was not resolved in time.
        not_located,
        /// Ledger updates that were lost.
        notes_lost,
    }
}
