//! Finds programs in `PATH`.

use grov_runtime::Environment;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The executables of this name in `PATH`. Relative entries are skipped, because they depend on the current directory.
pub(crate) fn in_path(name: &str, environment: &Environment) -> impl Iterator<Item = PathBuf> {
    let folders: Vec<PathBuf> = environment
        .get("PATH")
        .map(|path| std::env::split_paths(path).collect())
        .unwrap_or_default();
    let places = folders.into_iter().filter(|folder| folder.is_absolute());
    places
        .map(move |folder| folder.join(name))
        .filter(|path| is_executable(path))
}

/// The executable of this name next to this program, else in `PATH`.
pub(crate) fn beside_or_in_path(name: &str, environment: &Environment) -> Option<PathBuf> {
    let own = std::env::current_exe().ok();
    let resolved = own.as_deref().and_then(|path| path.canonicalize().ok());
    let mut candidates = own.iter().chain(&resolved).map(|path| path.with_file_name(name));
    let beside = candidates.find(|path| is_executable(path));
    beside.or_else(|| in_path(name, environment).next())
}

pub(crate) fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path)
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}
