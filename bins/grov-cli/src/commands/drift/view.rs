//! Corrections and scores as people see them.

use crate::output::Style;
use crate::show::{ago, moment};
use grov_domain::OFF_GOAL_BELOW;
use grov_query::CorrectionView;
use time::OffsetDateTime;

/// When a correction was said and what became of it, for a person.
pub(super) fn fate(correction: &CorrectionView, now: OffsetDateTime) -> String {
    match (correction.delivered_at, correction.outcome) {
        (Some(at), Some(outcome)) => format!("said {} ({}), {outcome}", moment(at), ago(at, now)),
        (Some(at), None) => format!(
            "said {} ({}), not known yet whether followed",
            moment(at),
            ago(at, now)
        ),
        (None, Some(outcome)) => format!("never said: {outcome}"),
        (None, None) => "not said yet: it waits for the session's next request".to_owned(),
    }
}

/// A small picture of scores, one mark each: the higher the better, a dot where nobody judged. What is off goal is red.
pub(super) fn picture(scores: &[Option<u8>], style: Style) -> String {
    const MARKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let mut picture = String::new();
    for score in scores {
        let Some(score) = *score else {
            picture.push('·');
            continue;
        };
        let height = usize::from(score.clamp(1, 10) - 1) * (MARKS.len() - 1) / 9;
        let mark = MARKS.get(height).copied().unwrap_or('█').to_string();
        if score < OFF_GOAL_BELOW {
            picture.push_str(&style.red(&mark));
        } else {
            picture.push_str(&mark);
        }
    }
    picture
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_drawn_by_their_height() {
        let scores = [Some(10), Some(8), Some(5), Some(4), Some(1), None, Some(0)];
        assert_eq!(picture(&scores, Style::plain()), "█▆▄▃▁·▁");
    }
}
