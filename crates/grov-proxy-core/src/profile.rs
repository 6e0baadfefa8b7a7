//! Connections that the embedder intercepted.

use crate::error_response::ErrorKind;
use crate::headers::is_request_coding_understood;
use crate::upstream::UpstreamHandle;
use http::{HeaderMap, Method, Uri, header};

/// How the requests of an intercepted connection are treated.
///
/// The client believes that it is connected to a server on the internet. Compared with a connection to the proxy's own listener,
/// its `Host` must name that server, its requests go to [`upstream`](Self::upstream) unless a router decides otherwise, paths
/// below `/_grov/` belong to the server, and policies are called only with [`edits`](Self::edits). Routers and observers work
/// as usual.
#[derive(Clone, Debug)]
pub struct ConnectionProfile {
    /// The host that the client connected to, without brackets, such as `api.anthropic.com`.
    pub host: String,
    /// The port that the client connected to.
    pub port: u16,
    /// Where its requests go.
    pub upstream: UpstreamHandle,
    /// Whether policies may edit its requests.
    pub edits: bool,
}

impl ConnectionProfile {
    /// Returns an error if the request must be refused.
    pub(crate) fn check(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), ErrorKind> {
        if method == Method::CONNECT {
            return Err(ErrorKind::NotAForwardProxy);
        }
        if uri
            .authority()
            .is_some_and(|named| !self.is_named(named.as_str()))
        {
            return Err(ErrorKind::Misdirected);
        }
        let mut hosts = headers.get_all(header::HOST).iter();
        if let Some(host) = hosts.next() {
            if !host.to_str().is_ok_and(|host| self.is_named(host)) {
                return Err(ErrorKind::Misdirected);
            }
            if hosts.next().is_some() {
                return Err(ErrorKind::BadFraming);
            }
        }
        if is_request_coding_understood(headers) {
            Ok(())
        } else {
            Err(ErrorKind::UnknownCoding)
        }
    }

    /// Returns whether an authority is the server of this connection. Without a port it is the one of HTTPS.
    fn is_named(&self, authority: &str) -> bool {
        let Ok(authority) = authority.trim().parse::<http::uri::Authority>() else {
            return false;
        };
        let host = authority.host().trim_start_matches('[').trim_end_matches(']');
        let host = host.strip_suffix('.').unwrap_or(host);
        host.eq_ignore_ascii_case(&self.host) && authority.port_u16().unwrap_or(443) == self.port
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn check(host: &str, port: u16, given: &str) -> Result<(), ErrorKind> {
        let profile = ConnectionProfile {
            host: host.to_owned(),
            port,
            upstream: UpstreamHandle::MAIN,
            edits: false,
        };
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_str(given).unwrap());
        profile.check(&Method::POST, &Uri::from_static("/v1/messages"), &headers)
    }

    #[test]
    fn only_the_intercepted_server_is_admitted() {
        for given in ["api.anthropic.com", "API.anthropic.com:443", "api.anthropic.com."] {
            assert_eq!(check("api.anthropic.com", 443, given), Ok(()), "{given}");
        }
        for given in [
            "127.0.0.1:8080",
            "localhost",
            "api.anthropic.com:8443",
            "api.anthropic.com.evil.example",
            "a b",
            "",
        ] {
            assert_eq!(
                check("api.anthropic.com", 443, given),
                Err(ErrorKind::Misdirected),
                "{given}"
            );
        }
        assert_eq!(check("::1", 8443, "[::1]:8443"), Ok(()));
        assert_eq!(check("::1", 8443, "[::1]"), Err(ErrorKind::Misdirected));
    }
}
