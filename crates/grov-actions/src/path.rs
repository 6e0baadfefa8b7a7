//! Normalizes paths as text, without the file system.

/// The maximum number of files, and of folders, of one action.
pub const MAX_FILES: usize = 200;

/// The maximum length of a path in bytes, as on Linux.
const MAX_PATH: usize = 4096;

/// Resolves a path against `base`, if it is relative and `base` is known, and removes `.`, `..` and repeated
/// separators. `~` stays. Windows paths keep their separators, `file://` URIs become paths. Returns `None` for texts
/// that are not paths: empty, too long, URLs, several lines.
pub(crate) fn resolve(base: Option<&str>, path: &str) -> Option<String> {
    let decoded;
    let path = match path.strip_prefix("file://") {
        Some(uri) => {
            decoded = file_uri_path(uri);
            decoded.as_str()
        }
        None => path.trim(),
    };
    if path.is_empty() || path.len() > MAX_PATH || is_url(path) || path.contains(['\n', '\0']) {
        return None;
    }
    let absolute = is_absolute(path);
    if !absolute && base.is_some_and(|base| base.len() + path.len() > MAX_PATH) {
        return None;
    }
    match base.filter(|base| !absolute && !base.is_empty()) {
        Some(base) => {
            let separator = if is_windows(base) && base.contains('\\') {
                '\\'
            } else {
                '/'
            };
            Some(normalise(&format!("{base}{separator}{path}")))
        }
        None => Some(normalise(path)),
    }
}

/// Whether the path does not need a base: it starts with a root, a home folder, a variable or a drive.
pub(crate) fn is_absolute(path: &str) -> bool {
    path.starts_with(['/', '~', '$']) || path.starts_with("\\\\") || is_windows(path)
}

/// Whether the text is a URL of any scheme, including `file://`.
pub(crate) fn is_url(text: &str) -> bool {
    let Some((scheme, _)) = text.split_once("://") else {
        return false;
    };
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

/// Whether the path starts with a drive letter or a network share.
fn is_windows(path: &str) -> bool {
    let bytes = path.as_bytes();
    bytes.len() >= 3 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' && matches!(bytes[2], b'\\' | b'/')
        || path.starts_with("\\\\")
}

/// Removes `.`, `..` and repeated separators, as far as the text allows.
fn normalise(path: &str) -> String {
    let windows = is_windows(path);
    let separates = |c: char| c == '/' || windows && c == '\\';
    let separator = if windows && path.contains('\\') { "\\" } else { "/" };
    let root = match () {
        () if path.starts_with("\\\\") => "\\\\",
        () if windows => &path[..2],
        () if path.starts_with('/') => "/",
        () => "",
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in path[root.len()..].split(separates) {
        match part {
            "" | "." => {}
            ".." => match parts.last() {
                // `..` cannot remove a part that represents an unknown folder.
                Some(&last) if last != ".." && !last.starts_with(['~', '$']) => {
                    parts.pop();
                }
                None if !root.is_empty() => {}
                _ => parts.push(part),
            },
            _ => parts.push(part),
        }
    }
    let rest = parts.join(separator);
    match (
        windows && !path.starts_with("\\\\"),
        root.is_empty(),
        rest.is_empty(),
    ) {
        (true, ..) => format!("{root}{separator}{rest}"),
        (_, true, true) => ".".to_owned(),
        _ => format!("{root}{rest}"),
    }
}

/// The path of a `file://` URI, without the host and with percent escapes decoded. `/C:/x` becomes `C:/x`.
fn file_uri_path(uri: &str) -> String {
    let path = uri.find('/').map_or("", |slash| &uri[slash..]);
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = tail
            .get(..2)
            .filter(|_| *first == b'%')
            .and_then(|hex| std::str::from_utf8(hex).ok());
        match escaped.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    let path = String::from_utf8_lossy(&bytes).into_owned();
    match path.strip_prefix('/') {
        Some(drive) if is_windows(drive) => drive.to_owned(),
        _ => path,
    }
}

/// The parent folder; `None` for a name without separators.
pub(crate) fn parent(path: &str) -> Option<&str> {
    let slash = path.rfind(['/', '\\'])?;
    Some(if slash == 0 { "/" } else { &path[..slash] })
}

/// The last part of the path.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Whether a word, which may be anything, looks like a path: it has a root, a final slash or a file extension.
pub(crate) fn looks_like_path(word: &str) -> bool {
    if word.starts_with(['-', '@', '+', '%', '=', ':', ','])
        || is_url(word)
        || word.contains([' ', '\n', '\t', '\'', '"', ';', '`'])
    {
        return false;
    }
    if ["/", "./", "../", "~/"].iter().any(|root| word.starts_with(root)) || is_windows(word) {
        return word.len() > 1;
    }
    // `s/a/b/` is a sed script.
    let script = ["s/", "y/"].iter().any(|start| word.starts_with(start)) && word.matches('/').count() >= 3;
    if script || word.contains(['=', '(', ')', '<', '>', '|', '^', '\\']) {
        return false;
    }
    word.ends_with('/') || has_extension(word)
}

/// Whether the last part of the path has a file extension: `.rs`, `.test.ts`, `.gitignore`; not `.com`, not `.2`.
pub(crate) fn has_extension(word: &str) -> bool {
    let name = file_name(word);
    let Some((_, extension)) = name.rsplit_once('.') else {
        return false;
    };
    const HOSTS: &[&str] = &[
        "com", "org", "net", "io", "dev", "ai", "app", "local", "edu", "gov",
    ];
    (1..=10).contains(&extension.len())
        && extension.starts_with(|c: char| c.is_ascii_alphabetic())
        && extension.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !HOSTS.contains(&extension)
}

/// The folder before the first wildcard of a glob pattern; empty if there is none.
pub(crate) fn glob_base(pattern: &str) -> &str {
    let literal = pattern
        .find(['*', '?', '[', '{'])
        .map_or(pattern, |wildcard| &pattern[..wildcard]);
    if literal.len() == pattern.len() {
        parent(pattern).unwrap_or("")
    } else {
        parent(literal).unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paths_are_resolved_and_normalised() {
        let cases = [
            (Some("/w"), "src/a.rs", Some("/w/src/a.rs")),
            (Some("/w"), "./src/../b.rs", Some("/w/b.rs")),
            (Some("/w/x"), "../../../a", Some("/a")),
            (Some("/w"), "/etc//hosts", Some("/etc/hosts")),
            (Some("/w"), ".", Some("/w")),
            (Some("/w"), "/", Some("/")),
            (Some("/w"), "~/notes.md", Some("~/notes.md")),
            (Some("/w"), "~/../x", Some("~/../x")),
            (Some("/w"), "a b.txt", Some("/w/a b.txt")),
            (None, "src/a.rs", Some("src/a.rs")),
            (None, "../a", Some("../a")),
            (None, "a/..", Some(".")),
            (Some(""), "a", Some("a")),
            (Some("/w"), r"C:\x\..\y.txt", Some(r"C:\y.txt")),
            (Some(r"C:\w"), r"src\a.rs", Some(r"C:\w\src\a.rs")),
            (Some(r"C:\w"), "src/a.rs", Some(r"C:\w\src\a.rs")),
            (Some("/w"), "C:/x/./y", Some("C:/x/y")),
            (Some("/w"), r"\\server\share\a", Some(r"\\server\share\a")),
            (Some("/w"), "file:///home/me/a%20b.rs", Some("/home/me/a b.rs")),
            (Some("/w"), "file:///C:/x", Some("C:/x")),
            (Some("/w"), "https://example.com/a", None),
            (Some("/w"), "", None),
            (Some("/w"), "a\nb", None),
            (Some("$X"), "../a", Some("$X/../a")),
        ];
        for (base, path, expected) in cases {
            assert_eq!(resolve(base, path).as_deref(), expected, "{base:?} {path}");
        }
    }

    #[test]
    fn words_that_look_like_paths() {
        for path in [
            "src/",
            "./run",
            "/etc",
            "a.rs",
            "src/a.test.ts",
            "../x",
            "~/x",
            ".gitignore",
            "*.log",
            "C:/x",
        ] {
            assert!(looks_like_path(path), "{path}");
        }
        for word in [
            "main",
            "origin/main",
            "-x",
            "@scope/pkg",
            "1.2.3",
            "example.com",
            "s/a/b/",
            "a=b.c",
            "https://x.y/z.js",
            "a b.c",
            "/",
        ] {
            assert!(!looks_like_path(word), "{word}");
        }
    }

    #[test]
    fn the_base_of_a_pattern_is_its_last_whole_folder() {
        let cases = [
            ("src/**/*.rs", "src"),
            ("**/*.ts", ""),
            ("a/b/c.rs", "a/b"),
            ("/x/y*/z", "/x"),
            ("*.md", ""),
            ("a/{b,c}/d", "a"),
        ];
        for (pattern, base) in cases {
            assert_eq!(glob_base(pattern), base, "{pattern}");
        }
    }

    proptest! {
        #[test]
        fn resolving_twice_changes_nothing(base in "(/[a-z.]{0,3}){1,4}", path in any::<String>()) {
            if let Some(once) = resolve(Some(&base), &path) {
                let absolute = is_absolute(&once);
                if absolute && !once.starts_with('~') && once.trim() == once {
                    prop_assert_eq!(resolve(Some("/other"), &once), Some(once.clone()));
                }
            }
        }
    }
}
