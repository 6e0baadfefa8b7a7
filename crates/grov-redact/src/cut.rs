//! Truncates texts without exposing parts of secrets. Part of a secret is not recognised as one, so no word is cut in two,
//! and a word is never separated from the words that announce it as a secret.

use crate::own_text::{OWN_TEXT_CLOSING, OWN_TEXT_OPENING};
use std::borrow::Cow;

/// Replaces a word that is longer than the limit.
const LEFT_OUT: &str = "[…]";

/// Words that go with the one that was cut, as they may be what it announced: `Authorization: Bearer` and what follows.
const ANNOUNCED: usize = 2;

/// The last line of a key in PEM begins so, and ends with dashes.
const KEY_END: &str = "-----END ";
const KEY_BEGINNING: &str = "-----BEGIN ";

/// Parts of a text that nobody is shown, and how they end. Cut in the middle they would no longer be known for what
/// they are.
const HIDDEN: [(&str, &str); 2] = [("<private", "</private"), (OWN_TEXT_OPENING, OWN_TEXT_CLOSING)];

/// The beginning of a text, at most `most` characters (at least 3), up to the end of a word; a mark if its first word is
/// longer.
pub fn beginning_of(text: &str, most: usize) -> &str {
    match text.char_indices().nth(most) {
        Some((at, _)) => beginning_to(text, at),
        None => text,
    }
}

/// The beginning of a text up to the byte `at`, which lies between two characters, without a word that goes on behind it.
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

/// The end of a text, at most `most` characters (at least 3), from the beginning of a word on, or of a line where one begins
/// near. A mark where its last word is longer.
pub fn end_of(text: &str, most: usize) -> &str {
    match text.char_indices().rev().nth(most.saturating_sub(1)) {
        Some((at, _)) => end_from(text, at),
        None => text,
    }
}

/// The end of a text from the byte `at` on, which lies between two characters, without the rest of a word, of a hidden part
/// or of a key that began before.
pub fn end_from(text: &str, at: usize) -> &str {
    if at == 0 {
        return text;
    }
    let end = behind_hidden(text, at);
    let end = behind_key(end);
    let kept = from_whole(end);
    if kept.is_empty() && !end.trim().is_empty() {
        LEFT_OUT
    } else {
        kept
    }
}

/// From the beginning of a line on, if one begins in the first quarter; else without the first word, which may be cut, and
/// as far as they end in the first half those that it may have announced.
fn from_whole(text: &str) -> &str {
    let near = text.floor_char_boundary(text.len() / 4);
    let half = text.len() / 2;
    if let Some(line) = text[..near].find('\n') {
        return &text[line + 1..];
    }
    let mut kept = behind_word(text);
    for _ in 0..ANNOUNCED {
        let rest = behind_word(kept);
        if text.len() - rest.len() > half {
            break;
        }
        kept = rest;
    }
    kept
}

fn behind_word(text: &str) -> &str {
    match text.char_indices().find(|(_, letter)| separates(*letter)) {
        Some((at, letter)) if letter.is_whitespace() => text[at..].trim_start(),
        Some((at, letter)) => &text[at + letter.len_utf8()..],
        None => "",
    }
}

/// Between two words, or a letter of a script that puts nothing between them: there, no letter alone is part of a secret.
fn separates(letter: char) -> bool {
    letter.is_whitespace() || is_unspaced(letter)
}

/// What follows the end of a key whose beginning is not there.
fn behind_key(text: &str) -> &str {
    let Some(end) = text.find(KEY_END) else {
        return text;
    };
    if text[..end].contains(KEY_BEGINNING) {
        return text;
    }
    let behind = &text[end + KEY_END.len()..];
    behind.find("-----").map_or("", |dashes| &behind[dashes..])
}

/// `text` from `at` on, without the rest of a hidden part that began before.
fn behind_hidden(text: &str, at: usize) -> &str {
    let end = &text[at..];
    if hidden_since(&text[..at]).is_none() {
        return end;
    }
    let closings = HIDDEN.iter().filter_map(|(_, closing)| {
        let mut tags = end.rmatch_indices('<').map(|(tag, _)| tag);
        let closed = tags.find(|&tag| begins_with(&end[tag..], closing))?;
        let behind = end[closed..]
            .find('>')
            .map_or(end.len(), |close| closed + close + 1);
        Some(behind)
    });
    &end[closings.max().unwrap_or(end.len())..]
}

/// Both ends of a text that is longer than twice `most` bytes, so much of each, and `between` for what is left out. Nothing in
/// them is part of a word, of a hidden part or of a key.
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

/// A text of at most `most` bytes (at least 256): the whole, or both ends with a line between them that says how many bytes
/// were left out. Secrets have to be masked before.
pub fn bounded(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let (beginning, end) = ends(text, most.saturating_sub(LONGEST_COUNT) / 2);
    let left_out = text.len().saturating_sub(beginning.len() + end.len());
    Cow::Owned(format!("{beginning}\n[… {left_out} bytes left out …]\n{end}"))
}

/// No line of [`bounded`] is longer.
const LONGEST_COUNT: usize = 128;

/// Where the hidden part begins that `text` ends in.
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

/// Scripts that are written without spaces between words.
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
    fn a_cut_leaves_no_part_of_a_word() {
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
    fn what_announces_a_secret_is_not_cut_off_from_it() {
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
    fn a_word_that_is_longer_than_what_is_kept_is_left_out() {
        let long = "x".repeat(100);
        assert_eq!(end_of(&long, 10), LEFT_OUT);
        assert_eq!(beginning_of(&long, 10), LEFT_OUT);
        assert_eq!(end_of(&format!("{long} end"), 10), "end");
        assert_eq!(beginning_of(&format!("begin {long}"), 10), "begin");
    }

    #[test]
    fn a_script_without_spaces_is_cut_between_letters() {
        let text = "漢".repeat(100);
        assert_eq!(beginning_of(&text, 10).chars().count(), 10);
        assert!(end_of(&text, 20).chars().count() > 10);
    }

    #[test]
    fn a_bounded_text_keeps_both_ends_and_says_how_much_is_missing() {
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
    fn of_a_key_nothing_is_left_at_a_cut() {
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
    fn a_hidden_part_does_not_show_where_it_is_cut() {
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
