//! The times that `--since` takes.

use crate::failure::Failure;
use grov_domain::time_before;
use grov_runtime::{Kind, Value};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Parses `--since`: a duration before now, a date (its beginning, UTC), or a date and time.
pub(crate) fn parse_since(text: &str, now: OffsetDateTime) -> Result<OffsetDateTime, Failure> {
    let text = text.trim();
    if let Ok(Value::Duration(ago)) = (Kind::Duration { min_seconds: 0 }).parse_text(text) {
        return Ok(time_before(now, ago));
    }
    OffsetDateTime::parse(text, &Rfc3339)
        .or_else(|_| OffsetDateTime::parse(&format!("{text}T00:00:00Z"), &Rfc3339))
        .map_err(|_| {
            Failure::usage(format!(
                "--since must be a duration like 24h or 7d, or a date like 2026-01-31, but is {text:?}"
            ))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    #[test]
    fn since_is_a_duration_a_date_or_a_time() {
        let now = datetime!(2026-05-28 20:00 UTC);
        let since = |text| parse_since(text, now).ok();
        assert_eq!(since("2h"), Some(datetime!(2026-05-28 18:00 UTC)));
        assert_eq!(since("7d"), Some(datetime!(2026-05-21 20:00 UTC)));
        assert_eq!(since("2026-05-01"), Some(datetime!(2026-05-01 0:00 UTC)));
        assert_eq!(
            since("2026-05-01T10:00:00+02:00"),
            Some(datetime!(2026-05-01 8:00 UTC))
        );
        for text in ["", "yesterday", "2026-13-01", "2026-5-1", "-1h", "1h30m", "4000d"] {
            assert_eq!(since(text), None, "{text}");
        }
    }
}
