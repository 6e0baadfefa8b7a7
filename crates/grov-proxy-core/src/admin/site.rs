//! Sites of the embedder: pages below `/_grov/` for a browser on this machine.

use super::PREFIX;
use crate::body::{CollectError, Collector};
use crate::connection_state::{RequestGuard, StreamProgress};
use crate::error_response::{ErrorKind, ExchangeError};
use async_trait::async_trait;
use bytes::Bytes;
use futures_util::FutureExt;
use http::{Request, Response};
use http_body::{Body, Frame};
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Incoming;
use std::error::Error;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// The body of a response of a [`Site`]. It may be endless: it ends when the proxy stops, and its connection is closed if the client
/// reads nothing for a minute.
pub type SiteBody = UnsyncBoxBody<Bytes, Box<dyn Error + Send + Sync>>;

/// Serves the pages below a prefix of `/_grov/`.
///
/// `Host` and `Origin` were checked before, so a foreign page cannot send a request here; pages at other ports of this machine can. A
/// panic is answered with status 500.
#[async_trait]
pub trait Site: Send + Sync + 'static {
    /// Returns the largest accepted body, in bytes. A longer one is answered with status 413.
    fn body_limit(&self) -> u64;

    /// Answers a request with its whole body. It runs on a thread that relays: longer work belongs on another one. The future is
    /// dropped if the client disconnects.
    async fn handle(&self, request: Request<Bytes>) -> Response<SiteBody>;
}

/// The sites of the embedder, by prefix.
#[derive(Default)]
pub(crate) struct Sites(Vec<(&'static str, Arc<dyn Site>)>);

impl Sites {
    pub(crate) fn add(&mut self, prefix: &'static str, site: Arc<dyn Site>) {
        self.0.push((prefix, site));
    }

    /// Returns the site of a path: `/_grov/`, the prefix, then nothing or a slash.
    pub(crate) fn find(&self, path: &str) -> Option<&dyn Site> {
        let path = path.strip_prefix(PREFIX)?;
        let serves = |prefix: &str| {
            path.strip_prefix(prefix)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let (_, site) = self.0.iter().find(|(prefix, _)| serves(prefix))?;
        Some(site.as_ref())
    }
}

/// Lets a site answer a request.
pub(crate) async fn serve(
    site: &dyn Site,
    request: Request<Incoming>,
    collector: &Collector,
    serving: &RequestGuard,
) -> Result<Response<SiteStream>, ExchangeError> {
    let (parts, body) = request.into_parts();
    let collected = collector.collect(body, site.body_limit(), serving).await;
    let collected = collected.map_err(|error| match error {
        CollectError::TooLarge => ExchangeError::new(ErrorKind::TooLarge, "the body of a page's form"),
        CollectError::NoMemory => ExchangeError::new(ErrorKind::NoMemory, "no memory for a page's form"),
        CollectError::Broken(error) => ExchangeError::new(ErrorKind::BadFraming, error),
    })?;
    let request = Request::from_parts(parts, collected.bytes);
    let handled = AssertUnwindSafe(site.handle(request)).catch_unwind().await;
    let response =
        handled.map_err(|_| ExchangeError::new(ErrorKind::AdminRoutePanicked, "a site panicked"))?;
    let progress = serving.stream();
    Ok(response.map(|body| SiteStream { body, progress }))
}

/// The body of a site's response on its way to the client.
pub(crate) struct SiteStream {
    body: SiteBody,
    progress: StreamProgress,
}

impl SiteStream {
    /// Polls the next frame. A broken body ends: the client sees what there was.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Frame<Bytes>>> {
        self.progress.polled();
        match Pin::new(&mut self.body).poll_frame(cx) {
            // What is ready is sent also while the proxy stops.
            Poll::Pending if self.progress.must_end() => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
            Poll::Ready(frame) => Poll::Ready(frame.and_then(Result::ok)),
        }
    }

    pub(crate) fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    pub(crate) fn size_hint(&self) -> http_body::SizeHint {
        self.body.size_hint()
    }
}
