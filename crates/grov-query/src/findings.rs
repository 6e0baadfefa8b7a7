//! Findings of all sessions, and how many of them were right according to the user.

use crate::hook_sessions;
use crate::steps::mark_stopped_events;
use grov_domain::{DriftEvent, DriftFilter, Finding, FindingMark, Store, StoreError};
use std::collections::{BTreeMap, HashMap};

/// Sessions of the hook path whose findings are read, newest first.
const MAX_HOOK_SESSIONS: u32 = 40;
/// The rule of an event without a finding: a model objected.
const NO_RULE: &str = "judge";

/// A finding with the user's mark.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkedFinding {
    /// The event.
    pub event: DriftEvent,
    /// The rule of its gravest finding.
    pub rule: String,
    /// Whether the finding only doubts that the action is related to the goal.
    pub is_doubt: bool,
    /// What the user said; `None` without a mark.
    pub is_right: Option<bool>,
}

/// How often a rule was right.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleRecord {
    /// Findings marked as right.
    pub right: u64,
    /// Findings marked as wrong.
    pub wrong: u64,
}

impl RuleRecord {
    /// Returns the percentage of marked findings that were false alarms; `None` without marks.
    pub fn false_alarm_percent(&self) -> Option<u64> {
        let marked = self.right + self.wrong;
        (marked > 0).then(|| (self.wrong * 100 + marked / 2) / marked)
    }
}

/// The newest findings and the record of each rule.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FindingsView {
    /// Findings, newest first.
    pub findings: Vec<MarkedFinding>,
    /// The records of all marks ever made, by rule.
    pub by_rule: BTreeMap<String, RuleRecord>,
}

/// Returns the rule of an event's gravest finding.
pub fn rule_of(event: &DriftEvent) -> String {
    let gravest = event.findings.first();
    gravest
        .map_or(NO_RULE, |finding| finding.rule.as_str())
        .to_owned()
}

/// Returns the newest findings of all sessions on both paths, at most `limit`.
///
/// # Errors
/// Returns the store's error.
pub async fn findings(store: &dyn Store, limit: u32) -> Result<FindingsView, StoreError> {
    let filter = DriftFilter {
        limit: Some(limit),
        ..DriftFilter::default()
    };
    let mut events = store.drift_events(&filter).await?;
    for session in store.recent_hook_sessions(None, Some(MAX_HOOK_SESSIONS)).await? {
        let id = &session.client_session_id;
        // Most sessions have none, and then their actions are not read.
        if store.off_goal_findings(id).await?.is_empty() {
            continue;
        }
        let checks = store.hook_checks(id).await?;
        let steps = store.hook_steps(id).await?;
        events.extend(
            steps
                .iter()
                .filter_map(|step| hook_sessions::event(id, step, &checks)),
        );
    }
    events.sort_by_key(|event| std::cmp::Reverse(event.timestamp));
    events.truncate(limit as usize);
    mark_stopped_events(store, &mut events).await?;
    let marks = store.finding_marks().await?;
    Ok(FindingsView {
        by_rule: records(&marks),
        findings: marked(events, &marks),
    })
}

fn marked(events: Vec<DriftEvent>, marks: &[FindingMark]) -> Vec<MarkedFinding> {
    let marks: HashMap<&str, bool> = marks
        .iter()
        .map(|mark| (mark.event_id.as_str(), mark.is_right))
        .collect();
    let events = events.into_iter();
    events
        .map(|event| MarkedFinding {
            rule: rule_of(&event),
            is_doubt: Finding::are_doubts(&event.findings),
            is_right: marks.get(event.id.as_str()).copied(),
            event,
        })
        .collect()
}

fn records(marks: &[FindingMark]) -> BTreeMap<String, RuleRecord> {
    let mut records: BTreeMap<String, RuleRecord> = BTreeMap::new();
    for mark in marks {
        let record = records.entry(mark.rule.clone()).or_default();
        match mark.is_right {
            true => record.right += 1,
            false => record.wrong += 1,
        }
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_domain::DriftEventId;
    use time::OffsetDateTime;

    #[test]
    fn rules_have_their_own_rate() {
        let mark = |event: &str, rule: &str, is_right| FindingMark {
            event_id: DriftEventId::new(event),
            rule: rule.to_owned(),
            is_right,
            at: OffsetDateTime::UNIX_EPOCH,
        };
        let records = records(&[
            mark("1", "scope", false),
            mark("2", "scope", true),
            mark("3", "scope", false),
            mark("4", "danger", true),
        ]);
        assert_eq!(records["scope"].false_alarm_percent(), Some(67));
        assert_eq!(records["danger"].false_alarm_percent(), Some(0));
        assert_eq!(RuleRecord::default().false_alarm_percent(), None);
    }
}
