//! Masks secrets.

use crate::MASK_START;
use crate::context::CONTEXT_RULES;
use crate::cut::bounded;
use crate::json::each_text_of_json;
use crate::redacted::{FreeText, MAX_TEXT_BYTES, Redacted};
use crate::scan::Scan;
use crate::tokens::TOKENS;
use std::borrow::Cow;
use std::ops::Range;

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The name of the rule that found it, as in the mask, such as `github-token`.
    pub rule: &'static str,
    /// The range in bytes, on character boundaries.
    pub range: Range<usize>,
}

/// Finds and masks secrets.
///
/// It has no state: creating one is free. All functions take time linear in the text and do not panic.
#[derive(Clone, Copy, Debug, Default)]
pub struct Redactor(());

/// Maximum number of passes. In crafted texts, masking one secret can uncover another.
const MAX_ROUNDS: usize = 8;

impl Redactor {
    /// Creates a redactor with all rules.
    pub const fn new() -> Self {
        Self(())
    }

    /// Returns a shared redactor.
    pub fn shared() -> &'static Self {
        static SHARED: Redactor = Redactor::new();
        &SHARED
    }

    /// Replaces each secret by a mask with the name of its rule, such as `[redacted:github-token]`.
    ///
    /// The result is borrowed if there are no secrets. Redacting it again changes nothing.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut redacted = Cow::Borrowed(text);
        for _ in 0..MAX_ROUNDS {
            let findings = self.findings(&redacted);
            if findings.is_empty() {
                break;
            }
            redacted = Cow::Owned(masked(&redacted, &findings));
        }
        redacted
    }

    /// Redacts each free text of a value and limits it to [`MAX_TEXT_BYTES`].
    pub fn clean<T: FreeText>(&self, mut value: T) -> Redacted<T> {
        value.each_text(&mut |text| self.clean_text(text));
        Redacted::proven(value)
    }

    /// Redacts a text and limits it to [`MAX_TEXT_BYTES`].
    pub fn text(&self, text: &str) -> Redacted {
        Redacted::proven(self.cleaned(text).into_owned())
    }

    /// Redacts a text of any size: for a document that is kept whole.
    pub fn whole(&self, text: &str) -> Redacted {
        Redacted::proven(self.redact(text).into_owned())
    }

    /// Like [`Redactor::text`], for a text that is only compared. Borrowed if nothing changes.
    pub fn cleaned<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.redact(text) {
            Cow::Borrowed(text) => bounded(text, MAX_TEXT_BYTES),
            Cow::Owned(text) if text.len() <= MAX_TEXT_BYTES => Cow::Owned(text),
            Cow::Owned(text) => Cow::Owned(bounded(&text, MAX_TEXT_BYTES).into_owned()),
        }
    }

    fn clean_text(&self, text: &mut String) {
        if let Cow::Owned(cleaned) = self.cleaned(text) {
            *text = cleaned;
        }
    }

    /// Redacts each string of a JSON document like [`Redactor::text`]. Invalid JSON is redacted as one text.
    pub fn json(&self, json: &str) -> Redacted {
        let mut json = json.to_owned();
        each_text_of_json(&mut json, &mut |text| self.clean_text(text));
        Redacted::proven(json)
    }

    /// Returns the secrets of a text in order, without overlaps. Masks are not secrets.
    pub fn findings(&self, text: &str) -> Vec<Finding> {
        Scan::run(text)
    }

    /// Returns the names of all rules, as they appear in masks.
    pub fn rules() -> impl Iterator<Item = &'static str> {
        let tokens = TOKENS.iter().map(|rule| rule.id);
        tokens.chain(CONTEXT_RULES.iter().copied())
    }
}

fn masked(text: &str, findings: &[Finding]) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut copied = 0;
    for Finding { rule, range } in findings {
        masked.push_str(&text[copied..range.start]);
        masked.push_str(MASK_START);
        masked.push_str(rule);
        masked.push(']');
        copied = range.end;
    }
    masked.push_str(&text[copied..]);
    masked
}
