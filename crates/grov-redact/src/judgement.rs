//! Decides whether the value of an assignment is a secret, by its name, its syntax and its form.

use crate::assignment::{Name, RANDOM, Value, in_query, starts_line};
use crate::chosen::{is_joined, is_leet};
use crate::key::{self, Meaning};
use crate::scan::Scan;
use crate::value::{
    has_digit, has_letter, has_space, is_hex, is_prose, is_public_identifier, is_stand_in, is_uuid, is_words,
    looks_random,
};

/// Returns whether a value is a secret, if its name means one.
pub(crate) fn is_secret(scan: &Scan<'_>, meaning: Meaning, name: &Name<'_>, value: &Value<'_>) -> bool {
    let text = value.text;
    if value.is_expression || text.len() < 3 || is_stand_in(text) || is_public_identifier(text) {
        return false;
    }
    // Credentials in URLs have their own rule. A colon starts a role or symbol (`:meth:`).
    if is_path(text)
        || text.contains("://")
        || !value.quoted && (text.starts_with(':') || text.ends_with(':'))
    {
        return false;
    }
    // `pass: 98%` is a test result.
    if name.text.eq_ignore_ascii_case("pass") && !value.quoted && !has_letter(text) {
        return false;
    }
    let spaces = has_space(text);
    if !spaces && looks_random(text) && !is_code(text) || value.quoted && is_noise(text) {
        return true;
    }
    if is_header(scan, name) && is_header_value(scan, name, value) {
        return true;
    }
    if meaning == Meaning::Password {
        is_password(scan, name, value)
    } else {
        !spaces && is_generated_secret(meaning, scan, name, value)
    }
}

/// Returns whether an assignment is one argument of a command: `--password=x1.y` or `'password=x1.y'`.
fn is_argument(scan: &Scan<'_>, name: &Name<'_>, value: &Value<'_>) -> bool {
    let before = name.start.checked_sub(1).map(|at| scan.bytes[at]);
    let after = scan.bytes.get(value.range.end).copied();
    name.text.starts_with('-') || matches!(before, Some(b'"' | b'\'')) && before == after
}

/// Returns whether the name is a header such as `X-Api-Key:`.
fn is_header(scan: &Scan<'_>, name: &Name<'_>) -> bool {
    let colon = scan.bytes.get(name.start + name.text.len()) == Some(&b':');
    colon
        && name
            .text
            .get(..2)
            .is_some_and(|start| start.eq_ignore_ascii_case("x-"))
}

/// Returns whether the value of a header is a value and not a description.
fn is_header_value(scan: &Scan<'_>, name: &Name<'_>, value: &Value<'_>) -> bool {
    let text = value.text;
    let one_word = !has_space(text);
    let digit = has_digit(text);
    let letter = has_letter(text);
    let before = name.start.checked_sub(1).map(|at| scan.bytes[at]);
    let whole = matches!(before, Some(b'"' | b'\'')) || starts_line(scan, name);
    one_word && text.len() >= 6 && letter && (digit || whole && value.ends_line)
}

/// Returns whether a value is a password that a person may have chosen.
fn is_password(scan: &Scan<'_>, name: &Name<'_>, value: &Value<'_>) -> bool {
    let text = value.text;
    let words = is_words(text);
    if has_space(text) {
        let sign = text
            .bytes()
            .any(|byte| !byte.is_ascii_alphabetic() && !byte.is_ascii_whitespace());
        return value.quoted && (sign || text.split_whitespace().count() >= 3) && !is_prose(text);
    }
    if words && names_a_password(text) {
        return false;
    }
    if value.quoted {
        return !(words && text.contains(['.', '/', ':', '\'']));
    }
    let identifier = text
        .chars()
        .all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '.'));
    if !identifier {
        return !is_code(text) && text.len() >= 4;
    }
    let digit = has_digit(text);
    let tight = !value.spaced;
    if digit && tight && is_argument(scan, name, value) {
        return text.len() >= 4;
    }
    if digit {
        let upper_name = is_constant(name.text);
        let name_of_something = text.contains(['.', '_']) && !is_leet(text);
        return text.len() >= 4
            && !is_type(text)
            && (tight && (upper_name || !name_of_something)
                || value.spaced && value.ends_line && !name_of_something);
    }
    // Only letters: it may be an identifier.
    if text.contains(['.', '_']) || is_constant(text) && !is_constant(name.text) {
        return false;
    }
    if tight {
        is_constant(name.text) || in_query(scan, name) || starts_line(scan, name) && value.ends_line
    } else {
        let lower = text.bytes().all(|byte| byte.is_ascii_lowercase());
        lower
            && text.len() >= 6
            && value.ends_line
            && starts_line(scan, name)
            && scan.bytes[..value.range.start].trim_ascii_end().ends_with(b":")
    }
}

/// Returns whether a value is a generated secret: long enough, with digits, not words.
fn is_generated_secret(meaning: Meaning, scan: &Scan<'_>, name: &Name<'_>, value: &Value<'_>) -> bool {
    let text = value.text;
    let digit = has_digit(text);
    let letter = has_letter(text);
    if is_code(text) {
        return false;
    }
    if is_constant(text) && is_words(text.trim_end_matches(|c: char| c.is_ascii_digit())) {
        return false;
    }
    if meaning == Meaning::Secret && is_joined(text) && (value.quoted || !value.spaced) {
        return true;
    }
    if is_words(text) {
        // Such as `SECRET=swordfish`.
        let plain = text.bytes().all(|byte| byte.is_ascii_lowercase());
        let announced = value.quoted || !value.spaced && starts_line(scan, name);
        return meaning == Meaning::Secret && plain && text.len() >= 8 && is_constant(name.text) && announced;
    }
    let least = if meaning == Meaning::Token && !is_constant(name.text) {
        12
    } else {
        8
    };
    if text.len() < least || !letter || !(digit || value.quoted && !text.is_ascii()) {
        return false;
    }
    if value.quoted {
        return !text.contains(['(', '<', '{', '$', '\\']);
    }
    if value.spaced {
        let stem = text.trim_end_matches(|c: char| c.is_ascii_digit());
        return value.ends_line && !is_words(stem) && !text.contains("::");
    }
    !is_type(text)
}

/// Returns whether a text is generated from all printable characters, like the keys and salts of WordPress.
pub(crate) fn is_noise(text: &str) -> bool {
    let count = |test: fn(&u8) -> bool| text.bytes().filter(test).count();
    let kind = |byte: u8| {
        (
            byte.is_ascii_lowercase(),
            byte.is_ascii_uppercase(),
            byte.is_ascii_digit(),
        )
    };
    let changes = text
        .as_bytes()
        .windows(2)
        .filter(|pair| kind(pair[0]) != kind(pair[1]))
        .count();
    (24..=256).contains(&text.len())
        && text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
        && !text.contains("\\x")
        && count(u8::is_ascii_lowercase) >= 4
        && count(u8::is_ascii_digit) >= 2
        && count(u8::is_ascii_punctuation) >= if count(u8::is_ascii_uppercase) >= 4 { 2 } else { 6 }
        && changes * 2 >= text.len()
        && count(|byte| *byte == b' ') * 12 <= text.len()
}

/// Returns whether a value is a secret under any name, because it is random.
pub(crate) fn is_random_secret(name: &Name<'_>, value: &Value<'_>) -> bool {
    let text = value.text;
    let least = if key::hints(name.text) { 20 } else { 32 };
    (least..=512).contains(&text.len())
        && text.bytes().all(|byte| RANDOM.has(byte))
        && (value.quoted || value.ends_line || !value.spaced && is_constant(name.text))
        && !value.is_expression
        && is_mixed(text)
        && looks_random(text)
        && !is_hex(text)
        && !is_uuid(text)
        && !is_public_identifier(text)
        && !is_stand_in(text)
        && !key::is_public(name.text)
        && !has_sequence(text)
}

/// Returns whether the text has upper case, lower case and at least two digits.
fn is_mixed(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_uppercase())
        && text.bytes().any(|byte| byte.is_ascii_lowercase())
        && text.bytes().filter(u8::is_ascii_digit).count() >= 2
}

/// Returns whether the text has a sequence of 6 ascending characters, such as `abcdef`. Alphabets and invented values have one.
fn has_sequence(text: &str) -> bool {
    text.as_bytes().windows(6).any(|signs| {
        signs
            .windows(2)
            .all(|pair| pair[0].checked_add(1) == Some(pair[1]))
    })
}

/// Returns whether the text has upper-case letters and no lower-case ones, such as `MAX_SIZE`.
fn is_constant(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_uppercase()) && !text.bytes().any(|byte| byte.is_ascii_lowercase())
}

/// Returns whether the text is a file path.
fn is_path(text: &str) -> bool {
    let rooted = ["/", "./", "../", "~/"].iter().any(|root| text.starts_with(root));
    rooted && !(looks_random(text) && text.bytes().filter(|byte| *byte == b'/').count() <= 2)
}

/// Returns whether the text is an expression in a programming language.
fn is_code(text: &str) -> bool {
    text.contains("::")
        || text.contains("->")
        || text.contains("()")
        || text.contains("&&")
        || text.trim_end_matches('=').contains("==")
        || text.starts_with(['&', '*', '!', '(', '|', '^'])
        || text
            .find(['[', '('])
            .is_some_and(|bracket| bracket > 0 && is_words(&text[..bracket]) && text.ends_with([']', ')']))
        || {
            // Such as `request.headers.token2`.
            let mut parts = text.split('.');
            text.contains('.')
                && parts.all(|part| {
                    part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && is_words(part)
                })
        }
}

/// Returns whether the text is a type with digits, such as `u64` or `Sha256`.
fn is_type(text: &str) -> bool {
    let stem = text.trim_end_matches(|c: char| c.is_ascii_digit());
    #[rustfmt::skip]
    const TYPES: &[&str] = &[
        "u", "i", "f", "int", "uint", "float", "bytes", "string", "varchar", "Sha", "H", "Bytes", "vec",
    ];
    stem.len() < text.len() && TYPES.contains(&stem)
}

/// Returns whether words name or label a password, such as `user.password.label` or `enter_password`.
fn names_a_password(text: &str) -> bool {
    #[rustfmt::skip]
    const WORDS: &[&str] = &[
        "pass", "pwd", "user", "label", "field", "form", "login", "error", "reset", "forgot", "change",
        "config", "setting", "input", "string", "option", "prompt", "secret", "token", "auth", "credential",
        "request", "param",
    ];
    let text = text.to_ascii_lowercase();
    WORDS.iter().any(|word| text.contains(word))
}
