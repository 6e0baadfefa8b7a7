//! HTTP to the provider: one client, created by the first call.

use super::ModelError;
use crate::SetupError;
use crate::endpoint::{self, Endpoint};
use bytes::Bytes;
use grov_domain::{Clock, SystemClock};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Response, Url};
use rustls_platform_verifier::BuilderVerifierExt;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::sync::OnceCell;

/// The default limit of a response body, in bytes. Judgements have a few kilobytes.
const MAX_RESPONSE_BYTES: usize = 1024 * 1024;

/// The timeout for connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long an idle connection is kept.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// The beginning of the media type of an event stream.
const EVENT_STREAM: &str = "text/event-stream";

/// Asks a Grov proxy in front of a local server not to process the call.
const BYPASS: HeaderName = HeaderName::from_static("x-grov-bypass");

/// A connection to one endpoint.
pub(crate) struct Transport {
    endpoint: Endpoint,
    proxy: Option<Url>,
    own_listeners: Vec<SocketAddr>,
    headers: HeaderMap,
    max_response_bytes: usize,
    /// Created by the first call: loading the system's certificates costs time and memory.
    client: OnceCell<Client>,
}

/// A response whose body arrives in parts.
pub(crate) struct Incoming {
    /// Without the body.
    reply: Reply,
    /// Whether the body is an event stream.
    pub(crate) is_event_stream: bool,
    response: Response,
    max_bytes: usize,
    /// Bytes of the body so far.
    read: usize,
}

/// A complete response.
#[derive(Debug)]
pub(crate) struct Reply {
    /// The status.
    pub(crate) status: u16,
    /// The server's `retry-after`.
    pub(crate) retry_after: Option<Duration>,
    /// Whether the server allows the same request again (`x-should-retry`).
    pub(crate) may_retry: bool,
    body: Vec<u8>,
}

impl Transport {
    /// A transport to `endpoint`, optionally through `proxy`, with `headers` on every request. Fails if either is one of our
    /// own listeners.
    pub(crate) fn new(
        endpoint: Endpoint,
        proxy: Option<Url>,
        own_listeners: Vec<SocketAddr>,
        mut headers: HeaderMap,
    ) -> Result<Self, SetupError> {
        let named = [("base URL", Some(endpoint.url())), ("proxy", proxy.as_ref())];
        for (what, url) in named {
            if let Some(listener) = url.and_then(|url| endpoint::own_listener(url, &own_listeners)) {
                return Err(SetupError::OwnListener { what, listener });
            }
        }
        if endpoint.is_loopback() {
            headers.insert(BYPASS, HeaderValue::from_static("1"));
        }
        Ok(Self {
            endpoint,
            proxy,
            own_listeners,
            headers,
            max_response_bytes: MAX_RESPONSE_BYTES,
            client: OnceCell::new(),
        })
    }

    /// With another limit of the response body.
    pub(crate) fn with_max_response_bytes(self, max_response_bytes: usize) -> Self {
        Self {
            max_response_bytes,
            ..self
        }
    }

    /// The endpoint.
    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Posts JSON to `path` below the base URL, with an optional extra header, and reads the whole response.
    pub(crate) async fn post(
        &self,
        path: &str,
        body: &Value,
        header: Option<(&'static str, &'static str)>,
    ) -> Result<Reply, ModelError> {
        self.send(path, body, header).await?.whole().await
    }

    /// Like [`Transport::post`], and reads only the head of the response.
    pub(crate) async fn send(
        &self,
        path: &str,
        body: &Value,
        header: Option<(&'static str, &'static str)>,
    ) -> Result<Incoming, ModelError> {
        for url in std::iter::once(self.endpoint.url()).chain(self.proxy.as_ref()) {
            if let Some(listener) = endpoint::resolves_to_own(url, &self.own_listeners).await {
                return Err(ModelError::OwnListener(listener));
            }
        }
        let client = self
            .client
            .get_or_try_init(|| self.client())
            .await
            .map_err(|error| ModelError::Unreachable(error.to_string()))?;
        let mut headers = self.headers.clone();
        headers.extend(
            header.map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))),
        );
        let sent = client
            .post(self.endpoint.below(path))
            .headers(headers)
            .body(body.to_string())
            .send()
            .await;
        let response = sent.map_err(|error| {
            let connecting = error.is_connect();
            let reason = with_causes(&error.without_url());
            if connecting {
                ModelError::Unreachable(reason)
            } else {
                ModelError::Broken(reason)
            }
        })?;
        let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
        let reply = Reply {
            status: response.status().as_u16(),
            retry_after: header("retry-after").and_then(|text| retry_after(text, SystemClock.now())),
            may_retry: header("x-should-retry") != Some("false"),
            body: Vec::new(),
        };
        let is_event_stream = header("content-type").is_some_and(|kind| {
            let kind = kind.trim_start().as_bytes();
            kind.len() >= EVENT_STREAM.len()
                && kind[..EVENT_STREAM.len()].eq_ignore_ascii_case(EVENT_STREAM.as_bytes())
        });
        Ok(Incoming {
            reply,
            is_event_stream,
            response,
            max_bytes: self.max_response_bytes,
            read: 0,
        })
    }

    async fn client(&self) -> Result<Client, ClientError> {
        let through_tls = self.proxy.as_ref().is_some_and(|proxy| proxy.scheme() == "https");
        let mut builder = builder(self.endpoint.is_secure() || through_tls)
            .await?
            .connect_timeout(CONNECT_TIMEOUT)
            .pool_idle_timeout(IDLE_TIMEOUT);
        if let Some(proxy) = &self.proxy {
            builder = builder.proxy(reqwest::Proxy::all(proxy.clone())?);
        }
        Ok(builder.build()?)
    }
}

impl Incoming {
    /// The status.
    pub(crate) fn status(&self) -> u16 {
        self.reply.status
    }

    /// The next part of the body; `None` at its end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, ModelError> {
        let broken = |error: reqwest::Error| ModelError::Broken(with_causes(&error.without_url()));
        let chunk = self.response.chunk().await.map_err(broken)?;
        self.read += chunk.as_ref().map_or(0, Bytes::len);
        if self.read > self.max_bytes {
            let max = self.max_bytes;
            return Err(ModelError::Broken(format!("it is longer than {max} bytes")));
        }
        Ok(chunk)
    }

    /// The whole response.
    pub(crate) async fn whole(mut self) -> Result<Reply, ModelError> {
        while let Some(chunk) = self.chunk().await? {
            self.reply.body.extend_from_slice(&chunk);
        }
        Ok(self.reply)
    }
}

impl Reply {
    /// Whether the body contains this text.
    pub(crate) fn mentions(&self, text: &str) -> bool {
        String::from_utf8_lossy(&self.body).contains(text)
    }

    /// The body as JSON.
    pub(crate) fn json(&self) -> Result<Value, ModelError> {
        self.read()
    }

    /// The body, deserialised.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, ModelError> {
        serde_json::from_slice(&self.body).map_err(|error| {
            let fault = if error.is_data() {
                "has another shape than expected"
            } else {
                "is no JSON"
            };
            ModelError::Broken(format!(
                "it {fault} (line {}, column {})",
                error.line(),
                error.column()
            ))
        })
    }

    /// The server's error type, if it is safe to show.
    pub(crate) fn error_kind(&self) -> String {
        let body: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        let error = body.get("error");
        let kind = ["type", "code"]
            .iter()
            .find_map(|name| error?.get(*name)?.as_str())
            .filter(|kind| kind.len() <= 60 && kind.chars().all(|c| c.is_ascii_lowercase() || c == '_'));
        kind.unwrap_or("no reason given").to_owned()
    }
}

/// `Retry-After`: seconds or a date.
pub(crate) fn retry_after(text: &str, now: time::OffsetDateTime) -> Option<Duration> {
    if let Ok(seconds) = text.trim().parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    // HTTP dates end in GMT, RFC 2822 wants an offset.
    let dated = text.trim().replace("GMT", "+0000");
    let at = time::OffsetDateTime::parse(&dated, &time::format_description::well_known::Rfc2822).ok()?;
    Some(Duration::try_from(at - now).unwrap_or_default())
}

/// A client that follows no redirects and reads no environment, without timeouts. `is_secure`: it needs the system's certificates.
pub(crate) async fn builder(is_secure: bool) -> Result<reqwest::ClientBuilder, ClientError> {
    let tls = if is_secure {
        // Loading the system's certificates blocks.
        tokio::task::spawn_blocking(tls_with_machine_roots).await??
    } else {
        tls_without_roots()?
    };
    Ok(Client::builder()
        .tls_backend_preconfigured(tls)
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("grov/", env!("CARGO_PKG_VERSION"))))
}

/// Why the HTTP client could not be set up.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClientError {
    #[error("{0}")]
    Tls(#[from] rustls::Error),
    #[error("{0}")]
    Interrupted(#[from] tokio::task::JoinError),
    #[error("{0}")]
    Http(String),
}

impl From<reqwest::Error> for ClientError {
    /// Without the URL, which may contain a password.
    fn from(error: reqwest::Error) -> Self {
        Self::Http(with_causes(&error.without_url()))
    }
}

fn tls_with_machine_roots() -> Result<rustls::ClientConfig, ClientError> {
    Ok(tls_builder()?.with_platform_verifier()?.with_no_client_auth())
}

/// For plain HTTP, without certificates.
fn tls_without_roots() -> Result<rustls::ClientConfig, ClientError> {
    Ok(tls_builder()?
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth())
}

fn tls_builder() -> Result<rustls::ConfigBuilder<rustls::ClientConfig, rustls::WantsVerifier>, rustls::Error>
{
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    rustls::ClientConfig::builder_with_details(provider, Arc::new(TlsClock))
        .with_safe_default_protocol_versions()
}

/// The system clock; the one in rustls panics before 1970.
#[derive(Debug)]
struct TlsClock;

impl rustls::time_provider::TimeProvider for TlsClock {
    fn current_time(&self) -> Option<rustls::pki_types::UnixTime> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        now.ok().map(rustls::pki_types::UnixTime::since_unix_epoch)
    }
}

/// The error and its causes, on one line.
pub(crate) fn with_causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = datetime!(2026-03-01 12:00:00 UTC);
        assert_eq!(retry_after("7", now), Some(Duration::from_secs(7)));
        assert_eq!(
            retry_after("Sun, 01 Mar 2026 12:01:00 GMT", now),
            Some(Duration::from_secs(60))
        );
        assert_eq!(
            retry_after("Sun, 01 Mar 2026 11:01:00 GMT", now),
            Some(Duration::ZERO)
        );
        assert_eq!(retry_after("soon", now), None);
    }

    fn reply(body: &str) -> Reply {
        Reply {
            status: 400,
            retry_after: None,
            may_retry: true,
            body: body.as_bytes().to_vec(),
        }
    }

    #[test]
    fn the_error_kind_is_a_name_without_a_message() {
        assert_eq!(
            reply(r#"{"error":{"type":"not_found_error","message":"sk-secret"}}"#).error_kind(),
            "not_found_error"
        );
        for body in [
            r#"{"error":{"type":"Key sk-Secret is wrong"}}"#,
            "<html>",
            r#"{"error":"x"}"#,
        ] {
            assert_eq!(reply(body).error_kind(), "no reason given");
        }
    }

    fn to(base: &str, proxy: Option<&str>) -> Result<Transport, SetupError> {
        let own = vec!["127.0.0.1:8080".parse().unwrap()];
        let proxy = proxy.map(|proxy| endpoint::proxy(proxy).unwrap());
        Transport::new(Endpoint::parse(base)?, proxy, own, HeaderMap::new())
    }

    #[test]
    fn an_own_listener_is_refused_as_server_and_as_proxy() {
        assert!(matches!(
            to("http://localhost:8080", None),
            Err(SetupError::OwnListener { what: "base URL", .. })
        ));
        assert!(matches!(
            to("https://api.anthropic.com", Some("http://[::1]:8080")),
            Err(SetupError::OwnListener { what: "proxy", .. })
        ));
        assert!(to("https://api.anthropic.com", Some("http://localhost:3128")).is_ok());
    }

    #[test]
    fn the_bypass_header_is_sent_only_to_this_machine() {
        assert!(
            to("http://127.0.0.1:11434", None)
                .unwrap()
                .headers
                .contains_key(BYPASS)
        );
        assert!(
            !to("https://api.anthropic.com", None)
                .unwrap()
                .headers
                .contains_key(BYPASS)
        );
    }
}
