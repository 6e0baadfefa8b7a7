//! The environment variables as a value, which a program reads once at its start.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;

/// A snapshot of environment variables. Values may be secrets, so `Debug` shows names only.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment {
    variables: BTreeMap<String, OsString>,
}

impl Environment {
    /// The environment of this process, without variables whose names are not UTF-8.
    pub fn of_process() -> Self {
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
            .collect();
        Self { variables }
    }

    /// The variable's value. An empty variable counts as not set.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.variables
            .get(name)
            .map(OsString::as_os_str)
            .filter(|value| !value.is_empty())
    }

    /// Names and values, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &OsStr)> {
        self.variables
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_os_str()))
    }
}

impl<N: Into<String>, V: Into<OsString>> FromIterator<(N, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(variables: I) -> Self {
        Self {
            variables: variables
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        }
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.variables.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_counts_as_not_set_and_debug_hides_values() {
        let environment = Environment::from_iter([("A", ""), ("B", "hidden")]);
        assert_eq!(environment.get("A"), None);
        assert_eq!(environment.get("B"), Some(OsStr::new("hidden")));
        assert!(!format!("{environment:?}").contains("hidden"));
    }
}
