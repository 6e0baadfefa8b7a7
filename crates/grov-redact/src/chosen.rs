//! Judges whether a word looks like a password that a person chose, where only its form tells.

use crate::prose;
use crate::value::{has_digit, has_letter, is_hex, is_public_identifier, is_stand_in, is_uuid};

/// Returns whether digits replace letters inside a word: `mn0zhestvo_41`, `p4pr1ka`. Names of techniques do not count.
pub(crate) fn is_leet(word: &str) -> bool {
    #[rustfmt::skip]
    const NAMES: &[&str] = &[
        "1password", "sha", "md5", "utf8", "utf16", "base64", "base32", "base58", "i18n", "l10n", "a11y", "k8s", "k3s", "x86", "x64",
        "ipv4", "ipv6", "oauth2",
        "http2", "http3", "log4j", "s3", "ec2", "b2b", "b2c", "p2p", "e2e", "d3", "n8n", "w3c", "web3", "h264", "h265", "mp3", "mp4",
        "win32",
        "win64", "int32", "int64", "float32", "float64", "u8", "u16", "u32", "u64", "i32", "i64", "ed25519", "x509", "pbkdf2", "argon2",
        "python3", "py3", "es6", "pkcs", "fido2", "u2f", "tls1", "ssl3", "db2", "neo4j", "couch2", "v1", "v2", "v3", "v4", "id3",
        "crc32", "md4",
        "rc4", "aes1", "aes2", "des3", "k6", "g4", "ps2", "bz2", "lz4", "gz2", "ext4", "zip2", "x11", "h2", "t5", "gpt4", "gpt3",
        "llama", "qwen",
    ];
    let is_leet = word.split(|letter: char| !letter.is_alphanumeric()).any(|part| {
        let bytes = part.as_bytes();
        let letters = part.chars().filter(|letter| letter.is_alphabetic()).count();
        let inside = bytes.windows(3).any(|signs| {
            matches!(signs, [a, b'0' | b'1' | b'3' | b'4' | b'5' | b'7' | b'8', c] if a.is_ascii_alphabetic() && c.is_ascii_alphabetic())
        });
        let first = matches!(bytes, [b'0' | b'1' | b'3' | b'4' | b'5' | b'7' | b'8', b'a'..=b'z' | b'A'..=b'Z', ..]);
        letters >= 4 && letters * 3 >= bytes.len() * 2 && (inside || first && letters >= 5)
    });
    // The list last, because it takes longest.
    is_leet && {
        let lower = word.to_ascii_lowercase();
        !NAMES.iter().any(|name| lower.contains(name))
    }
}

/// Returns whether words in small letters and with a capital one are joined: `altes-Moped`.
pub(crate) fn is_joined(word: &str) -> bool {
    #[rustfmt::skip]
    const PREFIXES: &[&str] = &["non", "pre", "post", "anti", "pro", "mid", "ex", "all", "un", "re", "inter", "sub", "multi", "cross", "x", "e", "i", "de", "al"];
    let mut parts = word.split(['-', '_', '+', '&', '!']);
    let first = parts.next().unwrap_or_default();
    let begins = |part: &str, test: fn(char) -> bool| {
        part.len() >= 3 && part.starts_with(test) && part.chars().all(char::is_alphabetic)
    };
    word.len() >= 9
        && begins(first, char::is_lowercase)
        && !PREFIXES.contains(&first)
        && parts.clone().count() <= 4
        && parts
            .clone()
            .all(|part| begins(part, char::is_alphabetic) || part.bytes().all(|byte| byte.is_ascii_digit()))
        && parts.any(|part| part.starts_with(char::is_uppercase))
}

/// Returns whether several words are joined with a number: `duck-pond-77`.
pub(crate) fn is_numbered(word: &str) -> bool {
    let mut words = 0;
    let mut numbers = 0;
    for part in word.split(['-', '.', '_']) {
        let is_word = part.len() >= 3 && part.chars().all(char::is_alphabetic);
        let is_number = (1..=4).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
        if !is_word && !is_number {
            return false;
        }
        words += usize::from(is_word);
        numbers += usize::from(is_number);
    }
    words >= 2 && numbers == 1
}

/// Returns whether a word has letters and one to four figures at its end, as many passwords and some names do: `moosgabel77`.
pub(crate) fn is_word_with_number(word: &str) -> bool {
    let stem = word.trim_end_matches(|letter: char| letter.is_ascii_digit());
    (1..=4).contains(&(word.len() - stem.len()))
        && (6..=60).contains(&stem.len())
        && stem.chars().all(char::is_alphabetic)
        && !is_hex(word)
        && !is_stand_in(word)
        && !prose::is_algorithm(word)
}

/// Returns whether at least three words are joined of which only the first has a capital letter, as in a passphrase:
/// `Moos-gabel-siebzehn`. Keys of translations and headers look otherwise.
pub(crate) fn is_phrase(word: &str) -> bool {
    let is_word = |part: &str| part.chars().count() >= 4 && part.chars().all(char::is_alphabetic);
    (3..=8).contains(&word.split('-').count())
        && word.split('-').all(is_word)
        && word.starts_with(char::is_uppercase)
        && word
            .chars()
            .skip(1)
            .all(|letter| letter == '-' || letter.is_lowercase())
}

/// Returns whether a word at a place for passwords is one: not a plain word, a name of a file, an address or a placeholder.
pub(crate) fn is_made(word: &str) -> bool {
    let special = word.contains(['!', '#', '$', '%', '^', '&', '?', '~', '+', '*']);
    (6..=128).contains(&word.len())
        && has_letter(word)
        && !is_stand_in(word)
        && !is_public_identifier(word)
        && !is_uuid(word)
        && (word.len() >= 24 || !is_hex(word))
        && !word.contains([
            '/', '(', ')', '{', '}', '<', '>', '[', ']', '\\', '=', ':', '"', '\'', '`', ',', ';',
        ])
        && !word.starts_with(['-', '$', '@', '.', '#', '&'])
        && !prose::is_algorithm(word)
        && prose::file_stem(word).is_none()
        && (is_leet(word)
            || is_joined(word)
            || is_numbered(word)
            || prose::is_chosen(word)
            || special && has_digit(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_passwords_are_known_by_their_form() {
        for word in [
            "mn0zhestvo_41",
            "p4pr1ka",
            "Sch1lfrohr",
            "r0tkehlchen9x",
            "mn0zhestvo",
        ] {
            assert!(is_leet(word), "{word}");
        }
        for word in [
            "sha256sum",
            "x86_64",
            "utf8mb4",
            "ipv4addr",
            "i18next",
            "node18",
            "release-2024",
            "db2server",
            "test1",
            "h2o",
        ] {
            assert!(!is_leet(word), "{word}");
        }
        assert!(is_joined("altes-Moped") && is_joined("blau_Nebel"));
        assert!(!is_joined("Content-Type") && !is_joined("non-Christian") && !is_joined("test-suite"));
        assert!(is_numbered("duck-pond-77") && !is_numbered("node-17") && !is_numbered("2026-01-05"));
    }
}
