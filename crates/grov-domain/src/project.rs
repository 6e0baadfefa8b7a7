//! Which project a session works on.

use serde::{Deserialize, Serialize};

/// A project as recorded with each exchange.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    /// The key under which records are kept on this machine: the folder that holds the repository's git common
    /// directory, so that worktrees share it; the directory itself outside git; a literal key for imports. `None`: unknown.
    pub path: Option<String>,
    /// The remote's address without credentials: the key that teammates share.
    pub remote: Option<String>,
}

impl Project {
    /// The key, or `""` while the project is unknown (records are re-homed when it becomes known).
    pub fn key(&self) -> &str {
        self.path.as_deref().unwrap_or("")
    }
}
