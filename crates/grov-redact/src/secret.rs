//! A type for secrets in memory.

use std::fmt;

/// A secret held in memory: a key, a token, a password.
///
/// `Debug` and `Display` print `[secret]`, and it does not implement `Serialize`. Only [`Secret::expose`] returns the text.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Secret(String);

impl Secret {
    /// Creates a secret.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns whether the text is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_never_prints() {
        #[derive(Debug)]
        #[allow(dead_code)]
        struct Config {
            key: Option<Secret>,
        }
        let key = Secret::new("hunter2");
        assert_eq!(format!("{key} {key:?} {key:#?}"), "[secret] [secret] [secret]");
        assert_eq!(
            format!(
                "{:?}",
                Config {
                    key: Some(key.clone())
                }
            ),
            "Config { key: Some([secret]) }"
        );
        assert_eq!(key.expose(), "hunter2");
    }
}
