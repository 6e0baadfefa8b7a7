//! Sends requests, with the client's retries and fallbacks.

use super::decode::Message;
use super::{PlayerConfig, headers};
use crate::behaviour::Encoding;
use crate::json::Json;
use crate::wire::{Frame, Head, Wire, WireError};
use bytes::{Bytes, BytesMut};
use grov_domain::{ExchangeKind, TokenUsage};
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::transcript::Exchange;

/// The maximum pause before a retry.
const MAX_DELAY: Duration = Duration::from_secs(32);

/// The player cannot be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlayError {
    /// The base URL is not of the form `http://host:port[/path]`.
    #[error("the base URL {0:?} is not of the form http://host:port")]
    BaseUrl(String),
}

/// The outcome of a request, including all retries.
pub(super) struct Reply {
    pub(super) exchanges: Vec<Exchange>,
    message: Option<Message>,
    error: Option<String>,
}

impl Reply {
    /// The answer, if one arrived at least in part.
    pub(super) fn message(&self) -> Option<&Message> {
        self.message.as_ref()
    }

    /// The error, if the request failed.
    pub(super) fn error(&self) -> Option<String> {
        self.error.clone()
    }
}

/// A connection pool of size one, which is enough for a session's sequential requests.
#[derive(Debug)]
pub(super) struct Client {
    host: String,
    prefix: String,
    config: PlayerConfig,
    idle: Option<Wire<TcpStream>>,
}

/// One response, possibly incomplete.
struct Response {
    head: Head,
    body: Bytes,
    /// Whether the body is complete according to its framing.
    ended: bool,
    first_byte: Duration,
}

/// What to do after an attempt.
enum Next {
    Done,
    Repeat(Option<Duration>),
    WithoutStream,
}

impl Client {
    pub(super) fn new(base_url: &str, config: &PlayerConfig) -> Result<Self, PlayError> {
        let refuse = || PlayError::BaseUrl(base_url.to_owned());
        let rest = base_url.strip_prefix("http://").ok_or_else(refuse)?;
        let (host, prefix) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
        if !host.contains(':') {
            return Err(refuse());
        }
        let prefix = prefix.trim_end_matches('/').to_owned();
        Ok(Self {
            host: host.to_owned(),
            prefix,
            config: config.clone(),
            idle: None,
        })
    }

    /// A client for requests that run in parallel to this one's.
    pub(super) fn for_parallel_request(&self) -> Self {
        let (host, prefix, config) = (self.host.clone(), self.prefix.clone(), self.config.clone());
        Self {
            host,
            prefix,
            config,
            idle: None,
        }
    }

    /// Sends the client's first request, the probe, on a separate connection. Returns its status, if there was an
    /// answer.
    pub(super) async fn probe(&self) -> Option<u16> {
        let stream = TcpStream::connect(&self.host).await.ok()?;
        let mut wire = Wire::new(stream);
        let head = head_of(
            "HEAD",
            &format!("{}/", self.prefix),
            &headers::of_probe(&self.host),
        );
        wire.send(&head).await.ok()?;
        timeout(self.config.patience, wire.read_head())
            .await
            .ok()?
            .ok()??
            .status()
    }

    /// Sends a request until it is answered or no retry can help.
    pub(super) async fn send(&mut self, kind: ExchangeKind, agent: Option<&str>, body: Json) -> Reply {
        let mut reply = Reply {
            exchanges: Vec::new(),
            message: None,
            error: None,
        };
        let mut stream = true;
        let mut repeated = 0;
        loop {
            let mut sent = body.clone();
            if stream {
                sent.set("stream", true.into());
            }
            let sent = Bytes::from(sent.to_string());
            let headers = headers::of_messages(&self.config, kind, agent, stream);
            let response = self.attempt(&headers, &sent).await;
            let mut exchange = Exchange {
                kind,
                agent_id: agent.map(str::to_owned),
                sent: if self.config.keep_bodies {
                    sent
                } else {
                    Bytes::new()
                },
                stream,
                status: None,
                request_id: None,
                complete: false,
                usage: TokenUsage::default(),
                stop_reason: None,
                first_byte: None,
                error: None,
            };
            let next = match response {
                Ok(response) => judge(response, &mut exchange, &mut reply),
                Err(error) => {
                    exchange.error = Some(error.to_string());
                    Next::Repeat(None)
                }
            };
            reply.error = exchange.error.clone();
            reply.exchanges.push(exchange);
            match next {
                Next::Repeat(after) if repeated < self.config.retries => {
                    let delay = self
                        .config
                        .retry_delay
                        .saturating_mul(1 << repeated.min(16))
                        .min(MAX_DELAY);
                    repeated += 1;
                    tokio::time::sleep(delay.max(after.unwrap_or_default())).await;
                }
                Next::WithoutStream if stream => stream = false,
                _ => return reply,
            }
        }
    }

    async fn attempt(&mut self, headers: &[(String, String)], body: &[u8]) -> Result<Response, WireError> {
        let mut headers = headers.to_vec();
        for (name, value) in [
            ("Connection", "keep-alive"),
            ("Host", self.host.as_str()),
            ("Accept-Encoding", "gzip, deflate, br, zstd"),
            ("Content-Length", body.len().to_string().as_str()),
        ] {
            headers.push((name.to_owned(), value.to_owned()));
        }
        let mut request = head_of(
            "POST",
            &format!("{}/v1/messages?beta=true", self.prefix),
            &headers,
        );
        request.extend_from_slice(body);
        let mut wire = match self.idle.take() {
            Some(wire) => wire,
            None => {
                let stream = TcpStream::connect(&self.host).await?;
                let _ = stream.set_nodelay(true);
                Wire::new(stream)
            }
        };
        wire.send(&request).await?;
        let (response, reusable) = self.receive(&mut wire).await?;
        if reusable {
            self.idle = Some(wire);
        }
        Ok(response)
    }

    async fn receive(&self, wire: &mut Wire<TcpStream>) -> Result<(Response, bool), WireError> {
        let begun = Instant::now();
        let patience = self.config.patience;
        let silent = |_| WireError::Io(std::io::ErrorKind::TimedOut.into());
        let head = loop {
            let head = timeout(patience, wire.read_head()).await.map_err(silent)??;
            let head = head.ok_or(WireError::Truncated)?;
            // Interim responses precede the final one.
            if head.status().is_none_or(|status| status >= 200) {
                break head;
            }
        };
        let framing = head.response_framing(false)?;
        let mut body = BytesMut::new();
        let mut reader = wire.body(framing);
        let mut first_byte = begun.elapsed();
        let ended = loop {
            match timeout(patience, reader.frame()).await {
                Ok(Ok(Frame::Data(data))) => {
                    if body.is_empty() {
                        first_byte = begun.elapsed();
                    }
                    body.extend_from_slice(&data);
                }
                Ok(Ok(Frame::End(_))) => break true,
                Ok(Err(_)) | Err(_) => break false,
            }
        };
        let closes = head.has_token("connection", "close") || !head.line.starts_with("HTTP/1.1");
        let reusable = ended && !closes && framing != crate::wire::Framing::UntilClose;
        Ok((
            Response {
                head,
                body: body.freeze(),
                ended,
                first_byte,
            },
            reusable,
        ))
    }
}

/// Evaluates the response and decides the client's next action.
fn judge(response: Response, exchange: &mut Exchange, reply: &mut Reply) -> Next {
    let Response {
        head,
        body,
        ended,
        first_byte,
    } = response;
    let status = head.status().unwrap_or_default();
    exchange.status = Some(status);
    exchange.request_id = head.header("request-id").map(str::to_owned);
    exchange.first_byte = Some(first_byte);
    let encoding = head.header("content-encoding").and_then(Encoding::from_name);
    let body = encoding.map_or_else(|| body.to_vec(), |encoding| encoding.decode(&body));
    if status != 200 {
        let message = Json::parse(&body).ok();
        let message = message
            .as_ref()
            .and_then(|body| body.get("error")?.get_str("message"))
            .unwrap_or("no reason given");
        exchange.error = Some(format!("API Error: {status} {message}"));
        let after = head
            .header("retry-after")
            .and_then(|value| value.parse().ok())
            .map(Duration::from_secs);
        return match status {
            // Recognised by its wording and not retried; any other 401 is.
            401 if message == "invalid x-api-key" => Next::Done,
            401 | 408 | 409 | 429 | 500.. => Next::Repeat(after),
            404 => Next::WithoutStream,
            _ => Next::Done,
        };
    }
    let events = head
        .header("content-type")
        .is_some_and(|value| value.starts_with("text/event-stream"));
    let message = match (exchange.stream, events) {
        (true, true) => Message::from_events(&body),
        (false, false) if ended => Message::from_json(&body),
        _ => Message::default(),
    };
    exchange.complete = message.complete;
    exchange.usage = message.usage;
    exchange.stop_reason = message.stop_reason.clone();
    if message.complete {
        reply.message = Some(message);
        return Next::Done;
    }
    exchange.error = Some(
        message
            .error
            .clone()
            .unwrap_or_else(|| "the answer broke off".to_owned()),
    );
    if message.blocks.is_empty() {
        return Next::WithoutStream;
    }
    reply.message = Some(message);
    Next::Done
}

fn head_of(method: &str, target: &str, headers: &[(String, String)]) -> Vec<u8> {
    let mut head = format!("{method} {target} HTTP/1.1\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    head.into_bytes()
}
