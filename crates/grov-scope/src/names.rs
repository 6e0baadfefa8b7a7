//! Finds paths and identifiers in a text.

use crate::words::{Word, fold, folds_alike, words};

/// The maximum number of entries of a scope.
pub const MAX_ENTRIES: usize = 40;

/// Endings of file names that are not words with a dot in them.
#[rustfmt::skip]
const ENDINGS: &[&str] = &[
    "rs", "toml", "ts", "tsx", "js", "jsx", "mjs", "cjs", "json", "jsonl", "py", "go", "java", "kt", "rb",
    "php", "c", "h", "cc", "cpp", "hpp", "cs", "swift", "scala", "sh", "bash", "zsh", "ps1", "sql", "md",
    "mdx", "rst", "txt", "yml", "yaml", "xml", "html", "htm", "css", "scss", "sass", "less", "vue",
    "svelte", "lock", "cfg", "ini", "conf", "env", "proto", "graphql", "tf", "gradle", "csv", "log", "dart",
    "ex", "exs", "erl", "hs", "ml", "lua", "pl", "r", "jl", "zig", "nix", "dockerfile", "ipynb", "snap",
    "svg", "png", "csproj", "sln", "mod", "sum",
];

/// File names without an extension, recognized after a folder.
#[rustfmt::skip]
const NAMES: &[&str] = &[
    "makefile", "dockerfile", "justfile", "rakefile", "gemfile", "procfile", "jenkinsfile", "license",
    "readme", "changelog", "codeowners",
];

/// Whether a word is a path, a file name or a glob.
pub fn is_path(raw: &str) -> bool {
    // The fast path for nearly all words.
    if !raw.contains(['.', '/'])
        || raw.len() < 2
        || raw.len() > 300
        || raw.contains("://")
        || raw.starts_with("//")
        || raw.contains(['<', '=', '('])
    {
        return false;
    }
    let name = raw.rsplit('/').next().unwrap_or(raw);
    let has_ending = raw.len() > name.len() && NAMES.contains(&fold(name).as_str())
        || name.rsplit_once('.').is_some_and(|(stem, ending)| {
            ENDINGS.contains(&fold(ending).as_str())
                && (!stem.is_empty() || raw.contains('/') || ending == "env")
        });
    if has_ending
        || raw.starts_with('.')
            && raw.len() > 3
            && raw[1..].starts_with(|letter: char| letter.is_ascii_alphabetic())
    {
        return true;
    }
    if let Some((first, rest)) = raw.split_once('/') {
        let parts = rest.split('/').filter(|part| !part.is_empty()).count();
        let plausible = raw
            .chars()
            .all(|letter| letter.is_alphanumeric() || "/._-*@~[]{},+ \\".contains(letter));
        // Two plain words such as "and/or" are not a path, unless the first is a usual folder.
        return plausible
            && !raw
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'/' || byte == b'.')
            && (raw.ends_with('/')
                || parts >= 2
                || raw.contains('*')
                || raw.contains('_')
                || FOLDERS.contains(&fold(first).as_str()));
    }
    raw.contains("*.")
}

/// Usual names of folders.
#[rustfmt::skip]
const FOLDERS: &[&str] = &[
    "src", "lib", "crates", "bins", "tests", "test", "docs", "doc", "app", "apps", "packages", "pkg", "cmd",
    "internal", "scripts", "components", "pages", "api", "server", "client", "web", "frontend", "backend",
    "migrations", "config", ".github", "examples", "benches", "assets", "public", "static", "spec", "specs",
    "tools", "utils", "core", "modules", "services", "models", ".", "..", "~",
];

/// Whether a word is an identifier by its looks: `run()`, `a::b`, `snake_case`, `CamelCase`.
fn is_identifier(raw: &str) -> bool {
    if raw.len() < 3
        || raw.len() > 120
        || !raw.starts_with(|letter: char| letter.is_alphabetic() || letter == '_')
    {
        return false;
    }
    let name = raw.strip_suffix("()").unwrap_or(raw);
    if !name
        .chars()
        .all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | ':' | '.' | '$'))
    {
        return false;
    }
    if name.len() < raw.len() || name.contains("::") {
        return true;
    }
    if name.contains('.') {
        return false;
    }
    if name.trim_matches('_').contains('_') {
        return true;
    }
    // A capital after a small letter: `fooBar`, `FooBar`. Names of products such as "GitHub" are excluded.
    let humps = name
        .as_bytes()
        .windows(2)
        .filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
        .count();
    humps >= 1 && !PRODUCTS.contains(&fold(name).as_str())
}

/// Names that look like identifiers.
#[rustfmt::skip]
const PRODUCTS: &[&str] = &[
    "github", "gitlab", "javascript", "typescript", "postgresql", "mysql", "sqlite", "mongodb", "graphql",
    "openai", "youtube", "linkedin", "macos", "ios", "iphone", "nodejs", "webassembly", "wasm", "paypal",
    "oauth", "websocket", "websockets", "devops", "latex", "fastapi", "dynamodb", "bigquery", "jquery",
    "vscode", "stackoverflow", "clickhouse",
];

/// Adds the paths and identifiers in a text to `entries`, in order and without duplicates.
pub fn named(text: &str, entries: &mut Vec<String>) {
    add_names(text, entries, |word, raw| {
        let quoted = word.before.ends_with('`') && word.after.starts_with('`');
        is_path(raw) || is_identifier(raw) || quoted && is_code_word(raw)
    });
}

/// The paths in a text, without duplicates.
pub fn paths(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    add_names(text, &mut found, |_, raw| is_path(raw));
    found
}

fn add_names(text: &str, entries: &mut Vec<String>, is_name: impl Fn(&Word<'_>, &str) -> bool) {
    for word in words(text) {
        if entries.len() >= MAX_ENTRIES {
            return;
        }
        let raw = without_line_number(word.raw);
        if is_name(&word, raw) {
            let name = raw.trim_start_matches("./").trim_start_matches('@');
            push_new(entries, name.to_owned(), MAX_ENTRIES);
        }
    }
}

/// Whether a word in backticks names something.
fn is_code_word(raw: &str) -> bool {
    (2..=80).contains(&raw.len())
        && raw.starts_with(|letter: char| letter.is_alphabetic() || matches!(letter, '_' | '$' | '#' | '@'))
}

/// `src/a.rs:12:3` without the numbers.
fn without_line_number(raw: &str) -> &str {
    let mut path = raw;
    while let Some((before, number)) = path.rsplit_once(':') {
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
            break;
        }
        path = before;
    }
    path
}

/// Adds `item` unless it is empty, already in the list (ignoring case), or the list is full.
pub fn push_new(list: &mut Vec<String>, item: String, limit: usize) {
    if item.is_empty() || list.len() >= limit {
        return;
    }
    if !list.iter().any(|known| folds_alike(known, &item)) {
        list.push(item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_named_is_found_in_order() {
        let cases: &[(&str, &[&str])] = &[
            (
                "Fix `parse()` in src/parser.rs:12 and ./tests/*.rs.",
                &["parse()", "src/parser.rs", "tests/*.rs"],
            ),
            (
                "Rename UserStore to AccountStore, and user_id too",
                &["UserStore", "AccountStore", "user_id"],
            ),
            ("The and/or read/write GitHub e.g. v1.2.3 https://a.b/c.rs", &[]),
            (
                "See .env, Cargo.toml, @src/lib.rs and crate::store",
                &[".env", "Cargo.toml", "src/lib.rs", "crate::store"],
            ),
            ("Set `timeout` in config/", &["timeout", "config/"]),
        ];
        for (text, expected) in cases {
            let mut found = Vec::new();
            named(text, &mut found);
            assert_eq!(&found, expected, "{text}");
        }
    }

    #[test]
    fn identifiers_are_not_paths() {
        assert_eq!(paths("parse() of src/a.rs, and a.b or x/y"), ["src/a.rs"]);
    }
}
