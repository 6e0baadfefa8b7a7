//! Finds secrets that are named in prose: "the password is hunter-22", "Passwort vom Server ist …", "API-Schlüssel: …".

use crate::MASK_START;
use crate::asked::below;
use crate::chosen::{is_joined, is_leet, is_made, is_numbered, is_phrase, is_word_with_number};
use crate::pattern::Class;
use crate::places::passphrase;
use crate::random::is_scrambled;
use crate::scan::{Certainty, Scan};
use crate::value::{
    has_digit, has_letter, is_hex, is_name, is_public_identifier, is_stand_in, is_uuid, is_words,
    looks_random,
};
use std::ops::Range;

/// Words for a password, in the languages of prompts. Case of letters outside ASCII matters.
#[rustfmt::skip]
pub(crate) const PASSWORD_WORDS: &[&str] = &[
    "password", "passphrase", "passcode", "passwd", "passwort", "kennwort", "contrase", "mot de passe", "senha",
    "palavra-passe", "parola", "parolă", "wachtwoord", "hasło", "Hasło", "hasła", "hasłem", "haslo ", "haslo:",
    "пароль", "Пароль", "şifre", "Şifre", "密码", "密碼", "口令", "パスワード", "heslo", "lösenord", "kodeord", "jelszó",
    "비밀번호", "암호는", "лозинка", "κωδικός", "salasana", "sandi", "mật khẩu", "adgangskode", "passord", " mdp ", "mdp:",
    "clave de acceso", "clave del wifi", "clave del servidor", "كلمة المرور", "كلمة السر", "סיסמה", "סיסמא", "รหัสผ่าน", "पासवर्ड",
    "mdp ", "비번", "lozinka",
    "zaporka", "geslo", "slaptažodis", "parool", "şifrə", "wlan-schlüssel", "wifi key", "wifi-schlüssel", "κωδικό", "парол",
    "aðgangsorð", "fjalëkalim",
];

/// Words for a generated key, in the languages of prompts.
#[rustfmt::skip]
pub(crate) const KEY_WORDS: &[&str] = &[
    "api key", "api-key", "api_key", "apikey", "app key", "app-key", "app_key", "secret access key",
    "secret key", "access token", "auth token", "api token", "secret token", "clé api", "clé d'api", "clave api",
    "clave de api", "chiave api", "chave api", "chave de api", "chave da api", "klucz api", "klucz do api",
    "api-sleutel", "api sleutel", "api-schlüssel", "api schlüssel", "cheia api", "cheie api", "ключ api", "api密钥",
    "api 密钥", "apiキー", "api キー", "api-ключ", "api ключ", "api 키", "api키", "api anahtarı", "aws secret",
    "zugriffsschlüssel", "geheimer schlüssel", "clé d'accès", "clé secrète", "clave secreta", "clave de acceso",
    "chave secreta", "chave de acesso", "chiave segreta", "chiave di accesso", "секретный ключ", "Секретный ключ",
    "ключ доступа", "tajny klucz", "klucz dostępu", "密钥", "密鑰", "アクセスキー", "シークレットキー", "비밀 키",
    "token for ", "api_hash", "api hash",
];

/// Maximum distance between a word and its secret, in bytes.
const MAX_DISTANCE: usize = 96;
/// Maximum length of a secret, in bytes.
const MAX_VALUE: usize = 256;
/// Maximum number of words up to and with the secret.
const MAX_WORDS: usize = 9;

/// Words that connect a name and its value: "is", in eleven languages.
#[rustfmt::skip]
const COPULAS: &[&str] = &[
    "is", "was", "are", "=", "=>", "->", "ist", "lautet", "war", "heißt", "est", "était", "es", "era", "é", "è", "e",
    "este", "era", "är", "—", "–", "it's", "it’s", "simply", "adalah", "είναι", "to", "jest", "brzmi", "это", "is:", "to:", "now",
    "called", "equals", "becomes", "será", "sarà",
    "là", "›", "❯", "هي", "هو", "है", "คือ", "היא", "הוא",
];

/// Prepositions before a new value, after a word for a change: "auf … geändert", "changé en".
const BEFORE_NEW_VALUE: &[&str] = &[
    "auf", "en", "a", "para", "in", "na", "на", "în", "til", "till", "på", "naar",
];

/// Beginnings of words for a change.
#[rustfmt::skip]
const CHANGES: &[&str] = &[
    "chang", "geänder", "gesetz", "wurde", "setz", "änder", "cambi", "mud", "alter", "troc", "zmieni", "ustawi", "поменя",
    "смени", "измени", "установи", "помінял", "schimb", "setat", "ändra", "bytt", "skift", "endr", "gewijzigd", "veranderd",
];

/// Words directly before the name of a password that the user uses: "log in with the password …".
#[rustfmt::skip]
const USES: &[&str] = &[
    "with", "with the", "using", "using the", "mit", "mit dem", "dem", "das", "avec", "avec le", "con", "con la", "usando",
    "com", "com a", "met", "met het", "с", "z", "cu", "med", "用", "и", "und", "and", "et", "y", "e", "en", "ile",
];

/// Endings of a name that connect it with its value.
const CONNECTING_ENDINGS: &[&str] = &["는", "은", "가", "이", "를", "을", "si", "yi", "em", "ем"];

/// Words that are copulas only after these names: "on" is a preposition in English.
const COPULAS_AFTER: &[(&str, &[&str])] = &[
    ("on", &["salasana"]),
    ("er", &["kodeord", "passord", "adgangskode"]),
    ("je", &["heslo"]),
];

/// Particles that connect a name and its value where no spaces separate words.
const PARTICLES: &[char] = &[
    'は', 'が', 'を', '是', '为', '為', '成', '了', '：', ':', '=', '「', '“', '„', '«', '‘', '『',
];

/// Words close after the name of a secret that name something else: "password hash: …".
#[rustfmt::skip]
pub(crate) const OTHER_SUBJECTS: &[&str] = &[
    "hash", "hashes", "hashing", "hashed", "policy", "length", "field", "column", "regex", "reset", "manager",
    "rules", "digest", "type", "parameter", "variable", "file", "prompt", "flag", "option", "format", "error",
    "algorithm", "strength", "input", "commit", "sha", "rev", "revision", "id", "ids", "version", "function",
    "method", "class", "component", "page", "screen", "form", "link", "url", "route", "env", "env:", "name",
    "name:", "hash:", "header", "encoding",
];

/// Words before a digest, anywhere in the sentence.
const REVISIONS: &[&str] = &["commit", "sha", "sha256", "rev", "revision", "checksum", "digest"];

/// How a value is connected with its name, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Lead {
    /// Only words are between them.
    Words,
    /// It directly follows the name or a comma.
    Adjacent,
    /// A copula or colon precedes it.
    Stated,
    /// It is in quotes.
    Quoted,
}

/// A word close after the name of a secret.
struct Candidate<'t> {
    text: &'t str,
    range: Range<usize>,
    lead: Lead,
}

/// Finds the password that a sentence names.
pub(crate) fn password(scan: &mut Scan<'_>, keyword: Range<usize>) {
    if let Some(range) = passphrase(scan, &keyword) {
        return scan.found("password", Certainty::Place, range);
    }
    if let Some(range) = app_password(scan, &keyword) {
        return scan.found("password", Certainty::Place, range);
    }
    let candidates = candidates(scan, &keyword);
    let english = scan.text[keyword.clone()]
        .to_ascii_lowercase()
        .starts_with("pass");
    // In other languages the name and its value need no copula: "пароль от базы …".
    let last = candidates.last().filter(|last| {
        let digits = last.text.bytes().filter(u8::is_ascii_digit).count();
        !english && (digits >= 2 || is_leet(last.text)) && is_made(last.text)
    });
    let last = last.map(|last| last.range.clone());
    let found = candidates.into_iter().find(is_password);
    let range = found
        .map(|found| found.range)
        .or(last)
        .or_else(|| password_before(scan, &keyword))
        .or_else(|| below(scan, &keyword))
        .or_else(|| far_password(scan, &keyword));
    if let Some(range) = range {
        scan.found("password", Certainty::Place, range);
    }
}

/// Finds a password that is stated further on in its line: "the password file is missing, its content should be Kiefer.7.Wolke".
fn far_password(scan: &Scan<'_>, keyword: &Range<usize>) -> Option<Range<usize>> {
    const MAX_LINE: usize = 200;
    const STATING: &[&str] = &[
        "be", "is", "it's", "ist", "lautet", "sein", "est", "être", "es", "ser", "è", "essere", "é", "jest",
        "być", "это", "zijn", "är", "vara",
    ];
    let to = scan
        .text
        .floor_char_boundary(keyword.end.saturating_add(MAX_LINE));
    let line = scan.text.get(keyword.end..to)?.split('\n').next()?;
    if line.contains(MASK_START) {
        return None;
    }
    let mut previous = "";
    line.split_whitespace().find_map(|word| {
        let stated = previous.ends_with([':', '=']) || STATING.contains(&previous);
        previous = word;
        let value = word.trim_matches(['"', '\'', '`', '“', '”', ',', ';', '(', ')', '.', '!', '?']);
        let start = keyword.end + (value.as_ptr() as usize - line.as_ptr() as usize);
        (stated && is_elaborate(value) && file_stem(value).is_none()).then(|| start..start + value.len())
    })
}

/// Returns whether a word has letters of both cases, digits and special characters, as identifiers, files and versions have not.
pub(crate) fn is_elaborate(word: &str) -> bool {
    let has = |kind: fn(&u8) -> bool| word.bytes().any(|byte| kind(&byte));
    let sign = word.contains(['.', '-', '!', '#', '%', '&', '?', '@', '+', '~', '^', '$', '*']);
    // A number of a version or a date follows no word.
    let words = word
        .split(['.', '-', '@', '+'])
        .filter(|part| part.len() >= 3 && part.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    word.len() >= 9
        && sign
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
        && words.filter(|part| !has_digit(part) || part.len() >= 5).count() >= 1
        && !word.contains(['/', ':', '_', '(', ')', '{', '}', '[', ']', '<', '\\', '='])
        && !word.starts_with(['-', '$', '@', '#', '&', '.'])
        && !is_stand_in(word)
        && !is_public_identifier(word)
        && !is_uuid(word)
        && !is_algorithm(word)
}

/// Finds the password before its name: "use hunter-22 as the password".
fn password_before(scan: &Scan<'_>, keyword: &Range<usize>) -> Option<Range<usize>> {
    #[rustfmt::skip]
    const AS: &[&str] = &[
        " as the ", " as ", " als ", " als das ", " comme ", " como ", " come ", " как ", " jako ", " ca ", " som ",
    ];
    let from = scan
        .text
        .floor_char_boundary(keyword.start.saturating_sub(MAX_DISTANCE));
    let before = &scan.text[from..keyword.start];
    let before = AS.iter().find_map(|mark| before.strip_suffix(mark))?;
    let start = before.rfind(is_gap).map_or(0, |gap| {
        gap + before[gap..].chars().next().map_or(1, char::len_utf8)
    });
    let word = before[start..].trim_end_matches([',', ';', ')', '"', '\'', '`']);
    let candidate = Candidate {
        text: word,
        range: from + start..from + start + word.len(),
        lead: Lead::Stated,
    };
    (start > 0 && is_password(&candidate)).then_some(candidate.range)
}

/// Returns whether the words before a name say that what follows it is used: "with the", "user jo,".
fn is_used(scan: &Scan<'_>, keyword: &Range<usize>) -> bool {
    const USER: &[&str] = &[
        "user",
        "login",
        "admin",
        "root",
        "benutzer",
        "usuario",
        "usuário",
        "utilisateur",
        "utente",
        "użytkownik",
        "пользоват",
        "логин",
        "kullanıcı",
        "用户",
        "ユーザ",
        "gebruiker",
    ];
    let from = scan.text.floor_char_boundary(keyword.start.saturating_sub(48));
    let before = scan.text[from..keyword.start].to_lowercase();
    let before = before.trim_end();
    let ends_with = |word: &&&str| {
        before
            .strip_suffix(**word)
            .is_some_and(|rest| !rest.ends_with(char::is_alphanumeric) || !word.is_ascii())
    };
    USES.iter().any(|word| ends_with(&word))
        || before.ends_with([',', '/']) && USER.iter().any(|word| before.contains(word))
}

/// Returns whether a sentence is about a change of what it names.
fn is_changed(scan: &Scan<'_>, keyword: &Range<usize>) -> bool {
    let from = scan.text.floor_char_boundary(keyword.start.saturating_sub(32));
    let to = scan.text.floor_char_boundary(keyword.end + MAX_DISTANCE);
    let around = scan.text[from..to].to_lowercase();
    let mut words = around.split(|letter: char| !letter.is_alphabetic());
    words.any(|word| CHANGES.iter().any(|change| word.starts_with(change)))
}

/// Finds the key that a sentence names.
pub(crate) fn key(scan: &mut Scan<'_>, keyword: Range<usize>) {
    // An assignment has its own rule.
    if scan.bytes.get(keyword.end) == Some(&b'=') {
        return;
    }
    let found = candidates(scan, &keyword)
        .into_iter()
        .enumerate()
        .find(|(number, candidate)| {
            let text = candidate.text;
            let random = looks_random(text) && !text.contains("://") && is_key_alphabet(text);
            let hex = is_hex(text) && text.len() >= 24 && has_digit(text) && has_letter(text);
            // Of "token for jo: …" it is an identifier.
            let uuid = is_uuid(text);
            let is_of_someone = || scan.text[keyword.clone()].ends_with(' ');
            (random && !uuid
                || hex && candidate.lead >= Lead::Adjacent
                || uuid && *number <= 1 && candidate.lead >= Lead::Stated && !is_of_someone())
                && !is_stand_in(text)
                && !is_public_identifier(text)
        });
    if let Some((_, found)) = found {
        let is_secret = scan.text[keyword].to_ascii_lowercase().contains("secret");
        scan.found(
            if is_secret { "secret" } else { "api-key" },
            Certainty::Place,
            found.range,
        );
    }
}

/// Words near an app password that name no password.
#[rustfmt::skip]
pub(crate) const APP_WORDS: &[&str] = &[
    "gmail", "smtp", "app pw", "app-pw", "app specific", "app-specific", "icloud", "notarytool", "altool", "google app", "aplicaci", "imap",
];

/// Finds the app password near the name of a service for mail.
pub(crate) fn app(scan: &mut Scan<'_>, keyword: Range<usize>) {
    if let Some(range) = app_password(scan, &keyword) {
        scan.found("password", Certainty::Place, range);
    }
}

/// Finds an app password of Google: four groups of four letters after words such as "app password".
fn app_password(scan: &Scan<'_>, keyword: &Range<usize>) -> Option<Range<usize>> {
    let from = scan.text.floor_char_boundary(keyword.start.saturating_sub(24));
    let to = scan.text.floor_char_boundary(keyword.end + 64);
    let around = scan.text.get(from..to)?.to_ascii_lowercase();
    if ![
        "app",
        "google",
        "gmail",
        "smtp",
        "imap",
        "mail",
        "cloud",
        "notary",
        "altool",
        "aplica",
        "aplika",
        "anwendung",
        "прилож",
        "アプリ",
        "应用",
    ]
    .iter()
    .any(|word| around.contains(word))
    {
        return None;
    }
    let window = &scan.bytes[keyword.end..to];
    let group = |at: usize| {
        window
            .get(at..at + 4)
            .is_some_and(|group| group.iter().all(u8::is_ascii_lowercase))
    };
    let is_edge = |at: Option<usize>| {
        at.is_none_or(|at| window.get(at).is_none_or(|byte| !byte.is_ascii_alphanumeric()))
    };
    let is_first = scan.text[from..keyword.start]
        .trim_end_matches(['-', ' '])
        .ends_with("pp")
        || scan.text[from..keyword.start]
            .trim_end_matches(['-', ' '])
            .ends_with("specific");
    let start = (0..window.len().saturating_sub(18)).find(|&at| {
        let groups = (0..4).all(|number| group(at + number * 5));
        // Apple writes hyphens between the groups.
        let between = window[at + 4];
        let spaces =
            matches!(between, b' ' | b'-') && (1..4).all(|number| window[at + number * 5 - 1] == between);
        let whole = is_edge(at.checked_sub(1)) && is_edge(Some(at + 19));
        // Four ordinary words of four letters have vowels.
        let vowels = window[at..at + 19]
            .iter()
            .filter(|byte| b"aeiou".contains(byte))
            .count();
        let before = std::str::from_utf8(&window[..at]).unwrap_or_default().trim_end();
        let stated = before.ends_with([':', '：'])
            || is_copula("", before.rsplit(' ').next().unwrap_or_default())
            || is_first && at <= 1
            || at > 0 && matches!(window[at - 1], b'"' | b'\'' | b'`');
        groups && spaces && whole && vowels <= if stated { 6 } else { 4 }
    })?;
    Some(keyword.end + start..keyword.end + start + 19)
}

/// Returns the words after the name of a secret, up to the end of the sentence.
fn candidates<'t>(scan: &Scan<'t>, keyword: &Range<usize>) -> Vec<Candidate<'t>> {
    let text = scan.text;
    let name = &text[keyword.clone()];
    // The name of a rule in a mask is no name of a secret.
    let rule = Class::of("a-z-").run_back(scan.bytes, keyword.start, 24);
    if scan.bytes[..rule].ends_with(MASK_START.as_bytes()) {
        return Vec::new();
    }
    let mut start = keyword.end;
    // The end of the name: "contraseña", "passwords".
    while let Some(letter) = text[start..]
        .chars()
        .next()
        .filter(|letter| letter.is_alphabetic() && !is_cjk(*letter))
    {
        start += letter.len_utf8();
        if start > keyword.end + 16 {
            return Vec::new();
        }
    }
    // An identifier or a path goes on: `password_field`, `password.rs`.
    if text[start..].starts_with(['_', '/', '\\', '(', '[', '-', '@']) {
        return Vec::new();
    }
    let end = text.floor_char_boundary(start.saturating_add(MAX_DISTANCE));
    let mut found: Vec<Candidate<'t>> = Vec::new();
    let ending = &text[keyword.end..start];
    let is_connected =
        CONNECTING_ENDINGS.iter().any(|known| ending.ends_with(known)) || is_used(scan, keyword);
    let is_changed = is_changed(scan, keyword);
    let is_english = name
        .get(..4)
        .is_some_and(|start| start.eq_ignore_ascii_case("pass"));
    let mut at = start;
    let mut previous = "";
    while found.len() < MAX_WORDS {
        let gap_end = text[at..end]
            .find(|letter| !is_gap(letter))
            .map_or(end, |length| at + length);
        let gap = &text[at..gap_end];
        // The sentence or the line ends here.
        if gap_end >= end || gap.contains(['\n', '。', '？']) || previous.ends_with(['.', '?', '!']) {
            break;
        }
        // A value may be longer than the distance.
        let limit = text.floor_char_boundary(gap_end.saturating_add(MAX_VALUE));
        let Some(length) = text[gap_end..limit]
            .find(is_gap)
            .or((limit == text.len()).then_some(limit - gap_end))
        else {
            break;
        };
        let word = &text[gap_end..gap_end + length];
        // The secret was masked: the words after it are none.
        if word.contains(MASK_START) {
            break;
        }
        at = gap_end + length;
        let end_of_words = at >= end;
        let mut value = word.trim_end_matches(['.', ',', ';', ':', '!', '?', '*', ')']);
        // In a file name: `Router_Passwort=hunter-22.txt`.
        let assigned = value
            .strip_prefix('=')
            .filter(|_| found.is_empty() && gap.is_empty());
        if let Some(assigned) = assigned {
            value = file_stem(assigned).unwrap_or(assigned);
        }
        if !value.is_empty() {
            let mut from = gap_end + usize::from(assigned.is_some());
            let mut lead =
                assigned.map_or_else(|| lead(name, gap, previous, found.is_empty()), |_| Lead::Stated);
            let is_new_value = is_changed && BEFORE_NEW_VALUE.contains(&previous.to_lowercase().as_str());
            let in_brackets = value.strip_prefix('(').filter(|_| word.contains(')'));
            if let Some(inner) = in_brackets {
                (value, from) = (inner, from + 1);
            }
            let follows = lead == Lead::Adjacent
                && found.is_empty()
                && ends_clause(word, &text[at..])
                && (is_elaborate(value) || is_phrase(value) || !is_english && is_word_with_number(value));
            if lead < Lead::Stated
                && (follows
                    || is_new_value
                    || in_brackets.is_some()
                    || is_connected && lead == Lead::Adjacent)
            {
                lead = Lead::Stated;
            }
            found.push(Candidate {
                text: value,
                range: from..from + value.len(),
                lead,
            });
        }
        let subject = word.to_ascii_lowercase();
        let is_other = found.len() <= 2 && OTHER_SUBJECTS.contains(&subject.as_str());
        if end_of_words || is_other || REVISIONS.contains(&subject.as_str()) {
            break;
        }
        previous = word;
    }
    found
}

/// Returns whether a clause ends after a word, given the text that follows it.
fn ends_clause(word: &str, after: &str) -> bool {
    let after = after.trim_start_matches([' ', '\t']);
    word.ends_with([',', '.', ';', ')'])
        || after.is_empty()
        || after.starts_with(['\n', '\r', ',', '，', '。', '、'])
}

fn lead(name: &str, gap: &str, previous: &str, is_first: bool) -> Lead {
    let opened = gap
        .trim_end_matches('*')
        .ends_with(['"', '\'', '`', '“', '„', '«', '「', '‘', '『']);
    let particle = gap.trim().ends_with(PARTICLES) || previous.ends_with([':', '=']);
    if opened {
        Lead::Quoted
    } else if particle || is_copula(name, previous) {
        Lead::Stated
    } else if is_first || previous.ends_with(',') {
        Lead::Adjacent
    } else {
        Lead::Words
    }
}

/// Returns whether a word connects this name and its value.
fn is_copula(name: &str, word: &str) -> bool {
    let word = word.to_lowercase();
    let name = name.to_lowercase();
    COPULAS.contains(&word.as_str())
        || COPULAS_AFTER
            .iter()
            .any(|(copula, names)| *copula == word && names.contains(&name.as_str()))
}

/// Returns whether a clause after a name says that its value follows: it ends with a sign, a particle or a word for "is".
pub(crate) fn is_stated(name: &str, clause: &str) -> bool {
    let clause = clause.trim_end();
    let word = clause.rsplit(char::is_whitespace).next().unwrap_or_default();
    clause.ends_with(PARTICLES)
        || CONNECTING_ENDINGS
            .iter()
            .any(|ending| !ending.is_ascii() && clause.ends_with(ending))
        || is_copula(name, word)
}

/// Returns whether a character separates words. Characters of languages without spaces do, because passwords have none.
fn is_gap(letter: char) -> bool {
    letter.is_whitespace()
        || is_cjk(letter)
        || matches!(
            letter,
            '"' | '\'' | '`' | '“' | '”' | '„' | '«' | '»' | '‘' | '’' | '<' | '>' | '，' | '：'
        )
}

fn is_cjk(letter: char) -> bool {
    matches!(letter, '\u{3000}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ff00}'..='\u{ff60}')
}

fn is_key_alphabet(text: &str) -> bool {
    text.bytes().all(|byte| Class::of("A-Za-z0-9+/=_.~-").has(byte))
}

/// Returns whether a word of at least eight characters looks like a password that a person chose: it has a figure, and letters of
/// both cases or special characters.
pub(crate) fn is_chosen(word: &str) -> bool {
    let has = |kind: fn(&u8) -> bool| word.bytes().any(|byte| kind(&byte));
    let candidate = Candidate {
        text: word,
        range: 0..word.len(),
        lead: Lead::Stated,
    };
    word.len() >= 8
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
        && is_password(&candidate)
}

/// Returns whether a word looks like a password that a person or a program chose, given how it is connected with the name.
fn is_password(candidate: &Candidate<'_>) -> bool {
    const STRONG: &[char] = &['!', '@', '#', '$', '%', '^', '&', '?', '~', '+', '|'];
    // Between two words, prose and code have none of these.
    const JOINING: &[char] = &['!', '#', '$', '%', '^', '~'];
    let word = candidate.text;
    let length = word.chars().count();
    if candidate.lead == Lead::Words
        || !(6..=128).contains(&length)
        || is_stand_in(word)
        || is_public_identifier(word)
        || is_uuid(word)
        || is_hex(word) && length < 32
        || word.contains(['(', ')', '{', '}', '[', ']', '<', '\\', '='])
        || word.contains('/') && !looks_random(word)
        || word.starts_with(['-', '$', '@', '#', '&', '/', '.'])
        || file_stem(word).is_some()
        || is_mail_address(word)
    {
        return false;
    }
    let letter = word.chars().any(char::is_alphabetic);
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let strong = word.trim_start_matches(STRONG).contains(STRONG) && !word.starts_with(char::is_numeric);
    let mixed = word.bytes().any(|byte| byte.is_ascii_uppercase())
        && word.bytes().any(|byte| byte.is_ascii_lowercase());
    let separators = word
        .bytes()
        .filter(|byte| matches!(byte, b'-' | b'_' | b'.'))
        .count();
    if is_algorithm(word) || !letter {
        return false;
    }
    if digits == 0 {
        let camel = length >= 10 && word.bytes().all(|byte| byte.is_ascii_alphabetic()) && !is_name(word);
        let joined = length >= 8 && mixed && word.trim_start_matches(STRONG).contains(JOINING);
        return candidate.lead >= Lead::Stated && (joined || is_joined(word) || is_phrase(word))
            || candidate.lead == Lead::Stated && camel
            || candidate.lead == Lead::Quoted && strong && !is_words(word);
    }
    match candidate.lead {
        Lead::Quoted => true,
        Lead::Stated => strong || length >= 8 || mixed,
        Lead::Adjacent | Lead::Words => {
            length >= 8 && strong
                || is_scrambled(word)
                || length >= 8 && (is_leet(word) || digits >= 2 && is_numbered(word))
                || length >= 10 && digits >= 2 && (mixed || separators >= 2 && digits <= 6)
                || looks_random(word)
        }
    }
}

/// Returns whether a word is a mail address without figures. A password may have an `@` too.
fn is_mail_address(word: &str) -> bool {
    word.split_once('@').is_some_and(|(user, host)| {
        let is_plain = |part: &str| part.bytes().all(|byte| Class::of("a-z._-").has(byte));
        !user.is_empty() && host.contains('.') && is_plain(user) && is_plain(host)
    })
}

/// Returns the stem of a file name, a host or a version: `config.py`, `db.example.com`, `2.4.1`.
pub(crate) fn file_stem(word: &str) -> Option<&str> {
    let (stem, ending) = word.rsplit_once('.')?;
    let short = (1..=5).contains(&ending.len()) && ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let plain = stem.bytes().all(|byte| Class::of("A-Za-z0-9_.~-").has(byte));
    // Words in both cases before a number: a password such as `Herbst.Laub.7`.
    let has = |kind: fn(&u8) -> bool| stem.bytes().any(|byte| kind(&byte));
    let is_chosen = ending.bytes().all(|byte| byte.is_ascii_digit())
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase);
    (short && !stem.is_empty() && plain && !is_chosen).then_some(stem)
}

/// Returns whether a word names an algorithm, an encoding or a version: `sha256`, `argon2id`, `utf-8`, `oauth2`.
pub(crate) fn is_algorithm(word: &str) -> bool {
    // A class of characters.
    if ["a-z", "A-Z", "0-9"]
        .iter()
        .filter(|range| word.contains(*range))
        .count()
        >= 2
    {
        return true;
    }
    #[rustfmt::skip]
    const NAMES: &[&str] = &[
        "sha", "md", "bcrypt", "argon", "pbkdf", "scrypt", "utf", "base", "aes", "rsa", "hmac", "oauth", "ed", "http",
        "ipv", "python", "py", "java", "node", "tls", "ssl", "rfc", "iso", "win", "postgres", "mysql", "redis", "h",
        "v", "s", "ec", "x", "chacha", "blake", "sipp", "log", "tcp", "udp", "es", "rs", "hs", "ps", "pkcs", "p",
    ];
    let lower = word.to_ascii_lowercase();
    let stem = lower
        .split(|letter: char| !letter.is_ascii_alphabetic())
        .next()
        .unwrap_or_default();
    NAMES.contains(&stem) && word.len() <= 24 && !word.contains(['!', '@', '#', '$', '%', '&', '?'])
}

#[cfg(test)]
mod tests;
