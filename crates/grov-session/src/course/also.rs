//! Facts that are found while a correction waits: they are said with it, and none is lost when that one turns out moot.

use super::correcting::Ground;
use super::nouns::{Moment, Progress};
use super::response::{facts, reasons, worst};
use super::{Course, MOST_EARLIER};
use crate::assessed::Assessed;
use crate::offence::Offence;
use crate::way_back::way_back;
use grov_domain::GoalContract;

impl Course {
    /// Has these facts said with the correction that waits. Whether that changed its words.
    pub(super) fn say_with_it(&mut self, facts: &[&Assessed], contract: &GoalContract) -> bool {
        let is_own = |one: &Assessed| self.offence.call.is_some() && self.offence.call == one.call;
        let mut is_new = false;
        for one in facts.iter().filter(|one| !is_own(one)) {
            let is_known = self
                .also
                .iter()
                .any(|known| known.call.is_some() && known.call == one.call);
            if self.pending().is_some() && !is_known && self.also.len() < MOST_EARLIER {
                self.also.push((*one).clone());
                is_new = true;
            }
        }
        is_new && self.reworded(contract)
    }

    /// Whether facts are to be said beside the correction of the state, or after it.
    pub(crate) fn has_more_to_say(&self) -> bool {
        !self.also.is_empty()
    }

    /// The issues of the correction of the state, with the facts that are said with it, each once.
    pub(super) fn said_issues(&self) -> Vec<String> {
        let mut issues = self.issues.clone();
        for reason in self.also.iter().flat_map(facts) {
            if !issues.contains(&reason) {
                issues.push(reason);
            }
        }
        issues
    }

    /// Puts the correction that waits into words again. Whether there is one.
    fn reworded(&mut self, contract: &GoalContract) -> bool {
        let Some(mut correction) = self.pending().cloned() else {
            return false;
        };
        correction.text = self.worded(&correction, &self.said_issues(), contract);
        self.state.correction = Some(correction);
        true
    }

    /// Drops facts that are said with the correction that waits, unless `stands`. Whether that changed its words.
    pub(crate) fn keep_also(&mut self, contract: &GoalContract, stands: impl Fn(&Assessed) -> bool) -> bool {
        let before = self.also.len();
        self.also.retain(stands);
        self.also.len() < before && self.reworded(contract)
    }

    /// Makes a correction of the gravest fact that was to be said with one that ended unsaid.
    pub(crate) fn promote(&mut self, contract: &GoalContract, moment: &Moment) -> Progress {
        let mut progress = Progress::default();
        if self.state.correction.is_some() || !self.may_speak() {
            return progress;
        }
        let Some(place) = worst(&self.also, &[]) else {
            return progress;
        };
        let action = self.also.remove(place);
        let ground = Ground {
            issues: reasons(&action),
            plan: way_back(contract, &action.action, &action.assessment.findings, true),
            is_firm: true,
            least: None,
        };
        self.correct(None, &action, ground, contract, moment, &mut progress);
        progress.changed = true;
        self.touch(true, moment.at);
        progress
    }

    /// Drops what waits to be said of files that these actions put back.
    pub(super) fn put_back(
        &mut self,
        response: &[Assessed],
        contract: &GoalContract,
        moment: &Moment,
        progress: &mut Progress,
    ) {
        let back: Vec<String> = response.iter().flat_map(|one| one.put_back.clone()).collect();
        if back.is_empty() {
            return;
        }
        progress.changed |= self.keep_also(contract, |one| !Offence::of(one, true).is_undone_by(&back));
        if self.offence.is_undone_by(&back) && self.pending().is_some() {
            let dismissed = self.dismiss(moment.at);
            progress.add(dismissed);
            progress.add(self.promote(contract, moment));
        }
    }
}
