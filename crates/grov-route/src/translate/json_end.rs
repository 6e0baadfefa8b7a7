//! Follows a JSON object that arrives in parts: where it ends, and whether it was only a placeholder.

/// Follows braces and strings. Reads each byte once and validates nothing.
///
/// Some providers begin a call with `{}` and send the arguments afterwards. So an empty object is held back: it is
/// dropped if another object follows, and kept if the text ends or continues otherwise.
#[derive(Clone, Debug, Default)]
pub(crate) struct JsonEnd {
    state: State,
    depth: usize,
    in_string: bool,
    escaped: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Only white space so far.
    #[default]
    Before,
    /// `{` is held back.
    Opened,
    /// `{}` is held back.
    Empty,
    Inside,
    Complete,
}

impl JsonEnd {
    /// Reads more of the text and appends to `out` what is part of the value. White space before the first member is not.
    /// Returns what follows the end.
    pub(crate) fn feed<'t>(&mut self, text: &'t str, out: &mut String) -> &'t str {
        let mut rest = text;
        while matches!(self.state, State::Before | State::Opened | State::Empty) {
            rest = rest.trim_start_matches([' ', '\t', '\r', '\n']);
            let Some(&next) = rest.as_bytes().first() else {
                return "";
            };
            self.state = match (self.state, next) {
                (State::Before | State::Empty, b'{') => State::Opened,
                (State::Opened, b'}') => State::Empty,
                (State::Empty, _) => {
                    out.push_str("{}");
                    State::Complete
                }
                (State::Opened, _) => {
                    out.push('{');
                    self.depth = 1;
                    State::Inside
                }
                _ => State::Inside,
            };
            if matches!(self.state, State::Opened | State::Empty) {
                rest = &rest[1..];
            }
        }
        if self.state == State::Complete {
            return rest;
        }
        let end = self.end_in(rest).unwrap_or(rest.len());
        out.push_str(&rest[..end]);
        &rest[end..]
    }

    /// Appends what was held back. To be called when the text is over.
    pub(crate) fn finish(&mut self, out: &mut String) {
        match self.state {
            State::Opened => out.push('{'),
            State::Empty => out.push_str("{}"),
            State::Before | State::Inside | State::Complete => return,
        }
        self.state = State::Complete;
    }

    /// Whether the end was reached.
    pub(crate) fn is_complete(&self) -> bool {
        self.state == State::Complete
    }

    /// The offset after the end of the value, if it is in the text.
    fn end_in(&mut self, text: &str) -> Option<usize> {
        for (at, byte) in text.bytes().enumerate() {
            if self.escaped {
                self.escaped = false;
                continue;
            }
            match byte {
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        self.state = State::Complete;
                        return Some(at + 1);
                    }
                }
                _ => {}
            }
        }
        None
    }
}

/// The text without the empty objects before another one.
pub(crate) fn without_placeholder(text: &str) -> &str {
    let mut text = text;
    while let Some(inner) = text.strip_prefix('{')
        && let Some(rest) = inner.trim_start().strip_prefix('}')
        && rest.trim_start().starts_with('{')
    {
        text = rest.trim_start();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What is kept of the parts, what follows, and whether the end was reached before the text was over.
    fn read(parts: &[&str]) -> (String, String, bool) {
        let (mut end, mut out, mut after) = (JsonEnd::default(), String::new(), String::new());
        for part in parts {
            after.push_str(end.feed(part, &mut out));
        }
        let complete = end.is_complete();
        end.finish(&mut out);
        (out, after, complete)
    }

    #[test]
    fn braces_in_strings_do_not_count() {
        let (out, after, complete) = read(&[r#"{"a":"}\"}"#, r#"","b":[{}]} "#]);
        assert_eq!((out.as_str(), after.as_str()), (r#"{"a":"}\"}","b":[{}]}"#, " "));
        assert!(complete);
    }

    #[test]
    fn empty_object_before_the_arguments_is_a_placeholder() {
        for (parts, kept, complete) in [
            (&["{}", r#"{"x":1}"#][..], r#"{"x":1}"#, true),
            (&["{", "}", "{", r#""x":1}"#], r#"{"x":1}"#, true),
            (&[" { } {} {\"x\":{}}{\"x\":{}}"], r#"{"x":{}}"#, true),
            (&["{}"], "{}", false),
            (&[" {} ", "{"], "{", false),
            (&["{}", "done"], "{}", true),
            (&["{ ", " \"x\":1}"], r#"{"x":1}"#, true),
            (&["[1]"], "[1]", true),
        ] {
            let (out, _, ended) = read(parts);
            assert_eq!((out.as_str(), ended), (kept, complete), "{parts:?}");
        }
    }

    proptest! {
        #[test]
        fn parts_do_not_matter(text in "[{}\" a\\\\\\[\\],:é]{0,24}", cut in 0usize..24) {
            let cut = text.floor_char_boundary(cut);
            prop_assert_eq!(read(&[&text]), read(&[&text[..cut], &text[cut..]]));
        }
    }
}
