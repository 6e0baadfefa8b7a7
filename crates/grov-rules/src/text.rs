//! Splits texts into sentences.

pub(crate) use grov_scope::names::push_new;
pub(crate) use grov_scope::words::{Word, any_phrase_at, find_phrase, fold, has_phrase, phrase_at, words};

/// The most sentences; of more, the middle is dropped.
const MAX_SENTENCES: usize = 240;

/// A longer sentence, in bytes, is split before the next word.
const MAX_SENTENCE_BYTES: usize = 900;

/// Abbreviations whose dot does not end a sentence.
#[rustfmt::skip]
const ABBREVIATIONS: &[&str] = &[
    "e.g", "i.e", "etc", "vs", "cf", "ex", "nr", "approx", "resp", "incl", "dvs",
];

/// The sentences of a text. They end at `.`, `!`, `?` or `;` before a space, at a blank line or list item, and at a line break
/// before a capital or a bullet.
pub(crate) fn sentences(text: &str) -> Vec<String> {
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
        let mut quoted_to = 0;
        let mut before = ' ';
        for (at, letter) in item.char_indices() {
            let previous = std::mem::replace(&mut before, letter);
            if at < start {
                continue;
            }
            let length = pending.len() + at - start;
            let endless = length > MAX_SENTENCE_BYTES && letter == ' ' || length > 4 * MAX_SENTENCE_BYTES;
            if endless {
                pending.push_str(&item[start..at]);
                start = at;
                flush(&mut pending, &mut found);
            }
            // A quotation is part of its sentence.
            if at >= quoted_to
                && let Some(length) = quotation(&item[at..], previous)
            {
                quoted_to = at + length;
            }
            if at < quoted_to {
                continue;
            }
            // Chinese and Japanese have no space after them.
            let wide = matches!(letter, '。' | '！' | '？');
            if !wide && !matches!(letter, '.' | '!' | '?' | ';') {
                continue;
            }
            let rest = &item[at + letter.len_utf8()..];
            let behind = rest.trim_start_matches([')', '"', '”', '」', '）']);
            let ends = wide || behind.chars().next().is_none_or(char::is_whitespace);
            if !ends || (letter == '.' && is_abbreviation(&item[start..at])) {
                continue;
            }
            let end = item.len() - behind.len();
            pending.push_str(&item[start..end]);
            start = end;
            flush(&mut pending, &mut found);
        }
        pending.push_str(item[start..].trim_start());
    }
    flush(&mut pending, &mut found);
    found
}

/// The longest quotation that is kept in one sentence, in bytes.
const MAX_QUOTATION: usize = 400;

/// The length of the quotation that `text`, which follows `before`, starts with: up to its closing mark.
pub(crate) fn quotation(text: &str, before: char) -> Option<usize> {
    let first = text.chars().next()?;
    let close = match first {
        '"' => '"',
        '“' => '”',
        '„' => '“',
        '«' => '»',
        '「' => '」',
        '『' => '』',
        '`' => '`',
        '\'' if !before.is_alphanumeric() => '\'',
        _ => return None,
    };
    let inner = &text[first.len_utf8()..text.floor_char_boundary(MAX_QUOTATION)];
    let end = inner.char_indices().find(|(at, letter)| {
        let next = inner[at + letter.len_utf8()..].chars().next();
        // An apostrophe inside a word does not close a quotation.
        (*letter == close || first == '„' && *letter == '”')
            && (close != '\'' || next.is_none_or(|next| !next.is_alphanumeric()))
    });
    end.map(|(at, _)| first.len_utf8() + at)
}

/// Whether a sentence is nothing but a quotation.
pub(crate) fn is_quotation(sentence: &str) -> bool {
    let text = sentence.trim().trim_end_matches(['.', '!', '。']);
    quotation(text, ' ').is_some_and(|end| text[end..].chars().count() == 1 && !text.starts_with('`'))
}

/// Whether the text ends with an abbreviation or a list number.
fn is_abbreviation(text: &str) -> bool {
    let last = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    let last = fold(last.trim_start_matches(['(', '"']));
    ABBREVIATIONS.contains(&last.as_str())
        || (!last.is_empty() && last.bytes().all(|b| b.is_ascii_digit()) && last == text.trim())
}

/// The sentences of a text; of too many the first and the last.
pub(crate) fn leading_sentences(text: &str) -> Vec<String> {
    let mut found = sentences(text);
    if found.len() > MAX_SENTENCES {
        let surplus = found.len() - MAX_SENTENCES;
        let from = MAX_SENTENCES * 2 / 3;
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

/// A line without its bullet or number, and whether it had one.
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

/// At most `limit` characters, cut after a word if possible, with white space collapsed.
pub(crate) fn shorten(text: &str, limit: usize) -> String {
    let mut short = String::new();
    let mut count = 0;
    for word in text.split_whitespace() {
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

/// Whether a sentence ends with a question mark, closing marks aside.
pub(crate) fn ends_with_question(sentence: &str) -> bool {
    sentence
        .trim_end_matches([' ', ')', '"', '*', '_', '”', '!', '\''])
        .ends_with(['?', '？'])
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_quotation_is_part_of_its_sentence() {
        let text = "It says \"Never retry. Stop.\" and hangs. It's 'a. b' now. Don't. Fix";
        let found = [
            "It says \"Never retry. Stop.\" and hangs.",
            "It's 'a. b' now.",
            "Don't.",
            "Fix",
        ];
        assert_eq!(sentences(text), found);
    }

    #[test]
    fn shortened_text_is_within_its_limit() {
        assert_eq!(shorten("a  b\nc", 200), "a b c");
        assert_eq!(shorten("alpha beta gamma", 11), "alpha beta…");
        assert_eq!(shorten(&"x".repeat(500), 10).chars().count(), 10);
        assert_eq!(shorten(&"ș".repeat(500), 10).chars().count(), 10);
    }
}
