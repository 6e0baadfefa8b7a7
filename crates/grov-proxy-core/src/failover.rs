//! Tries the targets of a route in order.

use crate::body::UpstreamBody;
use crate::codec::{Decoder, Delivery, Encoded, caught};
use crate::error_response::{ErrorKind, ExchangeError};
use crate::forward::{Forwarder, UpstreamResponse};
use crate::headers::{self, HeaderPolicy};
use crate::relay::SilenceTimer;
use crate::response_body::ResponseBody;
use crate::route::{Attempt, AttemptResult, Failover, Failure, FailureKind, Forward, Next, Target};
use crate::upstream::UpstreamConnection;
use bytes::{Bytes, BytesMut};
use http::{header, request, response};
use http_body::Body;
use hyper::body::Incoming;
use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::time::Instant;

/// An attempt in progress. If it is dropped without a result, it was abandoned.
struct Running<'f> {
    failover: Option<&'f dyn Failover>,
    target: usize,
    is_last: bool,
    began: Instant,
    is_reported: bool,
}

impl Running<'_> {
    /// Reports a result and returns whether the next target is tried.
    fn is_continued(&mut self, result: AttemptResult<'_>) -> bool {
        self.is_reported = true;
        let Some(failover) = self.failover else {
            return false;
        };
        let attempt = Attempt {
            target: self.target,
            elapsed: self.began.elapsed(),
            result,
        };
        let next = guarded(|| failover.attempted(&attempt)).unwrap_or(Next::Stop);
        next == Next::Try && !self.is_last
    }

    /// Reports a failure. Returns the error for the client, or `None` if the next target is tried.
    fn failed(&mut self, error: ExchangeError) -> Option<ExchangeError> {
        let failure = Failure {
            kind: FailureKind::of(error.kind),
            detail: error.detail.clone(),
        };
        if self.is_continued(AttemptResult::Failed(&failure)) {
            return None;
        }
        let answer = self
            .failover
            .and_then(|failover| guarded(|| failover.exhausted(&failure)).flatten());
        Some(error.answered_with(answer))
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.is_reported {
            self.is_continued(AttemptResult::Abandoned);
        }
    }
}

impl FailureKind {
    fn of(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::TimedOut => Self::TimedOut,
            ErrorKind::Untranslatable | ErrorKind::BadFraming | ErrorKind::NoRoute => Self::Request,
            ErrorKind::UntranslatableResponse | ErrorKind::UnknownResponseCoding | ErrorKind::Redirected => {
                Self::Response
            }
            _ => Self::Unreachable,
        }
    }
}

/// Calls the embedder. A panic becomes `None`.
fn guarded<T>(call: impl FnOnce() -> T) -> Option<T> {
    let called = std::panic::catch_unwind(AssertUnwindSafe(call));
    called
        .inspect_err(|_| tracing::error!("the failover of a route panicked"))
        .ok()
}

/// The response head of a target, not yet translated.
struct Answered {
    connection: UpstreamConnection,
    head: response::Parts,
    body: Incoming,
    decoder: Option<Box<dyn Decoder>>,
}

impl Forwarder {
    /// Sends a request to the first target that answers.
    pub(crate) async fn send_to_targets(
        &self,
        forward: &Forward,
        parts: request::Parts,
        body: UpstreamBody,
    ) -> Result<UpstreamResponse, ExchangeError> {
        let failover = forward.failover.as_deref();
        let Some((last, others)) = forward.targets.split_last() else {
            let detail = "the route has no targets";
            return Err(ExchangeError::new(ErrorKind::NoRoute, detail));
        };
        let running = |target, is_last| Running {
            failover,
            target,
            is_last,
            began: Instant::now(),
            is_reported: false,
        };
        for (index, target) in others.iter().enumerate() {
            // A stream can be sent only once, but a route with several targets has its body collected.
            let Some(copy) = body.try_clone() else { continue };
            let mut running = running(index, false);
            let tried = self.attempt(target, parts.clone(), copy, &mut running).await;
            if let Some(result) = tried {
                return result;
            }
        }
        let mut running = running(others.len(), true);
        let tried = self.attempt(last, parts, body, &mut running).await;
        tried.unwrap_or_else(|| Err(ExchangeError::new(ErrorKind::NoRoute, "no target was tried")))
    }

    /// Returns the response of a target, or `None` if the next target is tried.
    async fn attempt(
        &self,
        target: &Target,
        parts: request::Parts,
        body: UpstreamBody,
        running: &mut Running<'_>,
    ) -> Option<Result<UpstreamResponse, ExchangeError>> {
        let failed = |running: &mut Running<'_>, error| {
            let error = running.failed(error)?;
            Some(Err(error.with_headers(&target.response_headers)))
        };
        let answered = match self.answer_of(target, parts, body).await {
            Ok(answered) => answered,
            Err(error) => return failed(running, error),
        };
        if running.is_continued(AttemptResult::Answered(&answered.head)) {
            return None;
        }
        match self.translated(target, answered).await {
            Ok(response) => Some(Ok(response)),
            Err(error) => failed(running, error),
        }
    }

    /// Translates and sends a request, and waits for the response head.
    async fn answer_of(
        &self,
        target: &Target,
        mut parts: request::Parts,
        mut body: UpstreamBody,
    ) -> Result<Answered, ExchangeError> {
        let pool = self.pools.get(&target.upstream);
        let mut policy = self.header_policy;
        let mut decoder = None;
        if target.is_foreign {
            headers::keep_for_foreign(&mut parts.headers);
            policy = HeaderPolicy::Open;
        }
        if let Some(codec) = &target.codec {
            // Filter the client's headers before the codec adds those of the other API.
            let host = pool.connector().upstream().host_header();
            headers::for_upstream(&mut parts.headers, policy, host);
            policy = HeaderPolicy::Open;
            parts.headers.remove(header::ACCEPT_ENCODING);
            let Some(bytes) = body.collected() else {
                let detail = "a stream cannot be translated";
                return Err(ExchangeError::new(ErrorKind::NoRoute, detail));
            };
            let encoded = caught(|| codec.encode(&mut parts, bytes));
            let Encoded {
                body: bytes,
                decoder: response,
            } = encoded.map_err(|error| self.codec_failed(ErrorKind::Untranslatable, error))?;
            parts.headers.remove(header::CONTENT_LENGTH);
            body = UpstreamBody::whole(bytes);
            decoder = response;
        }
        let limit = target.timeouts.first_byte.unwrap_or(self.limits.response);
        let (connection, response) = self.exchange_heads(pool, policy, limit, parts, body).await?;
        let (mut head, body) = response.into_parts();
        if target.is_foreign {
            if head.status.is_redirection() {
                self.metrics.fault("upstream_redirected");
                return Err(ExchangeError::new(ErrorKind::Redirected, head.status));
            }
            head.headers.remove(header::SET_COOKIE);
            head.headers.remove(header::LOCATION);
        }
        Ok(Answered {
            connection,
            head,
            body,
            decoder,
        })
    }

    fn codec_failed(&self, kind: ErrorKind, error: impl ToString) -> ExchangeError {
        self.metrics.fault("codec_failed");
        ExchangeError::with_public_detail(kind, error)
    }

    /// Translates the response head, and the body if it is sent whole.
    async fn translated(
        &self,
        target: &Target,
        answered: Answered,
    ) -> Result<UpstreamResponse, ExchangeError> {
        let Answered {
            connection,
            mut head,
            body,
            decoder,
        } = answered;
        let pool = self.pools.get(&target.upstream);
        let idle = target.timeouts.idle.unwrap_or(self.limits.idle);
        let mut connection = Some(connection);
        let mut ping = None;
        let body = match decoder {
            None => ResponseBody::Plain(body),
            Some(mut decoder) => {
                let delivery = caught(|| decoder.head(&mut head))
                    .map_err(|error| self.codec_failed(ErrorKind::UntranslatableResponse, error))?;
                head.headers.remove(header::CONTENT_LENGTH);
                match (delivery, connection.take()) {
                    (Delivery::Whole, Some(mut driven)) => {
                        let whole = self.collect(&mut driven, body, decoder.as_mut(), idle).await?;
                        caught(|| {
                            decoder.collected(&mut head, &whole);
                            Ok(())
                        })
                        .map_err(|error| self.codec_failed(ErrorKind::UntranslatableResponse, error))?;
                        pool.give_back(driven);
                        ResponseBody::whole(whole)
                    }
                    (_, driven) => {
                        connection = driven;
                        ping = target.ping;
                        ResponseBody::decoded(body, decoder)
                    }
                }
            }
        };
        for (name, value) in &target.response_headers {
            head.headers.insert(name.clone(), value.clone());
        }
        Ok(UpstreamResponse {
            connection,
            pool: Arc::clone(pool),
            head,
            body,
            idle,
            ping,
        })
    }

    /// Collects a translated body. The decoder limits its size.
    async fn collect(
        &self,
        connection: &mut UpstreamConnection,
        mut body: Incoming,
        decoder: &mut dyn Decoder,
        idle: Duration,
    ) -> Result<Bytes, ExchangeError> {
        let mut out = BytesMut::new();
        let mut silence = SilenceTimer::new(connection.take_timer(), idle, None);
        let untranslatable = |error| self.codec_failed(ErrorKind::UntranslatableResponse, error);
        let collected = poll_fn(|cx| {
            loop {
                connection.poll_drive(cx);
                let Poll::Ready(frame) = Pin::new(&mut body).poll_frame(cx) else {
                    return silence.poll(cx).map(|_| {
                        self.metrics.fault("upstream_idle");
                        let detail = "the upstream went silent inside a response";
                        Err(ExchangeError::new(ErrorKind::TimedOut, detail))
                    });
                };
                silence.received();
                let part = match frame {
                    Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
                    Some(Err(error)) => {
                        self.metrics.fault("upstream_broke");
                        return Poll::Ready(Err(ExchangeError::new(ErrorKind::Unreachable, error)));
                    }
                    None => {
                        let ended = caught(|| decoder.end(&mut out));
                        return Poll::Ready(ended.map_err(untranslatable));
                    }
                };
                if let Err(error) = caught(|| decoder.chunk(&part, &mut out)) {
                    return Poll::Ready(Err(untranslatable(error)));
                }
            }
        })
        .await;
        connection.put_timer(silence.take_timer());
        collected.map(|()| out.freeze())
    }
}
