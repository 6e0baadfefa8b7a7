//! Finds generated tokens that no name and no form announces: by their randomness and the words around them.

use crate::codes::{ProductKey, product_key};
use crate::encoded;
use crate::pattern::Class;
use crate::random::{Alphabet, MAX_TOKEN, generated, is_encoded_text};
use crate::scan::{Certainty, Scan};
use crate::seed;
use crate::surroundings::{Directly, Said, is_directly_named, said};
use crate::value::{is_name, is_public_identifier, is_stand_in, is_uuid};
use std::ops::Range;

/// The characters of tokens, and of paths and assignments that hold some.
const RUN: Class = Class::of("A-Za-z0-9+/=_-");
/// Minimum length of a token, in bytes.
const MIN_TOKEN: usize = 16;
/// Minimum length of a token that nothing announces, in bytes.
const MIN_ALONE: usize = 24;
/// Number of bytes that are tested at once.
const BLOCK: usize = 16;

/// Finds all generated tokens.
pub(crate) fn tokens(scan: &mut Scan<'_>) {
    let bytes = scan.bytes;
    let (mut seen, mut line_end) = (0, 0);
    let mut at = 0;
    while at < bytes.len() {
        let mut last = [b' '; BLOCK];
        let block = match bytes.get(at..at + BLOCK).and_then(|block| block.try_into().ok()) {
            Some(block) => block,
            None => {
                let rest = &bytes[at..];
                last[..rest.len()].copy_from_slice(rest);
                &last
            }
        };
        if let Some(inside) = inside_of_token(block) {
            let inside = at + inside;
            if inside >= seen {
                let start = after_escape(bytes, RUN.run_back(bytes, inside, inside - seen));
                let end = RUN.run(bytes, inside, usize::MAX);
                seen = end;
                if end - start >= MIN_TOKEN {
                    run(scan, start..end);
                }
            }
            if seen > at + 2 * BLOCK {
                at = seen - BLOCK;
            }
        } else if at >= line_end.max(BLOCK) && is_plain(block) && is_plain_words(&bytes[at - BLOCK..at]) {
            line_end = seed::line_around(scan, at);
        }
        at += BLOCK;
    }
}

/// Returns whether a block has only small letters and spaces, or only digits, commas and spaces: part of the words of a wallet or of
/// an array. Free of branches too.
fn is_plain(block: &[u8; BLOCK]) -> bool {
    let (mut words, mut numbers) = (1_u8, 1_u8);
    for byte in block {
        let space = u8::from(*byte == b' ');
        words &= u8::from(byte.wrapping_sub(b'a') < 26) | space;
        numbers &= u8::from(byte.wrapping_sub(b'0') < 10) | u8::from(*byte == b',') | space;
    }
    words | numbers != 0
}

/// Returns whether a block is plain and no indentation.
fn is_plain_words(block: &[u8]) -> bool {
    let spaces = block.iter().filter(|byte| **byte == b' ').count();
    spaces <= BLOCK / 2 && block.try_into().is_ok_and(is_plain)
}

/// Returns the start of a run without the letter of an escape such as `\n`, or the end of a terminal colour code.
fn after_escape(bytes: &[u8], start: usize) -> usize {
    let before = start.checked_sub(1).and_then(|at| bytes.get(at));
    let letter = bytes.get(start);
    match (before, letter) {
        (Some(b'\\'), Some(b'n' | b'r' | b't')) => start + 1,
        (Some(b'['), Some(b'0'..=b'9')) => {
            let code = Class::DIGIT.run(bytes, start, 4);
            if bytes.get(code) == Some(&b'm') {
                code + 1
            } else {
                start
            }
        }
        _ => start,
    }
}

/// Returns the offset of one of the two halves of a block that has only characters of tokens, and among them a digit or a capital
/// letter: every token of 16 characters has one. Free of branches, so that the compiler uses vector instructions.
fn inside_of_token(block: &[u8; BLOCK]) -> Option<usize> {
    let mut token = [0_u8; BLOCK];
    let mut code = [0_u8; BLOCK];
    for ((byte, token), code) in block.iter().zip(&mut token).zip(&mut code) {
        let letter = u8::from((byte | 0x20).wrapping_sub(b'a') < 26);
        let digit = u8::from(byte.wrapping_sub(b'0') < 10);
        let upper = u8::from(byte.wrapping_sub(b'A') < 26);
        let joins = u8::from(*byte == b'-') | u8::from(*byte == b'_');
        *token = letter | digit | joins;
        *code = digit | upper;
    }
    const ALL: u64 = 0x0101_0101_0101_0101;
    let half = |bytes: &[u8; BLOCK], second: bool| {
        let at = if second { 8 } else { 0 };
        bytes
            .get(at..at + 8)
            .and_then(|half| half.try_into().ok())
            .map_or(0, u64::from_ne_bytes)
    };
    [false, true]
        .into_iter()
        .find(|second| half(&token, *second) == ALL && half(&code, *second) != 0)
        .map(|second| if second { 8 } else { 0 })
}

/// Judges the parts of a run: those between signs of assignment, then those between slashes, then those between dashes.
fn run(scan: &mut Scan<'_>, run: Range<usize>) {
    let text = &scan.bytes[run.clone()];
    if encoded::may_be_text(text) {
        each_part(scan, run.clone(), |byte| byte == b'=', encoded::secret);
    }
    if run.len() > 4 * MAX_TOKEN || !text.iter().any(u8::is_ascii_digit) {
        return;
    }
    each_part(
        scan,
        run,
        |byte| byte == b'=',
        |scan, part| {
            let part = trimmed(scan.bytes, part);
            if is_product_key(scan, &part) {
                return;
            }
            let part = without_words(scan, part);
            if is_private_number(scan, &part) {
                return scan.found("private-key", Certainty::Place, part);
            }
            if is_plain_digest(&scan.bytes[part.clone()]) {
                let is_named = is_named_digest(scan, &part);
                if is_named && is_uuid(&scan.text[part.clone()]) {
                    scan.found("token", Certainty::Randomness, part);
                    return;
                }
                if !is_named {
                    return;
                }
            }
            if !is_path(scan, &part) && judge(scan, &part) {
                return;
            }
            let whole = part.len();
            if whole > MAX_TOKEN && !is_path(scan, &part) {
                return;
            }
            each_part(
                scan,
                part,
                |byte| byte == b'/',
                |scan, segment| {
                    let is_new = segment.len() < whole;
                    let segment = without_words(scan, segment);
                    if is_new && judge(scan, &segment) {
                        return;
                    }
                    let whole = segment.len();
                    each_part(
                        scan,
                        segment,
                        |byte| matches!(byte, b'-' | b'_'),
                        |scan, piece| {
                            if piece.len() < whole {
                                judge(scan, &piece);
                            }
                        },
                    );
                },
            );
        },
    );
}

/// Calls `visit` for each part between separators that is long enough for a token.
fn each_part(
    scan: &mut Scan<'_>,
    run: Range<usize>,
    separates: fn(u8) -> bool,
    mut visit: impl FnMut(&mut Scan<'_>, Range<usize>),
) {
    let bytes = scan.bytes;
    let mut start = run.start;
    for at in run.start..=run.end {
        if at == run.end || bytes.get(at).copied().is_some_and(separates) {
            if at - start >= MIN_TOKEN {
                visit(scan, start..at);
            }
            start = at + 1;
        }
    }
}

/// Returns whether a part is a number of 32 bytes and the text around it says that it is the key of a wallet.
fn is_private_number(scan: &Scan<'_>, part: &Range<usize>) -> bool {
    const WORDS: &[&str] = &[
        "wallet", "private", "privkey", "signer", "deployer", "mnemonic", "secret", "accounts",
    ];
    const OTHER: &[&str] = &[
        "hash", "tx", "topic", "root", "slot", "block", "public", "address", "commit", "digest", "proof",
        "salt",
    ];
    let text = &scan.bytes[part.clone()];
    if text.len() != 66 || !text.starts_with(b"0x") || !text[2..].iter().all(u8::is_ascii_hexdigit) {
        return false;
    }
    let before = line_before(scan, part.start).to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| before.contains(word));
    says(WORDS) && !says(OTHER) || said_after(scan, part.end) == Said::KeyOfSomething
}

/// Reports a product key. Returns whether the part is one.
fn is_product_key(scan: &mut Scan<'_>, part: &Range<usize>) -> bool {
    let groups = &scan.bytes[part.clone()];
    if groups.iter().any(u8::is_ascii_lowercase) || !groups.contains(&b'-') {
        return false;
    }
    let Some(key) = scan.text.get(part.clone()).and_then(product_key) else {
        return false;
    };
    let certain = key == ProductKey::Certain
        || !matches!(said(line_before(scan, part.start)), Said::Nothing | Said::Public);
    if certain {
        scan.found("secret", Certainty::Form, part.clone());
    }
    true
}

/// Returns a part without separators at its start.
fn trimmed(bytes: &[u8], part: Range<usize>) -> Range<usize> {
    const SEPARATORS: Class = Class::of("/+_-");
    SEPARATORS.run(bytes, part.start, part.len())..part.end
}

/// Returns whether a run has only hexadecimal digits in small letters, and dashes: a digest, a revision or a UUID.
fn is_plain_digest(run: &[u8]) -> bool {
    run.iter()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f' | b'-'))
}

/// Returns whether a digest is named like a secret. A first check, because logs are full of digests and UUIDs.
fn is_named_digest(scan: &Scan<'_>, part: &Range<usize>) -> bool {
    if is_uuid(&scan.text[part.clone()]) {
        let before = line_before(scan, part.start);
        return said(before) == Said::KeyOfSomething && is_directly_named(before, Directly::AsKey);
    }
    // A key of Mailgun.
    let groups = scan.bytes[part.clone()]
        .split(|byte| *byte == b'-')
        .map(<[u8]>::len);
    groups.eq([32, 8, 8])
        || part.len() >= 32
            && !scan.bytes[part.clone()].contains(&b'-')
            && match said(line_before(scan, part.start)) {
                Said::KeyOfSomething | Said::Provider => true,
                Said::Nothing => said_after(scan, part.end) == Said::KeyOfSomething,
                Said::Secret => {
                    let before = line_before(scan, part.start);
                    names_a_digest(before)
                        || is_random_digest(part) && is_directly_named(before, Directly::AsSecret)
                }
                Said::Public => false,
            }
}

/// Returns whether a digest has another length than a revision and a checksum.
fn is_random_digest(digest: &Range<usize>) -> bool {
    digest.len() >= 32 && !matches!(digest.len(), 40 | 64)
}

/// Returns whether a digest directly follows a word for a secret, as in the name of a file (`token-….json`) or in a key file of Kaggle.
fn names_a_digest(before: &str) -> bool {
    let before = before.to_ascii_lowercase();
    ["token-", "token_", "key-", "key_", "secret-"]
        .iter()
        .any(|word| before.ends_with(word))
        || before.contains("\"username\"")
            && before
                .trim_end()
                .trim_end_matches('"')
                .trim_end()
                .ends_with("\"key\":")
}

/// Returns what the words after a token say: "… is the api key".
fn said_after(scan: &Scan<'_>, at: usize) -> Said {
    const MAX_AFTER: usize = 48;
    let to = scan.text.floor_char_boundary(at.saturating_add(MAX_AFTER));
    let after = scan
        .text
        .get(at..to)
        .unwrap_or_default()
        .trim_start_matches(['`', '"', '\'']);
    let after = ["is ", "as ", "ist ", "als ", "est ", "es ", "(", "<- "]
        .iter()
        .find_map(|word| after.trim_start().strip_prefix(word));
    let Some(after) = after.and_then(|after| after.split(['\n', '.', ',', ';', ')']).next()) else {
        return Said::Nothing;
    };
    said(after)
}

/// Returns what the part of a path before a token says: `/reset/…`, `/webhook/…`.
fn said_by_path(word: &str) -> Said {
    #[rustfmt::skip]
    const PARTS: &[&str] = &[
        "magic", "reset", "verify", "confirm", "activate", "invite", "invitation", "login", "signin", "token", "key", "push", "hook",
        "hooks",
        "webhook", "webhooks", "auth", "private", "secret", "session", "bot", "ical", "feed", "unsubscribe", "password", "incoming",
        "trigger",
    ];
    let part = word.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let part = part.rsplit(['-', '_']).next().unwrap_or_default();
    if PARTS.contains(&part.to_ascii_lowercase().as_str()) {
        Said::Secret
    } else {
        Said::Nothing
    }
}

/// Returns whether a part is a path: one of its segments is a word.
fn is_path(scan: &Scan<'_>, part: &Range<usize>) -> bool {
    let text = &scan.text[part.clone()];
    let is_plain = |segment: &str| is_name(segment) || segment.bytes().all(|byte| byte.is_ascii_digit());
    // Keys of 30, 32 and 64 bytes in base64 have a slash and perhaps letters alone between two.
    let is_key = matches!(text.len(), 40 | 43 | 86) && generated(text) == Some(Alphabet::Mixed);
    text.contains('/') && !is_key && text.split('/').any(is_plain)
}

/// Returns a segment without the words at its start: `backup_hf_…`, `rotate-aws-secret-…`.
fn without_words(scan: &Scan<'_>, segment: Range<usize>) -> Range<usize> {
    let mut start = segment.start;
    while let Some(length) = scan.bytes[start..segment.end]
        .iter()
        .take(16)
        .position(|byte| matches!(byte, b'-' | b'_'))
    {
        let word = &scan.bytes[start..start + length];
        let is_word = word.len() <= 1
            || word.iter().all(u8::is_ascii_lowercase)
            || word.iter().all(u8::is_ascii_uppercase);
        if !is_word {
            break;
        }
        start += length + 1;
    }
    start..segment.end
}

/// Reports a token if it is a secret. Returns whether it looks generated, so that its parts need no judgement.
fn judge(scan: &mut Scan<'_>, range: &Range<usize>) -> bool {
    let Some(text) = scan.text.get(range.clone()) else {
        return true;
    };
    let Some(alphabet) = generated(text) else {
        return false;
    };
    let place = Place::of(scan, range);
    let said = match said(place.before) {
        Said::Nothing => said_after(scan, range.end),
        said => said,
    };
    let said = if place.in_url {
        said_by_path(place.word)
    } else {
        said
    };
    let length = text.len();
    let is_secret = match (alphabet, said) {
        (_, Said::Public) => false,
        (Alphabet::Mixed, Said::Nothing) => length >= MIN_ALONE && !place.in_url && !is_encoded_text(text),
        (Alphabet::Mixed, Said::Secret) => !is_encoded_text(text),
        (Alphabet::Mixed, _) => true,
        (Alphabet::MixedWords, Said::Secret) => length >= 20 && !is_encoded_text(text),
        (Alphabet::MixedWords | Alphabet::OneCase, Said::KeyOfSomething | Said::Provider) => length >= 20,
        (Alphabet::OneCase, Said::Secret) => length >= 24,
        (Alphabet::Hex, Said::KeyOfSomething | Said::Provider) => length >= 32 && !place.in_url,
        (Alphabet::Hex, Said::Secret)
            if is_directly_named(place.before, Directly::AsSecret) && is_random_digest(range) =>
        {
            length >= 32 && !place.in_url
        }
        (Alphabet::Hex, _) => length >= 32 && !place.in_url && names_a_digest(place.before),
        (Alphabet::MixedWords | Alphabet::OneCase, _) => false,
    };
    if is_secret && !is_public_identifier(text) && !is_stand_in(text) && !place.is_harmless(scan, range) {
        const PADDING: Class = Class::of("=");
        let padding = PADDING.run(scan.bytes, range.end, 2);
        let (start, end) = with_joined(scan, range.start, padding);
        scan.found("high-entropy", Certainty::Randomness, start..end);
    }
    true
}

/// Extends a token by the generated parts that dots join to it: `5f23….wnxg…`.
fn with_joined(scan: &Scan<'_>, start: usize, end: usize) -> (usize, usize) {
    const PART: Class = Class::of("A-Za-z0-9_-");
    let bytes = scan.bytes;
    let is_generated = |from: usize, to: usize| {
        scan.text
            .get(from..to)
            .is_some_and(|part| generated(part).is_some())
    };
    let mut joined = (start, end);
    if bytes.get(end) == Some(&b'.') {
        let next = PART.run(bytes, end + 1, MAX_TOKEN);
        if is_generated(end + 1, next) {
            joined.1 = next;
        }
    }
    if let Some(dot) = start.checked_sub(1).filter(|dot| bytes[*dot] == b'.') {
        let previous = PART.run_back(bytes, dot, MAX_TOKEN);
        if is_generated(previous, dot) {
            joined.0 = previous;
        }
    }
    joined
}

/// The place of a token in its line.
struct Place<'t> {
    /// The line before the token, at most [`MAX_BEFORE`] bytes.
    before: &'t str,
    /// The word before the token, up to white space or a quote.
    word: &'t str,
    /// Whether it is in the path of a URL, or in a query under a harmless name.
    in_url: bool,
}

/// Number of bytes before a token that are read.
const MAX_BEFORE: usize = 96;

/// Returns the line before a place, at most [`MAX_BEFORE`] bytes. Of a place that starts its line, the line above, which may be the
/// name of a file or a heading.
fn line_before<'t>(scan: &Scan<'t>, at: usize) -> &'t str {
    let from = scan.text.ceil_char_boundary(at.saturating_sub(MAX_BEFORE));
    let before = scan.text.get(from..at).unwrap_or_default();
    let Some(end) = memchr::memrchr(b'\n', before.as_bytes()) else {
        return before;
    };
    let (above, line) = before.split_at(end);
    let line = &line[1..];
    if !line.bytes().all(|byte| b" \t\"'`>*-".contains(&byte)) {
        return line;
    }
    let above = above.trim_end();
    // A line of code above says nothing.
    let lower = above.to_ascii_lowercase();
    let names = [":", "key", "token", "secret", "password", "passwort", "pat"]
        .iter()
        .any(|ending| lower.ends_with(ending));
    if names {
        memchr::memrchr(b'\n', above.as_bytes()).map_or(above, |end| &above[end + 1..])
    } else {
        line
    }
}

impl<'t> Place<'t> {
    fn of(scan: &Scan<'t>, range: &Range<usize>) -> Self {
        let before = line_before(scan, range.start);
        let word = before
            .rsplit(|letter: char| {
                letter.is_whitespace() || matches!(letter, '"' | '\'' | '`' | '<' | '>' | '(' | '|')
            })
            .next()
            .unwrap_or_default();
        let in_url = is_in_url(scan.bytes, range.start);
        Self { before, word, in_url }
    }

    /// Returns whether what stands around the token shows that it is no secret.
    fn is_harmless(&self, scan: &Scan<'_>, range: &Range<usize>) -> bool {
        #[rustfmt::skip]
        const PREFIXES: &[&str] = &[
            "sha1-", "sha256-", "sha384-", "sha512-", "sha1:", "sha256:", "sha384:", "sha512:", "sha256/", "sha512/", "md5-", "md5:",
            "h1:", "base64,", "toolu_", "srvtoolu_", "msg_", "req_", "call_", "chatcmpl-", "pk_live_", "pk_test_", "phc_", "ssh-rsa ",
            "_ZN", "?b?", "?B?", "nix/store/", "arn:", "LS0tLS1CRUdJTi",
        ];
        let after = scan.bytes.get(range.end..).unwrap_or_default();
        PREFIXES.iter().any(|prefix| self.word.contains(prefix))
            || self.before.ends_with("::")
            // The coordinates of a public key in JSON.
            || ["\"x\":", "\"y\":", "\"n\":", "\"e\":", "\"x5c\":"].iter().any(|name| self.before.trim_end_matches([' ', '"', '[']).ends_with(name))
            || names_an_asset(after)
            || Self::in_lines_of_data(scan, range)
    }

    /// Returns whether the token is in a line of base64 next to another such line or to a label: a certificate, an image. Private
    /// keys have their own rule.
    fn in_lines_of_data(scan: &Scan<'_>, range: &Range<usize>) -> bool {
        const MAX_LINE: usize = 160;
        let bytes = scan.bytes;
        let before = &bytes[range.start.saturating_sub(2 * MAX_LINE)..range.start];
        let after = &bytes[range.end..bytes.len().min(range.end + 2 * MAX_LINE)];
        let is_break = |byte: &u8| *byte == b'\n';
        let line_start = range.start - before.rsplit(is_break).next().map_or(0, <[u8]>::len);
        let line_end = range.end + after.split(is_break).next().map_or(0, <[u8]>::len);
        let Some(length) = length_of_data(&bytes[line_start..line_end]) else {
            return false;
        };
        let is_data = |line: &[u8]| {
            let is_label = line.windows(5).any(|signs| signs == b"-----");
            is_label
                || length_of_data(line)
                    .is_some_and(|other| length.max(other) >= 60 && length.min(other) >= 16)
        };
        before.rsplit(is_break).nth(1).is_some_and(is_data)
            || after.split(is_break).nth(1).is_some_and(is_data)
    }
}

/// Returns the length of the base64 in a line that has nothing else but quotes and signs of comments.
fn length_of_data(line: &[u8]) -> Option<usize> {
    let is_data = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let start = line.iter().position(u8::is_ascii_alphanumeric)?;
    // The prefix of a literal: `b"…"`.
    let start = if matches!(line[start..], [b'b' | b'u' | b'r', b'"' | b'\'', ..]) {
        start + 2
    } else {
        start
    };
    let length = line[start..].iter().take_while(|byte| is_data(byte)).count();
    let rest = &line[start + length..];
    let is_plain = |byte: &u8| b"=\"' \t\r\\n,;+)".contains(byte);
    rest.iter().all(is_plain).then_some(length)
}

/// Returns whether a place is in the path of a URL.
fn is_in_url(bytes: &[u8], at: usize) -> bool {
    const MAX_URL: usize = 512;
    let before = &bytes[at.saturating_sub(MAX_URL)..at];
    let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'(');
    let word = before.rsplit(ends).next().unwrap_or_default();
    word.windows(3).any(|signs| signs == b"://") && !word.contains(&b'?')
}

/// Returns whether the ending of a built file follows: its name has the hash of its content.
fn names_an_asset(after: &[u8]) -> bool {
    #[rustfmt::skip]
    const ENDINGS: &[&[u8]] = &[
        b".js", b".mjs", b".cjs", b".css", b".map", b".woff", b".png", b".jpg", b".jpeg", b".svg", b".webp", b".gif", b".ico", b".wasm",
        b".html", b".chunk", b".bundle", b".min", b".so", b".dll", b".rlib", b".rmeta", b".o", b".d", b".pdf", b".mp4", b".avif",
    ];
    ENDINGS.iter().any(|ending| {
        after.starts_with(ending) && !after.get(ending.len()).is_some_and(u8::is_ascii_alphanumeric)
    })
}
