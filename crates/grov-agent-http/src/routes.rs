//! The routes.

mod chat;
mod documents;
mod health;
mod memory;
mod openapi;
mod own_key;
mod projects;
mod search;
mod sharing;
mod threads;
mod tool_calls;
mod tools_result;
mod ui;

use crate::gate;
use crate::problem::{Code, Problem};
use crate::service::Service;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{delete, get, post, put};

/// The whole API.
pub fn router(service: Service) -> Router {
    Router::new()
        .route("/health", get(health::health))
        .route("/metrics", get(health::metrics))
        .route("/key", get(own_key::show))
        .route("/ui", get(ui::page))
        .route("/ui/", get(ui::page))
        .route("/ui/{file}", get(ui::file))
        .route("/docs", get(openapi::page))
        .route("/docs/", get(openapi::page))
        .route("/docs/openapi.json", get(openapi::document))
        .route("/docs/{file}", get(openapi::file))
        .route("/projects", post(projects::create).get(projects::list))
        .route(
            "/projects/{project}",
            get(projects::show)
                .patch(projects::update)
                .delete(projects::remove),
        )
        .merge(document_routes())
        .merge(memory_routes())
        .merge(sharing_routes())
        .route("/chat", post(chat::chat))
        .route("/tools/result", post(tools_result::result))
        .route("/tool_calls", get(tool_calls::list))
        .route("/tool_calls/{call}", get(tool_calls::show))
        .route("/tool_calls/{call}/approve", post(tool_calls::approve))
        .route("/tool_calls/{call}/reject", post(tool_calls::reject))
        .route("/threads", get(threads::list))
        .route("/threads/{thread}", delete(threads::remove))
        .route("/threads/{thread}/messages", get(threads::messages))
        .fallback(no_such_path)
        .method_not_allowed_fallback(no_such_method)
        // The gate has read the body within the limit already.
        .layer(DefaultBodyLimit::disable())
        .layer(axum::middleware::from_fn_with_state(service.clone(), gate::pass))
        .with_state(service)
}

fn document_routes() -> Router<Service> {
    Router::new()
        .route(
            "/projects/{project}/docs",
            post(documents::upload).get(documents::list),
        )
        .route(
            "/projects/{project}/docs/{document}",
            get(documents::show).delete(documents::remove),
        )
        .route(
            "/projects/{project}/docs/{document}/chunks",
            get(documents::chunks),
        )
        .route("/projects/{project}/search", get(search::search))
}

fn memory_routes() -> Router<Service> {
    Router::new()
        .route("/projects/{project}/situation", get(memory::situation))
        .route(
            "/projects/{project}/memory",
            get(memory::list).post(memory::propose),
        )
        .route(
            "/projects/{project}/memory/{item}",
            get(memory::show)
                .patch(memory::edit)
                .put(sharing::put_item)
                .delete(sharing::delete_item),
        )
        .route("/projects/{project}/memory/{item}/approve", post(memory::approve))
        .route("/projects/{project}/memory/{item}/reject", post(memory::reject))
        .route("/projects/{project}/memory/{item}/done", post(memory::done))
        .route("/projects/{project}/memory/{item}/block", post(memory::block))
        .route("/projects/{project}/memory/{item}/resume", post(memory::resume))
        .route(
            "/projects/{project}/memory/{item}/supersede",
            post(memory::supersede),
        )
        .route(
            "/projects/{project}/preferences",
            get(memory::preferences).post(memory::add_preference),
        )
        .route(
            "/projects/{project}/lessons",
            get(memory::lessons).post(memory::add_lesson),
        )
}

fn sharing_routes() -> Router<Service> {
    Router::new()
        .route("/projects/{project}/changes", get(sharing::changes))
        .route(
            "/projects/{project}/tasks/{task}",
            put(sharing::put_task).delete(sharing::delete_task),
        )
}

async fn no_such_path() -> Problem {
    Problem::not_found("path; /docs lists all paths")
}

async fn no_such_method() -> Problem {
    let detail = "the path exists, but not with this method; /docs lists the methods of each path";
    Problem::new(Code::MethodNotAllowed, detail)
}
