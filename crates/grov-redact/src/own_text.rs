//! Recognizes text that Grov injected, so that it is not attributed to the user or the agent.

use std::borrow::Cow;

/// The start of each injected text.
pub const OWN_TEXT_OPENING: &str = "<grov-context";

/// The end of each injected text.
pub const OWN_TEXT_CLOSING: &str = "</grov-context>";

/// Removes injected text. A part without a closing tag extends to the end.
pub fn without_own_text(text: &str) -> Cow<'_, str> {
    // Searching for one byte first is several times faster, and most texts contain no injected text.
    let candidate = text
        .match_indices('<')
        .find(|(at, _)| text[*at..].starts_with(OWN_TEXT_OPENING));
    let Some((first, _)) = candidate else {
        return Cow::Borrowed(text);
    };
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    let mut at = Some(first);
    while let Some(start) = at {
        kept.push_str(&rest[..start]);
        rest = match rest[start..].find(OWN_TEXT_CLOSING) {
            Some(end) => &rest[start + end + OWN_TEXT_CLOSING.len()..],
            None => "",
        };
        at = rest.find(OWN_TEXT_OPENING);
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_text_is_removed() {
        assert!(matches!(without_own_text("a <b> c"), Cow::Borrowed("a <b> c")));
        assert_eq!(without_own_text("<b><grov-context>x</grov-context><c"), "<b><c");
        let text = "before <grov-context source=\"team-memory\">\nx\n</grov-context> between <grov-context>y</grov-context> after";
        assert_eq!(without_own_text(text), "before  between  after");
        assert_eq!(without_own_text("kept <grov-context never closed"), "kept ");
    }
}
