//! The tokens with which clients use the proxy: the file, changed by `grov token`, and the table in a running daemon.
//!
//! A token has 256 random bits. Only its SHA-256 is stored: with so many bits, one round is enough.

mod file;
mod table;

pub use file::{LastUses, MAX_TOKEN_NAME, TokenError, TokenRecord, Tokens};
pub use table::{TokenFault, TokenTable};

use crate::random::hex;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};
use std::fmt;

/// The hash of a token.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TokenHash([u8; 32]);

impl TokenHash {
    /// Returns the hash of a token.
    pub fn of(token: &[u8]) -> Self {
        Self(Sha256::digest(token).into())
    }

    /// Returns the bytes by which hashes are grouped. They tell nothing about the token.
    fn group(&self) -> [u8; 8] {
        let [a, b, c, d, e, f, g, h, ..] = self.0;
        [a, b, c, d, e, f, g, h]
    }

    /// Returns a short name of the token that does not change.
    fn label(&self) -> String {
        hex(&self.group())
    }
}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TokenHash({}…)", self.label())
    }
}

impl Serialize for TokenHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex(&self.0))
    }
}

impl<'de> Deserialize<'de> for TokenHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let malformed = || serde::de::Error::custom("a hash has 64 hexadecimal digits");
        if text.len() != 64 || !text.is_ascii() {
            return Err(malformed());
        }
        let mut bytes = [0; 32];
        for (index, byte) in bytes.iter_mut().enumerate() {
            let digits = &text[2 * index..2 * index + 2];
            // `from_str_radix` also accepts a sign.
            if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                return Err(malformed());
            }
            *byte = u8::from_str_radix(digits, 16).map_err(|_| malformed())?;
        }
        Ok(Self(bytes))
    }
}
