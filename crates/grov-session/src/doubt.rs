//! Decides when doubts are reported to the agent.
//!
//! Hard findings (broken constraints, destructive commands) and repetition are certain and reported without waiting for others. A doubt
//! (unrelated work, growing scope) is an estimate, and in ordinary work most doubts are wrong. It is recorded and shown to
//! the user, but reported to the agent only if a model confirms it, or if it is at least the third within 20 actions without a
//! change related to the goal in between, and their log-odds add up to 4. So three weak doubts are not reported.

use crate::assessed_action::{AssessedAction, is_zero};
use crate::findings::is_doubt_only;
use crate::level::ON_GOAL_FROM;
use crate::recovery_plan::is_same_file;
use grov_domain::{ActionSketch, Assessment, EffectKind, OFF_GOAL_BELOW};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Number of open doubts from which they are reported.
pub(crate) const REPORTED_FROM: usize = 3;
/// Sum of their log-odds from which they are reported, in hundredths.
const CONVINCING: u32 = 400;
/// Number of actions after which a doubt is dropped.
pub(crate) const WINDOW: u64 = 20;
/// Maximum number of files kept per doubt.
const MAX_FILES: usize = 4;

/// Doubts that were not reported yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OpenDoubts {
    actions: u64,
    /// Oldest first.
    open: VecDeque<Doubt>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Doubt {
    /// The number of the action.
    at: u64,
    /// The id of the tool call.
    call: Option<String>,
    /// The first files that it changed.
    files: Vec<String>,
    /// The log-odds that it is unrelated to the goal, in hundredths. Unknown in states of earlier versions.
    #[serde(default, skip_serializing_if = "is_zero")]
    log_odds: u16,
}

impl OpenDoubts {
    /// Adds an action and its assessment.
    pub(crate) fn record(&mut self, one: &AssessedAction) {
        self.actions += 1;
        if is_low_doubt(&one.assessment) {
            let oldest = self.actions.saturating_sub(WINDOW);
            self.open.retain(|doubt| doubt.at > oldest);
            self.open.push_back(Doubt {
                at: self.actions,
                call: one.call.clone(),
                files: one.action.files.iter().take(MAX_FILES).cloned().collect(),
                log_odds: one.log_odds,
            });
        } else if one.assessment.score >= ON_GOAL_FROM && self.is_elsewhere(&one.action) {
            self.open.clear();
        }
    }

    /// Whether an action changes a file without an open doubt. Further changes of a doubted file do not count.
    fn is_elsewhere(&self, action: &ActionSketch) -> bool {
        let has_open_doubt = |file: &String| {
            let mut doubted = self.open.iter().flat_map(|doubt| &doubt.files);
            doubted.any(|doubted| is_same_file(doubted, file))
        };
        shows_work(action) && !action.files.iter().all(has_open_doubt)
    }

    /// Removes a failed call, which changed nothing.
    pub(crate) fn remove_call(&mut self, call: &str) {
        self.open.retain(|doubt| doubt.call.as_deref() != Some(call));
    }

    /// Whether enough doubts are open to be reported, and convincing ones.
    pub(crate) fn should_report(&self) -> bool {
        let sum: u32 = self.open.iter().map(|doubt| u32::from(doubt.log_odds)).sum();
        self.open.len() >= REPORTED_FROM && sum >= CONVINCING
    }

    /// Removes all doubts: they were reported, or the user answered them.
    pub(crate) fn clear(&mut self) {
        self.open.clear();
    }
}

/// Whether an action can show that the agent works on the goal. Nothing judges what a removed file has to do with it.
pub(crate) fn shows_work(action: &ActionSketch) -> bool {
    let removes = |effect: &EffectKind| matches!(effect, EffectKind::Delete | EffectKind::Move);
    action.changes_files() && !action.effects.iter().any(removes)
}

/// Whether an action is off goal by doubts alone.
fn is_low_doubt(assessment: &Assessment) -> bool {
    assessment.score < OFF_GOAL_BELOW && is_doubt_only(assessment)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assessed, edit, read};
    use grov_domain::Rule;

    /// Records one action per letter: `d` a doubt with log-odds of 1.4, `w` a weak one, `t` a change related to the goal, `l` a
    /// read, `f` a hard finding, `g` a doubt with a score of 6, `a` another change of the doubted file. Returns whether doubts are
    /// reported at the end.
    fn should_report(drift: &str) -> bool {
        let mut doubts = OpenDoubts::default();
        for (index, step) in drift.chars().enumerate() {
            let (far, near) = (edit("web/far.css", "a {}"), edit("a.rs", "a()"));
            let (action, rule, score, log_odds) = match step {
                'd' => (far, Rule::Tangent, 4, 140),
                'w' => (far, Rule::Tangent, 4, 30),
                'g' => (near, Rule::Tangent, 6, 140),
                'f' => (near, Rule::Constraint, 3, 0),
                't' => (near, Rule::Tangent, 10, 0),
                'a' => (far, Rule::Tangent, 10, 0),
                _ => (read("a.rs"), Rule::Tangent, 10, 0),
            };
            doubts.record(&AssessedAction {
                call: Some(format!("c{index}")),
                log_odds,
                ..assessed(action, rule, score)
            });
        }
        doubts.should_report()
    }

    #[test]
    fn three_convincing_doubts_within_twenty_actions_are_reported_unless_a_related_change_comes_between() {
        for (drift, expected) in [
            ("d", false),
            ("dd", false),
            ("ddd", true),
            ("dllldlld", true),
            ("dfdgd", true),
            ("ddtd", false),
            ("dadad", true),
            ("ddtddd", true),
            ("tddd", true),
            ("dddt", false),
            ("ggg", false),
            ("www", false),
            ("wwwwww", false),
            ("ddw", false),
            ("ddwd", true),
            ("dllllllllldllllllllld", false),
            ("dllllllllldlllllllld", true),
        ] {
            assert_eq!(should_report(drift), expected, "{drift}");
        }
    }

    #[test]
    fn failed_and_cleared_doubts_do_not_count() {
        let three = || {
            let mut doubts = OpenDoubts::default();
            for call in ["1", "2", "3"] {
                doubts.record(&AssessedAction {
                    call: Some(call.to_owned()),
                    log_odds: 200,
                    ..assessed(edit("web/far.css", "a {}"), Rule::ScopeCreep, 4)
                });
            }
            doubts
        };
        assert!(three().should_report());
        let mut failed = three();
        failed.remove_call("2");
        assert!(!failed.should_report());
        let mut cleared = three();
        cleared.clear();
        assert!(!cleared.should_report());
    }
}
