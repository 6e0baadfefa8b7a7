//! Compares words regardless of their endings.

/// Endings of words in the languages of prompts and code, the longest first.
#[rustfmt::skip]
const ENDINGS: &[&str] = &[
    "ungen", "ations", "ation", "ings", "ung", "ing", "ers", "ami", "ach", "ied", "ies", "er", "ed", "es", "en", "em", "om", "ow", "ul", "ele", "s", "e", "a", "o", "i", "u", "y", "n",
];

/// The fewest letters that an ending leaves.
const MIN_STEM: usize = 4;

/// Whether two folded words are forms of the same word. The second one may be the [`cognate`] of a word, with a `*`.
pub(in crate::constraints) fn is_same_word(one: &str, other: &str) -> bool {
    if let Some(cognate) = other.strip_suffix('*') {
        return is_cognate(one, cognate);
    }
    one == other
        || one.len() > 3 && other.len() > 3 && stem(one) == stem(other)
        || is_plural(one, other)
        || is_plural(other, one)
}

/// Whether a word is the plural of one with three letters or more.
fn is_plural(one: &str, other: &str) -> bool {
    other.len() >= 3 && one.strip_suffix('s') == Some(other)
}

/// Endings of words that many languages share with English, the longest first, folded.
#[rustfmt::skip]
const SHARED_ENDINGS: &[&str] = &[
    "aciones", "izacion", "ciones", "azioni", "azione", "zioni", "zione", "acion", "acoes", "ation", "coes", "cion", "acao", "cao", "tionen", "tion", "tiile", "tii", "tie", "ties", "acje", "acji", "acja", "cje", "cji", "cja",
    "teurs", "teur", "eurs", "eur", "toren", "tores", "tori", "tor", "arios", "ario", "aires", "aire", "ului", "ilor", "elor", "ele", "ile", "ului", "ow", "ami", "ach", "ies", "ien", "ios", "io", "ia", "ie", "ii", "os", "as", "es",
    "en", "er", "ul", "le", "a", "e", "i", "o", "s", "u", "y",
];

/// The fewest letters that words of two languages share.
const MIN_COGNATE: usize = 5;

/// The beginning of a word of another language that its English form has, too: `validat` of `walidatorów`.
pub(super) fn cognate(word: &str) -> Option<String> {
    let cut = SHARED_ENDINGS
        .iter()
        .find_map(|ending| word.strip_suffix(ending).filter(|stem| stem.len() >= MIN_COGNATE));
    let stem = sounds(cut.unwrap_or(word));
    (stem.len() >= MIN_COGNATE && stem.is_ascii()).then_some(stem)
}

/// Whether a word of code is the English form of one with this [`cognate`].
pub(super) fn is_cognate(word: &str, cognate: &str) -> bool {
    const LONGEST_REST: usize = 6;
    let plain = sounds(word);
    plain
        .strip_prefix(cognate)
        .is_some_and(|rest| rest.len() <= LONGEST_REST && rest.len() <= cognate.len())
}

/// A folded word as several languages would write it: `walidator` and `validator` are one.
fn sounds(word: &str) -> String {
    let mut found = String::with_capacity(word.len());
    let word = word.replace("ph", "f").replace("th", "t").replace("qu", "c");
    for letter in word.chars() {
        let letter = match letter {
            'w' => 'v',
            'k' => 'c',
            'y' | 'j' => 'i',
            'z' => 's',
            other => other,
        };
        if !found.ends_with(letter) {
            found.push(letter);
        }
    }
    found
}

/// What two words have in common if [`is_same_word`] says so, but for the plurals of words with three letters.
pub(super) fn key_of(word: &str) -> &str {
    match word.len() {
        ..=3 => word,
        4 => word.strip_suffix('s').unwrap_or(word),
        _ => stem(word),
    }
}

fn stem(word: &str) -> &str {
    let cut = |ending: &&str| {
        word.strip_suffix(*ending)
            .filter(|stem| stem.chars().count() >= MIN_STEM)
    };
    ENDINGS.iter().find_map(cut).unwrap_or(word)
}

/// Whether a text is written without spaces between words.
pub(in crate::constraints) fn is_unspaced_text(text: &str) -> bool {
    text.chars().any(|letter| {
        matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ff66}'..='\u{ff9f}')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cognates_are_found_by_their_beginning() {
        for (word, english) in [
            ("walidatorow", "validators"),
            ("notificaciones", "notifications"),
            ("controleurs", "controllers"),
            ("integracao", "integration"),
            ("configurazione", "configuration"),
            ("autenticacion", "authentication"),
        ] {
            let stem = cognate(word).unwrap_or_else(|| panic!("{word}"));
            assert!(is_cognate(english, &stem), "{word} {stem} {english}");
        }
        assert_eq!(cognate("pago"), None);
        assert!(!is_cognate("international", "internal"));
    }
}
