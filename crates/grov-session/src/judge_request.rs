//! Questions to a judge about a response, and the verdicts that follow from the answer.
//!
//! The score of the model replaces that of the rules. If there is a hard finding, the lower of both scores counts. The
//! model receives the goal, the newest instruction, the constraints, and the actions with the text they write, but not the
//! agent's explanations or the output of tools.

use crate::assessed_action::AssessedAction;
use crate::findings::has_hard_finding;
use crate::judged_words::safe_verdict;
use crate::level::ON_GOAL_FROM;
use crate::state_machine::{Position, combined};
use crate::verdict::step_verdict;
use grov_domain::{
    ActionSketch, ClientSessionId, Correction, CorrectionId, DriftQuestion, DriftVerdict, Finding,
    ForcedRecoveryQuestion, GoalContract, JudgedBy, OFF_GOAL_BELOW, RelatedSteps, Rule, StepId, StepVerdict,
};
use grov_scope::{NormalizedPath, ProjectRoot};

/// Why a judge is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JudgeTrigger {
    /// The configured number of prompts has passed since the last question.
    Interval,
    /// The rules found a doubt.
    Suspicion,
}

/// A question to a judge about one response.
#[derive(Clone, Debug)]
pub struct JudgeRequest {
    contract: GoalContract,
    /// The root of the project. `folder` is the same path as text.
    root: ProjectRoot,
    folder: Option<String>,
    response: Vec<AssessedAction>,
    kind: RequestKind,
}

/// The kind of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// Whether the response is on goal.
    Verdict {
        /// The position at the time of the question; later events may outdate the verdict.
        position: Position,
    },
    /// Which action the agent must take after corrections failed.
    ForcedRecovery {
        /// The correction that the answer rewrites.
        correction: CorrectionId,
        /// The reason for the correction.
        reason: String,
    },
}

/// Whether a response should be judged: it is off goal without a hard finding, or it is the second doubtful one in a
/// row.
pub(crate) fn is_suspicious(score: u8, before: Option<u8>, is_hard: bool) -> bool {
    let is_doubtful = |score: u8| (OFF_GOAL_BELOW..ON_GOAL_FROM).contains(&score);
    !is_hard && (score < OFF_GOAL_BELOW || (is_doubtful(score) && before.is_some_and(is_doubtful)))
}

impl JudgeRequest {
    pub(crate) fn new(
        contract: GoalContract,
        root: Option<&str>,
        response: &[AssessedAction],
        kind: RequestKind,
    ) -> Self {
        let counts = |one: &&AssessedAction| one.action.is_change() || one.assessment.score < ON_GOAL_FROM;
        let folder = root.map(|root| root.trim_end_matches('/'));
        Self {
            contract,
            root: ProjectRoot::new(root),
            folder: folder.filter(|root| !root.is_empty()).map(str::to_owned),
            response: response.iter().filter(counts).cloned().collect(),
            kind,
        }
    }

    /// Returns the kind of the question.
    pub fn kind(&self) -> &RequestKind {
        &self.kind
    }

    /// Returns the contract at the time of the question.
    pub(crate) fn contract(&self) -> &GoalContract {
        &self.contract
    }

    /// Returns the actions in question.
    pub(crate) fn response(&self) -> &[AssessedAction] {
        &self.response
    }

    /// Whether no prompt came between the question and `now`.
    pub fn is_same_prompt(&self, now: Position) -> bool {
        match self.kind {
            RequestKind::Verdict { position } => position.is_same_prompt(now),
            RequestKind::ForcedRecovery { .. } => true,
        }
    }

    /// Returns a store query for at most `limit` related earlier steps of the session.
    pub fn related(&self, session: &ClientSessionId, limit: u32) -> RelatedSteps {
        let mut files: Vec<String> = Vec::new();
        for file in self.response.iter().flat_map(|one| &one.action.files) {
            if !files.contains(file) {
                files.push(file.clone());
            }
        }
        RelatedSteps {
            client_session_id: session.clone(),
            folders: folders(&files),
            files,
            keywords: self.contract.keywords.clone(),
            limit,
        }
    }

    /// Whether a step is one of the actions in question.
    pub fn is_about(&self, step: &StepId) -> bool {
        self.response.iter().any(|one| one.step.as_ref() == Some(step))
    }

    /// Builds the question whether the actions are on goal. `earlier` are related actions, oldest first.
    pub fn drift_question(&self, earlier: &[ActionSketch]) -> DriftQuestion {
        let scope = self.contract.scope.iter().chain(&self.contract.allowed);
        DriftQuestion {
            goal: self.contract.goal.clone(),
            newest_instruction: self.contract.newest_instruction().to_owned(),
            constraints: constraints(&self.contract),
            scope: scope.cloned().collect(),
            earlier: earlier
                .iter()
                .map(|action| self.project_relative(action))
                .collect(),
            actions: self.actions(),
        }
    }

    /// Builds the question for a forced action; `None` if the request is of the other kind.
    pub fn forced_recovery_question(&self) -> Option<ForcedRecoveryQuestion> {
        let RequestKind::ForcedRecovery { reason, .. } = &self.kind else {
            return None;
        };
        Some(ForcedRecoveryQuestion {
            goal: self.contract.goal.clone(),
            newest_instruction: self.contract.newest_instruction().to_owned(),
            constraints: constraints(&self.contract),
            actions: self.actions(),
            diagnostics: vec![reason.clone()],
        })
    }

    /// Returns the verdicts for the steps that follow from a model's verdict. `new_correction` is the correction that the
    /// verdict created, with the index of its action.
    pub fn verdicts(
        &self,
        verdict: &DriftVerdict,
        new_correction: Option<&(Option<usize>, Correction)>,
    ) -> Vec<(StepId, StepVerdict)> {
        let verdict = &safe_verdict(verdict, &self.response, &self.contract);
        let judged = self.response.iter().enumerate();
        judged
            .filter_map(|(index, one)| {
                let correction = new_correction
                    .filter(|(about, _)| *about == Some(index))
                    .map(|(_, correction)| correction);
                Some((one.step.clone()?, model_verdict(one, verdict, correction)))
            })
            .collect()
    }

    /// Returns the number of steps that a verdict can change. Steps that the rules found off goal are already in the drift
    /// log.
    pub fn changeable_steps(&self) -> usize {
        let is_a_step = |one: &&AssessedAction| one.step.is_some() && one.assessment.score >= OFF_GOAL_BELOW;
        self.response.iter().filter(is_a_step).count()
    }

    /// Returns the actions without reasoning and output.
    fn actions(&self) -> Vec<ActionSketch> {
        let bare = |one: &AssessedAction| ActionSketch {
            reasoning: None,
            output: None,
            ..self.project_relative(&one.action)
        };
        self.response.iter().map(bare).collect()
    }

    /// Makes the paths of an action relative to the project.
    fn project_relative(&self, action: &ActionSketch) -> ActionSketch {
        let files = action.files.iter();
        ActionSketch {
            files: files
                .map(|file| NormalizedPath::new(&self.root, file).display().to_owned())
                .collect(),
            command: action.command.as_ref().map(|command| match &self.folder {
                Some(folder) => relative_to(folder, command),
                None => command.clone(),
            }),
            ..action.clone()
        }
    }
}

/// Makes the paths of a command relative to `folder`; the folder itself becomes `.`.
fn relative_to(folder: &str, command: &str) -> String {
    let mut relative = String::with_capacity(command.len());
    let mut rest = command;
    while let Some((before, after)) = rest.split_once(folder) {
        relative.push_str(before);
        let below = after.strip_prefix('/');
        let is_name = |next: char| next.is_alphanumeric() || matches!(next, '-' | '_' | '.');
        match below {
            Some(below) if below.starts_with(is_name) => rest = below,
            Some(below) => {
                relative.push_str("./");
                rest = below;
            }
            None => {
                relative.push_str(if after.starts_with(is_name) { folder } else { "." });
                rest = after;
            }
        }
    }
    relative.push_str(rest);
    relative
}

fn model_verdict(
    one: &AssessedAction,
    verdict: &DriftVerdict,
    correction: Option<&Correction>,
) -> StepVerdict {
    let score = combined(&one.assessment, verdict.score);
    let mut findings: Vec<Finding> = Vec::new();
    if score < 8 {
        findings.extend(
            one.assessment
                .findings
                .iter()
                .filter(|_| score < OFF_GOAL_BELOW || has_hard_finding(&one.assessment))
                .cloned(),
        );
        if !verdict.diagnostic.trim().is_empty() {
            let file = one.action.files.first().map(String::as_str);
            let at_most = verdict.score.clamp(1, 10);
            findings.push(Finding::new(Rule::Judge, at_most, file, &*verdict.diagnostic));
        }
        findings.sort_by_key(|finding| finding.at_most);
    }
    StepVerdict {
        recovery_plan: verdict.recovery_plan.clone(),
        ..step_verdict(score, JudgedBy::Model, findings, correction)
    }
}

/// Returns the constraints, including those from forbidden globs.
fn constraints(contract: &GoalContract) -> Vec<String> {
    let forbidden = contract
        .forbidden
        .iter()
        .map(|glob| format!("Do not change {glob}"));
    contract.constraints.iter().cloned().chain(forbidden).collect()
}

/// Returns the parent folders of files, each once.
fn folders(files: &[String]) -> Vec<String> {
    let mut folders: Vec<String> = Vec::new();
    for file in files {
        if let Some((folder, _)) = file.rsplit_once(['/', '\\'])
            && !folder.is_empty()
            && !folders.iter().any(|known| known == folder)
        {
            folders.push(folder.to_owned());
        }
    }
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubtful_scores_must_persist_and_hard_findings_are_not_suspicious() {
        for (score, before, is_hard, expected) in [
            (4, None, false, true),
            (4, None, true, false),
            (6, None, false, false),
            (6, Some(9), false, false),
            (6, Some(7), false, true),
            (8, Some(5), false, false),
            (7, Some(3), false, false),
        ] {
            assert_eq!(
                is_suspicious(score, before, is_hard),
                expected,
                "{score} {before:?}"
            );
        }
    }

    #[test]
    fn paths_in_commands_are_relative_to_the_project() {
        for (command, expected) in [
            ("cd /a/b && npm test", "cd . && npm test"),
            ("rm /a/b/c.rs /a/b/d", "rm c.rs d"),
            ("ls /a/b/ /a/b2 /a/b-c/d", "ls ./ /a/b2 /a/b-c/d"),
            ("cat '/a/b/.env'", "cat '.env'"),
            ("echo", "echo"),
        ] {
            assert_eq!(relative_to("/a/b", command), expected);
        }
    }

    #[test]
    fn folders_are_listed_once() {
        let files = ["a/b.rs", "a/c.rs", "d.rs", "/e.rs", "x\\y.rs"].map(str::to_owned);
        assert_eq!(folders(&files), ["a", "x"]);
    }
}
