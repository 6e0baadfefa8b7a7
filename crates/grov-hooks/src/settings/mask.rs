//! Settings without the tokens that they hold.

use super::TOKEN_HEADER;

/// What stands in place of a token where it is shown or copied.
pub const MASK: &str = "…";

/// A text of settings, or of what differs in them, with [`MASK`] in place of every token; all else byte for byte.
pub fn masked(text: &str) -> String {
    let header = format!("\"{TOKEN_HEADER}\"");
    let mut parts = text.split(header.as_str());
    let mut masked = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        masked.push_str(&header);
        // The colon, a quotation mark, the token, a quotation mark.
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
    fn nothing_but_a_token_is_masked() {
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
