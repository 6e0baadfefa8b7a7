//! The service's page: a client of the API in the browser, with the look of the dashboard. It needs no key itself: the key goes with
//! the requests that it makes. Nothing is loaded from the network.

use crate::problem::Problem;
use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use http::header;

const PAGE: &str = include_str!("../../assets/ui.html");
const SCRIPT: &str = include_str!("../../assets/ui.js");
// One look for both pages.
const STYLE: &str = include_str!("../../../grov-dashboard/assets/style.css");
const ICON: &str = include_str!("../../../grov-dashboard/assets/icon.svg");

/// Files and requests of this origin only, no inline code, no frame around it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// The page.
pub(crate) async fn page() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, PAGE).into_response()
}

/// The files of the page.
pub(crate) async fn file(Path(name): Path<String>) -> Result<Response, Problem> {
    let (kind, text) = match name.as_str() {
        "app.js" => ("text/javascript; charset=utf-8", SCRIPT),
        "style.css" => ("text/css; charset=utf-8", STYLE),
        "icon.svg" => ("image/svg+xml", ICON),
        _ => return Err(Problem::not_found("path")),
    };
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    Ok((headers, text).into_response())
}
