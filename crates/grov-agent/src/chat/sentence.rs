//! Divides a text into sentences and lines.

use std::ops::Range;

/// Returns the byte ranges of the sentences of a text, without white space and list marks around them. A line ends a sentence, so
/// does a full stop, question mark or exclamation mark before white space, in the scripts that have their own as well.
pub(crate) fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let end = at + letter.len_utf8();
        let next = letters.peek().map(|(_, next)| *next);
        let ends = match letter {
            '\n' | '。' | '！' | '？' => true,
            '.' | '!' | '?' | '؟' | '۔' | '।' => {
                next.is_none_or(char::is_whitespace) && !is_numbering(&text[start..at])
            }
            _ => false,
        };
        if ends {
            push(text, start..end, &mut found);
            start = end;
        }
    }
    push(text, start..text.len(), &mut found);
    found
}

/// Whether a full stop after this text belongs to the number of a list or to an initial, not to the end of a sentence.
fn is_numbering(before: &str) -> bool {
    let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    word.len() < 3 && before.trim().len() == word.len() && word.chars().all(|letter| letter.is_ascii_digit())
}

fn push(text: &str, range: Range<usize>, found: &mut Vec<Range<usize>>) {
    let piece = &text[range.clone()];
    let is_mark =
        |letter: char| letter.is_whitespace() || matches!(letter, '-' | '*' | '#' | '>' | '|' | '•');
    let from = piece.len() - piece.trim_start_matches(is_mark).len();
    let to = piece
        .trim_end_matches(|letter: char| letter.is_whitespace() || letter == '|')
        .len();
    if from < to && piece[from..to].chars().any(char::is_alphanumeric) {
        found.push(range.start + from..range.start + to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(text: &str) -> Vec<&str> {
        sentences(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn sentences_end_at_marks_and_lines() {
        assert_eq!(
            texts(
                "# Deploys\n- We deploy on Tuesday. Never on Friday!\n1. Version 2.5 is out\n\n| a | b |\n"
            ),
            [
                "Deploys",
                "We deploy on Tuesday.",
                "Never on Friday!",
                "1. Version 2.5 is out",
                "a | b"
            ]
        );
        assert_eq!(
            texts("返品は30日以内です。送料は無料！"),
            ["返品は30日以内です。", "送料は無料！"]
        );
        assert_eq!(texts("---\n***\n"), Vec::<&str>::new());
    }

    proptest! {
        #[test]
        fn every_letter_is_in_one_sentence(text in "[a-z0-9 .\\n#?!。-]{0,80}") {
            let ranges = sentences(&text);
            prop_assert!(ranges.windows(2).all(|pair| pair[0].end <= pair[1].start));
            for (at, letter) in text.char_indices().filter(|(_, letter)| letter.is_alphanumeric()) {
                prop_assert!(ranges.iter().any(|range| range.contains(&at)), "{letter} at {at}");
            }
        }
    }
}
