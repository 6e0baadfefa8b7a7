//! Files to be sent: found by path or glob, bounded, redacted, and never files with keys unless forced.

use crate::material::clean;
use grov_tools::opinion::quoted;
use grov_tools::{ErrorKind, ToolError, is_secret_file};
use ignore::WalkBuilder;
use ignore::overrides::OverrideBuilder;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Limits of the files that are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileLimits {
    /// Number of files.
    pub count: usize,
    /// Bytes of one file.
    pub file: u64,
    /// Bytes of all files.
    pub total: usize,
}

impl Default for FileLimits {
    fn default() -> Self {
        Self {
            count: 200,
            file: 256 * 1024,
            total: 1024 * 1024,
        }
    }
}

/// Reads files named by paths or globs, relative to `root`. Returns them between tags, and what was left out.
///
/// # Errors
///
/// If a named file does not exist, is no file, or usually holds keys and `forced` is false. Files that a glob finds are left out
/// instead, unless no file would remain.
pub fn read_files(
    root: &Path,
    patterns: &[String],
    forced: bool,
    limits: FileLimits,
) -> Result<(String, Vec<String>), ToolError> {
    let mut text = String::new();
    let mut omitted = Vec::new();
    let mut seen: Vec<PathBuf> = Vec::new();
    let mut left_out = 0;
    for pattern in patterns {
        let named = root.join(pattern);
        let is_glob = pattern.contains(['*', '?', '[', '{']) && !named.exists();
        let paths = if is_glob {
            matches(root, pattern)?
        } else {
            vec![named]
        };
        for path in paths {
            if seen.contains(&path) {
                continue;
            }
            let shown = path
                .strip_prefix(root)
                .unwrap_or(&path)
                .to_string_lossy()
                .into_owned();
            match read(&path, &shown, forced, limits.file) {
                Ok((content, cut)) => {
                    if seen.len() >= limits.count || text.len() + content.len() > limits.total {
                        left_out += 1;
                        if left_out <= 20 {
                            omitted.push(format!(
                                "{shown}: the limit of {} KiB or {} files is reached",
                                limits.total / 1024,
                                limits.count
                            ));
                        }
                        continue;
                    }
                    text.push_str(&quoted("file", &[("path", &shown)], &clean(&content)));
                    text.push('\n');
                    if cut > 0 {
                        omitted.push(format!("{shown}: the last {cut} bytes"));
                    }
                    seen.push(path);
                }
                Err(error) if is_glob => omitted.push(error.message),
                Err(error) => return Err(error),
            }
        }
    }
    if let (true, Some(first)) = (seen.is_empty(), omitted.first()) {
        let message = match omitted.len() {
            1 => format!("the only file that matches cannot be sent: {first}"),
            count => format!("none of the {count} files that match can be sent; the first is {first}"),
        };
        return Err(ToolError::new(ErrorKind::RefusedFile, message)
            .hint("nothing was sent; name other files, or ask without --files"));
    }
    if left_out > 20 {
        omitted.push(format!("{} more files", left_out - 20));
    }
    Ok((text, omitted))
}

/// The files of a glob in order, without ignored ones, the repository's own data, and hidden ones unless the glob names one.
fn matches(root: &Path, pattern: &str) -> Result<Vec<PathBuf>, ToolError> {
    let invalid = |error: ignore::Error| ToolError::usage(format!("{pattern:?} is no valid glob: {error}"));
    let relative = pattern.trim_start_matches("./");
    let mut globs = OverrideBuilder::new(root);
    globs.add(&format!("/{relative}")).map_err(invalid)?;
    let globs = globs.build().map_err(invalid)?;
    let names_hidden = relative.split('/').any(|part| part.starts_with('.'));
    // The walk does not know the glob: what it asks for would not be ignored or hidden.
    let walk = WalkBuilder::new(root)
        .hidden(!names_hidden)
        .require_git(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build();
    let files = walk.flatten().filter(|entry| {
        entry.file_type().is_some_and(|kind| kind.is_file())
            && globs.matched(entry.path(), false).is_whitelist()
    });
    let mut paths: Vec<PathBuf> = files.map(ignore::DirEntry::into_path).collect();
    paths.sort();
    if paths.is_empty() {
        return Err(
            ToolError::new(ErrorKind::NotFound, format!("no file matches {pattern:?}")).hint(format!(
                "globs are relative to {}, and leave out ignored and hidden files",
                root.display()
            )),
        );
    }
    Ok(paths)
}

/// The beginning of a file, and the bytes that are left out.
pub(crate) fn read(path: &Path, shown: &str, forced: bool, most: u64) -> Result<(String, u64), ToolError> {
    let error = |kind, message: String| ToolError::new(kind, format!("{shown}: {message}"));
    let io = |source: std::io::Error| match source.kind() {
        std::io::ErrorKind::NotFound => error(ErrorKind::NotFound, "the file does not exist".to_owned()),
        _ => error(ErrorKind::Io, format!("it cannot be read: {source}")),
    };
    let real = path.canonicalize().map_err(io)?;
    let metadata = std::fs::metadata(&real).map_err(io)?;
    if metadata.is_dir() {
        return Err(error(ErrorKind::RefusedFile, "it is a directory".to_owned())
            .hint(format!("name files, or a glob: {shown}/**")));
    }
    if !metadata.is_file() {
        return Err(error(ErrorKind::RefusedFile, "it is no regular file".to_owned()));
    }
    let holds_keys = is_secret_file(shown) || is_secret_file(&real.to_string_lossy());
    if holds_keys && !forced {
        return Err(error(
            ErrorKind::RefusedFile,
            "a file of this name usually holds keys, so it is not sent".to_owned(),
        )
        .hint("leave it out; only the user should decide to send it with --force"));
    }
    let mut content = Vec::new();
    File::open(&real)
        .map_err(io)?
        .take(most)
        .read_to_end(&mut content)
        .map_err(io)?;
    if content.iter().take(8192).any(|byte| *byte == 0) {
        return Err(error(ErrorKind::RefusedFile, "it is a binary file".to_owned()));
    }
    let cut = metadata.len().saturating_sub(content.len() as u64);
    Ok((String::from_utf8_lossy(&content).into_owned(), cut))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("src/a.rs", "fn a() {}");
        write(
            "src/deep/b.rs",
            "let key = \"ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8\";",
        );
        write("src/c.txt", "c");
        write(".env", "TOKEN=1");
        write("target/d.rs", "generated");
        write(".gitignore", "target/\n");
        write("i.png", "\0\0");
        folder
    }

    fn files(root: &Path, patterns: &[&str], forced: bool) -> Result<(String, Vec<String>), ToolError> {
        let patterns: Vec<String> = patterns.iter().map(|text| (*text).to_owned()).collect();
        read_files(root, &patterns, forced, FileLimits::default())
    }

    #[test]
    fn globs_find_files_that_are_not_ignored_and_secrets_are_masked() {
        let project = project();
        let (text, omitted) = files(project.path(), &["src/**/*.rs", "src/a.rs"], false).unwrap();
        assert_eq!(text.matches("<file path=").count(), 2, "{text}");
        assert!(text.contains("<file path=\"src/a.rs\">\nfn a() {}\n</file>"));
        assert!(text.contains("[redacted:github-token]") && !text.contains("ghp_"));
        assert!(omitted.is_empty());
        assert!(
            !files(project.path(), &["**/*.rs"], false)
                .unwrap()
                .0
                .contains("generated")
        );
    }

    #[test]
    fn a_glob_for_everything_does_not_find_hidden_and_ignored_files() {
        let project = project();
        let write = |path: &str| {
            let path = project.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "text").unwrap();
        };
        for path in [
            ".git/config",
            ".git/logs/HEAD",
            ".github/workflows/ci.yml",
            "src/.git/HEAD",
        ] {
            write(path);
        }
        let found = |pattern: &str| -> Vec<String> {
            let found = matches(project.path(), pattern).unwrap();
            let relative = |path: &PathBuf| path.strip_prefix(project.path()).unwrap().display().to_string();
            found.iter().map(relative).collect()
        };
        let shown = ["i.png", "src/a.rs", "src/c.txt", "src/deep/b.rs"];
        assert_eq!(found("**/*"), shown);
        assert_eq!(found("./**"), shown);
        assert_eq!(found("**/*.*"), shown);
        assert_eq!(found(".github/**/*.yml"), [".github/workflows/ci.yml"]);
        assert!(matches(project.path(), ".git/*").is_err());
    }

    #[test]
    fn a_glob_whose_files_are_all_refused_sends_nothing() {
        let project = project();
        std::fs::create_dir(project.path().join("keys")).unwrap();
        for name in ["id_rsa", "server.pem"] {
            std::fs::write(project.path().join("keys").join(name), "key").unwrap();
        }
        let error = files(project.path(), &["keys/*"], false).unwrap_err();
        assert_eq!(error.kind, ErrorKind::RefusedFile);
        assert!(error.message.contains("none of the 2 files"), "{}", error.message);
        assert_eq!(files(project.path(), &["keys/*"], true).unwrap().1.len(), 0);
        assert_eq!(
            files(project.path(), &["keys/*", "src/*.rs"], false)
                .unwrap()
                .1
                .len(),
            2
        );
    }

    #[test]
    fn key_files_are_refused_unless_forced() {
        let project = project();
        assert_eq!(
            files(project.path(), &[".env"], false).unwrap_err().kind,
            ErrorKind::RefusedFile
        );
        std::os::unix::fs::symlink(".env", project.path().join("notes.txt")).unwrap();
        assert_eq!(
            files(project.path(), &["notes.txt"], false).unwrap_err().kind,
            ErrorKind::RefusedFile
        );
        assert!(
            files(project.path(), &[".env"], true)
                .unwrap()
                .0
                .contains("TOKEN=")
        );
    }

    #[test]
    fn what_is_no_text_file_is_refused() {
        let project = project();
        let _socket = std::os::unix::net::UnixListener::bind(project.path().join("socket")).unwrap();
        for (path, kind) in [
            ("src", ErrorKind::RefusedFile),
            ("socket", ErrorKind::RefusedFile),
            ("i.png", ErrorKind::RefusedFile),
            ("none.rs", ErrorKind::NotFound),
            ("none/*.rs", ErrorKind::NotFound),
        ] {
            assert_eq!(
                files(project.path(), &[path], false).unwrap_err().kind,
                kind,
                "{path}"
            );
        }
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let project = project();
        let limits = FileLimits {
            count: 1,
            file: 3,
            total: 1000,
        };
        let patterns = ["src/a.rs".to_owned(), "src/c.txt".to_owned()];
        let (_, omitted) = read_files(project.path(), &patterns, false, limits).unwrap();
        assert_eq!(omitted.len(), 2, "{omitted:?}");
        assert!(omitted[0].contains("6 bytes") && omitted[1].contains("src/c.txt"));
    }
}
