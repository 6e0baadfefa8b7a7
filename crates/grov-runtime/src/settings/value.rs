//! Types of settings: parses values from text or TOML, and displays them.

use super::database::DatabaseUrl;
use super::tool_grant::ToolGrant;
use crate::url::{Url, UrlError};
use grov_redact::Secret;
use std::fmt;
use std::net::IpAddr;
use std::time::Duration;
use toml::de::DeValue;

/// The type of a setting and its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`.
    Boolean,
    /// A whole number in a range.
    Integer {
        /// Smallest allowed.
        min: u64,
        /// Largest allowed.
        max: u64,
    },
    /// A number of bytes: `33554432`, `32MiB`.
    Size {
        /// Smallest allowed.
        min: u64,
        /// Largest allowed.
        max: u64,
    },
    /// A span of time: `30s`, `15m`, `24h`, `30d`, or a number of seconds; at most ten years.
    Duration {
        /// Smallest allowed.
        min_seconds: u64,
    },
    /// One of these words.
    Choice(&'static [&'static str]),
    /// An IP address, or `localhost` for 127.0.0.1.
    Address,
    /// An http or https base address.
    Url,
    /// The address of a database: `sqlite:PATH` or `postgresql://…`.
    Database,
    /// Levels of logging: `info`, `warn,grov_store=debug`.
    Levels,
    /// The path of a file.
    Path,
    /// A list of texts: a TOML array, or separated by commas.
    List,
    /// A list of external tools that agents may call, each `AGENT=COMMAND`.
    ToolGrants,
    /// A name of visible ASCII characters, such as that of a model.
    Word,
    /// An amount of US dollars with at most six decimal places, from 0.
    Dollars {
        /// Largest allowed.
        max: u64,
    },
    /// A key or token of visible ASCII characters, valid in an HTTP header. It is never shown.
    Secret,
}

/// A setting's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Of [`Kind::Boolean`].
    Boolean(bool),
    /// Of [`Kind::Integer`].
    Integer(u64),
    /// Of [`Kind::Size`], in bytes.
    Size(u64),
    /// Of [`Kind::Duration`].
    Duration(Duration),
    /// Of [`Kind::Address`].
    Address(IpAddr),
    /// Of [`Kind::Url`].
    Url(Url),
    /// Of [`Kind::Database`].
    Database(DatabaseUrl),
    /// Of the other kinds; empty if a setting without default is not set.
    Text(String),
    /// Of [`Kind::List`] and [`Kind::ToolGrants`].
    List(Vec<String>),
    /// Of [`Kind::Dollars`], in millionths of a dollar.
    MicroDollars(u64),
    /// Of [`Kind::Secret`]; empty if it is not set.
    Secret(Secret),
}

/// Ten years. Longer durations are mistakes, and sums must not overflow.
const MAX_SECONDS: u64 = 10 * 365 * 24 * 3600;
/// Characters of a text that are repeated in an error.
const MAX_SHOWN: usize = 60;
/// Millionths in a dollar.
const MICRO: u64 = 1_000_000;
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];
/// Number of units in which sizes are displayed: the first ones, up to bytes without a unit.
const SHOWN_SIZE_UNITS: usize = 4;
const SIZE_UNITS: [(&str, u64); 8] = [
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("", 1),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1000),
    ("B", 1),
];
const DURATION_UNITS: [(&str, u64); 5] = [("d", 86_400), ("h", 3600), ("m", 60), ("s", 1), ("", 1)];

/// An invalid value, as the end of a sentence "must be …, but is". Never contains a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidValue {
    /// A text or number, shortened and without control characters.
    #[error("{0:?}")]
    Text(String),
    /// A TOML value of another type.
    #[error("{0}")]
    Type(String),
    /// Not an address.
    #[error("not usable: {0}")]
    Url(UrlError),
    /// Not the address of a database.
    #[error("another text")]
    Database,
    /// Not a key.
    #[error("text that does not look like a key")]
    Secret,
    /// Bytes that are not text.
    #[error("not UTF-8")]
    NotUtf8,
}

impl Kind {
    /// Describes valid values, to follow "must be".
    pub fn expected(&self) -> String {
        match self {
            Self::Boolean => "true or false".to_owned(),
            Self::Integer { min, max } => format!("a whole number from {min} to {max}"),
            Self::Size { min, max } => {
                format!(
                    "a size like 32MiB or a number of bytes, from {} to {}",
                    show_size(*min),
                    show_size(*max)
                )
            }
            Self::Duration { min_seconds } => {
                format!(
                    "a time like 30s, 15m, 24h or 30d or a number of seconds, from {min_seconds}s to 3650d"
                )
            }
            Self::Choice(words) => format!("one of {}", words.join(", ")),
            Self::Address => "an IP address or localhost".to_owned(),
            Self::Url => "an http:// or https:// address without query".to_owned(),
            Self::Database => "sqlite:PATH or postgresql://USER@HOST/NAME".to_owned(),
            Self::Levels => format!(
                "one of {}, or TARGET=LEVEL, separated by commas",
                LEVELS.join(", ")
            ),
            Self::Path => "a path".to_owned(),
            Self::List => "a list of texts".to_owned(),
            Self::ToolGrants => {
                "a list of AGENT=COMMAND, such as main=plans list or researcher=perplexity *".to_owned()
            }
            Self::Word => "a name without spaces".to_owned(),
            Self::Dollars { max } => {
                format!("an amount like 0.50, from 0 to {max}, with at most six decimal places")
            }
            Self::Secret => "a key: one line of visible ASCII characters, without spaces".to_owned(),
        }
    }

    /// Parses the text of a flag or a variable.
    pub fn parse_text(&self, text: &str) -> Result<Value, InvalidValue> {
        let text = text.trim();
        let parsed = match self {
            Self::Boolean => match text.to_ascii_lowercase().as_str() {
                "true" | "1" | "yes" | "on" => Some(Value::Boolean(true)),
                "false" | "0" | "no" | "off" => Some(Value::Boolean(false)),
                _ => None,
            },
            Self::Integer { .. } => digits(text).and_then(|number| self.in_range(number)),
            Self::Size { .. } => with_unit(text, &SIZE_UNITS).and_then(|number| self.in_range(number)),
            Self::Duration { .. } => {
                with_unit(text, &DURATION_UNITS).and_then(|number| self.in_range(number))
            }
            Self::Choice(words) => {
                let word = words.iter().find(|word| word.eq_ignore_ascii_case(text));
                word.map(|word| Value::Text((*word).to_owned()))
            }
            Self::Address if text.eq_ignore_ascii_case("localhost") => {
                Some(Value::Address([127, 0, 0, 1].into()))
            }
            Self::Address => text.parse().ok().map(Value::Address),
            // The text is not repeated: it may contain a password.
            Self::Url => return Url::parse(text).map(Value::Url).map_err(InvalidValue::Url),
            Self::Database => {
                return DatabaseUrl::parse(text)
                    .map(Value::Database)
                    .ok_or(InvalidValue::Database);
            }
            Self::Levels => are_levels(text).then(|| Value::Text(text.to_ascii_lowercase())),
            Self::Path => Some(Value::Text(text.to_owned())),
            Self::List | Self::ToolGrants => {
                let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
                return self.list(items.map(str::to_owned).collect());
            }
            Self::Word => is_visible(text).then(|| Value::Text(text.to_owned())),
            Self::Dollars { max } => micro_dollars(text)
                .filter(|amount| *amount <= max.saturating_mul(MICRO))
                .map(Value::MicroDollars),
            // The text is never repeated.
            Self::Secret if !is_visible(text) => return Err(InvalidValue::Secret),
            Self::Secret => Some(Value::Secret(Secret::new(text))),
        };
        parsed.ok_or_else(|| InvalidValue::Text(shortened(text)))
    }

    /// Parses the value of a TOML file.
    pub(super) fn parse_toml(&self, value: &DeValue<'_>) -> Result<Value, InvalidValue> {
        match (self, value) {
            (Self::Boolean, DeValue::Boolean(boolean)) => Ok(Value::Boolean(*boolean)),
            (Self::Integer { .. } | Self::Size { .. } | Self::Duration { .. }, DeValue::Integer(integer)) => {
                let number = u64::from_str_radix(integer.as_str(), integer.radix());
                let number = number.map_err(|_| InvalidValue::Type(integer.to_string()))?;
                self.in_range(number)
                    .ok_or_else(|| InvalidValue::Text(integer.to_string()))
            }
            (
                Self::Integer { .. } | Self::Boolean | Self::List | Self::ToolGrants | Self::Dollars { .. },
                DeValue::String(_),
            ) => Err(InvalidValue::Type(name_of(value))),
            (Self::Dollars { .. }, DeValue::Integer(integer)) if integer.radix() == 10 => {
                self.parse_text(integer.as_str())
            }
            (Self::Dollars { .. }, DeValue::Float(float)) => self.parse_text(float.as_str()),
            (_, DeValue::String(text)) => self.parse_text(text),
            (Self::List | Self::ToolGrants, DeValue::Array(items)) => items
                .iter()
                .map(|item| match item.get_ref() {
                    DeValue::String(text) => Ok(text.clone().into_owned()),
                    other => Err(InvalidValue::Type(format!(
                        "a list that holds {}",
                        name_of(other)
                    ))),
                })
                .collect::<Result<_, _>>()
                .and_then(|items| self.list(items)),
            (Self::Secret, _) => Err(InvalidValue::Type("no text".to_owned())),
            (_, other) => Err(InvalidValue::Type(name_of(other))),
        }
    }

    /// The value of a setting that is not set and has no default.
    pub(super) fn unset(&self) -> Value {
        match self {
            Self::List | Self::ToolGrants => Value::List(Vec::new()),
            Self::Secret => Value::Secret(Secret::new("")),
            _ => Value::Text(String::new()),
        }
    }

    /// A list as a value of this kind.
    fn list(&self, items: Vec<String>) -> Result<Value, InvalidValue> {
        let is_valid = |item: &&String| *self != Self::ToolGrants || ToolGrant::parse(item).is_some();
        match items.iter().find(|item| !is_valid(item)) {
            Some(item) => Err(InvalidValue::Text(shortened(item))),
            None => Ok(Value::List(items)),
        }
    }

    /// A number as a value of this kind; `None` if it is out of range.
    fn in_range(&self, number: u64) -> Option<Value> {
        let (range, value) = match self {
            Self::Size { min, max } => (*min..=*max, Value::Size(number)),
            Self::Duration { min_seconds } => (
                *min_seconds..=MAX_SECONDS,
                Value::Duration(Duration::from_secs(number)),
            ),
            Self::Integer { min, max } => (*min..=*max, Value::Integer(number)),
            _ => return None,
        };
        range.contains(&number).then_some(value)
    }
}

impl Value {
    /// The value as JSON: numbers as numbers (sizes in bytes), durations as in a file, secrets as `set` or `not set`, unset values
    /// as null.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Text(text) if text.is_empty() => serde_json::Value::Null,
            Self::Boolean(boolean) => (*boolean).into(),
            Self::Integer(number) | Self::Size(number) => (*number).into(),
            Self::List(items) => items.as_slice().into(),
            Self::MicroDollars(amount) => (*amount as f64 / MICRO as f64).into(),
            Self::Duration(_)
            | Self::Address(_)
            | Self::Url(_)
            | Self::Database(_)
            | Self::Text(_)
            | Self::Secret(_) => self.to_string().into(),
        }
    }
}

/// In the syntax of an environment variable, but addresses without credentials and secrets as `set` or `not set`.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean(boolean) => write!(f, "{boolean}"),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Size(bytes) => f.write_str(&show_size(*bytes)),
            Self::Duration(duration) => f.write_str(&in_largest_unit(duration.as_secs(), &DURATION_UNITS)),
            Self::Address(address) => write!(f, "{address}"),
            Self::Url(url) => write!(f, "{url}"),
            Self::Database(database) => write!(f, "{database}"),
            Self::Text(text) => f.write_str(text),
            Self::List(items) => f.write_str(&items.join(",")),
            Self::MicroDollars(amount) => f.write_str(&show_dollars(*amount)),
            Self::Secret(secret) => f.write_str(if secret.is_empty() { "not set" } else { "set" }),
        }
    }
}

/// Dollars with two to six decimal places.
fn show_dollars(amount: u64) -> String {
    let fraction = format!("{:06}", amount % MICRO);
    let (cents, rest) = fraction.split_at(2);
    format!("{}.{cents}{}", amount / MICRO, rest.trim_end_matches('0'))
}

/// Parses dollars into millionths, without rounding.
fn micro_dollars(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    if whole.is_empty() || fraction.is_empty() || fraction.len() > 6 {
        return None;
    }
    let fraction = digits(&format!("{fraction:0<6}"))?;
    digits(whole)?.checked_mul(MICRO)?.checked_add(fraction)
}

/// Whether a text is a word of visible ASCII characters.
fn is_visible(text: &str) -> bool {
    !text.is_empty() && text.len() <= 4096 && text.bytes().all(|byte| byte.is_ascii_graphic())
}

fn show_size(bytes: u64) -> String {
    in_largest_unit(bytes, &SIZE_UNITS[..SHOWN_SIZE_UNITS])
}

/// The number in the largest unit that divides it without remainder. The units include one of size 1.
fn in_largest_unit(number: u64, units: &[(&str, u64)]) -> String {
    let divides = |size: u64| size == 1 || (number != 0 && number.is_multiple_of(size));
    let unit = units.iter().find(|(_, size)| divides(*size));
    unit.map_or_else(String::new, |(unit, size)| format!("{}{unit}", number / size))
}

/// Parses a number with an optional unit, and returns it in the smallest unit.
fn with_unit(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit = unit.trim_start();
    let (_, size) = units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?;
    digits(number)?.checked_mul(*size)
}

/// Parses digits; `parse` alone would also accept a plus sign.
fn digits(text: &str) -> Option<u64> {
    text.bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| text.parse().ok())?
}

fn are_levels(text: &str) -> bool {
    let is_level = |word: &str| LEVELS.iter().any(|level| level.eq_ignore_ascii_case(word));
    text.split(',')
        .map(str::trim)
        .all(|part| match part.split_once('=') {
            Some((target, level)) => {
                is_level(level)
                    && !target.is_empty()
                    && target
                        .chars()
                        .all(|c| c.is_ascii_alphanumeric() || "_:-".contains(c))
            }
            None => is_level(part),
        })
}

/// The first characters of a text, without control characters. For untrusted input on a terminal.
pub(super) fn shortened(text: &str) -> String {
    let printable = |c: char| {
        if c.is_control() {
            char::REPLACEMENT_CHARACTER
        } else {
            c
        }
    };
    let mut shown: String = text.chars().take(MAX_SHOWN).map(printable).collect();
    if text.chars().nth(MAX_SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

fn name_of(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("the text {:?}", shortened(text)),
        DeValue::Integer(integer) => format!("the number {integer}"),
        DeValue::Float(_) => "a number with a fraction".to_owned(),
        DeValue::Boolean(boolean) => boolean.to_string(),
        DeValue::Datetime(_) => "a date or time".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a section".to_owned(),
    }
}

#[cfg(test)]
mod tests;
