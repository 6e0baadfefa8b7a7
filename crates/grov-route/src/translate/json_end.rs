//! Finds the end of a JSON object that arrives in parts.

/// Follows braces and strings. Reads each byte once and validates nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct JsonEnd {
    depth: usize,
    in_string: bool,
    escaped: bool,
    complete: bool,
}

impl JsonEnd {
    /// Reads more of the text. Returns the offset in `text` after the end, if the end is in it.
    pub(crate) fn feed(&mut self, text: &str) -> Option<usize> {
        if self.complete {
            return None;
        }
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
                        self.complete = true;
                        return Some(at + 1);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Whether the end was reached.
    pub(crate) fn is_complete(&self) -> bool {
        self.complete
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_in_strings_do_not_count() {
        let mut end = JsonEnd::default();
        assert_eq!(end.feed(r#"{"a":"}\"}"#), None);
        assert_eq!(end.feed(r#"","b":[{}]} "#), Some(11));
        assert!(end.is_complete());
    }
}
