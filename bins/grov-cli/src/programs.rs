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

pub(crate) fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path)
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}
