//! Parses settings files with positions: JSON with comments, trailing commas and a byte order mark.

use super::error::SyntaxError;
use crate::json;
use serde::de::IgnoredAny;
use std::ops::Range;

/// Maximum nesting depth. The client's own settings have a depth of five.
const MAX_DEPTH: usize = 200;

/// A parsed settings file. Offsets count bytes from the beginning of the text.
pub(super) struct Document<'t> {
    pub(super) text: &'t str,
    /// `None` if the file contains only white space and comments.
    pub(super) root: Option<Node>,
    /// Sorted by position.
    comments: Vec<Comment>,
}

#[derive(Clone, Debug)]
pub(super) struct Comment {
    /// Without the line break of a line comment.
    pub(super) span: Range<usize>,
    pub(super) to_end_of_line: bool,
}

/// A value and its position.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) value: Value,
}

#[derive(Clone, Debug)]
pub(super) enum Value {
    Object(Vec<Item>),
    Array(Vec<Item>),
    /// Decoded; a lone surrogate becomes a replacement character.
    Text(String),
    /// A number, `true`, `false` or `null`, as written.
    Literal(String),
}

/// A member of an object, or an element of an array.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// The decoded name of a member.
    pub(super) key: Option<String>,
    /// The beginning of the item; of a member, the beginning of its name.
    pub(super) start: usize,
    pub(super) node: Node,
    /// The offset of the comma after it.
    pub(super) comma: Option<usize>,
}

impl Item {
    pub(super) fn end(&self) -> usize {
        self.node.span.end
    }
}

impl Node {
    /// The items of a container; empty for other values.
    pub(super) fn items(&self) -> &[Item] {
        match &self.value {
            Value::Object(items) | Value::Array(items) => items,
            Value::Text(_) | Value::Literal(_) => &[],
        }
    }

    /// The value of a member. Of duplicate names the last one applies, as in the client.
    pub(super) fn member(&self, name: &str) -> Option<&Node> {
        self.member_at(name)
            .and_then(|at| self.items().get(at))
            .map(|item| &item.node)
    }

    /// The index of a member.
    pub(super) fn member_at(&self, name: &str) -> Option<usize> {
        match &self.value {
            Value::Object(items) => items.iter().rposition(|item| item.key.as_deref() == Some(name)),
            _ => None,
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Whether `json` is the same value, regardless of layout and of the order of members.
    pub(super) fn is_same_as(&self, json: &str) -> bool {
        let root = Document::scan(json).ok().and_then(|document| document.root);
        root.is_some_and(|root| root.is_same_value(self))
    }

    fn is_same_value(&self, other: &Self) -> bool {
        match (&self.value, &other.value) {
            (Value::Text(one), Value::Text(two)) | (Value::Literal(one), Value::Literal(two)) => one == two,
            (Value::Array(one), Value::Array(two)) => {
                one.len() == two.len()
                    && one
                        .iter()
                        .zip(two)
                        .all(|(one, two)| one.node.is_same_value(&two.node))
            }
            (Value::Object(one), Value::Object(two)) => {
                one.len() == two.len()
                    && one.iter().all(|item| {
                        let named = item.key.as_deref().and_then(|key| other.member(key));
                        named.is_some_and(|named| item.node.is_same_value(named))
                    })
            }
            _ => false,
        }
    }
}

impl<'t> Document<'t> {
    pub(super) fn scan(text: &'t str) -> Result<Self, SyntaxError> {
        let start = if text.starts_with('\u{feff}') {
            '\u{feff}'.len_utf8()
        } else {
            0
        };
        let mut scanner = Scanner {
            text,
            at: start,
            depth: 0,
            comments: Vec::new(),
        };
        scanner.skip_trivia()?;
        let root = if scanner.peek().is_some() {
            Some(scanner.value()?)
        } else {
            None
        };
        scanner.skip_trivia()?;
        if scanner.peek().is_some() {
            return Err(scanner.error("unexpected text after the end of the settings"));
        }
        Ok(Self {
            text,
            root,
            comments: scanner.comments,
        })
    }

    /// The value at a path of member names.
    pub(super) fn at(&self, path: &[impl AsRef<str>]) -> Option<&Node> {
        path.iter()
            .try_fold(self.root.as_ref()?, |node, name| node.member(name.as_ref()))
    }

    /// The spans of all comments.
    pub(super) fn comments(&self) -> impl Iterator<Item = Range<usize>> {
        self.comments.iter().map(|comment| comment.span.clone())
    }

    /// The comments within `span`.
    pub(super) fn comments_in(&self, span: &Range<usize>) -> &[Comment] {
        let first = self
            .comments
            .partition_point(|comment| comment.span.start < span.start);
        let last = self
            .comments
            .partition_point(|comment| comment.span.end <= span.end);
        self.comments.get(first..last).unwrap_or_default()
    }

    /// The comment that starts at `offset`.
    pub(super) fn comment_at(&self, offset: usize) -> Option<&Comment> {
        let at = self
            .comments
            .binary_search_by_key(&offset, |comment| comment.span.start);
        at.ok().and_then(|at| self.comments.get(at))
    }

    /// Whether a line comment ends at `offset`.
    pub(super) fn ends_line_comment(&self, offset: usize) -> bool {
        let at = self
            .comments
            .binary_search_by_key(&offset, |comment| comment.span.end);
        at.ok()
            .and_then(|at| self.comments.get(at))
            .is_some_and(|comment| comment.to_end_of_line)
    }
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    comments: Vec<Comment>,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn error(&self, what: &'static str) -> SyntaxError {
        SyntaxError::at(self.text, self.at, what)
    }

    /// Skips white space and comments.
    fn skip_trivia(&mut self) -> Result<(), SyntaxError> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                Some(b'/') => self.comment()?,
                _ => return Ok(()),
            }
        }
    }

    fn comment(&mut self) -> Result<(), SyntaxError> {
        let start = self.at;
        let rest = &self.text[start..];
        let to_end_of_line = rest.starts_with("//");
        let length = if to_end_of_line {
            rest.find(['\n', '\r']).unwrap_or(rest.len())
        } else if let Some(inside) = rest.strip_prefix("/*") {
            let end = inside.find("*/");
            end.ok_or_else(|| self.error("this comment has no end"))? + 4
        } else {
            return Err(self.error("unexpected `/`"));
        };
        self.at = start + length;
        self.comments.push(Comment {
            span: start..self.at,
            to_end_of_line,
        });
        Ok(())
    }

    fn value(&mut self) -> Result<Node, SyntaxError> {
        let start = self.at;
        let value = match self.peek() {
            Some(b'{') => Value::Object(self.items(b'}')?),
            Some(b'[') => Value::Array(self.items(b']')?),
            Some(b'"') => Value::Text(self.string()?),
            Some(b'-' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z') => Value::Literal(self.literal()?),
            Some(_) => return Err(self.error("a value was expected here")),
            None => return Err(self.error("the file ends where a value was expected")),
        };
        Ok(Node {
            span: start..self.at,
            value,
        })
    }

    /// Parses a container from its opening bracket to `close`.
    fn items(&mut self, close: u8) -> Result<Vec<Item>, SyntaxError> {
        if self.depth == MAX_DEPTH {
            return Err(self.error("containers are nested too deeply"));
        }
        self.depth += 1;
        self.at += 1;
        let mut items: Vec<Item> = Vec::new();
        loop {
            self.skip_trivia()?;
            match self.peek() {
                Some(next) if next == close => {
                    self.at += 1;
                    self.depth -= 1;
                    return Ok(items);
                }
                Some(b',') => match items.last_mut() {
                    Some(last) if last.comma.is_none() => {
                        last.comma = Some(self.at);
                        self.at += 1;
                    }
                    _ => return Err(self.error("a comma with nothing before it")),
                },
                Some(_) if items.last().is_some_and(|last| last.comma.is_none()) => {
                    return Err(self.error(if close == b'}' {
                        "`,` or `}` was expected here"
                    } else {
                        "`,` or `]` was expected here"
                    }));
                }
                Some(_) => {
                    let item = self.item(close == b'}')?;
                    items.push(item);
                }
                None => {
                    return Err(self.error(if close == b'}' {
                        "the file ends inside an object: a `}` is missing"
                    } else {
                        "the file ends inside a list: a `]` is missing"
                    }));
                }
            }
        }
    }

    fn item(&mut self, is_member: bool) -> Result<Item, SyntaxError> {
        let start = self.at;
        let mut key = None;
        if is_member {
            if self.peek() != Some(b'"') {
                return Err(self.error("a name in double quotes was expected here"));
            }
            key = Some(self.string()?);
            self.skip_trivia()?;
            if self.peek() != Some(b':') {
                return Err(self.error("`:` was expected here"));
            }
            self.at += 1;
            self.skip_trivia()?;
        }
        Ok(Item {
            key,
            start,
            node: self.value()?,
            comma: None,
        })
    }

    fn string(&mut self) -> Result<String, SyntaxError> {
        let start = self.at;
        self.at += 1;
        loop {
            let rest = &self.text[self.at..];
            let stop = rest.find(|character: char| character == '"' || character == '\\' || character < ' ');
            self.at += stop.unwrap_or(rest.len());
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.at += self.escape()?,
                Some(_) => return Err(self.error("a line break or control character inside a string")),
                None => {
                    self.at = start;
                    return Err(self.error("this string has no end"));
                }
            }
        }
        self.at += 1;
        json::parse(&self.text[start..self.at]).ok_or_else(|| self.error("this string cannot be read"))
    }

    /// The number of bytes of the escape sequence at the current position.
    fn escape(&self) -> Result<usize, SyntaxError> {
        match self.text.as_bytes()[self.at + 1..] {
            [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => Ok(2),
            [b'u', a, b, c, d, ..] if [a, b, c, d].iter().all(u8::is_ascii_hexdigit) => Ok(6),
            [b'u', ..] => Err(self.error("`\\u` wants four hexadecimal digits")),
            _ => Err(self.error("an escape that JSON does not know")),
        }
    }

    fn literal(&mut self) -> Result<String, SyntaxError> {
        let rest = &self.text[self.at..];
        let length = rest
            .find(|character: char| !(character.is_ascii_alphanumeric() || "+-.".contains(character)))
            .unwrap_or(rest.len());
        let word = &rest[..length];
        if serde_json::from_str::<IgnoredAny>(word).is_err() {
            return Err(self.error("neither a number nor `true`, `false` or `null`"));
        }
        self.at += length;
        Ok(word.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(text: &str) -> (usize, usize) {
        let error = Document::scan(text).err().expect(text);
        (error.line, error.column)
    }

    #[test]
    fn comments_and_trailing_commas_are_parsed() {
        let text = "\u{feff}// mine\r\n{\r\n\t\"a\\u0062\": [1, -2.5e+3, /* two */ true,],\r\n \"a\": {}, \"a\": null, }\r\n//";
        let document = Document::scan(text).unwrap();
        let root = document.root.as_ref().unwrap();
        assert_eq!(root.items().len(), 3);
        assert_eq!(root.member("ab").unwrap().items().len(), 3);
        assert!(
            matches!(&root.member("a").unwrap().value, Value::Literal(word) if word == "null"),
            "the last one applies"
        );
        let span = 0..text.len();
        let comments: Vec<&str> = document
            .comments_in(&span)
            .iter()
            .map(|comment| &text[comment.span.clone()])
            .collect();
        assert_eq!(comments, ["// mine", "/* two */", "//"]);
    }

    #[test]
    fn an_empty_file_has_no_root() {
        for text in ["", " \r\n", "\u{feff}", "// nothing yet\n"] {
            assert!(Document::scan(text).unwrap().root.is_none(), "{text:?}");
        }
    }

    #[test]
    fn strings_are_decoded() {
        let document = Document::scan(r#""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00\ud800x\ud800\u0041""#).unwrap();
        let text = document.root.as_ref().and_then(Node::text).unwrap();
        assert_eq!(text, "\"\\/\u{8}\u{c}\n\r\té😀\u{fffd}x\u{fffd}A");
    }

    #[test]
    fn errors_have_positions() {
        for (text, place) in [
            ("{\"a\": 1\n \"b\": 2}", (2, 2)),
            ("{\"a\" 1}", (1, 6)),
            ("{a: 1}", (1, 2)),
            ("{,}", (1, 2)),
            ("[1,,2]", (1, 4)),
            ("{\"é\": 01}", (1, 7)),
            ("{\"a\": tru}", (1, 7)),
            ("{\"a\": \"x\n\"}", (1, 9)),
            ("{\"a\": \"x", (1, 7)),
            ("{\"a\": \"\\x\"}", (1, 8)),
            ("{\"a\": \"\\u12g4\"}", (1, 8)),
            ("{\"a\": 1", (1, 8)),
            ("[1", (1, 3)),
            ("{\"a\":", (1, 6)),
            ("{} {}", (1, 4)),
            ("{} /* x", (1, 4)),
            ("{} /", (1, 4)),
            ("{\"a\": 1.}", (1, 7)),
            ("{\"a\": 'x'}", (1, 7)),
            ("{\"a\": \"\\", (1, 8)),
        ] {
            assert_eq!(failure(text), place, "{text:?}");
        }
    }

    #[test]
    fn excessive_nesting_is_an_error() {
        let text = "[".repeat(1_000_000);
        assert_eq!(failure(&text), (1, MAX_DEPTH + 1));
    }

    #[test]
    fn values_are_compared_regardless_of_layout() {
        let same = |one: &str, two: &str| {
            let (one, two) = (Document::scan(one).unwrap(), Document::scan(two).unwrap());
            one.root.unwrap().is_same_value(&two.root.unwrap())
        };
        assert!(same(
            r#"{"a":1,"b":["x"]}"#,
            "{ \"b\" : [ \"\\u0078\", ], /**/ \"a\": 1 }"
        ));
        assert!(!same(r#"{"a":1}"#, r#"{"a":2}"#));
        assert!(!same(r#"{"a":1}"#, r#"{"a":1,"b":2}"#));
        assert!(!same("[1,2]", "[2,1]"));
    }
}
