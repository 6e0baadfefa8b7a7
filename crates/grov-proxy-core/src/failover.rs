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
use http::{HeaderValue, header, request, response};
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
    /// The number of targets.
    count: usize,
    began: Instant,
    is_reported: bool,
}

impl Running<'_> {
    /// Reports a result and returns the index of the next target, if one is tried.
    fn next(&mut self, result: AttemptResult<'_>) -> Option<usize> {
        self.is_reported = true;
        let failover = self.failover?;
        let attempt = Attempt {
            target: self.target,
            elapsed: self.began.elapsed(),
            result,
        };
        let next = match guarded(|| failover.attempted(&attempt))? {
            Next::Stop => return None,
            Next::Try => self.target + 1,
            Next::TryAt(index) => index,
        };
        (next > self.target && next < self.count).then_some(next)
    }

    /// Reports a failure. Returns the index of the next target, or the error for the client.
    fn failed(&mut self, error: ExchangeError) -> Result<usize, ExchangeError> {
        let failure = Failure {
            kind: FailureKind::of(error.kind),
            detail: error.detail.clone(),
        };
        if let Some(next) = self.next(AttemptResult::Failed(&failure)) {
            return Ok(next);
        }
        let answer = self
            .failover
            .and_then(|failover| guarded(|| failover.exhausted(&failure)).flatten());
        Err(error.answered_with(answer))
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.is_reported {
            self.next(AttemptResult::Abandoned);
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

/// What came of an attempt.
enum Tried {
    Response(Box<UpstreamResponse>),
    /// The index of the next target.
    Next(usize),
}

impl Forwarder {
    /// Sends a request to the first target that answers, beginning with the one with the index `first`.
    pub(crate) async fn send_to_targets(
        &self,
        forward: &Forward,
        first: usize,
        parts: request::Parts,
        body: UpstreamBody,
    ) -> Result<UpstreamResponse, ExchangeError> {
        let count = forward.targets.len();
        let (mut parts, mut body) = (Some(parts), Some(body));
        let mut index = first;
        while let Some(target) = forward.targets.get(index) {
            // The last target takes the body. With several targets it is collected: a stream can be sent only once.
            let is_last = index + 1 == count;
            let (head, copy) = if is_last {
                (parts.take(), body.take())
            } else {
                (parts.clone(), body.as_ref().and_then(UpstreamBody::try_clone))
            };
            let (Some(head), Some(copy)) = (head, copy) else {
                break;
            };
            let mut running = Running {
                failover: forward.failover.as_deref(),
                target: index,
                count,
                began: Instant::now(),
                is_reported: false,
            };
            let tried = self.attempt(target, head, copy, &mut running).await;
            match tried.map_err(|error| error.with_headers(&target.response_headers).at_target(index))? {
                Tried::Response(response) => {
                    return Ok(UpstreamResponse {
                        target: index,
                        ..*response
                    });
                }
                Tried::Next(next) => index = next,
            }
        }
        Err(ExchangeError::new(
            ErrorKind::NoRoute,
            "the route has no target for the request",
        ))
    }

    async fn attempt(
        &self,
        target: &Target,
        parts: request::Parts,
        body: UpstreamBody,
        running: &mut Running<'_>,
    ) -> Result<Tried, ExchangeError> {
        let answered = match self.answer_of(target, parts, body).await {
            Ok(answered) => answered,
            Err(error) => return running.failed(error).map(Tried::Next),
        };
        if let Some(next) = running.next(AttemptResult::Answered(&answered.head)) {
            return Ok(Tried::Next(next));
        }
        match self.translated(target, answered).await {
            // An accepted request whose collected answer is an error after all.
            Ok(response) if response.upstream_status.is_success() && !response.head.status.is_success() => {
                let next = running.next(AttemptResult::Answered(&response.head));
                Ok(next.map_or_else(|| Tried::Response(Box::new(response)), Tried::Next))
            }
            Ok(response) => Ok(Tried::Response(Box::new(response))),
            Err(error) => running.failed(error).map(Tried::Next),
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
            // Without this header, the upstream may use any coding.
            parts
                .headers
                .insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
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
                let detail = format!("redirected with {}, which is not followed", head.status);
                return Err(ExchangeError::new(ErrorKind::Redirected, detail));
            }
            if head.status.is_success() && body.is_end_stream() {
                self.metrics.fault("upstream_empty");
                let detail = "the answer is empty";
                return Err(ExchangeError::with_public_detail(
                    ErrorKind::UntranslatableResponse,
                    detail,
                ));
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
        let upstream_status = head.status;
        let pool = self.pools.get(&target.upstream);
        let idle = target.timeouts.idle.unwrap_or(self.limits.idle);
        let mut connection = Some(connection);
        let mut ping = None;
        let body = match decoder {
            None => ResponseBody::Plain(body),
            Some(mut decoder) => {
                if !body.is_end_stream() && !headers::is_content_plain(&head.headers) {
                    self.metrics.fault("upstream_coding");
                    let coding = head.headers.get(header::CONTENT_ENCODING);
                    let coding = coding.map(|value| value.to_str().unwrap_or("unreadable"));
                    let detail = format!("its content coding is {}", coding.unwrap_or_default());
                    return Err(ExchangeError::new(ErrorKind::UnknownResponseCoding, detail));
                }
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
            target: 0,
            upstream_status,
            head,
            body,
            idle,
            ping,
        })
    }

    /// Collects a translated body, until the decoder needs nothing more. The decoder limits its size.
    async fn collect(
        &self,
        connection: &mut UpstreamConnection,
        mut body: Incoming,
        decoder: &mut dyn Decoder,
        idle: Duration,
    ) -> Result<Bytes, ExchangeError> {
        let mut out = BytesMut::new();
        let mut is_done = false;
        let mut silence = SilenceTimer::new(connection.take_timer(), idle, None);
        let untranslatable = |error| self.codec_failed(ErrorKind::UntranslatableResponse, error);
        let collected = poll_fn(|cx| {
            loop {
                connection.poll_drive(cx);
                let polled = Pin::new(&mut body).poll_frame(cx);
                if is_done {
                    // Polled once more: the connection can be reused if the end has arrived too.
                    return Poll::Ready(Ok(()));
                }
                let Poll::Ready(frame) = polled else {
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
                is_done = caught(|| Ok(decoder.is_done())).unwrap_or_default();
            }
        })
        .await;
        connection.put_timer(silence.take_timer());
        collected.map(|()| out.freeze())
    }
}
