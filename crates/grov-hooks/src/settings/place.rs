//! Paths of the client's settings files.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The scope of a settings file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All projects of the user.
    User,
    /// One project, shared with others.
    Project,
    /// One project, only for this user on this machine.
    Local,
}

/// The client's directory for the user: `CLAUDE_CONFIG_DIR`, or else `.claude` in `HOME`; `None` if neither is set.
pub fn user_folder<'e>(environment: impl Fn(&str) -> Option<&'e OsStr>) -> Option<PathBuf> {
    let named = environment("CLAUDE_CONFIG_DIR").map(PathBuf::from);
    named.or_else(|| environment("HOME").map(|home| Path::new(home).join(".claude")))
}

/// The settings file of a scope. `user_folder` is the result of [`user_folder`], `project` the project's directory.
pub fn settings_path(scope: Scope, user_folder: &Path, project: &Path) -> PathBuf {
    match scope {
        Scope::User => user_folder.join("settings.json"),
        Scope::Project => project.join(".claude/settings.json"),
        Scope::Local => project.join(".claude/settings.local.json"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clients_own_variable_takes_precedence() {
        let both = |name: &str| match name {
            "CLAUDE_CONFIG_DIR" => Some(OsStr::new("/c")),
            "HOME" => Some(OsStr::new("/h")),
            _ => None,
        };
        let only_home = |name: &str| both(name).filter(|_| name == "HOME");
        assert_eq!(user_folder(both).unwrap(), Path::new("/c"));
        assert_eq!(user_folder(only_home).unwrap(), Path::new("/h/.claude"));
        assert_eq!(user_folder(|_| None), None);
    }

    #[test]
    fn each_scope_has_its_file() {
        let path = |scope| settings_path(scope, Path::new("/u"), Path::new("/p"));
        assert_eq!(path(Scope::User), Path::new("/u/settings.json"));
        assert_eq!(path(Scope::Project), Path::new("/p/.claude/settings.json"));
        assert_eq!(path(Scope::Local), Path::new("/p/.claude/settings.local.json"));
    }
}
