//! Limits that the user set, as a model reads them.
//!
//! Rules understand the limits that are said in usual words. A model understands the others, too, and says by which files,
//! commands and lines a program sees that an action breaks one.

use crate::{ClientSessionId, StoreError};
use async_trait::async_trait;
use grov_redact::Redacted;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

/// A limit, with the signs of its breach.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReadLimit {
    /// The user's words.
    pub words: String,
    /// Globs of files that must not change.
    pub files: Vec<String>,
    /// Globs of the files that alone may change.
    pub only: Vec<String>,
    /// Globs of files that it spares.
    pub except: Vec<String>,
    /// Regular expressions, searched in a command line.
    pub commands: Vec<String>,
    /// Regular expressions, searched in each line that an edit adds.
    pub adds: Vec<String>,
    /// Regular expressions, searched in each line that an edit removes or changes.
    pub removes: Vec<String>,
}

/// The question which limits the user set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LimitsQuestion {
    /// The prompts, oldest first; a later one may lift a limit.
    pub prompts: Vec<String>,
}

/// The limits of a client session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// The client session.
    pub client_session_id: ClientSessionId,
    /// The newest prompt that was read.
    pub read_to: String,
    /// The limits after it.
    pub limits: Vec<ReadLimit>,
    /// When they were read.
    pub read_at: OffsetDateTime,
}

/// Stores what a model reads of the user's limits.
#[async_trait]
pub trait LimitStore: Send + Sync {
    /// Saves the limits of a client session; replaces the earlier ones.
    async fn save_read_limits(&self, limits: &Redacted<ReadLimits>) -> Result<(), StoreError>;
    /// Returns the limits of a client session; `None` if no model read them.
    async fn read_limits(&self, session: &ClientSessionId) -> Result<Option<ReadLimits>, StoreError>;
}
