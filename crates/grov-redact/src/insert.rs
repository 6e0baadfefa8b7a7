//! Finds passwords in the rows of statements: `INSERT INTO users (name, password) VALUES ('jo', 'hunter-22')`.

use crate::key::{self, Meaning};
use crate::scan::{Certainty, Scan};
use crate::table::{is_key_cell, is_password_cell};
use std::ops::Range;

/// Words before the columns.
pub(crate) const STATEMENTS: &[&str] = &["insert into ", "replace into "];

/// Finds the values of the column for passwords or keys.
pub(crate) fn rows(scan: &mut Scan<'_>, keyword: Range<usize>) {
    const MAX_STATEMENT: usize = 2048;
    const MAX_ROWS: usize = 32;
    let to = scan
        .text
        .floor_char_boundary(keyword.end.saturating_add(MAX_STATEMENT));
    let statement = &scan.text[keyword.end..to];
    let Some((_, rest)) = statement.split_once('(') else {
        return;
    };
    let Some((columns, rest)) = rest.split_once(')') else {
        return;
    };
    let name = |column: &str| {
        column
            .trim()
            .trim_matches(['"', '\'', '`', '[', ']', '\\'])
            .to_owned()
    };
    let meanings: Vec<Option<Meaning>> = columns
        .split(',')
        .map(|column| key::meaning(&name(column)))
        .collect();
    let mut rest = rest.trim_start();
    let says_values = rest
        .get(..6)
        .is_some_and(|word| word.eq_ignore_ascii_case("values"));
    if !says_values || meanings.iter().all(Option::is_none) {
        return;
    }
    rest = &rest[6..];
    for _ in 0..MAX_ROWS {
        let Some(row) = rest
            .trim_start_matches([' ', ',', '\n', '\r', '\t'])
            .strip_prefix('(')
        else {
            return;
        };
        rest = row;
        for number in 0.. {
            let Some((literal, after)) = value(rest) else {
                return;
            };
            if let (Some(literal), Some(Some(meaning))) = (literal, meanings.get(number)) {
                let is_secret = if *meaning == Meaning::Password {
                    is_password_cell(literal)
                } else {
                    is_key_cell(literal)
                };
                if is_secret {
                    let at = literal.as_ptr() as usize - scan.text.as_ptr() as usize;
                    scan.found(meaning.rule(), Certainty::Place, at..at + literal.len());
                }
            }
            match after.strip_prefix(',') {
                Some(after) => rest = after,
                None => {
                    rest = after.strip_prefix(')').unwrap_or(after);
                    break;
                }
            }
        }
    }
}

/// Returns the literal of the next value, if it is one in quotes, and the text after the value.
fn value(rest: &str) -> Option<(Option<&str>, &str)> {
    let rest = rest.trim_start();
    let quoted = rest.strip_prefix('\'').or_else(|| rest.strip_prefix("N'"));
    let Some(literal) = quoted else {
        // Calls have brackets of their own.
        let mut depth = 0_usize;
        let end = rest.find(|sign| {
            depth += usize::from(sign == '(');
            let ends = depth == 0 && matches!(sign, ',' | ')');
            depth -= usize::from(sign == ')' && depth > 0);
            ends
        })?;
        return Some((None, &rest[end..]));
    };
    let mut from = 0;
    loop {
        let end = from + literal[from..].find('\'')?;
        let after = &literal[end + 1..];
        if !after.starts_with('\'') {
            return Some((Some(&literal[..end]), after.trim_start()));
        }
        from = end + 2;
    }
}

#[cfg(test)]
mod tests {
    use crate::Redactor;

    #[test]
    fn the_password_of_a_row_is_found() {
        for text in [
            "INSERT INTO accounts (email, password, role) VALUES ('jo@moor.net', 'Fenchel!Tee4', 'admin')",
            "INSERT INTO `users` (`login`,`pass`) VALUES ('jo','Kiesel'), ('root','Fenchel!Tee4');",
            "insert into users (name, created, password)\nvalues ('O''Hara', now(), 'Fenchel!Tee4')",
        ] {
            let masked = Redactor::shared().redact(text);
            assert!(!masked.contains("Fenchel"), "{masked}");
            assert!(
                masked.contains("'jo@moor.net'") || !text.contains("jo@"),
                "{masked}"
            );
            assert_eq!(Redactor::shared().redact(&masked), masked, "twice");
        }
    }

    #[test]
    fn other_rows_stay() {
        for text in [
            "INSERT INTO password_resets (email, token, created_at) VALUES (?, ?, NOW())",
            "INSERT INTO users (email, password) VALUES ($1, crypt($2, gen_salt('bf')))",
            "INSERT INTO settings (name, value) VALUES ('password_min_length', '12')",
            "INSERT INTO columns (password, kind) VALUES ('varchar(255)', 'text')",
            "INSERT INTO users (email, password) SELECT email, hash FROM old",
        ] {
            assert_eq!(Redactor::shared().redact(text), text);
        }
    }
}
