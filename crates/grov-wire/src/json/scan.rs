//! A cursor that walks a document once, validates it, and returns spans.

use super::block::{BLOCK, Masks, escapes, padded};
use super::{JsonError, JsonProblem, Span};

/// The kind of the value at the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Object,
    Array,
    String,
    /// A number, `true`, `false`, `null`, or no valid value.
    Scalar,
}

/// A cursor over a document.
///
/// The caller enters some objects and arrays and skips other values. Both are validated, except for the encoding.
#[derive(Clone, Copy)]
pub(crate) struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    /// The offset of the block that `stops` describes.
    block: usize,
    /// Unescaped quotes and control characters of the block.
    stops: u64,
    /// Whether the last byte of the block escapes the first byte of the next one.
    carries: bool,
}

impl<'a> Scanner<'a> {
    /// Creates a cursor at the start of `text`.
    ///
    /// # Errors
    /// [`JsonProblem::TooLong`] if offsets do not fit 32 bits.
    pub(crate) fn new(text: &'a [u8]) -> Result<Self, JsonError> {
        if u32::try_from(text.len()).is_err() {
            return Err(JsonError {
                offset: 0,
                problem: JsonProblem::TooLong,
            });
        }
        Ok(Self {
            text,
            at: 0,
            block: usize::MAX,
            stops: 0,
            carries: false,
        })
    }

    /// Skips white space and returns the kind of the next value.
    #[inline]
    pub(crate) fn kind(&mut self) -> Kind {
        match self.peek() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            _ => Kind::Scalar,
        }
    }

    /// Returns the offset of the cursor.
    #[inline]
    pub(crate) fn offset(&self) -> u32 {
        // `new` checked that offsets fit.
        self.at as u32
    }

    /// Skips a value and returns its span.
    pub(crate) fn skip_value(&mut self) -> Result<Span, JsonError> {
        self.pass_space();
        let start = self.offset();
        self.pass_value()?;
        Ok(Span {
            start,
            end: self.offset(),
        })
    }

    /// Skips a value of `length` bytes that is known to be valid. May return an error in the text after it.
    pub(crate) fn skip_valid(&mut self, length: usize) -> Result<(), JsonError> {
        self.at += length;
        let block = self.at & !(BLOCK - 1);
        // The block in which the value ends may start inside one of its strings, after an escape.
        let before = self.text.get(..block).unwrap_or_default();
        let escapes = before.iter().rev().take_while(|byte| **byte == b'\\');
        self.carries = escapes.count() % 2 == 1;
        if block == self.at {
            self.block = usize::MAX;
            return Ok(());
        }
        self.load(block)
    }

    /// Skips a string and returns the span between its quotes.
    #[inline]
    pub(crate) fn string(&mut self) -> Result<Span, JsonError> {
        if self.peek() != Some(b'"') {
            return Err(self.error(JsonProblem::ExpectedValue));
        }
        self.pass_string()
    }

    /// Enters the object or array at the cursor. Continue with [`Self::next_key`] or [`Self::next_element`].
    #[inline]
    pub(crate) fn enter(&mut self) {
        self.pass_space();
        self.at += 1;
    }

    /// Returns the next key of an entered object and stops before its value, or returns `None` after the closing brace.
    #[inline]
    pub(crate) fn next_key(&mut self, first: &mut bool) -> Result<Option<Span>, JsonError> {
        if !self.next_item(first, b'}')? {
            return Ok(None);
        }
        self.pass_key().map(Some)
    }

    /// Returns whether an entered array has another element. Otherwise passes the closing bracket.
    #[inline]
    pub(crate) fn next_element(&mut self, first: &mut bool) -> Result<bool, JsonError> {
        self.next_item(first, b']')
    }

    /// Checks that only white space is left.
    pub(crate) fn finish(&mut self) -> Result<(), JsonError> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.error(JsonProblem::TrailingCharacters)),
        }
    }

    #[inline]
    fn next_item(&mut self, first: &mut bool, close: u8) -> Result<bool, JsonError> {
        let is_first = std::mem::replace(first, false);
        match self.peek() {
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(false)
            }
            Some(b',') if !is_first => {
                self.at += 1;
                Ok(true)
            }
            Some(_) if is_first => Ok(true),
            _ => Err(self.error(JsonProblem::ExpectedCommaOrEnd)),
        }
    }

    /// Skips a key and its colon and returns the key's span.
    #[inline]
    fn pass_key(&mut self) -> Result<Span, JsonError> {
        if self.peek() != Some(b'"') {
            return Err(self.error(JsonProblem::ExpectedKey));
        }
        let key = self.pass_string()?;
        if self.peek() != Some(b':') {
            return Err(self.error(JsonProblem::ExpectedColon));
        }
        self.at += 1;
        Ok(key)
    }

    /// Skips the value at the cursor.
    fn pass_value(&mut self) -> Result<(), JsonError> {
        let mut nest = Nest::default();
        loop {
            // A value starts here.
            match self.peek() {
                Some(b'"') => {
                    self.pass_string()?;
                }
                Some(b'{') => {
                    self.at += 1;
                    if self.peek() == Some(b'}') {
                        self.at += 1;
                    } else {
                        nest.push(true);
                        self.pass_key()?;
                        continue;
                    }
                }
                Some(b'[') => {
                    self.at += 1;
                    if self.peek() == Some(b']') {
                        self.at += 1;
                    } else {
                        nest.push(false);
                        continue;
                    }
                }
                _ => self.pass_scalar()?,
            }
            // After a value: skip closing brackets up to the next value.
            loop {
                let Some(in_object) = nest.top() else {
                    return Ok(());
                };
                match (self.peek(), in_object) {
                    (Some(b','), true) => {
                        self.at += 1;
                        self.pass_key()?;
                        break;
                    }
                    (Some(b','), false) => {
                        self.at += 1;
                        break;
                    }
                    (Some(b'}'), true) | (Some(b']'), false) => {
                        self.at += 1;
                        nest.pop();
                    }
                    _ => return Err(self.error(JsonProblem::ExpectedCommaOrEnd)),
                }
            }
        }
    }

    /// Skips the string whose opening quote is at the cursor and returns the span between the quotes.
    #[inline]
    fn pass_string(&mut self) -> Result<Span, JsonError> {
        let start = self.at + 1;
        // Most strings are short and end in the current block.
        let end = match self.next_stop(start) {
            Some(end) => end,
            None => self.find_stop(start)?,
        };
        match self.text.get(end) {
            Some(b'"') => {
                self.at = end + 1;
                Ok(Span {
                    start: start as u32,
                    end: end as u32,
                })
            }
            _ => Err(self.error_at(end, JsonProblem::ControlCharacter)),
        }
    }

    /// Returns the first unescaped quote or control character from `at` on, if it is in the current block.
    #[inline]
    fn next_stop(&self, at: usize) -> Option<usize> {
        let block = at & !(BLOCK - 1);
        let stops = self.stops & (u64::MAX << (at - block));
        (block == self.block && stops != 0).then(|| block + stops.trailing_zeros() as usize)
    }

    /// Returns the first unescaped quote or control character from `at` on.
    #[inline(never)]
    fn find_stop(&mut self, mut at: usize) -> Result<usize, JsonError> {
        loop {
            let block = at & !(BLOCK - 1);
            if block != self.block {
                self.load(block)?;
            }
            if let Some(stop) = self.next_stop(at) {
                return Ok(stop);
            }
            at = block + BLOCK;
        }
    }

    /// Loads the block at this offset and checks its escapes.
    ///
    /// Backslashes are valid only in strings; elsewhere the cursor stops with an error. Escapes therefore do not depend on where
    /// strings start. If the previous block ended with an escape, this block follows it directly.
    #[inline]
    fn load(&mut self, block: usize) -> Result<(), JsonError> {
        let bytes = self.text.get(block..).unwrap_or_default();
        let masks = match bytes.first_chunk::<BLOCK>() {
            Some(whole) => Masks::of(whole),
            None if bytes.is_empty() => return Err(self.error_at(block, JsonProblem::UnterminatedString)),
            None => Masks::of(&padded(bytes)),
        };
        let (escaped, carries) = escapes(masks.backslashes, self.carries);
        let uncommon = escaped & !masks.common;
        if uncommon != 0 {
            self.check_escapes(block, uncommon)?;
        }
        self.block = block;
        self.stops = masks.stops & !escaped;
        self.carries = carries;
        Ok(())
    }

    /// Checks that the escaped bytes of a block form valid escapes.
    fn check_escapes(&self, block: usize, mut escaped: u64) -> Result<(), JsonError> {
        while escaped != 0 {
            let at = block + escaped.trailing_zeros() as usize;
            match self.text.get(at) {
                Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {}
                Some(b'u') => match self.text.get(at + 1..at + 5) {
                    Some(digits) if digits.iter().all(u8::is_ascii_hexdigit) => {}
                    _ => return Err(self.error_at(at - 1, JsonProblem::BadEscape)),
                },
                _ => return Err(self.error_at(at - 1, JsonProblem::BadEscape)),
            }
            escaped &= escaped - 1;
        }
        Ok(())
    }

    /// Skips a number or literal.
    fn pass_scalar(&mut self) -> Result<(), JsonError> {
        let literal: &[u8] = match self.text.get(self.at) {
            Some(b't') => b"true",
            Some(b'f') => b"false",
            Some(b'n') => b"null",
            Some(b'-' | b'0'..=b'9') => return self.pass_number(),
            _ => return Err(self.error(JsonProblem::ExpectedValue)),
        };
        if self.text.get(self.at..self.at + literal.len()) != Some(literal) {
            return Err(self.error(JsonProblem::ExpectedValue));
        }
        self.at += literal.len();
        Ok(())
    }

    fn pass_number(&mut self) -> Result<(), JsonError> {
        if self.text.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        let start = self.at;
        self.pass_digits()?;
        if self.text.get(start) == Some(&b'0') && self.at > start + 1 {
            return Err(self.error_at(start, JsonProblem::BadNumber));
        }
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.pass_digits()?;
        }
        if matches!(self.text.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.text.get(self.at), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.pass_digits()?;
        }
        Ok(())
    }

    /// Skips one or more digits.
    fn pass_digits(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        while matches!(self.text.get(self.at), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start {
            return Err(self.error(JsonProblem::BadNumber));
        }
        Ok(())
    }

    /// Skips white space and returns the next byte without consuming it.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        self.pass_space();
        self.text.get(self.at).copied()
    }

    #[inline]
    fn pass_space(&mut self) {
        while matches!(self.text.get(self.at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    #[cold]
    fn error(&self, problem: JsonProblem) -> JsonError {
        self.error_at(self.at, problem)
    }

    #[cold]
    fn error_at(&self, offset: usize, problem: JsonProblem) -> JsonError {
        JsonError {
            offset: offset.min(self.text.len()),
            problem,
        }
    }
}

/// A stack of the open brackets, one bit each: 1 for an object. The lowest bit of `top` is the innermost.
#[derive(Default)]
struct Nest {
    depth: usize,
    top: u64,
    below: Vec<u64>,
}

impl Nest {
    #[inline]
    fn push(&mut self, object: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(u64::BITS as usize) {
            self.below.push(self.top);
        }
        self.depth += 1;
        self.top = self.top << 1 | u64::from(object);
    }

    #[inline]
    fn pop(&mut self) {
        self.depth -= 1;
        self.top >>= 1;
        if self.depth > 0 && self.depth.is_multiple_of(u64::BITS as usize) {
            self.top = self.below.pop().unwrap_or_default();
        }
    }

    /// Returns whether the innermost bracket is an object's, or `None` outside all brackets.
    #[inline]
    fn top(&self) -> Option<bool> {
        (self.depth > 0).then_some(self.top & 1 == 1)
    }
}
