//! Compares words regardless of their endings.

/// Endings of words in the languages of prompts and code, the longest first.
#[rustfmt::skip]
const ENDINGS: &[&str] = &[
    "ungen", "ations", "ation", "ings", "ung", "ing", "ers", "ami", "ach", "ied", "ies", "er", "ed", "es", "en", "em", "om", "ow", "ul", "ele", "s", "e", "a", "o", "i", "u", "y", "n",
];

/// The fewest letters that an ending leaves.
const MIN_STEM: usize = 4;

/// Whether two folded words are forms of the same word.
pub(super) fn is_same_word(one: &str, other: &str) -> bool {
    one == other
        || one.len() > 3 && other.len() > 3 && stem(one) == stem(other)
        || is_plural(one, other)
        || is_plural(other, one)
}

/// Whether a word is the plural of one with three letters or more.
fn is_plural(one: &str, other: &str) -> bool {
    other.len() >= 3 && one.strip_suffix('s') == Some(other)
}

fn stem(word: &str) -> &str {
    let cut = |ending: &&str| {
        word.strip_suffix(*ending)
            .filter(|stem| stem.chars().count() >= MIN_STEM)
    };
    ENDINGS.iter().find_map(cut).unwrap_or(word)
}

/// Whether a text is written without spaces between words.
pub(super) fn is_unspaced_text(text: &str) -> bool {
    text.chars().any(|letter| {
        matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ff66}'..='\u{ff9f}')
    })
}
