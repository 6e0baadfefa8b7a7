//! Logins in values and before hosts, and the values that assignments leave alone: times, resource names.

use crate::assignment::{Name, Value, is_quote};
use crate::chosen::is_made;
use crate::pattern::Class;
use crate::prose;
use crate::scan::{Scan, end_of_run};
use crate::value::{has_digit, has_letter, is_stand_in};
use std::ops::Range;

/// Returns the range of the password in a login such as `neo4j/graphite-Wren-12` or `jo:graphite-Wren-12`, if the name says that the
/// value is one: `NEO4J_AUTH=…`.
pub(crate) fn password_of_login(name: &Name<'_>, value: &Value<'_>) -> Option<Range<usize>> {
    #[rustfmt::skip]
    const ENDINGS: &[&str] = &["auth", "credentials", "creds", "credential", "login", "userpwd", "userpass", "userinfo", "account"];
    const USER: Class = Class::of("A-Za-z0-9_.@-");
    let lower = name.text.to_ascii_lowercase();
    if !ENDINGS.iter().any(|ending| lower.ends_with(ending)) {
        return None;
    }
    let (user, password) = value.text.split_once(['/', ':'])?;
    let is_constant = !name.text.bytes().any(|byte| byte.is_ascii_lowercase());
    let is_password = prose::is_chosen(password)
        || is_constant && !value.spaced && password.len() >= 6 && has_digit(password) && has_letter(password);
    let is_login = (1..=48).contains(&user.len())
        && user.bytes().all(|byte| USER.has(byte))
        && is_password
        && !password.contains(['/', ':', ' ', '(', '{', '<'])
        && !is_stand_in(password)
        && !prose::is_algorithm(password)
        && prose::file_stem(password).is_none();
    is_login.then(|| value.range.start + user.len() + 1..value.range.end)
}

/// Returns whether the values of a name may be logins. A fast check.
pub(crate) fn may_be_login(name: &str) -> bool {
    let bytes = name.as_bytes();
    let ends = |ending: &[u8]| {
        bytes.len() >= ending.len() && bytes[bytes.len() - ending.len()..].eq_ignore_ascii_case(ending)
    };
    [
        &b"auth"[..],
        b"creds",
        b"credentials",
        b"credential",
        b"login",
        b"userpwd",
        b"userpass",
        b"userinfo",
    ]
    .into_iter()
    .any(ends)
}

/// Returns the password in `jo:hunter-22@db.acme.io`, without a scheme before it.
pub(crate) fn password_before_host(scan: &Scan<'_>, name: &Name<'_>, at: usize) -> Option<Range<usize>> {
    const MAX_PASSWORD: usize = 48;
    const SCHEMES: &[&str] = &["mailto", "sip", "sips", "xmpp", "acct", "jid", "mid", "cid"];
    const HOST: Class = Class::of("a-z0-9.-");
    let bytes = scan.bytes;
    if bytes[at] != b':' || name.spaced || name.quoted || !bytes.get(at + 1)?.is_ascii_alphanumeric() {
        return None;
    }
    let end = end_of_run(bytes, at + 1, MAX_PASSWORD, |byte| {
        byte.is_ascii_whitespace()
            || is_quote(*byte)
            || matches!(byte, b'@' | b'/' | b',' | b':' | b'(' | b')')
    });
    if bytes.get(end) != Some(&b'@')
        || SCHEMES
            .iter()
            .any(|scheme| name.text.eq_ignore_ascii_case(scheme))
    {
        return None;
    }
    let host = bytes.get(end + 1..HOST.run(bytes, end + 1, 64))?;
    let is_host = (host.contains(&b'.') || host == b"tcp" || is_before_port(&bytes[end + 1 + host.len()..]))
        && host.first().is_some_and(u8::is_ascii_alphanumeric);
    let password = scan.text.get(at + 1..end).filter(|_| is_host)?;
    is_made(password).then_some(at + 1..end)
}

/// Returns whether a text begins with a port: `:3306`. The digest of an image is longer.
fn is_before_port(after: &[u8]) -> bool {
    let digits = after
        .strip_prefix(b":")
        .map_or(0, |port| Class::DIGIT.run(port, 0, 6));
    (2..=5).contains(&digits) && !after.get(digits + 1).is_some_and(u8::is_ascii_alphanumeric)
}

/// Returns whether a colon is in a time of day, such as `T12:30:05`. Logs are full of them.
pub(crate) fn is_time(bytes: &[u8], at: usize) -> bool {
    let around = at
        .checked_sub(3)
        .and_then(|from| bytes.get(from..at + 3))
        .unwrap_or_default();
    matches!(
        around,
        [
            b'T' | b' ' | b':' | b'[',
            b'0'..=b'5',
            b'0'..=b'9',
            b':',
            b'0'..=b'5',
            b'0'..=b'9'
        ]
    )
}

/// Returns whether a name in a query is that of the signature of a URL.
pub(crate) fn is_signature(name: &str) -> bool {
    #[rustfmt::skip]
    const NAMES: &[&str] = &[
        "signature", "x-amz-signature", "x-goog-signature", "x-oss-signature", "x-cos-signature", "q-signature", "sig", "sign", "hmac",
        "hash", "token",
        "x-amz-security-token", "auth_key", "st", "md5",
    ];
    NAMES.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Returns whether a generated value with this name in a query lets its owner in.
pub(crate) fn is_ticket(name: &str) -> bool {
    ["key", "code", "sid", "ticket", "invite", "session", "reset"]
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known))
}

/// Returns whether a sign is in an Amazon resource name, such as `arn:aws:secretsmanager:eu-west-1:1234:secret:prod/db-9zwWxS`.
pub(crate) fn in_arn(scan: &Scan<'_>, at: usize) -> bool {
    const MAX_ARN: usize = 160;
    let before = &scan.bytes[at.saturating_sub(MAX_ARN)..at];
    let word = before
        .rsplit(|byte| {
            byte.is_ascii_whitespace() || is_quote(*byte) || matches!(byte, b'=' | b'(' | b',' | b'[')
        })
        .next()
        .unwrap_or_default();
    word.starts_with(b"arn:") || word.starts_with(b"urn:")
}
