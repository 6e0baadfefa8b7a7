//! BERT's normaliser and pre-tokenizer: cleans, strips accents, lowercases, and splits off CJK characters and punctuation.

use icu_normalizer::DecomposingNormalizerBorrowed;
use icu_properties::CodePointMapData;
use icu_properties::props::{GeneralCategory, GeneralCategoryGroup};
use serde::Deserialize;

/// The normaliser: `normalizer` of `tokenizer.json`, type `BertNormalizer`.
#[derive(Debug, Deserialize)]
pub(super) struct Normalizer {
    /// Removes control characters, turns white space into spaces.
    clean_text: bool,
    handle_chinese_chars: bool,
    /// Defaults to `lowercase`.
    strip_accents: Option<bool>,
    lowercase: bool,
}

impl Normalizer {
    pub(super) fn apply(&self, text: &str) -> String {
        let mut clean = String::with_capacity(text.len());
        for c in text.chars() {
            match c {
                c if self.clean_text && is_noise(c) => {}
                c if self.clean_text && c.is_whitespace() => clean.push(' '),
                c if self.handle_chinese_chars && is_cjk(c) => clean.extend([' ', c, ' ']),
                c => clean.push(c),
            }
        }
        if self.strip_accents.unwrap_or(self.lowercase) && !clean.is_ascii() {
            let apart = DecomposingNormalizerBorrowed::new_nfd().normalize(&clean);
            clean = apart
                .chars()
                .filter(|&c| category(c) != GeneralCategory::NonspacingMark)
                .collect();
        }
        if self.lowercase {
            // Per character: `str::to_lowercase` treats a final sigma differently from the reference.
            clean = clean.chars().flat_map(char::to_lowercase).collect();
        }
        clean
    }
}

/// Calls `take` with each word of a normalised text. Each punctuation character is a word.
pub(super) fn split_words(text: &str, mut take: impl FnMut(&str)) {
    let mut start = 0;
    for (at, c) in text.char_indices() {
        let alone = is_punctuation(c);
        if alone || c.is_whitespace() {
            if start < at {
                take(&text[start..at]);
            }
            start = at + c.len_utf8();
            if alone {
                take(&text[at..start]);
            }
        }
    }
    if start < text.len() {
        take(&text[start..]);
    }
}

fn category(c: char) -> GeneralCategory {
    CodePointMapData::<GeneralCategory>::new().get(c)
}

fn is_noise(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' => false,
        c if c.is_ascii() => c.is_ascii_control(),
        char::REPLACEMENT_CHARACTER => true,
        c => matches!(
            category(c),
            GeneralCategory::Control | GeneralCategory::Format | GeneralCategory::PrivateUse
        ),
    }
}

fn is_punctuation(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_punctuation();
    }
    GeneralCategoryGroup::Punctuation.contains(category(c))
}

/// The ranges of the reference implementation.
fn is_cjk(c: char) -> bool {
    matches!(c,
        '\u{3400}'..='\u{4DBF}'
        | '\u{4E00}'..='\u{9FFF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{2A6DF}'
        | '\u{2A700}'..='\u{2B73F}'
        | '\u{2B740}'..='\u{2B81F}'
        | '\u{2B920}'..='\u{2CEAF}'
        | '\u{2F800}'..='\u{2FA1F}')
}
