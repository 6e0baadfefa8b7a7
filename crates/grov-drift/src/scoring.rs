//! How well the actions since the last check serve the goal, as one score.

use grov_domain::{ActionSketch, ActionType, Assessment, EffectKind, Finding, OFF_GOAL_BELOW, Rule};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Steps within which a file that is changed again and again counts as repetition.
const WITHIN: usize = 5;
/// So often.
const TIMES: usize = 3;
/// What each such file costs.
const REPETITION: u8 = 2;
/// Off goal actions that are told one by one.
const MOST_OFFENCES: usize = 8;

/// The actions since the last check.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Batch {
    /// All actions.
    pub(crate) actions: u64,
    /// Of these, those that change something and serve the goal.
    on_goal: u32,
    /// Those that change something and do not.
    off_goal: u32,
    /// What was off goal, oldest first.
    pub(crate) offences: Vec<Offence>,
    /// The files of the newest changes, by their hashes, this batch's and those before.
    changed: VecDeque<Vec<String>>,
    /// Files that went in a circle.
    circling: Vec<String>,
}

/// An action that was off goal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Offence {
    pub(crate) call: Option<String>,
    pub(crate) action: ActionSketch,
    pub(crate) findings: Vec<Finding>,
    pub(crate) is_delegated: bool,
}

impl Batch {
    /// One more action and what the rules say of it.
    pub(crate) fn add(
        &mut self,
        call: Option<&str>,
        action: &ActionSketch,
        assessment: &Assessment,
        is_delegated: bool,
    ) {
        self.actions += 1;
        let is_off = assessment.score < OFF_GOAL_BELOW;
        if !changes(action) && !is_off {
            return;
        }
        if is_off {
            self.off_goal += 1;
            if self.offences.len() < MOST_OFFENCES {
                let content = action.content.as_deref();
                let content = content.map(|text| text.chars().take(400).collect());
                self.offences.push(Offence {
                    call: call.map(str::to_owned),
                    action: ActionSketch {
                        content,
                        output: None,
                        reasoning: None,
                        ..action.clone()
                    },
                    findings: assessment.findings.clone(),
                    is_delegated,
                });
            }
        } else {
            self.on_goal += 1;
        }
        if is_delegated {
            return;
        }
        self.changed
            .push_back(action.files.iter().take(4).cloned().collect());
        if self.changed.len() > WITHIN {
            self.changed.pop_front();
        }
        for file in action.files.iter().take(4) {
            let times = self.changed.iter().filter(|files| files.contains(file)).count();
            if times >= TIMES && !self.circling.contains(file) {
                self.circling.push(file.clone());
            }
        }
    }

    /// 10 where nothing was changed, or everything serves the goal.
    pub(crate) fn score(&self) -> u8 {
        let total = self.on_goal + self.off_goal;
        let out = u8::try_from(self.off_goal).unwrap_or(u8::MAX);
        let by_share = match (self.on_goal, self.off_goal) {
            (_, 0) => 10,
            (0, _) => 4_u8.saturating_sub(out),
            (on_goal, _) => {
                let share = 2.0 + 8.0 * f64::from(on_goal) / f64::from(total);
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "it lies between 2 and 10"
                )]
                let share = share.round() as u8;
                share.saturating_sub(out)
            }
        };
        let findings = || self.offences.iter().flat_map(|offence| &offence.findings);
        let is_told = |file: &&String| {
            findings().any(|finding| {
                finding.rule == Rule::Repetition
                    && finding.file.as_deref().is_some_and(|told| file.ends_with(told))
            })
        };
        let circling = self.circling.iter().filter(|file| !is_told(file)).count();
        let circling = u8::try_from(circling)
            .unwrap_or(u8::MAX)
            .saturating_mul(REPETITION);
        let facts = findings()
            .filter(|finding| finding.rule.is_hard())
            .map(|finding| finding.at_most);
        let score = by_share.saturating_sub(circling).min(facts.min().unwrap_or(10));
        score.clamp(1, 10)
    }

    /// Nothing but doubts was found: that something does not look related to the goal.
    pub(crate) fn is_doubt(&self) -> bool {
        self.offences.iter().all(|offence| {
            offence
                .findings
                .iter()
                .all(|finding| matches!(finding.rule, Rule::Scope | Rule::Tangent | Rule::ScopeCreep))
        })
    }

    /// Begins anew; what was changed last is kept in mind.
    pub(crate) fn taken(&mut self) -> Self {
        let changed = self.changed.clone();
        std::mem::replace(
            self,
            Self {
                changed,
                ..Self::default()
            },
        )
    }
}

/// Whether the action changes something: files, or the world by a command.
pub(crate) fn changes(action: &ActionSketch) -> bool {
    action.action_type.modifies_files()
        || action.action_type == ActionType::Bash
            && action.effects.iter().any(|effect| {
                effect.changes_files() || matches!(effect, EffectKind::VersionControl | EffectKind::Install)
            })
}
