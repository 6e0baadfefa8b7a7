//! Who may see the pages, and who may act on them: a browser that opened a link of `grov ui`.
//!
//! A link is accepted once and sets a cookie that scripts cannot read and other sites do not send. Pages of other ports of this
//! machine count as the same site, so requests from other origins are also refused by what the browser says of them, and a request
//! that changes something needs the token of a form.

use crate::page::{Frame, message};
use crate::{BASE, Site};
use axum::Form;
use axum::extract::{FromRequest, Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};
use grov_domain::{Clock, SystemClock};
use grov_runtime::{BrowserKey, Home};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use time::OffsetDateTime;

/// The path of the links that `grov ui` makes, to which `?link=` is added.
pub const LINK_PATH: &str = "/_grov/ui/enter";

/// The name of the cookie, to which the port is added: cookies of a host are shared by its ports.
const COOKIE: &str = "grov-ui-";
/// Opened links that are remembered until they expire. More are only made by a program that may read everything anyway.
const MAX_OPENED: usize = 10_000;

/// Checks links, cookies and forms.
pub(crate) struct Access {
    home: Home,
    is_secure: bool,
    /// The links that were opened, until they expire.
    opened: Mutex<HashMap<String, OffsetDateTime>>,
}

/// The session of a request.
#[derive(Clone)]
pub(crate) struct Session {
    /// The token for its forms.
    pub(crate) token: String,
}

impl Access {
    pub(crate) fn new(home: Home, is_secure: bool) -> Self {
        Self {
            home,
            is_secure,
            opened: Mutex::default(),
        }
    }

    /// Opens a link. Returns the cookie of a new session, or `None` for a link that is wrong, expired or used.
    fn open(&self, link: &str, host: &str, now: OffsetDateTime) -> Option<String> {
        let key = BrowserKey::read(&self.home)?;
        let link = key.check_link(link, now)?;
        {
            let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
            opened.retain(|_, expires| *expires > now);
            if opened.len() >= MAX_OPENED || opened.insert(link.nonce, link.expires).is_some() {
                return None;
            }
        }
        let session = key.session(now).ok()?;
        let secure = if self.is_secure { "; Secure" } else { "" };
        Some(format!(
            "{}={}; Path={BASE}; HttpOnly; SameSite=Strict{secure}",
            cookie_name(host),
            session.expose()
        ))
    }

    /// Returns the session of a request's cookie. Reads the key each time, so that its removal signs everybody out.
    pub(crate) fn session(&self, headers: &HeaderMap, now: OffsetDateTime) -> Option<Session> {
        let cookie = cookie(headers)?;
        let key = BrowserKey::read(&self.home)?;
        let token = || key.form_token(&cookie).expose().to_owned();
        key.check_session(&cookie, now)
            .then(|| Session { token: token() })
    }

    /// Signs out every browser.
    pub(crate) fn sign_out(&self) -> std::io::Result<()> {
        BrowserKey::remove(&self.home).map(drop)
    }

    /// Returns whether a form contains the token of the session in the request's cookie.
    pub(crate) fn may_change(&self, headers: &HeaderMap, token: &str) -> bool {
        let (Some(cookie), Some(key)) = (cookie(headers), BrowserKey::read(&self.home)) else {
            return false;
        };
        key.check_form_token(&cookie, token)
    }
}

/// A form that changes something.
#[derive(Deserialize)]
struct Signed<T> {
    #[serde(default)]
    token: String,
    #[serde(flatten)]
    form: T,
}

/// Reads a form, if it contains the token of the session.
pub(crate) async fn signed_form<T: DeserializeOwned>(site: &Site, request: Request) -> Result<T, Response> {
    let headers = request.headers().clone();
    let read = Form::<Signed<T>>::from_request(request, &()).await;
    let Form(Signed { token, form }) = read.map_err(|_| {
        message(
            StatusCode::BAD_REQUEST,
            "The form is incomplete",
            "Nothing was changed. Reload the page and try again.",
        )
    })?;
    if !site.access.may_change(&headers, &token) {
        return Err(refused());
    }
    Ok(form)
}

/// Lets requests with a session pass, from pages of this dashboard only.
pub(crate) async fn require_session(State(site): State<Site>, mut request: Request, next: Next) -> Response {
    if !is_from_here(request.method(), request.headers()) {
        return refused();
    }
    let Some(session) = site.access.session(request.headers(), SystemClock.now()) else {
        return signed_out();
    };
    request.extensions_mut().insert(session);
    next.run(request).await
}

/// The query of a link.
#[derive(Deserialize)]
pub(crate) struct Link {
    #[serde(default)]
    link: String,
}

/// Opens a link and sets the cookie. The next page is requested by this one and not by a redirect: a browser would send no strict
/// cookie with a redirect that another site began, such as a terminal in a web page.
pub(crate) async fn enter(
    State(site): State<Site>,
    headers: HeaderMap,
    Query(link): Query<Link>,
) -> Response {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let cookie = site
        .access
        .open(&link.link, host.unwrap_or_default(), SystemClock.now());
    let Some(cookie) = cookie.and_then(|cookie| HeaderValue::from_str(&cookie).ok()) else {
        return signed_out();
    };
    let page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0;url={BASE}\">\
         <title>Grov</title><p><a href=\"{BASE}\">Continue to the dashboard</a></p></html>"
    );
    ([(header::SET_COOKIE, cookie)], Html(page)).into_response()
}

/// `HEAD` of a link, such as by a program that shows where links lead: the link stays unused.
pub(crate) async fn look_at_link() -> Response {
    Html("").into_response()
}

fn signed_out() -> Response {
    message(
        StatusCode::UNAUTHORIZED,
        "Sign in with grov ui",
        "This browser is not signed in, or its link was used or has expired. Run `grov ui` in a terminal: it opens the dashboard with a new link.",
    )
}

fn refused() -> Response {
    message(
        StatusCode::FORBIDDEN,
        "Refused",
        "The request did not come from a page of this dashboard. Nothing was shown or changed.",
    )
}

/// Returns whether a request comes from one of these pages, from the address bar, or from a program. Following a link from
/// elsewhere to read a page is allowed: no other page sees what it shows.
fn is_from_here(method: &Method, headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let reads = matches!(*method, Method::GET | Method::HEAD);
    let is_navigation =
        text("sec-fetch-mode") == Some("navigate") && text("sec-fetch-dest") == Some("document");
    let is_site = match text("sec-fetch-site") {
        Some("same-origin" | "none") => true,
        Some(_) => reads && is_navigation,
        // A program, or an old browser: then the origin and the token decide.
        None => true,
    };
    let is_origin = match text("origin") {
        Some(origin) => {
            let origin = origin.split_once("://").map(|(_, host)| host);
            origin.is_some() && origin == text("host")
        }
        None => true,
    };
    is_site && is_origin
}

/// Returns the name of the cookie at a host.
fn cookie_name(host: &str) -> String {
    let port = host.rsplit_once(':').map(|(_, port)| port);
    let port = port.filter(|port| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()));
    format!("{COOKIE}{}", port.unwrap_or("0"))
}

/// Returns the value of the cookie.
fn cookie(headers: &HeaderMap) -> Option<String> {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let name = cookie_name(host.unwrap_or_default());
    let cookies = headers.get_all(header::COOKIE).iter();
    let mut pairs = cookies
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='));
    let (_, value) = pairs.find(|(key, _)| *key == name)?;
    Some(value.to_owned())
}

impl From<&Session> for Frame {
    fn from(session: &Session) -> Self {
        Self {
            token: session.token.clone(),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| {
                (
                    axum::http::HeaderName::from_static(name),
                    HeaderValue::from_static(value),
                )
            })
            .collect()
    }

    #[test]
    fn requests_of_other_pages_are_refused() {
        let here = |method: Method, pairs: &[(&'static str, &'static str)]| {
            let all = [&[("host", "127.0.0.1:8080")], pairs].concat();
            is_from_here(&method, &headers(&all))
        };
        let navigation = [("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")];
        let from = |site| [("sec-fetch-site", site), navigation[0], navigation[1]];
        assert!(here(Method::GET, &[]));
        assert!(here(Method::POST, &[("sec-fetch-site", "same-origin")]));
        assert!(here(Method::GET, &from("same-site")) && here(Method::GET, &from("cross-site")));
        assert!(!here(Method::POST, &from("same-site")) && !here(Method::POST, &from("cross-site")));
        // An image, a script or a frame of a page at another port.
        assert!(!here(Method::GET, &[("sec-fetch-site", "same-site")]));
        let framed = [
            ("sec-fetch-site", "same-site"),
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-dest", "iframe"),
        ];
        assert!(!here(Method::GET, &framed));
        assert!(here(Method::POST, &[("origin", "http://127.0.0.1:8080")]));
        for origin in ["http://127.0.0.1:3000", "http://localhost:8080", "null", ""] {
            assert!(!here(Method::POST, &[("origin", origin)]), "{origin}");
        }
    }

    #[test]
    fn cookies_of_other_ports_are_ignored() {
        let own = headers(&[
            ("host", "localhost:8080"),
            ("cookie", "a=b; grov-ui-9090=other; grov-ui-8080=own"),
        ]);
        assert_eq!(cookie(&own).as_deref(), Some("own"));
        assert_eq!(cookie_name("[::1]"), "grov-ui-0");
    }
}
