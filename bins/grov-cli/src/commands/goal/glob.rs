//! Paths and globs as a person types them, as a contract keeps them: from the top of the project, with `/`.

use std::path::Path;

/// Where a glob is typed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Here<'a> {
    /// The current directory.
    pub(super) directory: Option<&'a Path>,
    /// The top of the working tree.
    pub(super) top: Option<&'a Path>,
}

/// What was typed, as seen from the top of the project; a plain folder means all below it. What lies outside of the
/// project stays absolute. A bare name that is not there means that name anywhere below, as in `.gitignore`.
///
/// # Errors
/// What is wrong with it, to follow the text.
pub(super) fn normalised(typed: &str, here: Here<'_>) -> Result<String, &'static str> {
    let typed = typed.trim();
    if typed.is_empty() {
        return Err("names nothing");
    }
    if typed.contains(['\n', '\r', '\0']) {
        return Err("is no path");
    }
    let slashed = slashed(typed);
    let means_folder = slashed.ends_with('/') || slashed.ends_with("/.") || slashed == ".";
    let is_glob = slashed.contains(['*', '?', '[', '{']);
    let top = here.top.map(|top| parts(&text_of(top)));
    let from = here.directory.map(|directory| parts(&text_of(directory)));
    let is_absolute = is_absolute(&slashed);
    let all = if is_absolute {
        Some(resolved(Vec::new(), &slashed).ok_or("leads above the root")?)
    } else {
        match from.clone().or_else(|| top.clone()) {
            Some(from) => Some(resolved(from, &slashed).ok_or("leads above the root")?),
            None => None,
        }
    };
    let Some(all) = all else {
        // Nothing is known of a project that is named by its key alone.
        let own = resolved(Vec::new(), &slashed).ok_or("leads out of the project")?;
        return Ok(joined(&own, means_folder, false));
    };
    let there = absolute(&all);
    let all = match &top {
        Some(top) if !is_glob && !all.starts_with(top) => through_links(&there).unwrap_or(all),
        _ => all,
    };
    let is_folder = means_folder || (!is_glob && Path::new(&there).is_dir());
    let is_bare = !is_absolute && !slashed.contains('/') && slashed != "." && slashed != "..";
    let anywhere = is_bare && !is_folder && (is_glob || !Path::new(&there).exists());
    match top.and_then(|top| all.strip_prefix(top.as_slice()).map(<[String]>::to_vec)) {
        Some(inside) => Ok(joined(&inside, is_folder, anywhere)),
        None => Ok(absolute_glob(&all, is_folder, anywhere)),
    }
}

fn text_of(path: &Path) -> String {
    slashed(&path.to_string_lossy())
}

/// With `/` alone: a Windows path is known by its drive, anywhere else `\` takes a glob's meaning away.
fn slashed(text: &str) -> String {
    let mut bytes = text.bytes();
    let has_drive =
        bytes.next().is_some_and(|first| first.is_ascii_alphabetic()) && bytes.next() == Some(b':');
    if has_drive || cfg!(windows) {
        text.replace('\\', "/")
    } else {
        text.to_owned()
    }
}

fn is_absolute(text: &str) -> bool {
    text.starts_with('/') || text.as_bytes().get(1) == Some(&b':')
}

fn parts(path: &str) -> Vec<String> {
    resolved(Vec::new(), path).unwrap_or_default()
}

/// `path` seen from `from`, without `.` and `..`; `None` where it leads above the root.
fn resolved(mut from: Vec<String>, path: &str) -> Option<Vec<String>> {
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                from.pop()?;
            }
            part => from.push(part.to_owned()),
        }
    }
    Some(from)
}

/// The same place without symbolic links on the way, as far as it is there.
fn through_links(path: &str) -> Option<Vec<String>> {
    let path = Path::new(path);
    let there = path.ancestors().find(|ancestor| ancestor.exists())?;
    let rest = path.strip_prefix(there).ok()?;
    Some(parts(&text_of(&there.canonicalize().ok()?.join(rest))))
}

fn absolute(parts: &[String]) -> String {
    let joined = parts.join("/");
    match parts.first() {
        Some(first) if is_absolute(first) => joined,
        _ => format!("/{joined}"),
    }
}

fn joined(parts: &[String], is_folder: bool, anywhere: bool) -> String {
    let mut parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    if anywhere {
        parts.insert(parts.len().saturating_sub(1), "**");
    }
    if is_folder && parts.last() != Some(&"**") {
        parts.push("**");
    }
    parts.join("/")
}

fn absolute_glob(parts: &[String], is_folder: bool, anywhere: bool) -> String {
    let text = joined(parts, is_folder, anywhere);
    match parts.first() {
        Some(first) if is_absolute(first) => text,
        _ => format!("/{text}"),
    }
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
    fn paths_and_globs_are_seen_from_the_top_of_the_project() {
        let directory = project();
        let root = directory.path().canonicalize().unwrap();
        let top = root.join("top");
        let source = top.join("src");
        let from = |directory: &Path, typed: &str| {
            let here = Here {
                directory: Some(directory),
                top: Some(&top),
            };
            normalised(typed, here).unwrap()
        };
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
            "a name that begins alike is no folder in it"
        );
        assert_eq!(from(&top, "/etc/hosts"), "/etc/hosts");
        assert_eq!(from(&top, "../x/*.rs"), root.join("x/*.rs").to_str().unwrap());
    }

    #[cfg(unix)]
    #[test]
    fn a_path_through_a_link_is_the_same_place() {
        let directory = project();
        let root = directory.path().canonicalize().unwrap();
        std::os::unix::fs::symlink(root.join("top"), root.join("link")).unwrap();
        let top = root.join("top");
        let here = Here {
            directory: Some(&top),
            top: Some(&top),
        };
        let typed = root.join("link/src/new.rs");
        assert_eq!(normalised(typed.to_str().unwrap(), here).unwrap(), "src/new.rs");
    }

    #[test]
    fn paths_of_windows_are_understood() {
        let here = Here {
            directory: Some(Path::new("C:\\work\\top\\src")),
            top: Some(Path::new("C:\\work\\top")),
        };
        assert_eq!(normalised("C:\\work\\top\\src\\a.rs", here).unwrap(), "src/a.rs");
        assert_eq!(normalised("C:\\other\\a.rs", here).unwrap(), "C:/other/a.rs");
    }

    #[test]
    fn a_project_that_is_not_here_keeps_what_was_typed() {
        let here = Here {
            directory: None,
            top: None,
        };
        assert_eq!(normalised("src/a.rs", here).unwrap(), "src/a.rs");
        assert_eq!(normalised("src/", here).unwrap(), "src/**");
        for odd in ["", "  ", "..", "a\nb"] {
            assert!(normalised(odd, here).is_err(), "{odd:?}");
        }
    }
}
