//! Splits what a person typed into words.

use crate::spaced_path::quoted_path;

/// A word and its position.
#[derive(Clone, Debug)]
pub struct Word<'a> {
    /// As written, without the punctuation around it.
    pub raw: &'a str,
    /// Lower case, without diacritics, with straight apostrophes.
    pub folded: String,
    /// Offset of the first byte.
    pub start: usize,
    /// Offset after the last byte.
    pub end: usize,
    /// The punctuation before it.
    pub before: &'a str,
    /// The punctuation after it.
    pub after: &'a str,
}

impl Word<'_> {
    /// Whether the word is one of these (folded) words.
    pub fn is_any(&self, words: &[&str]) -> bool {
        words.contains(&self.folded.as_str())
    }

    /// Whether punctuation after it marks a pause.
    pub fn pauses(&self) -> bool {
        self.after
            .contains([',', ';', ':', '—', '–', ')', '(', '.', '!', '?'])
    }
}

/// Folds a text for comparison: lower case, without the diacritics of European alphabets, with straight apostrophes.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut folded = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '’' | '‘' | '`' | '´' => folded.push('\''),
            '\u{300}'..='\u{36f}' => {}
            'ß' | 'ẞ' => folded.push_str("ss"),
            _ => {
                for lower in letter.to_lowercase() {
                    folded.push(match lower {
                        'ă' | 'â' | 'á' | 'à' | 'ä' | 'ã' => 'a',
                        'î' | 'í' | 'ì' | 'ï' => 'i',
                        'ș' | 'ş' => 's',
                        'ț' | 'ţ' => 't',
                        'é' | 'è' | 'ê' | 'ë' => 'e',
                        'ó' | 'ò' | 'ô' | 'ö' | 'õ' | 'ő' | 'ø' => 'o',
                        'ú' | 'ù' | 'û' | 'ü' | 'ű' => 'u',
                        'ą' | 'å' => 'a',
                        'ę' => 'e',
                        'ç' | 'ć' => 'c',
                        'ł' => 'l',
                        'ñ' | 'ń' => 'n',
                        'ś' => 's',
                        'ź' | 'ż' => 'z',
                        // The combining dot that `İ` leaves in lower case.
                        '\u{307}' => continue,
                        other => other,
                    });
                }
            }
        }
    }
    folded
}

/// The number of letters with which both of two texts begin.
pub(crate) fn common_beginning(one: &str, other: &str) -> usize {
    let pairs = one.chars().zip(other.chars());
    pairs.take_while(|(one, other)| one == other).count()
}

/// Whether two texts are [folded](fold) to the same.
pub fn folds_alike(one: &str, other: &str) -> bool {
    // The fast path for nearly all texts.
    if one.is_ascii() && other.is_ascii() {
        one.eq_ignore_ascii_case(other)
    } else {
        fold(one) == fold(other)
    }
}

/// Contractions typed without an apostrophe.
const CONTRACTIONS: &[(&str, &str)] = &[
    ("arent", "aren't"),
    ("cant", "can't"),
    ("couldnt", "couldn't"),
    ("didnt", "didn't"),
    ("doesnt", "doesn't"),
    ("dont", "don't"),
    ("hasnt", "hasn't"),
    ("havent", "haven't"),
    ("isnt", "isn't"),
    ("ive", "i've"),
    ("lets", "let's"),
    ("mustnt", "mustn't"),
    ("shouldnt", "shouldn't"),
    ("thats", "that's"),
    ("theyre", "they're"),
    ("wasnt", "wasn't"),
    ("whats", "what's"),
    ("wont", "won't"),
    ("wouldnt", "wouldn't"),
    ("youre", "you're"),
];

/// A word folded, contractions with their apostrophe.
fn fold_word(word: &str) -> String {
    let folded = fold(word);
    if !folded.ends_with(['t', 'e', 's']) {
        return folded;
    }
    match CONTRACTIONS.binary_search_by(|(hurried, _)| (*hurried).cmp(&folded)) {
        Ok(at) => CONTRACTIONS[at].1.to_owned(),
        Err(_) => folded,
    }
}

/// Whether a character may begin or end a word.
fn is_word_character(letter: char) -> bool {
    letter.is_alphanumeric()
        || matches!(
            letter,
            '_' | '/' | '*' | '#' | '@' | '$' | '%' | '+' | '~' | '<' | '>' | '='
        )
}

/// The range of a word without Markdown's asterisks for bold text: `**not**`, or `**does` if several words are bold.
/// In a glob, such asterisks are next to a slash or a dot.
fn without_bold(token: &str, first: usize, last: usize) -> (usize, usize) {
    const BOLD: &str = "**";
    let is_letter = |letter: Option<char>| letter.is_some_and(char::is_alphabetic);
    let word = &token[first..last];
    let opens = word
        .strip_prefix(BOLD)
        .is_some_and(|rest| is_letter(rest.chars().next()));
    let closes = word
        .strip_suffix(BOLD)
        .is_some_and(|rest| is_letter(rest.chars().next_back()));
    let marks = |are_there| if are_there { BOLD.len() } else { 0 };
    (first + marks(opens), last - marks(closes))
}

/// The words of a text, in order. Words are separated by spaces, so that a path is one word.
pub fn words(text: &str) -> Vec<Word<'_>> {
    each_word(text).collect()
}

/// The [words](words()) of a text, one by one.
pub fn each_word(text: &str) -> impl Iterator<Item = Word<'_>> {
    let mut rest = 0;
    let mut pending: Option<Word<'_>> = None;
    std::iter::from_fn(move || {
        while let Some((start, end)) = next_token(text, rest) {
            rest = end;
            match word_in(text, start, end) {
                Some(word) => {
                    let before = pending.replace(word);
                    if before.is_some() {
                        return before;
                    }
                }
                // Punctuation alone belongs to the word before it.
                None => {
                    if let Some(word) = &mut pending {
                        word.after = match &text[start..end] {
                            "-" => "—",
                            _ => &text[word.end..end],
                        };
                    }
                }
            }
        }
        pending.take()
    })
}

/// The range of the next run without white space from `from` on; white space in a quoted path, or after a backslash, is part of
/// it. A dash without spaces also ends it.
fn next_token(text: &str, from: usize) -> Option<(usize, usize)> {
    let start = from + text[from..].find(|letter: char| !letter.is_whitespace())?;
    let run = &text[start..];
    let path = quoted_path(run).unwrap_or_default();
    let is_escaped = |at: usize| run[..at].ends_with('\\') && !run[..at].ends_with(" \\") && at > 1;
    let stop = run.char_indices().find(|(at, letter)| {
        *at >= path
            && (letter.is_whitespace() && !(*letter == ' ' && is_escaped(*at))
                || *at > 0 && matches!(letter, '—' | '–'))
    });
    let end = match stop {
        Some((at, letter)) if letter.is_whitespace() => start + at,
        Some((at, dash)) => start + at + dash.len_utf8(),
        None => text.len(),
    };
    Some((start, end))
}

/// The word in the token at `start..end`, if it is more than punctuation.
fn word_in(text: &str, start: usize, end: usize) -> Option<Word<'_>> {
    let token = &text[start..end];
    let mut first = token.find(is_word_character)?;
    if token[first..].starts_with("@\"") {
        first += 2;
    }
    let last = token
        .char_indices()
        .rfind(|(_, letter)| is_word_character(*letter))
        .map(|(at, letter)| at + letter.len_utf8())?;
    let (mut first, mut last) = without_bold(token, first, last);
    // The dot of `.env` and the brackets of `run()` belong to the word.
    if token[..first].ends_with('.') && !token[..first].ends_with("..") {
        first -= 1;
    }
    if token[last..].starts_with("()") {
        last += 2;
    }
    Some(Word {
        raw: &token[first..last],
        folded: fold_word(&token[first..last]),
        start: start + first,
        end: start + last,
        before: &token[..first],
        after: &token[last..],
    })
}

/// The number of words that a phrase (folded words, separated by one space) takes at `at`, if it occurs there.
pub fn phrase_at(words: &[Word<'_>], at: usize, phrase: &str) -> Option<usize> {
    let mut rest = phrase;
    let mut count = 0;
    loop {
        rest = rest.strip_prefix(words.get(at + count)?.folded.as_str())?;
        count += 1;
        if rest.is_empty() {
            return Some(count);
        }
        rest = rest.strip_prefix(' ')?;
    }
}

/// The length in words of the longest of these phrases at `at`.
pub fn any_phrase_at(words: &[Word<'_>], at: usize, phrases: &[&str]) -> Option<usize> {
    let first = words.get(at)?.folded.as_bytes();
    phrases
        .iter()
        // The fast path for nearly all phrases.
        .filter(|phrase| phrase.len() >= first.len() && phrase.as_bytes().first() == first.first())
        .filter_map(|phrase| phrase_at(words, at, phrase))
        .max()
}

/// The index of the first word at which one of these phrases occurs.
pub fn find_phrase(words: &[Word<'_>], phrases: &[&str]) -> Option<usize> {
    (0..words.len()).find(|at| any_phrase_at(words, *at, phrases).is_some())
}

/// Whether one of these phrases occurs.
pub fn has_phrase(words: &[Word<'_>], phrases: &[&str]) -> bool {
    find_phrase(words, phrases).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_fold_alike_in_any_script() {
        for (one, other) in [
            ("Retry", "rETRY"),
            ("Rulează", "ruleaza"),
            ("Șterge", "ŞTERGE"),
            ("dont’t", "DONT'T"),
            ("", "\u{301}"),
        ] {
            assert!(
                folds_alike(one, other) && folds_alike(other, one),
                "{one} {other}"
            );
            assert_eq!(fold(one), fold(other));
        }
        for (one, other) in [("retry", "retries"), ("ă", "b"), ("a", "ab"), ("日本", "日")] {
            assert!(
                !folds_alike(one, other) && !folds_alike(other, one),
                "{one} {other}"
            );
        }
    }

    #[test]
    fn a_phrase_is_found_word_by_word() {
        let found = words("do not touch — do nothing");
        assert_eq!(phrase_at(&found, 0, "do not"), Some(2));
        assert_eq!(phrase_at(&found, 0, "do"), Some(1));
        assert_eq!(phrase_at(&found, 0, "do no"), None);
        assert_eq!(phrase_at(&found, 3, "do not"), None);
        assert_eq!(phrase_at(&found, 4, "nothing else"), None);
        assert_eq!(phrase_at(&found, 5, "nothing"), None);
        assert_eq!(
            any_phrase_at(&found, 0, &["not", "do", "do not touch", "do not"]),
            Some(3)
        );
        assert_eq!(find_phrase(&found, &["nothing", "not touch"]), Some(1));
        assert!(!has_phrase(&found, &["touch nothing", "to"]));
    }

    #[test]
    fn paths_are_single_words_and_pauses_are_found() {
        let text = "Nu atinge `src/a.rs`, dar rulează run() și .env — gata!";
        let found = words(text);
        let folded: Vec<&str> = found.iter().map(|word| word.folded.as_str()).collect();
        assert_eq!(
            folded,
            [
                "nu", "atinge", "src/a.rs", "dar", "ruleaza", "run()", "si", ".env", "gata"
            ]
        );
        assert_eq!(found[2].after, "`,");
        assert!(found[2].pauses() && found[7].pauses() && !found[3].pauses());
        assert_eq!(&text[found[4].start..found[4].end], "rulează");
    }

    #[test]
    fn paths_with_spaces_are_single_words() {
        let text = "Leave \"docs/My Notes/plan.md\", src/Old\\ Code/a.ts and @\"old docs\" alone";
        let raw: Vec<&str> = words(text).iter().map(|word| word.raw).collect();
        assert_eq!(
            raw,
            [
                "Leave",
                "docs/My Notes/plan.md",
                "src/Old\\ Code/a.ts",
                "and",
                "old docs",
                "alone"
            ]
        );
    }

    #[test]
    fn bold_words_are_words_and_globs_stay_whole() {
        let text = "it **does not commit**, **ever** in src/** or **/a.rs, **.css and **.";
        let found = words(text);
        let folded: Vec<&str> = found.iter().map(|word| word.folded.as_str()).collect();
        assert_eq!(
            folded,
            [
                "it", "does", "not", "commit", "ever", "in", "src/**", "or", "**/a.rs", "**.css", "and", "**"
            ]
        );
        assert_eq!((found[1].before, found[3].after), ("**", "**,"));
        assert!(found[3].pauses());
    }
}
