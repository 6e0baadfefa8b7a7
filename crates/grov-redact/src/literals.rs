//! Passwords and keys that are known by the call, the statement or the directive before them: `PRAGMA key = '…'`, `PSK "…"`,
//! `ConvertTo-SecureString "…"`, `requirepass …`.

use crate::chosen::{is_made, is_numbered, is_word_with_number};
use crate::pattern::Class;
use crate::prose::{self, is_algorithm};
use crate::scan::{Certainty, Scan};
use crate::value::{has_digit, has_letter, is_hex, is_prose, is_stand_in, is_words};
use std::ops::Range;

/// Statements and calls whose next literal is a secret, whatever it is made of.
#[rustfmt::skip]
pub(crate) const BEFORE_LITERAL: &[&str] = &[
    "pragma key", "pragma rekey", "pragma hexkey", "pragma textkey", "pragma cipher_key", ": psk \"", ": psk '", ": eap \"", ": xauth \"",
    ": ntlm \"", " psk \"", " psk '", "wpa_passphrase ", "option key '", "psk=\"", "psk = \"", "convertto-securestring ", "encryptbypassphrase(", "encryption by password",
    "decryption by password",
    "ascii 0 ", "encrypt_string ", "quirepass \"", "sterauth \"", "wpa-psk \"",
];

/// Calls whose last literal is a secret, if it is no plain word. Those that begin like common words lack their first letters, which
/// costs fewer comparisons.
#[rustfmt::skip]
pub(crate) const CALLS: &[&str] = &[
    "pgp_sym_encrypt(", "pgp_sym_decrypt(", "aes_encrypt(", "aes_decrypt(", "networkcredential(", "passwordauthentication(",
    "httpbasicauth(",
    "basicauth(", "basic_auth(", "basicawscredentials(", "awsbasiccredentials.create(", "httpbasic(", "auth=(", "setpassword(",
    "set_password(",
    "thpassword(", "th_password(", "secretkeyspec(", "createhmac(", "hmac.new(", "jwt.sign(", "jwt.verify(", "jwt.encode(", "jwt.decode(",
    "fernet(", "gcredentials(", "usernamepasswordcredentials(", "plainauth(", "smtp.login(", "rver.login(", "ient.login(", "imap.login(",
    "ftp.login(", "mysqli(", "mysql_connect(", "mysqli_connect(", "passwordcredential(", "azurekeycredential(", "apikeycredentials(",
    "privatekeytoaccount(", "ommnemonic(", "mnemonictoseed(", "wallet(", "keypair.fromsecret(", "importkey(", "credentials(",
    "wifi.begin(", "ient.connect(", "i->connect(", "ssh.connect(", "username_pw_set(", ".auth = (", "new pdo(", "getconnection(", "quelize(",
    "cy.login(", "page.type(", "page.fill(", "cookieparser(", "nd_keys(", "ndkeys(", "login_as(", "sign_in(", "rest.client(",
    "new twilio(", "sh_hmac(", "algoliasearch(",
];

/// Directives of configuration files and commands whose next word is a secret, if it has a digit or a special character.
#[rustfmt::skip]
pub(crate) const DIRECTIVES: &[&str] = &[
     "enable secret ", "enable password ", 
    "rocommunity ", "snmp community ", "community string ", "rwcommunity ", "key-string ", "pre-shared-key ", "server key ", "isakmp key ", "wpa-psk ascii ", "stats auth ",
    "]:587 ", "]:465 ",
    "]:25 ", "nmcli ", "unlock-keychain ", "add_user ", "change_password ", "authenticate_user ",
    "bw unlock ", "bw login ", "snyk auth ", "ngrok authtoken ", "add-authtoken ", "vault login ", "cargo login ", "setapikey ",
    "mysqladmin ", "alias set ", "http-basic.", "github-oauth.", "pypi-token.", "npmauthtoken ", "net user ", "session setup ",
    "passphrase-fd ", "luksaddkey ", "aws_secret_access_key ", "config gems.", "--md5 ", "addprinc ", "wandb login ",
    "service install ", "token add ", "auth default ", "redis-cli auth ",
    "ppp chap password ", "password 7 ", "password 0 ", "secret 0 ", "secret 7 ", ".logon ", "db2 connect ", "kv put ",
    "rclone config ", "kv patch ", "secret set ", "secrets set ", "mosquitto_passwd ", "prosodyctl register ", "ejabberdctl register ",
    "+login ", "openssl passwd ", "mkpasswd ", "slappasswd ", "admin-password ", "upwd ", "cf auth ", "-passwd /", "setairportnetwork ",
    "rclone obscure ", "qpdf --encrypt ", "nickserv identify ", "nickserv :identify ", "> auth ", "sp_addlogin ", "sp_password ",
    "password-value ", "convertto-securestring ",
];

/// Directives whose next word is a password, whatever it is made of. Some lack their first letters, as in [`CALLS`].
#[rustfmt::skip]
pub(crate) const CERTAIN: &[&str] = &[
    "quirepass ", "sterauth ", "auth_pass ", "ndpw ", "otpw ", "otpw: ", "put_pw ", "ser_pw ", "wner_pw ", "isakmp key ", "server key ",
    "server key 0 ", "auth default ", "redis-cli auth ", "chap password ", "chap password 0 ", "snmp-server community ", "ascii 0 ",
    "key-string ", ":_password ", ":_auth ",
];

/// Finds the word after a directive that takes one.
pub(crate) fn certain(scan: &mut Scan<'_>, keyword: Range<usize>) {
    let to = scan.text.floor_char_boundary(keyword.end.saturating_add(160));
    let line = scan.text[keyword.end..to].split('\n').next().unwrap_or_default();
    // Options may precede it.
    let word = line
        .split(' ')
        .find(|word| !word.starts_with("--"))
        .unwrap_or_default();
    let text = word.trim_matches(['"', '\'', '`', ',', ';', '=']);
    let plain =
        text.len() < 8 && text.chars().all(char::is_lowercase) || is_prose(text) || is_algorithm(text);
    let joined = text.contains(['-', '_', '.', '!', '#', '%'])
        || has_digit(text)
        || text.chars().any(char::is_uppercase);
    if text.len() >= 6
        && joined
        && !plain
        && !is_stand_in(text)
        && !text.contains(['(', ')', '<', '/', '=', '$'])
    {
        let start = keyword.end + (text.as_ptr() as usize - line.as_ptr() as usize);
        scan.found("command-password", Certainty::Place, start..start + text.len());
    }
}

/// Finds the literal after a statement.
pub(crate) fn literal(scan: &mut Scan<'_>, keyword: Range<usize>) {
    const MAX_GAP: usize = 48;
    let bytes = scan.bytes;
    // The opening quote may be part of the keyword.
    let from = keyword.end - usize::from(is_quote(bytes[keyword.end - 1]));
    let near = &bytes[from..bytes.len().min(from + MAX_GAP)];
    let Some(open) = near
        .iter()
        .take_while(|byte| **byte != b'\n')
        .position(|byte| is_quote(*byte))
    else {
        return;
    };
    let Some(range) = closed(bytes, from + open) else {
        return;
    };
    let Some(text) = scan.text.get(range.clone()) else {
        return;
    };
    if text.len() >= 4 && !is_stand_in(text) && !text.contains("://") {
        scan.found("password", Certainty::Place, range);
    }
}

/// Finds the base64 after the name of an attribute in LDIF: `userPassword:: …`.
pub(crate) fn encoded(scan: &mut Scan<'_>, keyword: Range<usize>) {
    let end = Class::BASE64.run(scan.bytes, keyword.end, 1024);
    if end - keyword.end >= 8 {
        scan.found("password", Certainty::Place, keyword.end..end);
    }
}

/// Finds the last literal of a call.
pub(crate) fn call(scan: &mut Scan<'_>, keyword: Range<usize>) {
    const MAX_CALL: usize = 256;
    const MAX_LITERALS: usize = 6;
    let bytes = scan.bytes;
    let stop = bytes.len().min(keyword.end + MAX_CALL);
    let (mut at, mut last) = (keyword.end, None);
    for number in 0..MAX_LITERALS {
        let Some(open) = bytes[at.min(stop)..stop]
            .iter()
            .position(|byte| is_quote(*byte) || matches!(byte, b')' | b';'))
        else {
            break;
        };
        let open = at + open;
        if !is_quote(bytes[open]) {
            break;
        }
        let Some(range) = closed(bytes, open) else { break };
        at = range.end + 1;
        // Others may follow it: `new mysqli('db', 'jo', 'hunter-22', 'shop')`.
        let is_password = number >= 2 && scan.text.get(range.clone()).is_some_and(is_made);
        last = Some(range);
        if is_password {
            break;
        }
    }
    let Some(range) = last else { return };
    let Some(text) = scan.text.get(range.clone()) else {
        return;
    };
    let is_key = text
        .strip_prefix("0x")
        .is_some_and(|digits| digits.len() == 64 && is_hex(digits));
    // After a user name or the name of a field, any form of password.
    let before = scan.text[keyword.end..range.start].to_ascii_lowercase();
    let follows = before.contains(['"', '\'']) && before.contains(',') || before.contains("pass");
    let is_network = scan.text[keyword].eq_ignore_ascii_case("wifi.begin(");
    if is_key || is_chosen(text) || follows && is_made(text) || is_network && is_word_with_number(text) {
        scan.found("secret", Certainty::Place, range);
    }
}

/// Returns whether a literal is a secret and no name, algorithm, path or message.
fn is_chosen(text: &str) -> bool {
    (6..=256).contains(&text.len())
        && has_letter(text)
        && has_digit(text)
        && !is_stand_in(text)
        && (prose::is_elaborate(text)
            || !is_words(text.trim_end_matches(|letter: char| letter.is_ascii_digit())))
        && !text.contains(['/', '(', '{', '<', '\\', '\n', '*'])
        && !(text.contains(' ') && is_prose(text))
        && !prose::is_algorithm(text)
        && prose::file_stem(text).is_none()
}

/// Finds the words after a directive that are no plain words.
pub(crate) fn directive(scan: &mut Scan<'_>, keyword: Range<usize>) {
    const MAX_LINE: usize = 200;
    const MAX_WORDS: usize = 6;
    let text = scan.text;
    // `netsh` and `subnet user` are other words.
    if scan.bytes[keyword.start].is_ascii_alphanumeric()
        && keyword.start > 0
        && scan.bytes[keyword.start - 1].is_ascii_alphanumeric()
    {
        return;
    }
    let to = text.floor_char_boundary(keyword.end.saturating_add(MAX_LINE));
    let line = text[keyword.end..to]
        .split(['\n', '|', ';'])
        .next()
        .unwrap_or_default();
    let line = line.split(" #").next().unwrap_or_default();
    // The prompt of Redis. In a path of menus it is another word.
    if &scan.text[keyword.clone()] == "> auth " {
        return;
    }
    let mut found = Vec::new();
    // Options such as `+login` begin with a plus.
    let is_plus = scan.bytes[keyword.start] == b'+';
    for word in line.split_whitespace().take(MAX_WORDS) {
        let word = word.trim_matches(['"', '\'', '`', ',', '\\', '(', ')']);
        if word.starts_with('-') || is_plus && word.starts_with('+') {
            continue;
        }
        // Of `name=value` and `user,password` the second part.
        let word = word.split_once('=').map_or(word, |(_, value)| value);
        let word = word.rsplit_once(',').map_or(word, |(_, password)| password);
        // Of `user:password` the password.
        let secret = word
            .split_once(':')
            .filter(|(user, rest)| !user.is_empty() && !rest.starts_with('/'))
            .map_or(word, |(_, password)| password);
        if is_secret_word(secret) {
            let start = keyword.end + (secret.as_ptr() as usize - line.as_ptr() as usize);
            found.push(start..start + secret.len());
        }
    }
    for range in found {
        scan.found("command-password", Certainty::Place, range);
    }
}

/// Returns whether a word of a directive is a password or a key.
fn is_secret_word(word: &str) -> bool {
    let strong = word.contains(['!', '#', '%', '^', '&', '+', '~', '?']);
    let is_address = || {
        let mut parts = word.split(['.', ':', '/']);
        parts.all(|part| part.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    (6..=256).contains(&word.len())
        && (has_letter(word) && has_digit(word) || strong && !is_words(word))
        && !is_stand_in(word)
        && !word.contains(['/', '\\', '=', '(', ')', '<', '{', '@', '*', '$'])
        && !(word.contains('.') && is_address())
        && !is_constant_name(word)
        && !prose::is_algorithm(word)
        && prose::file_stem(word).is_none()
        && (!looks_like_a_name(word) || is_numbered(word))
        || is_made(word)
}

/// Returns whether a word is the name of a variable: `DB2_PASSWORD`.
fn is_constant_name(word: &str) -> bool {
    word.contains('_') && word.bytes().all(|byte| Class::of("A-Z0-9_").has(byte))
}

/// Returns whether a word is a name of small letters with a number: `db2`, `node-17`, `release-2024`.
fn looks_like_a_name(word: &str) -> bool {
    let stem = word.trim_end_matches(|letter: char| letter.is_ascii_digit());
    word.len() - stem.len() <= 4 && word.len() < 16 && stem.bytes().all(|byte| Class::of("a-z_-").has(byte))
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

/// Returns the text between the quote at `open` and the same one on its line.
fn closed(bytes: &[u8], open: usize) -> Option<Range<usize>> {
    const MAX_LITERAL: usize = 256;
    let start = open + 1;
    let window = &bytes[start.min(bytes.len())..bytes.len().min(start + MAX_LITERAL)];
    let length = window
        .iter()
        .position(|byte| *byte == bytes[open] || *byte == b'\n')?;
    (window[length] != b'\n' && length > 0).then_some(start..start + length)
}

#[cfg(test)]
mod tests {
    use crate::Redactor;

    #[test]
    fn a_secret_is_found_by_the_call_or_directive_before_it() {
        for (text, secret) in [
            (
                "sqlcipher v.db \"PRAGMA key = 'seven tin kettles hum'; SELECT 1\"",
                "seven tin kettles hum",
            ),
            (
                "203.0.113.9 198.51.100.4 : PSK \"gletscher-Murmel-0815\"",
                "gletscher-Murmel-0815",
            ),
            ("anna : EAP \"gletscher-Murmel\"", "gletscher-Murmel"),
            (
                "ConvertTo-SecureString 'Herbst-Laub' -AsPlainText -Force",
                "Herbst-Laub",
            ),
            ("new NetworkCredential(\"anna\", \"Herbst7Laub\")", "Herbst7Laub"),
            ("requests.get(url, auth=('anna', 'Herbst7Laub'))", "Herbst7Laub"),
            (
                "select pgp_sym_decrypt(card, 'Herbst7Laub') from cards",
                "Herbst7Laub",
            ),
            ("jwt.sign({ id: 1 }, 'm0ths-at-the-Lamp')", "m0ths-at-the-Lamp"),
            ("requirepass Herbst7Laub", "Herbst7Laub"),
            ("rabbitmqctl add_user anna Herbst7Laub", "Herbst7Laub"),
            ("enable secret Herbst7Laub", "Herbst7Laub"),
            ("stats auth admin:Herbst7Laub", "Herbst7Laub"),
            ("[smtp.acme.io]:587 anna:Herbst7Laub", "Herbst7Laub"),
            (
                "mc alias set prod https://s3.acme.io AKEY77 Herbst7LaubKorb",
                "Herbst7LaubKorb",
            ),
            (
                "new ethers.Wallet(\"0xc87f4f8b098bc5c39befff90ae1467ddeadeb8f6238a53cfb1a2439e017a011b\")",
                "0xc87f4f8b098bc5c39bef",
            ),
        ] {
            let masked = Redactor::shared().redact(text);
            assert!(!masked.contains(secret), "{masked}");
            assert_eq!(Redactor::shared().redact(&masked), masked, "twice");
        }
    }

    #[test]
    fn ordinary_calls_and_directives_stay() {
        for text in [
            "PRAGMA key_column = 1; PRAGMA foreign_keys = ON",
            "crypto.createHmac('sha256', key).digest('hex')",
            "jwt.verify(token, process.env.JWT_SECRET)",
            "new Wallet(provider, \"main\")",
            "set_password(user, password)",
            "requests.get(url, auth=(user, password))",
            "enable password authentication for node2",
            "vault login -method=oidc role=dev",
            "cargo login reads the token from stdin",
            "net user /domain",
            "server key exchange uses ECDHE",
        ] {
            assert_eq!(Redactor::shared().redact(text), text);
        }
    }
}
