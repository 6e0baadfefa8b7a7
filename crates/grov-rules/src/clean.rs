//! What somebody really typed: text without what the client, hooks, tools and Grov itself put around it, and without
//! pasted code and logs.

use grov_domain::{ClientDialect, both_ends, without_own_text};
use std::borrow::Cow;

const CLIENT: ClientDialect = ClientDialect::CLAUDE_CODE;

/// Of longer texts the beginning and the end are looked at, so much of each: instructions stand before or behind what
/// is pasted, not in the middle of it.
const HEAD: usize = 8 * 1024;
const TAIL: usize = 4 * 1024;

/// Of a longer text so much of each end is looked at, and the middle not even for tags.
const MOST_OF_AN_END: usize = 256 * 1024;

/// So many kinds of tags without an end are mentioned by a person; more are junk.
const MOST_UNCLOSED: usize = 16;

/// Blocks that nobody typed, by the beginning of the tag's name.
#[rustfmt::skip]
const FOREIGN_TAGS: &[&str] = &[
    "system-reminder", "command-", "local-command-", "bash-", "task-notification", "tool_result",
    "tool-result", "function_results", "persisted-output", "user-prompt-submit-hook", "session-start-hook",
    "post-tool-use-hook", "ide_selection", "ide_opened_file", "ide_diagnostics", "new-diagnostics",
];

/// Lines that a client or a hook wrote.
#[rustfmt::skip]
const FOREIGN_LINES: &[&str] = &[
    CLIENT.interrupted, CLIENT.suggestion, "Stop hook feedback:", "Output token limit hit.",
    "Caveat: The messages below were generated", "Called the ", "Result of calling the ", "Tool loaded.",
    "UserPromptSubmit hook", "SessionStart hook", "SessionStart:", "PreToolUse hook", "PreToolUse:",
    "PostToolUse hook", "PostToolUse:", "SubagentStop hook", "Stop hook",
];

/// Texts that are not the user's from here to the end.
#[rustfmt::skip]
const FOREIGN_ENDINGS: &[&str] = &[
    CLIENT.continued,
    "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.",
];

/// A text, cleaned.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cleaned {
    /// Without foreign blocks, code and logs: what the rules for goals, constraints and transitions read.
    pub(crate) prose: String,
    /// Without foreign blocks only: code and logs name files too.
    pub(crate) whole: String,
}

impl Cleaned {
    /// The sentences of the prose, or of everything where there is no prose.
    pub(crate) fn sentences(&self) -> Vec<String> {
        super::text::leading_sentences(self.best())
    }

    /// The same as [`Cleaned::best`], without the rest.
    pub(crate) fn into_best(self) -> String {
        if self.prose.trim().is_empty() {
            self.whole
        } else {
            self.prose
        }
    }

    /// The prose, or everything where there is no prose.
    pub(crate) fn best(&self) -> &str {
        if self.prose.trim().is_empty() {
            &self.whole
        } else {
            &self.prose
        }
    }
}

/// Cleans a text.
pub(crate) fn clean(text: &str) -> Cleaned {
    let text = both_ends(text, MOST_OF_AN_END, "\n\n");
    let own = without_own_text(&text);
    let stripped = without_blocks(&own);
    let mut whole = Kept::default();
    let mut prose = Kept::default();
    let mut fence: Option<&str> = None;
    let mut after_log = false;
    let mut offset = 0;
    for line in stripped.split('\n') {
        let in_the_middle = offset > 4 * HEAD && offset + 4 * TAIL < stripped.len();
        offset += line.len() + 1;
        let line = line.strip_suffix('\r').unwrap_or(line);
        if in_the_middle && line.len() < HEAD {
            // Too far from both ends to be kept: only fences matter.
            let trimmed = line.trim_start();
            if trimmed.starts_with("```") {
                fence = if fence.is_some() { None } else { Some("```") };
            }
            continue;
        }
        let trimmed = line.trim();
        if FOREIGN_ENDINGS.iter().any(|ending| trimmed.starts_with(ending)) {
            break;
        }
        if FOREIGN_LINES
            .iter()
            .any(|beginning| trimmed.starts_with(beginning))
        {
            continue;
        }
        whole.push(line);
        if let Some(mark) = fence {
            if trimmed.starts_with(mark) {
                fence = None;
            }
            continue;
        }
        if let Some(mark) = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark)) {
            // A fence that opens and closes in one line is a quotation.
            if !trimmed[mark.len()..].contains(mark) {
                fence = Some(mark);
            }
            continue;
        }
        if is_pasted(line, after_log) {
            after_log = true;
            continue;
        }
        after_log = false;
        prose.push(line);
    }
    Cleaned {
        prose: prose.into_text(),
        whole: whole.into_text(),
    }
}

/// The first and the last of many lines.
#[derive(Default)]
struct Kept {
    head: String,
    tail: String,
}

impl Kept {
    fn push(&mut self, line: &str) {
        // A line of megabytes is not worth copying: what is kept of it is its two ends.
        let (beginning, end) = if line.len() > HEAD + TAIL {
            let beginning = &line[..line.floor_char_boundary(HEAD)];
            (
                beginning,
                Some(&line[line.ceil_char_boundary(line.len() - TAIL)..]),
            )
        } else {
            (line, None)
        };
        for part in std::iter::once(beginning).chain(end) {
            if self.head.len() + part.len() <= HEAD && self.tail.is_empty() {
                append(&mut self.head, part);
            } else {
                append(&mut self.tail, part);
                if self.tail.len() > 4 * (HEAD + TAIL) {
                    self.tail
                        .drain(..self.tail.ceil_char_boundary(self.tail.len() - TAIL));
                }
            }
        }
    }

    fn into_text(mut self) -> String {
        let room = HEAD.saturating_sub(self.head.len()) + TAIL;
        if self.tail.len() > room {
            if self.head.is_empty() {
                let end = self.tail.floor_char_boundary(HEAD);
                append(&mut self.head, &self.tail[..end]);
            }
            self.tail
                .drain(..self.tail.ceil_char_boundary(self.tail.len() - TAIL));
        }
        self.head.push_str(&self.tail);
        self.head
    }
}

/// Appends a line without control characters, and without placeholders of pasted things.
fn append(text: &mut String, line: &str) {
    let line = without_placeholders(line);
    if line.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t')) {
        text.push_str(&line);
    } else {
        text.extend(line.chars().filter(|letter| !is_junk(*letter)));
    }
    text.push('\n');
}

/// Control characters, replacement characters, and characters that nobody sees.
fn is_junk(letter: char) -> bool {
    (letter.is_control() && letter != '\t')
        || matches!(letter, '\u{fffd}' | '\u{feff}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{e000}'..='\u{f8ff}')
}

/// `[Image #1]` and `[Pasted text #2 +30 lines]` left out.
fn without_placeholders(line: &str) -> Cow<'_, str> {
    if !line.contains("[Image #") && !line.contains("[Pasted text #") {
        return Cow::Borrowed(line);
    }
    let mut kept = String::with_capacity(line.len());
    for (number, part) in line.split('[').enumerate() {
        let is_placeholder = number > 0 && (part.starts_with("Image #") || part.starts_with("Pasted text #"));
        match part.find(']') {
            Some(end) if is_placeholder => kept.push_str(&part[end + 1..]),
            _ => {
                if number > 0 {
                    kept.push('[');
                }
                kept.push_str(part);
            }
        }
    }
    Cow::Owned(kept)
}

/// The text without blocks of foreign tags. A block that is not closed reaches to the end if its tag begins a line;
/// a tag that is merely mentioned is left out alone.
fn without_blocks(text: &str) -> Cow<'_, str> {
    if !text.contains('<') {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len().min(64 * 1024));
    // Tags that are not closed any more: nothing is searched twice, so this stays linear.
    let mut never_closed: Vec<&str> = Vec::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = text[at..].find('<') {
        let start = at + found;
        at = start + 1;
        // Nearly every `<` ends here.
        if !may_be_foreign(text.as_bytes().get(at).copied()) {
            continue;
        }
        let name = tag_name(&text[at..]);
        let behind = at + name.len();
        at = behind;
        if !is_foreign(name) {
            continue;
        }
        kept.push_str(&text[copied..start]);
        copied = behind;
        if !never_closed.contains(&name) {
            if let Some(end) = closing_of(&text[behind..], name) {
                copied = behind + end;
                at = copied;
                kept.push(' ');
                continue;
            }
            never_closed.push(name);
        }
        let line = kept.trim_end_matches([' ', '\t']);
        if line.is_empty() || line.ends_with('\n') || never_closed.len() > MOST_UNCLOSED {
            return Cow::Owned(kept);
        }
    }
    kept.push_str(&text[copied..]);
    Cow::Owned(kept)
}

/// Whether a foreign tag's name begins with this byte.
fn may_be_foreign(first: Option<u8>) -> bool {
    const FIRST_LETTERS: [bool; 256] = {
        let mut letters = [false; 256];
        let mut at = 0;
        while at < FOREIGN_TAGS.len() {
            letters[FOREIGN_TAGS[at].as_bytes()[0] as usize] = true;
            at += 1;
        }
        letters
    };
    first.is_some_and(|byte| FIRST_LETTERS[usize::from(byte)])
}

/// Whether a tag of that name is not the user's.
fn is_foreign(name: &str) -> bool {
    !name.is_empty()
        && FOREIGN_TAGS.iter().any(|tag| match tag.strip_suffix('-') {
            Some(_) => name.starts_with(tag),
            None => name == *tag,
        })
}

/// The name at the beginning of what stands behind `<`.
fn tag_name(text: &str) -> &str {
    let end = text
        .bytes()
        .take(64)
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        .count();
    &text[..end]
}

/// The offset behind the closing tag of that name.
fn closing_of(text: &str, name: &str) -> Option<usize> {
    let closing = format!("</{name}>");
    text.find(&closing).map(|at| at + closing.len())
}

/// Beginnings of lines that programs write.
#[rustfmt::skip]
const OF_PROGRAMS: &[&str] = &[
    "Traceback (most recent call last)", "File \"", "at Object.", "at async ", "at new ", "at java.",
    "at org.", "at com.", "at <anonymous>", "at node:", "error[E", "warning: unused", "-->", "thread '",
    "note: run with", "npm ERR!", "npm WARN", "+++ ", "--- a/", "@@ ", "diff --git", "index ", "Caused by:",
    "Exception in thread", "stack backtrace:", "test result:", "running ", "Compiling ", "Finished ",
    "FAIL ", "PASS ", "FAILED ", "$ ", "❯ ", "➜ ", ">>> ", "panicked at", "goroutine ", "E   ", "==== ",
    "----", "#0 ", "Process finished", "SyntaxError:", "TypeError:", "ReferenceError:", "ValueError:",
    "KeyError:", "AttributeError:", "ImportError:", "ModuleNotFoundError:", "RuntimeError:",
    "AssertionError", "java.lang.", "error TS",
];

/// Whether a line is pasted: output of a program or code.
fn is_pasted(line: &str, after_log: bool) -> bool {
    let trimmed = line.trim_start();
    if trimmed.is_empty() {
        return false;
    }
    if OF_PROGRAMS.iter().any(|beginning| {
        trimmed.starts_with(beginning) && !matches!(*beginning, "index " | "running " | "Finished ")
            || (trimmed.starts_with(beginning) && trimmed.bytes().any(|byte| byte.is_ascii_digit()))
    }) {
        return true;
    }
    if trimmed.starts_with('>') || trimmed.starts_with('|') {
        return true;
    }
    if begins_with_time(trimmed) || is_level(trimmed) {
        return true;
    }
    let sample = &trimmed[..trimmed.floor_char_boundary(400)];
    let mut letters = 0usize;
    let mut marks = 0usize;
    let mut total = 0usize;
    let mut spaces = 0usize;
    for letter in sample.chars() {
        total += 1;
        if letter.is_alphabetic() {
            letters += 1;
        } else if letter.is_whitespace() {
            spaces += 1;
        } else if matches!(
            letter,
            '{' | '}' | ';' | '=' | '<' | '>' | '|' | '\\' | '^' | '&' | '[' | ']' | '$' | '\u{fffd}'
        ) || letter.is_control()
        {
            marks += 1;
        }
    }
    // Nearly nothing but signs and digits, or no space in a very long line: not written by hand.
    if total >= 8 && letters * 2 < total - spaces {
        return true;
    }
    if total >= 200 && spaces == 0 {
        return true;
    }
    let indented = line.len() - trimmed.len() >= 4 || line.starts_with('\t');
    let ends_as_code = trimmed.trim_end().ends_with(['{', '}', ';', '(', '[', '\\']);
    (indented && (marks > 0 || after_log)) || (ends_as_code && marks >= 1 && marks * 12 >= total)
}

/// `2025-01-31T10:…`, `[10:31:02]`, `10:31:02.123`.
fn begins_with_time(line: &str) -> bool {
    let line = line.trim_start_matches('[').as_bytes();
    let shape = |pattern: &[u8]| {
        line.len() >= pattern.len()
            && line.iter().zip(pattern).all(|(byte, expected)| match expected {
                b'0' => byte.is_ascii_digit(),
                other => byte == other,
            })
    };
    shape(b"0000-00-00T") || shape(b"0000-00-00 00:") || shape(b"00:00:00") || shape(b"0000/00/00 00:")
}

/// `ERROR something`, `[WARN] something`, `INFO: something`.
fn is_level(line: &str) -> bool {
    let line = line.trim_start_matches('[');
    ["ERROR", "WARN", "WARNING", "INFO", "DEBUG", "TRACE", "FATAL"]
        .iter()
        .any(|level| {
            line.strip_prefix(level)
                .is_some_and(|rest| rest.starts_with([' ', ']', ':', '\t']))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_typed_is_left_out() {
        let cases = [
            ("<system-reminder>never do x</system-reminder>Fix it", "Fix it"),
            (
                "Fix <command-name>/x</command-name><command-args>y</command-args> it",
                "Fix    it",
            ),
            (
                "<local-command-stdout>don't\n</local-command-stdout>\nFix it",
                "\nFix it",
            ),
            ("<bash-input>ls</bash-input><bash-stdout>only a</bash-stdout>", ""),
            ("Fix it\n<system-reminder>never closed", "Fix it"),
            ("Why is <system-reminder> shown twice?", "Why is > shown twice?"),
            (
                "PostToolUse:Edit hook additional context: never\nFix it",
                "Fix it",
            ),
            ("Fix it [Image #1] now", "Fix it  now"),
            ("Fi\u{0}x \u{1b}it\u{200b}", "Fix it"),
            ("Fix it\n```\ndo not touch\n```\nnow", "Fix it\nnow"),
            (
                "Fix it\n2025-01-31T10:00:00Z ERROR must not be null\nnow",
                "Fix it\nnow",
            ),
            ("Fix it\n    at foo (bar.js:10:3);\nnow", "Fix it\nnow"),
            ("Fix it\nthread 'main' panicked at src/a.rs:1\nnow", "Fix it\nnow"),
            ("<grov-context>only this</grov-context>Fix it", "Fix it"),
            (
                "This session is being continued from a previous conversation that ran out",
                "",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(clean(text).prose.trim(), expected.trim(), "{text}");
        }
    }

    #[test]
    fn of_a_huge_text_both_ends_are_kept() {
        let text = format!(
            "Fix the parser.\n{}\nDo not touch the lexer.",
            "word ".repeat(400_000)
        );
        let prose = clean(&text).prose;
        assert!(prose.starts_with("Fix the parser."));
        assert!(prose.trim_end().ends_with("Do not touch the lexer."));
        assert!(prose.len() < 128 * 1024);
    }

    #[test]
    fn the_end_of_a_text_of_many_megabytes_counts() {
        let log = "2025-01-31T10:00:00Z INFO started\n".repeat(300_000);
        let text = format!("<bash-stdout>{log}</bash-stdout>\nFix the parser.");
        assert_eq!(clean(&text).prose.trim(), "Fix the parser.");
        let text = format!("Fix the parser.\n{log}Do not touch the lexer.");
        let prose = clean(&text).prose;
        assert!(prose.starts_with("Fix the parser."));
        assert!(prose.trim_end().ends_with("Do not touch the lexer."));
    }

    #[test]
    fn a_text_of_code_alone_still_says_something() {
        assert_eq!(clean("```\nlet a = 1;\n```").best(), "```\nlet a = 1;\n```\n");
    }
}
