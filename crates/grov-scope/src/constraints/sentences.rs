//! Splits what a person typed into sentences, without what was pasted.

use crate::words::fold;
use grov_domain::both_ends;
use std::borrow::Cow;

/// Both ends of a long text, without truncated sentences, because half a sentence may mean the opposite of the whole.
fn whole_sentences(text: &str, most: usize) -> Cow<'_, str> {
    // A Unicode noncharacter, which texts do not contain.
    const CUT: &str = "\u{fdd0}";
    let is_end = |letter: char| matches!(letter, '.' | '!' | '?' | '\n');
    let ends = both_ends(text, most, CUT);
    let Some((head, tail)) = ends.split_once(CUT) else {
        return ends;
    };
    let head = head.rfind(is_end).map_or("", |end| &head[..=end]);
    let tail = tail.find(is_end).map_or("", |end| &tail[end + 1..]);
    Cow::Owned([head, "\n\n", tail].concat())
}

/// The sentences of a typed text, without pasted code and logs. Only both ends of a long text are read.
pub(super) fn sentences(text: &str) -> Vec<String> {
    const END: usize = 8 * 1024;
    let ends = whole_sentences(text, END);
    let mut found = Vec::new();
    let mut fenced = false;
    let mut commented = false;
    for line in ends.lines() {
        let line = line.trim();
        if line.starts_with("```") || line.starts_with("~~~") {
            fenced = !fenced;
            continue;
        }
        // A pasted block comment.
        commented |= line.starts_with("/*");
        if commented {
            commented = !line.contains("*/");
            continue;
        }
        if fenced || line.is_empty() || is_pasted(line) {
            continue;
        }
        let mut start = 0;
        for (at, mark) in line.match_indices(['.', '!', '?', ';']) {
            let end = at + mark.len();
            if line[end..].starts_with(' ') {
                found.push(line[start..end].trim().to_owned());
                start = end;
            }
        }
        found.push(line[start..].trim().to_owned());
    }
    found.retain(|sentence| !sentence.is_empty());
    found
}

/// Whether a line was pasted: a quotation, a comment or log output.
fn is_pasted(line: &str) -> bool {
    const LEVELS: &[&str] = &[
        "error", "warning", "warn", "info", "debug", "trace", "note", "hint", "help", "fatal",
    ];
    if line.starts_with(['>', '|', '$', '#'])
        || line.starts_with("//")
        || line.starts_with("--")
        || line.starts_with("<!--")
    {
        return true;
    }
    let first = line.split_whitespace().next().unwrap_or_default();
    // `[12:03:04]`, `2026-01-31T…`, `12:03:04,120`
    let bare = first.trim_matches(['[', ']']);
    let numbers = bare.bytes().filter(u8::is_ascii_digit).count();
    let is_time = numbers >= 6
        && bare.contains([':', '-'])
        && bare.bytes().all(|byte| {
            byte.is_ascii_digit() || matches!(byte, b':' | b'-' | b'.' | b',' | b'T' | b'Z' | b'+' | b'/')
        });
    let level = fold(bare.split(['[', '(', ':']).next().unwrap_or_default());
    let is_level = LEVELS.contains(&level.as_str()) && (first.contains(':') || first.contains('['));
    // People write "Note: do not touch src/".
    is_time || is_level && !matches!(level.as_str(), "note" | "hint" | "info")
}
