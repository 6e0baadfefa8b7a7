//! The branch that a plan belongs to, and the names of its directory.

use sha2::{Digest, Sha256};
use std::fmt;

/// The maximum length of a directory's name before a suffix is added. File systems allow 255 bytes.
const MAX_NAME: usize = 200;
/// The lengths of the suffix, in hexadecimal digits, in the order in which they are tried.
const SUFFIXES: [usize; 3] = [8, 16, 64];
/// How a detached HEAD is recorded. No branch has this name, because it contains a space.
const DETACHED: &str = "detached HEAD";

/// The branch that a plan belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Branch {
    /// A branch, by its name without `refs/heads/`.
    Named(String),
    /// No branch is checked out. All detached states of a working tree share one plan.
    Detached,
}

impl Branch {
    /// The branch of this name; without a name, the detached state.
    pub fn of(name: Option<&str>) -> Self {
        match name {
            Some(name) if name != DETACHED => Self::Named(name.to_owned()),
            _ => Self::Detached,
        }
    }

    /// The name; `None` if no branch is checked out.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Named(name) => Some(name),
            Self::Detached => None,
        }
    }

    /// The names that the plan's directory may have, the preferred one first. Characters other than `A-Z`, `a-z`, `0-9`,
    /// `_` and `-` become `-`; the others end in a hash of the exact name, for branches whose names become the same.
    pub(crate) fn directory_names(&self) -> Vec<String> {
        let Self::Named(name) = self else {
            return vec!["detached".to_owned(), suffixed("detached", DETACHED, SUFFIXES[0])];
        };
        let plain = sanitized(name);
        let short: String = plain.chars().take(MAX_NAME).collect();
        let suffixes = SUFFIXES.iter();
        let long = suffixes.map(|digits| suffixed(&short[..short.len().min(MAX_NAME - 64)], name, *digits));
        // A truncated name without a suffix would be the same for many branches.
        let first = (plain.len() <= MAX_NAME).then_some(plain.clone());
        first.into_iter().chain(long).collect()
    }

    /// Whether a directory without a record may belong to this branch.
    pub(crate) fn fits(&self, directory: &str) -> bool {
        self.directory_names().iter().any(|name| name == directory)
    }
}

impl fmt::Display for Branch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name().unwrap_or(DETACHED))
    }
}

/// The name with each other character replaced by `-`.
pub(crate) fn sanitized(name: &str) -> String {
    let plain = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
    name.chars()
        .map(|character| if plain(character) { character } else { '-' })
        .collect()
}

fn suffixed(base: &str, name: &str, digits: usize) -> String {
    let hash = Sha256::digest(name.as_bytes());
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{base}-{}", &hash[..digits])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_sanitized_as_by_the_shell_and_python() {
        for (name, directory) in [
            ("feat/auth", "feat-auth"),
            ("feat-auth", "feat-auth"),
            ("a.b_c", "a-b_c"),
            ("é/ü", "---"),
            ("main", "main"),
        ] {
            assert_eq!(Branch::of(Some(name)).directory_names()[0], directory, "{name}");
        }
    }

    #[test]
    fn names_that_become_the_same_have_different_suffixes() {
        let names = |name| Branch::of(Some(name)).directory_names();
        let (slash, dash) = (names("feat/auth"), names("feat-auth"));
        assert_eq!(slash[0], dash[0]);
        assert!(slash[1..].iter().all(|name| !dash.contains(name)), "{slash:?}");
        assert!(slash[1].starts_with("feat-auth-") && slash[1].len() == "feat-auth-".len() + 8);
    }

    #[test]
    fn a_long_name_always_has_a_suffix() {
        let names = Branch::of(Some(&"x".repeat(500))).directory_names();
        assert_eq!(names.len(), SUFFIXES.len());
        assert!(names.iter().all(|name| name.len() <= MAX_NAME + 1), "{names:?}");
    }

    proptest! {
        #[test]
        fn a_name_is_always_one_component_of_a_path(name in ".{1,300}") {
            for directory in Branch::of(Some(&name)).directory_names() {
                prop_assert!(!directory.is_empty() && directory.len() <= 255);
                prop_assert!(!directory.contains(['/', '.', '\0']));
            }
        }
    }
}
