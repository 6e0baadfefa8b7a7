//! Repairs JSON that a model wrote.

mod escape;

use super::json_end::without_placeholder;
use escape::{is_cut_unicode, unicode};
use serde::de::IgnoredAny;

/// Nesting at which a repair is given up.
const MAX_DEPTH: usize = 100;

/// Whether a text is valid JSON.
pub(crate) fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Returns valid JSON: the text itself if it is valid, else the object or array that it was meant to be, else `{}`.
///
/// An empty object before another one is a placeholder and is skipped. Escapes that JSON does not have keep their backslash.
///
/// Repairs trailing and missing commas, missing brackets and quotes at the end, single quotes, unquoted keys and words,
/// Python's literals, comments, raw control characters, a fence of Markdown around it, and text after the value.
pub fn repair(text: &str) -> String {
    let text = without_placeholder(text.trim());
    if is_json(text) {
        return text.to_owned();
    }
    let body = without_placeholder(without_fence(text));
    let mut reader = Reader {
        rest: body,
        out: String::with_capacity(body.len() + 8),
    };
    let repaired = body.starts_with(['{', '[']) && reader.value(0).is_some() && is_json(&reader.out);
    if repaired { reader.out } else { "{}".to_owned() }
}

fn without_fence(text: &str) -> &str {
    let Some(inner) = text.strip_prefix("```") else {
        return text;
    };
    let inner = inner.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
    inner.trim_end().strip_suffix("```").unwrap_or(inner).trim()
}

/// Reads leniently and writes strictly.
struct Reader<'t> {
    rest: &'t str,
    out: String,
}

impl<'t> Reader<'t> {
    /// Reads a value. Returns `None` if there is none, or if it is nested too deep.
    fn value(&mut self, depth: usize) -> Option<()> {
        self.skip_blank();
        match self.rest.chars().next()? {
            '{' if depth < MAX_DEPTH => self.object(depth),
            '[' if depth < MAX_DEPTH => self.array(depth),
            '{' | '[' => None,
            quote @ ('"' | '\'') => {
                self.string(quote);
                Some(())
            }
            _ => self.word(),
        }
    }

    fn object(&mut self, depth: usize) -> Option<()> {
        self.bump();
        self.out.push('{');
        loop {
            let blank = self.skip_separators();
            match self.rest.chars().next() {
                None => break,
                Some('}') => {
                    self.bump();
                    break;
                }
                // The end of something outside: this one was not closed.
                Some(']') => break,
                Some(_) => {}
            }
            let before = self.out.len();
            self.comma('{');
            self.out.push_str(blank);
            if self.entry(depth).is_none() {
                // A key whose value is missing.
                self.out.truncate(before);
                if !self.rest.is_empty() {
                    return None;
                }
            }
        }
        self.out.push('}');
        Some(())
    }

    fn entry(&mut self, depth: usize) -> Option<()> {
        match self.rest.chars().next()? {
            quote @ ('"' | '\'') => self.string(quote),
            _ => {
                let end = self
                    .rest
                    .find(|c: char| c.is_whitespace() || ":,{}[]\"'".contains(c));
                let end = end.unwrap_or(self.rest.len());
                let (key, rest) = self.rest.split_at(end);
                self.rest = rest;
                (!key.is_empty()).then(|| self.quoted(key))?;
            }
        }
        self.skip_blank();
        self.rest = self.rest.strip_prefix([':', '='])?;
        self.out.push(':');
        let blank = self.skip_blank();
        self.out.push_str(blank);
        self.value(depth + 1)
    }

    fn array(&mut self, depth: usize) -> Option<()> {
        self.bump();
        self.out.push('[');
        loop {
            let blank = self.skip_separators();
            match self.rest.chars().next() {
                None => break,
                Some(']') => {
                    self.bump();
                    break;
                }
                Some('}') => break,
                Some(_) => {}
            }
            let before = self.out.len();
            self.comma('[');
            self.out.push_str(blank);
            if self.value(depth + 1).is_none() {
                self.out.truncate(before);
                if !self.rest.is_empty() {
                    return None;
                }
            }
        }
        self.out.push(']');
        Some(())
    }

    /// Writes a comma unless the container has just begun.
    fn comma(&mut self, open: char) {
        if !self.out.ends_with(open) {
            self.out.push(',');
        }
    }

    /// Reads a quoted text up to the same quote, or to the end.
    fn string(&mut self, quote: char) {
        self.bump();
        let mut text = String::new();
        let mut chars = self.rest.chars();
        while let Some(c) = chars.next() {
            if c == quote {
                break;
            }
            if c != '\\' {
                text.push(c);
                continue;
            }
            let after = chars.as_str();
            match chars.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some('r') => text.push('\r'),
                Some('b') => text.push('\u{8}'),
                Some('f') => text.push('\u{c}'),
                // A cut escape. What is missing is not guessed.
                Some('u') if is_cut_unicode(after) => chars = "".chars(),
                Some('u') => match unicode(chars.as_str()) {
                    Some((escaped, rest)) => {
                        text.push(escaped);
                        chars = rest.chars();
                    }
                    None => text.push_str("\\u"),
                },
                Some(other @ ('"' | '\'' | '\\' | '/')) => text.push(other),
                // No escape of JSON, but part of a pattern or path.
                Some(other) => text.extend(['\\', other]),
                None => {}
            }
        }
        self.rest = chars.as_str();
        self.quoted(&text);
    }

    /// Reads an unquoted word: a number, a literal of JSON, Python or JavaScript, or a text without quotes.
    fn word(&mut self) -> Option<()> {
        let end = self
            .rest
            .find([',', '}', ']', '\n', ':', '{', '[', '"'])
            .unwrap_or(self.rest.len());
        let word = &self.rest[..end];
        let comment = ["//", "/*"]
            .iter()
            .filter_map(|mark| word.find(&format!(" {mark}")))
            .min();
        let (word, rest) = self.rest.split_at(comment.unwrap_or(end));
        let word = word.trim();
        if word.is_empty() {
            return None;
        }
        self.rest = rest;
        let cut = Some(word).filter(|_| rest.is_empty()).and_then(cut_literal);
        match cut.unwrap_or(word) {
            "true" | "True" | "TRUE" => self.out.push_str("true"),
            "false" | "False" | "FALSE" => self.out.push_str("false"),
            "null" | "None" | "nil" | "undefined" | "NaN" | "Infinity" | "-Infinity" => {
                self.out.push_str("null");
            }
            number if is_number(number) => self.out.push_str(number),
            word => match word.trim_start_matches('+').parse::<f64>() {
                Ok(number)
                    if number.is_finite() && !word.contains(|c: char| c.is_alphabetic() && c != 'e') =>
                {
                    self.out.push_str(&serde_json::Value::from(number).to_string());
                }
                _ => self.quoted(word),
            },
        }
        Some(())
    }

    fn quoted(&mut self, text: &str) {
        self.out.push_str(&serde_json::Value::from(text).to_string());
    }

    fn bump(&mut self) {
        let mut chars = self.rest.chars();
        chars.next();
        self.rest = chars.as_str();
    }

    /// Skips separators. Returns the white space after the last one.
    fn skip_separators(&mut self) -> &'t str {
        loop {
            let blank = self.skip_blank();
            match self.rest.strip_prefix([',', ';']) {
                Some(rest) => self.rest = rest,
                None => return blank,
            }
        }
    }

    /// Skips white space and comments. Returns the white space before the first comment.
    fn skip_blank(&mut self) -> &'t str {
        let trimmed = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
        let blank = &self.rest[..self.rest.len() - trimmed.len()];
        loop {
            self.rest = self.rest.trim_start();
            let (after, end) = if let Some(after) = self.rest.strip_prefix("//") {
                (after, "\n")
            } else if let Some(after) = self.rest.strip_prefix("/*") {
                (after, "*/")
            } else {
                return blank;
            };
            self.rest = after.split_once(end).map_or("", |(_, rest)| rest);
        }
    }
}

/// The literal that a text at the end begins with.
fn cut_literal(word: &str) -> Option<&'static str> {
    let is_beginning = |literal: &&str| literal.starts_with(word);
    ["true", "false", "null"].into_iter().find(is_beginning)
}

fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit() || c == '-') && is_json(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_models_write_is_repaired() {
        for (text, repaired) in [
            (
                "{'path': '/tmp/x', 'deep': {'n': 1,},}",
                r#"{"path": "/tmp/x", "deep": {"n": 1}}"#,
            ),
            ("{\"a\": \"line\nbreak\", \"b\": ", r#"{"a": "line\nbreak"}"#),
            ("{\"a\": \"cut in the mid", r#"{"a": "cut in the mid"}"#),
            ("{\"a\": 1, \"b", r#"{"a": 1}"#),
            ("```json\n{\"a\": 1,}\n```", r#"{"a": 1}"#),
            (
                "{a: yes please, b: .5, c: +2, d: 0x1}",
                r#"{"a": "yes please", "b": 0.5, "c": 2.0, "d": "0x1"}"#,
            ),
            (
                "{\"a\": [1 2, /* x */ 3], // y\n \"b\": True",
                r#"{"a": ["1 2", 3], "b": true}"#,
            ),
            (
                r#"{"a": "\u00e9\ud83d\ude00\ud83d \/"}} tail"#,
                "{\"a\": \"é😀\u{fffd} /\"}",
            ),
            ("{\"a\": [1, {\"b\": 2}", r#"{"a": [1, {"b": 2}]}"#),
            ("[1, 2", "[1, 2]"),
            ("", "{}"),
            ("{", "{}"),
            ("{:}", "{}"),
        ] {
            assert_eq!(repair(text), repaired, "{text}");
        }
    }

    #[test]
    fn invalid_escapes_keep_their_backslash() {
        for (text, repaired) in [
            (r#"{"pattern": "\d+\.rs$",}"#, r#"{"pattern": "\\d+\\.rs$"}"#),
            (r#"{"path": "C:\Users\x",}"#, r#"{"path": "C:\\Users\\x"}"#),
            (r#"{"path": "D:\users", }"#, r#"{"path": "D:\\users"}"#),
            (
                r#"{'a': 'it\'s', b: "\"\\ \/ \u+0e9"}"#,
                r#"{"a": "it's", "b": "\"\\ / \\u+0e9"}"#,
            ),
        ] {
            assert_eq!(repair(text), repaired, "{text}");
        }
    }

    #[test]
    fn cut_escapes_are_dropped() {
        for cut in [r"\", r"\u", r"\u00", r"\ud83d", r"\ud83d\", r"\ud83d\ude0"] {
            assert_eq!(repair(&format!("{{\"a\": \"x{cut}")), r#"{"a": "x"}"#, "{cut}");
        }
    }

    #[test]
    fn cut_literals_are_completed() {
        for (text, repaired) in [
            ("{\"a\": tru", r#"{"a": true}"#),
            ("{\"a\": [1, f", r#"{"a": [1, false]}"#),
            ("{\"a\": nul", r#"{"a": null}"#),
            ("{\"a\": tru}", r#"{"a": "tru"}"#),
            ("{\"a\": trux", r#"{"a": "trux"}"#),
        ] {
            assert_eq!(repair(text), repaired, "{text}");
        }
    }

    #[test]
    fn empty_object_before_the_arguments_is_a_placeholder() {
        for (text, repaired) in [
            (r#"{}{"x":1}"#, r#"{"x":1}"#),
            ("{ } {}\n{x: 1", r#"{"x": 1}"#),
            (r#"{"x":1}{"x":1}"#, r#"{"x":1}"#),
            ("{}", "{}"),
            ("{} done", "{}"),
        ] {
            assert_eq!(repair(text), repaired, "{text}");
        }
    }

    #[test]
    fn deep_nesting_is_given_up() {
        assert_eq!(repair(&"[".repeat(100_000)), "{}");
        assert_eq!(repair(&"{a:".repeat(100_000)), "{}");
    }

    proptest! {
        #[test]
        fn the_result_always_parses(text in "\\PC{0,40}|([{}\\[\\],:'\"\\\\u0-9a-e \n.+-]|True|//|/\\*){0,40}") {
            prop_assert!(is_json(&repair(&text)), "{text}");
        }

        #[test]
        fn valid_json_stays(text in "\\[?\\{\"[a-z]{0,3}\":[0-9]{1,3}\\}\\]?") {
            if is_json(&text) {
                prop_assert_eq!(repair(&text), text);
            }
        }

        #[test]
        fn a_cut_object_keeps_what_was_complete(keys in proptest::collection::vec("[a-z]{1,5}", 1..5), cut in 1usize..5) {
            let full: String = keys.iter().enumerate().map(|(at, key)| format!("\"{key}{at}\":{at},")).collect();
            let cut = cut.min(full.len());
            let value: serde_json::Value = serde_json::from_str(&repair(&format!("{{{}", &full[..full.len() - cut]))).unwrap();
            prop_assert!(value.as_object().unwrap().len() >= keys.len() - 1);
        }
    }
}
