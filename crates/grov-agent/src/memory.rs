//! Governed memory: proposals, and what they contradict. The items themselves are in `grov-domain`.

mod contradiction;
mod propose;

pub(crate) use contradiction::{KnownItem, contradicts};
pub use grov_domain::{
    ChangeRefused, Evidence, EvidenceKind, MemoryChange, MemoryItem, MemoryStatus, MemoryType,
};
pub use propose::{Proposal, ProposeFailed, Proposed, propose};
pub(crate) use propose::{ProposedAt, build, known_items, whole_micros};

use time::Duration;

/// How long a metric lives if nothing else is said.
pub const METRIC_LIFETIME: Duration = Duration::days(7);
