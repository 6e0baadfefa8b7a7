//! Masks keys in what a provider says.

use grov_redact::{Redactor, Secret};
use std::borrow::Cow;

const MASK: &str = "[REDACTED]";

/// The beginnings of keys. Kept, because they tell the reader which key was wrong.
const PREFIXES: &[&str] = &[
    "sk-",
    "key-",
    "gsk_",
    "AIza",
    "xai-",
    "pplx-",
    "hf_",
    "nvapi-",
    "r8_",
    "tvly-",
    "fw_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "npm_",
    "dckr_pat_",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "ASIA",
];

/// The fewest characters of a key after its beginning.
const MIN_KEY: usize = 8;

/// Masks each of `keys` in a text, whatever their form. A key of fewer than eight characters is a placeholder such as `none` and stays.
pub fn mask_keys<'t>(text: &'t str, keys: &[Secret]) -> Cow<'t, str> {
    let mut keys: Vec<&str> = keys.iter().map(Secret::expose).collect();
    keys.retain(|key| key.len() >= MIN_KEY && text.contains(key));
    // A key may begin with another one.
    keys.sort_by_key(|key| std::cmp::Reverse(key.len()));
    keys.into_iter().fold(Cow::Borrowed(text), |text, key| {
        Cow::Owned(text.replace(key, MASK))
    })
}

/// Masks keys and tokens in a provider's text.
///
/// Providers repeat the key that they refuse, often shortened, so shorter keys than elsewhere are masked. The rules of
/// `grov-redact` find the rest.
pub fn redact_provider_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut in_word = false;
    while let Some(next) = rest.chars().next() {
        if !in_word && let Some((kept, after)) = secret_at(rest) {
            out.push_str(kept);
            out.push_str(MASK);
            rest = after;
            continue;
        }
        in_word = next.is_ascii_alphanumeric();
        out.push(next);
        rest = &rest[next.len_utf8()..];
    }
    Redactor::shared().redact(&out).into_owned()
}

/// If a secret begins here: what to keep of it, and the text after it.
fn secret_at(text: &str) -> Option<(&str, &str)> {
    let bytes = text.as_bytes();
    if bytes.len() > 7 && bytes[..6].eq_ignore_ascii_case(b"bearer") && bytes[6].is_ascii_whitespace() {
        let blank = text[6..].find(|c: char| !c.is_whitespace())?;
        let (kept, token) = text.split_at(6 + blank);
        let end = token
            .find(|c: char| c.is_whitespace() || "\"',;".contains(c))
            .unwrap_or(token.len());
        return (end > 0).then(|| (kept, &token[end..]));
    }
    let prefix = PREFIXES.iter().find(|prefix| text.starts_with(**prefix))?;
    let (kept, key) = text.split_at(prefix.len());
    let in_key = |c: char| c.is_ascii_alphanumeric() || "-_*.".contains(c);
    let key = &key[..key.find(|c| !in_key(c)).unwrap_or(key.len())];
    let key = key.trim_end_matches('.');
    (key.len() >= MIN_KEY).then(|| (kept, &text[prefix.len() + key.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_of_a_provider_are_masked_whole() {
        let keys = ["plain-old-key", "plain-old-key-2", "none"].map(Secret::from);
        assert_eq!(
            mask_keys("plain-old-key-2 or plain-old-key: none", &keys),
            "[REDACTED] or [REDACTED]: none"
        );
        assert!(matches!(mask_keys("fine", &keys), Cow::Borrowed("fine")));
    }

    #[test]
    fn keys_of_all_forms_are_masked() {
        for (text, masked) in [
            (
                "Incorrect API key provided: sk-proj-abcd****wxyz.",
                "Incorrect API key provided: sk-[REDACTED].",
            ),
            ("header: Bearer abc.def, next", "header: Bearer [REDACTED], next"),
            ("gsk_0123456789ab is invalid", "gsk_[REDACTED] is invalid"),
            // Shortened tokens, which the rules for other texts leave.
            ("bad glpat-AbCdEfGh1234567890", "bad glpat-[REDACTED]"),
            ("ghp_a1B2c3D4****: expired", "ghp_[REDACTED]: expired"),
            (
                "task-force12345 and disk-1234567890",
                "task-force12345 and disk-1234567890",
            ),
            ("the model is overloaded", "the model is overloaded"),
        ] {
            assert_eq!(redact_provider_text(text), masked);
        }
    }
}
