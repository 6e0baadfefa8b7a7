//! Git's configuration files, as far as user names and remotes need them.

use crate::read::small_text;
use std::path::{Path, PathBuf};

/// The maximum size of a file in bytes. Real files have a few kilobytes.
const LENGTH_LIMIT: u64 = 1024 * 1024;
/// The maximum depth of nested includes, as in Git.
const INCLUDE_DEPTH: usize = 10;
/// The maximum number of included files in total, so that includes cannot multiply.
const INCLUDE_LIMIT: usize = 64;

/// One `key = value` of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    /// In lower case.
    section: String,
    subsection: Option<String>,
    /// In lower case.
    key: String,
    value: String,
}

/// Entries in the order in which Git reads them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Config {
    entries: Vec<Entry>,
}

/// The paths needed to resolve `~/` and conditions of includes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IncludeContext<'a> {
    pub(crate) home: Option<&'a Path>,
    pub(crate) git_directory: Option<&'a Path>,
}

impl Config {
    /// Reads files with their includes; later files take precedence. Missing ones are skipped.
    pub(crate) fn read(paths: &[PathBuf], context: IncludeContext<'_>) -> Self {
        let mut config = Self::default();
        let mut remaining = INCLUDE_LIMIT;
        for path in paths {
            config.read_file(path, context, INCLUDE_DEPTH, &mut remaining);
        }
        config
    }

    fn read_file(&mut self, path: &Path, context: IncludeContext<'_>, depth: usize, remaining: &mut usize) {
        let Some(text) = small_text(path, LENGTH_LIMIT) else {
            return;
        };
        for entry in parse(&text) {
            let included = (depth > 0 && *remaining > 0)
                .then(|| included_path(&entry, path, context))
                .flatten();
            self.entries.push(entry);
            if let Some(included) = included {
                *remaining -= 1;
                self.read_file(&included, context, depth - 1, remaining);
            }
        }
    }

    /// The effective value: the last one.
    pub(crate) fn last(&self, section: &str, key: &str) -> Option<&str> {
        let mut entries = self.entries.iter().rev();
        entries
            .find(|entry| entry.section == section && entry.subsection.is_none() && entry.key == key)
            .map(|entry| entry.value.as_str())
    }

    /// The first value of `section.subsection.key`.
    pub(crate) fn first_in(&self, section: &str, subsection: &str, key: &str) -> Option<&str> {
        let mut entries = self.entries.iter();
        entries
            .find(|entry| {
                entry.section == section
                    && entry.subsection.as_deref() == Some(subsection)
                    && entry.key == key
            })
            .map(|entry| entry.value.as_str())
    }

    /// The distinct subsections of `section` that contain `key`.
    pub(crate) fn subsections(&self, section: &str, key: &str) -> Vec<&str> {
        let mut names = Vec::new();
        for entry in self
            .entries
            .iter()
            .filter(|entry| entry.section == section && entry.key == key)
        {
            match entry.subsection.as_deref() {
                Some(name) if !names.contains(&name) => names.push(name),
                _ => {}
            }
        }
        names
    }
}

/// The file that an entry includes, if its condition holds.
fn included_path(entry: &Entry, from: &Path, context: IncludeContext<'_>) -> Option<PathBuf> {
    if entry.key != "path" || entry.value.is_empty() {
        return None;
    }
    let holds = match (entry.section.as_str(), entry.subsection.as_deref()) {
        ("include", None) => true,
        ("includeif", Some(condition)) => condition_holds(condition, from, context),
        _ => false,
    };
    let path = || match entry.value.strip_prefix("~/") {
        Some(rest) => Some(context.home?.join(rest)),
        None => Some(from.parent()?.join(&entry.value)),
    };
    holds.then(path).flatten()
}

/// Evaluates `gitdir:` and `gitdir/i:` conditions whose only wildcard is `**` at an end, as used to separate identities
/// by folder. Other conditions are treated as false.
fn condition_holds(condition: &str, from: &Path, context: IncludeContext<'_>) -> bool {
    let (pattern, ignores_case) = match (
        condition.strip_prefix("gitdir:"),
        condition.strip_prefix("gitdir/i:"),
    ) {
        (Some(pattern), _) => (pattern, false),
        (None, Some(pattern)) => (pattern, true),
        (None, None) => return false,
    };
    let Some(git_directory) = context.git_directory.and_then(Path::to_str) else {
        return false;
    };
    let mut pattern = match (pattern.strip_prefix("~/"), pattern.strip_prefix("./")) {
        (Some(rest), _) => match context.home.and_then(Path::to_str) {
            Some(home) => format!("{home}/{rest}"),
            None => return false,
        },
        (None, Some(rest)) => match from.parent().and_then(Path::to_str) {
            Some(folder) => format!("{folder}/{rest}"),
            None => return false,
        },
        (None, None) if pattern.starts_with('/') => pattern.to_owned(),
        (None, None) => format!("**/{pattern}"),
    };
    let mut subject = git_directory.to_owned();
    if ignores_case {
        pattern = pattern.to_lowercase();
        subject = subject.to_lowercase();
    }
    let (pattern, anywhere_below) = match pattern.strip_suffix("/**").or_else(|| pattern.strip_suffix('/')) {
        Some(folder) => (folder.to_owned(), true),
        None => (pattern, false),
    };
    let (pattern, anywhere_above) = match pattern.strip_prefix("**/") {
        Some(rest) => (format!("/{rest}"), true),
        None => (pattern, false),
    };
    if pattern.contains(['*', '?', '[', '\\']) {
        return false;
    }
    match (anywhere_above, anywhere_below) {
        (false, false) => subject == pattern,
        (false, true) => subject
            .strip_prefix(&pattern)
            .is_some_and(|rest| rest.starts_with('/')),
        (true, false) => subject.ends_with(&pattern),
        (true, true) => subject.contains(&format!("{pattern}/")),
    }
}

/// Parses a file. Invalid lines are skipped.
fn parse(text: &str) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut section: Option<(String, Option<String>)> = None;
    let mut rest = text.trim_start_matches('\u{feff}');
    while !rest.is_empty() {
        rest = rest.trim_start();
        if let Some(header) = rest.strip_prefix('[') {
            let (parsed, after) = parse_header(header);
            section = parsed;
            rest = after;
        } else if rest.starts_with(['#', ';']) {
            rest = after_line(rest);
        } else {
            let end = rest.find(['=', '\n', '#', ';']).unwrap_or(rest.len());
            let (key, after) = rest.split_at(end);
            let (value, after) = match after.strip_prefix('=') {
                Some(value) => parse_value(value),
                // A key without a value means "true".
                None => ("true".to_owned(), after_line(after)),
            };
            rest = after;
            let key = key.trim();
            let is_key = !key.is_empty()
                && key
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
            if let (Some((section, subsection)), true) = (&section, is_key) {
                entries.push(Entry {
                    section: section.clone(),
                    subsection: subsection.clone(),
                    key: key.to_ascii_lowercase(),
                    value,
                });
            }
        }
    }
    entries
}

fn after_line(text: &str) -> &str {
    text.split_once('\n').map_or("", |(_, rest)| rest)
}

/// The section between `[` and `]`, and the rest of the text. A malformed header opens no section.
fn parse_header(text: &str) -> (Option<(String, Option<String>)>, &str) {
    let line_end = text.find('\n').unwrap_or(text.len());
    let name_end = text.find(['"', ']']).filter(|end| *end < line_end);
    let Some(name_end) = name_end else {
        return (None, &text[line_end..]);
    };
    let name = text[..name_end].trim().to_ascii_lowercase();
    if text[name_end..].starts_with(']') {
        // The older form [section.subsection].
        let section = match name.split_once('.') {
            Some((section, subsection)) => (section.to_owned(), Some(subsection.to_owned())),
            None => (name, None),
        };
        return (Some(section), &text[name_end + 1..]);
    }
    let mut subsection = String::new();
    let mut characters = text[name_end + 1..line_end].char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => {
                let after = &text[name_end + 1 + at + 1..];
                return match after.strip_prefix(']') {
                    Some(after) => (Some((name, Some(subsection))), after),
                    None => (None, after_line(after)),
                };
            }
            '\\' => subsection.extend(characters.next().map(|(_, escaped)| escaped)),
            other => subsection.push(other),
        }
    }
    (None, &text[line_end..])
}

/// The value after `=` with quotes, escapes, comments and continued lines resolved, and the rest of the text.
fn parse_value(text: &str) -> (String, &str) {
    let mut value = String::new();
    // The length without trailing spaces.
    let mut kept = 0;
    let mut quoted = false;
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\n' => return (finish(value, kept), &text[at + 1..]),
            '#' | ';' if !quoted => return (finish(value, kept), after_line(&text[at..])),
            '"' => {
                quoted = !quoted;
                kept = value.len();
            }
            '\\' => match characters.next() {
                Some((_, '\n')) | None => {}
                Some((_, '\r')) => {
                    // A CRLF line end also continues the value.
                    if let Some((_, '\n')) = characters.clone().next() {
                        characters.next();
                    }
                }
                Some((_, escaped)) => {
                    match escaped {
                        'n' => value.push('\n'),
                        't' => value.push('\t'),
                        'b' => {
                            value.pop();
                        }
                        other => value.push(other),
                    }
                    kept = value.len();
                }
            },
            space if space.is_whitespace() && !quoted => {
                if !value.is_empty() {
                    value.push(space);
                }
            }
            other => {
                value.push(other);
                kept = value.len();
            }
        }
    }
    (finish(value, kept), "")
}

fn finish(mut value: String, kept: usize) -> String {
    value.truncate(kept);
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn config(text: &str) -> Config {
        Config { entries: parse(text) }
    }

    #[test]
    fn sections_and_values_as_git_writes_them() {
        let config = config(
            "[core]\n\tbare = false\n\tbare = true ; later\n[remote \"origin\"]\n\turl = git@h:o/r.git\n\turl = second\n\
             [USER] name = \"A \\\"B\\\"  C\"   # note\n email= a@b \\\n  c\n[remote.Old]\nURL=x\n[branch \"a\\\"b]\"]\nremote=up\n",
        );
        assert_eq!(config.last("core", "bare"), Some("true"));
        assert_eq!(config.first_in("remote", "origin", "url"), Some("git@h:o/r.git"));
        assert_eq!(config.last("user", "name"), Some("A \"B\"  C"));
        assert_eq!(config.last("user", "email"), Some("a@b   c"));
        assert_eq!(config.subsections("remote", "url"), ["origin", "old"]);
        assert_eq!(config.first_in("branch", "a\"b]", "remote"), Some("up"));
    }

    #[test]
    fn a_malformed_line_does_not_affect_others() {
        let config = config(
            "loose = 1\n[broken\nx = 1\n[a \"open]\ny = 1\n[user]\n=3\n!! = 4\nname = N\nflag\n[user \"x\" y]\nname = M",
        );
        assert_eq!(config.last("user", "name"), Some("N"));
        assert_eq!(config.last("user", "flag"), Some("true"));
        assert_eq!(config.entries.len(), 2);
    }

    #[test]
    fn conditions_on_the_folder() {
        let holds = |condition: &str| {
            let context = IncludeContext {
                home: Some(Path::new("/h")),
                git_directory: Some(Path::new("/h/Work/x/.git")),
            };
            condition_holds(condition, Path::new("/h/.gitconfig"), context)
        };
        for condition in [
            "gitdir:~/Work/",
            "gitdir:/h/Work/**",
            "gitdir:Work/",
            "gitdir:x/.git",
            "gitdir/i:~/work/",
            "gitdir:./Work/",
        ] {
            assert!(holds(condition), "{condition}");
        }
        for condition in [
            "gitdir:~/work/",
            "gitdir:~/Wor",
            "gitdir:~/Work",
            "gitdir:or/",
            "onbranch:main",
            "gitdir:/h/*/x/",
        ] {
            assert!(!holds(condition), "{condition}");
        }
    }

    #[test]
    fn includes_that_include_themselves_end() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("config");
        std::fs::write(
            &path,
            "[include]\npath = config\npath = config\npath = ~/config\n[user]\nname = N\n",
        )
        .unwrap();
        let context = IncludeContext {
            home: Some(directory.path()),
            git_directory: None,
        };
        assert_eq!(Config::read(&[path], context).last("user", "name"), Some("N"));
    }

    proptest! {
        #[test]
        fn any_text_ends(text in any::<String>()) {
            parse(&text);
        }

        #[test]
        fn parsing_text_of_syntax_characters_terminates(text in "[\\[\\]\"\\\\=#;\n\r a.\t]{0,80}") {
            parse(&text);
        }

        #[test]
        fn any_value_survives_quotes(value in "[^\u{0}]*") {
            let escaped = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let config = config(&format!("[user]\nname = \"{escaped}\"\n"));
            prop_assert_eq!(config.last("user", "name"), Some(value.as_str()));
        }
    }
}
