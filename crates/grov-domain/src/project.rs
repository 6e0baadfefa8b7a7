//! The project of a session.

use serde::{Deserialize, Serialize};

/// A project as recorded with each exchange.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    /// The key of the project on this machine; `None` if unknown. In a repository, the folder that contains the git common
    /// directory, so that worktrees share the key; elsewhere the directory itself; for imports, any text.
    pub path: Option<String>,
    /// The URL of the remote without credentials: the key that teammates share.
    pub remote: Option<String>,
}

impl Project {
    /// Returns the key, or `""` if the project is unknown. Stored records are updated when it becomes known.
    pub fn key(&self) -> &str {
        self.path.as_deref().unwrap_or("")
    }
}
