//! Events, corrections and scores as scripts and people see them.

use crate::output::Style;
use crate::show::{ago, moment};
use grov_domain::{Correction, DriftEvent, Finding, JudgedBy, OFF_GOAL_BELOW, RecoveryStep};
use serde::Serialize;
use time::OffsetDateTime;

/// One action that was judged off goal. The names are a contract.
#[derive(Debug, Serialize)]
pub(super) struct EventView {
    pub(super) id: String,
    pub(super) session_id: String,
    pub(super) client_session_id: Option<String>,
    pub(super) step_id: Option<String>,
    #[serde(with = "time::serde::rfc3339")]
    pub(super) timestamp: OffsetDateTime,
    pub(super) action_type: Option<&'static str>,
    pub(super) files: Vec<String>,
    pub(super) command: Option<String>,
    pub(super) drift_score: Option<u8>,
    pub(super) level: Option<String>,
    pub(super) reason: Option<String>,
    pub(super) findings: Vec<Finding>,
    /// `rules` or `model`.
    pub(super) judged_by: Option<&'static str>,
    pub(super) correction_given: Option<String>,
    pub(super) recovery_plan: Vec<String>,
}

impl From<DriftEvent> for EventView {
    fn from(event: DriftEvent) -> Self {
        Self {
            id: event.id.to_string(),
            session_id: event.session_id.to_string(),
            client_session_id: event.client_session_id.map(|id| id.to_string()),
            step_id: event.step_id.map(|id| id.to_string()),
            timestamp: event.timestamp,
            action_type: event.action_type.map(|kind| kind.as_str()),
            files: event.files,
            command: event.command,
            drift_score: event.drift_score,
            level: event.level,
            reason: event.reason,
            findings: event.findings,
            judged_by: event.judged_by.map(judge),
            correction_given: event.correction_given,
            recovery_plan: event.recovery_plan,
        }
    }
}

impl EventView {
    /// What was done, for a person.
    pub(super) fn subject(&self) -> String {
        match &self.command {
            Some(command) if self.action_type == Some("bash") || self.files.is_empty() => command.clone(),
            _ => self.files.join(" "),
        }
    }
}

fn judge(by: JudgedBy) -> &'static str {
    match by {
        JudgedBy::Model => "model",
        JudgedBy::Rules => "rules",
    }
}

/// Something the agent was told, or is told next.
#[derive(Debug, Serialize)]
pub(super) struct CorrectionView {
    pub(super) id: String,
    pub(super) level: &'static str,
    pub(super) score: u8,
    pub(super) reason: String,
    pub(super) text: String,
    pub(super) recovery_plan: Vec<String>,
    #[serde(with = "time::serde::rfc3339")]
    pub(super) made_at: OffsetDateTime,
    #[serde(with = "time::serde::rfc3339::option")]
    pub(super) delivered_at: Option<OffsetDateTime>,
    /// `followed`, `ignored` or `overtaken`; `None` while that is not known.
    pub(super) outcome: Option<&'static str>,
}

impl From<&Correction> for CorrectionView {
    fn from(correction: &Correction) -> Self {
        Self {
            id: correction.id.to_string(),
            level: correction.level.as_str(),
            score: correction.score,
            reason: correction.reason.clone(),
            text: correction.text.clone(),
            recovery_plan: correction.recovery_plan.iter().map(way).collect(),
            made_at: correction.made_at,
            delivered_at: correction.delivered_at,
            outcome: correction.outcome.map(|outcome| outcome.as_str()),
        }
    }
}

impl CorrectionView {
    /// When it was said and what became of it, for a person.
    pub(super) fn fate(&self, now: OffsetDateTime) -> String {
        match (self.delivered_at, self.outcome) {
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
}

/// One step of a way back, in words.
pub(super) fn way(step: &RecoveryStep) -> String {
    match &step.file {
        Some(file) if !step.action.contains(file.as_str()) => format!("{file}: {}", step.action),
        _ => step.action.clone(),
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

    #[test]
    fn a_way_back_names_its_file_once() {
        let step = |file: Option<&str>, action: &str| {
            way(&RecoveryStep {
                file: file.map(str::to_owned),
                action: action.to_owned(),
            })
        };
        assert_eq!(step(Some("a.rs"), "open a.rs"), "open a.rs");
        assert_eq!(step(Some("a.rs"), "go on"), "a.rs: go on");
        assert_eq!(step(None, "go on"), "go on");
    }
}
