//! Codes that people copy: recovery codes, serial numbers and product keys.

use crate::pattern::Class;
use crate::scan::{Certainty, Scan};
use std::ops::Range;

/// Words for codes that replace a second factor, in the languages of prompts.
#[rustfmt::skip]
pub(crate) const RECOVERY_WORDS: &[&str] = &[
    "recovery code", "backup code", "backup-code", "recovery-code", "recovery_code", "backup_code", "rescue code", "scratch code",
    "emergency code", "one-time code", "2fa code", "wiederherstellungscode", "wiederherstellungsschlüssel", "backupcode",
    "codes de récupération", "codes de secours", "code de récupération", "code de secours", "códigos de recuperación",
    "códigos de respaldo", "código de recuperación", "códigos de recuperação", "código de recuperação", "codici di recupero",
    "codici di backup", "codice di recupero", "herstelcode", "kody zapasowe", "kody odzyskiwania", "резервные коды", "коды восстановления",
    "код восстановления", "kurtarma kod", "yedek kod", "恢复代码", "恢复码", "备用代码", "备用码", "リカバリーコード", "バックアップコード", "復旧コード",
    "복구 코드", "백업 코드", "recovery key", "återställningskod", "coduri de rezervă",
];

/// Words for the number of a licence, in the languages of prompts.
#[rustfmt::skip]
pub(crate) const SERIAL_WORDS: &[&str] = &[
    "serial ", "serial:", "serial=", "licens", "licenc", "licenz", "licenç", "licent", "zenzschl", "zenznum", "zenz:", "zenz ",
    "product key", "activation",
    "seriennummer", "produktschlüssel", "clé de produit", "numéro de série", "número de serie", "numero di serie", "numer seryjny",
    "лицензи", "серийный", "активации", "lisans", "序列号", "激活码", "许可证", "ライセンス", "シリアル", "라이선스", "시리얼",
];

/// Words for the seed of one-time passwords.
pub(crate) const ONE_TIME_WORDS: &[&str] = &[
    "totp",
    "otp secret",
    "otp seed",
    "2fa secret",
    "2fa seed",
    "2fa key",
    "mfa secret",
    "mfa key",
    "authenticator",
    "mfa seed",
    "setup key",
    "einrichtungsschlüssel",
    "clé de configuration",
    "clave de configuración",
    "chave de configuração",
    "chiave di configurazione",
    "instelsleutel",
    "klucz konfiguracji",
    "ключ настройки",
    "kurulum anahtarı",
    "设置密钥",
    "セットアップキー",
    "설정 키",
];

/// Number of bytes after a word that are read.
const MAX_DISTANCE: usize = 640;
/// Maximum number of words between the word and the first code.
const MAX_GAP: usize = 12;

/// A word that may be a code.
struct Code<'t> {
    text: &'t str,
    range: Range<usize>,
}

/// Finds the codes after a word for recovery codes: several in a row, or one in groups.
pub(crate) fn recovery(scan: &mut Scan<'_>, keyword: Range<usize>) {
    let codes = codes_after(scan, &keyword, is_code);
    let several = codes.len() >= 2;
    let digits_alone = codes
        .iter()
        .all(|code| code.text.bytes().all(|byte| byte.is_ascii_digit()));
    let enough = if digits_alone {
        codes.len() >= 4 || codes.iter().any(|code| code.text.len() >= 8)
    } else {
        several
    };
    let one_in_groups = |code: &Code<'_>| code.text.contains('-') && code.text.len() >= 9;
    if enough || codes.iter().any(one_in_groups) {
        for code in codes {
            scan.found("secret", Certainty::Place, code.range);
        }
    }
}

/// Finds the serial number after a word for a licence: groups of capital letters and digits.
pub(crate) fn serial(scan: &mut Scan<'_>, keyword: Range<usize>) {
    // Most licences are prose.
    let near = &scan.bytes[keyword.end..scan.bytes.len().min(keyword.end + 96)];
    let is_group = |pair: &[u8]| {
        matches!(
            pair,
            [b'0'..=b'9', b'A'..=b'Z' | b'-'] | [b'A'..=b'Z', b'0'..=b'9']
        )
    };
    if !near.windows(2).any(is_group) {
        return;
    }
    let codes = codes_after(scan, &keyword, is_serial_group);
    let length: usize = codes.iter().map(|code| code.text.len()).sum();
    let groups: usize = codes.iter().map(|code| code.text.split('-').count()).sum();
    if let (Some(first), Some(last)) = (codes.first(), codes.last())
        && groups >= 3
        && length >= 12
    {
        scan.found("secret", Certainty::Place, first.range.start..last.range.end);
    }
}

/// Finds the seed of one-time passwords: at least 16 characters of base32, also in groups of four.
pub(crate) fn one_time(scan: &mut Scan<'_>, keyword: Range<usize>) {
    const BASE32: Class = Class::of("A-Z2-7");
    const MAX_LINE: usize = 128;
    let to = scan
        .text
        .floor_char_boundary(keyword.end.saturating_add(MAX_LINE));
    let line = scan.text[keyword.end..to].split('\n').next().unwrap_or_default();
    let is_part = |word: &str| word.len() >= 4 && word.bytes().all(|byte| BASE32.has(byte));
    let mut run: Option<Range<usize>> = None;
    for word in line.split_whitespace() {
        let word = word.trim_matches(|letter: char| !letter.is_ascii_alphanumeric());
        let start = keyword.end + (word.as_ptr() as usize - line.as_ptr() as usize);
        if is_part(word) {
            let from = run.as_ref().map_or(start, |run| run.start);
            run = Some(from..start + word.len());
        } else if run.is_some() {
            break;
        }
    }
    let Some(run) = run else {
        if let Some(groups) = small_groups(line) {
            scan.found(
                "secret",
                Certainty::Place,
                keyword.end + groups.start..keyword.end + groups.end,
            );
        }
        return;
    };
    let seed = &scan.bytes[run.clone()];
    if seed.iter().filter(|byte| **byte != b' ').count() >= 16 && seed.iter().any(u8::is_ascii_digit) {
        scan.found("secret", Certainty::Place, run);
    }
}

/// Returns the range of at least four groups of four small characters of base32, some of them figures: as services show a seed.
fn small_groups(line: &str) -> Option<Range<usize>> {
    const BASE32: Class = Class::of("a-z2-7");
    const LEAST: usize = 4;
    let place = |word: &str| word.as_ptr() as usize - line.as_ptr() as usize;
    let words: Vec<&str> = line
        .split_whitespace()
        .map(|word| word.trim_matches(|letter: char| !letter.is_ascii_alphanumeric()))
        .collect();
    let is_group = |word: &str| word.len() == 4 && word.bytes().all(|byte| BASE32.has(byte));
    let groups = words.chunk_by(|a, b| is_group(a) && is_group(b)).find(|groups| {
        let figures = groups.iter().flat_map(|group| group.bytes());
        groups.len() >= LEAST && figures.filter(u8::is_ascii_digit).count() >= 2
    })?;
    Some(place(groups.first()?)..place(groups.last()?) + 4)
}

/// Returns the first run of codes after a keyword. Signs of lists may stand between them.
fn codes_after<'t>(scan: &Scan<'t>, keyword: &Range<usize>, is_code: fn(&str) -> bool) -> Vec<Code<'t>> {
    let end = scan
        .text
        .floor_char_boundary(keyword.end.saturating_add(MAX_DISTANCE));
    let after = scan.text.get(keyword.end..end).unwrap_or_default();
    let mut codes: Vec<Code<'t>> = Vec::new();
    let mut words = 0;
    let ends = |letter: char| {
        letter.is_whitespace()
            || matches!(
                letter,
                ',' | ';' | '"' | '\'' | '`' | '(' | ')' | '[' | ']' | '：' | ':' | '、'
            )
    };
    for word in after.split(ends) {
        let word = word.trim_matches(|letter: char| matches!(letter, '*' | '.' | '|' | '•'));
        // Numbers of a list: `1.`, `2)`.
        if word.is_empty()
            || word == "-"
            || !codes.is_empty() && word.len() <= 2 && word.bytes().all(|byte| byte.is_ascii_digit())
        {
            continue;
        }
        if is_code(word) {
            let start = keyword.end + (word.as_ptr() as usize - after.as_ptr() as usize);
            codes.push(Code {
                text: word,
                range: start..start + word.len(),
            });
        } else if !codes.is_empty() {
            break;
        } else {
            words += 1;
            if words > MAX_GAP
                || after[..word.as_ptr() as usize - after.as_ptr() as usize]
                    .matches('\n')
                    .count()
                    > 2
            {
                break;
            }
        }
    }
    codes
}

/// Returns whether a word looks like a recovery code: `0297f-52229`, `k3m9x2q7`, `48219930`.
fn is_code(word: &str) -> bool {
    const CODE: Class = Class::of("A-Za-z0-9-");
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let grouped = word.contains('-');
    let groups_fit = || word.split('-').all(|group| (3..=8).contains(&group.len()));
    let is_date = || word.len() == 10 && digits == 8;
    let in_words = || {
        word.split('-')
            .any(|group| group.len() >= 4 && group.bytes().all(|byte| byte.is_ascii_lowercase()))
    };
    (4..=40).contains(&word.len())
        && word.bytes().all(|byte| CODE.has(byte))
        && digits >= 1
        && if grouped {
            groups_fit() && !is_date() && !(in_words() && digits < 4)
        } else if digits == word.len() {
            word.len() <= 10
        } else {
            word.len() >= 6 && digits >= 2 && word.len() <= 24
        }
}

/// Returns whether a word is a group of a serial number: capital letters and digits, with a digit.
fn is_serial_group(word: &str) -> bool {
    const GROUP: Class = Class::of("A-Z0-9-");
    (4..=48).contains(&word.len())
        && word.bytes().all(|byte| GROUP.has(byte))
        && word.bytes().any(|byte| byte.is_ascii_digit())
        && word.split('-').all(|group| group.len() >= 3)
        // A date or a number is none.
        && word.bytes().filter(u8::is_ascii_uppercase).count() >= 1
}

/// Returns whether a token is a product key: at least four groups of the same length, of capital letters and digits.
/// Five groups of five are one without a word that says so.
pub(crate) fn product_key(text: &str) -> Option<ProductKey> {
    let mut groups = text.split('-');
    let length = groups.next()?.len();
    let count = 1 + groups.clone().count();
    // The recovery key of BitLocker.
    if length == 6
        && count == 8
        && groups.clone().all(|group| group.len() == 6)
        && text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit())
    {
        return Some(ProductKey::Certain);
    }
    let fits = (4..=8).contains(&length)
        && (count >= 4 || count == 3 && length == 5)
        && groups.all(|group| group.len() == length)
        && text
            .bytes()
            .all(|byte| byte == b'-' || byte.is_ascii_uppercase() || byte.is_ascii_digit())
        && text.bytes().filter(u8::is_ascii_digit).count() >= 2
        && text.bytes().filter(u8::is_ascii_uppercase).count() >= 4;
    fits.then_some(if length == 5 && count == 5 {
        ProductKey::Certain
    } else {
        ProductKey::Possible
    })
}

/// How certain it is that a token is a product key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProductKey {
    /// Five groups of five.
    Certain,
    /// Other groups.
    Possible,
}

#[cfg(test)]
mod tests {
    use crate::Redactor;

    #[test]
    fn codes_after_their_word_are_found() {
        for (text, secrets) in [
            (
                "save these recovery codes:\n0297f-52229\n1fa2c-35caf\nb1528-a60c0",
                &["0297f-52229", "1fa2c-35caf", "b1528-a60c0"][..],
            ),
            (
                "Backup-Codes für GitHub: k3m9x2q7, p8w4z1n6, t5r2v9b3",
                &["k3m9x2q7", "t5r2v9b3"],
            ),
            (
                "google backup codes\n1. 4821 9930\n2. 1187 4402",
                &["4821", "4402"],
            ),
            (
                "codes de récupération : 8f3k-2m9x 7q1w-5z8n",
                &["8f3k-2m9x", "7q1w-5z8n"],
            ),
            (
                "резервные коды: 48219930 11874402 93017745 20498831",
                &["48219930", "20498831"],
            ),
            ("恢复代码：a1b2c-d3e4f", &["a1b2c-d3e4f"]),
            (
                "license serial EA7E-2442836 E84CE2B1 74A32CB3 50EDCBD1",
                &["E84CE2B1", "50EDCBD1"],
            ),
            ("Lizenz: 7QK2-M9XW-4PL8-ZT31", &["M9XW"]),
            ("Win11Pro 3L45U-VWXPW-KVNCM-31069-WSDR7 Rechnung.pdf", &["KVNCM"]),
        ] {
            let masked = Redactor::shared().redact(text);
            for secret in secrets {
                assert!(!masked.contains(secret), "{masked}");
            }
            assert_eq!(Redactor::shared().redact(&masked), masked, "twice");
        }
    }

    #[test]
    fn a_text_about_codes_stays() {
        for text in [
            "recovery codes are shown once, 10 per user, since 2026-01-05",
            "the backup code path in src/backup2.rs copies 3 files",
            "serial port COM3 at 115200 baud",
            "the license is MIT OR Apache-2.0, see LICENSE-APACHE",
            "licence 2024-2026 by the authors",
            "activation function RELU6, layer CONV2D",
            "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception",
            "generate 8 backup codes of 10 digits",
        ] {
            assert_eq!(Redactor::shared().redact(text), text);
        }
    }
}
