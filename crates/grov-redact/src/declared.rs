//! Finds secrets by the names that calls, commands and elements give them: `define('DB_PASSWORD', …)`, `setx DB_PASS …`,
//! `<key>Password</key>`, `process.env.DB_PASS || '…'`.

use crate::assignment::{BLANK, NAME, Name, Value, opening_quote, quoted_value};
use crate::judgement::{is_noise, is_secret};
use crate::key::{self, MAX_NAME};
use crate::pattern::Class;
use crate::scan::{Certainty, Scan, end_of_run};
use std::ops::Range;

/// Calls and commands with a name and a value.
#[rustfmt::skip]
pub(crate) const DECLARING: &[&str] = &[
    "define(", "#define ", "setenv ", "setx ", "environmentvariable(", "setdefault(", "getenv(", "environ.get(", "utenv(", "setenv(",
    "tproperty(",
    "config set --secret ", "setitem(", "set_secret(", "setsecret(", "ildconfigfield(",
];

/// Finds the secret in `define('DB_PASSWORD', 'hunter2')` or `#define WIFI_PASSWORD "hunter2"`.
pub(crate) fn defined(scan: &mut Scan<'_>, keyword: Range<usize>) {
    const QUOTE: Class = Class::of("\"'\\");
    let bytes = scan.bytes;
    let start = QUOTE.run(bytes, BLANK.run(bytes, keyword.end, 8), 2);
    let end = NAME.run(bytes, start, MAX_NAME);
    let closed = QUOTE.run(bytes, end, 2);
    let between = Class::of(" \t,").run(bytes, closed, 16);
    if end == start || between == closed {
        return;
    }
    let name = Name {
        text: &scan.text[start..end],
        start,
        quoted: closed > end,
        spaced: true,
    };
    let value = match opening_quote(bytes, between) {
        Some(quote) => quoted_value(scan, quote, true),
        // Commands such as `setenv` need no quotes.
        None if bytes[keyword.end - 1] == b' ' && bytes[keyword.start] != b'#' => word(scan, between),
        None => None,
    };
    let Some(value) = value else { return };
    let names_a_key = ["_KEY", "_SALT", "_SECRET"]
        .iter()
        .any(|ending| name.text.ends_with(ending));
    match key::meaning(name.text) {
        Some(meaning) if is_secret(scan, meaning, &name, &value) => {
            scan.found(meaning.rule(), Certainty::Name, value.range);
        }
        None if names_a_key && is_noise(value.text) => scan.found("secret", Certainty::Name, value.range),
        _ => {}
    }
}

/// Returns the word at a place, if it has a digit: others may be names.
fn word<'t>(scan: &Scan<'t>, at: usize) -> Option<Value<'t>> {
    let end = end_of_run(scan.bytes, at, 256, u8::is_ascii_whitespace);
    let text = scan.text.get(at..end)?;
    (text.len() >= 6 && text.bytes().any(|byte| byte.is_ascii_digit()))
        .then(|| Value::literal(text, at..end, true))
}

/// Finds the secret in `<key>Password</key><string>hunter2</string>`.
pub(crate) fn plist(scan: &mut Scan<'_>, keyword: Range<usize>) {
    const GAP: Class = Class::of(" \t\r\n");
    const OPENING: &[u8] = b"<string>";
    let bytes = scan.bytes;
    let start = NAME.run_back(bytes, keyword.start, MAX_NAME);
    let at = GAP.run(bytes, keyword.end, 64);
    if !bytes[at..].starts_with(OPENING) {
        return;
    }
    let from = at + OPENING.len();
    let end = end_of_run(bytes, from, 256, |byte| matches!(byte, b'<' | b'\n'));
    let name = Name {
        text: &scan.text[start..keyword.start],
        start,
        quoted: true,
        spaced: false,
    };
    let Some(text) = scan.text.get(from..end) else {
        return;
    };
    let value = Value::literal(text, from..end, false);
    if let Some(meaning) = key::meaning(name.text)
        && is_secret(scan, meaning, &name, &value)
    {
        scan.found(meaning.rule(), Certainty::Name, value.range);
    }
}

/// Finds the secret that replaces a missing variable: `process.env.DB_PASS || 'hunter2'`.
pub(crate) fn fallback(scan: &mut Scan<'_>, keyword: Range<usize>) {
    const CLOSING: Class = Class::of(" )]\"'");
    let bytes = scan.bytes;
    let end = CLOSING.run_back(bytes, keyword.start, 4);
    let start = NAME.run_back(bytes, end, MAX_NAME);
    let name = Name {
        text: &scan.text[start..end],
        start,
        quoted: false,
        spaced: true,
    };
    let Some(meaning) = key::meaning(name.text) else {
        return;
    };
    let Some(value) = quoted_value(scan, keyword.end - 1, true) else {
        return;
    };
    if is_secret(scan, meaning, &name, &value) {
        scan.found(meaning.rule(), Certainty::Name, value.range);
    }
}

#[cfg(test)]
mod tests {
    use crate::Redactor;

    #[test]
    fn a_secret_is_found_by_the_name_that_a_call_or_element_gives_it() {
        for text in [
            "setenv DB_PASS Kiefer-Wolke-27",
            "setx DB_PASS \"Kiefer-Wolke-27\"",
            "[Environment]::SetEnvironmentVariable(\"DB_PASS\", \"Kiefer-Wolke-27\", \"User\")",
            "os.environ.setdefault('DB_PASS', 'Kiefer-Wolke-27')",
            "os.getenv(\"DB_PASS\", \"Kiefer-Wolke-27\")",
            "process.env.DB_PASS || 'Kiefer-Wolke-27'",
            "ENV.fetch('DB_PASS') ?? 'Kiefer-Wolke-27'",
            "<key>Password</key>\n<string>Kiefer-Wolke-27</string>",
            "pulumi config set --secret dbPassword Kiefer-Wolke-27",
        ] {
            let masked = Redactor::shared().redact(text);
            assert!(!masked.contains("Kiefer"), "{masked}");
            assert_eq!(Redactor::shared().redact(&masked), masked, "twice");
        }
    }

    #[test]
    fn a_name_without_a_value_stays() {
        for text in [
            "os.getenv(\"DB_PASS\", \"\")",
            "setenv DB_PASS $1",
            "process.env.DB_PASS || ''",
            "<key>PasswordRequired</key>\n<string>yes</string>",
        ] {
            assert_eq!(Redactor::shared().redact(text), text);
        }
    }
}
