//! The upstream's address.

use crate::error::BuildError;
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderValue, Uri};

/// The address of an upstream: scheme, host, port and an optional path prefix.
///
/// ```
/// use grov_proxy_core::Upstream;
///
/// let upstream = Upstream::parse("https://api.anthropic.com")?;
/// assert_eq!((upstream.host(), upstream.port()), ("api.anthropic.com", 443));
/// # Ok::<(), grov_proxy_core::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Upstream {
    uri: Uri,
    authority: Authority,
    host: HeaderValue,
    secure: bool,
    /// Without a trailing slash; empty for none.
    prefix: String,
}

impl Upstream {
    /// Parses a URL such as `https://api.anthropic.com` or `http://127.0.0.1:9000/some/prefix`.
    ///
    /// # Errors
    /// If the URL is not `http` or `https`, has no host, or has a user name, a password or a query.
    pub fn parse(text: &str) -> Result<Self, BuildError> {
        let wrong = |reason: &str| BuildError::Upstream {
            given: without_user(text),
            reason: reason.to_owned(),
        };
        let uri: Uri = text
            .trim()
            .parse()
            .map_err(|_| wrong("it is not a URL like https://api.anthropic.com"))?;
        let secure = match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTPS => true,
            Some(scheme) if *scheme == Scheme::HTTP => false,
            _ => return Err(wrong("it must begin with https:// or http://")),
        };
        let authority = uri
            .authority()
            .cloned()
            .ok_or_else(|| wrong("it names no host"))?;
        if authority.as_str().contains('@') {
            return Err(wrong("it must not hold a user name or password"));
        }
        if uri.query().is_some() {
            return Err(wrong("it must not hold a query"));
        }
        let host = HeaderValue::from_str(authority.as_str()).map_err(|_| wrong("its host is not usable"))?;
        let prefix = uri.path().trim_end_matches('/').to_owned();
        Ok(Self {
            uri,
            authority,
            host,
            secure,
            prefix,
        })
    }

    /// Returns the value of the `host` header.
    pub fn host_header(&self) -> &HeaderValue {
        &self.host
    }

    /// Returns the host name or address, without brackets.
    pub fn host(&self) -> &str {
        self.authority
            .host()
            .trim_start_matches('[')
            .trim_end_matches(']')
    }

    /// Returns the port, or the default port of the scheme.
    pub fn port(&self) -> u16 {
        self.authority
            .port_u16()
            .unwrap_or(if self.secure { 443 } else { 80 })
    }

    /// Returns whether the scheme is `https`.
    pub fn is_secure(&self) -> bool {
        self.secure
    }

    /// Returns the URL.
    pub fn uri(&self) -> &Uri {
        &self.uri
    }

    /// Returns the request target for the client's path and query, in origin form with the path prefix.
    pub(crate) fn request_target(&self, uri: &Uri) -> Result<Uri, http::Error> {
        let asked = uri
            .path_and_query()
            .cloned()
            .unwrap_or_else(|| PathAndQuery::from_static("/"));
        let mut parts = http::uri::Parts::default();
        parts.path_and_query = Some(if self.prefix.is_empty() {
            asked
        } else {
            PathAndQuery::try_from(format!("{}{}", self.prefix, asked))?
        });
        Ok(Uri::from_parts(parts)?)
    }
}

/// Masks everything before an `@` in the authority, so that no password reaches a message.
fn without_user(text: &str) -> String {
    match (text.find("://"), text.rfind('@')) {
        (Some(scheme), Some(at)) if at > scheme => format!("{}://…{}", &text[..scheme], &text[at..]),
        (None, Some(at)) => format!("…{}", &text[at..]),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_query_and_prefix_are_kept_byte_for_byte() {
        let plain = Upstream::parse("https://api.anthropic.com/").unwrap();
        let asked: Uri = "/v1/messages?beta=true&x=%2F".parse().unwrap();
        assert_eq!(
            plain.request_target(&asked).unwrap(),
            "/v1/messages?beta=true&x=%2F"
        );
        let prefixed = Upstream::parse("http://127.0.0.1:9/a/b/").unwrap();
        assert_eq!(
            prefixed.request_target(&asked).unwrap(),
            "/a/b/v1/messages?beta=true&x=%2F"
        );
        assert_eq!((prefixed.port(), prefixed.is_secure()), (9, false));
        assert_eq!((plain.port(), plain.host()), (443, "api.anthropic.com"));
    }

    #[test]
    fn absolute_form_becomes_origin_form() {
        let upstream = Upstream::parse("https://api.anthropic.com").unwrap();
        let asked: Uri = "http://127.0.0.1:8080/v1/messages".parse().unwrap();
        assert_eq!(upstream.request_target(&asked).unwrap(), "/v1/messages");
    }

    #[test]
    fn password_in_the_url_is_rejected_and_not_printed() {
        let error = Upstream::parse("https://user:hunter2@api.example")
            .unwrap_err()
            .to_string();
        assert!(!error.contains("hunter2"), "{error}");
        assert!(Upstream::parse("ftp://x").is_err());
        assert!(Upstream::parse("api.anthropic.com").is_err());
    }
}
