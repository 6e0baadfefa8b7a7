//! Targets: a host and a port.

use crate::name::{InvalidName, ServerName};
use std::fmt;
use std::str::FromStr;

/// The port of a target that names none in the settings.
const HTTPS: u16 = 443;

/// A server: its name and port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// The name or address.
    pub name: ServerName,
    /// The port, never 0.
    pub port: u16,
}

/// A text is not a target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidTarget {
    /// The host is invalid.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// The port is missing or invalid.
    #[error("{text:?} has no usable port: it must be a number from 1 to 65535")]
    Port {
        /// The text, shortened.
        text: String,
    },
}

impl Target {
    /// Parses the target of a CONNECT request, such as `api.anthropic.com:443` or `[::1]:8443`.
    ///
    /// # Errors
    /// If the host is invalid, or the port is missing or 0.
    pub fn of_connect(text: &str) -> Result<Self, InvalidTarget> {
        let invalid = || InvalidTarget::Port {
            text: text.chars().take(80).collect(),
        };
        let (host, port) = text.rsplit_once(':').ok_or_else(invalid)?;
        // An unbracketed IPv6 address: its last group is no port.
        if host.contains(':') && !(host.starts_with('[') && host.ends_with(']')) {
            return Err(invalid());
        }
        let is_number = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        let port = port
            .parse()
            .ok()
            .filter(|port| is_number && *port != 0)
            .ok_or_else(invalid)?;
        Ok(Self {
            name: host.parse()?,
            port,
        })
    }

    /// Returns the host, without brackets.
    pub fn host(&self) -> String {
        self.name.to_string()
    }
}

impl FromStr for Target {
    type Err = InvalidTarget;

    /// Parses a target of the settings: the port is 443 unless given.
    fn from_str(text: &str) -> Result<Self, InvalidTarget> {
        match text.parse::<ServerName>() {
            Ok(name) => Ok(Self { name, port: HTTPS }),
            Err(error) if !text.contains(':') => Err(error.into()),
            Err(_) => Self::of_connect(text.trim()),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            ServerName::Ip(address) if address.is_ipv6() => write!(f, "[{address}]:{}", self.port),
            name => write!(f, "{name}:{}", self.port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn connect(text: &str) -> Option<String> {
        Target::of_connect(text).ok().map(|target| target.to_string())
    }

    #[test]
    fn targets_of_connect() {
        for text in ["api.anthropic.com:443", "127.0.0.1:1", "[::1]:65535"] {
            assert_eq!(connect(text).as_deref(), Some(text));
        }
        assert_eq!(
            connect("API.Anthropic.com.:443").as_deref(),
            Some("api.anthropic.com:443")
        );
        for text in [
            "",
            ":",
            "a",
            "a:",
            "a:0",
            "a:65536",
            "a:-1",
            "a:+1",
            "a: 1",
            ":443",
            "::1:443",
            "[::1]",
            "[::1",
            "user@a:443",
            "a b:1",
        ] {
            assert_eq!(connect(text), None, "{text}");
        }
    }

    #[test]
    fn hosts_of_the_settings_have_a_default_port() {
        let of = |text: &str| text.parse::<Target>().ok().map(|target| target.to_string());
        assert_eq!(of("api.anthropic.com").as_deref(), Some("api.anthropic.com:443"));
        assert_eq!(of("::1").as_deref(), Some("[::1]:443"));
        assert_eq!(
            of("gateway.example:8443").as_deref(),
            Some("gateway.example:8443")
        );
        assert_eq!(of("https://a"), None);
        assert_eq!(of("*.example"), None);
    }

    proptest! {
        #[test]
        fn any_text_is_a_target_that_parses_to_itself_or_none(text in "\\PC{0,30}|[a-z.:\\[\\]0-9]{0,30}") {
            if let Ok(target) = Target::of_connect(&text) {
                prop_assert!(target.port > 0);
                prop_assert_eq!(Target::of_connect(&target.to_string()), Ok(target));
            }
        }
    }
}
