//! Finds secrets by the name that they are assigned to: `password = …`, `"api_key": "…"`, `SECRET_KEY=…`, in code, configuration
//! files, query strings and command lines. This module parses names and values; [`crate::judgement`] classifies them.

use crate::header;
use crate::judgement::{is_random_secret, is_secret};
use crate::key::{self, MAX_NAME, Meaning};
use crate::login::{
    in_arn, is_signature, is_ticket, is_time, may_be_login, password_before_host, password_of_login,
};
use crate::pattern::Class;
use crate::random::generated;
use crate::scan::{Certainty, Scan, end_of_run};
use crate::service_names;
use crate::value::{has_letter, is_public_identifier, is_stand_in};
use std::ops::Range;

/// Maximum length of a value that is classified, in bytes. A longer one is masked completely.
const MAX_JUDGED: usize = 160;

/// A value and its syntax.
#[derive(Debug)]
pub(crate) struct Value<'t> {
    pub(crate) text: &'t str,
    pub(crate) range: Range<usize>,
    /// Whether it is in quotes.
    pub(crate) quoted: bool,
    /// Whether there is space around the sign, or the sign is a colon.
    pub(crate) spaced: bool,
    /// Whether nothing follows on the line.
    pub(crate) ends_line: bool,
    /// Whether the next character makes it a call, an index or a generic type.
    pub(crate) is_expression: bool,
}

impl<'t> Value<'t> {
    /// The value without the extension of a file that is named after it.
    fn without_extension(&self) -> Self {
        let stem = self.text.rsplit_once('.').filter(|(_, extension)| {
            (1..=5).contains(&extension.len()) && extension.bytes().all(|byte| byte.is_ascii_lowercase())
        });
        Self {
            text: stem.map_or(self.text, |(stem, _)| stem),
            range: self.range.clone(),
            ..*self
        }
    }

    /// Returns a value in quotes or in an XML element.
    pub(crate) fn literal(text: &'t str, range: Range<usize>, spaced: bool) -> Self {
        Self {
            text,
            range,
            quoted: true,
            spaced,
            ends_line: true,
            is_expression: false,
        }
    }
}

/// The name before a sign.
#[derive(Debug)]
pub(crate) struct Name<'t> {
    pub(crate) text: &'t str,
    pub(crate) start: usize,
    pub(crate) quoted: bool,
    pub(crate) spaced: bool,
}

/// Finds the secret in an assignment with the `=` or `:` at `at`.
pub(crate) fn find(scan: &mut Scan<'_>, at: usize) {
    if at < scan.assigned_until || is_time(scan.bytes, at) {
        return;
    }
    let Some((sign_start, value_start)) = sign(scan.bytes, at) else {
        return;
    };
    let Some(name) = name_before(scan, sign_start) else {
        return;
    };
    if scan.bytes[at] == b':' || name.quoted {
        if header::is_authorization(name.text) {
            return header::authorization(scan, value_start);
        }
        if header::is_cookie(name.text) {
            return header::cookies(scan, value_start);
        }
    }
    let meaning = key::meaning(name.text)
        .or_else(|| meaning_of_sibling(scan, &name))
        .or_else(|| meaning_of_two_words(scan, &name))
        .or_else(|| meaning_of_login(&name));
    let is_login = meaning.is_none() && may_be_login(name.text);
    let before = name.start.checked_sub(1).map(|at| scan.bytes[at]);
    let in_query = matches!(before, Some(b'?' | b'&'));
    let is_signature = in_query && is_signature(name.text);
    let is_ticket = in_query && is_ticket(name.text);
    if meaning.is_none()
        && let Some(range) = password_before_host(scan, &name, at)
    {
        scan.assigned_until = range.end;
        return scan.found("connection-password", Certainty::Place, range);
    }
    let service = service_names::service(name.text);
    if meaning.is_none()
        && !is_login
        && !is_signature
        && !is_ticket
        && service.is_none()
        && !could_be_random(scan.bytes, value_start)
    {
        return;
    }
    if in_arn(scan, at) {
        return;
    }
    let Some(value) = value_after(scan, &name, at, value_start) else {
        return;
    };
    if is_login && let Some(password) = password_of_login(&name, &value) {
        scan.assigned_until = password.end;
        scan.found("password", Certainty::Name, password);
        return;
    }
    let is_signature = is_signature && value.text.len() >= 20
        || is_ticket && generated(value.text).is_some() && !is_public_identifier(value.text);
    if is_signature && !is_stand_in(value.text) {
        let range = whole(scan, &value);
        scan.assigned_until = range.end;
        scan.found("secret", Certainty::Name, range);
        return;
    }
    let rule = match meaning {
        Some(meaning) if is_secret(scan, meaning, &name, &value) => Some((meaning.rule(), Certainty::Name)),
        _ if service.is_some_and(|service| service_names::is_key(service, value.text)) => {
            Some(("service-key", Certainty::Name))
        }
        _ if is_random_secret(&name, &value) || is_random_secret(&name, &value.without_extension()) => {
            Some(("high-entropy", Certainty::Randomness))
        }
        _ => None,
    };
    if let Some((rule, certainty)) = rule {
        let range = whole(scan, &value);
        scan.assigned_until = range.end;
        scan.found(rule, certainty, range);
    }
}

/// Finds the secret in an XML element such as `<password>hunter2</password>`.
pub(crate) fn element(scan: &mut Scan<'_>, keyword: Range<usize>) {
    let bytes = scan.bytes;
    let start = Class::of("A-Za-z0-9_.:-").run_back(bytes, keyword.start, MAX_NAME);
    // `<password>`, or the value of an attribute: `<entry key="db.password">`.
    let quoted = bytes[keyword.end - 2] == b'"';
    let opens = match start.checked_sub(2).map(|at| &bytes[at..start]) {
        Some([b'=', b'"']) => quoted,
        Some([_, b'<']) => !quoted,
        Some(_) => false,
        None => start == 1 && bytes[0] == b'<' && !quoted,
    };
    if !opens {
        return;
    }
    // Windows writes `<Password>` and `<Value>` inside it.
    let inner = Class::of(" \t\r\n").run(bytes, keyword.end, 32);
    let from = match bytes.get(inner..inner + 7) {
        Some(tag) if tag.eq_ignore_ascii_case(b"<value>") => inner + 7,
        _ => keyword.end,
    };
    let rest = &bytes[from..];
    let Some(length) = rest
        .iter()
        .take(MAX_JUDGED)
        .position(|byte| matches!(byte, b'<' | b'\n'))
    else {
        return;
    };
    if !rest[length..].starts_with(b"</") {
        return;
    }
    let range = from..from + length;
    let Some(text) = scan.text.get(range.clone()) else {
        return;
    };
    let name = Name {
        text: &scan.text[start..keyword.end - 1 - usize::from(quoted)],
        start,
        quoted: true,
        spaced: false,
    };
    let value = Value::literal(text, range, false);
    if let Some(meaning) = key::meaning(name.text)
        && is_secret(scan, meaning, &name, &value)
    {
        scan.found(meaning.rule(), Certainty::Name, value.range);
    }
}

/// Returns the start and end of the assignment sign at `at`: `=`, `:`, `:=`, `?=` or `=>`.
fn sign(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let before = at.checked_sub(1).map(|i| bytes[i]);
    let after = bytes.get(at + 1).copied();
    match (bytes[at], before, after) {
        (b':', Some(b':'), _) | (b':', _, Some(b':' | b'=')) => None,
        (b':', ..) => Some((at, at + 1)),
        (_, Some(b':' | b'?'), Some(b'=')) => None,
        (_, Some(b':' | b'?'), _) => Some((at - 1, at + 1)),
        (_, Some(b'=' | b'!' | b'<' | b'>' | b'+' | b'*' | b'/' | b'|' | b'&' | b'^' | b'%' | b'~'), _) => {
            None
        }
        (_, _, Some(b'=' | b'~')) => None,
        (_, _, Some(b'>')) => Some((at, at + 2)),
        _ => Some((at, at + 1)),
    }
}

pub(crate) const BLANK: Class = Class::of(" \t");
pub(crate) const NAME: Class = Class::of("A-Za-z0-9_.-");

pub(crate) fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

/// Returns the name that ends before `end`. It may be in quotes, also escaped ones, or in brackets (`config["password"] =`).
fn name_before<'t>(scan: &Scan<'t>, end: usize) -> Option<Name<'t>> {
    let bytes = scan.bytes;
    let mut unspaced = BLANK.run_back(bytes, end, 16);
    // In JSON, the sign may be on the next line.
    let line = Class::of(" \t\r\n").run_back(bytes, end, 32);
    if line < unspaced && line > 0 && is_quote(bytes[line - 1]) {
        unspaced = line;
    }
    let mut at = unspaced;
    if at > 1 && bytes[at - 1] == b']' && is_quote(bytes[at - 2]) {
        at -= 1;
    }
    let quoted = at > 0 && is_quote(bytes[at - 1]);
    if quoted {
        at = Class::of("\\").run_back(bytes, at - 1, 8);
    }
    let start = NAME.run_back(bytes, at, MAX_NAME);
    let text = &scan.text[start..at];
    has_letter(text).then_some(Name {
        text,
        start,
        quoted,
        spaced: unspaced < end,
    })
}

/// Returns the meaning of the name before a `value`: `name: DB_PASSWORD`, then `value: hunter2`, also as attributes. Terraform
/// writes `variable "db_password" { default = "hunter2" }`.
fn meaning_of_sibling(scan: &Scan<'_>, name: &Name<'_>) -> Option<Meaning> {
    const MAX_BLOCK: usize = 200;
    if name.text == "default" {
        let before = scan
            .text
            .get(scan.text.ceil_char_boundary(name.start.saturating_sub(MAX_BLOCK))..name.start)?;
        let block = &before[before.rfind("variable \"")?..];
        let variable = block.split('"').nth(1)?;
        return (!block.contains('}')).then(|| key::meaning(variable)).flatten();
    }
    if !name.text.eq_ignore_ascii_case("value") {
        return None;
    }
    // Line numbers may be in between, and in JSON an object begins.
    let end = Class::of(" \t\r\n\"',:{0-9-").run_back(scan.bytes, name.start, 64);
    let start = NAME.run_back(scan.bytes, end, MAX_NAME);
    let before = start.checked_sub(1).map(|i| scan.bytes[i])?;
    matches!(before, b' ' | b'"' | b'\'' | b'=' | b':')
        .then(|| key::meaning(&scan.text[start..end]))
        .flatten()
}

/// Returns the meaning of a label with several words, such as `API key: …` or `Secret Access Key: …`.
fn meaning_of_two_words(scan: &Scan<'_>, name: &Name<'_>) -> Option<Meaning> {
    if name.quoted || !name.text.eq_ignore_ascii_case("key") {
        return None;
    }
    let before = scan.bytes[..name.start].strip_suffix(b" ")?;
    let start = NAME.run_back(scan.bytes, before.len(), 16);
    let joined = format!("{}_{}", &scan.text[start..before.len()], name.text);
    key::meaning(&joined)
}

/// Returns the meaning of `"auth": "…"`, where Docker stores user and password in base64.
fn meaning_of_login(name: &Name<'_>) -> Option<Meaning> {
    (name.quoted && name.text == "auth").then_some(Meaning::Token)
}

/// Returns whether at least 20 characters of the alphabet of keys, with a capital letter, start at `from`, or after spaces and quotes.
fn could_be_random(bytes: &[u8], from: usize) -> bool {
    let start = Class::of(" \t\"'`\\").run(bytes, from, 6);
    // Checking the 20th character first rejects nearly everything.
    let far = bytes.get(start + 19).copied().unwrap_or(b' ');
    // Digests and UUIDs have no capital letters.
    RANDOM.has(far)
        && RANDOM.run(bytes, start, 20) == start + 20
        && bytes[start..start + 20].iter().any(u8::is_ascii_uppercase)
}

pub(crate) const RANDOM: Class = Class::of("A-Za-z0-9+/=_-");

/// Returns the value that starts at `from`, or after spaces, of the assignment with the sign at `at`.
fn value_after<'t>(scan: &Scan<'t>, name: &Name<'t>, at: usize, from: usize) -> Option<Value<'t>> {
    let bytes = scan.bytes;
    let mut start = BLANK.run(bytes, from, 16);
    let spaced = name.spaced || start > from || bytes[at] == b':';
    // The text of a YAML block starts on the next line.
    if let Some(block) = [&b">-\n"[..], b">\n", b"|-\n", b"|\n"]
        .into_iter()
        .find(|block| bytes[start..].starts_with(block))
    {
        start = BLANK.run(bytes, start + block.len(), 32);
    }
    if let Some(quote) = opening_quote(bytes, start) {
        // The string `"Password: "` ends here.
        let before = name.start.checked_sub(1).map(|at| bytes[at]);
        if !name.quoted && before == Some(bytes[quote]) {
            return None;
        }
        return quoted_value(scan, quote, spaced);
    }
    if bytes[at] == b':'
        && let Some(quote) = typed_value(bytes, start)
    {
        return quoted_value(scan, quote, true);
    }
    // In `.env` files, only white space ends a value.
    let to_space = !spaced && starts_line(scan, name) && !name.quoted;
    // A reference such as `${KEY}` or `<key>` does not end at its brackets.
    let opened = matches!(bytes.get(start), Some(b'$' | b'<' | b'{' | b'[' | b'#' | b'%'));
    let ends = |byte: &u8| {
        byte.is_ascii_whitespace()
            || is_quote(*byte)
            || !to_space
                && !opened
                && matches!(
                    byte,
                    b',' | b';' | b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>' | b'|' | b'&' | b'\\'
                )
    };
    let mut end = end_of_run(bytes, start, MAX_JUDGED, ends);
    if to_space && let Some(next) = next_pair(&bytes[start..end]) {
        end = start + next;
    }
    // Punctuation after a value.
    let punctuation: &[u8] = if to_space { b",;)" } else { b"." };
    while end > start && punctuation.contains(&bytes[end - 1]) {
        end -= 1;
    }
    let end = scan.text.floor_char_boundary(end);
    let next = bytes.get(end).copied();
    let rest = BLANK.run(bytes, end, 8);
    let ends_line = match bytes.get(rest) {
        None | Some(b'\n' | b'\r') => true,
        Some(b'#') => rest > end,
        Some(byte) => rest == end && (is_quote(*byte) || *byte == b'\\' && bytes.get(end + 1) == Some(&b'n')),
    };
    Some(Value {
        text: scan.text.get(start..end)?,
        range: start..end,
        quoted: false,
        spaced,
        ends_line,
        is_expression: matches!(next, Some(b'(' | b'[' | b'<' | b'{')) && !bytes[end..].starts_with(b"</"),
    })
}

/// Returns the first `&` before the next `name=` of a query string, or before another `&`.
fn next_pair(value: &[u8]) -> Option<usize> {
    let follows = |at: usize| {
        value.get(at + 1) == Some(&b'&') || value.get(NAME.run(value, at + 1, MAX_NAME)) == Some(&b'=')
    };
    value
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'&')
        .map(|(at, _)| at)
        .find(|at| follows(*at))
}

/// Returns the position of the opening quote of a literal at `at`. The quote may be escaped, and follow a prefix (`b"`, `@"`, `&"`)
/// or a call that wraps a literal.
pub(crate) fn opening_quote(bytes: &[u8], at: usize) -> Option<usize> {
    const WRAPPERS: &[&[u8]] = &[
        b"String::from(",
        b"Some(",
        b"Secret::new(",
        b"Secret::from(",
        b"SecretString::new(",
        b"SecretString::from(",
        b"str(",
    ];
    let rest = bytes.get(at..)?;
    let wrapper = WRAPPERS
        .iter()
        .find(|wrapper| rest.starts_with(wrapper))
        .map_or(0, |wrapper| wrapper.len());
    let rest = &rest[wrapper..];
    let prefix = match rest {
        [
            b'b' | b'r' | b'f' | b'u' | b'@' | b'&' | b'$' | b'N',
            b'"' | b'\'',
            ..,
        ] => 1,
        _ => 0,
    };
    let escapes = rest[prefix..]
        .iter()
        .take(8)
        .take_while(|byte| **byte == b'\\')
        .count();
    rest.get(prefix + escapes)
        .is_some_and(|byte| is_quote(*byte))
        .then_some(at + wrapper + prefix + escapes)
}

/// Returns the position of the opening quote in a typed declaration: `password: &str = "…"`.
fn typed_value(bytes: &[u8], at: usize) -> Option<usize> {
    const TYPE: Class = Class::of("A-Za-z0-9_<>&':|? ");
    let type_end = TYPE.run(bytes, at, 48);
    if type_end == at || bytes.get(type_end) != Some(&b'=') || bytes.get(type_end + 1) == Some(&b'=') {
        return None;
    }
    opening_quote(bytes, BLANK.run(bytes, type_end + 1, 8))
}

/// Returns the literal with the opening quote at `quote`. It may lack the closing quote if the text ends inside it.
pub(crate) fn quoted_value<'t>(scan: &Scan<'t>, quote: usize, spaced: bool) -> Option<Value<'t>> {
    const MAX_LITERAL: usize = 8192;
    let bytes = scan.bytes;
    let escaped = quote > 0 && bytes[quote - 1] == b'\\';
    let start = quote + 1;
    let window = &bytes[start..bytes.len().min(start + MAX_LITERAL)];
    let mut at = 0;
    let end = loop {
        match window.get(at) {
            None if window.len() < MAX_LITERAL => break start + at,
            None | Some(b'\n') => return None,
            Some(b'\\') if !escaped => at += 1,
            Some(byte) if *byte == bytes[quote] => break start + at,
            _ => {}
        }
        at += 1;
    };
    let mut end = end.min(bytes.len());
    while escaped && end > start && bytes[end - 1] == b'\\' {
        end -= 1;
    }
    Some(Value::literal(scan.text.get(start..end)?, start..end, spaced))
}

/// Returns whether the name is the first on its line, except for indentation and words such as `export`.
pub(crate) fn starts_line(scan: &Scan<'_>, name: &Name<'_>) -> bool {
    const PREFIX_WORDS: &[&[u8]] = &[
        b"export", b"ENV", b"ARG", b"set", b"-e", b"--env", b"-", b"declare", b"-x", b"setenv",
    ];
    let mut at = name.start;
    for _ in 0..3 {
        let space = BLANK.run_back(scan.bytes, at, 64);
        match space.checked_sub(1).map(|i| scan.bytes[i]) {
            None | Some(b'\n') => return true,
            // An escaped line end.
            Some(b'n') if scan.bytes[..space].ends_with(b"\\n") => return true,
            Some(_) => {}
        }
        let word = Class::of("A-Za-z-").run_back(scan.bytes, space, 16);
        if space == at || !PREFIX_WORDS.contains(&&scan.bytes[word..space]) {
            return false;
        }
        at = word;
    }
    false
}

/// Returns whether the name is in a query string, or in a list of `name=value` pairs separated by semicolons or spaces.
pub(crate) fn in_query(scan: &Scan<'_>, name: &Name<'_>) -> bool {
    match name.start.checked_sub(1).map(|i| scan.bytes[i]) {
        Some(b'?' | b'&' | b';') => true,
        Some(b' ') => {
            let before = &scan.bytes[name.start.saturating_sub(MAX_NAME)..name.start - 1];
            // The field of a form: `curl -F password=hunter`.
            if [&b" -F"[..], b" -d", b" --form", b" --data"]
                .iter()
                .any(|option| before.ends_with(option))
            {
                return true;
            }
            let pair = before
                .rsplit(|byte| byte.is_ascii_whitespace())
                .next()
                .unwrap_or_default();
            pair.contains(&b'=') && !pair.ends_with(b",") && !pair.contains(&b'(')
        }
        _ => false,
    }
}

/// Returns the range of the complete value, even if only its beginning was classified.
fn whole(scan: &Scan<'_>, value: &Value<'_>) -> Range<usize> {
    if value.quoted || value.text.len() < MAX_JUDGED - 4 {
        return value.range.clone();
    }
    let end = end_of_run(scan.bytes, value.range.end, usize::MAX, |byte| {
        byte.is_ascii_whitespace() || is_quote(*byte)
    });
    value.range.start..end
}
