//! Names of servers: DNS names and IP addresses.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// The name of a server in a certificate.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ServerName {
    /// A DNS name in lower case, without a trailing dot.
    Dns(String),
    /// An address.
    Ip(IpAddr),
}

/// A text is not the name of a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a host name or address: {reason}")]
pub struct InvalidName {
    /// The text, shortened.
    pub text: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

/// Maximum length of a DNS name, and of one of its labels.
const MAX_NAME: usize = 253;
const MAX_LABEL: usize = 63;

impl FromStr for ServerName {
    type Err = InvalidName;

    /// Parses `api.anthropic.com`, `127.0.0.1`, `::1` or `[::1]`.
    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let invalid = |reason| InvalidName {
            text: text.chars().take(80).collect(),
            reason,
        };
        let trimmed = text.trim();
        let unbracketed = trimmed
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
            .unwrap_or(trimmed);
        if let Ok(address) = unbracketed.parse() {
            return Ok(Self::Ip(address));
        }
        let name = trimmed.strip_suffix('.').unwrap_or(trimmed);
        if name.is_empty() {
            return Err(invalid("it is empty"));
        }
        if name.contains('*') {
            return Err(invalid("wildcards are not supported, name each host"));
        }
        if name.len() > MAX_NAME || name.split('.').any(|label| label.len() > MAX_LABEL) {
            return Err(invalid("it is too long"));
        }
        let is_label = |label: &str| {
            let inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
            !label.is_empty() && label.bytes().all(inner) && !label.starts_with('-') && !label.ends_with('-')
        };
        if !name.split('.').all(is_label) {
            return Err(invalid("only letters, digits, hyphens and dots are allowed"));
        }
        // Such as `127.1`, which programs read as an address.
        if name
            .rsplit('.')
            .next()
            .is_some_and(|last| last.bytes().all(|byte| byte.is_ascii_digit()))
        {
            return Err(invalid("it looks like an address and is none"));
        }
        Ok(Self::Dns(name.to_ascii_lowercase()))
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dns(name) => f.write_str(name),
            Self::Ip(address) => write!(f, "{address}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Option<String> {
        text.parse::<ServerName>().ok().map(|name| name.to_string())
    }

    #[test]
    fn names_and_addresses_are_normalised() {
        for (text, name) in [
            ("API.Anthropic.com.", "api.anthropic.com"),
            ("localhost", "localhost"),
            ("xn--bcher-kva.example", "xn--bcher-kva.example"),
            ("127.0.0.1", "127.0.0.1"),
            ("[::1]", "::1"),
            ("2001:db8::1", "2001:db8::1"),
        ] {
            assert_eq!(parse(text).as_deref(), Some(name), "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        let long = "a".repeat(64);
        for text in [
            "",
            ".",
            "*.anthropic.com",
            "a..b",
            "-a.b",
            "a b",
            "a:443",
            "http://a",
            "bücher.example",
            "127.1",
            "1.2.3.4.5",
            "[::1",
            "a/b",
            &long,
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_parsed_name_parses_to_itself(text in "\\PC{0,40}") {
            if let Ok(name) = text.parse::<ServerName>() {
                prop_assert_eq!(name.to_string().parse::<ServerName>(), Ok(name));
            }
        }
    }
}
