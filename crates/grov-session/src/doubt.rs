//! Decides when doubts are reported to the agent.
//!
//! Hard findings (broken constraints, destructive commands) and repetition are certain and reported without waiting for others. A doubt
//! (unrelated work, growing scope) is an estimate, and in ordinary work most doubts are wrong. It is recorded and shown to
//! the user, but reported to the agent only if a model confirms it, or if it is the third within 20 actions without a
//! change related to the goal in between.

use crate::findings::is_doubt_only;
use crate::level::ON_GOAL_FROM;
use crate::recovery_plan::is_same_file;
use grov_domain::{ActionSketch, Assessment, EffectKind, OFF_GOAL_BELOW};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Number of open doubts from which they are reported.
pub(crate) const REPORTED_FROM: usize = 3;
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
}

impl OpenDoubts {
    /// Adds an action and its assessment.
    pub(crate) fn record(&mut self, action: &ActionSketch, assessment: &Assessment, call: Option<&str>) {
        self.actions += 1;
        if is_low_doubt(assessment) {
            let oldest = self.actions.saturating_sub(WINDOW);
            self.open.retain(|doubt| doubt.at > oldest);
            self.open.push_back(Doubt {
                at: self.actions,
                call: call.map(str::to_owned),
                files: action.files.iter().take(MAX_FILES).cloned().collect(),
            });
            if self.open.len() > REPORTED_FROM {
                self.open.pop_front();
            }
        } else if assessment.score >= ON_GOAL_FROM && self.is_elsewhere(action) {
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

    /// Whether enough doubts are open to be reported.
    pub(crate) fn should_report(&self) -> bool {
        self.open.len() >= REPORTED_FROM
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
    use grov_domain::{ActionType, Finding, Rule};

    fn action(kind: ActionType) -> ActionSketch {
        on(kind, "a.rs")
    }

    fn on(kind: ActionType, file: &str) -> ActionSketch {
        ActionSketch {
            action_type: kind,
            files: vec![file.to_owned()],
            command: None,
            effects: Vec::new(),
            reasoning: None,
            failed: None,
            output: None,
            content: None,
            line: None,
            change: None,
        }
    }

    /// Records one action per letter: `d` a doubt, `t` a change related to the goal, `l` a read, `f` a hard finding, `g` a
    /// doubt with a score of 6, `a` another change of the doubted file. Returns whether doubts are reported at the end.
    fn should_report(drift: &str) -> bool {
        let mut doubts = OpenDoubts::default();
        for (index, step) in drift.chars().enumerate() {
            let (kind, rule, score) = match step {
                'd' => (ActionType::Edit, Some(Rule::Tangent), 4),
                'g' => (ActionType::Edit, Some(Rule::Tangent), 6),
                'f' => (ActionType::Edit, Some(Rule::Constraint), 3),
                't' | 'a' => (ActionType::Edit, None, 10),
                _ => (ActionType::Read, None, 10),
            };
            let findings = rule.map(|rule| Finding {
                rule,
                file: None,
                reason: String::new(),
                at_most: score,
            });
            let assessment = Assessment {
                score,
                findings: findings.into_iter().collect(),
            };
            let file = if matches!(step, 'd' | 'a') {
                "web/far.css"
            } else {
                "a.rs"
            };
            doubts.record(&on(kind, file), &assessment, Some(&format!("c{index}")));
        }
        doubts.should_report()
    }

    #[test]
    fn three_doubts_within_twenty_actions_are_reported_unless_a_related_change_comes_between() {
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
            ("dllllllllldllllllllld", false),
            ("dllllllllldlllllllld", true),
        ] {
            assert_eq!(should_report(drift), expected, "{drift}");
        }
    }

    #[test]
    fn failed_and_cleared_doubts_do_not_count() {
        let doubt = Assessment {
            score: 4,
            findings: vec![Finding {
                rule: Rule::ScopeCreep,
                file: None,
                reason: String::new(),
                at_most: 4,
            }],
        };
        let three = || {
            let mut doubts = OpenDoubts::default();
            for call in ["1", "2", "3"] {
                doubts.record(&action(ActionType::Edit), &doubt, Some(call));
            }
            doubts
        };
        assert!(three().should_report());
        let mut failed = three();
        failed.remove_call("2");
        assert!(!failed.should_report());
        let mut told = three();
        told.clear();
        assert!(!told.should_report());
    }
}
