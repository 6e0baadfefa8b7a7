//! Text cut into words as BERT does: cleaned, without accents, in lower case; CJK characters and punctuation stand alone.

use icu_normalizer::DecomposingNormalizerBorrowed;
use icu_properties::CodePointMapData;
use icu_properties::props::{GeneralCategory, GeneralCategoryGroup};
use serde::Deserialize;

/// What is done to a text before it is cut: `normalizer` of `tokenizer.json`, type `BertNormalizer`.
#[derive(Debug, Deserialize)]
pub(super) struct Normalizer {
    /// Control characters go, white space becomes spaces.
    clean_text: bool,
    handle_chinese_chars: bool,
    /// As `lowercase` where nothing is said.
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
            // Letter by letter: `str::to_lowercase` looks at the end of a word, which the reference does not.
            clean = clean.chars().flat_map(char::to_lowercase).collect();
        }
        clean
    }
}

/// The words of a text that was normalised: what stands between white space, punctuation apart.
pub(super) fn words(text: &str, mut take: impl FnMut(&str)) {
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

/// The ranges that BERT looks at.
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
