//! Passwords that are known by their place: after a share, in a dialogue, in a pair of user and password, in a file name made of a
//! URL.

use crate::MASK_START;
use crate::chosen::{is_leet, is_made, is_numbered, is_word_with_number};
use crate::prose;
use crate::scan::{Certainty, Scan};
use crate::token::continues_a_word;
use crate::value::{is_hex, is_stand_in};
use std::ops::Range;

/// Maximum number of bytes after a keyword that are read.
const MAX_DISTANCE: usize = 160;

/// Words of a sentence that a passphrase rarely has.
#[rustfmt::skip]
const SENTENCE_WORDS: &[&str] = &[
    "for", "the", "this", "is", "are", "not", "to", "of", "required", "asked", "missing", "wrong", "invalid", "at", "has", "must",
];

/// The rest of the line after a keyword.
fn rest<'t>(scan: &Scan<'t>, keyword: &Range<usize>) -> &'t str {
    let text = scan.text;
    let end = text.floor_char_boundary(keyword.end.saturating_add(MAX_DISTANCE));
    let rest = text.get(keyword.end..end).unwrap_or_default();
    rest.split('\n').next().unwrap_or_default()
}

/// Reports a part of the text after a keyword, unless it is masked or empty.
fn report(scan: &mut Scan<'_>, keyword: &Range<usize>, rest: &str, part: Range<usize>) {
    let is_masked = rest
        .get(part.clone())
        .is_none_or(|part| part.contains(MASK_START));
    if !part.is_empty() && !is_masked {
        let range = keyword.end + part.start..keyword.end + part.end;
        scan.found("password", Certainty::Place, range);
    }
}

/// The words of a text with their places.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let start = text.as_ptr() as usize;
    // Words are slices of the text.
    text.split_whitespace()
        .map(move |word| (word.as_ptr() as usize - start, word))
}

/// Finds the password after a share: `net use Z: \\host\share hunter-22`.
pub(crate) fn share(scan: &mut Scan<'_>, keyword: Range<usize>) {
    let rest = rest(scan, &keyword);
    let after = words(rest)
        .skip_while(|(_, word)| !word.starts_with("\\\\"))
        .nth(1);
    if let Some((at, word)) = after.filter(|(_, word)| !word.starts_with(['/', '*', '|', '&', ';', '>'])) {
        report(scan, &keyword, rest, at..at + word.len());
    }
}

/// Finds the reply to a question for a password in a program: `read_until(b"Password: ")`, then `write(b"hunter-22\n")`.
pub(crate) fn written(scan: &mut Scan<'_>, keyword: Range<usize>) {
    let from = scan
        .text
        .floor_char_boundary(keyword.start.saturating_sub(MAX_DISTANCE));
    let before = scan.text.get(from..keyword.start).unwrap_or_default();
    let last = before.rfind("assw").or_else(|| before.rfind("assphrase"));
    let is_asked = ["expect", "read_until", "wait_for", "waitfor"]
        .iter()
        .any(|word| before.contains(word));
    // Another reply in between answers the question.
    let is_last = last.is_some_and(|at| !before[at..].contains("send") && !before[at..].contains("write("));
    let rest = rest(scan, &keyword);
    let quote = scan.text[keyword.clone()].chars().last().unwrap_or('"');
    let reply = rest.split(quote).next().unwrap_or_default();
    let reply = reply.split("\\r").next().unwrap_or_default();
    let reply = reply.split("\\n").next().unwrap_or_default();
    if is_asked && is_last && reply.len() >= 4 && !reply.starts_with(['$', '{']) {
        report(scan, &keyword, rest, 0..reply.len());
    }
}

/// Finds the password that a server made for its administrator: "A temporary password is generated for root@localhost: …".
pub(crate) fn generated(scan: &mut Scan<'_>, keyword: Range<usize>) {
    let rest = rest(scan, &keyword);
    let Some((name, password)) = rest.split_once(": ") else {
        return;
    };
    let password = password.split_whitespace().next().unwrap_or_default();
    if !name.trim().contains(' ') && password.len() >= 8 && !is_stand_in(password) {
        let at = password.as_ptr() as usize - rest.as_ptr() as usize;
        report(scan, &keyword, rest, at..at + password.len());
    }
}

/// Finds the password of a session of `ftp`: a line `user jo hunter-22`.
pub(crate) fn session(scan: &mut Scan<'_>, keyword: Range<usize>) {
    let rest = rest(scan, &keyword);
    let mut words = words(rest);
    if let (Some(_), Some((at, password)), None) = (words.next(), words.next(), words.next())
        && is_made(password)
    {
        report(scan, &keyword, rest, at..at + password.len());
    }
}

/// Finds the passwords in the lines of `user:password` below `chpasswd`.
pub(crate) fn list(scan: &mut Scan<'_>, keyword: Range<usize>) {
    const MAX_LINES: usize = 8;
    const MAX_LIST: usize = 512;
    let to = scan
        .text
        .floor_char_boundary(keyword.end.saturating_add(MAX_LIST));
    let list = &scan.text[keyword.end..to];
    let mut found = Vec::new();
    for line in list.lines().skip(1).take(MAX_LINES) {
        let line = line.trim_start_matches([' ', '\t', '-', '"', '\'']);
        let line = line.trim_end_matches(['"', '\'', ' ']);
        if let Some((user, password)) = line.split_once(':')
            && user
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
            && !user.is_empty()
            && !password.contains(char::is_whitespace)
            && (is_made(password) || is_word_with_number(password))
        {
            let start = keyword.end + (password.as_ptr() as usize - list.as_ptr() as usize);
            found.push(start..start + password.len());
        }
    }
    for range in found {
        scan.found("password", Certainty::Place, range);
    }
}

/// Finds the reply to a question for a password: `expect "assword:"; send "hunter-22\r"`.
pub(crate) fn reply(scan: &mut Scan<'_>, keyword: Range<usize>) {
    let from = scan
        .text
        .floor_char_boundary(keyword.start.saturating_sub(MAX_DISTANCE));
    let before = scan.text.get(from..keyword.start).unwrap_or_default();
    // The question is the last one before the reply.
    let question = before
        .rfind("expect")
        .and_then(|at| before.get(at..))
        .unwrap_or_default();
    if !["assword", "assphrase", "asswort"]
        .iter()
        .any(|word| question.contains(word))
    {
        return;
    }
    let rest = rest(scan, &keyword);
    let mut reply = rest.split('"').next().unwrap_or_default();
    // Escapes go as pairs: a password may end in "r".
    while let Some(before) = reply.strip_suffix("\\r").or_else(|| reply.strip_suffix("\\n")) {
        reply = before;
    }
    if !reply.starts_with('$') {
        report(scan, &keyword, rest, 0..reply.len());
    }
}

/// Finds the password in a pair after words such as "creds:": `jo/hunter-22`, `jo / hunter-22`, `jo:hunter-22`.
pub(crate) fn pair(scan: &mut Scan<'_>, keyword: Range<usize>) {
    let rest = rest(scan, &keyword);
    let elaborate =
        words(rest).map(|(at, word)| (at, word.trim_end_matches(['.', ',', ';', ')', '"', '\'', '`'])));
    let mut elaborate = elaborate.filter(|(_, word)| {
        is_made(word) && (prose::is_elaborate(word) || is_leet(word) || is_numbered(word))
    });
    if let Some((at, word)) = elaborate.next() {
        return report(scan, &keyword, rest, at..at + word.len());
    }
    let mut words = words(rest).filter(|(_, word)| {
        !matches!(
            *word,
            "is" | "are" | ":" | "sind" | "son" | "sono" | "são" | "sont"
        )
    });
    let Some((at, first)) = words.next() else { return };
    let (at, password) = match first.split_once(['/', ':']) {
        Some((user, password)) if !user.is_empty() && !password.is_empty() => (at + user.len() + 1, password),
        Some(_) => return,
        None => match (words.next(), words.next()) {
            (Some((_, "/")), Some((at, password))) => (at, password),
            (Some((at, password)), _) if first.ends_with(',') => (at, password),
            _ => return,
        },
    };
    let password = password.trim_end_matches(['.', ',', ';', ')', '"', '\'', '`']);
    if is_made(password) {
        report(scan, &keyword, rest, at..at + password.len());
    }
}

/// Finds the password that a sentence joins to a user: "log in as jo with hunter-22", "anmelden mit jo / hunter-22".
pub(crate) fn login(scan: &mut Scan<'_>, keyword: Range<usize>) {
    #[rustfmt::skip]
    const JOINING: &[&str] = &[
        "/", "|", ":", "and", "with", "using", "und", "mit", "et", "avec", "y", "con", "e", "com", "en", "met", "i", "z", "och", "med",
    ];
    let rest = rest(scan, &keyword);
    let mut words = words(rest).skip_while(|(_, word)| matches!(*word, "is" | "ist" | "się" | "jako"));
    let (Some((_, user)), Some((mut at, mut password))) = (words.next(), words.next()) else {
        return;
    };
    if JOINING.contains(&password) {
        let Some(next) = words.next() else { return };
        (at, password) = next;
    } else if !user.ends_with([',', ':']) {
        return;
    }
    let password = password.trim_end_matches(['.', ',', ';', ')', '"', '\'', '`']);
    if is_made(password) {
        report(scan, &keyword, rest, at..at + password.len());
    }
}

/// Finds the password after "pw".
pub(crate) fn short_name(scan: &mut Scan<'_>, keyword: Range<usize>) {
    // `bypass` is another word.
    let begins = scan.bytes[keyword.start].is_ascii_alphabetic();
    let before = keyword.start.checked_sub(1).map(|at| scan.bytes[at]);
    if begins
        && (continues_a_word(scan.bytes, keyword.start) || before.is_some_and(|byte| b"_-./".contains(&byte)))
    {
        return;
    }
    // `PASS LoginForm2` is the result of a test, except where a user signs in.
    let is_result = &scan.text[keyword.clone()] == "PASS " && {
        let from = scan
            .text
            .floor_char_boundary(keyword.start.saturating_sub(MAX_DISTANCE));
        let to = scan.text.floor_char_boundary(keyword.end + MAX_DISTANCE);
        let around = &scan.text[from..to];
        !["USER", "NICK"].iter().any(|word| around.contains(word))
    };
    if is_result {
        return;
    }
    let rest = rest(scan, &keyword);
    let is_copula = |word: &str| matches!(word, "is" | "ist" | "=" | ":");
    // "…, pass moosgabel77".
    let name = scan.text[keyword.clone()].trim();
    let follows_comma = || scan.text[..keyword.start + 1].trim_end().ends_with(',');
    let is_stated =
        name.ends_with([':', '=']) || name.ends_with(" is") || rest.starts_with("is ") || follows_comma();
    let mut words = words(rest).skip_while(|(_, word)| is_copula(word));
    let Some((at, word)) = words.next() else { return };
    // In a string: `PASS hunter-22\r\n`.
    let word = word.split("\\r").next().unwrap_or_default();
    let word = word.split("\\n").next().unwrap_or_default();
    let word = word.trim_end_matches(['.', ',', ';', ')', '"', '\'', '`']);
    if is_made(word) || is_stated && is_word_with_number(word) {
        report(scan, &keyword, rest, at..at + word.len());
    } else if scan.text[keyword.clone()].trim().eq_ignore_ascii_case("pw")
        && scan.bytes[keyword.end - 1] == b' '
    {
        // "pw for the printer is …"
        prose::password(scan, keyword.start..keyword.end - 1);
    }
}

/// Finds the password in `u: jo p: hunter-22`.
pub(crate) fn half_pair(scan: &mut Scan<'_>, keyword: Range<usize>) {
    let from = scan
        .text
        .floor_char_boundary(keyword.start.saturating_sub(MAX_DISTANCE));
    let before = scan.text[from..keyword.start]
        .rsplit('\n')
        .next()
        .unwrap_or_default();
    if !["u:", "u=", "user:", "login:"]
        .iter()
        .any(|user| before.contains(user))
    {
        return;
    }
    let rest = rest(scan, &keyword);
    if let Some((at, word)) = words(rest).next().filter(|(_, word)| is_made(word)) {
        report(scan, &keyword, rest, at..at + word.len());
    }
}

/// Finds the password in the text of a QR code for a wireless network: `WIFI:S:name;T:WPA;P:hunter-22;;`.
pub(crate) fn wireless(scan: &mut Scan<'_>, keyword: Range<usize>) {
    let rest = rest(scan, &keyword);
    let Some(at) = rest
        .find("P:")
        .filter(|at| *at == 0 || rest[..*at].ends_with(';'))
    else {
        return;
    };
    let start = at + 2;
    let length = rest[start..].find(';').unwrap_or_default();
    report(scan, &keyword, rest, start..start + length);
}

/// Finds the password in a file name made of a URL: `https_jo:hunter-22@host_index.html`.
pub(crate) fn file_of_url(scan: &mut Scan<'_>, keyword: Range<usize>) {
    let rest = rest(scan, &keyword);
    let name = rest
        .split(|character: char| character.is_whitespace() || matches!(character, '/' | '"' | '\'' | '`'))
        .next()
        .unwrap_or_default();
    if let Some((authority, _)) = name.rsplit_once('@')
        && let Some((user, password)) = authority.split_once(':')
        && !user.is_empty()
        && !password.starts_with(['$', '{', '<'])
    {
        report(scan, &keyword, rest, user.len() + 1..authority.len());
    } else if let Some((authority, _)) = name.rsplit_once('@') {
        // A key alone, as in the address of Sentry.
        let key = authority.trim_start_matches('_');
        if key.len() == 32 && is_hex(key) {
            report(scan, &keyword, rest, authority.len() - key.len()..authority.len());
        }
    }
}

/// Returns whether a phrase with a figure says how long something is, or counts it.
fn limits(phrase: &str) -> bool {
    #[rustfmt::skip]
    const WORDS: &[&str] = &[
        "min", "max", "length", "least", "most", "char", "zeichen", "läng", "stellen", "long", "step", "page", "version", "level", "error", "code",
        "line", "test", "use", "enter", "caract", "caratter", "znak", "символ", "day", "tage", "jour",
    ];
    let phrase = phrase.to_lowercase();
    WORDS.iter().any(|word| phrase.contains(word))
}

/// Returns the place of the first quotation mark that opens.
fn opening_quote(line: &str) -> Option<usize> {
    // The first bytes of the others.
    memchr::memchr3(b'"', 0xC2, 0xE2, line.as_bytes())?;
    line.find(['"', '«', '“', '„'])
}

/// Finds a passphrase of several words: `the passphrase of the key is "roter fuchs im schnee"`, or `passphrase: soft clouds 3000`
/// at the end of a line.
pub(crate) fn passphrase(scan: &Scan<'_>, keyword: &Range<usize>) -> Option<Range<usize>> {
    let is_named = scan.text[keyword.clone()].eq_ignore_ascii_case("passphrase");
    let to = scan.text.floor_char_boundary(keyword.end + MAX_DISTANCE);
    let line = scan.text[keyword.end..to].split('\n').next()?;
    let is_phrase = |phrase: &str| {
        let words = phrase.split(' ').count();
        let letter = |character: char| character.is_alphanumeric() || matches!(character, ' ' | '-' | '\'');
        // A sentence about a passphrase is none.
        let is_sentence = phrase.split(' ').any(|word| SENTENCE_WORDS.contains(&word));
        (3..=8).contains(&words) && !is_sentence && phrase.chars().all(letter) && !phrase.contains("  ")
    };
    let start_of = |part: &str| part.as_ptr() as usize - line.as_ptr() as usize;
    // Where the name is that of a password, only words with a figure are one.
    let has_figure = |phrase: &str| phrase.ends_with(|letter: char| letter.is_ascii_digit());
    let quoted = opening_quote(line).and_then(|open| {
        let (before, quote) = line.split_at(open);
        let mut signs = quote.chars();
        let closing: &[char] = match signs.next()? {
            '«' => &['»'],
            '"' => &['"'],
            _ => &['”', '“', '"'],
        };
        let phrase = signs
            .as_str()
            .split_once(closing)?
            .0
            .trim_matches([' ', '\u{a0}']);
        let before = before.trim_end();
        let is_stated =
            prose::is_stated(&scan.text[keyword.clone()], before) || before.is_empty() && has_figure(phrase);
        let is_password = has_figure(phrase) && !limits(phrase);
        (is_stated && (is_named || is_password) && is_phrase(phrase)).then_some(phrase)
    });
    if !is_named {
        let start = keyword.end + start_of(quoted?);
        return Some(start..start + quoted?.len());
    }
    let labelled = line.strip_prefix(':').map(str::trim).filter(|phrase| {
        let ends_in_figures = phrase.bytes().rev().take_while(u8::is_ascii_digit).count() >= 2;
        let is_whole = keyword.end + line.len() == scan.text.len()
            || scan.text[keyword.end + line.len()..].starts_with('\n');
        ends_in_figures && is_whole && is_phrase(phrase)
    });
    let stated = line
        .rfind(" is ")
        .map(|at| line[at + 4..].trim())
        .filter(|phrase| {
            let digits = phrase.bytes().filter(u8::is_ascii_digit).count();
            digits >= 2 && is_phrase(phrase) && phrase.starts_with(char::is_uppercase)
        });
    let phrase = quoted.or(labelled).or(stated)?;
    let start = keyword.end + start_of(phrase);
    Some(start..start + phrase.len())
}

#[cfg(test)]
mod tests {
    use crate::Redactor;

    #[test]
    fn a_password_is_found_by_its_place() {
        for (text, secret) in [
            (
                "net use Z: \\\\nas\\share Herbstlaub77! /user:acme\\jo",
                "Herbstlaub77!",
            ),
            (
                "expect -c 'spawn ssh jo@sw1; expect \"assword:\"; send \"Herbstlaub22\\r\"'",
                "Herbstlaub22",
            ),
            ("creds: admin/Herbst2000!", "Herbst2000!"),
            ("login with jo / Herbst_55 please", "Herbst_55"),
            ("user jo, pw Herbst_55", "Herbst_55"),
            (
                "the passphrase of the key is \"roter fuchs im schnee\"",
                "roter fuchs im schnee",
            ),
            ("wpa passphrase: weiche wolken 3000", "weiche wolken"),
            ("비밀번호는 Herbst!2024 입니다", "Herbst!2024"),
            ("heslo je Herbst2024!", "Herbst2024!"),
            ("lösenordet är Herbstlaub7", "Herbstlaub7"),
            ("openssl enc -aes-256-cbc -k Herbst_7 -in a", "Herbst_7"),
            ("cache/https_anna:Herbst-9@repo.acme.io_index.html", "Herbst-9"),
        ] {
            let masked = Redactor::shared().redact(text);
            assert!(!masked.contains(secret), "{masked}");
            assert_eq!(Redactor::shared().redact(&masked), masked, "twice");
        }
    }

    #[test]
    fn the_end_of_a_password_before_an_escape_is_masked() {
        for escape in ["\\r", "\\n", "\\r\\n"] {
            let text = format!("expect \"assword:\"; send \"Sommer{escape}\"");
            let masked = Redactor::shared().redact(&text);
            assert!(masked.ends_with(&format!("]{escape}\"")), "{masked}");
        }
    }

    #[test]
    fn ordinary_text_at_such_places_stays() {
        for text in [
            "net use Z: \\\\nas\\share /user:acme\\jo",
            "net use * /delete",
            "expect \"login:\"; send \"jo\\r\"",
            "expect \"assword:\"; send \"$password\\r\"",
            "creds: see docs/access.md",
            "login with Google/GitHub",
            "login with OAuth2/OIDC",
            "the pw field is required",
            "https_proxy and http_proxy are read",
            "creds: vault/app-2024",
            "the passphrase is \"required for this key\" in the message of ssh",
            "passphrase: asked for at most 3 times",
        ] {
            assert_eq!(Redactor::shared().redact(text), text);
        }
    }
}
