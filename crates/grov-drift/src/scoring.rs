//! How well the actions since the last check serve the goal, as one score.

use grov_domain::{ActionSketch, Assessment, Finding, OFF_GOAL_BELOW, Rule, beginning_of};
use grov_session::way_back::{changes, is_doubt, is_same_file};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Steps within which a file that is changed again and again counts as repetition.
const WITHIN: usize = 5;
/// So often.
const TIMES: usize = 3;
/// What each such file costs.
const REPETITION: u8 = 2;
/// Actions off the goal that are told one by one.
const MOST_OFFENCES: usize = 8;
/// Files of one change that are looked at.
const MOST_FILES: usize = 4;
/// So much of what an offence wrote is kept, in characters.
const MOST_CONTENT: usize = 400;

/// The actions since the last check.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Batch {
    /// All actions.
    pub(crate) actions: u64,
    /// Of these, those that change something and serve the goal.
    on_goal: u32,
    /// Those that are off the goal, beyond the ones that are told one by one.
    untold: u32,
    /// What was off the goal, oldest first.
    pub(crate) offences: Vec<Offence>,
    /// The files of the newest changes, also of those before this batch.
    changed: VecDeque<Vec<String>>,
    /// Files that were changed again and again.
    circling: Vec<String>,
    /// Files that were put back after they had been changed against a constraint.
    #[serde(default)]
    put_back: Vec<String>,
}

/// An action that was off the goal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Offence {
    call: Option<String>,
    pub(crate) action: ActionSketch,
    pub(crate) findings: Vec<Finding>,
    pub(crate) is_delegated: bool,
}

impl Offence {
    /// A matter of fact was found of it.
    pub(crate) fn is_fact(&self) -> bool {
        self.findings.iter().any(|finding| finding.rule.is_hard())
    }

    /// More than a doubt was found of it.
    pub(crate) fn is_firm(&self) -> bool {
        let mut findings = self.findings.iter();
        findings.any(|finding| !is_doubt(finding.rule) && finding.at_most < OFF_GOAL_BELOW)
    }
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
        if assessment.score < OFF_GOAL_BELOW {
            self.offend(call, action, assessment, is_delegated);
        } else if changes(action) {
            self.on_goal += 1;
        } else {
            return;
        }
        if !is_delegated {
            self.count_files(action);
        }
    }

    fn offend(
        &mut self,
        call: Option<&str>,
        action: &ActionSketch,
        assessment: &Assessment,
        is_delegated: bool,
    ) {
        // A matter of fact is not lost among many doubts.
        if self.offences.len() >= MOST_OFFENCES {
            self.untold += 1;
            let place = self.offences.iter().rposition(|offence| !offence.is_fact());
            let is_fact = assessment.findings.iter().any(|finding| finding.rule.is_hard());
            match place.filter(|_| is_fact) {
                Some(place) => drop(self.offences.remove(place)),
                None => return,
            }
        }
        let content = action.content.as_deref();
        self.offences.push(Offence {
            call: call.map(str::to_owned),
            action: ActionSketch {
                content: content.map(|text| beginning_of(text, MOST_CONTENT).to_owned()),
                output: None,
                reasoning: None,
                ..action.clone()
            },
            findings: assessment.findings.clone(),
            is_delegated,
        });
    }

    fn count_files(&mut self, action: &ActionSketch) {
        let files = || action.files.iter().take(MOST_FILES);
        if self.changed.len() >= WITHIN {
            self.changed.pop_front();
        }
        self.changed.push_back(files().cloned().collect());
        for file in files() {
            let times = self.changed.iter().filter(|files| files.contains(file)).count();
            if times >= TIMES && !self.circling.contains(file) {
                self.circling.push(file.clone());
            }
        }
    }

    /// A call failed: it changed nothing, and there is nothing to be said of it.
    pub(crate) fn failed(&mut self, call: &str) {
        self.offences
            .retain(|offence| offence.call.as_deref() != Some(call));
    }

    /// What was changed against a constraint was put back: nothing is left to be said of it.
    pub(crate) fn put_back(&mut self, files: &[String]) {
        if files.is_empty() {
            return;
        }
        let is_back = |file: &str| files.iter().any(|back| is_same_file(back, file));
        self.offences.retain_mut(|offence| {
            offence.findings.retain(|finding| {
                finding.rule != Rule::Constraint || !finding.file.as_deref().is_some_and(is_back)
            });
            offence
                .findings
                .iter()
                .any(|finding| finding.at_most < OFF_GOAL_BELOW)
        });
        self.put_back.extend(files.iter().cloned());
    }

    /// The files that were put back.
    pub(crate) fn files_put_back(&self) -> &[String] {
        &self.put_back
    }

    /// Whether an action off the goal is still among them.
    pub(crate) fn has_offence(&self, call: &str) -> bool {
        self.offences
            .iter()
            .any(|offence| offence.call.as_deref() == Some(call))
    }

    /// 1 to 10: by the share of the changes that serve the goal, less for each that does not and for each file changed again
    /// and again; never more than a matter of fact allows.
    pub(crate) fn score(&self) -> u8 {
        let off_goal = u32::try_from(self.offences.len()).unwrap_or(u32::MAX);
        self.score_with(off_goal.saturating_add(self.untold))
    }

    /// The same as if there were no doubts: how strongly the agent is corrected must not come from them.
    pub(crate) fn firm_score(&self) -> u8 {
        let firm = self.offences.iter().filter(|offence| offence.is_firm()).count();
        self.score_with(u32::try_from(firm).unwrap_or(u32::MAX))
    }

    fn score_with(&self, off_goal: u32) -> u8 {
        let total = self.on_goal.saturating_add(off_goal);
        let share = match (self.on_goal, off_goal) {
            (_, 0) => 10,
            (0, _) => 4,
            // 2 + 8 · on goal / total, rounded.
            (on_goal, _) => 2 + (16 * u64::from(on_goal) + u64::from(total)) / (2 * u64::from(total)),
        };
        let circling = u64::try_from(self.circling().count()).unwrap_or(u64::MAX);
        let score = share
            .saturating_sub(u64::from(off_goal))
            .saturating_sub(circling.saturating_mul(u64::from(REPETITION)));
        let findings = self.offences.iter().flat_map(|offence| &offence.findings);
        let facts = findings.filter(|finding| finding.rule.is_hard());
        let most = facts.map(|finding| finding.at_most).min().unwrap_or(10);
        u8::try_from(score).unwrap_or(10).min(most).clamp(1, 10)
    }

    /// Files that were changed again and again, of which the rules said nothing.
    pub(crate) fn circling(&self) -> impl Iterator<Item = &str> {
        let is_told = |file: &str| {
            let findings = self.offences.iter().flat_map(|offence| &offence.findings);
            let mut repetitions = findings.filter(|finding| finding.rule == Rule::Repetition);
            repetitions.any(|finding| finding.file.as_deref().is_some_and(|told| file.ends_with(told)))
        };
        self.circling
            .iter()
            .map(String::as_str)
            .filter(move |file| !is_told(file))
    }

    /// Nothing but doubts was found: that something does not look related to the goal.
    pub(crate) fn is_doubt(&self) -> bool {
        !self.offences.iter().any(Offence::is_firm)
    }

    /// What was found, the gravest first, each with its action.
    pub(crate) fn gravest_first(&self) -> Vec<(&Offence, &Finding)> {
        let all = self.offences.iter();
        let mut found: Vec<(&Offence, &Finding)> = all
            .flat_map(|offence| offence.findings.iter().map(move |finding| (offence, finding)))
            .filter(|(_, finding)| finding.at_most < OFF_GOAL_BELOW)
            .collect();
        found.sort_by_key(|(_, finding)| (finding.at_most, finding.rule));
        found
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

#[cfg(test)]
mod tests;
