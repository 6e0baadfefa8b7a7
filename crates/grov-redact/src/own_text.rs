//! Recognises text that Grov itself injected, so that it is never taken for something that the user or the agent said.

use std::borrow::Cow;

/// Every injected text starts with this.
pub const OWN_TEXT_OPENING: &str = "<grov-context";

/// Every injected text ends with this.
pub const OWN_TEXT_CLOSING: &str = "</grov-context>";

/// Removes text that Grov injected. An unclosed part extends to the end.
pub fn without_own_text(text: &str) -> Cow<'_, str> {
    // Nearly every text is without; looking for a single byte first is several times faster.
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
