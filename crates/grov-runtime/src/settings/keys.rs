//! Names and types of settings.

use super::error::SettingsError;
use super::origin::Origin;
use super::table::KEYS;
use super::value::{InvalidValue, Kind};

/// One setting.
#[derive(Debug, PartialEq, Eq)]
pub struct Key {
    /// Dotted name, as written in a configuration file.
    pub name: &'static str,
    /// Environment variables; if several are set, the first is used.
    pub environment: &'static [&'static str],
    /// The command-line flag, if there is one.
    pub flag: Option<&'static str>,
    /// Type and range.
    pub kind: Kind,
    /// The default in the syntax of an environment variable; empty if there is none.
    pub default: &'static str,
    /// Its meaning, in one line.
    pub doc: &'static str,
    /// Whether a project's file may set it. Most settings do not allow it, because a cloned repository must not redirect
    /// traffic, weaken privacy or delete records.
    pub project: bool,
}

impl Key {
    /// Whether only the agent service uses it. An invalid variable of such a setting is no error of other programs, because
    /// names such as `DATABASE_URL` are common.
    pub(crate) fn is_agents(&self) -> bool {
        self.name.starts_with("agent.")
    }

    pub(super) fn invalid(&self, origin: Origin, found: InvalidValue) -> SettingsError {
        SettingsError::Invalid {
            key: self.name,
            origin,
            expected: self.kind.expected(),
            found,
        }
    }
}

/// The key of that name.
pub(super) fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// The known name most similar to `name`: it differs by a few typing errors, or only in its section.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    // Comparing a long name would be slow, and no setting has one.
    if name.len() > 64 {
        return None;
    }
    let allowed = (name.chars().count() / 3).clamp(1, 4);
    let last = |name: &str| name.rsplit('.').next().map(str::to_owned);
    let by_distance = KEYS
        .iter()
        .map(|key| (strsim::levenshtein(name, key.name), key.name))
        .filter(|&(distance, _)| distance <= allowed)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, name)| name);
    by_distance.or_else(|| {
        KEYS.iter()
            .map(|key| key.name)
            .find(|known| last(known) == last(name))
    })
}

#[cfg(test)]
mod tests {
    use super::super::table::KEYS;
    use super::*;

    #[test]
    fn the_table_is_sorted_and_follows_its_naming_rule() {
        assert!(KEYS.is_sorted_by(|a, b| a.name < b.name));
        for key in KEYS {
            let derived = format!("GROV_{}", key.name.replace('.', "_").to_uppercase());
            assert!(key.environment.contains(&derived.as_str()), "{derived}");
            assert!(!key.doc.is_empty() && !key.doc.ends_with('.'), "{}", key.name);
        }
        let mut names: Vec<_> = KEYS.iter().flat_map(|key| key.environment).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count, "two settings use the same variable");
    }

    #[test]
    fn every_default_is_valid() {
        for key in KEYS.iter().filter(|key| !key.default.is_empty()) {
            key.kind.parse_text(key.default).unwrap();
        }
    }

    #[test]
    fn a_project_may_set_nothing_of_the_proxy() {
        let allowed: Vec<_> = KEYS
            .iter()
            .filter(|key| key.project)
            .map(|key| key.name)
            .collect();
        assert_eq!(
            allowed,
            [
                "context.clear_threshold",
                "context.warning_threshold",
                "drift.check_interval",
                "log.level"
            ]
        );
    }

    #[test]
    fn nearest_names() {
        assert_eq!(nearest("proxy.prot"), Some("proxy.port"));
        assert_eq!(nearest("porxy.body_limt"), Some("proxy.body_limit"));
        assert_eq!(nearest("upstream"), Some("proxy.upstream"));
        assert_eq!(nearest("users"), Some("user"));
        assert_eq!(nearest("colour"), None);
        assert_eq!(nearest(""), None);
    }
}
