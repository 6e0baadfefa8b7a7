//! Times, sizes and amounts for people.

use crate::output::Style;
use grov_domain::{Clock, MicroUsd, SystemClock};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};

/// Date and time to the second, UTC.
pub(crate) fn timestamp(time: OffsetDateTime) -> String {
    let seconds = time.replace_nanosecond(0).unwrap_or(time);
    seconds.format(&Rfc3339).unwrap_or_else(|_| time.to_string())
}

/// A moment: how long ago if that is less than a day, else date and time to the minute with the zone.
pub(crate) fn moment(time: OffsetDateTime, now: OffsetDateTime, style: Style) -> String {
    if time <= now && now - time < Duration::DAY {
        return ago(time, now);
    }
    local(time, style, "%Y-%m-%d %H:%M %Z")
}

/// A moment, seen from now.
pub(crate) fn when(time: OffsetDateTime, style: Style) -> String {
    moment(time, SystemClock.now(), style)
}

/// The shortest beginnings, of at least eight characters, that tell these ids apart; whole ids where nothing has to fit.
pub(crate) fn short_ids<'a>(ids: impl Iterator<Item = &'a str>, style: Style) -> impl Fn(&str) -> String {
    const LONGEST: usize = 64;
    let mut ids: Vec<String> = ids.map(str::to_owned).collect();
    ids.sort_unstable();
    ids.dedup();
    let start = |id: &str, length: usize| id.chars().take(length).collect::<String>();
    let is_unique = |length: &usize| {
        let mut starts: Vec<String> = ids.iter().map(|id| start(id, *length)).collect();
        starts.sort_unstable();
        starts.windows(2).all(|pair| pair[0] != pair[1])
    };
    let shown = style.width().and_then(|_| (8..LONGEST).find(is_unique));
    move |id| shown.map_or_else(|| id.to_owned(), |length| start(id, length))
}

/// Short forms of ids that begin alike, as those of a session's calls do: their ends, as short as these differ, where they have to
/// fit. Commands that take such an id take its end, too.
pub(crate) fn short_ends<'a>(ids: impl Iterator<Item = &'a str>, style: Style) -> impl Fn(&str) -> String {
    const SHORTEST: usize = 8;
    const LONGEST: usize = 64;
    let mut ids: Vec<String> = ids.map(str::to_owned).collect();
    ids.sort_unstable();
    ids.dedup();
    let end = |id: &str, length: usize| {
        let surplus = id.chars().count().saturating_sub(length);
        id.chars().skip(surplus).collect::<String>()
    };
    let is_usable = |length: &usize| {
        let mut ends: Vec<String> = ids.iter().map(|id| end(id, *length)).collect();
        ends.sort_unstable();
        // "-toolu_1" would be an option.
        ends.iter().all(|end| !end.starts_with('-')) && ends.windows(2).all(|pair| pair[0] != pair[1])
    };
    let shown = style.width().and_then(|_| (SHORTEST..LONGEST).find(is_usable));
    move |id| shown.map_or_else(|| id.to_owned(), |length| end(id, length))
}

/// Date, time to the second and zone.
pub(crate) fn exact(time: OffsetDateTime, style: Style) -> String {
    local(time, style, "%Y-%m-%d %H:%M:%S %Z")
}

/// The time of one day to the second, in a column that is named by [`zone`]; with the date if it is more than a day ago.
pub(crate) fn clock(time: OffsetDateTime, now: OffsetDateTime, style: Style) -> String {
    match time <= now && now - time < Duration::DAY {
        true => local(time, style, "%H:%M:%S"),
        false => local(time, style, "%Y-%m-%d %H:%M:%S"),
    }
}

/// The name of the zone now.
pub(crate) fn zone(now: OffsetDateTime, style: Style) -> String {
    local(now, style, "%Z")
}

fn local(time: OffsetDateTime, style: Style, format: &str) -> String {
    let zone = match style.is_utc() {
        true => TimeZone::UTC,
        // Without a configured zone, times are in UTC.
        false => TimeZone::try_system().unwrap_or(TimeZone::UTC),
    };
    match Timestamp::from_second(time.unix_timestamp()) {
        Ok(time) => time.to_zoned(zone).strftime(format).to_string(),
        Err(_) => timestamp(time),
    }
}

/// How long ago `time` was, in the largest unit that fits.
pub(crate) fn ago(time: OffsetDateTime, now: OffsetDateTime) -> String {
    let seconds = (now - time).whole_seconds().max(0);
    match seconds {
        0..60 => format!("{seconds}s ago"),
        60..3600 => format!("{}m ago", seconds / 60),
        3600..172_800 => format!("{}h ago", seconds / 3600),
        _ => format!("{}d ago", seconds / 86_400),
    }
}

/// A number of tokens, abbreviated.
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

/// A number with its noun in the singular or plural.
pub(crate) fn plural(number: u64, one: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { several })
}

/// An amount of money with two to six decimal places.
pub(crate) fn dollars(amount: MicroUsd) -> String {
    let text = amount.to_string();
    let short = text.trim_end_matches('0');
    let least = text.len().saturating_sub(4);
    text[..short.len().max(least)].to_owned()
}

/// A number of bytes, abbreviated.
pub(crate) fn bytes(number: u64) -> String {
    let in_tenths = |unit: u64, name: &str| format!("{}.{} {name}", number / unit, number % unit * 10 / unit);
    match number {
        0..1024 => format!("{number} B"),
        1024..1_048_576 => in_tenths(1024, "KiB"),
        _ => in_tenths(1_048_576, "MiB"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_ids_of_one_minute_differ() {
        let ids = [
            "01a21fec-5c3b-7aaa-8000-000000000001",
            "01a21fec-5c3b-7bbb-8000-000000000002",
            "01a21fec-9d10-7ccc-8000-000000000003",
        ];
        // The same session may have several rows.
        let short = short_ids(ids.into_iter().chain(ids), Style::plain().fitted(80));
        assert_eq!(ids.map(|id| short(id).len()), [16, 16, 16]);
        assert_ne!(short(ids[0]), short(ids[1]));
        let whole = short_ids(ids.into_iter(), Style::plain());
        assert_eq!(whole(ids[0]), ids[0]);
        let style = Style::plain().fitted(80);
        assert_eq!(style.id(ids[0]), "01a21fec-5c3b");
    }

    #[test]
    fn short_ends_of_one_session_differ() {
        let ids = [
            "2b1f6c2e-9f3a-4a53-8d40-0f9a3c1e7a11-toolu_01A09q90qw90lq917835lq9",
            "2b1f6c2e-9f3a-4a53-8d40-0f9a3c1e7a11-toolu_01B7a0k2jd81ma0c8835lq9",
        ];
        let short = short_ends(ids.into_iter(), Style::plain().fitted(80));
        assert_eq!(ids.map(short), ["17835lq9", "c8835lq9"]);
        let numbered = ["s-toolu_2", "s-toolu_3"];
        let short = short_ends(numbered.into_iter(), Style::plain().fitted(80));
        assert_eq!(short(numbered[0]), numbered[0], "no option");
        let whole = short_ends(ids.into_iter(), Style::plain());
        assert_eq!(whole(ids[0]), ids[0]);
    }

    #[test]
    fn amounts_have_two_to_six_decimals() {
        let shown = |amount| dollars(MicroUsd(amount));
        assert_eq!(
            [
                shown(0),
                shown(500_000),
                shown(1_234_500),
                shown(7),
                shown(100_000_000)
            ]
            .join(" "),
            "$0.00 $0.50 $1.2345 $0.000007 $100.00"
        );
    }

    #[test]
    fn times_and_sizes_are_abbreviated() {
        let now = OffsetDateTime::UNIX_EPOCH + Duration::days(100) + Duration::milliseconds(5);
        assert_eq!(timestamp(now), "1970-04-11T00:00:00Z");
        let style = Style::plain();
        assert_eq!(moment(now - Duration::hours(23), now, style), "23h ago");
        assert_eq!(
            moment(now - Duration::hours(25), now, style),
            "1970-04-09 23:00 UTC"
        );
        assert_eq!(clock(now - Duration::hours(1), now, style), "23:00:00");
        assert_eq!(exact(now, style), "1970-04-11 00:00:00 UTC");
        let shown = |seconds| ago(now - Duration::seconds(seconds), now);
        assert_eq!(
            [
                shown(-5),
                shown(59),
                shown(60),
                shown(7199),
                shown(172_799),
                shown(172_800)
            ]
            .join(" "),
            "0s ago 59s ago 1m ago 1h ago 47h ago 2d ago"
        );
        assert_eq!(
            [
                count(0),
                count(9999),
                count(12_345),
                count(999_999),
                count(1_050_000)
            ]
            .join(" "),
            "0 9999 12.3k 999.9k 1.0M"
        );
        assert_eq!(
            [bytes(0), bytes(1023), bytes(1536), bytes(5 << 20)].join(" "),
            "0 B 1023 B 1.5 KiB 5.0 MiB"
        );
    }
}
