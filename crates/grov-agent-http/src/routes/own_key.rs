//! The caller's own key.

use crate::caller::Caller;
use axum::Json as Answer;
use grov_agent::{KeyRole, ProjectId};
use serde::Serialize;
use utoipa::ToSchema;

/// What the key of the request may do.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OwnKey {
    /// The name that `decided_by` shows.
    name: String,
    /// The role.
    role: KeyRole,
    /// The projects that it may see; empty for all.
    projects: Vec<ProjectId>,
}

/// Shows what the key of the request may do.
#[utoipa::path(get, path = "/key", tag = "operation", responses((status = 200, body = OwnKey)))]
pub(crate) async fn show(caller: Caller) -> Answer<OwnKey> {
    Answer(OwnKey {
        name: caller.name().to_owned(),
        role: caller.role(),
        projects: caller.projects().to_vec(),
    })
}
