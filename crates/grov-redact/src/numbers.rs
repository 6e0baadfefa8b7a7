//! Numbers that people type: PINs, and codes that are valid once.

use crate::prose::is_stated;
use crate::scan::{Certainty, Scan};
use std::ops::Range;

/// Words for a number that locks something, in the languages of prompts.
#[rustfmt::skip]
pub(crate) const LOCK_WORDS: &[&str] = &[
    "puk ", "puk:", "pin code", "pin-code", "pincode", "pin is", "pin ist", "pin:", "sim pin", "sim-pin", "unlock code", "entsperrcode",
    "türcode",
    "door code", "gate code", "code pin", "pin für", "pin for", "código pin", "пин-код", "pin del", "pin do", "wlan key", "wlan-key",
    "wifi key", "wpa key", "wpa2 key", "wlan-schlüssel", "wifi password", "wlan-passwort",
];

/// Words for a PIN and for a code that is valid once, in the languages of prompts. Some lack their first letter, because the case of
/// letters outside ASCII matters.
#[rustfmt::skip]
pub(crate) const CODE_WORDS: &[&str] = &[
    "pin ", "pin=", "pin\"", "pin,", "pin-code", "пин ", "пин:", "пин-", "ПИН ", "ПИН:", "ПИН-", "puk ", "密码锁",
    "otp ", "otp:", "otp=", "otp\"", "otp-code", "totp ", "one-time code", "one time code", "one-time password", "one time password",
    "one-time passcode", "verification code", "security code", "login code", "sign-in code", "2fa code", "2fa-code", "2fa:", "mfa code",
    "mfa token", "mfa-code", "authentication code", "confirmation code", "authenticator code", "sms code", "sms-code", "pairing code",
    "token-code ", "setup code", "alarm code", "lock code", "keypad code", "tan ", "tan:",
    "einmalcode", "einmal-code", "einmalpasswort", "einmalkennwort", "bestätigungscode", "sicherheitscode", "freischaltcode",
    "zugangscode", "anmeldecode", "kopplungscode", "alarmcode", "verifizierungscode",
    "code de vérification", "code à usage unique", "code de confirmation", "code de sécurité", "code d'accès", "code d’accès",
    "code de validation", "code d'authentification",
    "código de verificación", "código de un solo uso", "código de uso único", "código de confirmación", "código de seguridad",
    "código de acceso", "código de autenticación",
    "código de verificação", "código de confirmação", "código de segurança", "código de acesso", "código de autenticação",
    "codice di verifica", "codice di conferma", "codice di sicurezza", "codice di accesso", "codice usa e getta", "codice monouso",
    "codice otp",
    "verificatiecode", "bevestigingscode", "beveiligingscode", "eenmalige code", "toegangscode", "inlogcode",
    "kod weryfikacyjny", "kod jednorazowy", "kod potwierdzający", "kod dostępu", "kod pin", "kod sms",
    "од подтверждения", "дноразовый код", "дноразовый пароль", "од доступа", "од безопасности", "од из смс", "од из sms",
    "од підтвердження", "дноразовий код", "од доступу",
    "doğrulama kod", "onay kod", "güvenlik kod", "tek kullanımlık", "erişim kod",
    "cod de verificare", "codul de verificare", "cod de confirmare", "codul de confirmare", "cod unic",
    "verifieringskod", "engångskod", "säkerhetskod", "bekræftelseskode", "engangskode", "engangskoden", "bekreftelseskode",
    "vahvistuskoodi", "kertakäyttökoodi", "ověřovací kód", "jednorázový kód", "ellenőrző kód", "egyszer használatos kód",
    "κωδικός επαλήθευσης", "κωδικός μιας χρήσης", "kode verifikasi", "kode otp", "mã xác minh", "mã xác thực", "mã otp", "mã pin",
    "验证码", "驗證碼", "校验码", "动态码", "一次性密码", "認証コード", "確認コード", "ワンタイムパスワード", "暗証番号", "인증번호", "인증 번호",
    "인증 코드", "인증코드", "확인 코드", "핀 번호", "رمز التحقق", "رمز التأكيد", "קוד אימות", "รหัสยืนยัน", "सत्यापन कोड",
];

/// Short words that are others in small letters: "pin 1024 pages", "tan 45".
const CAPITALS: &[&str] = &["PIN", "PUK", "TAN"];

/// Words directly before the PIN of what it locks.
const LOCKED: &[&str] = &[
    "card",
    "sim",
    "bluetooth",
    "door",
    "gate",
    "alarm",
    "phone",
    "safe",
    "voicemail",
    "karten",
];

/// Words directly before the name of a pin of a chip.
const CHIPS: &[&str] = &["gpio", "led", "io", "chip", "digital", "analog", "bcm", "board"];

/// Words after a number that counts something.
#[rustfmt::skip]
const UNITS: &[&str] = &[
    "ms", "s", "sec", "seconds", "second", "minutes", "min", "hours", "days", "digits", "characters", "chars", "bytes", "bits", "kb", "mb",
    "requests", "times", "pages", "entries", "rows", "sekunden", "minuten", "stunden", "tage", "stellen", "zeichen", "ziffern",
    "anfragen", "secondes", "heures", "jours", "chiffres", "caractères", "segundos", "minutos", "horas", "cifras", "dígitos",
    "caracteres", "secondi", "minuti", "cifre", "caratteri", "seconden", "minuten", "cijfers", "tekens", "sekund", "minut", "cyfr",
    "znaków", "секунд", "минут", "цифр", "символов", "saniye", "dakika", "hane", "karakter",
];

/// Maximum length of a number, in digits.
const MOST: usize = 8;

/// Returns whether a number is a year of these times.
fn is_year(number: &str) -> bool {
    number.len() == 4 && (number.starts_with("19") || number.starts_with("20"))
}

/// Finds the number after a word for a lock: 4 to 8 digits, after at most four words.
pub(crate) fn lock(scan: &mut Scan<'_>, keyword: Range<usize>) {
    const MAX_LINE: usize = 48;
    // `Pin::new` is code.
    let is_path =
        scan.bytes[keyword.end - 1..].starts_with(b"::") || scan.bytes[keyword.end..].starts_with(b"::");
    if is_path || keyword.start > 0 && scan.bytes[keyword.start - 1].is_ascii_alphanumeric() {
        return;
    }
    let to = scan
        .text
        .floor_char_boundary(keyword.end.saturating_add(MAX_LINE));
    let line = scan.text[keyword.end..to].split('\n').next().unwrap_or_default();
    let number = line
        .split_whitespace()
        .take(5)
        .map(|word| word.trim_matches(|letter: char| !letter.is_alphanumeric()));
    let number = number
        .into_iter()
        .find(|word| word.bytes().any(|byte| byte.is_ascii_digit()));
    // Numbers of networks are longer, and in India a "pincode" of six digits is a place.
    let name = scan.text[keyword.clone()].to_ascii_lowercase();
    let most = match name.as_str() {
        "pincode" => 5,
        name if name.starts_with('w') => 24,
        _ => MOST,
    };
    let Some(number) = number
        .filter(|word| (4..=most).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit()))
    else {
        return;
    };
    let at = number.as_ptr() as usize - line.as_ptr() as usize;
    if !is_year(number) && !is_counted(&line[at + number.len()..]) {
        let start = keyword.end + at;
        scan.found("secret", Certainty::Place, start..start + number.len());
    }
}

/// Finds the number that a sentence or an assignment gives as a PIN or code: "the PIN of the card is 7193", "TAN 482 913", `--otp=482913`.
pub(crate) fn code(scan: &mut Scan<'_>, keyword: Range<usize>) {
    const MAX_LINE: usize = 96;
    let (text, bytes) = (scan.text, scan.bytes);
    // `spin` is another word.
    let begins = bytes[keyword.start].is_ascii_alphabetic();
    let before = keyword.start.checked_sub(1).and_then(|at| bytes.get(at));
    if begins && before.is_some_and(u8::is_ascii_alphanumeric) {
        return;
    }
    // The sign after the name is part of the clause.
    let name = text[keyword.clone()].trim_end_matches([' ', ':', '=', '"', ',']);
    let from = keyword.start + name.len();
    let to = text.floor_char_boundary(from.saturating_add(MAX_LINE));
    let line = text[from..to].split('\n').next().unwrap_or_default();
    let Some(first) = line.find(|letter: char| letter.is_ascii_digit()) else {
        return;
    };
    let (clause, rest) = line.split_at(first);
    let Some(length) = length_of_code(rest) else {
        return;
    };
    let number = &rest[..length];
    let is_given = match lead(name, clause) {
        Lead::Stated => !is_counted(&rest[length..]) && (name == "TAN" || !name.eq_ignore_ascii_case("tan")),
        Lead::Adjacent => is_name_of_code(scan, name, keyword.start) && !is_counted(&rest[length..]),
        Lead::None => false,
    };
    if is_given && !is_year(number) {
        let start = from + first;
        scan.found("secret", Certainty::Place, start..start + length);
    }
}

/// How a number is connected with its name.
enum Lead {
    /// A sign or a word for "is" precedes it.
    Stated,
    /// It directly follows the name.
    Adjacent,
    /// It is another number.
    None,
}

/// Returns how a clause connects a name with the number after it.
fn lead(name: &str, clause: &str) -> Lead {
    const MAX_WORDS: usize = 9;
    const QUOTES: &[char] = &[' ', '"', '\'', '`', '*', '«', '「', '“', '„', '\t', '\u{a0}'];
    let clause = clause.trim_end_matches(QUOTES);
    // Only the end of the name: "Codes".
    if clause
        .chars()
        .all(|letter| letter.is_alphabetic() || letter == '-')
    {
        return Lead::Adjacent;
    }
    let goes_on = clause.starts_with(['_', '[', '.', '/'])
        || clause.contains(['(', ';', '?', '!', '<', '|', '{'])
        || clause.contains(". ")
        || clause.split_whitespace().count() > MAX_WORDS;
    // "To" is a copula in Polish and a preposition in English.
    let is_sent = clause.ends_with(" to") && clause.trim() != "to";
    if !goes_on && !is_sent && is_stated(name, clause) {
        Lead::Stated
    } else {
        Lead::None
    }
}

/// Returns whether a name without a sign after it is that of a code.
fn is_name_of_code(scan: &Scan<'_>, name: &str, start: usize) -> bool {
    let Some(capitals) = CAPITALS.iter().find(|known| known.eq_ignore_ascii_case(name)) else {
        return true;
    };
    let from = scan.text.floor_char_boundary(start.saturating_sub(16));
    let before = scan.text[from..start].to_lowercase();
    let before = before.trim_end_matches([' ', '-', '_']);
    let ends = |words: &[&str]| words.iter().any(|word| before.ends_with(word));
    *capitals == name && !ends(CHIPS) || ends(LOCKED)
}

/// Returns whether a text is a PIN or code.
pub(crate) fn is_code(text: &str) -> bool {
    length_of_code(text) == Some(text.len())
}

/// Returns the length of the code at the start of a text: 4 to 8 digits, or two groups.
fn length_of_code(text: &str) -> Option<usize> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let next = |at: usize| {
        let rest = text.get(at..).unwrap_or_default();
        rest.strip_prefix([' ', '-']).map_or(0, digits)
    };
    let first = digits(text);
    let second = next(first);
    let third = next(first + 1 + second);
    let length = match (first, second, third) {
        // As on devices of a home: 031-45-154, 3497-011-2332.
        (3, 2, 3) | (4, 3, 4) => first + second + third + 2,
        (3, 3, _) | (4, 4, _) => first + 1 + second,
        (4..=MOST, ..) => first,
        _ => return None,
    };
    let mut after = text[length..].chars();
    let ends = match after.next() {
        Some('.' | ',' | ':') => !after.next().is_some_and(|next| next.is_ascii_alphanumeric()),
        Some(next) => !next.is_ascii_alphanumeric() && !matches!(next, '_' | '-' | '/' | '%' | '×'),
        None => true,
    };
    ends.then_some(length)
}

/// Returns whether a unit follows a number.
fn is_counted(after: &str) -> bool {
    let word = after
        .split(|letter: char| !letter.is_alphabetic())
        .find(|word| !word.is_empty());
    after.starts_with(' ') && word.is_some_and(|word| UNITS.contains(&word.to_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use crate::Redactor;

    #[test]
    fn a_pin_or_code_is_found_in_any_language() {
        for (text, number) in [
            ("the PIN is 7193 and then #", "7193"),
            ("die SIM verlangt ihre PIN, sie lautet 8842, sagt er", "8842"),
            ("el PIN de la tarjeta del módem es 6640", "6640"),
            ("пин-код от сим-карты 3518", "3518"),
            ("le code PIN du boîtier est 5927", "5927"),
            ("card PIN 4471", "4471"),
            ("Kreditkarten-PIN 4471", "4471"),
            ("{\"pin\": \"4471\"}", "4471"),
            ("SIM_PIN=4471", "4471"),
            ("the one-time code is 482913, be quick", "482913"),
            ("der Einmalcode ist 905 174", "905 174"),
            ("here is the otp: 660482", "660482"),
            ("npm publish --otp=660482", "660482"),
            ("npm publish --otp 660482", "660482"),
            ("Your verification code is 318402. It expires soon.", "318402"),
            ("Votre code de vérification est 740 215.", "740 215"),
            ("код подтверждения 771024", "771024"),
            ("código de verificación: 482913", "482913"),
            ("kod weryfikacyjny to 482913", "482913"),
            ("验证码是 482913", "482913"),
            ("認証コードは482913です", "482913"),
            ("인증번호 482913", "482913"),
            ("TAN 482913", "482913"),
        ] {
            let masked = Redactor::shared().redact(text);
            assert!(!masked.contains(number), "{masked}");
            assert_eq!(Redactor::shared().redact(&masked), masked, "twice");
        }
    }

    #[test]
    fn other_numbers_stay() {
        for text in [
            "the pin is 4 digits long and is asked for at most 3 times",
            "GPIO pin 1234 is not valid",
            "GPIO PIN 1234 is not valid",
            "the pin is 4096 bytes after the header",
            "pin 1024 pages in memory",
            "spin 5000 times, mapping 8080",
            "PIN-Eingabe nach 3000 ms abbrechen und Fehler 4031 zeigen",
            "the verification code must have 6 digits and expire after 6000 seconds",
            "der Einmalcode verfällt nach 30000 ms",
            "otp: at most 100000 requests per day",
            "otp_ttl: 300000",
            "HTTP status code is 20000, exit code 1234567",
            "tan 4500 is the tangent",
            "verification code 2026-11-28",
            "the security code of 2024 was reviewed",
        ] {
            assert_eq!(Redactor::shared().redact(text), text);
        }
    }
}
