//! Credentials in HTTP headers, as they stand in logs, in code and on command lines.

use crate::pattern::Class;
use crate::scan::{Certainty, Scan, end_of_run};
use crate::token::continues_a_word;
use crate::value::{has_digit, has_letter, is_stand_in, is_words, looks_random};
use std::ops::Range;

/// What a credential is written in.
const CREDENTIAL: Class = Class::of("A-Za-z0-9._~+/=%-");
/// As much of a credential is judged; one that is longer is taken whole.
const MAX_JUDGED: usize = 1024;

/// Schemes of the `Authorization` header, in lower case.
#[rustfmt::skip]
const SCHEMES: &[&str] = &[
    "bearer", "basic", "token", "bot", "digest", "apikey", "api-key", "negotiate", "key", "ntlm", "sso-key",
    "genie", "ssws",
];

/// Whether a key is a header whose value is a credential with a scheme.
pub(crate) fn is_authorization(key: &str) -> bool {
    let key = key.trim_start_matches("HTTP_");
    [
        "authorization",
        "proxy-authorization",
        "proxy_authorization",
        "x-authorization",
    ]
    .iter()
    .any(|name| key.eq_ignore_ascii_case(name))
}

/// Whether a key is a header that carries cookies.
pub(crate) fn is_cookie(key: &str) -> bool {
    key.eq_ignore_ascii_case("cookie") || key.eq_ignore_ascii_case("set-cookie")
}

/// Looks at the value of an `Authorization` header that starts at or after `from`.
pub(crate) fn authorization(scan: &mut Scan<'_>, from: usize) {
    let bytes = scan.bytes;
    let mut at = Class::of(" \t\"'`\\[").run(bytes, from, 8);
    let scheme_end = Class::of("A-Za-z-").run(bytes, at, 16);
    let scheme = &scan.text[at..scheme_end];
    let known = SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known));
    if known && bytes.get(scheme_end) == Some(&b' ') {
        at = Class::of(" ").run(bytes, scheme_end, 4);
    }
    let judged = credential(scan.bytes, at, MAX_JUDGED);
    let text = &scan.text[judged];
    let telling = if known {
        text.len() >= 6 && !(is_words(text) && text.len() < 24)
    } else {
        looks_random(text)
    };
    if telling && !is_stand_in(text) {
        let range = credential(scan.bytes, at, usize::MAX);
        scan.assigned_until = scan.assigned_until.max(range.end);
        scan.found("authorization-header", Certainty::Place, range);
    }
}

/// Looks at what follows a `Bearer ` that ends at `from`, wherever it stands.
pub(crate) fn bearer(scan: &mut Scan<'_>, keyword: Range<usize>) {
    if continues_a_word(scan.bytes, keyword.start) {
        return;
    }
    let range = credential(
        scan.bytes,
        Class::of(" ").run(scan.bytes, keyword.end, 4),
        usize::MAX,
    );
    let text = &scan.text[range.clone()];
    if text.len() >= 16 && has_digit(text) && !is_stand_in(text) {
        scan.found("bearer-token", Certainty::Place, range);
    }
}

/// Looks at what follows a `Basic `, wherever it stands: `user:password`, plain or in base 64.
pub(crate) fn basic(scan: &mut Scan<'_>, keyword: Range<usize>) {
    const USER: Class = Class::of("A-Za-z0-9_.@+-");
    let bytes = scan.bytes;
    if continues_a_word(bytes, keyword.start) {
        return;
    }
    let mut at = Class::of(" ").run(bytes, keyword.end, 4);
    for word in [&b"auth "[..], b"authentication ", b"credentials ", b"with "] {
        if bytes[at..].len() > word.len() && bytes[at..at + word.len()].eq_ignore_ascii_case(word) {
            at += word.len();
        }
    }
    let encoded = credential(bytes, at, MAX_JUDGED);
    if is_encoded_login(&bytes[encoded.clone()]) {
        scan.found("authorization-header", Certainty::Place, encoded);
        return;
    }
    let colon = USER.run(bytes, at, 64);
    if colon == at || bytes.get(colon) != Some(&b':') {
        return;
    }
    let ends =
        |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b',' | b';' | b')');
    let range = colon + 1..end_of_run(bytes, colon + 1, 256, ends);
    let Some(password) = scan.text.get(range.clone()) else {
        return;
    };
    if password.len() >= 6 && has_digit(password) && has_letter(password) && !is_stand_in(password) {
        scan.found("password", Certainty::Place, range);
    }
}

/// Whether base 64 stands for `user:password` in printable ASCII.
fn is_encoded_login(text: &[u8]) -> bool {
    let digits = text.trim_ascii_end();
    let padding = digits.iter().rev().take_while(|byte| **byte == b'=').count();
    let digits = &digits[..digits.len() - padding];
    if digits.len() < 8 || padding > 2 || !(digits.len() + padding).is_multiple_of(4) && padding > 0 {
        return false;
    }
    let (mut bits, mut count, mut colons, mut before) = (0_u32, 0, 0, 0);
    for byte in digits {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return false,
        };
        bits = bits << 6 | u32::from(six);
        count += 6;
        if count >= 8 {
            count -= 8;
            let decoded = (bits >> count & 0xFF) as u8;
            if !(b' '..=b'~').contains(&decoded) {
                return false;
            }
            colons += usize::from(decoded == b':');
            before += usize::from(colons == 0);
        }
    }
    colons > 0 && before > 0
}

/// The credential that starts at `at`, without punctuation that ends a sentence.
fn credential(bytes: &[u8], at: usize, limit: usize) -> Range<usize> {
    let mut end = CREDENTIAL.run(bytes, at, limit);
    while end > at && bytes[end - 1] == b'.' {
        end -= 1;
    }
    at..end
}

/// Looks at the cookies that start at `from`: values of session cookies and values that look random are masked.
pub(crate) fn cookies(scan: &mut Scan<'_>, from: usize) {
    let bytes = scan.bytes;
    let mut at = Class::of(" \t\"'`\\").run(bytes, from, 8);
    loop {
        at = Class::of(" ").run(bytes, at, 4);
        let name_end = Class::of("A-Za-z0-9_.!#$%&*+^|~-").run(bytes, at, 128);
        if name_end == at || bytes.get(name_end) != Some(&b'=') {
            scan.assigned_until = scan.assigned_until.max(at);
            return;
        }
        let value = name_end + 1;
        let end = end_of_run(bytes, value, usize::MAX, |byte| {
            matches!(byte, b';' | b'"' | b'\'' | b'`' | b'\\' | b'<') || byte.is_ascii_whitespace()
        });
        let (name, text) = (&scan.text[at..name_end], &scan.text[value..end]);
        if text.len() >= 6 && !is_stand_in(text) && (is_session_name(name) || looks_random(text)) {
            scan.found("session-cookie", Certainty::Place, value..end);
        }
        if bytes.get(end) != Some(&b';') {
            scan.assigned_until = scan.assigned_until.max(end);
            return;
        }
        at = end + 1;
    }
}

/// Whether a cookie of that name lets its holder in.
fn is_session_name(name: &str) -> bool {
    #[rustfmt::skip]
    const PARTS: &[&str] = &[
        "sess", "sid", "auth", "token", "jwt", "csrf", "xsrf", "remember", "login", "ticket",
    ];
    let name = name.to_ascii_lowercase();
    PARTS.iter().any(|part| name.contains(part))
}
