//! Text between `<private>` tags, and private keys.

use crate::pattern::Class;
use crate::scan::{Certainty, Scan};
use std::ops::Range;

/// Finds a private block from `<private` to its `</private>`, with nested blocks. Without a closing tag it extends to the end.
pub(crate) fn marked(scan: &mut Scan<'_>, keyword: Range<usize>) {
    if keyword.start < scan.blocks_until {
        return;
    }
    let Some(mut at) = tag_end(scan.bytes, keyword.end) else {
        return;
    };
    let mut depth = 1_usize;
    let end = loop {
        let Some(next) = memchr::memchr(b'<', &scan.bytes[at..]) else {
            break scan.bytes.len();
        };
        let tag = at + next;
        at = tag + 1;
        if let Some(end) = named(scan.bytes, tag, b"<private").and_then(|end| tag_end(scan.bytes, end)) {
            depth += 1;
            at = end;
        } else if let Some(end) =
            named(scan.bytes, tag, b"</private").and_then(|end| tag_end(scan.bytes, end))
        {
            depth -= 1;
            at = end;
            if depth == 0 {
                break end;
            }
        }
    };
    scan.blocks_until = end;
    scan.found("private", Certainty::Marked, keyword.start..end);
}

/// Returns the end of `name` at `at`, ignoring case.
fn named(bytes: &[u8], at: usize, name: &[u8]) -> Option<usize> {
    let end = at + name.len();
    bytes.get(at..end)?.eq_ignore_ascii_case(name).then_some(end)
}

/// Returns the end of a tag whose name ends at `at`. It may have attributes but no other words: `<private key>` is a placeholder
/// for a key.
fn tag_end(bytes: &[u8], at: usize) -> Option<usize> {
    const MAX_ATTRIBUTES: usize = 256;
    let inside = &bytes[at..bytes.len().min(at + MAX_ATTRIBUTES)];
    let close = inside.iter().position(|byte| *byte == b'>')?;
    let attributes = inside[..close].trim_ascii();
    let spaced = inside[..close].first().is_none_or(u8::is_ascii_whitespace);
    (spaced && (attributes.is_empty() || attributes.contains(&b'='))).then_some(at + close + 1)
}

/// The base64 alphabet of keys.
const BODY: Class = Class::BASE64;
/// Minimum base64 length of a key block, in bytes. A shorter one only mentions a key.
const MIN_BODY: usize = 16;
/// Maximum size of a key block, in bytes. A 16,384-bit RSA key has 13 KB.
const MAX_BLOCK: usize = 64 * 1024;

/// The characters of a label.
const LABEL: Class = Class::of("A-Za-z0-9 ");

/// Finds the private key block that starts with `-----BEGIN `. Line ends may be real or escaped as `\n`. Without an end label,
/// the block extends as far as its text looks like a body.
pub(crate) fn key_block(scan: &mut Scan<'_>, keyword: Range<usize>) {
    if keyword.start < scan.blocks_until {
        return;
    }
    let Some(body) = private_label(scan.bytes, keyword.end) else {
        return;
    };
    let window_end = scan.bytes.len().min(body + MAX_BLOCK);
    let dashes = memchr::memmem::find(&scan.bytes[body..window_end], b"----").map(|found| body + found);
    let end = match dashes {
        Some(dashes) if is_end_label(scan.bytes, dashes) => {
            has_body(&scan.bytes[body..dashes]).then(|| label_end(scan.bytes, dashes))
        }
        _ => body_end(scan.bytes, body),
    };
    if let Some(end) = end {
        scan.blocks_until = end;
        scan.found("private-key", Certainty::Form, keyword.start..end);
    }
}

/// Finds the lines of a private key before its `-----END ` if the start of the block is missing.
pub(crate) fn key_tail(scan: &mut Scan<'_>, keyword: Range<usize>) {
    if keyword.start < scan.blocks_until {
        return;
    }
    let Some(end) = private_label(scan.bytes, keyword.end) else {
        return;
    };
    let mut start = keyword.start;
    let mut seen = false;
    loop {
        let line_end = Class::of(" \t\r\n").run_back(scan.bytes, start, 8);
        let line = BODY.run_back(scan.bytes, line_end, 128);
        let whole = line == 0 || matches!(scan.bytes[line - 1], b'\n' | b' ' | b'\t');
        // Only the last line may be short.
        if line == line_end
            || !whole
            || line_end - line < if seen { 40 } else { 4 }
            || line < scan.blocks_until
        {
            break;
        }
        seen = true;
        start = line;
    }
    if seen && keyword.start - start >= MIN_BODY {
        scan.blocks_until = end;
        scan.found("private-key", Certainty::Form, start..end);
    }
}

/// Finds the base64 lines of a private key without a label, by the first bytes. PKCS #1 and PKCS #8 keys are sequences that start
/// with the number 0; certificates and public keys start differently.
pub(crate) fn key_body(scan: &mut Scan<'_>, keyword: Range<usize>) {
    const LEAST: usize = 32;
    let bytes = scan.bytes;
    let start = keyword.start;
    if start < scan.blocks_until || start > 0 && BODY.has(bytes[start - 1]) {
        return;
    }
    // Keywords are found in any case, but base64 is case-sensitive.
    let known = [
        &b"MHcCAQEEI"[..],
        b"MIGHAgEAM",
        b"MC4CAQAwBQYDK2Vw",
        b"b3BlbnNzaC1rZXktdjEA",
    ];
    let begins = known.iter().any(|known| bytes[start..].starts_with(known))
        || matches!(
            &bytes[start..],
            [
                b'M',
                b'I',
                b'I',
                _,
                _,
                b'A' | b'Q' | b'g' | b'w',
                b'I',
                b'B',
                b'A',
                ..
            ]
        );
    if !begins || BODY.run(bytes, start, LEAST) - start < LEAST {
        return;
    }
    if let Some(end) = body_end(bytes, start) {
        let after = Class::of(" \t\r\n").run(bytes, end, 8);
        let labelled = bytes[after..].starts_with(b"----") && is_end_label(bytes, after);
        let end = if labelled { label_end(bytes, after) } else { end };
        scan.blocks_until = end;
        scan.found("private-key", Certainty::Form, start..end);
    }
}

/// Finds the lines of a PuTTY key after `Private-Lines: n`.
pub(crate) fn putty_lines(scan: &mut Scan<'_>, keyword: Range<usize>) {
    let count = Class::of("0-9 \t").run(scan.bytes, keyword.end, 8);
    if let Some(end) = body_end(scan.bytes, count) {
        scan.blocks_until = end;
        scan.found("private-key", Certainty::Form, count..end);
    }
}

/// Returns the end of the dashes after the label at `at`, if it is the label of a private key.
fn private_label(bytes: &[u8], at: usize) -> Option<usize> {
    let end = LABEL.run(bytes, at, 64);
    let label = &bytes[at..end];
    let private =
        label.windows(11).any(|part| part == b"PRIVATE KEY") || label.starts_with(b"OpenVPN Static key");
    (private && bytes[end..].starts_with(b"----")).then(|| Class::of("-").run(bytes, end, 8))
}

/// Returns whether the dashes at `at` start an end label.
fn is_end_label(bytes: &[u8], at: usize) -> bool {
    let after = Class::of("- ").run(bytes, at, 8);
    bytes[after..].starts_with(b"END")
}

/// Returns the end of the end label that starts with the dashes at `at`.
fn label_end(bytes: &[u8], at: usize) -> usize {
    let label = Class::of("-").run(bytes, at, 8);
    let dashes = LABEL.run(bytes, label, 64);
    Class::of("-").run(bytes, dashes, 8)
}

/// Returns whether there is a base64 run of at least [`MIN_BODY`] bytes.
fn has_body(bytes: &[u8]) -> bool {
    bytes
        .split(|byte| !BODY.has(*byte))
        .any(|run| run.len() >= MIN_BODY)
}

/// Returns the end of the body of a block without an end label, or `None` if there is no body.
fn body_end(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    let mut end = None;
    loop {
        let line = skip_between_lines(bytes, at);
        let run = BODY.run(bytes, line, usize::MAX);
        let length = run - line;
        let last = run == bytes.len();
        if length >= 32 || length > 0 && last {
            end = Some(run);
        } else if end.is_some() && length > 0 && matches!(bytes[run], b'\n' | b'\r' | b'\\' | b'"' | b'\'') {
            // The last line of a body may be short.
            return Some(run);
        } else if end.is_none()
            && (bytes.get(run) == Some(&b':') || bytes.get(run) == Some(&b'-') && length > 0)
        {
            // Headers such as `Proc-Type: 4,ENCRYPTED` precede the body.
            at = Class::of("A-Za-z-").run(bytes, run, 32);
            if bytes.get(at) != Some(&b':') {
                return None;
            }
            at += bytes[at..].iter().take(256).position(|byte| *byte == b'\n')?;
            continue;
        } else {
            return end;
        }
        if last {
            return end;
        }
        at = run;
    }
}

/// Skips the text between two lines of a body: line ends (real or escaped), quotes and plus signs of string literals, quote
/// markers of mails, and line numbers.
fn skip_between_lines(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while at < bytes.len() && at < from + 48 {
        match bytes[at] {
            b'\\' if matches!(bytes.get(at + 1), Some(b'n' | b'r' | b't' | b'\\')) => at += 2,
            b' ' | b'\t' | b'\r' | b'\n' | b'"' | b'\'' | b'>' | b'|' | b',' => at += 1,
            b'+' if matches!(bytes.get(at + 1), Some(b' ' | b'\n' | b'\r')) => at += 1,
            b'0'..=b'9' => {
                // A line number: digits, then an arrow, a bar, a tab or a colon.
                let digits = Class::DIGIT.run(bytes, at, 6);
                let after = &bytes[digits..];
                if after.starts_with("→".as_bytes()) {
                    at = digits + "→".len();
                } else if matches!(after.first(), Some(b'\t' | b'|' | b':')) {
                    at = digits + 1;
                } else {
                    return at;
                }
            }
            _ => return at,
        }
    }
    at
}
