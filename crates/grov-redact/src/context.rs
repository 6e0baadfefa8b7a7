//! Rules for secrets that are recognized by the text around them.

use crate::asked;
use crate::assignment;
use crate::codes;
use crate::command;
use crate::declared;
use crate::encoded;
use crate::file_name;
use crate::header;
use crate::insert;
use crate::literals;
use crate::numbers;
use crate::pattern::Class;
use crate::places;
use crate::private;
use crate::prose;
use crate::scan::{Certainty, Scan, end_of_run};
use crate::seed;
use crate::table;
use crate::token::{continues_a_word, start_of_run};
use crate::value::{
    has_digit, has_letter, has_space, is_hex, is_name, is_public_identifier, is_stand_in, is_uuid, is_words,
    looks_random,
};
use std::ops::Range;

/// Examines the text around a keyword.
type ContextRule = fn(&mut Scan<'_>, Range<usize>);

/// The rules and their keywords, at least three bytes each, in any case. The names of programs are in
/// [`PROGRAMS`](crate::command::PROGRAMS).
#[rustfmt::skip]
pub(crate) static CONTEXTS: &[(ContextRule, &[&str])] = &[
    (private::marked, &["<private"]),
    (private::key_block, &["-----BEGIN ", "---- BEGIN "]),
    (private::key_tail, &["-----END "]),
    (private::putty_lines, &["Private-Lines:"]),
    (header::bearer, &["bearer ", "bearer: "]),
    (header::basic, &["basic "]),
    (private::key_body, &["MII", "MHcCAQEEI", "MIGHAgEAM", "MC4CAQAwBQYDK2Vw", "b3BlbnNzaC1rZXktdjEA"]),
    (announced, &["password ", "passwort ", "passphrase ", "secret ", "token ", "_authToken "]),
    (prose::password, prose::PASSWORD_WORDS),
    (prose::app, prose::APP_WORDS),
    (prose::key, prose::KEY_WORDS),
    (file_name::password, file_name::WORDS),
    (literals::literal, literals::BEFORE_LITERAL),
    (literals::call, literals::CALLS),
    (literals::certain, literals::CERTAIN),
    (literals::directive, literals::DIRECTIVES),
    (numbers::lock, numbers::LOCK_WORDS),
    (numbers::code, numbers::CODE_WORDS),
    (encoded::answer, encoded::QUESTION),
    (asked::answered, asked::ANSWERS),
    (insert::rows, insert::STATEMENTS),
    (codes::one_time, codes::ONE_TIME_WORDS),
    (codes::recovery, codes::RECOVERY_WORDS),
    (codes::serial, codes::SERIAL_WORDS),
    (seed::phrase, seed::SEED_WORDS),
    (table::column, table::HEADINGS),
    (command::piped, &["sudo -s ", "chpasswd", "passwd --stdin", "| passwd", "|passwd", "| sudo passwd", "cryptsetup", "--passphrase-fd", "secret create", "smbpasswd", "kinit",
        "pass insert", "secret set", "--password-fd", "--password-stdin", "--with-token"]),
    (command::here_string, &["<<<", "<(echo ", "<(printf "]),
    (command::oracle, &["sqlplus ", "jdbc:oracle:thin:", "rman target ", "expdp ", "impdp ", "sqlldr ", "sqlcl "]),
    (command::htpasswd, &["htpasswd "]),
    (command::after_user, &[" -p "]),
    (one_time_seed, &["otpauth://"]),
    (command::flag, &[
        "-password", "-passwd", "-passphrase", "-pass", "-keypass", "-storepass", "-token", "-secret",
        "-secret-key", "-secret-access-key", "-api-key", "-apikey", "-api_key", "-access-key", "-auth-key",
        "-authkey", "-account-key", "-pw", "-psk", "-pat", "-hmac-key", "-private-key", "-master-key", "-encryption-key", "-license-key",
        "-srcstorepass", "-deststorepass", "-srckeypass", "-destkeypass", "-oauth2-bearer", "-pwd", "-secret-string", "-upw", "-opw",
    ]),
    (assignment::element, &["password>", "passwd>", "passphrase>", "secret>", "token>", "apikey>", "api-key>", "password\">",
        "passwd\">", "secret\">", "pwd\">", "pass\">", "token\">"]),
    (sentence, &[
        "password is ", "passphrase is ", "password is:", "seed is ", "token is ", "secret is ", "api key is ",
        "secret key is ", "secret_access_key ",
    ]),
    (sql_password, &["identified by ", "_password by ", "password '", "storepassword \"", "keypassword \""]),
    (netrc_password, &["password "]),
    (pgpass_password, &[":5432:", ":5433:", ":5434:", ":6432:"]),
    (places::share, &["net use "]),
    (places::reply, &["send \"", "send -- \""]),
    (places::written, &["sendline(\"", "sendline('", "sendline(b\"", "sendline(b'", ".write(b\"", ".write(b'"]),
    (places::generated, &["assword is generated for ", "assword was generated for "]),
    (places::list, &["chpasswd"]),
    (places::session, &["\nuser "]),
    (places::pair, &[
        "creds:", "creds ", "credentials:", "login with ", "log in with ", "login: ", "zugangsdaten:", "zugang:",
        "identifiants", "zugangsdaten ", "credentials ", "credentials are ", "creds are ", "u/p ", "creds for ", "login is ",
    ]),
    (places::login, &[
        "log in as ", "login as ", "log in with ", "login with ", "sign in as ", "sign in with ", "anmelden mit ", "anmelden als ",
        "einloggen mit ", "connecter avec ", "connecter en ", "connecte avec ", "entra con ", "entrar con ", "entrar com ", "entre com ",
        "accedi con ", "accedere con ", "inloggen met ", "zaloguj ", "zalogować ", "wifi ", "wlan ", "apple id ",
    ]),
    (places::short_name, &[" pw ", " pw: ", " pw=", "(pw ", "pw ", "pass ", "clave ", "psw ", "pwd ", "pass is ", "pw is ", "clave: "]),
    (places::wireless, &["WIFI:"]),
    (places::file_of_url, &["https_", "http_", "ssh_", "ftp_", "sftp_"]),
    (declared::defined, declared::DECLARING),
    (declared::plist, &["</key>"]),
    (declared::fallback, &["|| '", "|| \"", "?? '", "?? \""]),
    (literals::encoded, &["userpassword:: ", "unicodepwd:: "]),
    (places::half_pair, &[" p: ", " p="]),
];

/// The names of the rules that examine the text around a secret.
pub(crate) static CONTEXT_RULES: &[&str] = &[
    "private",
    "private-key",
    "connection-password",
    "authorization-header",
    "bearer-token",
    "session-cookie",
    "command-password",
    "discord-bot-token",
    "aws-secret-access-key",
    "password",
    "secret",
    "api-key",
    "token",
    "service-key",
    "high-entropy",
];

/// Finds the Discord bot token around the dot at `at`: 24 to 28 characters that start with M, N or O, a dot, 6 characters, a dot, and
/// 27 to 48 characters. It has no keyword, but its dots have a fixed distance.
pub(crate) fn discord_token(scan: &mut Scan<'_>, at: usize) {
    if scan.bytes.get(at + 7) != Some(&b'.') {
        return;
    }
    let class = Class::BASE64_URL;
    let start = start_of_run(class, scan.bytes, at, 28);
    let end = class.run(scan.bytes, at + 8, 64);
    if !(24..=28).contains(&(at - start)) || !(27..=48).contains(&(end - at - 8)) {
        return;
    }
    let middle_fits = class.run(scan.bytes, at + 1, 6) == at + 7;
    let digit = scan.bytes[start..end].iter().any(u8::is_ascii_digit);
    if middle_fits
        && digit
        && !is_name(&scan.text[at + 8..end])
        && matches!(scan.bytes[start], b'M' | b'N' | b'O')
    {
        scan.found("discord-bot-token", Certainty::Form, start..end);
    }
}

/// Finds the key of 64 bytes in base64 whose padding starts at `at`, such as an Azure account key in a file name. Digests of that
/// length are marked by `sha512-`.
pub(crate) fn padded_key(scan: &mut Scan<'_>, at: usize) {
    const LENGTH: usize = 86;
    const KEY: Class = Class::of("A-Za-z0-9+/_-");
    let bytes = scan.bytes;
    let Some(start) = at.checked_sub(LENGTH) else {
        return;
    };
    let before = &bytes[..start];
    let joined = before
        .last()
        .is_some_and(|byte| Class::of("A-Za-z0-9+").has(*byte));
    let digest = ["sha512-", "sha512:", "sha512=", "sha512 "]
        .iter()
        .any(|mark| before.ends_with(mark.as_bytes()));
    if joined || digest || KEY.run(bytes, start, LENGTH + 1) != at || bytes.get(at + 2) == Some(&b'=') {
        return;
    }
    if looks_random(&scan.text[start..at]) {
        scan.found("azure-storage-key", Certainty::Form, start..at + 2);
    }
}

/// Finds the key of 32 bytes in base64 before the ending of a file name, such as `bus-….key`.
pub(crate) fn key_in_file_name(scan: &mut Scan<'_>, at: usize) {
    const LENGTH: usize = 43;
    const KEY: Class = Class::of("A-Za-z0-9+/_-");
    let bytes = scan.bytes;
    let ending = Class::of("a-z").run(bytes, (at + 2).min(bytes.len()), 5);
    let has_ending = bytes.get(at) == Some(&b'=')
        && bytes.get(at + 1) == Some(&b'.')
        && (2..=5).contains(&ending.saturating_sub(at + 2))
        && !bytes.get(ending).is_some_and(|byte| Class::WORD.has(*byte));
    let Some(start) = at.checked_sub(LENGTH).filter(|_| has_ending) else {
        return;
    };
    let digest = ["sha256-", "sha256:", "h1:"]
        .iter()
        .any(|mark| bytes[..start].ends_with(mark.as_bytes()));
    if !digest && KEY.run(bytes, start, LENGTH) == at && looks_random(&scan.text[start..at]) {
        scan.found("high-entropy", Certainty::Form, start..at + 1);
    }
}

/// Finds the seed in `otpauth://totp/me?secret=…`: at least 16 characters of base32.
fn one_time_seed(scan: &mut Scan<'_>, keyword: Range<usize>) {
    const MAX_DISTANCE: usize = 256;
    const BASE32: Class = Class::of("A-Z2-7a-z");
    let bytes = scan.bytes;
    let end = end_of_run(bytes, keyword.end, MAX_DISTANCE, u8::is_ascii_whitespace);
    let name = b"secret=";
    let Some(at) = memchr::memmem::find(&bytes[keyword.end..end], name) else {
        return;
    };
    let start = keyword.end + at + name.len();
    let seed = start..BASE32.run(bytes, start, 128);
    if seed.len() >= 16 {
        scan.found("secret", Certainty::Place, seed);
    }
}

/// Finds the AWS secret access key near its access key id, as in credential files, mails and tables: 40 base64 characters after it,
/// or before it.
pub(crate) fn secret_of_access_key(scan: &mut Scan<'_>, id: &Range<usize>) {
    const MAX_DISTANCE: usize = 192;
    const LENGTH: usize = 40;
    const SECRET: Class = Class::of("A-Za-z0-9+/");
    let is_secret = |range: Range<usize>| {
        let text = &scan.text[range.clone()];
        range.len() == LENGTH && !is_hex(text) && looks_random(text)
    };
    let bytes = scan.bytes;
    let (mut start, mut after) = (id.end, None);
    while after.is_none() && start < bytes.len().min(id.end + MAX_DISTANCE) {
        let end = SECRET.run(bytes, start, LENGTH + 1);
        after = (start > id.end && is_secret(start..end)).then_some(start..end);
        start = scan.text.ceil_char_boundary(end + 1);
    }
    let (mut end, mut before) = (id.start, None);
    while before.is_none() && end > id.start.saturating_sub(MAX_DISTANCE) {
        let start = SECRET.run_back(bytes, end, LENGTH + 1);
        before = (end < id.start && is_secret(start..end)).then_some(start..end);
        end = scan.text.floor_char_boundary(start.saturating_sub(1));
    }
    for range in [before, after].into_iter().flatten() {
        scan.found("aws-secret-access-key", Certainty::Place, range);
    }
}

/// Finds the password in `the password is hunter2`: the next word, unless it is an ordinary one.
fn sentence(scan: &mut Scan<'_>, keyword: Range<usize>) {
    let start = Class::of(" :\"'`*").run(scan.bytes, keyword.end, 6);
    // Without a limit: words do not overlap, so the time stays linear in the text.
    let Some((word, range)) = word_at(scan, start, usize::MAX) else {
        return;
    };
    let (digit, letter) = (has_digit(word), has_letter(word));
    let password = says_password(scan, &keyword);
    let is_secret = if password {
        word.len() >= 5 && digit && letter || word.len() >= 10 && letter && looks_mixed(word)
    } else {
        word.len() >= 12 && digit && letter
    };
    if is_secret
        && !is_stand_in(word)
        && !is_words(word)
        && !word.contains(['(', '='])
        && (looks_random(word) || !word.contains('/'))
    {
        scan.found(
            if password { "password" } else { "secret" },
            Certainty::Place,
            range,
        );
    }
}

/// Returns the word that starts at `start`, at most `limit` bytes, without punctuation at its end.
fn word_at<'t>(scan: &Scan<'t>, start: usize, limit: usize) -> Option<(&'t str, Range<usize>)> {
    let ends =
        |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b',' | b';' | b')');
    let end = end_of_run(scan.bytes, start, limit, ends);
    let word = scan
        .text
        .get(start..end)?
        .trim_end_matches(['.', '!', '?', '*', ':']);
    Some((word, start..start + word.len()))
}

/// Returns whether a keyword is a word for a password in English.
fn says_password(scan: &Scan<'_>, keyword: &Range<usize>) -> bool {
    scan.text[keyword.clone()]
        .to_ascii_lowercase()
        .starts_with("pass")
}

/// Finds the password in `log in with the password tr0ub4dor-and-3`: the next word, if it looks like a generated or chosen secret.
fn announced(scan: &mut Scan<'_>, keyword: Range<usize>) {
    let bytes = scan.bytes;
    let start = Class::of("\"'`*").run(bytes, keyword.end, 3);
    let Some((word, range)) = word_at(scan, start, 256) else {
        return;
    };
    let password = says_password(scan, &keyword);
    let made = looks_random(word) && !is_hex(word) && !is_uuid(word);
    let chosen = || {
        let digits = word
            .as_bytes()
            .chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit());
        let digits = digits.filter(|part| part[0].is_ascii_digit()).count();
        let plain = Class::of("A-Za-z0-9_.!@$%^*+~-");
        word.len() >= 10 && digits >= 2 && has_letter(word) && word.bytes().all(|byte| plain.has(byte))
    };
    let named = keyword.len() > "_authToken".len() && bytes[keyword.start] == b'_' && word.len() >= 16;
    let is_secret = made || named || password && chosen();
    if is_secret && !is_public_identifier(word) && !is_stand_in(word) && !word.contains(['(', '=', '/', '\\'])
    {
        let rule = if password { "password" } else { "secret" };
        scan.found(rule, Certainty::Place, range);
    }
}

/// Returns whether the word has only letters, with upper case inside words, such as `FVxQuaUiO`.
fn looks_mixed(word: &str) -> bool {
    let letters = word.bytes().all(|byte| byte.is_ascii_alphabetic());
    letters && !is_name(word) && !is_words(word)
}

/// Finds the password in SQL: `IDENTIFIED BY 'hunter2'` or `WITH PASSWORD 'hunter2'`.
fn sql_password(scan: &mut Scan<'_>, keyword: Range<usize>) {
    let bytes = scan.bytes;
    let quote_at = if bytes[keyword.end - 1] == b'\'' {
        keyword.end - 1
    } else {
        keyword.end
    };
    // `storePassword '…'` is an assignment in Gradle.
    let is_camel_case = bytes[keyword.start] == b'P' && bytes.get(keyword.start + 1) == Some(&b'a');
    if continues_a_word(bytes, keyword.start) && bytes[keyword.start] != b'_' && !is_camel_case
        || !matches!(bytes.get(quote_at), Some(b'\'' | b'"'))
    {
        return;
    }
    let (quote, start) = (bytes[quote_at], quote_at + 1);
    let Some(length) = bytes[start..]
        .iter()
        .take(256)
        .position(|byte| *byte == quote || *byte == b'\n')
    else {
        return;
    };
    let Some(password) = scan.text.get(start..start + length) else {
        return;
    };
    if bytes[start + length] == quote && password.len() >= 3 && !has_space(password) && !is_stand_in(password)
        // In double quotes it may be a name.
        && (quote == b'\'' || has_digit(password))
    {
        scan.found("password", Certainty::Place, start..start + length);
    }
}

/// Finds the password in a `.netrc` entry: `machine example.com login me password hunter2`.
fn netrc_password(scan: &mut Scan<'_>, keyword: Range<usize>) {
    const MAX_ENTRY: usize = 256;
    let bytes = scan.bytes;
    let before = &bytes[keyword.start.saturating_sub(MAX_ENTRY)..keyword.start];
    let mut words = before
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
        .rev();
    let _user = words.next();
    let before = words.next();
    if continues_a_word(bytes, keyword.start) {
        return;
    }
    let end = end_of_run(bytes, keyword.end, usize::MAX, u8::is_ascii_whitespace);
    // Also `machine example.com password hunter2 login me`.
    let next = || bytes[end..].trim_ascii_start().starts_with(b"login ");
    if before != Some(b"login") && !(before == Some(b"machine") && next()) {
        return;
    }
    let password = &scan.text[keyword.end..end];
    if password.len() >= 3 && !is_stand_in(password) {
        scan.found("password", Certainty::Place, keyword.end..end);
    }
}

/// Finds the password in a `.pgpass` entry: `host:5432:database:user:hunter2`.
fn pgpass_password(scan: &mut Scan<'_>, keyword: Range<usize>) {
    const FIELD: Class = Class::of("A-Za-z0-9_.*-");
    let bytes = scan.bytes;
    let database = FIELD.run(bytes, keyword.end, 64);
    let user = FIELD.run(bytes, database + 1, 64);
    let fields = database > keyword.end && user > database + 1;
    if !fields || bytes.get(database) != Some(&b':') || bytes.get(user) != Some(&b':') {
        return;
    }
    let start = user + 1;
    let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`');
    let end = end_of_run(bytes, start, 256, ends);
    let Some(password) = scan.text.get(start..end) else {
        return;
    };
    if password.len() >= 3 && !is_stand_in(password) {
        scan.found("password", Certainty::Place, start..end);
    }
}
