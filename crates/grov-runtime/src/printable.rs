//! Makes untrusted text safe to print on a terminal.

use std::borrow::Cow;
use std::fmt::Write;

/// Escapes characters that a terminal would interpret, or that reorder or hide text: control characters except line breaks
/// and tabs, direction marks, invisible characters. File names, branch names and an agent's texts may contain them.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_escaped(character) {
            // Writing to a string cannot fail.
            let _ = write!(shown, "{}", character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// Zero-width joiners are not escaped: words of some languages and emoji need them.
fn is_escaped(character: char) -> bool {
    (character.is_control() && !matches!(character, '\n' | '\t'))
        || matches!(
            character,
            '\u{61c}'
                | '\u{200b}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_a_terminal_interprets_are_escaped() {
        let text = "a\u{1b}[2Jb\u{202e}c\u{7}\r\u{9b}d\u{feff}";
        assert_eq!(printable(text), r"a\u{1b}[2Jb\u{202e}c\u{7}\u{d}\u{9b}d\u{feff}");
    }

    #[test]
    fn ordinary_text_of_any_language_is_unchanged() {
        for text in ["", "one\n\ttwo", "Größe, 大小, حجم, می‌روم, 👩‍💻"] {
            assert!(matches!(printable(text), Cow::Borrowed(_)), "{text}");
        }
    }
}
