//! What the user's prompts forbid and ask for, as a model reads them.
//!
//! Rules understand what is said in usual words. A model understands the rest, too: it says by which files, commands and lines
//! a program sees that an action breaks a limit, and which dangerous actions the user wants.

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

/// A dangerous action that the user asks for or permits, so that it needs no question.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReadRequest {
    /// The user's words.
    pub words: String,
    /// Globs of files that the user wants removed, emptied or overwritten.
    pub files: Vec<String>,
    /// Regular expressions, searched in a command with its arguments.
    pub commands: Vec<String>,
}

/// What a model reads in the prompts of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PromptReading {
    /// The limits that the user set.
    pub limits: Vec<ReadLimit>,
    /// The dangerous actions that the user asks for or permits.
    pub asked: Vec<ReadRequest>,
}

/// The question which limits the user set, and which dangerous actions the user asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LimitsQuestion {
    /// The prompts, oldest first; a later one may lift a limit.
    pub prompts: Vec<String>,
}

/// What a model read in the prompts of a client session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// The client session.
    pub client_session_id: ClientSessionId,
    /// The newest prompt that was read.
    pub read_to: String,
    /// What holds after it.
    pub reading: PromptReading,
    /// When they were read.
    pub read_at: OffsetDateTime,
}

/// Stores what a model reads in prompts.
#[async_trait]
pub trait LimitStore: Send + Sync {
    /// Saves the reading of a client session; replaces the earlier one.
    async fn save_read_limits(&self, limits: &Redacted<ReadLimits>) -> Result<(), StoreError>;
    /// Returns the reading of a client session; `None` if no model read them.
    async fn read_limits(&self, session: &ClientSessionId) -> Result<Option<ReadLimits>, StoreError>;
}
