//! Finds the seed phrases of wallets: 12 to 24 words of the English list of BIP-39.

use crate::scan::{Certainty, Scan};
use std::ops::Range;
use std::sync::LazyLock;

/// The English word list of BIP-39 (from the crate `bip39`, CC0), in order.
static WORDS: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| include_str!("seed_words.txt").lines().collect());

/// Words before a seed phrase.
#[rustfmt::skip]
pub(crate) const SEED_WORDS: &[&str] = &[
    "mnemonic", "seed phrase", "seed-phrase", "seed_phrase", "seedphrase", "seed words", "recovery phrase", "secret phrase",
    "recovery words",
    "backup phrase", "wallet", "phrase de récupération", "phrase secrète", "frase semilla", "frase de recuperación", "frase semente",
    "frase segreta", "seed:", "seed=", "мнемоник", "сид-фраз", "сид фраз", "seed is", "助记词", "助記詞", "ニーモニック", "シードフレーズ", "니모닉", "시드",
    "wiederherstellungsphrase", "herstelzin", "fraza", "tohum", "mnemonik",
];

/// Least number of words of a seed phrase.
const LEAST: usize = 12;
/// Most words of a seed phrase.
const MOST: usize = 24;
/// Number of bytes after a keyword in which a phrase begins.
const MAX_DISTANCE: usize = 120;

/// Finds the phrase after a word such as "mnemonic".
pub(crate) fn phrase(scan: &mut Scan<'_>, keyword: Range<usize>) {
    let to = scan
        .text
        .floor_char_boundary(keyword.end.saturating_add(MAX_DISTANCE));
    let mut at = keyword.end;
    while at < to {
        match phrase_at(scan.bytes, at) {
            Ok(range) => return scan.found("secret", Certainty::Place, range),
            Err(next) => at = next,
        }
    }
}

/// Finds the phrase, or the key pair, that fills the line around a place. Returns the end of the line.
pub(crate) fn line_around(scan: &mut Scan<'_>, at: usize) -> usize {
    const LONGEST: usize = 420;
    let bytes = scan.bytes;
    let from = at.saturating_sub(LONGEST);
    let start = memchr::memrchr(b'\n', &bytes[from..at]).map_or(from, |found| from + found + 1);
    let rest = &bytes[at..bytes.len().min(at + LONGEST)];
    let end = at + memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    let line = &bytes[..end];
    if bytes.get(start) == Some(&b'[') {
        if let Some(range) = key_pair_at(line, start) {
            scan.found("private-key", Certainty::Form, range);
        }
    } else if let Ok(range) = phrase_at(line, start)
        && line[start..range.start].iter().all(|byte| *byte == b' ')
        && line[range.end..].iter().all(u8::is_ascii_whitespace)
    {
        scan.found("secret", Certainty::Form, range);
    }
    end
}

/// Returns the range of a key pair of Solana: an array of 64 bytes.
fn key_pair_at(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    const MAX_ARRAY: usize = 400;
    let array = &bytes[at + 1..bytes.len().min(at + MAX_ARRAY)];
    let length = array.iter().position(|byte| *byte == b']')?;
    let numbers = std::str::from_utf8(&array[..length]).ok()?;
    let mut count = 0;
    for number in numbers.split(',') {
        number.trim().parse::<u8>().ok()?;
        count += 1;
    }
    (count == 64).then_some(at..at + length + 2)
}

/// Returns the phrase whose first word is the next one from `at` on, or where the word after that starts.
fn phrase_at(bytes: &[u8], at: usize) -> Result<Range<usize>, usize> {
    let mut words = 0;
    let mut known = 0;
    let mut end = at;
    let mut start = None;
    let mut next = None;
    while words < MOST {
        let from = end
            + bytes[end..]
                .iter()
                .take(8)
                .take_while(|byte| separates(**byte))
                .count();
        let length = bytes[from..]
            .iter()
            .take(12)
            .take_while(|byte| byte.is_ascii_lowercase())
            .count();
        let ends_word = bytes
            .get(from + length)
            .is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_' && *byte < 128);
        let is_word = (3..=8).contains(&length) && ends_word;
        if start.is_none() {
            let skipped = length
                .max(
                    bytes[from..]
                        .iter()
                        .take(64)
                        .take_while(|byte| !separates(**byte))
                        .count(),
                )
                .max(1);
            next = Some(from + skipped);
        }
        if !is_word || from == end && start.is_some() {
            break;
        }
        let is_known = is_known(&bytes[from..from + length]);
        // Nearly all words are in the list, and the first ones are.
        if !is_known && known * 8 < (words + 1) * 7 - 8.min(words + 1) {
            break;
        }
        start.get_or_insert(from);
        words += 1;
        known += usize::from(is_known);
        end = from + length;
    }
    match start {
        Some(start) if words >= LEAST && known * 10 >= words * 8 && is_varied(&bytes[start..end]) => {
            Ok(start..end)
        }
        _ => Err(next.unwrap_or(at + 1).max(at + 1)),
    }
}

/// Returns whether most words are different: a text of tests repeats one.
fn is_varied(phrase: &[u8]) -> bool {
    let mut words: Vec<&[u8]> = phrase
        .split(|byte| !byte.is_ascii_lowercase())
        .filter(|word| !word.is_empty())
        .collect();
    let all = words.len();
    words.sort_unstable();
    words.dedup();
    words.len() * 4 >= all * 3
}

/// Returns whether a byte may stand between two words of a phrase: spaces, commas, quotes and the numbers of a list.
fn separates(byte: u8) -> bool {
    byte.is_ascii_whitespace()
        || byte.is_ascii_digit()
        || matches!(
            byte,
            b',' | b'.' | b')' | b'"' | b'\'' | b'`' | b'-' | b':' | b'=' | b'[' | b'('
        )
}

/// Returns whether the list has a word.
fn is_known(word: &[u8]) -> bool {
    WORDS.binary_search_by(|known| known.as_bytes().cmp(word)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Redactor;

    #[test]
    fn the_list_is_sorted_and_complete() {
        assert_eq!(WORDS.len(), 2048);
        assert!(WORDS.is_sorted());
    }

    #[test]
    fn a_phrase_of_any_length_is_found_after_its_word_or_alone_on_its_line() {
        for count in [12, 15, 18, 21, 24] {
            let words: Vec<&str> = (0..count).map(|at| WORDS[(at * 397 + 11) % 2048]).collect();
            let phrase = words.join(" ");
            let numbered: Vec<String> = words
                .iter()
                .enumerate()
                .map(|(at, word)| format!("{}. {word}", at + 1))
                .collect();
            for text in [
                format!("use mnemonic \"{phrase}\" for sepolia"),
                format!("MNEMONIC={phrase}"),
                format!("my seed phrase is {phrase}, keep it"),
                format!("助记词: {phrase}"),
                format!("wallet backup\n{phrase}\nend"),
                phrase.clone(),
                format!("recovery phrase:\n{}", numbered.join("\n")),
                format!("mnemonic: [\"{}\"]", words.join("\", \"")),
            ] {
                let masked = Redactor::shared().redact(&text);
                assert!(
                    !masked.contains(words[3]) && !masked.contains(words[count - 1]),
                    "{masked}"
                );
                assert_eq!(Redactor::shared().redact(&masked), masked, "twice");
            }
        }
    }

    #[test]
    fn a_sentence_is_no_phrase() {
        for text in [
            "the wallet page should show the balance of the account and the last ten payments in a table",
            "generate a mnemonic with twelve words and show it to the user only once before they confirm it",
            "this test will check that when there is no page left they just stop and then return what they have",
        ] {
            assert_eq!(Redactor::shared().redact(text), text);
        }
    }
}
