//! Credentials inside URLs and connection strings: `scheme://user:password@host`.

use crate::MASK_START;
use crate::pattern::Class;
use crate::scan::{Certainty, Scan};
use crate::value::{is_hex, is_stand_in, looks_random};

/// Maximum length of the authority that is examined, in bytes. A host name has at most 253.
const MAX_AUTHORITY: usize = 1024;

/// Finds the password of the URL with `://` at `at`. Scheme, user and host stay readable.
pub(crate) fn credentials(scan: &mut Scan<'_>, at: usize) {
    let scheme_start = Class::of("A-Za-z0-9+.-").run_back(scan.bytes, at, 32);
    if scheme_start == at {
        return;
    }
    let scheme = &scan.text[scheme_start..at];
    let start = at + 3;
    let stop = scan.bytes.len().min(start + MAX_AUTHORITY);
    let window = &scan.bytes[start..stop];
    let ends =
        |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\');
    // `<` and `>` end a URL.
    let url_length = window.iter().position(ends).unwrap_or(window.len());
    let url = &window[..url_length];
    let slash = url
        .iter()
        .position(|byte| matches!(byte, b'/' | b'?' | b'#'))
        .unwrap_or(url.len());
    let mut at_sign = url[..slash].iter().rposition(|byte| *byte == b'@');
    if at_sign.is_none() && !scheme.starts_with("http") && !scheme.starts_with("ws") && scheme != "file" {
        // Passwords in database URLs may contain an unescaped slash or hash.
        let colon = url[..slash].iter().position(|byte| *byte == b':');
        let is_port = |colon: usize| url[colon + 1..slash].iter().all(u8::is_ascii_digit);
        if colon.is_some_and(|colon| !is_port(colon)) {
            at_sign = url.iter().rposition(|byte| *byte == b'@');
        }
    }
    if at_sign.is_none() && matches!(url.get(slash), Some(b'?' | b'#')) {
        // A password may also contain an unescaped hash or question mark, if the user name before it is plain.
        let end = url.iter().position(|byte| *byte == b'/').unwrap_or(url.len());
        let user = Class::of("A-Za-z0-9_.%-").run(url, 0, end);
        if user > 0 && url.get(user) == Some(&b':') && user < slash {
            at_sign = url[..end].iter().rposition(|byte| *byte == b'@');
        }
    }
    let Some(at_sign) = at_sign else { return };
    if scan
        .text
        .get(start..start + at_sign)
        .is_none_or(|authority| authority.contains(MASK_START))
    {
        return;
    }
    let user_end = url[..at_sign].iter().position(|byte| *byte == b':');
    let (from, alone) = match user_end {
        Some(colon) => (start + colon + 1, false),
        None => (start, true),
    };
    let Some(password) = scan.text.get(from..start + at_sign) else {
        return;
    };
    // The key of a Sentry DSN is the user name, before an unused password.
    let user = &scan.text[start..user_end.map_or(start + at_sign, |colon| start + colon)];
    if user.len() == 32 && is_hex(user) {
        scan.found("connection-password", Certainty::Place, start..start + at_sign);
        return;
    }
    if alone && !looks_random(password) {
        return;
    }
    if password.is_empty() || is_template(password) {
        return;
    }
    scan.found("connection-password", Certainty::Place, from..start + at_sign);
}

/// Returns whether a password is a template. Plain words are passwords here.
fn is_template(password: &str) -> bool {
    let word = password.bytes().all(|byte| byte.is_ascii_alphanumeric());
    !word && is_stand_in(password)
}
