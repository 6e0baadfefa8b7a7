//! Server addresses that do not print their credentials.

use std::fmt;
use url::{Host, ParseError};

/// An `http` or `https` address. `Display` and `Debug` leave out the user name and password.
#[derive(Clone, PartialEq, Eq)]
pub struct Url {
    text: String,
    parsed: url::Url,
}

/// Why a text is not a valid address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UrlError {
    /// It does not start with `http://` or `https://`.
    #[error("it does not start with http:// or https://")]
    Scheme,
    /// It has no valid host.
    #[error("it names no host")]
    Host,
    /// The port is not a number from 1 to 65535.
    #[error("its port is not a number from 1 to 65535")]
    Port,
    /// It contains a character that an address must not contain unescaped.
    #[error("it contains a character that is not allowed in an address")]
    Character,
    /// It has a query or a fragment, which a base address must not have.
    #[error("it has a query or a fragment, which a base address must not have")]
    Query,
}

impl Url {
    /// Parses a base address: scheme, optional user, host, optional port and path.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        if text.contains(|c: char| !c.is_ascii_graphic() || "\"<>\\^`{|}".contains(c)) {
            return Err(UrlError::Character);
        }
        if text.contains(['?', '#']) {
            return Err(UrlError::Query);
        }
        // The parser also accepts other numbers of slashes.
        let (_, rest) = text.split_once("://").ok_or(UrlError::Scheme)?;
        if rest.starts_with('/') {
            return Err(UrlError::Host);
        }
        let parsed = url::Url::parse(text).map_err(|error| match error {
            ParseError::InvalidPort => UrlError::Port,
            ParseError::RelativeUrlWithoutBase => UrlError::Scheme,
            _ => UrlError::Host,
        })?;
        match (parsed.scheme(), parsed.port()) {
            ("http" | "https", Some(0)) => Err(UrlError::Port),
            ("http" | "https", _) => Ok(Self {
                text: text.to_owned(),
                parsed,
            }),
            _ => Err(UrlError::Scheme),
        }
    }

    /// The address as it was written, credentials included.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The host in lower case, without the brackets of an IPv6 address.
    pub fn host(&self) -> &str {
        let host = self.parsed.host_str().unwrap_or_default();
        host.trim_matches(['[', ']'])
    }

    /// The port; the scheme's default if none was written.
    pub fn port(&self) -> u16 {
        self.parsed.port_or_known_default().unwrap_or_default()
    }

    /// Whether the scheme is `https`.
    pub fn is_secure(&self) -> bool {
        self.parsed.scheme() == "https"
    }

    /// Whether the host is this machine: `localhost`, a name below it, or a loopback address.
    pub fn is_loopback(&self) -> bool {
        match self.parsed.host() {
            Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.to_canonical().is_loopback(),
            None => false,
        }
    }
}

/// An address without its user name and password. The text need not be a valid address.
pub fn without_credentials(url: &str) -> String {
    let (_, rest) = url.split_once("://").unwrap_or(("", url));
    // In text that is not an address, everything before the last `@` may belong to a password.
    let is_valid = url::Url::parse(url).is_ok();
    let authority = if is_valid {
        rest.split('/').next().unwrap_or_default()
    } else {
        rest
    };
    let credentials = authority.rfind('@').map_or(0, |at| at + 1);
    format!("{}{}", &url[..url.len() - rest.len()], &rest[credentials..])
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&without_credentials(&self.text))
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Url({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> (String, u16, bool) {
        let url = Url::parse(text).unwrap();
        (url.host().to_owned(), url.port(), url.is_secure())
    }

    #[test]
    fn hosts_and_ports() {
        assert_eq!(
            parts("https://api.anthropic.com"),
            ("api.anthropic.com".into(), 443, true)
        );
        assert_eq!(
            parts("HTTP://Gate.Example:8081/v1/"),
            ("gate.example".into(), 8081, false)
        );
        assert_eq!(parts("http://[::1]:9"), ("::1".into(), 9, false));
        assert_eq!(parts("http://user:p:w@host"), ("host".into(), 80, false));
    }

    #[test]
    fn refusals() {
        let error = |text| Url::parse(text).unwrap_err();
        assert_eq!(error("api.anthropic.com"), UrlError::Scheme);
        assert_eq!(error("ftp://host"), UrlError::Scheme);
        assert_eq!(error("https://"), UrlError::Host);
        assert_eq!(error("https://user@"), UrlError::Host);
        assert_eq!(error("http://[::1"), UrlError::Host);
        assert_eq!(error("http://[::1]x"), UrlError::Host);
        assert_eq!(error("http://h:0"), UrlError::Port);
        assert_eq!(error("http://h:70000"), UrlError::Port);
        assert_eq!(error("http://h:+1"), UrlError::Port);
        assert_eq!(error("http://h/?q=1"), UrlError::Query);
        assert_eq!(error("http://h\r\nx: y"), UrlError::Character);
        assert_eq!(error("http://hö"), UrlError::Character);
    }

    #[test]
    fn loopback() {
        for text in [
            "http://localhost:1",
            "http://127.8.8.8",
            "http://[::1]",
            "http://[::ffff:127.0.0.1]",
            "http://a.localhost",
        ] {
            assert!(Url::parse(text).unwrap().is_loopback(), "{text}");
        }
        assert!(!Url::parse("http://10.0.0.1").unwrap().is_loopback());
        assert!(!Url::parse("http://localhost.example").unwrap().is_loopback());
    }

    #[test]
    fn credentials_cannot_print() {
        let url = Url::parse("https://user:pa55@host:8443/path@x").unwrap();
        assert_eq!(url.to_string(), "https://host:8443/path@x");
        assert!(!format!("{url:?}").contains("pa55"));
        assert_eq!(without_credentials("https://user:pa/55@host"), "https://host");
        assert_eq!(url.as_str(), "https://user:pa55@host:8443/path@x");
    }
}
