//! Misspelled markers that were seen, each logged once.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The most spellings that are remembered; later ones are not logged.
const MAX_SPELLINGS: usize = 32;

/// Misspelled markers of requests that went to Anthropic.
#[derive(Debug, Default)]
pub(crate) struct NearMisses(Mutex<BTreeSet<String>>);

impl NearMisses {
    /// Logs a spelling unless it was logged before.
    pub(crate) fn note(&self, spelling: &str) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < MAX_SPELLINGS && known.insert(spelling.to_owned()) {
            tracing::warn!(
                spelling,
                "a system prompt has a misspelled marker, so that its requests go where unmarked ones go; `grov route \
                 agent` writes the exact marker"
            );
        }
    }

    /// The spellings so far.
    pub(crate) fn all(&self) -> Vec<String> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().cloned().collect()
    }
}
