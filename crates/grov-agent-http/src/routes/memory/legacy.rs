//! Preferences and lessons: memory items of these types under their older names.

use super::propose::{create, plain};
use super::{MAX_CONTENT, items};
use crate::caller::Caller;
use crate::extract::{Checks, Ids, Json, Listing, PageParameters, Parameters};
use crate::once::Once;
use crate::problem::{Problem, ProblemBody};
use crate::service::Service;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json as Answer};
use grov_agent::{MemoryFilter, MemoryItem, MemoryType, ProjectId};
use http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

/// A new preference or lesson.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct LegacyItem {
    /// The words.
    content: String,
}

/// Declares the two handlers of a type.
macro_rules! legacy {
    ($kind:expr, $path:literal, $(#[$list_doc:meta])* $list:ident, $(#[$add_doc:meta])* $add:ident) => {
        $(#[$list_doc])*
        #[utoipa::path(
            get, path = $path, tag = "memory", params(("project" = ProjectId, Path), PageParameters),
            responses((status = 200, body = Listing<MemoryItem>), (status = 404, body = ProblemBody))
        )]
        pub(crate) async fn $list(
            State(service): State<Service>,
            caller: Caller,
            Ids(project): Ids<ProjectId>,
            Parameters(page): Parameters<PageParameters>,
        ) -> Result<Answer<Listing<MemoryItem>>, Problem> {
            let filter = MemoryFilter {
                types: vec![$kind],
                statuses: Vec::new(),
            };
            items(&service, &caller, project, &filter, page).await
        }

        $(#[$add_doc])*
        #[utoipa::path(
            post, path = $path, tag = "memory", params(("project" = ProjectId, Path)), request_body = LegacyItem,
            responses(
                (status = 201, body = MemoryItem), (status = 404, body = ProblemBody), (status = 422, body = ProblemBody)
            )
        )]
        pub(crate) async fn $add(
            State(service): State<Service>,
            caller: Caller,
            Ids(project): Ids<ProjectId>,
            once: Option<Extension<Once>>,
            Json(body): Json<LegacyItem>,
        ) -> Result<Response, Problem> {
            let mut checks = Checks::default();
            checks.text("/content", &body.content, MAX_CONTENT);
            checks.done()?;
            let new = plain($kind, body.content);
            let once = once.as_ref().map(|Extension(once)| once);
            let item = create(&service, &caller, project, new, once).await?;
            Ok((StatusCode::CREATED, Answer(item)).into_response())
        }
    };
}

legacy!(
    MemoryType::Preference, "/projects/{project}/preferences",
    /// Lists the preferences of the user: memory items of the type `preference`.
    preferences,
    /// Proposes a preference: a memory item of the type `preference`. Needs the role agent.
    add_preference
);
legacy!(
    MemoryType::Lesson, "/projects/{project}/lessons",
    /// Lists learned outcomes: memory items of the type `lesson`.
    lessons,
    /// Proposes a lesson: a memory item of the type `lesson`. Needs the role agent.
    add_lesson
);
