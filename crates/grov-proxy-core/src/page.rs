//! Pages of whoever embeds the proxy, below `/_grov/`: for programs on this machine, never for a browser.

use crate::answer::Refusal;
use crate::body::{CollectError, Collector};
use crate::progress::ServingGuard;
use async_trait::async_trait;
use bytes::Bytes;
use futures_util::FutureExt;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use hyper::body::Incoming;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

/// What a page is asked.
#[derive(Debug)]
pub struct PageRequest {
    /// The method; a page says itself which it takes.
    pub method: Method,
    /// What follows the page's prefix in the path.
    pub rest: String,
    /// The headers.
    pub headers: HeaderMap,
    /// The body; `None` where it is longer than [`Page::body_limit`].
    pub body: Option<Bytes>,
}

/// What it answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageAnswer {
    /// The status.
    pub status: StatusCode,
    /// What kind of text it is.
    pub content_type: &'static str,
    /// The text.
    pub body: Bytes,
}

/// A page, or all pages below a prefix. A panic in it costs this one answer.
#[async_trait]
pub trait Page: Send + Sync + 'static {
    /// Bytes of a body that are taken at most.
    fn body_limit(&self) -> u64;

    /// Whether who asks is answered at all, by the headers, before anything of the body is taken. It must not wait.
    ///
    /// # Errors
    /// What is answered instead.
    fn admits(&self, _headers: &HeaderMap) -> Result<(), PageAnswer> {
        Ok(())
    }

    /// Answers. Dropped where the client leaves before.
    async fn answer(&self, request: PageRequest) -> PageAnswer;
}

/// A page and where it is found: below `/_grov/`, with a slash at its end.
pub(crate) type Placed = (&'static str, Arc<dyn Page>);

/// The page that a path leads to, and the rest of the path.
pub(crate) fn at<'p>(pages: &[Placed], path: &'p str) -> Option<(Arc<dyn Page>, &'p str)> {
    let rest = path.strip_prefix(crate::own::PREFIX)?;
    pages
        .iter()
        .find_map(|(prefix, page)| Some((Arc::clone(page), rest.strip_prefix(prefix)?)))
}

/// Asks a page. Whatever a browser sends on behalf of a site bears an `Origin`, `null` where it hides which: no page is
/// for those.
pub(crate) async fn ask(
    page: &dyn Page,
    rest: String,
    request: Request<Incoming>,
    collector: &Collector,
    serving: &ServingGuard,
) -> Result<Response<Bytes>, (Refusal, String)> {
    let (parts, body) = request.into_parts();
    if parts.headers.contains_key(header::ORIGIN) {
        return Err((Refusal::ForeignOrigin, "an origin asks for a page".to_owned()));
    }
    let admitted = std::panic::catch_unwind(AssertUnwindSafe(|| page.admits(&parts.headers)));
    if let Err(refused) = admitted.map_err(|_| broke())? {
        return Ok(response(refused));
    }
    let collected = collector.collect(body, page.body_limit(), serving).await;
    let (body, _share) = match collected {
        Ok(body) => (Some(body.bytes), Some(body.share)),
        Err(CollectError::TooLarge) => (None, None),
        Err(CollectError::NoMemory) => {
            return Err((Refusal::NoMemory, "no memory for a page's body".to_owned()));
        }
        Err(CollectError::Broken(error)) => return Err((Refusal::BadFraming, error.to_string())),
    };
    let asked = PageRequest {
        method: parts.method,
        rest,
        headers: parts.headers,
        body,
    };
    let answered = AssertUnwindSafe(page.answer(asked)).catch_unwind().await;
    answered.map(response).map_err(|_| broke())
}

fn broke() -> (Refusal, String) {
    (Refusal::PageBroke, "a page panicked".to_owned())
}

fn response(answer: PageAnswer) -> Response<Bytes> {
    let mut response = Response::new(answer.body);
    *response.status_mut() = answer.status;
    let kind = HeaderValue::from_static(answer.content_type);
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}
