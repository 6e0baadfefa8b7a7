//! Finds credentials in HTTP headers, in logs, code and command lines.

use crate::pattern::Class;
use crate::random::base64_digit;
use crate::scan::{Certainty, Scan, end_of_run};
use crate::token::continues_a_word;
use crate::value::{has_digit, has_letter, is_stand_in, is_words, looks_random};
use std::ops::Range;

/// The characters of a credential.
const CREDENTIAL: Class = Class::of("A-Za-z0-9._~+/=%-");
/// Maximum length of a credential that is classified, in bytes. A longer one is masked completely.
const MAX_JUDGED: usize = 1024;

/// Schemes of the `Authorization` header, in lower case.
#[rustfmt::skip]
const SCHEMES: &[&str] = &[
    "bearer", "basic", "token", "bot", "digest", "apikey", "api-key", "negotiate", "key", "ntlm", "sso-key",
    "genie", "ssws", "geniekey", "deepl-auth-key", "klaviyo-api-key", "api-token", "discogs", "applikey", "snyk",
];

/// Returns whether a name is an `Authorization` header.
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

/// Returns whether a name is a cookie header.
pub(crate) fn is_cookie(key: &str) -> bool {
    key.eq_ignore_ascii_case("cookie") || key.eq_ignore_ascii_case("set-cookie")
}

/// Finds the credential in the value of an `Authorization` header at `from`.
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
    let is_credential = if known {
        text.len() >= 6 && !(is_words(text) && text.len() < 24)
    } else {
        looks_random(text)
    };
    if is_credential && !is_stand_in(text) {
        let range = credential(scan.bytes, at, usize::MAX);
        scan.assigned_until = scan.assigned_until.max(range.end);
        scan.found("authorization-header", Certainty::Place, range);
    }
}

/// Finds the credential after `Bearer `, in any text.
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

/// Finds the credential after `Basic `, in any text: `user:password`, plain or in base64.
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

/// Returns whether the text is base64 of `user:password` in printable ASCII.
fn is_encoded_login(text: &[u8]) -> bool {
    let digits = text.trim_ascii_end();
    let padding = digits.iter().rev().take_while(|byte| **byte == b'=').count();
    let digits = &digits[..digits.len() - padding];
    if digits.len() < 8 || padding > 2 || !(digits.len() + padding).is_multiple_of(4) && padding > 0 {
        return false;
    }
    let (mut bits, mut count, mut colons, mut before) = (0_u32, 0, 0, 0);
    for byte in digits {
        let Some(six) = base64_digit(*byte) else {
            return false;
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

/// Returns the range of the credential at `at`, without a full stop at its end.
fn credential(bytes: &[u8], at: usize, limit: usize) -> Range<usize> {
    let mut end = CREDENTIAL.run(bytes, at, limit);
    while end > at && bytes[end - 1] == b'.' {
        end -= 1;
    }
    at..end
}

/// Finds the values of session cookies, and random values of other cookies, in the cookies at `from`.
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

/// Returns whether a cookie with this name authenticates its owner.
fn is_session_name(name: &str) -> bool {
    #[rustfmt::skip]
    const PARTS: &[&str] = &[
        "sess", "sid", "auth", "token", "jwt", "csrf", "xsrf", "remember", "login", "ticket",
    ];
    let name = name.to_ascii_lowercase();
    PARTS.iter().any(|part| name.contains(part))
}
