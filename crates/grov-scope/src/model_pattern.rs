//! Regular expressions that a model wrote, which match commands and lines.

use regex_automata::meta::{self, Regex};
use regex_automata::util::syntax;

/// The most bytes of a compiled pattern, of a command and of a line: more costs too much time in a hook.
const MAX_COMPILED: usize = 32 * 1024;
pub(crate) const MAX_COMMAND: usize = 8 * 1024;
pub(crate) const MAX_LINE: usize = 1024;
/// The most bytes of all lines of an action that are searched.
pub(crate) const MAX_LINES: usize = 64 * 1024;

/// Commands that a pattern of commands must not match, because it would match any.
pub(crate) const ORDINARY_COMMANDS: &[&str] = &[
    "ls",
    "cd src",
    "git status",
    "make",
    "cargo test",
    "npm test",
    "python3 a.py",
];

/// Lines that a pattern of lines must not match, because it would match anything.
pub(crate) const ORDINARY_LINES: &[&str] = &[
    "",
    " ",
    "x",
    "}",
    "a = b",
    "return value",
    "// see the note above",
];

/// Whether one of the patterns is in one of the texts. Patterns that match something ordinary are left out.
pub(crate) fn any_matches(patterns: &[String], texts: &[&str], ordinary: &[&str]) -> bool {
    if texts.is_empty() {
        return false;
    }
    patterns.iter().any(|pattern| {
        let Some(regex) = compiled(pattern) else {
            return false;
        };
        let is_too_wide = || ordinary.iter().any(|text| regex.is_match(text));
        texts.iter().any(|text| regex.is_match(text)) && !is_too_wide()
    })
}

/// A pattern, compiled; `None` if it is no pattern, or too large.
pub(crate) fn compiled(pattern: &str) -> Option<Regex> {
    let config = meta::Config::new()
        .nfa_size_limit(Some(MAX_COMPILED))
        .utf8_empty(false);
    let syntax = syntax::Config::new()
        .case_insensitive(true)
        .unicode(false)
        .utf8(false);
    Regex::builder()
        .configure(config)
        .syntax(syntax)
        .build(pattern)
        .ok()
}
