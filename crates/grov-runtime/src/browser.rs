//! The key with which `grov ui` makes links to the dashboard, and with which the daemon checks them.
//!
//! Links and sessions are signed, not stored: both programs only share a file of this home that its owner alone can read, and a
//! session outlives a restart of the daemon.

use crate::random::{hex, random_hex};
use crate::{Home, write_private};
use grov_redact::Secret;
use hmac::{Hmac, Mac};
use sha2::Sha256;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use subtle::ConstantTimeEq;
use time::{Duration, OffsetDateTime};

/// Random bytes of the key. The file has twice as many hexadecimal digits.
const KEY_BYTES: usize = 32;
/// Random bytes that make each link and session different.
const NONCE_BYTES: usize = 16;
/// Maximum number of bytes read of the key's file.
const MAX_FILE: u64 = 4 * 1024;
/// A link is opened at once or not at all.
const LINK_LIFE: Duration = Duration::minutes(2);
/// How long a browser stays signed in.
const SESSION_LIFE: Duration = Duration::hours(24);

/// The key of a home.
#[derive(Debug)]
pub struct BrowserKey(Secret);

/// A link that was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenedLink {
    /// Distinguishes it from all others. A link must be accepted once only.
    pub nonce: String,
    /// When it expires.
    pub expires: OffsetDateTime,
}

/// What a signature is for.
#[derive(Clone, Copy)]
enum Purpose {
    Link,
    Session,
    Form,
}

impl Purpose {
    fn label(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::Session => "session",
            Self::Form => "form",
        }
    }
}

impl BrowserKey {
    /// Reads the key; `None` if the file is missing or malformed.
    pub fn read(home: &Home) -> Option<Self> {
        let mut text = String::new();
        let file = File::open(home.browser_key()).ok()?;
        file.take(MAX_FILE).read_to_string(&mut text).ok()?;
        let text = text.trim();
        let is_key = text.len() == 2 * KEY_BYTES && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_key.then(|| Self(Secret::new(text)))
    }

    /// Reads the key, or creates it.
    ///
    /// # Errors
    /// The file cannot be written, or the system provides no random bytes.
    pub fn read_or_create(home: &Home) -> io::Result<Self> {
        if let Some(key) = Self::read(home) {
            return Ok(key);
        }
        let key = random_hex(KEY_BYTES)?;
        write_private(&home.browser_key(), format!("{key}\n").as_bytes())?;
        Ok(Self(Secret::new(key)))
    }

    /// Removes the key, which signs out every browser. Returns whether it existed.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn remove(home: &Home) -> io::Result<bool> {
        match fs::remove_file(home.browser_key()) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            removed => removed.map(|()| true),
        }
    }

    /// Returns the secret part of a link, which is valid for two minutes.
    ///
    /// # Errors
    /// The system provides no random bytes.
    pub fn link(&self, now: OffsetDateTime) -> io::Result<Secret> {
        self.signed(Purpose::Link, now + LINK_LIFE)
    }

    /// Checks the secret part of a link.
    pub fn check_link(&self, shown: &str, now: OffsetDateTime) -> Option<OpenedLink> {
        self.checked(Purpose::Link, shown, now)
    }

    /// Returns the value of a session's cookie.
    ///
    /// # Errors
    /// The system provides no random bytes.
    pub fn session(&self, now: OffsetDateTime) -> io::Result<Secret> {
        self.signed(Purpose::Session, now + SESSION_LIFE)
    }

    /// Returns whether the value of a cookie is that of a session.
    pub fn check_session(&self, shown: &str, now: OffsetDateTime) -> bool {
        self.checked(Purpose::Session, shown, now).is_some()
    }

    /// Returns the token that forms of a session contain.
    pub fn form_token(&self, session: &str) -> Secret {
        Secret::new(self.mac(Purpose::Form, session))
    }

    /// Returns whether a form contains the token of the session.
    pub fn check_form_token(&self, session: &str, shown: &str) -> bool {
        is_same(&self.mac(Purpose::Form, session), shown)
    }

    fn signed(&self, purpose: Purpose, expires: OffsetDateTime) -> io::Result<Secret> {
        let content = format!("{}.{}", expires.unix_timestamp(), random_hex(NONCE_BYTES)?);
        let mac = self.mac(purpose, &content);
        Ok(Secret::new(format!("{content}.{mac}")))
    }

    fn checked(&self, purpose: Purpose, shown: &str, now: OffsetDateTime) -> Option<OpenedLink> {
        let (content, mac) = shown.rsplit_once('.')?;
        if !is_same(&self.mac(purpose, content), mac) {
            return None;
        }
        let (expires, nonce) = content.split_once('.')?;
        let expires = OffsetDateTime::from_unix_timestamp(expires.parse().ok()?).ok()?;
        (now < expires).then(|| OpenedLink {
            nonce: nonce.to_owned(),
            expires,
        })
    }

    fn mac(&self, purpose: Purpose, content: &str) -> String {
        // Keys of every length are valid.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(self.0.expose().as_bytes()) else {
            return String::new();
        };
        mac.update(purpose.label().as_bytes());
        mac.update(b"\0");
        mac.update(content.as_bytes());
        hex(&mac.finalize().into_bytes())
    }
}

/// Compares signatures in constant time. None is empty.
fn is_same(expected: &str, shown: &str) -> bool {
    !expected.is_empty() && bool::from(expected.as_bytes().ct_eq(shown.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Environment;
    use std::os::unix::fs::PermissionsExt;

    fn home() -> (tempfile::TempDir, Home) {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::locate(Some(folder.path()), &Environment::default()).unwrap();
        (folder, home)
    }

    #[test]
    fn the_key_is_private_and_its_removal_ends_every_session() {
        let (_folder, home) = home();
        assert!(BrowserKey::read(&home).is_none());
        let key = BrowserKey::read_or_create(&home).unwrap();
        let now = OffsetDateTime::UNIX_EPOCH;
        let session = key.session(now).unwrap();
        let mode = fs::metadata(home.browser_key()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let again = BrowserKey::read_or_create(&home).unwrap();
        assert!(again.check_session(session.expose(), now));
        assert!(BrowserKey::remove(&home).unwrap() && !BrowserKey::remove(&home).unwrap());
        let other = BrowserKey::read_or_create(&home).unwrap();
        assert!(!other.check_session(session.expose(), now));
        for broken in ["", "short", &"z".repeat(64)] {
            fs::write(home.browser_key(), broken).unwrap();
            assert!(BrowserKey::read(&home).is_none(), "{broken:?}");
        }
    }

    #[test]
    fn links_and_sessions_expire_and_are_not_interchangeable() {
        let (_folder, home) = home();
        let key = BrowserKey::read_or_create(&home).unwrap();
        let now = OffsetDateTime::UNIX_EPOCH;
        let link = key.link(now).unwrap();
        let opened = key.check_link(link.expose(), now).unwrap();
        assert_eq!(opened.expires, now + LINK_LIFE);
        assert_ne!(
            opened.nonce,
            key.check_link(key.link(now).unwrap().expose(), now)
                .unwrap()
                .nonce
        );
        assert!(key.check_link(link.expose(), now + LINK_LIFE).is_none());
        assert!(!key.check_session(link.expose(), now));
        let session = key.session(now).unwrap();
        assert!(key.check_link(session.expose(), now).is_none());
        assert!(!key.check_session(session.expose(), now + SESSION_LIFE));
    }

    #[test]
    fn changed_text_is_refused() {
        let (_folder, home) = home();
        let key = BrowserKey::read_or_create(&home).unwrap();
        let now = OffsetDateTime::UNIX_EPOCH;
        let session = key.session(now).unwrap().expose().to_owned();
        let later = session.replacen("86400", "99999", 1);
        for changed in [
            "",
            ".",
            "..",
            "1.2.3",
            &later,
            &session[1..],
            &format!("{session}0"),
        ] {
            assert!(!key.check_session(changed, now), "{changed}");
        }
        let token = key.form_token(&session);
        assert!(key.check_form_token(&session, token.expose()));
        assert!(!key.check_form_token("other", token.expose()) && !key.check_form_token(&session, ""));
    }
}
