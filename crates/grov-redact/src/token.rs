//! Rules for keys and tokens that are recognized by their form.

use crate::pattern::{Class, Part, walk};
use crate::random::{MAX_TOKEN, generated};
use std::ops::Range;

/// A rule for one form of token.
#[derive(Debug)]
pub(crate) struct TokenRule {
    /// The name in the mask.
    pub(crate) id: &'static str,
    /// A token contains one of these, with this case. At least three bytes each.
    pub(crate) keywords: &'static [&'static str],
    /// The part of the token before the keyword: class, minimum and maximum length.
    prefix: Option<(Class, usize, usize)>,
    /// Whether the keyword counts only at the start of a word, because it also occurs inside words.
    at_word_start: bool,
    /// Whether a token without a digit is an ordinary word.
    with_digit: bool,
    /// Whether what follows the keyword must look generated, because the keyword also begins words.
    random: bool,
    /// The part of the token after the keyword.
    parts: &'static [Part],
}

/// Creates a rule for tokens that start with one of the keywords, even inside a word.
pub(crate) const fn rule(
    id: &'static str,
    keywords: &'static [&'static str],
    parts: &'static [Part],
) -> TokenRule {
    TokenRule {
        id,
        keywords,
        prefix: None,
        at_word_start: false,
        with_digit: false,
        random: false,
        parts,
    }
}

impl TokenRule {
    /// Requires that the token starts a word.
    pub(crate) const fn at_word_start(mut self) -> Self {
        self.at_word_start = true;
        self
    }

    /// Requires a digit after the keyword.
    pub(crate) const fn with_digit(mut self) -> Self {
        self.with_digit = true;
        self
    }

    /// Requires that what follows the keyword looks generated.
    pub(crate) const fn random(mut self) -> Self {
        self.random = true;
        self
    }

    /// Lets the token start `min` to `max` bytes of `class` before the keyword.
    pub(crate) const fn reaching_back(mut self, class: Class, min: usize, max: usize) -> Self {
        self.prefix = Some((class, min, max));
        self
    }

    /// Returns the range of the token with this keyword, or the offset before which this rule cannot match.
    pub(crate) fn find(&self, bytes: &[u8], keyword: Range<usize>) -> Result<Range<usize>, usize> {
        let mut start = keyword.start;
        if let Some((class, min, max)) = self.prefix {
            let begin = start_of_run(class, bytes, start, max);
            if !(min..=max).contains(&(start - begin)) {
                return Err(keyword.start);
            }
            start = begin;
        }
        // Of file names such as `backup_AKIA….log`, the parts are words.
        let in_file_name = start > 0 && bytes[start - 1] == b'_';
        let needs_digit = self.with_digit || in_file_name && keyword.len() < 4;
        if self.at_word_start && continues_a_word(bytes, start) && !in_file_name {
            return Err(keyword.start);
        }
        let end = walk(self.parts, bytes, keyword.end)?;
        let body = &bytes[keyword.end..end];
        let beginning = &body[..body.len().min(MAX_TOKEN)];
        let is_random = || std::str::from_utf8(beginning).is_ok_and(|body| generated(body).is_some());
        if is_stand_in(body) && !body.is_empty()
            || self.random && !is_random()
            || needs_digit && !body.iter().any(u8::is_ascii_digit)
        {
            // A match that starts later in it is a placeholder too.
            return Err(end);
        }
        Ok(start..end)
    }
}

/// Returns the start of the run that ends at `to`, without the letter of an escape such as `\n`. The run has at most `max + 2`
/// bytes, so that a longer run can be detected.
pub(crate) fn start_of_run(class: Class, bytes: &[u8], to: usize, max: usize) -> usize {
    let start = class.run_back(bytes, to, max + 2);
    let escape = start > 0 && bytes[start - 1] == b'\\' && start < to;
    start + usize::from(escape)
}

/// Returns whether `at` is inside a word. An escape such as `\n`, `%3D` or `\u003d` and a terminal colour code are not part of a
/// word, although they end with a letter or digit.
pub(crate) fn continues_a_word(bytes: &[u8], at: usize) -> bool {
    let before = &bytes[..at];
    let Some(&last) = before.last() else { return false };
    if !Class::WORD.has(last) {
        return false;
    }
    let byte_back = |n: usize| before.len().checked_sub(n).map(|i| before[i]);
    let hexes = |n: usize| before.len() >= n && before[before.len() - n..].iter().all(u8::is_ascii_hexdigit);
    if byte_back(2) == Some(b'\\') && b"nrtabfv0".contains(&last)
        || byte_back(3) == Some(b'%') && hexes(2)
        || byte_back(6) == Some(b'\\') && byte_back(5) == Some(b'u') && hexes(4)
        || byte_back(4) == Some(b'\\') && byte_back(3) == Some(b'x') && hexes(2)
    {
        return false;
    }
    if last == b'm' {
        let sequence = Class::of("0-9;").run_back(bytes, at - 1, 16);
        if before[..sequence].ends_with(b"\x1b[") {
            return false;
        }
    }
    true
}

/// Returns whether the body of a token is a placeholder as in documentation, such as `xxxx…` or `your-key-goes-here`.
fn is_stand_in(body: &[u8]) -> bool {
    let filler = |b: &u8| matches!(b, b'x' | b'X' | b'*' | b'.' | b'-' | b'_');
    if body.iter().all(filler) {
        return true;
    }
    let separators = body.iter().filter(|b| matches!(b, b'-' | b'_')).count();
    let words_only = body
        .iter()
        .all(|b| b.is_ascii_lowercase() || matches!(b, b'-' | b'_'))
        || body
            .iter()
            .all(|b| b.is_ascii_uppercase() || matches!(b, b'-' | b'_'));
    separators > 0 && words_only
}
