//! Finds passwords and keys in the columns of tables: a heading such as "password" and the cells below it.

use crate::prose;
use crate::random::generated;
use crate::scan::{Certainty, Scan};
use crate::value::{has_digit, has_letter, is_public_identifier, is_stand_in, is_uuid, is_words};
use std::ops::Range;

/// The beginnings of headings, with the separator before them.
#[rustfmt::skip]
pub(crate) const HEADINGS: &[&str] = &[
    "| pw", "|pw", "| pass", "|pass", "| kennwort", "|kennwort", "| secret", "|secret", "| token", "|token", "| api key", "| api_key",
    "|api key", "| key ", "| senha", "| contrase", "| mot de passe", "| mdp", "| hasło", "| пароль", "| Пароль", "| şifre", "| parola",
    "| 密码", "| wachtwoord", "| パスワード", "| 비밀번호", "| heslo", "| lösenord", "| adgangskode", "| credential", "| psk", "| pin",
    ",password", ",pass", ",pw", ",secret", ",token", ",api_key", ",passwort", ",kennwort", ",senha", ";password", ";passwort", ";pw",
    ";kennwort",
    "\tpassword", "\tpasswort", "\tpw", "\tsecret", "\ttoken", "\tkennwort",
];

/// Most rows of a table that are read.
const MAX_ROWS: usize = 64;
/// Longest heading or row, in bytes.
const MAX_ROW: usize = 512;

/// Finds the cells below a heading.
pub(crate) fn column(scan: &mut Scan<'_>, keyword: Range<usize>) {
    let text = scan.text;
    let Some(separator) = text[keyword.clone()].chars().next() else {
        return;
    };
    let from = text.ceil_char_boundary(keyword.start.saturating_sub(MAX_ROW));
    let line_start = text[from..keyword.start]
        .rfind('\n')
        .map_or(from, |at| from + at + 1);
    let Some(line) = row_at(text, line_start) else {
        return;
    };
    // The heading of another column of the same table is read, a row is not.
    if scan.table.start < line_start && line_start < scan.table.end {
        return;
    }
    let before = &line[..keyword.start - line_start];
    let number = before.matches(separator).count() + 1;
    let Some(heading) = line.split(separator).nth(number) else {
        return;
    };
    let heading = heading.trim().trim_matches(['*', '`', '"', '\'']).to_lowercase();
    if heading.len() > 32 || heading.contains(['=', '(', ')', '$', '{', '<']) || !is_header(line, separator) {
        return;
    }
    let is_password = !["secret", "token", "api", "key"]
        .iter()
        .any(|word| heading.contains(word));
    let mut at = line_start + line.len() + 1;
    for _ in 0..MAX_ROWS {
        let Some(row) = row_at(text, at) else { return };
        let is_rule = row.bytes().all(|byte| b"|-:+ =\r".contains(&byte)) && !row.is_empty();
        if !is_rule {
            if row.matches(separator).count() != line.matches(separator).count() {
                return;
            }
            if let Some(cell) = row.split(separator).nth(number) {
                let cell = cell.trim().trim_matches(['*', '`', '"', '\'']);
                let start = at + (cell.as_ptr() as usize - row.as_ptr() as usize);
                if if is_password {
                    is_password_cell(cell)
                } else {
                    is_key_cell(cell)
                } {
                    scan.found(
                        if is_password { "password" } else { "secret" },
                        Certainty::Place,
                        start..start + cell.len(),
                    );
                }
            }
        }
        at += row.len() + 1;
        scan.table = line_start..at;
    }
}

/// Returns the line at a place, if it is short enough.
fn row_at(text: &str, at: usize) -> Option<&str> {
    let rest = text.get(at..text.ceil_char_boundary(at.saturating_add(MAX_ROW)))?;
    match rest.split_once('\n') {
        Some((row, _)) => Some(row),
        None => (at + rest.len() == text.len()).then_some(rest),
    }
}

/// Returns whether a line is the heading of a table: its cells are words.
fn is_header(line: &str, separator: char) -> bool {
    let plain = |cell: &str| {
        cell.len() <= 32 && !has_digit(cell) && !cell.contains(['=', '(', '{', '$', '"', ';', '.'])
    };
    let is_heading = if separator == '|' {
        line.matches('|').count() >= 1
    } else {
        line.matches(separator).count() >= 1 && !line.contains(". ")
    };
    is_heading
        && line
            .split(separator)
            .all(|cell| plain(cell.trim().trim_matches(['*', '`', '"', '\''])))
}

/// Returns whether a cell is a password that a person or a program chose.
pub(crate) fn is_password_cell(cell: &str) -> bool {
    let strong = cell.contains(['!', '#', '%', '&', '?', '@', '+', '~', '^']);
    (5..=128).contains(&cell.len())
        && !cell.contains([' ', '(', ')', '<', '>', '[', ']', '{', '}', '='])
        && has_letter(cell)
        && (has_digit(cell) || strong)
        && !is_public(cell)
        && !prose::is_algorithm(cell)
        && prose::file_stem(cell).is_none()
}

/// Returns whether a cell is a generated key.
pub(crate) fn is_key_cell(cell: &str) -> bool {
    let made = cell.len() >= 12
        && has_digit(cell)
        && has_letter(cell)
        && !is_words(cell.trim_end_matches(|letter: char| letter.is_ascii_digit()));
    !is_public(cell)
        && !cell.contains([' ', '(', '.', '/', '<', '=', ':'])
        && (generated(cell).is_some() || made && !cell.contains('_') && !cell.contains('-'))
}

fn is_public(cell: &str) -> bool {
    is_stand_in(cell) || is_public_identifier(cell) || is_uuid(cell)
}

#[cfg(test)]
mod tests {
    use crate::Redactor;

    #[test]
    fn the_cells_below_a_password_are_masked() {
        for text in [
            "| env | user | pw |\n|---|---|---|\n| test | qa | duck-pond-77 |\n| uat | qa | goose-Lake-78 |",
            "| Dienst | Passwort |\n| --- | --- |\n| NAS | duck-pond-77 |\n| VPN | goose-Lake-78 |",
            "name,password,role\nqa,duck-pond-77,admin\nuat,goose-Lake-78,user",
            " login | password \n-------+---------\n qa | duck-pond-77\n uat | goose-Lake-78",
            "host;passwort\nnas;duck-pond-77\nvpn;goose-Lake-78",
        ] {
            let masked = Redactor::shared().redact(text);
            assert!(
                !masked.contains("duck-pond-77") && !masked.contains("goose-Lake-78"),
                "{masked}"
            );
            assert_eq!(Redactor::shared().redact(&masked), masked, "twice");
        }
    }

    #[test]
    fn a_table_about_passwords_stays() {
        for text in [
            "| field | password | since |\n|---|---|---|\n| type | varchar(255) | v2 |\n| hash | argon2id | 2.4.1 |",
            "| option | token |\n|---|---|\n| default | none |\n| form | UTF-8 |",
            "case,password,result\na,required,ok\nb,optional,ok",
            "encrypted_password | character varying(255)\n reset_password_token | character varying(255)",
        ] {
            assert_eq!(Redactor::shared().redact(text), text);
        }
    }
}
