//! Finds secrets in base64: constants and arguments that encode a login, an assignment or a key, such as
//! `echo am86aHVudGVyLTIy… | base64 -d`.

use crate::chosen::is_made;
use crate::pattern::Class;
use crate::random::{base64_digit, decoded};
use crate::scan::{Certainty, Scan};
use std::ops::Range;

/// Maximum length of a token that is decoded, in bytes. Longer ones are data.
const MAX_ENCODED: usize = 4096;
/// Minimum length of one that is not announced, in bytes.
const MIN_ENCODED: usize = 16;

/// The question for a password in the dialogue of `AUTH LOGIN`: "Password:" in base64.
pub(crate) const QUESTION: &[&str] = &["334 UGFzc3dvcmQ6"];

/// Returns whether one of the parts between signs of assignment may be base64 of a text. A fast check: nearly no path, name or
/// key begins like one.
pub(crate) fn may_be_text(run: &[u8]) -> bool {
    run.len() <= MAX_ENCODED
        && run
            .split(|byte| *byte == b'=')
            .any(|part| part.len() >= MIN_ENCODED && begins_with_text(part))
}

/// Returns whether the first six bytes that a token encodes are printable ASCII.
fn begins_with_text(token: &[u8]) -> bool {
    token.first_chunk::<8>().is_some_and(|first| {
        first.as_chunks::<4>().0.iter().all(|four| {
            let three = four.iter().try_fold(0_u32, |bits, digit| {
                Some(bits << 6 | u32::from(base64_digit(*digit)?))
            });
            three.is_some_and(|three| {
                [16, 8, 0]
                    .iter()
                    .all(|shift| matches!((three >> shift & 0xFF) as u8, b' '..=b'~' | b'\n' | b'\t' | b'\r'))
            })
        })
    })
}

/// The beginnings of certificates and public keys in base64.
const PUBLIC: &[&[u8]] = &[b"LS0tLS1CRUdJTiBDRVJU", b"LS0tLS1CRUdJTiBQVUJM"];

/// Finds a token that encodes a secret.
pub(crate) fn secret(scan: &mut Scan<'_>, token: Range<usize>) {
    let bytes = &scan.bytes[token.clone()];
    if begins_with_text(bytes)
        && !PUBLIC.iter().any(|beginning| bytes.starts_with(beginning))
        && let Some(text) = scan.text.get(token.clone())
        && let Some(decoded) = decoded(text)
        && holds_secret(&decoded)
    {
        found(scan, token);
    }
}

/// Finds the answer to [`QUESTION`] in the next line.
pub(crate) fn answer(scan: &mut Scan<'_>, question: Range<usize>) {
    const BETWEEN: Class = Class::of(" \t\r\n<>CSc:-");
    const MIN_ANSWER: usize = 8;
    let start = BETWEEN.run(scan.bytes, question.end, 16);
    let end = Class::of("A-Za-z0-9+/").run(scan.bytes, start, MAX_ENCODED);
    if end - start >= MIN_ANSWER && scan.bytes[question.end..start].contains(&b'\n') {
        found(scan, start..end);
    }
}

fn found(scan: &mut Scan<'_>, token: Range<usize>) {
    let end = Class::of("=").run(scan.bytes, token.end, 2);
    scan.found("secret", Certainty::Place, token.start..end);
}

/// Returns whether a decoded text is a login, or has a secret that more than its randomness tells.
fn holds_secret(decoded: &[u8]) -> bool {
    let text = match std::str::from_utf8(decoded) {
        Ok(text) => text,
        // The last character may be cut.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&decoded[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    let text = text.trim_end();
    let is_control = |letter: char| letter.is_control() && !letter.is_whitespace();
    !text.contains(is_control)
        && (is_login(text) || Scan::run(text).iter().any(|found| found.rule != "high-entropy"))
}

/// Returns whether a text is `user:password`, with a password that a person or a program chose.
fn is_login(text: &str) -> bool {
    const USER: Class = Class::of("A-Za-z0-9_.@+-");
    text.split_once(':').is_some_and(|(user, password)| {
        !user.is_empty() && user.bytes().all(|byte| USER.has(byte)) && is_made(password)
    })
}

#[cfg(test)]
mod tests {
    use crate::Redactor;

    /// `deploy:Moorhuhn-quert-4`, `kasse:plum!Kettle9` and `DB_PASSWORD=Kn0blauch-zopf`.
    const SECRETS: &[&str] = &[
        "ZGVwbG95Ok1vb3JodWhuLXF1ZXJ0LTQ=",
        "a2Fzc2U6cGx1bSFLZXR0bGU5",
        "REJfUEFTU1dPUkQ9S24wYmxhdWNoLXpvcGY=",
    ];

    #[test]
    fn a_secret_in_base64_is_found_wherever_it_is_decoded() {
        for context in [
            "echo {} | base64 -d",
            "base64 --decode <<< '{}'",
            "const [user, pw] = atob('{}').split(':');",
            "login = base64.b64decode(b\"{}\")",
            "LOGIN_B64={}",
            "{}",
        ] {
            for secret in SECRETS {
                let masked = Redactor::shared()
                    .redact(&context.replace("{}", secret))
                    .into_owned();
                assert!(!masked.contains(&secret[..16]), "{masked}");
                assert_eq!(Redactor::shared().redact(&masked), masked, "twice");
            }
        }
    }

    #[test]
    fn the_password_of_a_dialogue_in_base64_is_found() {
        let text = "< 334 UGFzc3dvcmQ6\n> U2llYi51bmQ=\n< 235 ok";
        assert_eq!(
            Redactor::shared().redact(text),
            "< 334 UGFzc3dvcmQ6\n> [redacted:secret]\n< 235 ok"
        );
    }

    #[test]
    fn other_base64_stays() {
        for text in [
            // "hello world, this is a test", "Content-Type: text/plain", "2026-11-28T12:30:05", "https://moor.net/docs", "id:1042".
            "echo aGVsbG8gd29ybGQsIHRoaXMgaXMgYSB0ZXN0 | base64 -d",
            "atob('Q29udGVudC1UeXBlOiB0ZXh0L3BsYWlu')",
            "base64.b64decode('MjAyNi0xMS0yOFQxMjozMDowNQ==')",
            "Buffer.from('aHR0cHM6Ly9tb29yLm5ldC9kb2Nz', 'base64')",
            "cursor: aWQ6MTA0Mg==",
            "< 334 UGFzc3dvcmQ6\n< 421 timeout",
        ] {
            assert_eq!(Redactor::shared().redact(text), text);
        }
    }
}
