//! Who makes a request, and what they may do.

use crate::problem::{Code, Problem};
use axum::extract::FromRequestParts;
use grov_agent::{Key, KeyId, KeyRole, ProjectId};
use http::request::Parts;
use std::sync::Arc;

/// The key of a request, checked before anything else is read.
#[derive(Clone, Debug)]
pub(crate) struct Caller(Arc<Key>);

impl Caller {
    pub(crate) fn new(key: Arc<Key>) -> Self {
        Self(key)
    }

    pub(crate) fn id(&self) -> KeyId {
        self.0.id
    }

    pub(crate) fn name(&self) -> &str {
        &self.0.name
    }

    /// The projects that it may see; empty for all.
    pub(crate) fn projects(&self) -> &[ProjectId] {
        &self.0.projects
    }

    pub(crate) fn role(&self) -> KeyRole {
        self.0.role
    }

    pub(crate) fn has(&self, role: KeyRole) -> bool {
        self.0.role >= role
    }

    /// Returns 403 unless the key has this role.
    pub(crate) fn needs(&self, role: KeyRole) -> Result<(), Problem> {
        if self.has(role) {
            return Ok(());
        }
        Err(Problem::new(
            Code::Forbidden,
            format!(
                "this needs a key with the role {role}, and the key {:?} has the role {}",
                self.0.name, self.0.role
            ),
        ))
    }

    /// Returns 404, as for a project that does not exist, unless the key may see it.
    pub(crate) fn sees(&self, project: ProjectId, what: &str) -> Result<(), Problem> {
        if self.0.sees(project) {
            Ok(())
        } else {
            Err(Problem::not_found(what))
        }
    }

    /// Returns 403 if the key is limited to some projects.
    pub(crate) fn needs_all_projects(&self) -> Result<(), Problem> {
        if self.0.projects.is_empty() {
            return Ok(());
        }
        let detail = "this needs a key that is not limited to some projects";
        Err(Problem::new(Code::Forbidden, detail))
    }
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        // The gate adds it to every request of a path that needs a key.
        let caller = parts.extensions.get::<Self>().cloned();
        caller.ok_or_else(|| Problem::new(Code::Unauthorized, "the header X-AGENT-KEY is missing"))
    }
}
