//! Converts paths and globs that a person typed into globs relative to the top of the project.

use std::path::{Component, Path, PathBuf};

/// Converts `typed`, a path or glob relative to `directory`, into a glob relative to `top`. A folder matches everything below
/// it. Paths outside of the project remain absolute. A bare name that does not exist matches at any depth, as in `.gitignore`.
/// Without `directory` and `top`, when only the project's key is known, the file system is not read.
///
/// # Errors
/// The problem, as the end of a sentence that begins with the text.
pub(super) fn relative_to_top(
    typed: &str,
    directory: Option<&Path>,
    top: Option<&Path>,
) -> Result<String, &'static str> {
    let typed = typed.trim();
    if typed.is_empty() {
        return Err("is empty");
    }
    if typed.contains(['\n', '\r', '\0']) {
        return Err("is not a path");
    }
    let ends_as_folder = typed.ends_with('/') || typed.ends_with("/.") || typed == ".";
    let Some(base) = directory.or(top) else {
        let path = normalized(Path::new(typed)).ok_or("leads out of the project")?;
        return glob(&path, ends_as_folder, false);
    };
    let path = normalized(&base.join(typed)).ok_or("leads above the root")?;
    let is_glob = typed.contains(['*', '?', '[', '{']);
    let is_folder = ends_as_folder || (!is_glob && path.is_dir());
    let is_bare = !typed.contains('/') && typed != "." && typed != "..";
    let any_depth = is_bare && !is_folder && (is_glob || !path.exists());
    let Some(top) = top else {
        return glob(&path, is_folder, any_depth);
    };
    let inside = match path.strip_prefix(top) {
        Ok(inside) => Some(inside.to_owned()),
        // A symbolic link may lead into the project.
        Err(_) if !is_glob => resolved(&path).and_then(|path| Some(path.strip_prefix(top).ok()?.to_owned())),
        Err(_) => None,
    };
    glob(&inside.unwrap_or(path), is_folder, any_depth)
}

/// Removes `.` and `..`; `None` if the path leads above its first component.
fn normalized(path: &Path) -> Option<PathBuf> {
    let mut normalized = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                if !normalized.pop() {
                    return None;
                }
            }
            other => normalized.push(other),
        }
    }
    Some(normalized)
}

/// Resolves the symbolic links in the part of the path that exists.
fn resolved(path: &Path) -> Option<PathBuf> {
    let existing = path.ancestors().find(|ancestor| ancestor.exists())?;
    let rest = path.strip_prefix(existing).ok()?;
    Some(existing.canonicalize().ok()?.join(rest))
}

fn glob(path: &Path, is_folder: bool, any_depth: bool) -> Result<String, &'static str> {
    let mut path = path.to_owned();
    if any_depth && let Some(name) = path.file_name().map(|name| name.to_owned()) {
        path.set_file_name("**");
        path.push(name);
    }
    if is_folder && !path.ends_with("**") {
        path.push("**");
    }
    path.to_str().map(str::to_owned).ok_or("is not UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project() -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(directory.path().join("top/src/auth")).unwrap();
        std::fs::write(directory.path().join("top/src/main.rs"), "").unwrap();
        std::fs::write(directory.path().join("top/Makefile"), "").unwrap();
        directory
    }

    #[test]
    fn paths_and_globs_become_relative_to_the_top_of_the_project() {
        let directory = project();
        let root = directory.path().canonicalize().unwrap();
        let top = root.join("top");
        let source = top.join("src");
        let from =
            |directory: &Path, typed: &str| relative_to_top(typed, Some(directory), Some(&top)).unwrap();
        for (typed, kept) in [
            ("src", "src/**"),
            ("src/", "src/**"),
            ("./src/main.rs", "src/main.rs"),
            ("Makefile", "Makefile"),
            ("not-there/", "not-there/**"),
            ("not-there.rs", "**/not-there.rs"),
            ("*.css", "**/*.css"),
            ("src/*.css", "src/*.css"),
            ("src/**", "src/**"),
            (".", "**"),
            ("src/../Makefile", "Makefile"),
        ] {
            assert_eq!(from(&top, typed), kept, "{typed}");
        }
        for (typed, kept) in [
            ("auth", "src/auth/**"),
            ("main.rs", "src/main.rs"),
            ("../Makefile", "Makefile"),
            ("*.css", "src/**/*.css"),
            ("..", "**"),
        ] {
            assert_eq!(from(&source, typed), kept, "{typed}");
        }
        let inside = top.join("src/auth").to_str().unwrap().to_owned();
        assert_eq!(from(&source, &inside), "src/auth/**");
        let beside = root.join("top-secret").to_str().unwrap().to_owned();
        assert_eq!(
            from(&source, &beside),
            beside,
            "a name with the same prefix is not inside"
        );
        assert_eq!(from(&top, "/etc/hosts"), "/etc/hosts");
        assert_eq!(from(&top, "../x/*.rs"), root.join("x/*.rs").to_str().unwrap());
    }

    #[test]
    fn symbolic_links_are_resolved() {
        let directory = project();
        let root = directory.path().canonicalize().unwrap();
        std::os::unix::fs::symlink(root.join("top"), root.join("link")).unwrap();
        let top = root.join("top");
        let typed = root.join("link/src/new.rs");
        assert_eq!(
            relative_to_top(typed.to_str().unwrap(), Some(&top), Some(&top)).unwrap(),
            "src/new.rs"
        );
    }

    #[test]
    fn without_a_directory_nothing_is_resolved() {
        assert_eq!(relative_to_top("src/a.rs", None, None).unwrap(), "src/a.rs");
        assert_eq!(relative_to_top("src/", None, None).unwrap(), "src/**");
        for odd in ["", "  ", "..", "a\nb"] {
            assert!(relative_to_top(odd, None, None).is_err(), "{odd:?}");
        }
    }
}
