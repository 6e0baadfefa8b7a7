//! Masks tokens in settings.

use super::TOKEN_HEADER;

/// Replaces a token in text that is shown or copied.
pub const MASK: &str = "…";

/// What a token of `grov token create` begins with.
const USER_TOKEN: &str = "grov_";
/// The number of hexadecimal digits that follow.
const USER_TOKEN_DIGITS: usize = 64;

/// Replaces every token in settings, or in a diff of settings, by [`MASK`]. All other bytes stay.
pub fn masked(text: &str) -> String {
    without_user_tokens(&without_hook_tokens(text))
}

fn without_user_tokens(text: &str) -> String {
    let mut parts = text.split(USER_TOKEN);
    let mut masked = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.bytes().take_while(u8::is_ascii_hexdigit).count();
        let rest = match digits >= USER_TOKEN_DIGITS {
            true => &part[digits..],
            false => part,
        };
        let shown = if rest.len() < part.len() { MASK } else { USER_TOKEN };
        masked.push_str(shown);
        masked.push_str(rest);
    }
    masked
}

fn without_hook_tokens(text: &str) -> String {
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
    fn tokens_in_headers_are_masked() {
        let shown = |token: &str| format!("\"A: b\\nx-grov-token: {token}\", \"grov_home\"");
        let token = format!("grov_{}", "0a".repeat(32));
        assert_eq!(masked(&shown(&token)), shown(MASK));
        for text in [shown("grov_0a"), shown(&"0a".repeat(32)), shown("grov_")] {
            assert_eq!(masked(&text), text);
        }
    }

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
