//! The frame of all pages, errors as pages, and the headers that protect them.

use askama::Template;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};
use grov_domain::StoreError;

/// Scripts, styles, images and connections of this origin only; no inline code; no frame around it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

const HEADERS: &[(&str, &str)] = &[
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    // Forms need their origin, which stricter policies withhold.
    ("referrer-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
];

/// What the frame of a page shows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frame {
    /// The page's entry in the navigation.
    pub(crate) here: &'static str,
    /// The token for forms; empty without a session.
    pub(crate) token: String,
}

impl Frame {
    pub(crate) fn at(self, here: &'static str) -> Self {
        Self { here, ..self }
    }
}

/// An entry of the navigation: its name, path below the base, and key.
pub(crate) const NAVIGATION: &[(&str, &str, &str)] = &[
    ("Now", "", "n"),
    ("Memory", "/memory", "m"),
    ("Inbox", "/inbox", "i"),
    ("Drift", "/drift", "d"),
    ("Cost", "/cost", "c"),
    ("Routes", "/routes", "r"),
    ("Service", "/service", "s"),
    ("Settings", "/settings", "t"),
    ("Doctor", "/doctor", "h"),
];

#[derive(Template)]
#[template(path = "message.html")]
struct Message<'a> {
    frame: Frame,
    title: &'a str,
    text: &'a str,
    detail: Option<&'a str>,
}

/// Renders a page.
pub(crate) fn render(page: &impl Template) -> Response {
    match page.render() {
        Ok(html) => Html(html).into_response(),
        Err(error) => {
            tracing::error!(%error, "a page cannot be rendered");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// A page that says one thing.
pub(crate) fn message(status: StatusCode, title: &str, text: &str) -> Response {
    with_detail(status, title, text, None)
}

/// A page that says one thing, with a detail in a line of its own.
pub(crate) fn with_detail(status: StatusCode, title: &str, text: &str, detail: Option<&str>) -> Response {
    let page = Message {
        frame: Frame::default(),
        title,
        text,
        detail,
    };
    (status, render(&page)).into_response()
}

/// Answers a path without a page.
pub(crate) async fn not_found() -> Response {
    message(
        StatusCode::NOT_FOUND,
        "There is no such page",
        "The address is wrong, or what it showed was removed.",
    )
}

/// Why a page cannot be shown.
#[derive(Debug)]
pub(crate) enum PageError {
    /// The store failed.
    Store(StoreError),
    /// What the address names does not exist.
    Missing(&'static str),
}

impl From<StoreError> for PageError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let error = match self {
            Self::Missing(what) => {
                return message(
                    StatusCode::NOT_FOUND,
                    what,
                    "It was removed, or the address is wrong.",
                );
            }
            Self::Store(error) => error,
        };
        tracing::warn!(%error, "a page cannot be shown");
        let unavailable = StatusCode::SERVICE_UNAVAILABLE;
        let detail = error.to_string();
        let (title, text) = match &error {
            StoreError::Busy(_) => (
                "The database is busy",
                "Another program writes to it. Your agent's requests pass, and nothing is lost. Reload this page in a moment.",
            ),
            StoreError::NewerSchema { .. } => (
                "The database is newer than this daemon",
                "A newer version of Grov has written it. Requests pass, but nothing is recorded. Update Grov, then run `grov proxy restart`.",
            ),
            StoreError::Corrupt(_) => (
                "The database is damaged",
                "Requests pass. Run `grov doctor` for what is wrong and how to fix it.",
            ),
            _ => (
                "The database cannot be read",
                "Requests pass. Run `grov doctor` for what is wrong and how to fix it.",
            ),
        };
        with_detail(unavailable, title, text, Some(&detail))
    }
}

/// Whether a request asks for a part of a page, as htmx does.
pub(crate) fn is_partial(headers: &HeaderMap) -> bool {
    headers.contains_key("hx-request")
}

/// Adds the headers that protect pages. They are never stored, except for assets.
pub(crate) async fn secure_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}
