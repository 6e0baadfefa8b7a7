//! What the server needs from the program that runs it.

use crate::ExternalTools;
use grov_context::Thresholds;
use grov_domain::{Clock, MemoryScope, Project, StoreConnection};
use grov_session::IntentReader;
use std::io::BufRead;
use std::path::PathBuf;
use std::sync::Arc;

/// What the server needs from the program that runs it.
#[derive(Clone)]
pub struct Ports {
    /// The store.
    pub store: Arc<dyn StoreConnection>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Extracts the intent of prompts, for the goal.
    pub intents: IntentReader,
    /// The project of the client.
    pub project: Project,
    /// The working tree with its plans, if there is one.
    pub work_tree: Option<PathBuf>,
    /// How context windows are measured.
    pub context: ContextSettings,
    /// Opens a transcript of the client.
    pub open_transcript: fn(&str) -> Option<Box<dyn BufRead + Send>>,
    /// Runs external tools, if the client asked for them.
    pub external: Option<Arc<dyn ExternalTools>>,
}

/// How context windows are measured.
#[derive(Clone, Copy, Debug, Default)]
pub struct ContextSettings {
    /// The size of the window in tokens, if the user set it.
    pub window: Option<u64>,
    /// When a window counts as full.
    pub thresholds: Thresholds,
}

impl Ports {
    /// The memories of the project.
    pub(crate) fn scope(&self) -> MemoryScope {
        MemoryScope {
            project_path: self.project.key().to_owned(),
            project_remote: self.project.remote.clone(),
        }
    }
}
