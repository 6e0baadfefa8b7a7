//! The file with the tokens, which several processes may change at once.

use super::TokenHash;
use crate::daemon::lock_within;
use crate::home::{create_private, write_private};
use crate::random::random_secret;
use crate::{Home, printable};
use grov_redact::Secret;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;
use time::OffsetDateTime;

/// The longest name of a token, in bytes.
pub const MAX_TOKEN_NAME: usize = 64;

/// The largest file that is read, in bytes: some ten thousand tokens.
const MAX_FILE: u64 = 4 * 1024 * 1024;
/// How long a change waits for another process that changes the file.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
/// The version of the format.
const SCHEMA: u32 = 1;

/// A token as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRecord {
    /// The name, by which its requests are recorded.
    pub name: String,
    /// The hash of the token.
    pub hash: TokenHash,
    /// When it was created.
    #[serde(with = "time::serde::rfc3339")]
    pub created_at: OffsetDateTime,
    /// From when on it is refused; `None` for never.
    #[serde(default, with = "time::serde::rfc3339::option")]
    pub expires_at: Option<OffsetDateTime>,
    /// When it was revoked.
    #[serde(default, with = "time::serde::rfc3339::option")]
    pub revoked_at: Option<OffsetDateTime>,
    /// The settings file for which `grov init` created it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_for: Option<String>,
}

impl TokenRecord {
    /// Returns whether requests with this token are served.
    pub fn is_active(&self, now: OffsetDateTime) -> bool {
        self.revoked_at.is_none() && !self.is_expired(now)
    }

    /// Returns whether it has expired.
    pub fn is_expired(&self, now: OffsetDateTime) -> bool {
        self.expires_at.is_some_and(|expires| expires <= now)
    }
}

/// The tokens of a home.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    schema: u32,
    tokens: Vec<TokenRecord>,
}

impl Default for Tokens {
    fn default() -> Self {
        Self {
            schema: SCHEMA,
            tokens: Vec::new(),
        }
    }
}

/// Why tokens cannot be read or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The file cannot be read.
    #[error("{} cannot be read: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The file or its lock cannot be written.
    #[error("{} cannot be written: {source}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Another process has been changing the file for seconds.
    #[error("another process is changing {}", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// The name is not valid.
    #[error("{name:?} is not a valid name: use 1 to {MAX_TOKEN_NAME} letters, digits and . _ - @ +")]
    Name {
        /// The name, shortened.
        name: String,
    },
    /// An active token has the name.
    #[error("there is an active token with the name {name}")]
    Taken {
        /// The name.
        name: String,
    },
    /// The system provides no random bytes.
    #[error("the system provides no random bytes: {0}")]
    Random(io::Error),
}

impl TokenError {
    /// What to do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => {
                "restore the file from a backup, or remove it: then no token is valid and new ones can be created"
            }
            Self::Unwritable { .. } => "check the permissions of the home",
            Self::Busy { .. } => "try again in a moment",
            Self::Name { .. } => "choose another name; requests are recorded under it",
            Self::Taken { .. } => "choose another name, or revoke that token first: grov token revoke NAME",
            Self::Random(_) => "check that /dev/urandom can be read",
        }
    }
}

impl Tokens {
    /// Reads the tokens of a home. Without a file there are none.
    ///
    /// # Errors
    /// The file cannot be read or is malformed.
    pub fn read(home: &Home) -> Result<Self, TokenError> {
        let path = home.tokens();
        let unreadable = |reason: String| TokenError::Unreadable {
            path: path.clone(),
            reason,
        };
        let Some(content) = read_limited(&path).map_err(|error| unreadable(error.to_string()))? else {
            return Ok(Self::default());
        };
        Self::parse(&content).map_err(unreadable)
    }

    /// Parses the content of the file.
    pub(super) fn parse(content: &[u8]) -> Result<Self, String> {
        // The error of serde names the place and no content.
        let tokens: Self = serde_json::from_slice(content).map_err(|error| error.to_string())?;
        match tokens.schema {
            SCHEMA => Ok(tokens),
            newer => Err(format!("its format is {newer}, and this version knows {SCHEMA}")),
        }
    }

    /// Changes the tokens of a home. Only one process does so at a time, and readers see the old or the new file. The file is not
    /// written if `change` fails or changes nothing.
    ///
    /// # Errors
    /// The error of `change`, or the file cannot be read, locked or written.
    pub fn update<T>(
        home: &Home,
        change: impl FnOnce(&mut Self) -> Result<T, TokenError>,
    ) -> Result<T, TokenError> {
        let path = home.tokens();
        let unwritable = |source| TokenError::Unwritable {
            path: path.clone(),
            source,
        };
        // The lock file is never removed: otherwise two processes could each lock a file of this name.
        let mut options = OpenOptions::new();
        let lock = create_private(
            &home.tokens_lock(),
            options.write(true).create(true).truncate(false),
        )
        .map_err(unwritable)?;
        match lock_within(LOCK_TIMEOUT, || lock.try_lock()) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(TokenError::Busy { path }),
            Err(TryLockError::Error(source)) => return Err(unwritable(source)),
        }
        let before = Self::read(home)?;
        let mut tokens = before.clone();
        let outcome = change(&mut tokens)?;
        if tokens != before {
            let mut content = serde_json::to_vec_pretty(&tokens).map_err(|error| unwritable(error.into()))?;
            content.push(b'\n');
            write_private(&path, &content).map_err(unwritable)?;
        }
        // Dropping the file releases the lock, as does a crash.
        Ok(outcome)
    }

    /// Creates a token. It is returned only here. A revoked or expired token of the same name is forgotten.
    ///
    /// # Errors
    /// The name is not valid, or an active token has it; or the system provides no random bytes.
    pub fn create(
        &mut self,
        name: &str,
        expires_at: Option<OffsetDateTime>,
        made_for: Option<&str>,
        now: OffsetDateTime,
    ) -> Result<Secret, TokenError> {
        if !is_valid_name(name) {
            let name = printable(name).chars().take(MAX_TOKEN_NAME).collect();
            return Err(TokenError::Name { name });
        }
        if self.active(name, now).is_some() {
            return Err(TokenError::Taken {
                name: name.to_owned(),
            });
        }
        let token = random_secret().map_err(TokenError::Random)?;
        self.tokens.retain(|known| known.name != name);
        self.tokens.push(TokenRecord {
            name: name.to_owned(),
            hash: TokenHash::of(token.expose().as_bytes()),
            created_at: now,
            expires_at,
            revoked_at: None,
            made_for: made_for.map(str::to_owned),
        });
        Ok(token)
    }

    /// Revokes an active token. Returns `None` if there is none with this name.
    pub fn revoke(&mut self, name: &str, now: OffsetDateTime) -> Option<&TokenRecord> {
        let mut tokens = self.tokens.iter_mut();
        let token = tokens.find(|token| token.name == name && token.is_active(now))?;
        token.revoked_at = Some(now);
        Some(token)
    }

    /// Revokes the active tokens that `grov init` created for a settings file. Returns their names.
    pub fn revoke_made_for(&mut self, path: &str, now: OffsetDateTime) -> Vec<String> {
        let tokens = self.tokens.iter_mut();
        tokens
            .filter(|token| token.made_for.as_deref() == Some(path) && token.is_active(now))
            .map(|token| {
                token.revoked_at = Some(now);
                token.name.clone()
            })
            .collect()
    }

    /// Returns the active token with this name.
    pub fn active(&self, name: &str, now: OffsetDateTime) -> Option<&TokenRecord> {
        let mut tokens = self.tokens.iter();
        tokens.find(|token| token.name == name && token.is_active(now))
    }

    /// Returns the record of a token, active or not.
    pub fn find(&self, token: &[u8]) -> Option<&TokenRecord> {
        let hash = TokenHash::of(token);
        self.tokens.iter().find(|known| known.hash == hash)
    }

    /// Returns all tokens, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &TokenRecord> {
        self.tokens.iter()
    }

    /// Returns when each token was last used, as far as a daemon has noted it.
    pub fn last_uses(home: &Home) -> LastUses {
        let content = read_limited(&home.token_uses()).ok().flatten();
        content
            .and_then(|content| serde_json::from_slice(&content).ok())
            .unwrap_or_default()
    }
}

/// When tokens were last used, in the file that only the daemon writes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastUses {
    schema: u32,
    /// Seconds since 1970, by label.
    uses: BTreeMap<String, i64>,
}

impl LastUses {
    pub(super) fn new(uses: BTreeMap<String, i64>) -> Self {
        Self { schema: SCHEMA, uses }
    }

    /// Returns when a token was last used, to the minute.
    pub fn of(&self, token: &TokenRecord) -> Option<OffsetDateTime> {
        let at = self.seconds(&token.hash)?;
        OffsetDateTime::from_unix_timestamp(at).ok()
    }

    pub(super) fn seconds(&self, hash: &TokenHash) -> Option<i64> {
        self.uses.get(&hash.label()).copied()
    }
}

fn is_valid_name(name: &str) -> bool {
    (1..=MAX_TOKEN_NAME).contains(&name.len())
        && !name.starts_with('-')
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._-@+".contains(&byte))
}

/// Reads a file; `None` if there is none.
fn read_limited(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let mut content = Vec::new();
    file.take(MAX_FILE + 1).read_to_end(&mut content)?;
    match content.len() as u64 > MAX_FILE {
        true => Err(io::Error::other("it is too large")),
        false => Ok(Some(content)),
    }
}

#[cfg(test)]
mod tests;
