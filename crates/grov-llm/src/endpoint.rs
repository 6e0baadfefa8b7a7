//! Addresses of servers and proxies. Grov's own listeners are refused.

use crate::SetupError;
use reqwest::Url;
use std::net::{IpAddr, SocketAddr};

/// The server to call.
#[derive(Clone)]
pub(crate) struct Endpoint {
    url: Url,
}

impl Endpoint {
    /// Parses a base URL, with or without `/v1` at its end.
    pub(crate) fn parse(text: &str) -> Result<Self, SetupError> {
        let refused = |reason: &str| SetupError::BaseUrl(reason.to_owned());
        let url = http_url(text).map_err(|error| SetupError::BaseUrl(error.to_string()))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refused(
                "it contains a user or a password; the API key is a separate setting",
            ));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(refused("it has a query or a fragment"));
        }
        Ok(Self { url })
    }

    /// The URL of `path` below the base: `v1/messages`, `api/embed`.
    pub(crate) fn below(&self, path: &str) -> Url {
        let mut url = self.url.clone();
        let base = url.path().trim_end_matches('/');
        let base = base.strip_suffix("/v1").unwrap_or(base);
        let path = format!("{base}/{path}");
        url.set_path(&path);
        url
    }

    /// Whether the base URL ends in `/v1`.
    pub(crate) fn ends_in_v1(&self) -> bool {
        self.url.path().trim_end_matches('/').ends_with("/v1")
    }

    /// Whether the server is on this machine.
    pub(crate) fn is_loopback(&self) -> bool {
        is_loopback(&self.url)
    }

    /// Whether the connection is encrypted.
    pub(crate) fn is_secure(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// The host as written in the URL.
    pub(crate) fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// The base URL.
    pub(crate) fn url(&self) -> &Url {
        &self.url
    }
}

/// Parses the URL of an HTTP proxy.
pub(crate) fn proxy(text: &str) -> Result<Url, SetupError> {
    http_url(text).map_err(|error| SetupError::Proxy(error.to_string()))
}

/// Why a text is not the URL of an HTTP server.
#[derive(Debug, thiserror::Error)]
enum UrlError {
    #[error("{0}")]
    Invalid(String),
    #[error("it names no host")]
    NoHost,
    #[error("its scheme is `{0}`; only http and https are supported")]
    Scheme(String),
}

fn http_url(text: &str) -> Result<Url, UrlError> {
    let url = Url::parse(text.trim()).map_err(|error| UrlError::Invalid(error.to_string()))?;
    match url.scheme() {
        "http" | "https" if url.has_host() => Ok(url),
        "http" | "https" => Err(UrlError::NoHost),
        other => Err(UrlError::Scheme(other.to_owned())),
    }
}

/// Whether the host is `localhost`, a name below it, a loopback or an unspecified address.
fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let name = host.trim_end_matches('.');
    name.eq_ignore_ascii_case("localhost")
        || name.to_ascii_lowercase().ends_with(".localhost")
        || address(host).is_some_and(is_this_machine)
}

fn address(host: &str) -> Option<IpAddr> {
    let host = host.strip_prefix('[').unwrap_or(host);
    let host = host.strip_suffix(']').unwrap_or(host);
    host.parse::<IpAddr>().ok().map(|address| address.to_canonical())
}

fn is_this_machine(address: IpAddr) -> bool {
    let address = address.to_canonical();
    address.is_loopback() || address.is_unspecified()
}

/// The listener in `own` that `url` names, without resolving names.
pub(crate) fn own_listener(url: &Url, own: &[SocketAddr]) -> Option<SocketAddr> {
    let port = url.port_or_known_default()?;
    let named = url.host_str().and_then(address);
    own.iter().copied().find(|listener| {
        listener.port() == port
            && (is_loopback(url) || named.is_some_and(|named| named == listener.ip().to_canonical()))
    })
}

/// The listener in `own` that `url` resolves to. Resolves the name only if the port is that of a listener, so that
/// calls to other providers need no extra lookup.
pub(crate) async fn resolves_to_own(url: &Url, own: &[SocketAddr]) -> Option<SocketAddr> {
    let port = url.port_or_known_default()?;
    let host = url.host_str()?;
    let listener = own.iter().copied().find(|listener| listener.port() == port)?;
    let found = tokio::net::lookup_host((host, port)).await.ok()?;
    found
        .into_iter()
        .any(|found| is_this_machine(found.ip()) || found.ip().to_canonical() == listener.ip().to_canonical())
        .then_some(listener)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> Vec<SocketAddr> {
        vec!["127.0.0.1:8080".parse().unwrap()]
    }

    #[test]
    fn the_url_contains_v1_once() {
        for base in ["http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/v1/"] {
            let endpoint = Endpoint::parse(base).unwrap();
            assert_eq!(endpoint.below("v1/messages").as_str(), "http://h:1/v1/messages");
        }
        let endpoint = Endpoint::parse("https://gate.example/openai/v1").unwrap();
        assert_eq!(
            endpoint.below("v1/chat/completions").as_str(),
            "https://gate.example/openai/v1/chat/completions"
        );
    }

    #[test]
    fn every_spelling_of_a_local_address_is_an_own_listener() {
        for text in [
            "http://127.0.0.1:8080",
            "http://localhost:8080/v1",
            "http://LOCALHOST.:8080",
            "http://a.localhost:8080",
            "http://127.8.8.8:8080",
            "http://127.1:8080",
            "http://2130706433:8080",
            "http://0.0.0.0:8080",
            "http://[::1]:8080",
            "http://[::ffff:127.0.0.1]:8080",
            "http://[::]:8080",
        ] {
            let url = http_url(text).unwrap();
            assert!(own_listener(&url, &own()).is_some(), "{text}");
        }
        for text in [
            "http://127.0.0.1:8081",
            "https://api.anthropic.com",
            "http://10.0.0.1:8080",
        ] {
            assert_eq!(own_listener(&http_url(text).unwrap(), &own()), None, "{text}");
        }
    }

    #[test]
    fn an_own_listener_on_a_default_port_is_found() {
        let own = ["127.0.0.1:80".parse().unwrap()];
        assert!(own_listener(&http_url("http://localhost").unwrap(), &own).is_some());
    }

    #[test]
    fn errors_contain_no_password() {
        for text in [
            "http://me:hunter2@host",
            "ftp://me:hunter2@host",
            "hunter2",
            "http://host/?key=hunter2",
            "http://me:hunter2@ho st",
        ] {
            let Err(error) = Endpoint::parse(text) else {
                panic!("{text} was taken");
            };
            assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
        }
    }

    #[tokio::test]
    async fn a_name_that_resolves_to_an_own_listener_is_found() {
        let url = http_url("http://localhost:8080").unwrap();
        assert!(resolves_to_own(&url, &own()).await.is_some());
        let other = http_url("http://localhost:8081").unwrap();
        assert_eq!(resolves_to_own(&other, &own()).await, None);
    }
}
