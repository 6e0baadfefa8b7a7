//! Words and sentences, as far as the rules need them.

use crate::private::without_private;

/// A word and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Word<'a> {
    /// As written, without the punctuation around it.
    pub(super) raw: &'a str,
    /// Lower case, without diacritics, with straight apostrophes.
    pub(super) folded: String,
    /// Offset of the first byte.
    pub(super) start: usize,
    /// Offset behind the last byte.
    pub(super) end: usize,
    /// The punctuation before it.
    pub(super) before: &'a str,
    /// The punctuation behind it.
    pub(super) after: &'a str,
}

impl Word<'_> {
    /// Whether the word is one of these (folded) words.
    pub(super) fn is_any(&self, words: &[&str]) -> bool {
        words.contains(&self.folded.as_str())
    }

    /// Whether a pause is written behind it.
    pub(super) fn pauses(&self) -> bool {
        self.after
            .contains([',', ';', ':', '—', '–', ')', '(', '.', '!', '?'])
    }
}

/// Lower case, without the diacritics of Romanian and its neighbours, with straight apostrophes.
pub(super) fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut folded = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '’' | '‘' | '`' | '´' => folded.push('\''),
            '\u{300}'..='\u{36f}' => {}
            _ => {
                for lower in letter.to_lowercase() {
                    folded.push(match lower {
                        'ă' | 'â' | 'á' | 'à' | 'ä' | 'ã' => 'a',
                        'î' | 'í' | 'ì' | 'ï' => 'i',
                        'ș' | 'ş' => 's',
                        'ț' | 'ţ' => 't',
                        'é' | 'è' | 'ê' | 'ë' => 'e',
                        'ó' | 'ò' | 'ô' | 'ö' => 'o',
                        'ú' | 'ù' | 'û' | 'ü' => 'u',
                        // Left behind where a capital letter with a mark is lowered.
                        '\u{307}' => continue,
                        other => other,
                    });
                }
            }
        }
    }
    folded
}

/// Contractions as they are typed in a hurry.
const HURRIED: &[(&str, &str)] = &[
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
    ("wasnt", "wasn't"),
    ("whats", "what's"),
    ("wont", "won't"),
];

/// A word folded, contractions with their apostrophe.
fn fold_word(word: &str) -> String {
    let folded = fold(word);
    match HURRIED.iter().find(|(hurried, _)| *hurried == folded) {
        Some((_, full)) => (*full).to_owned(),
        None => folded,
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

/// The words of a text, in order. What stands between spaces is one word, so that a path stays whole.
pub(super) fn words(text: &str) -> Vec<Word<'_>> {
    let mut found: Vec<Word<'_>> = Vec::new();
    let mut rest = 0;
    while rest < text.len() {
        let tail = &text[rest..];
        let Some(offset) = tail.find(|letter: char| !letter.is_whitespace()) else {
            break;
        };
        let start = rest + offset;
        let run = &text[start..];
        // A dash written without spaces separates as well.
        let stop = run
            .char_indices()
            .find(|(at, letter)| letter.is_whitespace() || *at > 0 && matches!(letter, '—' | '–'));
        let end = match stop {
            Some((at, letter)) if letter.is_whitespace() => start + at,
            Some((at, dash)) => start + at + dash.len_utf8(),
            None => text.len(),
        };
        rest = end;
        let token = &text[start..end];
        let first = token.find(is_word_character);
        let last = token
            .char_indices()
            .rfind(|(_, letter)| is_word_character(*letter))
            .map(|(at, letter)| at + letter.len_utf8());
        match (first, last) {
            (Some(first), Some(mut last)) => {
                // The dot of `.env` and the brackets of `run()` belong to the word.
                let mut first = first;
                if token[..first].ends_with('.') && !token[..first].ends_with("..") {
                    first -= 1;
                }
                if token[last..].starts_with("()") {
                    last += 2;
                }
                found.push(Word {
                    raw: &token[first..last],
                    folded: fold_word(&token[first..last]),
                    start: start + first,
                    end: start + last,
                    before: &token[..first],
                    after: &token[last..],
                });
            }
            _ => {
                // Punctuation alone, a dash or a smiley: it belongs to the word before.
                if let Some(word) = found.last_mut() {
                    let from = word.end;
                    word.after = &text[from..end];
                    if token == "-" {
                        word.after = "—";
                    }
                }
            }
        }
    }
    found
}

/// How many words the phrase (folded words, one space between) takes if it stands at `at`.
pub(super) fn phrase_at(words: &[Word<'_>], at: usize, phrase: &str) -> Option<usize> {
    // Nearly every comparison ends here.
    if words.get(at)?.folded.as_bytes().first() != phrase.as_bytes().first() {
        return None;
    }
    let mut count = 0;
    for part in phrase.split(' ') {
        if words.get(at + count)?.folded != part {
            return None;
        }
        count += 1;
    }
    Some(count)
}

/// The longest of these phrases that stands at `at`, in words.
pub(super) fn any_phrase_at(words: &[Word<'_>], at: usize, phrases: &[&str]) -> Option<usize> {
    phrases
        .iter()
        .filter_map(|phrase| phrase_at(words, at, phrase))
        .max()
}

/// Where the first of these phrases stands.
pub(super) fn find_phrase(words: &[Word<'_>], phrases: &[&str]) -> Option<usize> {
    (0..words.len()).find(|at| any_phrase_at(words, *at, phrases).is_some())
}

/// Whether one of these phrases occurs.
pub(super) fn has_phrase(words: &[Word<'_>], phrases: &[&str]) -> bool {
    find_phrase(words, phrases).is_some()
}

/// Of more sentences the middle is not looked at.
const MOST_SENTENCES: usize = 240;

/// Where nobody ends a sentence it is ended after so many bytes, before the next word.
const LONGEST_SENTENCE: usize = 900;

/// Abbreviations whose dot ends no sentence.
#[rustfmt::skip]
const ABBREVIATIONS: &[&str] = &[
    "e.g", "i.e", "etc", "vs", "cf", "ex", "nr", "approx", "resp", "incl", "dvs",
];

/// The sentences of a text: ended by `.`, `!`, `?` or `;` before a space, by a blank line, a list item, or a line end
/// behind which a new line begins with a capital or a bullet.
pub(super) fn sentences(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut pending = String::new();
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            flush(&mut pending, &mut found);
            continue;
        }
        let (item, is_item) = without_bullet(trimmed);
        let goes_on =
            !is_item && item.chars().next().is_some_and(char::is_lowercase) && !pending.ends_with(':');
        if !goes_on {
            flush(&mut pending, &mut found);
        }
        if !pending.is_empty() {
            pending.push(' ');
        }
        let mut start = 0;
        for (at, letter) in item.char_indices() {
            if at < start {
                continue;
            }
            let length = pending.len() + at - start;
            let endless = length > LONGEST_SENTENCE && letter == ' ' || length > 4 * LONGEST_SENTENCE;
            if endless {
                pending.push_str(&item[start..at]);
                start = at;
                flush(&mut pending, &mut found);
            }
            if !matches!(letter, '.' | '!' | '?' | ';') {
                continue;
            }
            let closing = item[at + 1..].len() - item[at + 1..].trim_start_matches([')', '"', '”']).len();
            let behind = &item[at + 1 + closing..];
            let ends = behind.chars().next().is_none_or(char::is_whitespace);
            if !ends || (letter == '.' && is_abbreviation(&item[start..at])) {
                continue;
            }
            pending.push_str(&item[start..at + 1 + closing]);
            start = at + 1 + closing;
            flush(&mut pending, &mut found);
        }
        pending.push_str(item[start..].trim_start());
    }
    flush(&mut pending, &mut found);
    found
}

/// Whether the text ends with an abbreviation, or with the number of a list.
fn is_abbreviation(text: &str) -> bool {
    let last = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    let last = fold(last.trim_start_matches(['(', '"']));
    ABBREVIATIONS.contains(&last.as_str())
        || (!last.is_empty() && last.bytes().all(|b| b.is_ascii_digit()) && last == text.trim())
}

/// The sentences that are looked at: the first and the last ones of many.
pub(super) fn leading_sentences(text: &str) -> Vec<String> {
    let mut found = sentences(text);
    if found.len() > MOST_SENTENCES {
        let surplus = found.len() - MOST_SENTENCES;
        let from = MOST_SENTENCES * 2 / 3;
        found.drain(from..from + surplus);
    }
    found
}

fn flush(pending: &mut String, found: &mut Vec<String>) {
    let sentence = pending.trim();
    if sentence.chars().any(char::is_alphanumeric) {
        found.push(sentence.to_owned());
    }
    pending.clear();
}

/// A line without its list mark, and whether it had one.
fn without_bullet(line: &str) -> (&str, bool) {
    for bullet in ["- [ ] ", "- [x] ", "- ", "* ", "• ", "+ ", "– ", "— ", "> "] {
        if let Some(rest) = line.strip_prefix(bullet) {
            return (rest.trim_start(), true);
        }
    }
    let marked = line.trim_start_matches('#');
    if marked.len() < line.len() && marked.starts_with(' ') {
        return (marked.trim(), true);
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    if (1..=3).contains(&digits) {
        let rest = &line[digits..];
        if let Some(rest) = rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") ")) {
            return (rest.trim_start(), true);
        }
    }
    (line, false)
}

/// At most `limit` characters, cut behind a word where there is one; white space becomes single spaces.
pub(super) fn shorten(text: &str, limit: usize) -> String {
    let mut short = String::new();
    let mut count = 0;
    for word in without_private(text).split_whitespace() {
        let length = word.chars().count();
        let space = usize::from(count > 0);
        if count + space + length > limit {
            let left = limit.saturating_sub(count + space + 1);
            // A single endless word is cut; the remainder of an ordinary sentence is left out.
            if count == 0 || length > 40 && left > 20 {
                short.extend((space == 1).then_some(' '));
                short.extend(word.chars().take(left));
            }
            if short.chars().count() < limit {
                short.push('…');
            }
            break;
        }
        short.extend((space == 1).then_some(' '));
        short.push_str(word);
        count += space + length;
    }
    short
}

/// Whether a sentence asks, by its mark.
pub(super) fn ends_with_question(sentence: &str) -> bool {
    sentence
        .trim_end_matches([' ', ')', '"', '*', '_', '”', '!', '\''])
        .ends_with('?')
}

/// Adds `item` unless an equal one (case aside) is there or the list is full.
pub(super) fn push_new(list: &mut Vec<String>, item: String, limit: usize) {
    if item.is_empty() || list.len() >= limit {
        return;
    }
    let folded = fold(&item);
    if !list.iter().any(|known| fold(known) == folded) {
        list.push(item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_paths_whole_and_know_their_pauses() {
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
    fn sentences_end_where_a_reader_would_end_them() {
        let found = sentences(
            "Fix e.g. src/a.rs now. Then\nrun the tests!\n\n1. Add docs\n2. Keep it short; no more\nWhy?",
        );
        assert_eq!(
            found,
            [
                "Fix e.g. src/a.rs now.",
                "Then run the tests!",
                "Add docs",
                "Keep it short;",
                "no more",
                "Why?"
            ]
        );
    }

    #[test]
    fn shortened_text_is_within_its_limit() {
        assert_eq!(shorten("a  b\nc", 200), "a b c");
        assert_eq!(shorten("alpha beta gamma", 11), "alpha beta…");
        assert_eq!(shorten(&"x".repeat(500), 10).chars().count(), 10);
        assert_eq!(shorten(&"ș".repeat(500), 10).chars().count(), 10);
    }
}
