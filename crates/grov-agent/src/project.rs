//! Projects and the keys that give access to them.

use crate::names::named;
use crate::{KeyId, ProjectId};
use grov_redact::FreeText;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

/// A project: the scope of documents, threads, tool calls and memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Project {
    /// The key.
    pub id: ProjectId,
    /// The name that people see.
    pub name: String,
    /// What the agent of this project is: the start of its system prompt.
    pub role_statement: String,
    /// When it was created.
    #[serde(with = "time::serde::rfc3339")]
    pub created_at: OffsetDateTime,
}

impl FreeText for Project {
    fn each_text(&mut self, visit: &mut dyn FnMut(&mut String)) {
        let Self {
            id: _,
            name,
            role_statement,
            created_at: _,
        } = self;
        visit(name);
        visit(role_statement);
    }
}

/// What a key may do. Each role includes the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum KeyRole {
    /// Reads.
    Reader,
    /// Chats, uploads documents, reports results of tool calls, proposes memory.
    Agent,
    /// Approves and rejects tool calls and memory.
    Approver,
    /// Creates, changes and deletes projects.
    Admin,
}

named!(KeyRole { Reader => "reader", Agent => "agent", Approver => "approver", Admin => "admin" });

/// A key of the API. Only a hash of the secret is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Key {
    /// The key's own id.
    pub id: KeyId,
    /// The name that `decided_by` shows.
    pub name: String,
    /// What it may do.
    pub role: KeyRole,
    /// The projects it may see; empty for all.
    pub projects: Vec<ProjectId>,
    /// When it was created.
    #[serde(with = "time::serde::rfc3339")]
    pub created_at: OffsetDateTime,
    /// When it was revoked.
    #[serde(with = "time::serde::rfc3339::option")]
    pub revoked_at: Option<OffsetDateTime>,
}

impl Key {
    /// Whether the key may see a project.
    pub fn sees(&self, project: ProjectId) -> bool {
        self.projects.is_empty() || self.projects.contains(&project)
    }
}
