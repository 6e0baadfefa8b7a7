//! Checks `Host` and `Origin`: only programs on this machine and allowed hosts are served.
//!
//! A web page can reach loopback by DNS rebinding (foreign `Host`) or directly (foreign `Origin`).

use crate::error_response::ErrorKind;
use crate::gate::Peer;
use crate::headers::is_request_coding_understood;
use crate::profile::ConnectionProfile;
use http::{HeaderMap, Method, Uri, header};
use std::net::IpAddr;
use std::sync::Arc;

/// What a connection may request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Everything,
    /// One request to an admin route: too many connections are open.
    AdminOnly,
}

/// Who is at the other end of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) access: Access,
    /// `None` for a stream of the intake.
    pub(crate) peer: Option<Peer>,
    /// `None` on the proxy's own listener.
    pub(crate) profile: Option<Arc<ConnectionProfile>>,
}

/// The allowed host names, compared without regard to case. Loopback is always allowed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Admission {
    allowed_hosts: Vec<String>,
}

impl Admission {
    pub(crate) fn new(allowed_hosts: impl IntoIterator<Item = String>) -> Self {
        Self {
            allowed_hosts: allowed_hosts
                .into_iter()
                .map(|host| host.to_ascii_lowercase())
                .collect(),
        }
    }

    /// Returns an error if the request must be refused. If the client connected to an address `local` other than loopback, every
    /// address is a valid host: only a name can be rebound.
    pub(crate) fn check(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
        local: Option<IpAddr>,
    ) -> Result<(), ErrorKind> {
        let is_reachable = local.is_some_and(|local| !local.is_loopback());
        if method == Method::CONNECT {
            return Err(ErrorKind::NotAForwardProxy);
        }
        if let Some(authority) = uri.authority() {
            self.host(authority.as_str(), ErrorKind::NotAForwardProxy)?;
        }
        let mut hosts = headers.get_all(header::HOST).iter();
        if let Some(host) = hosts.next() {
            let host = host.to_str().map_err(|_| ErrorKind::ForeignHost)?;
            // The address may be another one before it is translated on the way.
            if !(is_reachable && address(host_of(host)).is_some()) {
                self.host(host, ErrorKind::ForeignHost)?;
            }
            if hosts.next().is_some() {
                return Err(ErrorKind::BadFraming);
            }
        }
        // A page may read what a WebSocket receives: browsers leave it to the server to refuse foreign pages.
        let may_switch = headers.contains_key(header::UPGRADE);
        for origin in headers.get_all(header::ORIGIN) {
            let origin = origin.to_str().map_err(|_| ErrorKind::ForeignOrigin)?;
            self.origin(origin, may_switch)?;
        }
        if !is_request_coding_understood(headers) {
            return Err(ErrorKind::UnknownCoding);
        }
        Ok(())
    }

    fn host(&self, authority: &str, kind: ErrorKind) -> Result<(), ErrorKind> {
        let host = host_of(authority);
        let mut allowed = self.allowed_hosts.iter();
        match is_loopback(host) || allowed.any(|allowed| allowed.eq_ignore_ascii_case(host)) {
            true => Ok(()),
            false => Err(kind),
        }
    }

    fn origin(&self, origin: &str, may_switch: bool) -> Result<(), ErrorKind> {
        let lower = origin.to_ascii_lowercase();
        let Some(authority) = lower
            .strip_prefix("http://")
            .or_else(|| lower.strip_prefix("https://"))
        else {
            // Extensions and local files; "null" too: without a key and without an answer it can do little.
            return if may_switch {
                Err(ErrorKind::ForeignOrigin)
            } else {
                Ok(())
            };
        };
        self.host(authority, ErrorKind::ForeignOrigin)
    }
}

/// Returns the host of `host`, `host:port` or `[v6]:port`, without brackets and trailing dot.
fn host_of(authority: &str) -> &str {
    let authority = authority.trim();
    let authority = authority.rsplit_once('@').map_or(authority, |(_, rest)| rest);
    let host = if let Some(rest) = authority.strip_prefix('[') {
        rest.split(']').next().unwrap_or(rest)
    } else {
        authority.split(':').next().unwrap_or(authority)
    };
    host.strip_suffix('.').unwrap_or(host)
}

fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host.to_ascii_lowercase().ends_with(".localhost")
        || address(host).is_some_and(|address| address.is_loopback())
}

fn address(host: &str) -> Option<IpAddr> {
    let address: IpAddr = host.parse().ok()?;
    Some(address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn check(host: &str, origin: Option<&str>) -> Result<(), ErrorKind> {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_str(host).unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, HeaderValue::from_str(origin).unwrap());
        }
        let local = Some(IpAddr::from([127, 0, 0, 1]));
        let admission = Admission::new(["grov.internal".to_owned()]);
        admission.check(&Method::POST, &Uri::from_static("/"), &headers, local)
    }

    #[test]
    fn this_machine_and_allowed_hosts_are_served() {
        for host in [
            "127.0.0.1:8080",
            "localhost",
            "LOCALHOST:1",
            "[::1]:8080",
            "127.9.9.9",
            "grov.internal:80",
            "localhost.",
        ] {
            assert_eq!(check(host, None), Ok(()), "{host}");
        }
    }

    #[test]
    fn rebound_names_are_refused() {
        for host in [
            "evil.example",
            "127.0.0.1.evil.example",
            "localhost.evil.example:8080",
            "10.0.0.1",
            "",
        ] {
            assert_eq!(check(host, None), Err(ErrorKind::ForeignHost), "{host}");
        }
    }

    #[test]
    fn addresses_are_hosts_beyond_loopback_but_no_origins() {
        let check = |host: &'static str, origin: Option<&'static str>| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, HeaderValue::from_static(host));
            if let Some(origin) = origin {
                headers.insert(header::ORIGIN, HeaderValue::from_static(origin));
            }
            let local = Some(IpAddr::from([192, 168, 1, 5]));
            Admission::default().check(&Method::POST, &Uri::from_static("/"), &headers, local)
        };
        for host in ["192.168.1.5:8080", "203.0.113.9", "[2001:db8::1]:8080"] {
            assert_eq!(check(host, None), Ok(()), "{host}");
        }
        assert_eq!(check("evil.example", None), Err(ErrorKind::ForeignHost));
        let refused = check("192.168.1.5", Some("http://203.0.113.9"));
        assert_eq!(refused, Err(ErrorKind::ForeignOrigin));
    }

    #[test]
    fn foreign_pages_are_refused_and_other_origins_pass() {
        let at = |origin| check("127.0.0.1:8080", Some(origin));
        assert_eq!(at("https://evil.example"), Err(ErrorKind::ForeignOrigin));
        assert_eq!(at("http://127.0.0.1@evil.example"), Err(ErrorKind::ForeignOrigin));
        assert_eq!(at("http://localhost:3000"), Ok(()));
        assert_eq!(at("null"), Ok(()));
        assert_eq!(at("vscode-webview://abc"), Ok(()));
    }

    #[test]
    fn a_change_of_protocol_needs_a_known_origin_or_none() {
        let at = |origins: &[&'static str]| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, HeaderValue::from_static("127.0.0.1:8080"));
            headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
            for origin in origins {
                headers.append(header::ORIGIN, HeaderValue::from_static(origin));
            }
            let uri = Uri::from_static("/");
            Admission::default().check(&Method::GET, &uri, &headers, Some(IpAddr::from([127, 0, 0, 1])))
        };
        for known in [&[][..], &["http://localhost:3000"], &["https://127.0.0.1"]] {
            assert_eq!(at(known), Ok(()), "{known:?}");
        }
        for foreign in [
            &["null"][..],
            &["file://"],
            &["chrome-extension://abc"],
            &["https://evil.example"],
            &["http://localhost", "null"],
            &[""],
        ] {
            assert_eq!(at(foreign), Err(ErrorKind::ForeignOrigin), "{foreign:?}");
        }
    }

    #[test]
    fn every_origin_is_checked() {
        let mut headers = HeaderMap::new();
        for origin in ["http://localhost", "https://evil.example"] {
            headers.append(header::ORIGIN, HeaderValue::from_static(origin));
        }
        let checked = Admission::default().check(&Method::POST, &Uri::from_static("/"), &headers, None);
        assert_eq!(checked, Err(ErrorKind::ForeignOrigin));
    }

    #[test]
    fn forward_proxy_use_has_its_own_error() {
        let headers = HeaderMap::new();
        let admission = Admission::default();
        let uri = Uri::from_static("http://api.example/v1/messages");
        assert_eq!(
            admission.check(&Method::POST, &uri, &headers, None),
            Err(ErrorKind::NotAForwardProxy)
        );
        let own = Uri::from_static("http://127.0.0.1:8080/v1/messages");
        assert_eq!(admission.check(&Method::POST, &own, &headers, None), Ok(()));
        let tunnel = Uri::from_static("api.example:443");
        assert_eq!(
            admission.check(&Method::CONNECT, &tunnel, &headers, None),
            Err(ErrorKind::NotAForwardProxy)
        );
    }
}
