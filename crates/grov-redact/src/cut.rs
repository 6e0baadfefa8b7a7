//! Truncates texts without exposing part of a secret. The redactor does not recognize part of a secret, so a cut never splits a
//! word, and never separates a secret from the words before it that identify it.

use crate::own_text::{OWN_TEXT_CLOSING, OWN_TEXT_OPENING};
use std::borrow::Cow;

/// Replaces a word that exceeds the limit.
const LEFT_OUT: &str = "[…]";

/// Words that are dropped after a cut word, because it may have identified them as a secret: `Authorization: Bearer …`.
const WORDS_AFTER_CUT: usize = 2;

/// The start of the last line of a PEM key.
const KEY_END: &str = "-----END ";
const KEY_BEGINNING: &str = "-----BEGIN ";

/// The opening and closing tags of hidden parts. A hidden part that lost one of its tags would not be recognized.
const HIDDEN: [(&str, &str); 2] = [("<private", "</private"), (OWN_TEXT_OPENING, OWN_TEXT_CLOSING)];

/// Returns the beginning of a text, at most `most` characters (at least 3), up to the end of a word. If the first word is longer,
/// returns `[…]`.
///
/// ```
/// assert_eq!(grov_redact::beginning_of("fix the bug", 9), "fix the");
/// ```
pub fn beginning_of(text: &str, most: usize) -> &str {
    match text.char_indices().nth(most) {
        Some((at, _)) => beginning_to(text, at),
        None => text,
    }
}

/// Returns the beginning of a text up to the byte offset `at`, without a word that continues after it.
///
/// # Panics
/// If `at` is not on a character boundary.
pub fn beginning_to(text: &str, at: usize) -> &str {
    let beginning = &text[..at];
    if text[at..].chars().next().is_none_or(char::is_whitespace) {
        return beginning;
    }
    let end = beginning
        .char_indices()
        .rev()
        .find(|(_, letter)| separates(*letter));
    let kept = match end {
        Some((at, letter)) if letter.is_whitespace() => beginning[..at].trim_end(),
        Some((at, letter)) => &beginning[..at + letter.len_utf8()],
        None => "",
    };
    if kept.is_empty() { LEFT_OUT } else { kept }
}

/// Returns the end of a text, at most `most` characters (at least 3), from the start of a word or of a line. If the last word is
/// longer, returns `[…]`.
pub fn end_of(text: &str, most: usize) -> &str {
    match text.char_indices().rev().nth(most.saturating_sub(1)) {
        Some((at, _)) => end_from(text, at),
        None => text,
    }
}

/// Returns the end of a text from the byte offset `at`, without the rest of a word, a hidden part or a key that started before.
///
/// # Panics
/// If `at` is not on a character boundary.
pub fn end_from(text: &str, at: usize) -> &str {
    if at == 0 {
        return text;
    }
    let end = after_hidden(text, at);
    let end = after_key(end);
    let kept = without_cut_word(end);
    if kept.is_empty() && !end.trim().is_empty() {
        LEFT_OUT
    } else {
        kept
    }
}

/// Removes a cut word from the start of a text. If a line starts in the first quarter, the result starts there. Otherwise the first
/// word and up to [`WORDS_AFTER_CUT`] words in the first half are removed.
fn without_cut_word(text: &str) -> &str {
    let near = text.floor_char_boundary(text.len() / 4);
    let half = text.len() / 2;
    if let Some(line) = text[..near].find('\n') {
        return &text[line + 1..];
    }
    let mut kept = after_word(text);
    for _ in 0..WORDS_AFTER_CUT {
        let rest = after_word(kept);
        if text.len() - rest.len() > half {
            break;
        }
        kept = rest;
    }
    kept
}

fn after_word(text: &str) -> &str {
    match text.char_indices().find(|(_, letter)| separates(*letter)) {
        Some((at, letter)) if letter.is_whitespace() => text[at..].trim_start(),
        Some((at, letter)) => &text[at + letter.len_utf8()..],
        None => "",
    }
}

/// Returns whether a text can be cut at this character: at white space, or between the letters of a script without spaces.
fn separates(letter: char) -> bool {
    letter.is_whitespace() || is_unspaced(letter)
}

/// Returns the text after a key whose start is missing.
fn after_key(text: &str) -> &str {
    let Some(end) = text.find(KEY_END) else {
        return text;
    };
    if text[..end].contains(KEY_BEGINNING) {
        return text;
    }
    let after = &text[end + KEY_END.len()..];
    after.find("-----").map_or("", |dashes| &after[dashes..])
}

/// Returns `text` from `at` on, without the rest of a hidden part that started before.
fn after_hidden(text: &str, at: usize) -> &str {
    let end = &text[at..];
    if hidden_since(&text[..at]).is_none() {
        return end;
    }
    let closings = HIDDEN.iter().filter_map(|(_, closing)| {
        let mut tags = end.rmatch_indices('<').map(|(tag, _)| tag);
        let closed = tags.find(|&tag| begins_with(&end[tag..], closing))?;
        let after = end[closed..]
            .find('>')
            .map_or(end.len(), |close| closed + close + 1);
        Some(after)
    });
    &end[closings.max().unwrap_or(end.len())..]
}

/// Returns both ends of a text, at most `most` bytes each, with `between` in place of the rest. Neither contains part of a word, a
/// hidden part or a key. A text of at most twice `most` bytes is returned unchanged.
pub fn both_ends<'t>(text: &'t str, most: usize, between: &str) -> Cow<'t, str> {
    if text.len() <= 2 * most {
        return Cow::Borrowed(text);
    }
    let (beginning, end) = ends(text, most);
    Cow::Owned([beginning, between, end].concat())
}

/// Returns both ends of a text, at most `most` bytes each.
fn ends(text: &str, most: usize) -> (&str, &str) {
    let beginning = beginning_to(text, text.floor_char_boundary(most));
    let beginning = &beginning[..hidden_since(beginning).unwrap_or(beginning.len())];
    (
        beginning,
        end_from(text, text.ceil_char_boundary(text.len() - most)),
    )
}

/// Returns a text in at most `most` bytes (at least 256): unchanged, or both ends with a line between them that gives the number of
/// omitted bytes. Redact the text first.
pub fn bounded(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let (beginning, end) = ends(text, most.saturating_sub(MAX_COUNT_LINE) / 2);
    let left_out = text.len().saturating_sub(beginning.len() + end.len());
    Cow::Owned(format!("{beginning}\n[… {left_out} bytes left out …]\n{end}"))
}

/// Maximum length of the line that [`bounded`] inserts, in bytes.
const MAX_COUNT_LINE: usize = 128;

/// Returns the offset of the hidden part in which `text` ends, or `None` if it does not end in one. Hidden parts are text between
/// `<private>` tags and text that Grov injected.
pub fn hidden_since(text: &str) -> Option<usize> {
    let mut since = [None; HIDDEN.len()];
    for (tag, _) in text.match_indices('<') {
        for (since, (opening, closing)) in since.iter_mut().zip(&HIDDEN) {
            if begins_with(&text[tag..], closing) {
                *since = None;
            } else if since.is_none() && begins_with(&text[tag..], opening) {
                *since = Some(tag);
            }
        }
    }
    since.into_iter().flatten().min()
}

fn begins_with(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// Returns whether the character belongs to a script without spaces between words.
pub fn is_unspaced(character: char) -> bool {
    matches!(character,
        '\u{0e00}'..='\u{0eff}'   // Thai, Lao
        | '\u{1000}'..='\u{109f}' // Burmese
        | '\u{1780}'..='\u{17ff}' // Khmer
        | '\u{3040}'..='\u{30ff}' // Hiragana, Katakana
        | '\u{3400}'..='\u{9fff}' // Han
        | '\u{ac00}'..='\u{d7af}' // Hangul: its spaces do not part a noun from its ending
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";

    #[test]
    fn cut_never_splits_a_word() {
        let text = format!("one two three {TOKEN} four five six seven eight nine ten");
        for most in 3..text.len() + 2 {
            for kept in [beginning_of(&text, most), end_of(&text, most)] {
                assert!(kept.chars().count() <= most.max(LEFT_OUT.len()));
                let is_whole = |word: &str| word == LEFT_OUT || text.split(' ').any(|known| known == word);
                assert!(kept.split(' ').all(is_whole), "{most}: {kept}");
            }
        }
        assert_eq!(end_of(&text, text.len()), text);
        assert_eq!(beginning_of(&text, text.len()), text);
    }

    #[test]
    fn cut_keeps_a_secret_with_the_words_before_it() {
        let rest = "word ".repeat(20);
        let text = format!("Authorization: Bearer hunter2hunter2 {rest}");
        for most in rest.len()..text.len() {
            let kept = end_of(&text, most);
            assert!(!kept.contains("hunter2"), "{most}: {kept}");
        }
        let text = format!("the password is: a b c d\n{rest}");
        assert_eq!(end_of(&text, rest.len() + 5), rest);
    }

    #[test]
    fn too_long_word_is_replaced() {
        let long = "x".repeat(100);
        assert_eq!(end_of(&long, 10), LEFT_OUT);
        assert_eq!(beginning_of(&long, 10), LEFT_OUT);
        assert_eq!(end_of(&format!("{long} end"), 10), "end");
        assert_eq!(beginning_of(&format!("begin {long}"), 10), "begin");
    }

    #[test]
    fn text_without_spaces_is_cut_between_letters() {
        let text = "漢".repeat(100);
        assert_eq!(beginning_of(&text, 10).chars().count(), 10);
        assert!(end_of(&text, 20).chars().count() > 10);
    }

    #[test]
    fn bounded_text_keeps_both_ends_and_counts_the_rest() {
        let text = format!("first {}last", "word ".repeat(1000));
        let kept = bounded(&text, 512);
        assert!(kept.len() <= 512, "{}", kept.len());
        assert!(
            kept.starts_with("first word") && kept.ends_with("word last"),
            "{kept}"
        );
        let (beginning, rest) = kept.split_once("\n[… ").unwrap();
        let (count, end) = rest.split_once(" bytes left out …]\n").unwrap();
        assert_eq!(
            beginning.len() + end.len() + count.parse::<usize>().unwrap(),
            text.len()
        );
        assert_eq!(bounded(&kept, 512), kept, "the second time nothing changes");
        assert_eq!(bounded("short", 512), "short");
        for endless in ["x".repeat(100_000), "漢".repeat(50_000), "x\n".repeat(50_000)] {
            assert!(bounded(&endless, 1024).len() <= 1024);
        }
    }

    #[test]
    fn cut_inside_a_key_leaves_nothing_of_it() {
        let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n";
        let key = format!(
            "-----BEGIN PRIVATE KEY-----\n{}SPNPicTggLw\n-----END PRIVATE KEY-----\nall is well",
            line.repeat(5)
        );
        for most in 12..key.len() {
            let kept = end_of(&key, most);
            assert!(
                kept.contains("BEGIN") || !kept.contains("SPNP") && !kept.contains("MIIE"),
                "{kept}"
            );
        }
    }

    #[test]
    fn both_ends_are_whole() {
        assert_eq!(both_ends("short", 3, "\n"), "short");
        let text = format!(
            "fix src/auth/token.ts {TOKEN} {} see src/web/page.ts",
            "and so on ".repeat(9)
        );
        for most in 3..text.len() / 2 {
            let ends = both_ends(&text, most, " | ");
            let is_whole =
                |word: &str| matches!(word, LEFT_OUT | "|") || text.split(' ').any(|known| known == word);
            assert!(ends.split_whitespace().all(is_whole), "{most}: {ends}");
        }
        let hidden = format!("a <private>{}</private> z", "zebra ".repeat(50));
        assert!(!both_ends(&hidden, 100, "\n").contains("zebra"));
    }

    #[test]
    fn cut_inside_a_hidden_part_exposes_nothing() {
        let text = "<private>all of it</private> shown to all";
        assert_eq!(end_from(text, 12), "shown to all");
        assert_eq!(
            end_from("a <private>b</private> c", 0),
            "a <private>b</private> c"
        );
        assert_eq!(end_from("<private>never closed", 12), "");
        assert_eq!(hidden_since("a <PRIVATE>b"), Some(2));
        assert_eq!(hidden_since("a <private>b</private>"), None);
    }
}
