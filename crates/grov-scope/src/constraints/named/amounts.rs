//! The most that a constraint allows of something: seconds, bytes, rows, attempts.

use super::change::Side;
use crate::constraints::clause::Token;
use crate::constraints::vocabulary::Term;

/// A number and what it counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Amount {
    most: f64,
    unit: Unit,
}

/// What a number counts, or the base to which it is converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Milliseconds,
    Bytes,
    Rows,
    Attempts,
}

/// Units in what people type, by their first letters, and their size.
#[rustfmt::skip]
const WORDS: &[(&str, Unit, f64)] = &[
    ("ms", Unit::Milliseconds, 1.0), ("millis", Unit::Milliseconds, 1.0), ("sec", Unit::Milliseconds, 1e3), ("sek", Unit::Milliseconds, 1e3), ("seg", Unit::Milliseconds, 1e3), ("s", Unit::Milliseconds, 1e3), ("秒", Unit::Milliseconds, 1e3),
    ("min", Unit::Milliseconds, 6e4), ("分", Unit::Milliseconds, 6e4), ("hour", Unit::Milliseconds, 3.6e6), ("stunde", Unit::Milliseconds, 3.6e6), ("heure", Unit::Milliseconds, 3.6e6), ("hora", Unit::Milliseconds, 3.6e6), ("kb", Unit::Bytes, 1024.0), ("mb", Unit::Bytes, 1_048_576.0),
    ("gb", Unit::Bytes, 1_073_741_824.0), ("row", Unit::Rows, 1.0), ("record", Unit::Rows, 1.0), ("fila", Unit::Rows, 1.0), ("zeile", Unit::Rows, 1.0), ("ligne", Unit::Rows, 1.0), ("linha", Unit::Rows, 1.0), ("rij", Unit::Rows, 1.0), ("wiersz", Unit::Rows, 1.0), ("行", Unit::Rows, 1.0),
    ("time", Unit::Attempts, 1.0), ("attempt", Unit::Attempts, 1.0), ("retr", Unit::Attempts, 1.0), ("vece", Unit::Attempts, 1.0), ("intento", Unit::Attempts, 1.0), ("mal", Unit::Attempts, 1.0), ("fois", Unit::Attempts, 1.0), ("volte", Unit::Attempts, 1.0), ("veze", Unit::Attempts, 1.0),
    ("keer", Unit::Attempts, 1.0), ("razy", Unit::Attempts, 1.0), ("ori", Unit::Attempts, 1.0), ("次", Unit::Attempts, 1.0), ("回", Unit::Attempts, 1.0),
];

/// Numbers in words.
#[rustfmt::skip]
const NUMBERS: &[(&str, f64)] = &[
    ("two", 2.0), ("three", 3.0), ("four", 4.0), ("five", 5.0), ("ten", 10.0), ("zwei", 2.0), ("drei", 3.0), ("funf", 5.0), ("zehn", 10.0), ("dos", 2.0), ("tres", 3.0), ("cinco", 5.0), ("deux", 2.0), ("trois", 3.0),
    ("cinq", 5.0), ("due", 2.0), ("tre", 3.0), ("cinque", 5.0), ("doua", 2.0), ("trei", 3.0), ("twee", 2.0), ("drie", 3.0), ("vijf", 5.0), ("dwa", 2.0), ("trzy", 3.0),
];

/// Verbs and nouns of a limit without "at most": "must not exceed", "timeout max".
#[rustfmt::skip]
const LIMITING: &[&str] = &[
    "exceed", "exceeding", "longer", "above", "over", "more", "limit", "limita", "limite", "uberschreiten", "ubersteigen", "depasser", "superar", "superare", "pasar", "passar", "przekraczac", "overschrijden", "depaseasca", "maximal",
    "maximo", "massimo", "massima", "maximum", "hochstens", "max", "under", "below", "unter", "within", "上限", "超",
];

/// The amounts that a clause allows at most.
pub(super) fn named_by(clause: &[Token], text: &str) -> Vec<Amount> {
    let limits = clause
        .iter()
        .any(|token| token.is(Term::Most) || token.phrase.split(' ').any(|word| LIMITING.contains(&word)))
        || ["超", "上限", "以内", "まで"]
            .iter()
            .any(|part| text.contains(part));
    if !limits {
        return Vec::new();
    }
    let words: Vec<&str> = clause.iter().flat_map(|token| token.phrase.split(' ')).collect();
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let digits = word.len()
            - word
                .trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.')
                .len();
        let number = word[..digits].trim_end_matches('.').parse::<f64>().ok();
        let number = number.or_else(|| {
            NUMBERS
                .iter()
                .find(|(name, _)| name == word)
                .map(|(_, number)| *number)
        });
        let Some(number) = number else {
            continue;
        };
        let rest = &word[digits.min(word.len())..];
        let rest = if rest.is_empty() || number_word(word) {
            words.get(at + 1).copied().unwrap_or_default()
        } else {
            rest
        };
        if let Some((_, unit, size)) = unit_of(rest) {
            found.push(Amount {
                most: number * size,
                unit,
            });
        }
    }
    found
}

fn number_word(word: &str) -> bool {
    NUMBERS.iter().any(|(name, _)| *name == word)
}

fn unit_of(word: &str) -> Option<(&'static str, Unit, f64)> {
    let is_same = |name: &str| {
        if name.len() <= 2 && name.is_ascii() {
            word == name
        } else {
            word.starts_with(name)
        }
    };
    WORDS.iter().copied().find(|(name, ..)| is_same(name))
}

/// Names of settings and calls that an amount is given to, by unit.
#[rustfmt::skip]
fn names_of(unit: Unit) -> &'static [&'static str] {
    match unit {
        Unit::Milliseconds => &["timeout", "ttl", "expire", "expiry", "delay", "interval", "duration", "maxage", "max_age", "max-age", "wait"],
        Unit::Bytes => &["size", "limit", "max", "upload", "memory"],
        Unit::Rows => &["limit", "take", "top", "fetch first", "page_size", "pagesize"],
        Unit::Attempts => &["range(", "retries", "retry", "attempts", "max_tries", "tries", "times"],
    }
}

impl Amount {
    /// Whether a text gives more than is allowed, and did not before.
    pub(super) fn is_exceeded(&self, side: &Side<'_>) -> bool {
        let exceeds = |text: &str| text.lines().take(600).any(|line| self.exceeds(line));
        exceeds(&side.after) && !side.before.as_deref().is_some_and(exceeds)
    }

    /// Whether a line or command gives more.
    pub(super) fn exceeds(&self, line: &str) -> bool {
        let lower = line.to_lowercase();
        let named = names_of(self.unit).iter().any(|name| {
            let plain = self.unit != Unit::Rows
                || lower.contains(&format!("{name} "))
                || lower.contains(&format!("{name}("));
            plain && lower.contains(name)
        });
        named && value_of(&lower, self.unit).is_some_and(|value| value > self.most)
    }
}

/// The value that a line gives, in the base of a unit: `5 * time.Minute`, `10 * 1024 * 1024`, `timeout=60`.
fn value_of(line: &str, unit: Unit) -> Option<f64> {
    let at = names_of(unit)
        .iter()
        .filter_map(|name| line.find(name).map(|at| at + name.len()))
        .min()?;
    let rest = &line[at..];
    let mut value = 1.0;
    let mut factors = 0;
    for part in rest.split(|letter: char| !(letter.is_ascii_digit() || letter == '.' || letter == '_')) {
        let plain: String = part.chars().filter(|letter| *letter != '_').collect();
        if let Ok(number) = plain.trim_matches('.').parse::<f64>() {
            value *= number;
            factors += 1;
        }
        if factors > 0 && !rest.contains('*') {
            break;
        }
    }
    if factors == 0 {
        return None;
    }
    let factor = match unit {
        Unit::Rows | Unit::Attempts => 1.0,
        Unit::Bytes if rest.contains("gb") => 1_073_741_824.0,
        Unit::Bytes if rest.contains("mb") => 1_048_576.0,
        Unit::Bytes => 1.0,
        Unit::Milliseconds if rest.contains("hour") => 3.6e6,
        Unit::Milliseconds if rest.contains("minute") || rest.contains("min") => 6e4,
        Unit::Milliseconds if rest.contains("milli") || rest.contains("ms") => 1.0,
        Unit::Milliseconds if rest.contains("second") || rest.contains("sec") => 1e3,
        // Without a unit, large numbers are milliseconds and small ones seconds.
        Unit::Milliseconds => {
            if value >= 1000.0 {
                1.0
            } else {
                1e3
            }
        }
    };
    Some(value * factor)
}
