//! The actions since the last check, and one score for all of them.

use crate::assessed_action::{AssessedAction, reason, stored_sketch};
use crate::violation::is_taken_back;
use grov_domain::{ActionSketch, Assessment, Finding, OFF_GOAL_BELOW, PUT_BACK, Rule, StepVerdict};
use grov_scope::Rules;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Number of latest changes in which repeated changes of a file are counted.
const WITHIN: usize = 5;
/// Number of changes of a file that counts as repetition.
const TIMES: usize = 3;
/// Points subtracted from the score for each such file.
const REPETITION: u8 = 2;
/// Maximum number of off-goal actions kept with their findings.
const MAX_OFF_GOAL: usize = 8;
/// Maximum number of files considered per change.
const MAX_FILES: usize = 4;
/// Maximum number of files reported.
const MAX_REPORTED_FILES: usize = 20;

/// The actions since the last check.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ActionBatch {
    /// Number of actions.
    pub(crate) actions: u64,
    /// Number of changes that serve the goal.
    on_goal: u32,
    /// Number of off-goal actions that are no longer listed.
    #[serde(rename = "untold")]
    unlisted: u32,
    /// Off-goal actions, oldest first.
    #[serde(rename = "offences")]
    off_goal: Vec<OffGoalAction>,
    /// The files of the newest changes, across checks.
    changed: VecDeque<Vec<String>>,
    /// Files that were changed repeatedly.
    #[serde(rename = "circling")]
    repeated_files: Vec<String>,
    /// Files that were restored after a change against a constraint.
    #[serde(default, rename = "put_back")]
    restored: Vec<String>,
}

/// An off-goal action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct OffGoalAction {
    call: Option<String>,
    action: ActionSketch,
    findings: Vec<Finding>,
    is_delegated: bool,
}

impl OffGoalAction {
    /// Whether a hard rule found something.
    fn is_fact(&self) -> bool {
        self.findings.iter().any(|finding| finding.rule.is_hard())
    }
}

impl ActionBatch {
    /// Adds an action and its assessment.
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
        // A hard finding replaces a doubt when the list is full.
        if self.off_goal.len() >= MAX_OFF_GOAL {
            self.unlisted += 1;
            let index = self.off_goal.iter().rposition(|violation| !violation.is_fact());
            let is_fact = assessment.findings.iter().any(|finding| finding.rule.is_hard());
            match index.filter(|_| is_fact) {
                Some(index) => drop(self.off_goal.remove(index)),
                None => return,
            }
        }
        self.off_goal.push(OffGoalAction {
            call: call.map(str::to_owned),
            action: stored_sketch(action.clone()),
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

    /// Adds the actions of a response with their recorded verdicts.
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

    /// Whether it contains off-goal actions.
    pub(crate) fn is_off_goal(&self) -> bool {
        !self.off_goal.is_empty()
    }

    /// Removes actions that these rules no longer find off goal.
    pub(crate) fn recheck(&mut self, rules: &Rules) {
        self.off_goal.retain(|violation| {
            let assessment = if violation.is_fact() || violation.is_delegated {
                rules.without_history().assess_subagent(&violation.action)
            } else {
                rules.clone().assess(&violation.action, None)
            };
            assessment.score < OFF_GOAL_BELOW
        });
    }

    /// Removes a call that failed, and so changed nothing, or that the user allowed.
    pub(crate) fn drop_call(&mut self, call: &str) {
        // That it failed again is what a repetition is about.
        let is_repetition = |violation: &OffGoalAction| {
            violation
                .findings
                .iter()
                .any(|finding| finding.rule == Rule::Repetition)
        };
        self.off_goal
            .retain(|violation| violation.call.as_deref() != Some(call) || is_repetition(violation));
    }

    /// Removes findings about files that were restored.
    fn mark_restored(&mut self, files: &[String]) {
        if files.is_empty() {
            return;
        }
        self.off_goal.retain_mut(|violation| {
            let action = &violation.action;
            violation
                .findings
                .retain(|finding| !is_taken_back(finding, action, files));
            violation
                .findings
                .iter()
                .any(|finding| finding.at_most < OFF_GOAL_BELOW)
        });
        self.restored.extend(files.iter().cloned());
    }

    /// Returns a score of 1 to 10: the share of changes that serve the goal, less points for each off-goal action and
    /// each repeatedly changed file. A hard finding caps the score.
    pub(crate) fn score(&self) -> u8 {
        let listed = u32::try_from(self.off_goal.len()).unwrap_or(u32::MAX);
        let off_goal = listed.saturating_add(self.unlisted);
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
        let max = facts.map(|finding| finding.at_most).min().unwrap_or(10);
        u8::try_from(score).unwrap_or(10).min(max).clamp(1, 10)
    }

    /// Returns repeatedly changed files that the rules did not report.
    fn repeated_files(&self) -> impl Iterator<Item = &str> {
        let is_reported = |file: &str| {
            let findings = self.off_goal.iter().flat_map(|violation| &violation.findings);
            let mut repetitions = findings.filter(|finding| finding.rule == Rule::Repetition);
            repetitions.any(|finding| {
                finding
                    .file
                    .as_deref()
                    .is_some_and(|reported| file.ends_with(reported))
            })
        };
        self.repeated_files
            .iter()
            .map(String::as_str)
            .filter(move |file| !is_reported(file))
    }

    /// Returns findings below the off-goal limit with their actions, most severe first.
    fn gravest_first(&self) -> Vec<(&OffGoalAction, &Finding)> {
        let all = self.off_goal.iter();
        let mut found: Vec<(&OffGoalAction, &Finding)> = all
            .flat_map(|violation| violation.findings.iter().map(move |finding| (violation, finding)))
            .filter(|(_, finding)| finding.at_most < OFF_GOAL_BELOW)
            .collect();
        found.sort_by_key(|(_, finding)| (finding.at_most, finding.rule));
        found
    }

    /// Returns one sentence about the most severe finding, or, if there is none, about restored files.
    pub(crate) fn reason(&self) -> Option<String> {
        let gravest = self
            .gravest_first()
            .first()
            .map(|(violation, finding)| reason(finding, violation.is_delegated));
        let repeated_files = || {
            let file = self.repeated_files().next()?;
            Some(format!("{} is changed again and again", name(file)))
        };
        let put_back =
            || (!self.restored.is_empty()).then(|| format!("{PUT_BACK}{}", self.restored.join(", ")));
        gravest.or_else(repeated_files).or_else(put_back)
    }

    /// Returns the files of off-goal actions, each once.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut files: Vec<String> = Vec::new();
        for violation in &self.off_goal {
            let reported: Vec<&String> = violation
                .findings
                .iter()
                .filter_map(|finding| finding.file.as_ref())
                .collect();
            let own = if reported.is_empty() {
                violation.action.files.iter().collect()
            } else {
                reported
            };
            for file in own {
                if files.len() < MAX_REPORTED_FILES && !files.contains(file) {
                    files.push(file.clone());
                }
            }
        }
        files
    }

    /// Takes the batch and starts a new one, which keeps the files of the newest changes.
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
