//! The pages, one module each.

mod answers;
mod drift;
mod edits;
mod inbox;
mod memory;
mod memory_edit;
mod misses;
mod now;
mod request;
mod routes;
mod service;
mod session;
mod sign_out;

use crate::Site;
use axum::Router;
use axum::routing::{get, post};

/// The pages that need a session.
pub(crate) fn routes() -> Router<Site> {
    Router::new()
        .route("/_grov/ui", get(now::page))
        .route("/_grov/ui/", get(now::page))
        .route("/_grov/ui/sessions/{id}", get(session::page))
        .route("/_grov/ui/sessions/{id}/requests/{request}", get(request::page))
        .route("/_grov/ui/memory", get(memory::list))
        .route("/_grov/ui/memory/{id}", get(memory::one))
        .route("/_grov/ui/memory/{id}/edit", post(memory_edit::edit))
        .route("/_grov/ui/memory/{id}/supersede", post(memory_edit::supersede))
        .route("/_grov/ui/memory/{id}/forget", post(memory_edit::forget))
        .route("/_grov/ui/inbox", get(inbox::page))
        .route("/_grov/ui/inbox/{id}/{decision}", post(memory_edit::decide))
        .route("/_grov/ui/drift", get(drift::page))
        .route("/_grov/ui/drift/mark", post(drift::mark))
        .route("/_grov/ui/service", get(service::page))
        .route("/_grov/ui/cost", get(answers::cost))
        .route("/_grov/ui/routes", get(routes::page))
        .route("/_grov/ui/settings", get(answers::settings))
        .route("/_grov/ui/doctor", get(answers::doctor))
        .route("/_grov/ui/sign-out", post(sign_out::sign_out))
}
