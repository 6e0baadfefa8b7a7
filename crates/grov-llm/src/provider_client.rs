//! Calls to a server that is not Grov's own model: a provider of routing, to set it up and to test it (requests of agents go
//! through the proxy instead), or the receiver of a webhook.

use crate::endpoint;
use crate::model::transport::{self, with_causes};
use bytes::Bytes;
use grov_domain::{Clock, SystemClock};
use grov_redact::Secret;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Response, Url};
use std::net::SocketAddr;
use std::time::Duration;

/// The default limit of a response body, in bytes.
const MAX_RESPONSE_BYTES: usize = 16 * 1024 * 1024;

/// How a provider is reached.
#[derive(Clone, Debug)]
pub struct ProviderRoute {
    /// The limit of silence: for the connection, and between two reads of the response.
    pub timeout: Duration,
    /// The HTTP proxy; variables such as `HTTPS_PROXY` are not used.
    pub proxy: Option<String>,
    /// Grov's own listeners, which are refused as provider and as proxy.
    pub own_listeners: Vec<SocketAddr>,
    /// The limit of a response body, in bytes.
    pub max_response_bytes: usize,
}

impl ProviderRoute {
    /// A direct connection with this limit of silence.
    pub fn direct(timeout: Duration) -> Self {
        Self {
            timeout,
            proxy: None,
            own_listeners: Vec::new(),
            max_response_bytes: MAX_RESPONSE_BYTES,
        }
    }
}

/// A client of one provider. It follows no redirects, so that a key never reaches another host.
pub struct ProviderClient {
    client: Client,
    base: String,
    headers: HeaderMap,
    timeout: Duration,
    max_response_bytes: usize,
}

/// A response whose body is read in parts.
pub struct ProviderResponse {
    response: Response,
    read: usize,
    timeout: Duration,
    max_response_bytes: usize,
}

/// Why a call has no complete response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderCallError {
    /// The client cannot be set up: an invalid URL, key or certificate store.
    #[error("{0}")]
    Setup(String),
    /// There is no connection.
    #[error("the server cannot be reached: {0}")]
    Unreachable(String),
    /// The server did not answer in time.
    #[error("the server did not answer within {} seconds", .0.as_secs())]
    TimedOut(Duration),
    /// The response broke off or is too long.
    #[error("the response is incomplete: {0}")]
    Broken(String),
}

impl ProviderClient {
    /// A client of the server at `base`. `headers` are sent with every request. `timeout` is the limit of silence: for the connection, and
    /// between two reads of the response.
    ///
    /// # Errors
    ///
    /// If the URL or a header is invalid, or the system's certificates cannot be loaded.
    pub async fn new(
        base: &str,
        headers: &[(&'static str, Secret)],
        timeout: Duration,
    ) -> Result<Self, ProviderCallError> {
        Self::by_route(base, headers, ProviderRoute::direct(timeout)).await
    }

    /// A client of the server at `base`, reached by `route`. `headers` are sent with every request.
    ///
    /// # Errors
    ///
    /// As [`ProviderClient::new`], and if the server or the proxy is one of Grov's own listeners.
    pub async fn by_route(
        base: &str,
        headers: &[(&'static str, Secret)],
        route: ProviderRoute,
    ) -> Result<Self, ProviderCallError> {
        let timeout = route.timeout;
        let setup = |reason: &dyn std::fmt::Display| ProviderCallError::Setup(reason.to_string());
        let url = Url::parse(base).map_err(|error| setup(&format_args!("the URL is invalid: {error}")))?;
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let value = HeaderValue::from_str(value.expose());
            let mut value = value.map_err(|_| setup(&format_args!("`{name}` cannot be sent in a header")))?;
            value.set_sensitive(true);
            map.insert(HeaderName::from_static(name), value);
        }
        let proxy = route.proxy.as_deref().map(endpoint::proxy).transpose();
        let proxy = proxy.map_err(|error| setup(&error))?;
        for url in std::iter::once(&url).chain(&proxy) {
            if let Some(listener) = own_listener(url.as_str(), &route.own_listeners).await {
                return Err(setup(&format_args!(
                    "the address is Grov's own listener {listener}, so calls would come back to it"
                )));
            }
        }
        let is_secure = |url: &Url| url.scheme() == "https";
        let mut builder = transport::builder(is_secure(&url) || proxy.as_ref().is_some_and(is_secure))
            .await
            .map_err(|error| setup(&error))?
            .connect_timeout(timeout)
            .read_timeout(timeout);
        if let Some(proxy) = proxy {
            let proxy =
                reqwest::Proxy::all(proxy).map_err(|error| setup(&with_causes(&error.without_url())))?;
            builder = builder.proxy(proxy);
        }
        let client = builder
            .build()
            .map_err(|error| setup(&with_causes(&error.without_url())))?;
        Ok(Self {
            client,
            base: base.trim_end_matches('/').to_owned(),
            headers: map,
            timeout,
            max_response_bytes: route.max_response_bytes,
        })
    }

    /// Gets `path` below the base URL.
    ///
    /// # Errors
    ///
    /// If there is no response. Any status is a response.
    pub async fn get(&self, path: &str) -> Result<ProviderResponse, ProviderCallError> {
        let request = self.client.get(format!("{}{path}", self.base));
        self.send(request).await
    }

    /// Posts JSON to `path` below the base URL.
    ///
    /// # Errors
    ///
    /// If there is no response. Any status is a response.
    pub async fn post(&self, path: &str, body: Vec<u8>) -> Result<ProviderResponse, ProviderCallError> {
        let request = self.client.post(format!("{}{path}", self.base));
        let request = request.header(CONTENT_TYPE, "application/json").body(body);
        self.send(request).await
    }

    /// Posts JSON with more headers to `path` below the base URL.
    ///
    /// # Errors
    ///
    /// If there is no response, or a header cannot be sent. Any status is a response.
    pub async fn post_with(
        &self,
        path: &str,
        headers: &[(&'static str, &str)],
        body: Vec<u8>,
    ) -> Result<ProviderResponse, ProviderCallError> {
        let mut request = self.client.post(format!("{}{path}", self.base));
        for (name, value) in headers {
            let value = HeaderValue::from_str(value)
                .map_err(|_| ProviderCallError::Setup(format!("`{name}` cannot be sent in a header")))?;
            request = request.header(*name, value);
        }
        let request = request.header(CONTENT_TYPE, "application/json").body(body);
        self.send(request).await
    }

    /// Sends JSON to `path` below the base URL with any method. A `null` is no body.
    ///
    /// # Errors
    ///
    /// If there is no response, or there is no such method. Any status is a response.
    pub async fn request(
        &self,
        method: &str,
        path: &str,
        body: &serde_json::Value,
    ) -> Result<ProviderResponse, ProviderCallError> {
        let method = reqwest::Method::from_bytes(method.as_bytes())
            .map_err(|_| ProviderCallError::Setup(format!("`{method}` is no method of HTTP")))?;
        let mut request = self.client.request(method, format!("{}{path}", self.base));
        if !body.is_null() {
            request = request
                .header(CONTENT_TYPE, "application/json")
                .body(body.to_string());
        }
        self.send(request).await
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> Result<ProviderResponse, ProviderCallError> {
        let sent = request.headers(self.headers.clone()).send().await;
        let response = sent.map_err(|error| call_error(error, self.timeout))?;
        Ok(ProviderResponse {
            response,
            read: 0,
            timeout: self.timeout,
            max_response_bytes: self.max_response_bytes,
        })
    }
}

impl ProviderResponse {
    /// The status.
    pub fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// The server's `retry-after`.
    pub fn retry_after(&self) -> Option<Duration> {
        let text = self.response.headers().get("retry-after")?.to_str().ok()?;
        transport::retry_after(text, SystemClock.now())
    }

    /// The length of the body, if the server says it.
    pub fn length(&self) -> Option<u64> {
        self.response.content_length()
    }

    /// The value of `content-type`.
    pub fn content_type(&self) -> Option<&str> {
        self.response.headers().get(CONTENT_TYPE)?.to_str().ok()
    }

    /// The next part of the body; `None` at its end.
    ///
    /// # Errors
    ///
    /// If the body breaks off, is silent for too long, or is longer than the limit.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, ProviderCallError> {
        let timeout = self.timeout;
        let chunk = self.response.chunk().await;
        let chunk = chunk.map_err(|error| call_error(error, timeout))?;
        self.read += chunk.as_ref().map_or(0, Bytes::len);
        if self.read > self.max_response_bytes {
            let reason = format!("it is longer than {} bytes", self.max_response_bytes);
            return Err(ProviderCallError::Broken(reason));
        }
        Ok(chunk)
    }

    /// The rest of the body.
    ///
    /// # Errors
    ///
    /// As [`ProviderResponse::chunk`].
    pub async fn body(mut self) -> Result<Vec<u8>, ProviderCallError> {
        let mut body = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }
}

/// The one of Grov's own listeners that `url` names or resolves to. A call to it would come back.
pub async fn own_listener(url: &str, own: &[SocketAddr]) -> Option<SocketAddr> {
    let url = Url::parse(url).ok()?;
    match endpoint::own_listener(&url, own) {
        Some(listener) => Some(listener),
        None => endpoint::resolves_to_own(&url, own).await,
    }
}

/// Without the URL: it may contain what the user did not mean to print.
fn call_error(error: reqwest::Error, timeout: Duration) -> ProviderCallError {
    let (timed_out, connecting) = (error.is_timeout(), error.is_connect());
    let reason = with_causes(&error.without_url());
    match (timed_out, connecting) {
        (true, _) => ProviderCallError::TimedOut(timeout),
        (false, true) => ProviderCallError::Unreachable(reason),
        (false, false) => ProviderCallError::Broken(reason),
    }
}
