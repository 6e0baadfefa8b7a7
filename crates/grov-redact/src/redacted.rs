//! A type for redacted values.

use crate::Redactor;
use crate::cut;
use serde::Serialize;
use std::fmt;
use std::ops::{Deref, Range};

/// Maximum size of a text in a [`Redacted`], in bytes. Longer texts keep both ends.
pub const MAX_TEXT_BYTES: usize = 256 * 1024;

/// A value whose free texts were redacted and limited to [`MAX_TEXT_BYTES`], except for [`Redactor::whole`].
///
/// Only a [`Redactor`] creates one, and no operation adds raw text to it. A function that takes it cannot receive a secret by
/// mistake:
///
/// ```compile_fail
/// fn keep(text: grov_redact::Redacted) {}
/// keep("password = hunter2-hunter2".to_owned());
/// ```
///
/// ```
/// # use grov_redact::{Redacted, Redactor};
/// fn keep(text: Redacted) {}
/// keep(Redactor::shared().text("password = hunter2-hunter2"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Redacted<T = String>(T);

/// A value that may contain free text, written by a person, a model or a program.
///
/// Identifiers, hashes, times and names defined by a protocol are not free text. Implementations should destructure the value
/// without `..`, so that a new field does not compile until it is classified.
pub trait FreeText {
    /// Calls `visit` with each free text, and clears values that were parsed from raw text.
    fn each_text(&mut self, visit: &mut dyn FnMut(&mut String));
}

impl FreeText for String {
    fn each_text(&mut self, visit: &mut dyn FnMut(&mut String)) {
        visit(self);
    }
}

impl<T: FreeText> FreeText for Option<T> {
    fn each_text(&mut self, visit: &mut dyn FnMut(&mut String)) {
        if let Some(value) = self {
            value.each_text(visit);
        }
    }
}

impl<T: FreeText> FreeText for Vec<T> {
    fn each_text(&mut self, visit: &mut dyn FnMut(&mut String)) {
        for value in self {
            value.each_text(visit);
        }
    }
}

impl<T> Redacted<T> {
    pub(crate) fn proven(value: T) -> Self {
        Self(value)
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T: FreeText + Clone> Redacted<T> {
    /// Returns a redacted copy.
    pub fn of(value: &T) -> Self {
        Redactor::shared().clean(value.clone())
    }

    /// Returns redacted copies.
    pub fn each(values: &[T]) -> Vec<Self> {
        values.iter().map(Self::of).collect()
    }
}

impl Redacted {
    /// Returns the beginning, at most `most` bytes (at least 5), up to the end of a word.
    #[must_use]
    pub fn beginning_to(&self, most: usize) -> Self {
        let end = self.0.floor_char_boundary(most);
        Self(cut::beginning_to(&self.0, end).to_owned())
    }

    /// Returns the part of a text in a range of bytes. Its ends move back to the next character boundary, and an end behind
    /// the text is the end of the text.
    #[must_use]
    pub fn part(&self, range: Range<usize>) -> Self {
        let end = self.0.floor_char_boundary(range.end);
        let start = self.0.floor_char_boundary(range.start.min(end));
        Self(self.0[start..end].to_owned())
    }

    /// Returns the text in at most `most` bytes (at least 256), like [`bounded`](crate::bounded).
    #[must_use]
    pub fn bounded(&self, most: usize) -> Self {
        Self(cut::bounded(&self.0, most).into_owned())
    }

    /// Returns the text as a JSON string between `before` and `after`.
    #[must_use]
    pub fn in_json(&self, before: &'static str, after: &'static str) -> Self {
        let text = serde_json::Value::from(self.0.as_str());
        Self(format!("{before}{text}{after}"))
    }

    /// Joins texts with `between`.
    pub fn joined(texts: &[Self], between: &'static str) -> Self {
        let texts: Vec<&str> = texts.iter().map(|text| text.0.as_str()).collect();
        Self(texts.join(between))
    }
}

impl<T> Deref for Redacted<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> AsRef<T> for Redacted<T> {
    fn as_ref(&self) -> &T {
        &self.0
    }
}

impl<T: fmt::Display> fmt::Display for Redacted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";

    #[test]
    fn every_text_of_a_value_is_redacted_in_place() {
        let value = vec![Some(format!("one {TOKEN}")), None, Some("two".to_owned())];
        let cleaned = Redactor::shared().clean(value);
        assert_eq!(
            *cleaned,
            [
                Some("one [redacted:github-token]".to_owned()),
                None,
                Some("two".to_owned())
            ]
        );
        assert_eq!(Redacted::of(&*cleaned), cleaned, "once is enough");
    }

    #[test]
    fn a_long_text_is_bounded_after_it_was_redacted() {
        let text = format!("{TOKEN} {} {TOKEN}", "word ".repeat(MAX_TEXT_BYTES / 4));
        let cleaned = Redactor::shared().text(&text);
        assert!(cleaned.len() <= MAX_TEXT_BYTES);
        assert!(
            cleaned.starts_with("[redacted:github-token]") && cleaned.ends_with("[redacted:github-token]")
        );
    }

    #[test]
    fn a_whole_text_is_redacted_and_not_bounded() {
        let text = format!("{TOKEN} {} {TOKEN}", "word ".repeat(MAX_TEXT_BYTES / 4));
        let cleaned = Redactor::shared().whole(&text);
        assert!(cleaned.len() > MAX_TEXT_BYTES);
        assert!(!cleaned.contains("ghp_"));
        assert_eq!(Redactor::shared().whole(&cleaned), cleaned);
    }

    #[test]
    fn a_part_is_cut_at_character_boundaries() {
        let text = Redactor::shared().whole("aé日z");
        assert_eq!(text.part(1..3).as_str(), "é");
        assert_eq!(text.part(2..5).as_str(), "é");
        assert_eq!(text.part(6..usize::MAX).as_str(), "z");
        assert_eq!(text.part(Range { start: 5, end: 2 }).as_str(), "");
        assert_eq!(text.part(40..50).as_str(), "");
    }

    #[test]
    fn cutting_and_joining_stay_redacted() {
        let text = Redactor::shared().text(&format!("first {TOKEN} last"));
        assert_eq!(text.beginning_to(7).into_inner(), "first");
        assert_eq!(
            Redacted::joined(&[text.beginning_to(7), text.beginning_to(7)], "\n").to_string(),
            "first\nfirst"
        );
        assert_eq!(
            text.beginning_to(7).in_json("[", "]").into_inner(),
            r#"["first"]"#
        );
    }
}
