//! One exchange: check the request, collect its body, edit it, forward it, relay the response.

use crate::admin::{self, AdminService, SiteStream, Sites};
use crate::admission::{Access, Admission, Client};
use crate::api_upstreams::ApiUpstreams;
use crate::body::{CollectError, Collector, UpstreamBody, WholeBody, discard};
use crate::body_budget::BodyReservation;
use crate::connection_state::RequestGuard;
use crate::error_response::{ErrorKind, ExchangeError, request_id};
use crate::forward::{Forwarder, Resolved, ResolvedRoute, SwitchAnswer, UpstreamResponse};
use crate::gate::{Gate, GatePanicked, Peer, Refusal, Standing, User};
use crate::headers::{self, HeaderPolicy};
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::observe::ObserverQueue;
use crate::policy::Policies;
use crate::profile::ConnectionProfile;
use crate::relay::{ObservedResponse, PolledFrame, Relay, RelayError, RelaySource};
use crate::request::MessagesRequest;
use crate::route::{Answer, RouteRequest};
use crate::upgrade::{Protocols, Switched};
use crate::upstream::UpstreamHandle;
use bytes::Bytes;
use grov_wire::response::ResponseTap;
use grov_wire::{Api, RequestCache};
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request, Response, StatusCode, request};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::upgrade::OnUpgrade;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use time::OffsetDateTime;

/// Serves the requests of all connections.
pub(crate) struct Service {
    pub(crate) admission: Admission,
    pub(crate) gate: Gate,
    pub(crate) limits: Limits,
    pub(crate) forwarder: Forwarder,
    pub(crate) api_upstreams: ApiUpstreams,
    /// Collects the bodies of Messages requests.
    pub(crate) collector: Collector,
    pub(crate) request_cache: Arc<RequestCache>,
    pub(crate) policies: Policies,
    /// Request headers that policies and observers can read.
    pub(crate) kept_headers: Vec<HeaderName>,
    /// `None` without observers.
    pub(crate) observation: Option<ObserverQueue>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) admin: AdminService,
    pub(crate) sites: Sites,
}

/// The body of a response to the client.
pub(crate) struct ClientBody {
    kind: Kind,
    /// `None` once the connection has another protocol.
    serving: Option<RequestGuard>,
}

enum Kind {
    Full(Option<Bytes>),
    Relay(Box<Relay>),
    Site(Box<SiteStream>),
    /// No body: another protocol follows. `None` once it was taken.
    Switched(Option<Box<Switched>>),
}

impl ClientBody {
    /// Returns what follows this response if it changes the protocol, and the guard of its request.
    pub(crate) fn take_switched(&mut self) -> Option<(Box<Switched>, RequestGuard)> {
        let Kind::Switched(switched) = &mut self.kind else {
            return None;
        };
        switched.take().zip(self.serving.take())
    }
}

/// A client's offer to change the protocol.
struct Offer {
    protocols: Protocols,
    /// `None` if no gatekeeper admitted the request.
    standing: Option<Standing>,
    /// The client's side, after the change.
    client: OnUpgrade,
}

impl Service {
    /// Serves one request. Errors become responses.
    pub(crate) async fn serve(
        &self,
        request: Request<Incoming>,
        serving: RequestGuard,
        client: &Client,
    ) -> Response<ClientBody> {
        let response = match self.exchange(request, &serving, client).await {
            Ok(response) => response,
            Err(error) => {
                let id = request_id();
                let ExchangeError { kind, detail, .. } = &error;
                // The gatekeeper logs its refusals itself: there may be thousands a second.
                if kind.is_refusal() {
                    tracing::debug!(request_id = id, ?kind, detail, "refused a request");
                } else {
                    tracing::warn!(request_id = id, ?kind, detail, "responded without the upstream");
                }
                error.into_response(&id).map(|bytes| Kind::Full(Some(bytes)))
            }
        };
        serving.response_started();
        self.metrics.responded(response.status().as_u16());
        response.map(|kind| ClientBody {
            kind,
            serving: Some(serving),
        })
    }

    async fn exchange(
        &self,
        mut request: Request<Incoming>,
        serving: &RequestGuard,
        client: &Client,
    ) -> Result<Response<Kind>, ExchangeError> {
        let (peer, profile) = (client.peer, client.profile.as_ref());
        let (method, uri, headers) = (request.method(), request.uri(), request.headers());
        match profile {
            None => {
                let local = peer.map(|peer| peer.local_ip());
                self.admission.check(method, uri, headers, local)
            }
            Some(profile) => profile.check(method, uri, headers),
        }
        .map_err(|kind| ExchangeError::new(kind, "request refused"))?;
        if let Some(peer) = peer
            && let Err(error) = self.pass_gate(&mut request, peer, serving)
        {
            discard(request.into_body(), serving).await;
            return Err(error);
        }
        let path = request.uri().path();
        if profile.is_none() && path.starts_with(admin::PREFIX) {
            if client.access == Access::Everything
                && let Some(site) = self.sites.find(path)
            {
                let response = admin::serve_site(site, request, &self.admin.collector, serving).await?;
                return Ok(response.map(|body| Kind::Site(Box::new(body))));
            }
            let response = self.admin.serve(request, serving).await?;
            return Ok(response.map(|bytes| Kind::Full(Some(bytes))));
        }
        if client.access == Access::AdminOnly {
            self.metrics.fault("clients_refused");
            discard(request.into_body(), serving).await;
            return Err(ExchangeError::new(
                ErrorKind::Full,
                "too many connections, none of them idle",
            ));
        }
        match MessagesPath::of(request.method(), path) {
            MessagesPath::Elsewhere => match self.foreign_call(&request) {
                Some(api) => self.messages(request, serving, profile, Some(api)).await,
                None => self.pass(request, serving, client).await,
            },
            MessagesPath::Below if self.protocols(&request).is_some() => {
                self.pass(request, serving, client).await
            }
            messages => {
                let turn = (messages == MessagesPath::Create).then_some(Api::Messages);
                self.messages(request, serving, profile, turn).await
            }
        }
    }

    /// Returns the API of a model call that is not one to the Messages API. A body that announces more than is collected passes
    /// unread, because the limit is that of the Messages API.
    fn foreign_call(&self, request: &Request<Incoming>) -> Option<Api> {
        let is_read =
            request.method() == Method::POST && request.body().size_hint().lower() <= self.limits.body;
        is_read
            .then(|| Api::of_foreign_path(request.uri().path()))
            .flatten()
    }

    /// Asks the gatekeeper.
    fn pass_gate(
        &self,
        request: &mut Request<Incoming>,
        peer: Peer,
        serving: &RequestGuard,
    ) -> Result<(), ExchangeError> {
        let refusal = match self.gate.pass(request, peer, serving.is_plain_on_tls()) {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(refusal)) => refusal,
            Err(GatePanicked) => {
                self.metrics.fault("gate_panic");
                return Err(ExchangeError::new(
                    ErrorKind::GatePanicked,
                    "the gatekeeper panicked",
                ));
            }
        };
        let (kind, fault) = match refusal {
            Refusal::Unauthenticated => (ErrorKind::Unauthenticated, "unauthenticated"),
            Refusal::Remote => (ErrorKind::RemoteAdmin, "remote_admin"),
            Refusal::TooMany(_) => (ErrorKind::TooMany, "rate_limited"),
            Refusal::Plain => (ErrorKind::PlainOnTls, "plain_on_tls"),
        };
        self.metrics.fault(fault);
        let error = ExchangeError::new(kind, "refused at the gate");
        Err(match refusal {
            Refusal::TooMany(wait) => error.with_headers(&[retry_after(wait)]),
            _ => error,
        })
    }

    /// Forwards a request to a path outside the Messages API. Its body streams unless it has to be translated.
    async fn pass(
        &self,
        mut request: Request<Incoming>,
        serving: &RequestGuard,
        client: &Client,
    ) -> Result<Response<Kind>, ExchangeError> {
        let offer = self.protocols(&request).map(|protocols| Offer {
            protocols,
            standing: client
                .peer
                .and_then(|peer| self.gate.standing(&request, peer, serving.is_plain_on_tls())),
            client: hyper::upgrade::on(&mut request),
        });
        let (parts, body) = request.into_parts();
        let route = match self.route(&parts, None, client.profile.as_ref())? {
            Resolved::Answer(answer) => {
                discard(body, serving).await;
                return self.answered(answer).await;
            }
            Resolved::Upstream(route) => route,
        };
        if let (Some(offer), ResolvedRoute::Default(upstream)) = (offer, &route) {
            // Boxed: other exchanges must not pay for the memory of its state.
            return Box::pin(self.switch(upstream, offer, parts)).await;
        }
        let (body, reservation) = if route.needs_whole_body() {
            let WholeBody { bytes, reservation } = self.collect(body, serving).await?;
            (UpstreamBody::whole(bytes), Some(reservation))
        } else {
            (UpstreamBody::stream(body, serving.stream_body()), None)
        };
        let response = self.forwarder.send(&route, parts, body).await?;
        drop(reservation);
        Ok(self.relay(response, None, None))
    }

    /// Returns the protocols that a request without a body offers to change to. Strict filtering removes their headers.
    fn protocols(&self, request: &Request<Incoming>) -> Option<Protocols> {
        let may_switch = self.forwarder.header_policy == HeaderPolicy::Open
            && request.body().is_end_stream()
            // hyper's own view: without it, it would write no 101.
            && request.extensions().get::<OnUpgrade>().is_some();
        may_switch
            .then(|| Protocols::offered(request.version(), request.headers()))
            .flatten()
    }

    /// Asks the upstream for another protocol. If it declines, its response is relayed like any other.
    async fn switch(
        &self,
        upstream: &UpstreamHandle,
        offer: Offer,
        parts: request::Parts,
    ) -> Result<Response<Kind>, ExchangeError> {
        let asked = self.forwarder.ask_to_switch(upstream, &offer.protocols, parts);
        match asked.await? {
            SwitchAnswer::Declined(response) => {
                let is_other_required = response.head.status == StatusCode::UPGRADE_REQUIRED;
                let required = is_other_required
                    .then(|| Protocols::named(&response.head.headers))
                    .flatten();
                let mut response = self.relay(*response, None, None);
                if let Some(required) = required {
                    required.announce(response.headers_mut());
                }
                Ok(response)
            }
            SwitchAnswer::Switched { mut head, upstream } => {
                let chosen = Protocols::named(&head.headers);
                headers::for_client(&mut head.headers);
                head.version = http::Version::HTTP_11;
                if let Some(chosen) = chosen {
                    chosen.announce(&mut head.headers);
                }
                let Offer { client, standing, .. } = offer;
                let (idle, metrics) = (self.limits.idle, Arc::clone(&self.metrics));
                let switched = Switched::new(client, upstream, standing, idle, metrics);
                Ok(Response::from_parts(
                    head,
                    Kind::Switched(Some(Box::new(switched))),
                ))
            }
        }
    }

    fn message(
        &self,
        parts: &request::Parts,
        body: Bytes,
        received_at: OffsetDateTime,
        profile: Option<&Arc<ConnectionProfile>>,
    ) -> MessagesRequest {
        let mut kept = HeaderMap::new();
        for name in &self.kept_headers {
            // Copied: a value would hold the connection's read buffer.
            let values = parts.headers.get_all(name).iter();
            for value in values.filter_map(|value| HeaderValue::from_bytes(value.as_bytes()).ok()) {
                kept.append(name.clone(), value);
            }
        }
        MessagesRequest::new(kept, body, received_at)
            .coded(headers::content_coding(&parts.headers))
            .by(User::of(&parts.extensions))
            .with_profile(profile.cloned())
    }

    fn route(
        &self,
        parts: &request::Parts,
        message: Option<&MessagesRequest>,
        profile: Option<&Arc<ConnectionProfile>>,
    ) -> Result<Resolved, ExchangeError> {
        let request = RouteRequest {
            method: &parts.method,
            uri: &parts.uri,
            headers: &parts.headers,
            message,
        };
        let default = match profile {
            Some(profile) => profile.upstream.clone(),
            None => self.api_upstreams.of(&parts.uri, &parts.headers),
        };
        self.forwarder.route(request, default)
    }

    /// Returns the response that the embedder computes.
    async fn answered(&self, answer: Answer) -> Result<Response<Kind>, ExchangeError> {
        let response = self.forwarder.answer(answer).await?;
        Ok(response.map(|bytes| Kind::Full(Some(bytes))))
    }

    async fn collect(&self, body: Incoming, serving: &RequestGuard) -> Result<WholeBody, ExchangeError> {
        let collected = self.collector.collect(body, self.limits.body, serving).await;
        collected.map_err(|error| match error {
            CollectError::TooLarge => ExchangeError::new(ErrorKind::TooLarge, "body over the limit"),
            CollectError::NoMemory => {
                self.metrics.fault("bodies_refused");
                let taken = self.collector.reserved();
                ExchangeError::new(
                    ErrorKind::NoMemory,
                    format!("bodies of {taken} bytes are in work already"),
                )
            }
            CollectError::Broken(error) => ExchangeError::new(ErrorKind::BadFraming, error),
        })
    }

    /// Forwards a request to `/v1/messages` or below, or a model call of another API. Its body is collected; calls of the API `turn`
    /// are observed, and those of the Messages API edited.
    async fn messages(
        &self,
        request: Request<Incoming>,
        serving: &RequestGuard,
        profile: Option<&Arc<ConnectionProfile>>,
        turn: Option<Api>,
    ) -> Result<Response<Kind>, ExchangeError> {
        let received_at = OffsetDateTime::now_utc();
        let begun = Instant::now();
        if let Some(observation) = &self.observation {
            observation.catch_up().await;
        }
        let waited = begun.elapsed();
        let (parts, body) = request.into_parts();
        let WholeBody {
            bytes: body,
            reservation,
        } = self.collect(body, serving).await?;
        let bypassed = parts
            .headers
            .get("x-grov-bypass")
            .is_some_and(|value| value == "1");
        let Some(api) = turn.filter(|_| !bypassed) else {
            let is_message = turn.is_none_or(|api| api == Api::Messages);
            let routed = self.forwarder.is_routed() && is_message;
            let request = routed.then(|| self.message(&parts, body.clone(), received_at, profile));
            let route = match self.route(&parts, request.as_ref(), profile)? {
                Resolved::Answer(answer) => return self.answered(answer).await,
                Resolved::Upstream(route) => route,
            };
            let response = self
                .forwarder
                .send(&route, parts, UpstreamBody::whole(body))
                .await?;
            drop(reservation);
            return Ok(self.relay(response, None, None));
        };
        let collected = Instant::now();
        let request = self.message(&parts, body.clone(), received_at, profile);
        let request = match api {
            Api::Messages => request.with_cache(Arc::clone(&self.request_cache)),
            api => request.to_api(api, parts.uri.path()),
        };
        let request = Arc::new(request);
        // Routers choose among models of the Messages API.
        let routed = (api == Api::Messages).then_some(&*request);
        let route = match self.route(&parts, routed, profile)? {
            Resolved::Answer(answer) => return self.answered(answer).await,
            Resolved::Upstream(route) => route,
        };
        let may_edit = request.may_be_edited();
        let edited = match may_edit {
            true => self.policies.edit(&request).await,
            false => None,
        };
        let forwarded = Instant::now();
        self.metrics.added(waited + (forwarded - collected));
        let response = match edited {
            None => {
                let body = UpstreamBody::whole(body);
                self.forwarder.send(&route, parts, body).await?
            }
            Some(slices) => self.forward_edited(&route, parts, slices, &request).await?,
        };
        self.metrics.first_byte(forwarded.elapsed());
        let UpstreamResponse { head, .. } = &response;
        if may_edit && head.status.is_success() {
            self.policies.accepted(&request);
        }
        let observed = self.observation.as_ref().map(|observation| {
            let text = |name| {
                head.headers
                    .get(name)
                    .and_then(|value: &HeaderValue| value.to_str().ok())
            };
            let status = head.status.as_u16();
            let (content_type, coding) = (text(header::CONTENT_TYPE), text(header::CONTENT_ENCODING));
            let tap = ResponseTap::for_api(api, status, content_type, coding);
            ObservedResponse {
                request: Arc::clone(&request),
                status,
                tap,
                observation: observation.clone(),
            }
        });
        Ok(self.relay(response, observed, Some(reservation)))
    }

    /// Sends an edited body. If the upstream rejects it as invalid or too large, or the codec cannot translate the request,
    /// the original is sent once. If that succeeds, the policies are notified.
    async fn forward_edited(
        &self,
        route: &ResolvedRoute,
        parts: request::Parts,
        slices: Vec<Bytes>,
        request: &MessagesRequest,
    ) -> Result<UpstreamResponse, ExchangeError> {
        let mut edited = parts.clone();
        edited.headers.remove(header::CONTENT_LENGTH);
        let body = UpstreamBody::slices(slices);
        let sent = self.forwarder.send(route, edited, body).await;
        let (is_rejected, target) = match &sent {
            Ok(response) => (is_rejection(response.upstream_status), response.target),
            Err(error) => (error.kind == ErrorKind::Untranslatable, error.target),
        };
        if !is_rejected {
            return sent;
        }
        drop(sent);
        let body = UpstreamBody::whole(request.body().clone());
        // The targets before it failed already, and not because of the edits.
        let response = self.forwarder.send_from(route, target, parts, body).await?;
        // Any other error may have another cause, such as an overloaded upstream.
        if response.head.status.is_success() {
            self.policies.edits_rejected(request);
        }
        Ok(response)
    }

    fn relay(
        &self,
        response: UpstreamResponse,
        observed: Option<ObservedResponse>,
        reservation: Option<BodyReservation>,
    ) -> Response<Kind> {
        let UpstreamResponse {
            connection,
            pool,
            mut head,
            body,
            idle,
            ping,
            ..
        } = response;
        headers::for_client(&mut head.headers);
        head.version = http::Version::HTTP_11;
        let source = RelaySource {
            connection,
            body,
            pool,
            idle,
            ping,
        };
        let relay = Relay::new(source, Arc::clone(&self.metrics), observed, reservation);
        Response::from_parts(head, Kind::Relay(Box::new(relay)))
    }
}

/// Returns the header with the time after which to try again, in whole seconds.
fn retry_after(wait: Duration) -> (HeaderName, HeaderValue) {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    (header::RETRY_AFTER, HeaderValue::from(seconds.max(1)))
}

/// Returns whether the upstream rejected the content of a body.
fn is_rejection(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::BAD_REQUEST | StatusCode::PAYLOAD_TOO_LARGE | StatusCode::UNPROCESSABLE_ENTITY
    )
}

/// How the proxy treats a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MessagesPath {
    /// `POST …/v1/messages`.
    Create,
    /// A path below it (`count_tokens`, batches), or another method.
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

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> PolledFrame {
        match &mut self.get_mut().kind {
            Kind::Full(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Kind::Relay(relay) => Pin::new(relay.as_mut()).poll_frame(cx),
            Kind::Switched(_) => Poll::Ready(None),
            Kind::Site(site) => site.poll(cx).map(|frame| frame.map(Ok)),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Full(bytes) => bytes.is_none(),
            Kind::Relay(relay) => relay.is_end_stream(),
            Kind::Switched(_) => true,
            Kind::Site(site) => site.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Full(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Kind::Relay(relay) => relay.size_hint(),
            Kind::Switched(_) => SizeHint::with_exact(0),
            Kind::Site(site) => site.size_hint(),
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
