//! The chart of drift scores, as SVG without scripts.

use crate::format::{clock, line};
use grov_domain::OFF_GOAL_BELOW;
use grov_query::ScorePoint;
use std::fmt::Write;

/// Width of the drawing, in its own units.
const WIDTH: f64 = 720.0;
/// Height of the drawing.
const HEIGHT: f64 = 120.0;
/// Space around it, for the marks at its border.
const MARGIN: f64 = 8.0;
/// The highest score.
const HIGHEST: f64 = 10.0;
/// The lowest score.
const LOWEST: f64 = 1.0;

/// A chart of scores, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Chart {
    /// The line through all marks, as the points of a polyline.
    pub(crate) line: String,
    /// The marks.
    pub(crate) marks: Vec<Mark>,
    /// Where scores off the goal begin, from above.
    pub(crate) threshold: f64,
    /// What it shows, in words.
    pub(crate) summary: String,
}

/// The mark of an action.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mark {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) is_off: bool,
    pub(crate) label: String,
}

impl Chart {
    /// Draws scores; `None` without any.
    pub(crate) fn of(scores: &[ScorePoint]) -> Option<Self> {
        let newest = scores.last()?;
        let width = WIDTH - 2.0 * MARGIN;
        let step = width / (scores.len().saturating_sub(1).max(1) as f64);
        let marks: Vec<Mark> = scores
            .iter()
            .enumerate()
            .map(|(place, point)| Mark {
                x: rounded(MARGIN + step * place as f64),
                y: rounded(height(f64::from(point.score))),
                is_off: point.score < OFF_GOAL_BELOW,
                label: format!(
                    "{} score {}: {}",
                    clock(point.at),
                    point.score,
                    line(&point.subject)
                ),
            })
            .collect();
        let mut line = String::new();
        for mark in &marks {
            // Writing to a string cannot fail.
            let _ = write!(line, "{},{} ", mark.x, mark.y);
        }
        let off = marks.iter().filter(|mark| mark.is_off).count();
        Some(Self {
            line,
            threshold: rounded(height(f64::from(OFF_GOAL_BELOW) - 0.5)),
            summary: format!(
                "Scores of {} judged actions, oldest first: {off} off the goal, the newest {} of 10",
                marks.len(),
                newest.score
            ),
            marks,
        })
    }
}

fn height(score: f64) -> f64 {
    let share = (HIGHEST - score.clamp(LOWEST, HIGHEST)) / (HIGHEST - LOWEST);
    MARGIN + share * (HEIGHT - 2.0 * MARGIN)
}

/// To tenths, which is finer than a pixel.
fn rounded(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::OffsetDateTime;

    fn point(score: u8) -> ScorePoint {
        ScorePoint {
            at: OffsetDateTime::UNIX_EPOCH,
            score,
            subject: "src/<b>.rs".to_owned(),
        }
    }

    #[test]
    fn scores_are_drawn_from_left_to_right_and_from_low_to_high() {
        let chart = Chart::of(&[point(10), point(1)]).unwrap();
        assert_eq!(chart.line, "8,8 712,112 ");
        assert_eq!((chart.marks[0].is_off, chart.marks[1].is_off), (false, true));
        assert!(chart.threshold > height(5.0) && chart.threshold < height(4.0));
        assert!(chart.summary.contains("1 off the goal"), "{}", chart.summary);
        assert_eq!(Chart::of(&[]), None);
        assert_eq!(Chart::of(&[point(200)]).unwrap().line, "8,8 ");
    }
}
