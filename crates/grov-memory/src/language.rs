//! Whether a prompt is in another language than English, and which of its words say nothing about a subject.
//!
//! Most memories are in English. A word of another language that no memory contains is no evidence against a memory.

use grov_domain::is_function_word;
use grov_redact::is_unspaced;

/// Function words of English that show the language of a short prompt.
const ENGLISH: &[&str] = &[
    "the", "a", "an", "to", "of", "is", "are", "was", "and", "or", "for", "with", "that", "this", "it",
    "its", "be", "can", "should", "we", "our", "you", "my", "not", "from", "by", "on", "when", "how", "what",
    "does", "do", "has", "have",
];
/// Maximum number of words read.
const MAX_WORDS: usize = 96;

/// The language of a prompt, as far as matching is concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// English, or nothing tells.
    #[default]
    English,
    /// Another one in Latin script.
    Latin,
    /// A language in another script: its words in Latin letters are names and loan words.
    OtherScript,
}

impl Language {
    /// The language of a prompt, judged by its letters and function words.
    pub fn of(text: &str) -> Self {
        let (mut latin, mut others, mut marked) = (0_usize, 0_usize, 0_usize);
        for character in text.chars().filter(|character| character.is_alphabetic()) {
            match character {
                _ if character.is_ascii() => latin += 1,
                // Latin letters with marks.
                '\u{c0}'..='\u{24f}' => marked += 1,
                // A character of these is about a syllable.
                _ if is_unspaced(character) => others += 3,
                _ => others += 1,
            }
        }
        if others * 3 > latin + marked {
            return Self::OtherScript;
        }
        let (mut english, mut foreign) = (0, 0);
        let words = text.split(|character: char| !character.is_alphabetic());
        for word in words.filter(|word| !word.is_empty()).take(MAX_WORDS) {
            let word = word.to_lowercase();
            english += usize::from(ENGLISH.contains(&word.as_str()));
            foreign += usize::from(is_function_word(&word));
        }
        if foreign > english + usize::from(marked == 0) {
            Self::Latin
        } else {
            Self::English
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_of_a_short_prompt_is_known() {
        for (text, language) in [
            ("fix the flaky upload test", Language::English),
            ("retry uploads", Language::English),
            (
                "why does the chain writer lock the whole audit table",
                Language::English,
            ),
            (
                "Die Webhooks von Stripe werden manchmal doppelt verarbeitet",
                Language::Latin,
            ),
            (
                "los backups nocturnos: avisar por Slack si el restore falla",
                Language::Latin,
            ),
            ("il y a un bug dans eraseSubject", Language::Latin),
            (
                "в zplPrinter.cs добавь поддержку второго принтера",
                Language::OtherScript,
            ),
            ("Redis 限流 rate limit 想按客户等级区分", Language::OtherScript),
        ] {
            assert_eq!(Language::of(text), language, "{text}");
        }
    }
}
