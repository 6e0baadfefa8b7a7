//! Where the client's program is. The environment of a service, of an editor's window or of an older daemon may have another
//! `PATH` than the user's shell.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Folders below the user's home where installers and package managers put programs.
const IN_HOME: &[&str] = &[
    ".local/bin",
    ".claude/local",
    ".npm-global/bin",
    ".npm-packages/bin",
    ".volta/bin",
    ".bun/bin",
    ".local/share/pnpm",
    "Library/pnpm",
    ".yarn/bin",
    ".local/share/mise/shims",
    ".asdf/shims",
    ".nix-profile/bin",
];

/// Folders with one folder for each version of Node.js, and where its programs are in that.
const VERSIONED: &[(&str, &str)] = &[
    (".nvm/versions/node", "bin"),
    (".config/nvm/versions/node", "bin"),
    (".local/share/fnm/node-versions", "installation/bin"),
    (
        "Library/Application Support/fnm/node-versions",
        "installation/bin",
    ),
];

/// Homebrew's folders, which launchd's `PATH` lacks.
const OF_MACOS: &[&str] = &["/opt/homebrew/bin", "/usr/local/bin"];

/// The program, searched in the folders of `path`, then in the usual ones; `None` if it is in none.
pub(super) fn find(program: &Path, path: Option<&OsStr>, home: Option<&Path>) -> Option<PathBuf> {
    if program.components().count() > 1 {
        return is_program(program).then(|| program.to_owned());
    }
    let listed = path.into_iter().flat_map(std::env::split_paths);
    let in_home = home
        .into_iter()
        .flat_map(|home| IN_HOME.iter().map(|place| home.join(place)));
    let versioned = home.into_iter().flat_map(of_versions);
    let of_system = OF_MACOS
        .iter()
        .filter(|_| cfg!(target_os = "macos"))
        .map(PathBuf::from);
    listed
        .chain(in_home)
        .chain(versioned)
        .chain(of_system)
        // The client starts in another directory.
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(program))
        .find(|path| is_program(path))
}

/// The folders of all versions, the newest first.
fn of_versions(home: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for (folder, within) in VERSIONED {
        let Ok(entries) = std::fs::read_dir(home.join(folder)) else {
            continue;
        };
        let mut versions: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        versions.sort_by_key(|path| std::cmp::Reverse(numbers(path)));
        found.extend(versions.into_iter().map(|version| version.join(within)));
    }
    found
}

/// The numbers of a version such as `v20.11.1`.
fn numbers(path: &Path) -> Vec<u64> {
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let parts = name.split(|char: char| !char.is_ascii_digit());
    parts.filter_map(|part| part.parse().ok()).collect()
}

fn is_program(path: &Path) -> bool {
    let metadata = std::fs::metadata(path);
    metadata.is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn install(path: &Path, mode: u32) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    }

    #[test]
    fn the_program_is_found_in_path_and_in_the_usual_places() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path();
        let found = || find(Path::new("claude-x"), Some(OsStr::new(".:/bin")), Some(home));
        assert_eq!(found(), None);
        let program = home.join(".local/bin/claude-x");
        install(&program, 0o644);
        assert_eq!(found(), None, "not executable");
        install(&program, 0o755);
        assert_eq!(found(), Some(program.clone()));
        assert_eq!(find(&program, None, None), Some(program));
        assert!(find(Path::new("sh"), Some(OsStr::new("/bin")), None).is_some());
    }

    #[test]
    fn a_client_that_a_version_manager_installed_is_found_outside_of_the_users_shell() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path();
        let found = || find(Path::new("claude-x"), Some(OsStr::new("/bin")), Some(home));
        // By number, not by letter.
        for (version, is_newest) in [("v9.11.2", true), ("v20.1.0", true), ("v18.20.3", false)] {
            let program = home.join(format!(".nvm/versions/node/{version}/bin/claude-x"));
            install(&program, 0o755);
            assert_eq!(found() == Some(program), is_newest, "{version}");
        }
        let program = home.join(".npm-global/bin/claude-x");
        install(&program, 0o755);
        assert_eq!(found(), Some(program));
    }
}
