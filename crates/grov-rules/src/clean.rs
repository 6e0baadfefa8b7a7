//! Reduces a text to what its author wrote: without text added by the client, hooks, tools and Grov, and without pasted code
//! and logs.

use grov_domain::{ClientDialect, both_ends, without_own_text};
use std::borrow::Cow;

const CLIENT: ClientDialect = ClientDialect::CLAUDE_CODE;

/// How much is kept of the beginning and the end of a long text: instructions come before or after what is pasted, not in the
/// middle.
const HEAD: usize = 8 * 1024;
const TAIL: usize = 4 * 1024;

/// How much of each end of a long text is read, in bytes.
const MAX_END: usize = 64 * 1024;

/// The most distinct unclosed tags that a person would mention; a text with more is junk from there on.
const MAX_UNCLOSED: usize = 16;

/// Tags of blocks that the user did not type. A trailing dash matches any suffix.
#[rustfmt::skip]
const FOREIGN_TAGS: &[&str] = &[
    "system-reminder", "command-", "local-command-", "bash-", "task-notification", "tool_result",
    "tool-result", "function_results", "persisted-output", "user-prompt-submit-hook", "session-start-hook",
    "post-tool-use-hook", "ide_selection", "ide_opened_file", "ide_diagnostics", "new-diagnostics",
];

/// Prefixes of lines that a client or a hook wrote.
#[rustfmt::skip]
const FOREIGN_LINES: &[&str] = &[
    CLIENT.interrupted, CLIENT.suggestion, "Stop hook feedback:", "Output token limit hit.",
    "Caveat: The messages below were generated", "Called the ", "Result of calling the ", "Tool loaded.",
    "UserPromptSubmit hook", "SessionStart hook", "SessionStart:", "PreToolUse hook", "PreToolUse:",
    "PostToolUse hook", "PostToolUse:", "SubagentStop hook", "Stop hook",
];

/// Prefixes of lines from which on nothing is the user's.
#[rustfmt::skip]
const FOREIGN_ENDINGS: &[&str] = &[
    CLIENT.continued,
    "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.",
];

/// A cleaned text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cleaned {
    /// Without foreign blocks, code and logs: for goals, constraints and transitions.
    pub(crate) prose: String,
    /// Without foreign blocks only: code and logs name files too.
    pub(crate) whole: String,
}

impl Cleaned {
    /// The sentences of the prose; without prose, of the whole text.
    pub(crate) fn sentences(&self) -> Vec<String> {
        super::text::leading_sentences(self.best())
    }

    /// The prose; without prose, the whole text.
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
    let text = both_ends(text, MAX_END, "\n\n");
    let own = without_own_text(&text);
    let stripped = without_blocks(&own);
    let mut whole = String::new();
    let mut lines: Vec<(&str, Line)> = Vec::new();
    let mut fence: Option<&str> = None;
    for line in stripped.split('\n') {
        let line = line.strip_suffix('\r').unwrap_or(line);
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
        append(&mut whole, line);
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
        let after_log = lines.last().is_some_and(|(_, kind)| *kind != Line::Prose);
        lines.push((line, kind_of(line, after_log)));
    }
    mark_logs(&mut lines);
    let mut prose = String::new();
    for (line, _) in lines.iter().filter(|(_, kind)| *kind == Line::Prose) {
        append(&mut prose, line);
    }
    Cleaned {
        prose: window(prose),
        whole: window(whole),
    }
}

/// The first [`HEAD`] and the last [`TAIL`] bytes of a longer text, cut at lines if they are short enough.
fn window(text: String) -> String {
    if text.len() <= HEAD + TAIL {
        return text;
    }
    let head = &text[..text.floor_char_boundary(HEAD)];
    let head = head.rfind('\n').map_or(head, |end| &head[..=end]);
    let tail = &text[text.ceil_char_boundary(text.len() - TAIL)..];
    [head, tail].concat()
}

/// Appends a line without control characters, and without placeholders of pasted things.
fn append(text: &mut String, line: &str) {
    let line = without_placeholders(line);
    if line.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t')) {
        text.push_str(&line);
    } else {
        text.extend(line.chars().filter(|letter| !is_invisible(*letter)));
    }
    text.push('\n');
}

/// Control characters, replacement characters and invisible characters.
fn is_invisible(letter: char) -> bool {
    (letter.is_control() && letter != '\t')
        || matches!(letter, '\u{fffd}' | '\u{feff}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{e000}'..='\u{f8ff}')
}

/// Removes `[Image #1]` and `[Pasted text #2 +30 lines]`.
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

/// Removes blocks of foreign tags. An unclosed block extends to the end if its tag begins a line; otherwise only the tag is
/// removed.
fn without_blocks(text: &str) -> Cow<'_, str> {
    if !text.contains('<') {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len().min(64 * 1024));
    // Tags known to have no closing tag. They are not searched again, which keeps this linear.
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
            if let Some(end) = closing_tag_end(&text[behind..], name) {
                copied = behind + end;
                at = copied;
                kept.push(' ');
                continue;
            }
            never_closed.push(name);
        }
        let line = kept.trim_end_matches([' ', '\t']);
        if line.is_empty() || line.ends_with('\n') || never_closed.len() > MAX_UNCLOSED {
            return Cow::Owned(kept);
        }
    }
    kept.push_str(&text[copied..]);
    Cow::Owned(kept)
}

/// Whether the name of a foreign tag can start with this byte.
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

/// Whether this is the name of a foreign tag.
fn is_foreign(name: &str) -> bool {
    !name.is_empty()
        && FOREIGN_TAGS.iter().any(|tag| match tag.strip_suffix('-') {
            Some(_) => name.starts_with(tag),
            None => name == *tag,
        })
}

/// The tag name that `text`, which follows a `<`, starts with.
fn tag_name(text: &str) -> &str {
    let end = text
        .bytes()
        .take(64)
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        .count();
    &text[..end]
}

/// The offset after the closing tag of that name.
fn closing_tag_end(text: &str, name: &str) -> Option<usize> {
    let closing = format!("</{name}>");
    text.find(&closing).map(|at| at + closing.len())
}

/// Prefixes of program output.
#[rustfmt::skip]
const LOG_PREFIXES: &[&str] = &[
    "Traceback (most recent call last)", "File \"", "at Object.", "at async ", "at new ", "at java.",
    "at org.", "at com.", "at <anonymous>", "at node:", "error[E", "warning: unused", "-->", "thread '",
    "note: run with", "npm ERR!", "npm WARN", "+++ ", "--- a/", "@@ ", "diff --git", "index ", "Caused by:",
    "Exception in thread", "stack backtrace:", "test result:", "running ", "Compiling ", "Finished ",
    "FAIL ", "PASS ", "FAILED ", "$ ", "❯ ", "➜ ", ">>> ", "panicked at", "goroutine ", "E   ", "==== ",
    "----", "#0 ", "Process finished", "SyntaxError:", "TypeError:", "ReferenceError:", "ValueError:",
    "KeyError:", "AttributeError:", "ImportError:", "ModuleNotFoundError:", "RuntimeError:",
    "AssertionError", "ERR!", "java.lang.", "error TS",
];

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// Written by hand.
    Prose,
    /// Quoted with `>`, or a row of a table.
    Quoted,
    /// Program output or code.
    Pasted,
}

/// Marks the lines between the lines of a log as pasted, and those after it up to the next blank line: a log has lines that read
/// like prose ("hint: never grant …").
fn mark_logs(lines: &mut [(&str, Line)]) {
    /// So many lines make a log whose end may look like prose.
    const MIN_LOG: usize = 3;
    let paragraphs = lines.split_mut(|(line, _)| line.trim().is_empty());
    let mut paragraphs = paragraphs.filter(|lines| !lines.is_empty()).peekable();
    while let Some(paragraph) = paragraphs.next() {
        let is_pasted = |(_, kind): &(&str, Line)| *kind == Line::Pasted;
        let count = paragraph.iter().filter(|line| is_pasted(line)).count();
        let (Some(first), Some(last)) = (
            paragraph.iter().position(is_pasted),
            paragraph.iter().rposition(is_pasted),
        ) else {
            continue;
        };
        let is_log = count >= MIN_LOG && 5 * count > last - first;
        let end = if is_log && paragraphs.peek().is_some() {
            paragraph.len()
        } else {
            last
        };
        for (_, kind) in &mut paragraph[first..end] {
            *kind = Line::Pasted;
        }
    }
}

/// Beginnings of lines of code.
#[rustfmt::skip]
const KEYWORDS: &[&str] = &[
    "#include", "class ", "const ", "def ", "export ", "fn ", "func ", "function ", "import ", "let ", "private ", "pub ", "public ",
    "return ", "static ", "var ",
];

fn kind_of(line: &str, after_log: bool) -> Line {
    let trimmed = line.trim_start();
    if trimmed.starts_with('>') && !trimmed.starts_with(">>> ") || trimmed.starts_with('|') {
        Line::Quoted
    } else if is_pasted(line, after_log) {
        Line::Pasted
    } else {
        Line::Prose
    }
}

/// Whether a line is a statement of Python that consists of words: `except psycopg.Error as error:`.
fn is_statement(line: &str) -> bool {
    let trimmed = line.trim();
    let (first, rest) = trimmed.split_once([' ', '(']).unwrap_or((trimmed, ""));
    let is_indented = line.starts_with("    ") || line.starts_with('\t');
    match first {
        "def" | "class" | "elif" | "except" | "async" => trimmed.ends_with(':'),
        "try:" | "finally:" | "else:" => rest.is_empty(),
        "from" => rest.contains(" import "),
        "if" | "for" | "while" | "with" => is_indented && trimmed.ends_with(':'),
        "return" | "raise" | "await" | "import" => is_indented,
        _ => false,
    }
}

/// Whether a line looks pasted: program output or code.
fn is_pasted(line: &str, after_log: bool) -> bool {
    let trimmed = line.trim_start();
    if trimmed.is_empty() {
        return false;
    }
    if LOG_PREFIXES.iter().any(|beginning| {
        trimmed.starts_with(beginning) && !matches!(*beginning, "index " | "running " | "Finished ")
            || (trimmed.starts_with(beginning) && trimmed.bytes().any(|byte| byte.is_ascii_digit()))
    }) {
        return true;
    }
    // A frame of a stack: `at checkLock (/srv/app/scripts/preinstall.js:14:11)`.
    if trimmed.starts_with("at ") && trimmed.ends_with(')') && trimmed.contains(['/', ':']) {
        return true;
    }
    if begins_with_time(trimmed) || is_level(trimmed) || is_exception(trimmed) || is_statement(line) {
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
    (indented && (marks > 0 || after_log))
        || (ends_as_code && marks >= 1 && marks * 12 >= total)
        || (marks >= 2 && KEYWORDS.iter().any(|word| trimmed.starts_with(word)))
}

/// `KeyError: 'id'`, `sqlalchemy.exc.InvalidRequestError: …`.
fn is_exception(line: &str) -> bool {
    let Some((name, _)) = line.split_once(':') else {
        return false;
    };
    let last = name.rsplit('.').next().unwrap_or(name);
    let is_nested = name.matches('.').count() >= 2;
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.');
    last.starts_with(|letter: char| letter.is_ascii_uppercase())
        && (is_nested
            || ["Error", "Exception", "Warning"]
                .iter()
                .any(|ending| last.len() > ending.len() && last.ends_with(ending)))
        && name.chars().all(plain)
}

/// `2025-01-31T10:…`, `[10:31:02]`, `10:31:02.123`, `03-02 21:14:09`.
fn begins_with_time(line: &str) -> bool {
    let line = line.trim_start_matches('[').as_bytes();
    let shape = |pattern: &[u8]| {
        line.len() >= pattern.len()
            && line.iter().zip(pattern).all(|(byte, expected)| match expected {
                b'0' => byte.is_ascii_digit(),
                other => byte == other,
            })
    };
    shape(b"0000-00-00T")
        || shape(b"0000-00-00 00:")
        || shape(b"00:00:00")
        || shape(b"00-00 00:00:00")
        || shape(b"0000/00/00 00:")
}

/// `ERROR something`, `[WARN] something`, `INFO: something`, `[Warning] something`.
fn is_level(line: &str) -> bool {
    const LEVELS: &[&str] = &[
        "ERROR", "WARN", "WARNING", "INFO", "DEBUG", "TRACE", "FATAL", "LOG",
    ];
    if let Some((level, _)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return LEVELS
            .iter()
            .any(|known| known.eq_ignore_ascii_case(level.trim()));
    }
    LEVELS.iter().any(|level| {
        line.strip_prefix(level)
            .is_some_and(|rest| rest.starts_with([' ', ':', '\t']) && (*level != "LOG"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_the_user_did_not_type_is_removed() {
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
            (
                "It fails:\n\n03-02 21:14:09.881 1204 W List: 31\n[Warning] do not use this\nKeyError: 'id'\nhint: never retry\n\nFix it",
                "It fails:\n\n\nFix it",
            ),
            (
                "Fix it\nfunction fails(m: string): never { throw new Error(m) }",
                "Fix it",
            ),
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
    fn statements_of_pasted_code_are_no_prose() {
        let text = "Where is initialize_db?\n\nimport psycopg\n\ndef initialize_db(log):\n    try:\n        open()\n    except psycopg.Error as error:\n        return None\n\nFix it.";
        let prose = clean(text).prose;
        assert!(!prose.contains("except") && !prose.contains("def "), "{prose}");
        assert!(prose.contains("Where is") && prose.contains("Fix it."), "{prose}");
        let text = "Change these files:\nclass names stay\nexcept the tests";
        assert_eq!(clean(text).prose.trim(), text);
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
