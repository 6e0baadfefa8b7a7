//! The redactor.

use crate::MASK_START;
use crate::context::CONTEXT_RULES;
use crate::cut::bounded;
use crate::json::each_text_of_json;
use crate::redacted::{FreeText, LONGEST_TEXT, Redacted};
use crate::scan::Scan;
use crate::tokens::TOKENS;
use std::borrow::Cow;
use std::ops::Range;

/// One secret found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule that found it, as it appears in the mask: `github-token`.
    pub rule: &'static str,
    /// Where it is, in bytes of the text; always on character boundaries.
    pub range: Range<usize>,
}

/// Finds secrets and masks them.
///
/// Costs nothing to make: the rules are compiled into the program. It works in time linear in the text, never panics,
/// and has no state, so that one can be shared or made anew at will.
#[derive(Clone, Copy, Debug, Default)]
pub struct Redactor(());

/// Masking one secret can, in texts made for it, uncover another. More rounds than this are not tried.
const MAX_ROUNDS: usize = 8;

impl Redactor {
    /// A redactor with all rules.
    pub const fn new() -> Self {
        Self(())
    }

    /// The redactor that the whole process shares.
    pub fn shared() -> &'static Self {
        static SHARED: Redactor = Redactor::new();
        &SHARED
    }

    /// The text with every secret replaced by a mask that names its kind, such as `[redacted:github-token]`.
    ///
    /// Redacting twice changes nothing more. A text without secrets is borrowed.
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

    /// The value, each of its free texts without secrets and at most [`LONGEST_TEXT`] bytes long.
    pub fn clean<T: FreeText>(&self, mut value: T) -> Redacted<T> {
        value.each_text(&mut |text| self.clean_text(text));
        Redacted::proven(value)
    }

    /// The text without secrets, at most [`LONGEST_TEXT`] bytes long.
    pub fn text(&self, text: &str) -> Redacted {
        Redacted::proven(self.cleaned(text).into_owned())
    }

    /// [`Redactor::text`] of a text that is looked for, borrowed where nothing changes.
    pub fn cleaned<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.redact(text) {
            Cow::Borrowed(text) => bounded(text, LONGEST_TEXT),
            Cow::Owned(text) if text.len() <= LONGEST_TEXT => Cow::Owned(text),
            Cow::Owned(text) => Cow::Owned(bounded(&text, LONGEST_TEXT).into_owned()),
        }
    }

    fn clean_text(&self, text: &mut String) {
        if let Cow::Owned(cleaned) = self.cleaned(text) {
            *text = cleaned;
        }
    }

    /// The JSON with each of its texts as [`Redactor::text`] makes it.
    pub fn json(&self, json: &str) -> Redacted {
        let mut json = json.to_owned();
        each_text_of_json(&mut json, &mut |text| self.clean_text(text));
        Redacted::proven(json)
    }

    /// The secrets of a text, in order, without overlap. Masks are not among them.
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
