//! Finds passwords in the names of files: `haslo_vpn_Kiefer.7.Wolke.txt`, `passwort-Winter-Krokus-88.pdf`.

use crate::prose;
use crate::scan::{Certainty, Scan};
use std::ops::Range;

/// Words for a password in the names of files, with the separator after them.
#[rustfmt::skip]
pub(crate) const WORDS: &[&str] = &[
    "password_", "password-", "passwort_", "passwort-", "passwd_", "passphrase_", "kennwort_", "kennwort-", "haslo_", "haslo-",
    "hasło_", "hasło-",
    "senha_", "senha-", "contrasena_", "contraseña_", "motdepasse_", "mdp_", "mdp-", "parola_", "sifre_", "şifre_", "wachtwoord_", "heslo_",
    "-pw-", "_pw_", "pw_", "pw-", "losenord_", "lösenord_", "пароль_", "пароль-", "salasana_", "jelszo_", "jelszó_", "zugang_",
    "credentials_", "creds_", "login_", "pwd_",
    "密码_", "パスワード_",
];

/// Endings of files that people write. Sources have others.
#[rustfmt::skip]
const ENDINGS: &[&str] = &[
    "txt", "md", "doc", "docx", "odt", "pdf", "csv", "xls", "xlsx", "ods", "zip", "7z", "rar", "kdbx", "png", "jpg", "jpeg", "env",
    "log", "bak",
    "cfg", "conf", "ini", "gpg", "key", "pem", "p12", "pfx", "tar", "gz", "rtf", "html", "eml", "note", "old", "ovpn",
];

/// Finds the password between a word and the ending of a file.
pub(crate) fn password(scan: &mut Scan<'_>, keyword: Range<usize>) {
    const MAX_NAME: usize = 128;
    let to = scan
        .text
        .floor_char_boundary(keyword.end.saturating_add(MAX_NAME));
    let ends = |letter: char| {
        letter.is_whitespace()
            || matches!(
                letter,
                '/' | '\\' | '"' | '\'' | '`' | '<' | '>' | '(' | ')' | ',' | ';' | ':'
            )
    };
    let name = scan.text[keyword.end..to].split(ends).next().unwrap_or_default();
    let Some((stem, ending)) = name.rsplit_once('.') else {
        return;
    };
    if !ENDINGS.contains(&ending.to_ascii_lowercase().as_str()) {
        return;
    }
    // The words before it say what it is for.
    let mut part = stem;
    loop {
        if prose::is_elaborate(part)
            || part.len() >= 12 && prose::is_chosen(part) && part.contains(['-', '.', '!', '#'])
        {
            let start = keyword.end + (stem.len() - part.len());
            return scan.found("password", Certainty::Place, start..keyword.end + stem.len());
        }
        match part.split_once('_') {
            Some((_, rest)) => part = rest,
            None => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Redactor;

    #[test]
    fn a_password_in_the_name_of_a_file_is_found() {
        for text in [
            "C:\\Users\\Piotr\\Desktop\\haslo_vpn_Kiefer.7.Wolke.txt",
            "notes/passwort_nas_Kiefer.7.Wolke.pdf",
            "creds_Kiefer.7.Wolke.md",
            "senha_do_wifi_Kiefer.7.Wolke.jpg",
        ] {
            let masked = Redactor::shared().redact(text);
            assert!(!masked.contains("Kiefer.7"), "{masked}");
            assert_eq!(Redactor::shared().redact(&masked), masked, "twice");
        }
    }

    #[test]
    fn an_ordinary_name_of_a_file_stays() {
        for text in [
            "docs/password_reset_2024.md",
            "login_Test2Page.html",
            "password_policy_v2.1.pdf",
            "zugang_passwort_zuruecksetzen.vue",
            "creds_2026-01-05.log",
            "login_2026-01-05T12.log",
        ] {
            assert_eq!(Redactor::shared().redact(text), text);
        }
    }
}
