//! Extractors whose rejections are problems.

use crate::gate::BodyMemory;
use crate::problem::{Code, FieldError, Problem};
use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use grov_agent::{Listed, Page};
use http::request::Parts;
use http::{HeaderMap, header};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// The most entries of a page.
const MAX_LIMIT: u32 = 200;
/// The entries of a page if nothing else is asked.
const DEFAULT_LIMIT: u32 = 50;
/// The longest cursor.
const MAX_CURSOR: usize = 1024;

/// A JSON body. An absent body counts as `{}`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Json<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Json<T> {
    type Rejection = Problem;

    async fn from_request(mut request: Request, state: &S) -> Result<Self, Problem> {
        let _memory = request.extensions_mut().remove::<BodyMemory>();
        let is_json = is_json(request.headers());
        let has_type = request.headers().contains_key(header::CONTENT_TYPE);
        let body = Bytes::from_request(request, state)
            .await
            .map_err(|_| Problem::invalid("", "the body cannot be read"))?;
        if body.is_empty() && !has_type {
            return parse(b"{}").map(Self);
        }
        if !is_json {
            let detail = "the body has to be JSON, with Content-Type: application/json";
            return Err(Problem::new(Code::UnsupportedMediaType, detail));
        }
        parse(&body).map(Self)
    }
}

/// Parses JSON. The error names the place as a JSON pointer.
pub(crate) fn parse<T: DeserializeOwned>(json: &[u8]) -> Result<T, Problem> {
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let parsed = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let (path, message) = (pointer(error.path()), error.inner().to_string());
        match missing(&message) {
            Some(field) => Problem::invalid(format!("{path}/{field}"), "is missing"),
            None if path.is_empty() => Problem::invalid(path, without_place_of_struct(&message)),
            None => Problem::invalid(path, without_place_of_struct(without_line(&message))),
        }
    })?;
    deserializer
        .end()
        .map_err(|error| Problem::invalid("", error.to_string()))?;
    Ok(parsed)
}

/// The field in serde's words for a missing one.
fn missing(message: &str) -> Option<&str> {
    let (field, _) = message.strip_prefix("missing field `")?.split_once('`')?;
    Some(field)
}

/// Leaves out the line and column, which a path says better.
fn without_line(message: &str) -> &str {
    message
        .rsplit_once(" at line ")
        .map_or(message, |(before, _)| before)
}

fn pointer(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    let segments = path.iter().map(|segment| match segment {
        Segment::Seq { index } => format!("/{index}"),
        Segment::Map { key } => format!("/{}", key.replace('~', "~0").replace('/', "~1")),
        Segment::Enum { variant } => format!("/{variant}"),
        Segment::Unknown => String::new(),
    });
    segments.collect()
}

/// Leaves out the names of our types, which mean nothing to a client.
fn without_place_of_struct(message: &str) -> String {
    match message.split_once(", expected struct ") {
        Some((before, _)) => format!("{before}, expected an object"),
        None => message.to_owned(),
    }
}

/// Whether the media type is JSON.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let media_type = media_type(headers);
    media_type == "application/json"
        || (media_type.starts_with("application/") && media_type.ends_with("+json"))
}

/// The media type in lower case, without parameters; empty if there is none.
pub(crate) fn media_type(headers: &HeaderMap) -> String {
    let value = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let essence = value.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

/// Ids in the path. Whatever is no id names nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ids<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Ids<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Path(ids) = Path::<T>::from_request_parts(parts, state)
            .await
            .map_err(|_| Problem::not_found("resource: the path has something that is no id"))?;
        Ok(Self(ids))
    }
}

/// Query parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parameters<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Parameters<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Query(parameters) = Query::<T>::from_request_parts(parts, state)
            .await
            .map_err(|rejection| {
                let text = rejection.body_text();
                let text = text
                    .strip_prefix("Failed to deserialize query string: ")
                    .unwrap_or(&text);
                match (missing(text), text.split_once(": ")) {
                    (Some(field), _) => Problem::invalid(field, "is missing"),
                    (None, Some((path, message))) => Problem::invalid(path, message),
                    (None, None) => Problem::invalid("", text),
                }
            })?;
        Ok(Self(parameters))
    }
}

/// Which page of a list.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PageParameters {
    /// The most entries, 1 to 200; 50 if not given.
    #[param(minimum = 1, maximum = 200, required = false)]
    limit: Option<String>,
    /// The `next_cursor` of the page before.
    #[param(required = false)]
    cursor: Option<String>,
}

impl PageParameters {
    pub(crate) fn page(self) -> Result<Page, Problem> {
        let limit = match self.limit.as_deref() {
            None | Some("") => DEFAULT_LIMIT,
            Some(text) => text
                .parse()
                .ok()
                .filter(|limit| (1..=MAX_LIMIT).contains(limit))
                .ok_or_else(|| Problem::invalid("limit", "has to be a number from 1 to 200"))?,
        };
        let after = self.cursor.filter(|cursor| !cursor.is_empty());
        if after.as_ref().is_some_and(|cursor| cursor.len() > MAX_CURSOR) {
            return Err(Problem::invalid("cursor", "is not a cursor of this list"));
        }
        Ok(Page { limit, after })
    }
}

/// A page of a list.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Listing<T> {
    /// The entries.
    items: Vec<T>,
    /// Where the next page starts; `null` at the end.
    #[schema(required)]
    next_cursor: Option<String>,
}

impl<T> Listing<T> {
    /// Makes the answer of what the store listed. A cursor that the store does not know is an error of the request.
    pub(crate) fn of(
        listed: Result<Listed<T>, grov_agent::AgentStoreError>,
        had_cursor: bool,
    ) -> Result<axum::Json<Self>, Problem> {
        use grov_agent::AgentStoreError::{Conflict, NotFound};
        match listed {
            Ok(listed) => Ok(axum::Json(Self {
                items: listed.items,
                next_cursor: listed.next,
            })),
            Err(Conflict(_) | NotFound(_)) if had_cursor => {
                Err(Problem::invalid("cursor", "is not a cursor of this list"))
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Checks texts of a request and collects what does not hold.
#[derive(Debug, Default)]
pub(crate) struct Checks(Vec<FieldError>);

impl Checks {
    pub(crate) fn add(&mut self, path: &str, message: impl Into<String>) {
        self.0.push(FieldError {
            path: path.to_owned(),
            message: message.into(),
        });
    }

    /// A text that is not blank, has no NUL character and at most `most` bytes.
    pub(crate) fn text(&mut self, path: &str, text: &str, most: usize) {
        if text.trim().is_empty() {
            self.add(path, "must not be empty");
        }
        self.optional_text(path, text, most);
    }

    /// A text that has no NUL character and at most `most` bytes.
    pub(crate) fn optional_text(&mut self, path: &str, text: &str, most: usize) {
        if text.contains('\0') {
            self.add(path, "must not contain the NUL character");
        }
        if text.len() > most {
            self.add(path, format!("is longer than {most} bytes"));
        }
    }

    pub(crate) fn done(self) -> Result<(), Problem> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(Problem::invalid_fields(self.0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    struct Outer {
        #[expect(dead_code, reason = "only its place in an error matters")]
        list: Vec<Inner>,
    }

    #[derive(Debug, Deserialize)]
    struct Inner {
        #[expect(dead_code, reason = "only its place in an error matters")]
        number: u32,
    }

    fn error(json: &str) -> FieldError {
        let problem = parse::<Outer>(json.as_bytes()).unwrap_err();
        assert_eq!(problem.code(), Code::Invalid);
        problem.into_body().errors.remove(0)
    }

    #[test]
    fn an_error_names_its_place() {
        assert_eq!(
            error(r#"{"list":[{"number":1},{"number":"x"}]}"#).path,
            "/list/1/number"
        );
        assert_eq!(error("{}").path, "/list");
        assert_eq!(error(r#"{"list":[{}]}"#).path, "/list/0/number");
        assert_eq!(error(r#"{"list":[]} x"#).path, "");
        assert_eq!(error("[").path, "");
    }

    #[test]
    fn names_of_our_types_are_not_shown() {
        assert!(!error("7").message.contains("Outer"));
    }

    #[test]
    fn a_page_is_checked() {
        let page = |limit: &str| {
            PageParameters {
                limit: Some(limit.to_owned()),
                cursor: Some("c".to_owned()),
            }
            .page()
        };
        assert_eq!(page("200").unwrap().limit, 200);
        for limit in ["0", "201", "-1", "x", "1e2"] {
            assert!(page(limit).is_err(), "{limit}");
        }
        assert_eq!(PageParameters::default().page().unwrap().limit, DEFAULT_LIMIT);
    }
}
