//! Corrections and scores for people.

use crate::format::{ago, timestamp};
use crate::output::Style;
use grov_domain::OFF_GOAL_BELOW;
use grov_query::CorrectionView;
use time::OffsetDateTime;

/// When a correction was delivered, and its outcome.
pub(super) fn delivery(correction: &CorrectionView, now: OffsetDateTime) -> String {
    let delivered = |at| format!("delivered {} ({})", timestamp(at), ago(at, now));
    match (correction.delivered_at, correction.outcome) {
        (Some(at), Some(outcome)) => format!("{}, {outcome}", delivered(at)),
        (Some(at), None) => format!("{}, outcome not known yet", delivered(at)),
        (None, Some(outcome)) => format!("never delivered: {outcome}"),
        (None, None) => "not delivered yet: waits for the session's next request".to_owned(),
    }
}

/// Scores as a line of bars, with a dot for a missing score. Scores off the goal are red.
pub(super) fn sparkline(scores: &[Option<u8>], style: Style) -> String {
    const BARS: [&str; 8] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
    let bar = |score: &Option<u8>| {
        let Some(score) = *score else {
            return "·".to_owned();
        };
        let height = usize::from(score.clamp(1, 10) - 1) * (BARS.len() - 1) / 9;
        let bar = BARS.get(height).copied().unwrap_or("█");
        match score < OFF_GOAL_BELOW {
            true => style.red(bar),
            false => bar.to_owned(),
        }
    };
    scores.iter().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_have_the_height_of_the_score() {
        let scores = [Some(10), Some(8), Some(5), Some(4), Some(1), None, Some(0)];
        assert_eq!(sparkline(&scores, Style::plain()), "█▆▄▃▁·▁");
    }
}
