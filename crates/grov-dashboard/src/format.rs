//! Times, amounts and texts for people.

use grov_runtime::printable;
use time::macros::format_description;
use time::{OffsetDateTime, UtcOffset};

/// Characters of a text in a line of a list.
const LINE: usize = 240;
/// Characters of a text that is shown as a whole.
const WHOLE: usize = 64 * 1024;

/// A text that a person, a model or a program wrote, without characters that reorder, hide or control. Templates escape markup.
pub(crate) fn shown(text: &str) -> String {
    cut(&printable(text), WHOLE)
}

/// The beginning of such a text in one line.
pub(crate) fn line(text: &str) -> String {
    let mut words = text.split_whitespace();
    let mut joined = String::new();
    // Enough for what is shown, and little of a long text.
    while joined.len() < 4 * LINE
        && let Some(word) = words.next()
    {
        if !joined.is_empty() {
            joined.push(' ');
        }
        joined.push_str(word);
    }
    if words.next().is_some() {
        joined.push_str(" …");
    }
    cut(&printable(&joined), LINE)
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Hours, minutes and seconds, UTC.
pub(crate) fn clock(time: OffsetDateTime) -> String {
    let format = format_description!("[hour]:[minute]:[second]");
    time.to_offset(UtcOffset::UTC).format(format).unwrap_or_default()
}

/// Date and time to the second, UTC, as a `time` element has it.
pub(crate) fn timestamp(time: OffsetDateTime) -> String {
    let format = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second]Z");
    time.to_offset(UtcOffset::UTC).format(format).unwrap_or_default()
}

/// How long ago a time was, in the largest unit that fits.
pub(crate) fn ago(time: OffsetDateTime, now: OffsetDateTime) -> String {
    let seconds = (now - time).whole_seconds().max(0);
    match seconds {
        0..5 => "now".to_owned(),
        5..60 => format!("{seconds} s ago"),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..172_800 => format!("{} h ago", seconds / 3600),
        _ => format!("{} d ago", seconds / 86_400),
    }
}

/// A number, abbreviated from ten thousand on.
pub(crate) fn count(number: u64) -> String {
    let in_tenths = |unit: u64, name: &str| {
        let tenths = number / (unit / 10);
        format!("{}.{}{name}", tenths / 10, tenths % 10)
    };
    match number {
        0..10_000 => number.to_string(),
        10_000..1_000_000 => in_tenths(1000, "k"),
        _ => in_tenths(1_000_000, "M"),
    }
}

/// An amount of money: cents from a dollar on, or else hundredths of a cent.
pub(crate) fn dollars(usd: f64) -> String {
    match usd {
        0.0 => "$0".to_owned(),
        ..1.0 => format!("${usd:.4}"),
        _ => format!("${usd:.2}"),
    }
}

/// Billionths of a USD.
pub(crate) fn billionths(amount: u128) -> String {
    dollars(amount as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::Duration;

    #[test]
    fn hostile_text_becomes_plain_text() {
        assert_eq!(shown("a\u{202e}b\u{1b}[2Jc"), r"a\u{202e}b\u{1b}[2Jc");
        assert_eq!(line("one\n\n  two\tthree"), "one two three");
        let long = "word ".repeat(10_000);
        let cut = line(&long);
        assert!(
            cut.chars().count() == LINE + 1 && cut.ends_with('…'),
            "{}",
            cut.len()
        );
        assert_eq!(shown(&"é".repeat(WHOLE + 1)).chars().count(), WHOLE + 1);
    }

    #[test]
    fn amounts_and_times_are_short() {
        let now = OffsetDateTime::UNIX_EPOCH + Duration::days(3);
        assert_eq!(timestamp(now), "1970-01-04T00:00:00Z");
        assert_eq!(ago(now - Duration::seconds(90), now), "1 min ago");
        assert_eq!(ago(now + Duration::seconds(90), now), "now");
        assert_eq!(
            [dollars(0.0), dollars(0.01234), dollars(12.0)].join(" "),
            "$0 $0.0123 $12.00"
        );
        assert_eq!(
            [count(9_999), count(12_345), count(1_050_000)].join(" "),
            "9999 12.3k 1.0M"
        );
    }
}
