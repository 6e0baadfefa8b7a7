//! A position in a text, for lexers.

/// A position in a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'t> {
    pub(crate) text: &'t str,
    /// The position in bytes.
    pub(crate) at: usize,
}

impl<'t> Cursor<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    pub(crate) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(crate) fn next_is(&self, text: &str) -> bool {
        self.rest().starts_with(text)
    }

    /// Consumes the next character.
    pub(crate) fn take_char(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// Consumes `text` if it is next. Returns whether it was.
    pub(crate) fn take(&mut self, text: &str) -> bool {
        let is_next = self.next_is(text);
        if is_next {
            self.at += text.len();
        }
        is_next
    }

    /// Skips to the end of the line.
    pub(crate) fn skip_line(&mut self) {
        let rest = self.rest();
        self.at += rest.find('\n').unwrap_or(rest.len());
    }
}
