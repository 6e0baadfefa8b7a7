//! Classifies values: random text, words, identifiers, placeholders.

use crate::MASK_START;

pub(crate) fn has_digit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

pub(crate) fn has_letter(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_alphabetic())
}

pub(crate) fn has_space(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_whitespace())
}

/// Returns the Shannon entropy in bits per byte.
pub(crate) fn entropy(bytes: &[u8]) -> f32 {
    let mut counts = [0_u32; 256];
    for byte in bytes {
        counts[usize::from(*byte)] += 1;
    }
    let length = bytes.len().max(1) as f32;
    let mut bits = 0.0;
    for count in counts.into_iter().filter(|count| *count > 0) {
        let share = count as f32 / length;
        bits -= share * share.log2();
    }
    bits
}

/// Returns the fraction of neighbouring bytes of different kinds: lower case, upper case, digit, other. It is 62 % for random base62
/// text, and about 25 % for `CamelCaseNames`.
fn kind_changes(bytes: &[u8]) -> f32 {
    let kind = |byte: u8| match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    let changes = bytes
        .windows(2)
        .filter(|pair| kind(pair[0]) != kind(pair[1]))
        .count();
    changes as f32 / bytes.len().saturating_sub(1).max(1) as f32
}

/// Returns whether the text looks random, from an alphabet of at least 36 characters: it has all three kinds of characters or many
/// digits, changes between them often, and has a high entropy.
pub(crate) fn looks_random(value: &str) -> bool {
    let bytes = value.as_bytes();
    if bytes.len() < 16 {
        return false;
    }
    let count = |test: fn(&u8) -> bool| bytes.iter().filter(|byte| test(byte)).count();
    let (upper, lower, digit) = (
        count(u8::is_ascii_uppercase),
        count(u8::is_ascii_lowercase),
        count(u8::is_ascii_digit),
    );
    let mixed = upper >= 2 && lower >= 2 && digit >= 1;
    let one_case = (upper == 0 || lower == 0) && digit * 6 >= bytes.len();
    if !(mixed && kind_changes(bytes) >= 0.36 || one_case && kind_changes(bytes) >= 0.25) {
        return false;
    }
    // `x25519_check_private_key` and `ClearDataOnLogout2` are mostly words. Digits separate words only in mixed case.
    let separates = |c: char| matches!(c, '_' | '-' | '.' | '/') || mixed && c.is_ascii_digit();
    let in_words: usize = value
        .split(separates)
        .filter(|part| is_name(part))
        .map(str::len)
        .sum();
    if value.contains(separates) && in_words * 2 >= bytes.len() {
        return false;
    }
    // 85 % of the maximum for this length, but no more than random text has: 40 random base64 characters have about 4.9 bits
    // each, base36 about 4.5, hexadecimal digits at most 4.
    let enough = if mixed { 4.3 } else { 3.6 };
    entropy(bytes) >= ((bytes.len() as f32).log2() * 0.85).min(enough)
}

/// Returns whether the text consists of words: letters, separated by `_ - . / : '` or spaces, without digits. Words with fewer than
/// 2.5 letters on average are random letters.
pub(crate) fn is_words(value: &str) -> bool {
    let mut letters = 0_usize;
    let mut words = 0_usize;
    let mut previous = b' ';
    for &byte in value.as_bytes() {
        match byte {
            b'a'..=b'z' => words += usize::from(!previous.is_ascii_alphabetic()),
            b'A'..=b'Z' => words += usize::from(!previous.is_ascii_uppercase()),
            b'_' | b'-' | b'.' | b'/' | b':' | b' ' | b'\'' => {}
            _ => return false,
        }
        letters += usize::from(byte.is_ascii_alphabetic());
        previous = byte;
    }
    letters > 0 && letters as f32 / words.max(1) as f32 >= 2.5
}

/// Returns whether the text is one word, or several in `camelCase` with at least two letters each and three on average.
pub(crate) fn is_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    let one_case = bytes.iter().all(u8::is_ascii_lowercase) || bytes.iter().all(u8::is_ascii_uppercase);
    let parts = || bytes.chunk_by(|_, next| !next.is_ascii_uppercase());
    let camel_case = || parts().all(|part| part.len() >= 2) && parts().count() * 3 <= bytes.len();
    bytes.len() >= 3 && bytes.iter().all(u8::is_ascii_alphabetic) && (one_case || camel_case())
}

/// Returns whether the text consists of hexadecimal digits.
pub(crate) fn is_hex(value: &str) -> bool {
    !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns whether the text is a UUID.
pub(crate) fn is_uuid(value: &str) -> bool {
    let bytes = value.as_bytes();
    bytes.len() == 36
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Returns whether the text is a public identifier, for example of the Messages API or in a lock file.
pub(crate) fn is_public_identifier(value: &str) -> bool {
    #[rustfmt::skip]
    const PREFIXES: &[&str] = &[
        "toolu_", "srvtoolu_", "msg_", "req_", "call_", "chatcmpl-", "sha1-", "sha256-", "sha384-", "sha512-",
        "sha256:", "sha512:", "h1:", "ssh-", "AAAAB3Nza", "AAAAC3Nza", "AAAAE2Vj", "data:", "iVBORw0KGgo",
        "R0lGOD", "UEsDB", "JVBERi", "PHN2Z", "H4sI", "AGFzbQ", "d09GM", "d09GR", "UklGR", "AAEAAAA", "LS0tLS1CRUdJTi",
    ];
    PREFIXES.iter().any(|prefix| value.starts_with(prefix))
}

/// Returns whether the text is a placeholder: a reference to a variable, a template, a mask, or text such as "your key here".
pub(crate) fn is_stand_in(value: &str) -> bool {
    let bytes = value.as_bytes();
    let Some(&first) = bytes.first() else { return true };
    if value.starts_with(MASK_START) {
        return true;
    }
    if value
        .chars()
        .all(|c| matches!(c, 'x' | 'X' | '*' | '.' | '-' | '_' | '?' | '#' | '•' | '…' | '●'))
    {
        return true;
    }
    let second = bytes.get(1).copied().unwrap_or(b' ');
    let reference = match first {
        b'$' => second == b'{' || second == b'(' || second == b'_' || second.is_ascii_alphabetic(),
        b'<' => value.contains('>') || value.len() < 3,
        b'{' | b'[' => true,
        b'%' => second == b'(' || second == b's' || value.len() > 2 && value.ends_with('%'),
        b'#' => second == b'{',
        b'&' | b'!' => second.is_ascii_alphabetic() && is_words(&value[1..]),
        b'@' => second == b'@' || second == b'{' || second == b'(',
        _ => false,
    };
    if reference
        || value.contains("${")
        || value.contains("{{")
        || value.contains("$(")
        || value.contains('…')
    {
        return true;
    }
    if value.contains("...") {
        return true;
    }
    #[rustfmt::skip]
    const REFERENCES: &[&str] = &[
        "process.env", "os.environ", "os.getenv", "env.", "env:", "env!", "ENV[", "secrets.", "vars.",
        "vault:", "op://", "arn:", "file:", "var.", "local.", "data.", "module.", "import.meta", "self.",
        "this.", "config.", "settings.",
    ];
    if REFERENCES.iter().any(|reference| value.starts_with(reference)) {
        return true;
    }
    if looks_random(value) {
        return false;
    }
    let lower = value.to_ascii_lowercase();
    asks_for_a_value(&lower) || is_keyword(&lower)
}

/// Returns whether words ask for a value, as in `your-api-key-1`. With digits inside, it is a value.
fn asks_for_a_value(lower: &str) -> bool {
    #[rustfmt::skip]
    const WORDS: &[&str] =
        &[
        "your", "changeme", "change-me", "change_me", "placeholder", "redacted", "example", "goes-here",
        "goes_here",
    ];
    let stem = lower.trim_end_matches(|c: char| c.is_ascii_digit());
    !has_digit(stem) && WORDS.iter().any(|word| stem.contains(word))
}

/// Returns whether the text is a keyword that programs and configuration files have in place of a value.
fn is_keyword(lower: &str) -> bool {
    #[rustfmt::skip]
    const KEYWORDS: &[&str] = &[
        "true", "false", "null", "none", "nil", "undefined", "yes", "no", "on", "off", "string", "str",
        "text", "bytes", "number", "integer", "int", "bool", "boolean", "object", "any", "unknown", "never",
        "void", "char", "varchar", "optional", "required", "default", "enabled", "disabled", "hidden",
        "invalid", "missing", "empty", "secret", "password", "token", "prompt", "auto", "self", "this",
        "super", "return", "await", "async", "function", "new", "let", "const", "static", "pub", "struct",
        "enum", "impl", "type", "uuid", "stdin", "value", "key", "input", "refresh_token", "access_token",
        "bearer", "basic", "passwd", "username", "user", "email", "passwords", "tokens",
    ];
    KEYWORDS.contains(&lower)
}

/// Returns whether a text with spaces is a sentence and not a passphrase.
pub(crate) fn is_prose(value: &str) -> bool {
    #[rustfmt::skip]
    const FUNCTION_WORDS: &[&str] = &[
        "the", "a", "an", "is", "are", "was", "be", "must", "should", "to", "of", "for", "in", "your", "you",
        "not", "and", "or", "with", "this", "that", "at", "from", "has", "have", "can", "will", "if", "it",
        "on", "by", "no", "password", "passphrase", "secret", "token", "key", "enter", "confirm", "new",
        "please", "invalid", "forgot",
    ];
    let mut words = value.split_whitespace();
    words.any(|word| {
        let word = word
            .trim_matches(|c: char| !c.is_alphanumeric())
            .to_ascii_lowercase();
        FUNCTION_WORDS.contains(&word.as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_text_is_distinguished_from_names() {
        for random in [
            concat!("wJalrXUtnFEMI/", "K7MDENG/bPxRfiCYEXAMPLEKEY"),
            "aB3dE6gH9jK2mN5pQ8sT",
            "x7k2p9q4w1z8v3n6m5c0",
            "9f86d081884c7d659a2feaa0c55ad015",
        ] {
            assert!(looks_random(random), "{random}");
        }
        for name in [
            "ClearWebsiteDataOnLogout2",
            "com.example.project.ServiceName",
            "my-service-account-name-1",
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
            "short1A",
        ] {
            assert!(!looks_random(name), "{name}");
        }
    }

    #[test]
    fn words_are_distinguished_from_random_letters() {
        assert!(is_words("refresh_token") && is_words("userPassword") && is_words("a sentence of words"));
        assert!(!is_words("aBcDeFgHiJ") && !is_words("hunter2") && !is_words(""));
    }

    #[test]
    fn references_and_templates_are_placeholders() {
        for value in [
            "",
            "${TOKEN}",
            "$TOKEN",
            "$(cat key)",
            "<your-key>",
            "{{ key }}",
            "%(key)s",
            "%KEY%",
            "xxxx",
            "****",
            "process.env.KEY",
            "os.environ",
            "your-api-key",
            "sk-ant-...",
            "#{key}",
            "[redacted:jwt]",
            "null",
        ] {
            assert!(is_stand_in(value), "{value}");
        }
        for value in ["hunter2", "p4ssw0rd!", "$2b$12$abcdefg", "aB3dE6gH9jK2mN5pQ8sT"] {
            assert!(!is_stand_in(value), "{value}");
        }
    }
}
