//! The files of the pages, which are part of the program.

use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

/// The style sheet.
pub const STYLE: &str = include_str!("../assets/style.css");
/// The script: live updates and the keyboard.
const SCRIPT: &str = include_str!("../assets/grov.js");
/// htmx 2.0.11, 0BSD: replaces parts of a page.
const HTMX: &str = include_str!("../assets/htmx.min.js");
/// The icon.
pub const ICON: &str = include_str!("../assets/icon.svg");

/// The files change with the program only.
const CACHE: &str = "private, max-age=600";

/// Returns a file.
pub(crate) async fn serve(Path(name): Path<String>) -> Response {
    let javascript = "text/javascript; charset=utf-8";
    let (kind, text) = match name.as_str() {
        "style.css" => ("text/css; charset=utf-8", STYLE),
        "grov.js" => (javascript, SCRIPT),
        "htmx.js" => (javascript, HTMX),
        "icon.svg" => ("image/svg+xml", ICON),
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    (
        [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, CACHE)],
        text,
    )
        .into_response()
}
