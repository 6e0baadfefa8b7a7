//! The configured Git user.

use sha2::{Digest, Sha256};
use std::fmt;

/// The name and e-mail address that Git writes into commits, if configured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitUser {
    /// `user.name`.
    pub name: Option<String>,
    /// `user.email`.
    pub email: Option<String>,
}

impl GitUser {
    /// Whether neither is known.
    pub fn is_unknown(&self) -> bool {
        self.name.is_none() && self.email.is_none()
    }
}

/// `Name <address>`, or whichever of the two is known.
impl fmt::Display for GitUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.name, &self.email) {
            (Some(name), Some(email)) => write!(f, "{name} <{email}>"),
            (Some(one), None) | (None, Some(one)) => f.write_str(one),
            (None, None) => Ok(()),
        }
    }
}

/// A stable pseudonym: `user:` and 32 hexadecimal digits, derived from the lower-case e-mail address, or from the
/// name if there is no address. It is the same on every machine, so that a person's records can be
/// grouped.
///
/// SHA-256 hides an address from readers, but not from somebody who
/// has a list of addresses to try. `user = "off"` prevents that.
pub fn hash_user(user: &GitUser) -> Option<String> {
    let text = user
        .email
        .as_deref()
        .or(user.name.as_deref())?
        .trim()
        .to_lowercase();
    let digest = Sha256::digest(text.as_bytes());
    let digits = digest.iter().take(16).map(|byte| format!("{byte:02x}"));
    Some(format!("user:{}", digits.collect::<String>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(name: Option<&str>, email: Option<&str>) -> GitUser {
        GitUser {
            name: name.map(str::to_owned),
            email: email.map(str::to_owned),
        }
    }

    #[test]
    fn shown_as_in_a_commit() {
        assert_eq!(user(Some("A B"), Some("a@b")).to_string(), "A B <a@b>");
        assert_eq!(user(None, Some("a@b")).to_string(), "a@b");
        assert!(user(None, None).is_unknown());
    }

    #[test]
    fn the_hash_depends_on_the_address_alone_and_hides_it() {
        // The digest of "a@b.example" by `printf a@b.example | sha256sum`.
        let expected = Some("user:ebb18a030bf15174f5714e24d63af1a8".to_owned());
        assert_eq!(hash_user(&user(Some("A"), Some("A@b.example"))), expected);
        assert_eq!(hash_user(&user(Some("Other"), Some(" a@B.example"))), expected);
        assert_ne!(hash_user(&user(Some("A"), None)), expected);
        assert_eq!(hash_user(&user(None, None)), None);
    }
}
