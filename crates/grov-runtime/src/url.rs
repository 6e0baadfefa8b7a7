//! Server addresses that do not print their credentials.

use std::fmt;
use std::net::IpAddr;

/// An `http` or `https` address. `Display` and `Debug` leave out a user and password.
#[derive(Clone, PartialEq, Eq)]
pub struct Url {
    text: String,
    host: String,
    port: u16,
    secure: bool,
}

/// Why a text is no valid address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UrlError {
    /// It starts with something else than `http://` or `https://`.
    #[error("it does not start with http:// or https://")]
    Scheme,
    /// There is no host in it.
    #[error("it names no host")]
    Host,
    /// The port is no number from 1 to 65535.
    #[error("its port is not a number from 1 to 65535")]
    Port,
    /// It holds a space, a control character or a character that no address may hold unescaped.
    #[error("it holds a character that no address may hold")]
    Character,
    /// A base address has neither query nor fragment.
    #[error("it has a query or a fragment, a base address has neither")]
    Query,
}

impl Url {
    /// Reads a base address: scheme, optional user, host, optional port and path.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        if text.contains(|c: char| c.is_ascii_control() || !c.is_ascii() || " \"<>\\^`{|}".contains(c)) {
            return Err(UrlError::Character);
        }
        let (scheme, rest) = text.split_once("://").ok_or(UrlError::Scheme)?;
        let secure = match scheme.to_ascii_lowercase().as_str() {
            "http" => false,
            "https" => true,
            _ => return Err(UrlError::Scheme),
        };
        if rest.contains(['?', '#']) {
            return Err(UrlError::Query);
        }
        let authority = rest.split('/').next().unwrap_or(rest);
        let host_and_port = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let (host, port) = split_port(host_and_port)?;
        if host.is_empty() {
            return Err(UrlError::Host);
        }
        let port = match port {
            None => {
                if secure {
                    443
                } else {
                    80
                }
            }
            Some(digits) => digits
                .parse()
                .ok()
                .filter(|&port| port != 0 && !digits.starts_with('+'))
                .ok_or(UrlError::Port)?,
        };
        Ok(Self {
            text: text.to_owned(),
            host: host.to_ascii_lowercase(),
            port,
            secure,
        })
    }

    /// The address as it was written, credentials included.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The host in lower case, without the brackets of an IPv6 address.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port, that of the scheme if none was written.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Whether the scheme is `https`.
    pub fn is_secure(&self) -> bool {
        self.secure
    }

    /// Whether the host is this machine: `localhost`, a name below it, or a loopback address.
    pub fn is_loopback(&self) -> bool {
        self.host == "localhost"
            || self.host.ends_with(".localhost")
            || self
                .host
                .parse::<IpAddr>()
                .is_ok_and(|address| address.to_canonical().is_loopback())
    }
}

/// Splits `host`, `host:port`, `[v6]` or `[v6]:port`.
fn split_port(text: &str) -> Result<(&str, Option<&str>), UrlError> {
    if let Some(bracketed) = text.strip_prefix('[') {
        let (host, rest) = bracketed.split_once(']').ok_or(UrlError::Host)?;
        if host.parse::<std::net::Ipv6Addr>().is_err() {
            return Err(UrlError::Host);
        }
        return match rest.strip_prefix(':') {
            Some(port) => Ok((host, Some(port))),
            None if rest.is_empty() => Ok((host, None)),
            None => Err(UrlError::Host),
        };
    }
    match text.split_once(':') {
        Some((host, port)) => Ok((host, Some(port))),
        None => Ok((text, None)),
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, rest) = self.text.split_once("://").unwrap_or(("", &self.text));
        let (authority, path) = rest
            .split_once('/')
            .map_or((rest, None), |(authority, path)| (authority, Some(path)));
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        write!(f, "{scheme}://{host}")?;
        path.map_or(Ok(()), |path| write!(f, "/{path}"))
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
        assert_eq!(error("http://h:"), UrlError::Port);
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
        assert_eq!(url.as_str(), "https://user:pa55@host:8443/path@x");
    }
}
