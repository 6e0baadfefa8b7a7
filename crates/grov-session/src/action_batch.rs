//! The actions since somebody last looked, and how well they serve the goal together, as one score.

use crate::assessed_action::AssessedAction;
use crate::recovery_plan::is_same_file;
use grov_domain::{
    ActionSketch, Assessment, Finding, OFF_GOAL_BELOW, PUT_BACK, Rule, StepVerdict, beginning_of,
};
use grov_scope::Rules;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Steps within which a file that is changed again and again counts as repetition.
const WITHIN: usize = 5;
/// So often.
const TIMES: usize = 3;
/// What each such file costs.
const REPETITION: u8 = 2;
/// Actions off the goal that are told one by one.
const MAX_OFF_GOAL: usize = 8;
/// Files of one change that are looked at.
const MAX_FILES: usize = 4;
/// Files that are told.
const MAX_REPORTED_FILES: usize = 20;
/// So much of what an offence wrote is kept, in characters.
const MAX_CONTENT: usize = 400;

/// The actions since the last check.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ActionBatch {
    /// All actions.
    pub(crate) actions: u64,
    /// Of these, those that change something and serve the goal.
    on_goal: u32,
    /// Those that are off the goal, beyond the ones that are told one by one.
    #[serde(rename = "untold")]
    unlisted: u32,
    /// What was off the goal, oldest first.
    #[serde(rename = "offences")]
    off_goal: Vec<OffGoalAction>,
    /// The files of the newest changes, also of those before this batch.
    changed: VecDeque<Vec<String>>,
    /// Files that were changed again and again.
    #[serde(rename = "circling")]
    repeated_files: Vec<String>,
    /// Files that were put back after they had been changed against a constraint.
    #[serde(default, rename = "put_back")]
    restored: Vec<String>,
}

/// An action that is off the goal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct OffGoalAction {
    call: Option<String>,
    action: ActionSketch,
    findings: Vec<Finding>,
    is_delegated: bool,
}

impl OffGoalAction {
    /// A matter of fact was found of it.
    fn is_fact(&self) -> bool {
        self.findings.iter().any(|finding| finding.rule.is_hard())
    }
}

impl ActionBatch {
    /// One more action and what the rules say of it.
    fn add(
        &mut self,
        call: Option<&str>,
        action: &ActionSketch,
        assessment: &Assessment,
        is_delegated: bool,
    ) {
        self.actions += 1;
        if assessment.score < OFF_GOAL_BELOW {
            self.add_off_goal(call, action, assessment, is_delegated);
        } else if action.is_change() {
            self.on_goal += 1;
        } else {
            return;
        }
        if !is_delegated {
            self.count_files(action);
        }
    }

    fn add_off_goal(
        &mut self,
        call: Option<&str>,
        action: &ActionSketch,
        assessment: &Assessment,
        is_delegated: bool,
    ) {
        // A matter of fact is not lost among many doubts.
        if self.off_goal.len() >= MAX_OFF_GOAL {
            self.unlisted += 1;
            let place = self.off_goal.iter().rposition(|violation| !violation.is_fact());
            let is_fact = assessment.findings.iter().any(|finding| finding.rule.is_hard());
            match place.filter(|_| is_fact) {
                Some(place) => drop(self.off_goal.remove(place)),
                None => return,
            }
        }
        let content = action.content.as_deref();
        self.off_goal.push(OffGoalAction {
            call: call.map(str::to_owned),
            action: ActionSketch {
                content: content.map(|text| beginning_of(text, MAX_CONTENT).to_owned()),
                output: None,
                reasoning: None,
                ..action.clone()
            },
            findings: assessment.findings.clone(),
            is_delegated,
        });
    }

    fn count_files(&mut self, action: &ActionSketch) {
        let files = || action.files.iter().take(MAX_FILES);
        if self.changed.len() >= WITHIN {
            self.changed.pop_front();
        }
        self.changed.push_back(files().cloned().collect());
        for file in files() {
            let times = self.changed.iter().filter(|files| files.contains(file)).count();
            if times >= TIMES && !self.repeated_files.contains(file) {
                self.repeated_files.push(file.clone());
            }
        }
    }

    /// The actions of a response, with what is recorded of them.
    pub(crate) fn add_all(&mut self, response: &[AssessedAction], verdicts: &[Option<StepVerdict>]) {
        for (one, verdict) in response.iter().zip(verdicts) {
            self.mark_restored(&one.put_back);
            let assessment = verdict.as_ref().map(|verdict| Assessment {
                score: verdict.score,
                findings: verdict.findings.clone(),
            });
            let assessment = assessment.as_ref().unwrap_or(&one.assessment);
            self.add(one.call.as_deref(), &one.action, assessment, one.is_delegated);
        }
    }

    /// Whether anything off the goal is among them.
    pub(crate) fn is_off_goal(&self) -> bool {
        !self.off_goal.is_empty()
    }

    /// Drops what is off the goal no more by these rules.
    pub(crate) fn recheck(&mut self, rules: &Rules) {
        self.off_goal.retain(|stray| {
            let assessment = if stray.is_fact() || stray.is_delegated {
                rules.without_history().assess_subagent(&stray.action)
            } else {
                rules.clone().assess(&stray.action, None)
            };
            assessment.score < OFF_GOAL_BELOW
        });
    }

    /// Nothing is to be said of a call: it failed and changed nothing, or the user allowed it.
    pub(crate) fn drop_call(&mut self, call: &str) {
        self.off_goal
            .retain(|violation| violation.call.as_deref() != Some(call));
    }

    /// What was changed against a constraint was put back: nothing is left to be said of it.
    fn mark_restored(&mut self, files: &[String]) {
        if files.is_empty() {
            return;
        }
        let is_back = |file: &str| files.iter().any(|back| is_same_file(back, file));
        self.off_goal.retain_mut(|violation| {
            violation.findings.retain(|finding| {
                finding.rule != Rule::Constraint || !finding.file.as_deref().is_some_and(is_back)
            });
            violation
                .findings
                .iter()
                .any(|finding| finding.at_most < OFF_GOAL_BELOW)
        });
        self.restored.extend(files.iter().cloned());
    }

    /// 1 to 10: by the share of the changes that serve the goal, less for each that does not and for each file changed again
    /// and again; never more than a matter of fact allows.
    pub(crate) fn score(&self) -> u8 {
        let off_goal = u32::try_from(self.off_goal.len()).unwrap_or(u32::MAX);
        self.score_with(off_goal.saturating_add(self.unlisted))
    }

    fn score_with(&self, off_goal: u32) -> u8 {
        let total = self.on_goal.saturating_add(off_goal);
        let share = match (self.on_goal, off_goal) {
            (_, 0) => 10,
            (0, _) => 4,
            // 2 + 8 · on goal / total, rounded.
            (on_goal, _) => 2 + (16 * u64::from(on_goal) + u64::from(total)) / (2 * u64::from(total)),
        };
        let repeated_files = u64::try_from(self.repeated_files().count()).unwrap_or(u64::MAX);
        let score = share
            .saturating_sub(u64::from(off_goal))
            .saturating_sub(repeated_files.saturating_mul(u64::from(REPETITION)));
        let findings = self.off_goal.iter().flat_map(|violation| &violation.findings);
        let facts = findings.filter(|finding| finding.rule.is_hard());
        let most = facts.map(|finding| finding.at_most).min().unwrap_or(10);
        u8::try_from(score).unwrap_or(10).min(most).clamp(1, 10)
    }

    /// Files that were changed again and again, of which the rules said nothing.
    fn repeated_files(&self) -> impl Iterator<Item = &str> {
        let is_told = |file: &str| {
            let findings = self.off_goal.iter().flat_map(|violation| &violation.findings);
            let mut repetitions = findings.filter(|finding| finding.rule == Rule::Repetition);
            repetitions.any(|finding| finding.file.as_deref().is_some_and(|told| file.ends_with(told)))
        };
        self.repeated_files
            .iter()
            .map(String::as_str)
            .filter(move |file| !is_told(file))
    }

    /// What was found, the gravest first, each with its action.
    fn gravest_first(&self) -> Vec<(&OffGoalAction, &Finding)> {
        let all = self.off_goal.iter();
        let mut found: Vec<(&OffGoalAction, &Finding)> = all
            .flat_map(|violation| violation.findings.iter().map(move |finding| (violation, finding)))
            .filter(|(_, finding)| finding.at_most < OFF_GOAL_BELOW)
            .collect();
        found.sort_by_key(|(_, finding)| (finding.at_most, finding.rule));
        found
    }

    /// What deviates most, one sentence; that something was put back, where nothing else is to be told.
    pub(crate) fn reason(&self) -> Option<String> {
        let gravest = self
            .gravest_first()
            .first()
            .map(|(stray, finding)| match stray.is_delegated {
                true => format!("a subagent did this: {}", finding.reason),
                false => finding.reason.clone(),
            });
        let repeated_files = || {
            let file = self.repeated_files().next()?;
            Some(format!("{} is changed again and again", name(file)))
        };
        let put_back =
            || (!self.restored.is_empty()).then(|| format!("{PUT_BACK}{}", self.restored.join(", ")));
        gravest.or_else(repeated_files).or_else(put_back)
    }

    /// The files that deviate, each once.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut files: Vec<String> = Vec::new();
        for stray in &self.off_goal {
            let told: Vec<&String> = stray
                .findings
                .iter()
                .filter_map(|finding| finding.file.as_ref())
                .collect();
            let own = if told.is_empty() {
                stray.action.files.iter().collect()
            } else {
                told
            };
            for file in own {
                if files.len() < MAX_REPORTED_FILES && !files.contains(file) {
                    files.push(file.clone());
                }
            }
        }
        files
    }

    /// Begins anew; what was changed last is kept in mind.
    pub(crate) fn take(&mut self) -> Self {
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

fn name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

#[cfg(test)]
mod tests;
