//! Checks `Host` and `Origin`, so that a web page cannot reach the service through a person's browser.
//!
//! A page can name the service directly (foreign `Origin`) or by DNS rebinding (foreign `Host`).

use crate::problem::{Code, Problem};
use http::{HeaderMap, Uri, header};
use std::net::IpAddr;

/// The hosts under which the service is reached. Loopback is always allowed.
#[derive(Clone, Debug, Default)]
pub struct Admission {
    allowed_hosts: Vec<String>,
    allow_addresses: bool,
}

impl Admission {
    /// Allows these host names besides loopback. With `allow_addresses`, which a listener beyond loopback needs, any IP address
    /// is allowed too: a rebound name is never an address.
    pub fn new(allowed_hosts: impl IntoIterator<Item = String>, allow_addresses: bool) -> Self {
        Self {
            allowed_hosts: allowed_hosts.into_iter().collect(),
            allow_addresses,
        }
    }

    /// # Errors
    ///
    /// Returns 403 if the request must be refused.
    pub fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
        let refused = |what: &str| {
            Problem::new(
                Code::Forbidden,
                format!(
                    "the {what} of the request is not one of this service; use its address, or add the host to \
                     agent.allowed_hosts"
                ),
            )
        };
        let authority = uri.authority().map(|authority| Ok(authority.as_str()));
        let hosts = headers.get_all(header::HOST).iter().map(|host| host.to_str());
        for host in authority.into_iter().chain(hosts) {
            if !host.is_ok_and(|host| self.is_allowed(host)) {
                return Err(refused("Host"));
            }
        }
        for origin in headers.get_all(header::ORIGIN) {
            if !origin.to_str().is_ok_and(|origin| self.is_own_origin(origin)) {
                return Err(refused("Origin"));
            }
        }
        Ok(())
    }

    fn is_own_origin(&self, origin: &str) -> bool {
        let lower = origin.to_ascii_lowercase();
        let authority = lower
            .strip_prefix("http://")
            .or_else(|| lower.strip_prefix("https://"));
        // Anything else is an extension, a local file or "null", which has neither a key nor an answer.
        authority.is_none_or(|authority| self.is_allowed(authority))
    }

    fn is_allowed(&self, authority: &str) -> bool {
        let host = host_of(authority);
        let address = host.parse::<IpAddr>().ok();
        address.is_some_and(|address| self.allow_addresses || address.to_canonical().is_loopback())
            || host.eq_ignore_ascii_case("localhost")
            || host.to_ascii_lowercase().ends_with(".localhost")
            || self
                .allowed_hosts
                .iter()
                .any(|allowed| allowed.eq_ignore_ascii_case(host))
    }
}

/// Returns the host of `host`, `host:port` or `[v6]:port`, without brackets and trailing dot.
fn host_of(authority: &str) -> &str {
    let authority = authority.trim();
    let authority = authority.rsplit_once('@').map_or(authority, |(_, rest)| rest);
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(rest),
        None => authority.split(':').next().unwrap_or(authority),
    };
    host.strip_suffix('.').unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn passes(admission: &Admission, host: &str, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_str(host).unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, HeaderValue::from_str(origin).unwrap());
        }
        admission.check(&Uri::from_static("/chat"), &headers).is_ok()
    }

    #[test]
    fn this_machine_and_allowed_hosts_are_served() {
        let admission = Admission::new(["grov.internal".to_owned()], false);
        for host in [
            "127.0.0.1:8090",
            "LOCALHOST:1",
            "[::1]:8090",
            "grov.internal",
            "localhost.",
        ] {
            assert!(passes(&admission, host, None), "{host}");
        }
        for host in [
            "evil.example",
            "127.0.0.1.evil.example",
            "10.0.0.1",
            "",
            "localhost.evil.example:8090",
        ] {
            assert!(!passes(&admission, host, None), "{host}");
        }
    }

    #[test]
    fn pages_of_other_sites_are_refused() {
        let admission = Admission::default();
        let at = |origin| passes(&admission, "127.0.0.1:8090", Some(origin));
        assert!(!at("https://evil.example"));
        assert!(!at("http://127.0.0.1@evil.example"));
        assert!(at("http://localhost:3000"));
        assert!(at("null"));
    }

    #[test]
    fn beyond_loopback_addresses_pass_and_names_do_not() {
        let admission = Admission::new([], true);
        assert!(passes(&admission, "10.0.0.7:8090", Some("http://10.0.0.7:8090")));
        assert!(!passes(&admission, "rebound.example:8090", None));
    }
}
