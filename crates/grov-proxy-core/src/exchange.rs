//! One exchange: admit, collect, edit, forward, relay.

use crate::admission::{Access, Admission};
use crate::answer::{Failure, Refusal, request_id};
use crate::body::{CollectError, Collector, UpstreamBody, WholeBody, discard};
use crate::body_memory::BodyShare;
use crate::forward::{Answer, Forwarder, Way};
use crate::headers;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::observe::Observation;
use crate::own::{self, OwnPages};
use crate::page;
use crate::policy::Policies;
use crate::progress::ServingGuard;
use crate::relay::{Relay, RelayError, Watched};
use crate::request::MessagesRequest;
use crate::route::RouteRequest;
use bytes::Bytes;
use grov_wire::KnownRequests;
use grov_wire::response::ResponseTap;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request, Response, StatusCode, request};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use time::OffsetDateTime;

/// Everything an exchange needs to know.
pub(crate) struct Service {
    pub(crate) admission: Admission,
    pub(crate) limits: Limits,
    pub(crate) forwarder: Forwarder,
    /// For bodies that are relayed.
    pub(crate) collector: Collector,
    /// For bodies of pages, to which the other leaves some memory.
    pub(crate) page_collector: Collector,
    pub(crate) known: Arc<KnownRequests>,
    pub(crate) policies: Policies,
    /// Request headers that policies and observers can read.
    pub(crate) kept_headers: Vec<HeaderName>,
    /// `None`: nobody observes.
    pub(crate) observation: Option<Observation>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) own: OwnPages,
    /// Pages of the embedder.
    pub(crate) pages: Vec<page::Placed>,
}

/// The body of a response to the client.
pub(crate) struct ClientBody {
    kind: Kind,
    _serving: ServingGuard,
}

enum Kind {
    Own(Option<Bytes>),
    Relay(Box<Relay>),
}

impl Service {
    /// Serves one request. Never fails: what goes wrong becomes an answer.
    pub(crate) async fn serve(
        &self,
        request: Request<Incoming>,
        serving: ServingGuard,
        access: Access,
    ) -> Response<ClientBody> {
        let response = match self.exchange(request, &serving, access).await {
            Ok(response) => response,
            Err(failure) => {
                let id = request_id();
                let Failure { refusal, detail, .. } = &failure;
                tracing::warn!(request_id = id, ?refusal, detail, "answered without the upstream");
                failure.response(&id).map(|bytes| Kind::Own(Some(bytes)))
            }
        };
        serving.answered();
        self.metrics.responded(response.status().as_u16());
        response.map(|kind| ClientBody {
            kind,
            _serving: serving,
        })
    }

    async fn exchange(
        &self,
        request: Request<Incoming>,
        serving: &ServingGuard,
        access: Access,
    ) -> Result<Response<Kind>, Failure> {
        self.admission
            .check(request.method(), request.uri(), request.headers())
            .map_err(|refusal| Failure::new(refusal, "not admitted"))?;
        let path = request.uri().path();
        if path.starts_with(own::PREFIX) {
            if let Some((page, rest)) = page::at(&self.pages, path) {
                let rest = rest.to_owned();
                return match page::ask(page.as_ref(), rest, request, &self.page_collector, serving).await {
                    Ok(answer) => Ok(answer.map(|bytes| Kind::Own(Some(bytes)))),
                    Err((refusal, detail)) => Err(Failure::new(refusal, detail)),
                };
            }
            let page = self
                .own
                .answer(request.method(), path)
                .map_err(|refusal| Failure::new(refusal, "own page"))?;
            return Ok(page.map(|bytes| Kind::Own(Some(bytes))));
        }
        if access == Access::OwnPages {
            self.metrics.fault("clients_refused");
            discard(request.into_body(), serving).await;
            return Err(Failure::new(
                Refusal::Full,
                "too many connections, none of them idle",
            ));
        }
        match MessagesPath::of(request.method(), path) {
            MessagesPath::Elsewhere => self.pass(request, serving).await,
            messages => {
                let is_turn = messages == MessagesPath::Create;
                self.messages(request, serving, is_turn).await
            }
        }
    }

    /// Any other path: both bodies stream, but where one is to be translated.
    async fn pass(
        &self,
        request: Request<Incoming>,
        serving: &ServingGuard,
    ) -> Result<Response<Kind>, Failure> {
        let (parts, body) = request.into_parts();
        let way = self.way(&parts, None)?;
        let (body, share) = if way.is_translated() {
            let WholeBody { bytes, share } = self.collect(body, serving).await?;
            (UpstreamBody::whole(bytes), Some(share))
        } else {
            (UpstreamBody::stream(body, serving.pass_on()), None)
        };
        let answer = self.forwarder.send(&way, parts, body).await?;
        drop(share);
        Ok(self.relay(answer, None, None))
    }

    fn message(&self, headers: &HeaderMap, body: Bytes, received_at: OffsetDateTime) -> MessagesRequest {
        let mut kept = HeaderMap::new();
        for name in &self.kept_headers {
            // Copied: a value would hold the connection's read buffer.
            let values = headers.get_all(name).iter();
            for value in values.filter_map(|value| HeaderValue::from_bytes(value.as_bytes()).ok()) {
                kept.append(name.clone(), value);
            }
        }
        MessagesRequest::new(kept, body, received_at)
    }

    fn way(&self, parts: &request::Parts, message: Option<&MessagesRequest>) -> Result<Way<'_>, Failure> {
        self.forwarder.way(RouteRequest {
            method: &parts.method,
            uri: &parts.uri,
            headers: &parts.headers,
            message,
        })
    }

    async fn collect(&self, body: Incoming, serving: &ServingGuard) -> Result<WholeBody, Failure> {
        let collected = self.collector.collect(body, self.limits.body, serving).await;
        collected.map_err(|error| match error {
            CollectError::TooLarge => Failure::new(Refusal::TooLarge, "body over the limit"),
            CollectError::NoMemory => {
                self.metrics.fault("bodies_refused");
                let taken = self.collector.taken();
                Failure::new(
                    Refusal::NoMemory,
                    format!("bodies of {taken} bytes are in work already"),
                )
            }
            CollectError::Broken(error) => Failure::new(Refusal::BadFraming, error),
        })
    }

    /// `/v1/messages` and what is below: the body is collected, and turns are observed.
    async fn messages(
        &self,
        request: Request<Incoming>,
        serving: &ServingGuard,
        is_turn: bool,
    ) -> Result<Response<Kind>, Failure> {
        let received_at = OffsetDateTime::now_utc();
        if let Some(observation) = &self.observation {
            observation.catch_up().await;
        }
        let (parts, body) = request.into_parts();
        let WholeBody { bytes: body, share } = self.collect(body, serving).await?;
        let bypassed = parts
            .headers
            .get("x-grov-bypass")
            .is_some_and(|value| value == "1");
        if !is_turn || bypassed {
            let routed = self.forwarder.is_routed();
            let request = routed.then(|| self.message(&parts.headers, body.clone(), received_at));
            let way = self.way(&parts, request.as_ref())?;
            let answer = self
                .forwarder
                .send(&way, parts, UpstreamBody::whole(body))
                .await?;
            // Nobody looks at the body once it is sent.
            drop(share);
            return Ok(self.relay(answer, None, None));
        }
        let request = self.message(&parts.headers, body.clone(), received_at);
        let request = Arc::new(request.with_known(Arc::clone(&self.known)));
        let way = self.way(&parts, Some(&request))?;
        let edited = self.policies.edit(&request).await;
        let answer = match edited {
            None => {
                let body = UpstreamBody::whole(body);
                self.forwarder.send(&way, parts, body).await?
            }
            Some(slices) => self.forward_edited(&way, parts, slices, &request).await?,
        };
        let Answer { head, .. } = &answer;
        if head.status.is_success() {
            self.policies.accepted(&request);
        }
        let watched = self.observation.as_ref().map(|observation| {
            let text = |name| {
                head.headers
                    .get(name)
                    .and_then(|value: &HeaderValue| value.to_str().ok())
            };
            let status = head.status.as_u16();
            let tap = ResponseTap::new(status, text(header::CONTENT_TYPE), text(header::CONTENT_ENCODING));
            Watched {
                request: Arc::clone(&request),
                status,
                tap,
                observation: observation.clone(),
            }
        });
        Ok(self.relay(answer, watched, Some(share)))
    }

    /// Sends an edited body. If the upstream calls it invalid or too large, or the route
    /// cannot translate it, the original is sent once; if that is accepted, the
    /// fault was ours and this lineage is edited no more.
    async fn forward_edited(
        &self,
        way: &Way<'_>,
        parts: request::Parts,
        slices: Vec<Bytes>,
        request: &MessagesRequest,
    ) -> Result<Answer, Failure> {
        let mut edited = parts.clone();
        edited.headers.remove(header::CONTENT_LENGTH);
        let body = UpstreamBody::slices(slices);
        let sent = self.forwarder.send(way, edited, body).await;
        let is_refused = match &sent {
            Ok(answer) => is_refusal(answer.head.status),
            Err(failure) => failure.is_of_codec(),
        };
        if !is_refused {
            return sent;
        }
        drop(sent);
        let body = UpstreamBody::whole(request.body().clone());
        let answer = self.forwarder.send(way, parts, body).await?;
        // Anything else says nothing about the edit: the upstream may just have no time.
        if answer.head.status.is_success() {
            self.policies.refused(request);
        }
        Ok(answer)
    }

    fn relay(&self, answer: Answer, watched: Option<Watched>, share: Option<BodyShare>) -> Response<Kind> {
        let Answer {
            link,
            pool,
            mut head,
            body,
        } = answer;
        headers::for_client(&mut head.headers);
        head.version = http::Version::HTTP_11;
        let metrics = Arc::clone(&self.metrics);
        let relay = Relay::new(link, body, pool, metrics, watched, self.limits.idle, share);
        Response::from_parts(head, Kind::Relay(Box::new(relay)))
    }
}

/// Whether the upstream refuses a body for what is in it.
fn is_refusal(status: StatusCode) -> bool {
    matches!(status, StatusCode::BAD_REQUEST | StatusCode::PAYLOAD_TOO_LARGE)
}

/// What a path is to the proxy.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MessagesPath {
    /// `POST …/v1/messages`: a turn or a side request.
    Create,
    /// Below it (`count_tokens`, batches) or another method.
    Below,
    /// Anything else.
    Elsewhere,
}

impl MessagesPath {
    fn of(method: &Method, path: &str) -> Self {
        let Some(at) = path.find("/v1/messages") else {
            return Self::Elsewhere;
        };
        match &path[at + "/v1/messages".len()..] {
            "" | "/" if method == Method::POST => Self::Create,
            rest if rest.is_empty() || rest.starts_with('/') => Self::Below,
            _ => Self::Elsewhere,
        }
    }
}

impl Body for ClientBody {
    type Data = Bytes;
    type Error = RelayError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, RelayError>>> {
        match &mut self.get_mut().kind {
            Kind::Own(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Kind::Relay(relay) => Pin::new(relay.as_mut()).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Own(bytes) => bytes.is_none(),
            Kind::Relay(relay) => relay.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Own(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Kind::Relay(relay) => relay.size_hint(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_messages_path_is_recognised_with_any_prefix() {
        let of = |path| MessagesPath::of(&Method::POST, path);
        assert!(of("/v1/messages") == MessagesPath::Create);
        assert!(of("/some/prefix/v1/messages") == MessagesPath::Create);
        assert!(of("/v1/messages/count_tokens") == MessagesPath::Below);
        assert!(of("/v1/messages_other") == MessagesPath::Elsewhere);
        assert!(of("/v1/files") == MessagesPath::Elsewhere);
        assert!(MessagesPath::of(&Method::GET, "/v1/messages") == MessagesPath::Below);
    }
}
