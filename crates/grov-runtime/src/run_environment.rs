//! What `grov run` replaces in a command's environment.
//!
//! The command's own programs must use the run's proxy. But a daemon that starts inside the run outlives it, and another run
//! inside it has a proxy of its own: both need the values before.

use crate::Environment;
use std::collections::BTreeMap;
use std::ffi::OsString;

/// The variable with the replaced ones, as JSON.
const VARIABLE: &str = "GROV_RUN_ENVIRONMENT";

/// By name: the value that the run set, and the one before, if there was one.
type Replaced = BTreeMap<String, (String, Option<String>)>;

impl Environment {
    /// Returns the environment as it was outside of the `grov run` that this process runs in. Variables that were changed since
    /// stay as they are.
    #[must_use]
    pub fn outside_of_run(&self) -> Self {
        let recorded = self.get(VARIABLE).and_then(|text| text.to_str());
        // Another version's record, or a foreign one, restores nothing.
        let replaced: Replaced = recorded
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default();
        let variables = self.iter().filter(|(name, _)| *name != VARIABLE);
        variables
            .filter_map(|(name, value)| {
                let value = match replaced.get(name) {
                    Some((set, before)) if value == set.as_str() => OsString::from(before.as_deref()?),
                    _ => value.to_owned(),
                };
                Some((name.to_owned(), value))
            })
            .collect()
    }

    /// Returns the variable that lets [`outside_of_run`](Self::outside_of_run) undo the variables `set`. This is the
    /// environment before.
    pub fn record_of_run(&self, set: &[(String, String)]) -> (String, String) {
        let before = |name: &str| Some(self.get(name)?.to_str()?.to_owned());
        let replaced: Replaced = set
            .iter()
            .map(|(name, value)| (name.clone(), (value.clone(), before(name))))
            .collect();
        // Text always serializes.
        let text = serde_json::to_string(&replaced).unwrap_or_default();
        (VARIABLE.to_owned(), text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(before: &Environment, set: &[(&str, &str)]) -> Environment {
        let set: Vec<(String, String)> = set
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let record = before.record_of_run(&set);
        let of_command = before
            .iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let set = set.into_iter().chain([record]);
        of_command
            .chain(set.map(|(name, value)| (name, value.into())))
            .collect()
    }

    #[test]
    fn values_before_a_run_are_restored() {
        let before = Environment::from_iter([("HTTPS_PROXY", "http://corp:3128"), ("HOME", "/home/ana")]);
        let set = [
            ("HTTPS_PROXY", "http://127.0.0.1:1"),
            ("NODE_EXTRA_CA_CERTS", "/b"),
        ];
        let inside = run(&before, &set);
        assert_ne!(inside, before);
        assert_eq!(inside.outside_of_run(), before);
        assert_eq!(before.outside_of_run(), before);
        // A run inside the run notes the values of outside.
        let nested = run(&inside.outside_of_run(), &[("HTTPS_PROXY", "http://127.0.0.1:2")]);
        assert_eq!(nested.outside_of_run(), before);
    }

    #[test]
    fn what_was_changed_inside_a_run_stays() {
        let inside = run(&Environment::default(), &[("HTTPS_PROXY", "http://127.0.0.1:1")]);
        let changed = inside.iter().map(|(name, value)| match name {
            "HTTPS_PROXY" => (name.to_owned(), "http://mine:1".into()),
            _ => (name.to_owned(), value.to_owned()),
        });
        let changed: Environment = changed.collect();
        let expected = Environment::from_iter([("HTTPS_PROXY", "http://mine:1")]);
        assert_eq!(changed.outside_of_run(), expected);
        let damaged = Environment::from_iter([(VARIABLE, "{"), ("HTTPS_PROXY", "http://mine:1")]);
        assert_eq!(damaged.outside_of_run(), expected);
    }
}
