//! Foreign text made fit to be quoted: Grov's own text, secrets and hidden characters taken out, tags that look like ours
//! defused, length bounded.

use crate::private;
use grov_domain::{OWN_TEXT_CLOSING, OWN_TEXT_OPENING, without_own_text};
use grov_redact::Redactor;
use std::borrow::Cow;

/// How the tags around quoted text begin, after `<` or `</`.
pub(crate) const TAG_PREFIX: &str = "data:";

/// What is looked at of each end of a long text beyond what is kept of it: cleaning may take that much out.
const SPARE: usize = 8 * 1024;

/// What is dropped at a cut after cleaning: a secret that the cut went through is not recognised, and is not longer than
/// this.
const AT_A_CUT: usize = 8 * 1024;

/// `text` as it may stand between tags: at most `limit` bytes, and where it is longer, its beginning and its end. Only the
/// ends of a long text are looked at (its middle but for private tags), so that the work is bounded too.
pub(crate) fn block(text: &str, limit: usize) -> String {
    bounded(text, limit, |part| part.trim().to_owned())
}

/// The same on one line: white space collapsed, so that quoted text cannot pose as further lines of a list.
pub(crate) fn line(text: &str, limit: usize) -> String {
    bounded(text, limit, |part| {
        let words: Vec<&str> = part.split_whitespace().collect();
        words.join(" ")
    })
}

/// The beginning of a text on one line. It is cleaned before it is cut, so that no half of a secret is shown.
pub(crate) fn beginning(text: &str, limit: usize) -> String {
    let mut line = line(text, limit + SPARE + AT_A_CUT);
    if line.len() > limit {
        line.truncate(line.floor_char_boundary(limit));
        line.push_str(" [...]");
    }
    line
}

/// `text` cleaned, laid out by `lay_out` and shortened to `limit`.
fn bounded(text: &str, limit: usize, lay_out: impl Fn(&str) -> String) -> String {
    let window = limit + SPARE + AT_A_CUT;
    if text.len() <= 2 * window {
        let cleaned = lay_out(&clean(&without_hidden(text)));
        return shorten(&cleaned, &cleaned, cleaned.len(), limit);
    }
    let beginning = lay_out(&clean(&without_hidden(&text[..text.floor_char_boundary(window)])));
    let beginning = &beginning[..beginning.floor_char_boundary(beginning.len().saturating_sub(AT_A_CUT))];
    let cut = text.ceil_char_boundary(text.len() - window);
    let tail = without_hidden(&text[cut..]);
    let public = private::behind_cut(&tail, private::open_at(text, cut));
    // Behind a closing tag nothing is cut through.
    let cut_through = if public.len() == tail.len() { AT_A_CUT } else { 0 };
    let end = lay_out(&clean(own_text_behind_cut(public)));
    let end = &end[end.ceil_char_boundary(cut_through.min(end.len()))..];
    shorten(beginning, end, text.len(), limit)
}

/// A visible text without secrets, Grov's own text and our tags. Private blocks go before Grov's own text, which could take
/// their tags along.
fn clean(visible: &str) -> String {
    let safe = Redactor::shared().redact(visible);
    defuse(&without_own_text(&safe)).into_owned()
}

/// What of a text's `tail` is behind the text from Grov that the cut went through.
pub(crate) fn own_text_behind_cut(tail: &str) -> &str {
    let closing = tail.find(OWN_TEXT_CLOSING);
    match closing.filter(|&at| !tail[..at].contains(OWN_TEXT_OPENING)) {
        Some(at) => &tail[at + OWN_TEXT_CLOSING.len()..],
        None => tail,
    }
}

/// Without control characters (but line breaks and tabs), invisible characters that could hide orders from the user, and
/// repeated replacement characters of binary text.
fn without_hidden(text: &str) -> Cow<'_, str> {
    if !text
        .chars()
        .any(|c| is_hidden(c) || c == char::REPLACEMENT_CHARACTER)
    {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    for c in text.chars().filter(|&c| !is_hidden(c)) {
        if c != char::REPLACEMENT_CHARACTER || !kept.ends_with(c) {
            kept.push(c);
        }
    }
    Cow::Owned(kept)
}

/// Control characters, zero-width characters, direction marks and the tag block.
pub(crate) fn is_hidden(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}')
        || matches!(c, '\u{E0000}'..='\u{E007F}')
}

/// Replaces the `<` of whatever looks like one of our tags, also with white space or slashes in it.
fn defuse(text: &str) -> Cow<'_, str> {
    let mut defused = String::new();
    let mut kept_from = 0;
    // ASCII letters change case without changing length, so offsets are those of `text`.
    for (name, _) in text.to_ascii_lowercase().match_indices(TAG_PREFIX) {
        let before = text[..name].trim_end_matches(|c: char| c.is_whitespace() || c == '/');
        if let Some(start) = before.strip_suffix('<')
            && start.len() >= kept_from
        {
            defused.push_str(&text[kept_from..start.len()]);
            defused.push('\u{2039}');
            kept_from = before.len();
        }
    }
    if kept_from == 0 {
        return Cow::Borrowed(text);
    }
    defused.push_str(&text[kept_from..]);
    Cow::Owned(defused)
}

/// A text of `length` bytes in at most `limit`: a third from its `beginning`, the rest from its `end`, a mark between them.
/// Where the whole text is known, it is both.
fn shorten(beginning: &str, end: &str, length: usize, limit: usize) -> String {
    const MARK_LENGTH: usize = 44;
    if length <= limit {
        return beginning.to_owned();
    }
    let room = limit.saturating_sub(MARK_LENGTH);
    let head = &beginning[..beginning.floor_char_boundary(room / 3)];
    let tail = &end[end.ceil_char_boundary(end.len().saturating_sub(room - room / 3))..];
    let left_out = length - head.len() - tail.len();
    format!("{head} [... {left_out} bytes left out ...] {tail}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn own_text_secrets_and_hidden_characters_are_taken_out() {
        let text = "fix \u{1b}[31mit\u{200b}\u{e0041} <grov-context>old notes</grov-context> with sk-ant-api03-\
            aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789aBcDeFgHiJkLmNoP-AAAA now";
        let quoted = block(text, 1000);
        assert!(!quoted.contains("old notes"), "{quoted}");
        assert!(!quoted.contains("aBcDeFgHiJ"), "{quoted}");
        assert!(quoted.starts_with("fix [31mit"), "{quoted}");
        assert!(quoted.ends_with(" now"), "{quoted}");
    }

    #[test]
    fn look_alikes_of_our_tags_are_defused() {
        for text in [
            "</data:goal>",
            "< / DATA:goal>",
            "<data:x",
            "<<data:x",
            "<\u{200b}/da\u{200b}ta:goal>",
            "<\n/data:goal>",
        ] {
            let quoted = block(text, 100);
            assert!(quoted.contains('\u{2039}'), "{text:?} became {quoted:?}");
        }
        assert_eq!(block("if a < b && <date:x>", 100), "if a < b && <date:x>");
    }

    #[test]
    fn long_text_keeps_its_beginning_and_more_of_its_end() {
        let text = format!("first words {} last words", "x".repeat(1_000_000));
        let quoted = block(&text, 400);
        assert!(quoted.len() <= 400, "{}", quoted.len());
        assert!(quoted.starts_with("first words"));
        assert!(quoted.ends_with("last words"));
        assert!(quoted.contains(" bytes left out ...]"));
    }

    #[test]
    fn a_secret_at_the_cut_of_a_huge_text_is_not_shown() {
        let secret =
            "aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789aBcDeFgHiJkLmNoP-AAAA";
        let key = format!("sk-ant-api03-{secret}");
        let limit = 400;
        let window = limit + SPARE + AT_A_CUT;
        // Everything but the key is taken out, so that what stands at the cut is all there is to show.
        for shift in (0..key.len()).step_by(5) {
            let hidden = "\u{1}".repeat(window - shift);
            let text = format!("{hidden}{key}{}{key}{hidden}", " ".repeat(1_000_000));
            for quoted in [block(&text, limit), line(&text, limit)] {
                let shown = secret
                    .as_bytes()
                    .windows(8)
                    .any(|part| quoted.as_bytes().windows(8).any(|seen| seen == part));
                assert!(!shown, "{shift}: {quoted}");
            }
        }
    }

    #[test]
    fn a_huge_text_is_looked_at_only_at_its_ends() {
        let text = format!("first words {} last words", "<data:x ".repeat(4_000_000));
        let quoted = line(&text, 400);
        assert!(
            quoted.len() <= 400 && quoted.starts_with("first words"),
            "{quoted}"
        );
        assert!(
            quoted.ends_with("last words") && !quoted.contains("<data:"),
            "{quoted}"
        );
    }

    #[test]
    fn a_line_is_one_line() {
        assert_eq!(line("a\n2. edit b\r\n\tc", 100), "a 2. edit b c");
    }

    #[test]
    fn a_beginning_is_cut_behind_and_shows_no_half_of_a_secret() {
        let key = format!("ghp_{}", "a1B2".repeat(9));
        let text = format!("const a = 1;\n{} {key} tail", "x ".repeat(180));
        let quoted = beginning(&text, 400);
        assert!(quoted.starts_with("const a = 1; x x"), "{quoted}");
        assert!(quoted.ends_with(" [...]") && quoted.len() <= 406, "{quoted}");
        assert!(!quoted.contains("ghp_"), "{quoted}");
        assert_eq!(beginning("a\n\tb", 400), "a b");
    }

    proptest! {
        #[test]
        fn quotes_are_bounded_and_hold_no_tag(text in ".{0,400}", limit in 60usize..300) {
            let quoted = block(&text, limit);
            prop_assert!(quoted.len() <= limit);
            prop_assert!(!quoted.to_lowercase().contains("<data:"));
        }

        #[test]
        fn tags_never_survive(parts in proptest::collection::vec("[</ \n]{0,3}(data:|DATA:|dat|x)?", 0..40)) {
            let quoted = block(&parts.concat(), 10_000);
            let folded: String = quoted.to_lowercase().split_whitespace().collect();
            prop_assert!(!folded.contains("<data:") && !folded.contains("</data:"), "{}", quoted);
        }
    }
}
