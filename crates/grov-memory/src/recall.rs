//! What is remembered for a prompt, ready to be told.

use grov_domain::Task;

/// A memory that fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Recalled {
    /// The memory.
    pub task: Task,
    /// As [`Found::score`](crate::Found::score).
    pub score: f64,
    /// Whether the files are still as it left them.
    pub freshness: Freshness,
}

/// Whether the files that a memory is about are still as it left them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Freshness {
    /// Nobody noted how it left them.
    #[default]
    Unknown,
    /// They are.
    Fresh,
    /// These have other content or are gone.
    Changed(Vec<String>),
}
