//! Masks tokens in settings.

use super::TOKEN_HEADER;

/// Replaces a token in text that is shown or copied.
pub const MASK: &str = "…";

/// Replaces every token in settings, or in a diff of settings, by [`MASK`]. All other bytes stay.
pub fn masked(text: &str) -> String {
    let header = format!("\"{TOKEN_HEADER}\"");
    let mut parts = text.split(header.as_str());
    let mut masked = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        masked.push_str(&header);
        // colon, quote, token, quote
        match part.split('"').collect::<Vec<_>>().as_slice() {
            [colon, _, rest @ ..] if colon.trim() == ":" && !rest.is_empty() => {
                masked.push_str(&format!("{colon}\"{MASK}\"{}", rest.join("\"")));
            }
            _ => masked.push_str(part),
        }
    }
    masked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tokens_are_masked() {
        let shown = |value: &str| format!("{{\"{TOKEN_HEADER}\" : {value}, \"b\": \"c\"}}\r\n");
        assert_eq!(masked(&shown("\"abc\"")), shown("\"…\""));
        for text in [
            &shown("5"),
            "{\"a\": \"X-Grov-Hook-Token\"}",
            "",
            "\"X-Grov-Hook-Token\": \"abc",
        ] {
            assert_eq!(masked(text), text);
        }
    }
}
