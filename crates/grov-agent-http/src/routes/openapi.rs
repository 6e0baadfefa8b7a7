//! The OpenAPI document and a page that shows it. The page loads nothing from the network.

use super::{
    chat, documents, health, memory, own_key, projects, search, sharing, threads, tool_calls, tools_result,
};
use crate::problem::Problem;
use axum::Json;
use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use http::header;
use std::sync::Arc;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, SecurityScheme};
use utoipa::{Modify, OpenApi};
use utoipa_swagger_ui::Config;

/// The API, from the types and routes.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Grov agent service",
        description = "A project's knowledge, decisions and tools behind one API. Errors are application/problem+json. \
                       `Idempotency-Key` is honoured on every POST for 24 hours."
    ),
    paths(
        health::health, health::metrics, own_key::show, projects::create, projects::list, projects::show, projects::update,
        projects::remove, documents::upload, documents::list, documents::show, documents::chunks, documents::remove,
        search::search, chat::chat, tools_result::result, tool_calls::list, tool_calls::show, tool_calls::approve,
        tool_calls::reject, threads::list, threads::messages, threads::remove, memory::situation, memory::list,
        memory::propose::propose, memory::show, memory::edit, memory::approve, memory::reject, memory::done,
        memory::block, memory::resume, memory::propose::supersede, memory::legacy::preferences,
        memory::legacy::add_preference, memory::legacy::lessons, memory::legacy::add_lesson, sharing::changes, sharing::put_item,
        sharing::delete_item, sharing::put_task, sharing::delete_task
    ),
    components(schemas(documents::DocumentForm)),
    modifiers(&KeyHeader),
    security(("key" = []))
)]
struct Api;

/// The key as a security scheme.
struct KeyHeader;

impl Modify for KeyHeader {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let scheme = SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::new("X-AGENT-KEY")));
        let components = openapi.components.get_or_insert_default();
        components.add_security_scheme("key", scheme);
    }
}

/// The OpenAPI document.
pub(crate) async fn document() -> Json<utoipa::openapi::OpenApi> {
    Json(Api::openapi())
}

const PAGE: &str = r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Grov agent service</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="icon" href="data:,">
</head>
<body>
<div id="swagger-ui"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
"#;

const START: &str = r##"window.ui = SwaggerUIBundle({url: "/docs/openapi.json", dom_id: "#swagger-ui", deepLinking: true});
"##;

/// Nothing but the page's own files may be loaded, and no other site may frame it.
const POLICY: &str =
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'";

/// The page.
pub(crate) async fn page() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
    ];
    (headers, PAGE).into_response()
}

/// The files of the page.
pub(crate) async fn file(Path(name): Path<String>) -> Result<Response, Problem> {
    if name == "start.js" {
        return Ok(([(header::CONTENT_TYPE, "text/javascript")], START).into_response());
    }
    let file = utoipa_swagger_ui::serve(&name, Arc::new(Config::from("/docs/openapi.json")));
    match file {
        Ok(Some(file)) => {
            let headers = [(header::CONTENT_TYPE, file.content_type)];
            Ok((headers, file.bytes.into_owned()).into_response())
        }
        Ok(None) => Err(Problem::not_found("path")),
        Err(error) => {
            tracing::error!(%error, "a file of the documentation page cannot be read");
            Err(Problem::unavailable("the documentation page cannot be shown"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_is_openapi_3_1_and_every_path_but_the_health_needs_the_key() {
        let document = serde_json::to_value(Api::openapi()).unwrap();
        assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
        assert_eq!(
            document["components"]["securitySchemes"]["key"]["name"],
            "X-AGENT-KEY"
        );
        let paths = document["paths"].as_object().unwrap();
        assert!(paths.len() > 20);
        for (path, methods) in paths {
            for (method, operation) in methods.as_object().unwrap() {
                let is_open = operation.get("security").is_some();
                assert_eq!(is_open, path == "/health", "{method} {path}");
                assert!(operation["summary"].as_str().is_some(), "{method} {path}");
            }
        }
    }

    #[test]
    fn every_reference_has_its_schema() {
        let document = serde_json::to_value(Api::openapi()).unwrap();
        let text = document.to_string();
        for reference in text.split(r##""$ref":"#/components/schemas/"##).skip(1) {
            let name = reference.split('"').next().unwrap();
            assert!(document["components"]["schemas"].get(name).is_some(), "{name}");
        }
    }
}
