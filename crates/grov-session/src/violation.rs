//! The violation that a correction is about, and the actions that undo it.

use crate::assessed_action::AssessedAction;
use crate::correction;
use crate::findings::{has_hard_finding, interpretations};
use crate::recovery_plan::{is_same_file, named_file};
use grov_domain::{
    ActionSketch, ActionType, Assessment, EffectKind, Finding, GoalContract, RecoveryStep, Rule, StepId,
};
use grov_scope::FORBIDDEN_COMMIT;
use serde::{Deserialize, Serialize};

/// The violation that a correction is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Violation {
    /// The action, if known.
    pub(crate) action: Option<ActionSketch>,
    /// The id of the tool call.
    pub(crate) call: Option<String>,
    /// The step.
    pub(crate) step: Option<StepId>,
    /// The [`fingerprint`]s of hard findings.
    pub(crate) facts: Vec<u64>,
    /// Whether it is more than a doubt, see [`is_doubt_only`](crate::findings::is_doubt_only).
    pub(crate) is_firm: bool,
    /// The files that were changed off goal.
    pub(crate) files: Vec<String>,
    /// The beginning of the written content.
    pub(crate) content: Option<String>,
    /// Whether a hard rule found something, which no judge overrules.
    pub(crate) is_hard: bool,
    /// The goal under which a model judged it.
    pub(crate) judged_under: Option<String>,
    /// The findings.
    pub(crate) findings: Vec<Finding>,
    /// Whether a subagent acted.
    pub(crate) is_delegated: bool,
    /// The interpretations that it rests on alone, see [`interpretations`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) interpretations: Vec<u64>,
}

/// Returns a hash that identifies a finding without storing its text.
pub(crate) fn fingerprint(finding: &Finding) -> u64 {
    correction::hash(&format!("{}\n{}", finding.rule.as_str(), finding.reason))
}

impl Violation {
    /// Describes the violation of an action.
    pub(crate) fn of(one: &AssessedAction, is_firm: bool) -> Self {
        let findings = &one.assessment.findings;
        let mut files: Vec<String> = findings
            .iter()
            .filter_map(|finding| finding.file.clone())
            .collect();
        if files.is_empty() {
            files.clone_from(&one.action.files);
        }
        let facts = findings.iter().filter(|finding| finding.rule.is_hard());
        Self {
            files,
            content: one.action.content.clone(),
            is_hard: has_hard_finding(&one.assessment),
            is_firm,
            facts: facts.map(fingerprint).collect(),
            action: Some(one.action.clone()),
            call: one.call.clone(),
            step: one.step.clone(),
            judged_under: None,
            findings: findings.clone(),
            is_delegated: one.is_delegated,
            interpretations: interpretations(&one.assessment),
        }
    }

    /// Whether ignoring a correction about it makes the next one stronger.
    pub(crate) fn escalates(&self) -> bool {
        self.is_firm && self.interpretations.is_empty()
    }

    /// Returns the action with its findings, if the action is known.
    pub(crate) fn assessed(&self, score: u8) -> Option<AssessedAction> {
        Some(AssessedAction {
            action: self.action.clone()?,
            step: self.step.clone(),
            call: self.call.clone(),
            assessment: Assessment {
                score,
                findings: self.findings.clone(),
            },
            log_odds: 0,
            is_delegated: self.is_delegated,
            put_back: Vec::new(),
        })
    }

    /// Whether restoring these files, or taking back a commit, undoes it: it consists of these alone.
    pub(crate) fn is_undone_by(&self, put_back: &[String]) -> bool {
        let Some(action) = &self.action else {
            return false;
        };
        let mut facts = self.findings.iter().filter(|finding| finding.rule.is_hard());
        let is_named = |file: &String| {
            let mut facts = self.findings.iter().filter(|finding| finding.rule.is_hard());
            facts.any(|finding| finding.file.as_ref() == Some(file))
        };
        let is_back = |file: &String| put_back.iter().any(|back| is_same_file(back, file));
        self.is_hard
            && self.files.iter().filter(|file| is_named(file)).all(is_back)
            && facts.all(|finding| is_taken_back(finding, action, put_back))
    }

    /// Whether it broke a constraint, which other work does not undo.
    pub(crate) fn breaks_constraint(&self) -> bool {
        let mut findings = self.findings.iter();
        self.is_hard && (!self.files.is_empty() || findings.any(|finding| finding.rule == Rule::Constraint))
    }

    /// Whether the same was done again.
    pub(crate) fn is_repetition(&self) -> bool {
        self.findings
            .iter()
            .any(|finding| finding.rule == Rule::Repetition)
    }

    /// Whether a pending correction about it may still apply after the next prompt.
    pub(crate) fn survives_prompts(&self) -> bool {
        self.is_hard || self.judged_under.is_some()
    }

    /// Whether it is about this recorded action.
    pub(crate) fn is_same_step(&self, one: &AssessedAction) -> bool {
        self.step.is_some() && self.step == one.step
    }

    /// Whether an edit may be part of undoing it: it is in the same files and does not write the same content again.
    pub(crate) fn may_be_undone_by(&self, action: &ActionSketch) -> bool {
        self.is_edited_by(action) && action.content.is_some() && !self.is_repeated_by(action)
    }

    /// Whether an edit of the same files writes the same content again.
    pub(crate) fn is_repeated_by(&self, action: &ActionSketch) -> bool {
        let written = self.content.as_deref().map(str::trim).unwrap_or_default();
        let new = action.content.as_deref().unwrap_or_default();
        self.is_edited_by(action) && !written.is_empty() && new.contains(written)
    }

    fn is_edited_by(&self, action: &ActionSketch) -> bool {
        action.action_type.modifies_files()
            && !action.files.is_empty()
            && action.files.iter().all(|file| self.is_about(file))
    }

    pub(crate) fn is_about(&self, file: &str) -> bool {
        self.files.iter().any(|own| is_same_file(own, file))
    }
}

/// Whether a broken constraint is undone by restoring these files. A commit is restored as [`FORBIDDEN_COMMIT`].
pub(crate) fn is_taken_back(finding: &Finding, action: &ActionSketch, put_back: &[String]) -> bool {
    let is_back = match &finding.file {
        Some(file) => put_back.iter().any(|back| is_same_file(back, file)),
        None => {
            put_back.iter().any(|back| back == FORBIDDEN_COMMIT)
                && grov_scope::makes_commit(action.command.as_deref().unwrap_or_default())
        }
    };
    finding.rule == Rule::Constraint && is_back
}

/// Returns the action that is demanded after corrections failed: undo what the user forbade, or else continue in the
/// file named by the goal, or else ask the user.
pub(crate) fn forced_step(contract: &GoalContract, violation: &Violation) -> RecoveryStep {
    let undo = violation.files.first();
    match (named_file(contract), undo) {
        (_, Some(file)) if violation.is_hard => RecoveryStep {
            action: format!("Undo the change of {file}"),
            file: Some(file.clone()),
        },
        (Some(file), _) => RecoveryStep {
            action: format!("Read {file} and continue with the request there"),
            file: Some(file),
        },
        (None, Some(file)) => RecoveryStep {
            action: format!("Read {file} and undo what the goal does not need"),
            file: Some(file.clone()),
        },
        (None, None) => RecoveryStep {
            file: None,
            action: "Report the state of the work to the user and ask how to continue".to_owned(),
        },
    }
}

/// Whether an action follows a recovery step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepMatch {
    /// It does not.
    No,
    /// It does.
    Yes,
    /// It changes the file in a way that may be the undo; the earlier content is not known.
    Perhaps,
}

/// Whether `action` follows `step`, a step of the recovery from `violation`.
pub(crate) fn match_step(action: &ActionSketch, step: &RecoveryStep, violation: &Violation) -> StepMatch {
    let Some(file) = &step.file else {
        return StepMatch::No;
    };
    if !touches(action, file) {
        return StepMatch::No;
    }
    if !violation.is_about(file) {
        return StepMatch::Yes;
    }
    if !action.is_change() {
        // Reading the file is a first step, unless the user forbade the change.
        return if violation.is_hard {
            StepMatch::No
        } else {
            StepMatch::Yes
        };
    }
    undoes(action, violation)
}

/// Whether `action` undoes the violation.
fn undoes(action: &ActionSketch, violation: &Violation) -> StepMatch {
    if !action.files.iter().all(|file| violation.is_about(file)) {
        return StepMatch::No;
    }
    let is_undo = |effect: &EffectKind| {
        matches!(
            effect,
            EffectKind::VersionControl | EffectKind::Delete | EffectKind::Move
        )
    };
    if !action.action_type.modifies_files() {
        return if action.effects.iter().any(is_undo) {
            StepMatch::Yes
        } else {
            StepMatch::No
        };
    }
    let Some(new) = action.content.as_deref().map(str::trim) else {
        return StepMatch::No;
    };
    match violation.content.as_deref().map(str::trim) {
        _ if new.is_empty() => StepMatch::Yes,
        Some(written) if !written.is_empty() && new.contains(written) => StepMatch::No,
        // An undo writes about as much as was there; further work tends to write more.
        Some(written) if new.len() > 2 * written.len() + 80 => StepMatch::No,
        _ => StepMatch::Perhaps,
    }
}

/// Whether an action names a file.
fn touches(action: &ActionSketch, file: &str) -> bool {
    let is_command = action.action_type == ActionType::Bash;
    action.files.iter().any(|own| is_same_file(own, file))
        || (is_command
            && action
                .command
                .as_ref()
                .is_some_and(|command| command.contains(file)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{action, bash, edit};

    fn violation(is_hard: bool) -> Violation {
        Violation {
            files: vec!["web/theme.css".to_owned()],
            content: Some("color: teal;".to_owned()),
            is_hard,
            ..Violation::default()
        }
    }

    fn undo() -> RecoveryStep {
        RecoveryStep {
            file: Some("web/theme.css".to_owned()),
            action: "Undo the change of web/theme.css".to_owned(),
        }
    }

    #[test]
    fn match_step_distinguishes_undoing_from_continuing() {
        let theme = "/home/me/app/web/theme.css";
        let cases = [
            (edit(theme, "color: red;"), StepMatch::Perhaps),
            (edit(theme, ""), StepMatch::Yes),
            (edit(theme, "color: teal; border: 0;"), StepMatch::No),
            (edit(theme, &"a { color: red; }\n".repeat(40)), StepMatch::No),
            (edit("web/button.css", "x"), StepMatch::No),
            (
                bash(
                    "git checkout -- web/theme.css",
                    EffectKind::VersionControl,
                    &[theme],
                ),
                StepMatch::Yes,
            ),
            (
                bash("rm web/theme.css", EffectKind::Delete, &[theme]),
                StepMatch::Yes,
            ),
            (
                bash("rm -r web", EffectKind::Delete, &[theme, "web/a.css"]),
                StepMatch::No,
            ),
            (
                bash("sed -i s/teal/blue/ web/theme.css", EffectKind::Modify, &[theme]),
                StepMatch::No,
            ),
        ];
        for (action, expected) in cases {
            assert_eq!(
                match_step(&action, &undo(), &violation(true)),
                expected,
                "{action:?}"
            );
        }
    }

    #[test]
    fn restoring_a_file_does_not_undo_other_violations() {
        let finding = |rule, file: Option<&str>| Finding::new(rule, 3, file, String::new());
        let mut violation = violation(true);
        violation.action = Some(edit("web/theme.css", "color: teal;"));
        violation.findings = vec![finding(Rule::Constraint, Some("web/theme.css"))];
        let back = ["web/theme.css".to_owned()];
        assert!(violation.is_undone_by(&back));
        violation.findings.push(finding(Rule::Danger, None));
        assert!(!violation.is_undone_by(&back));
    }

    #[test]
    fn taking_back_a_commit_undoes_only_a_commit() {
        let of = |command: &str| Violation {
            action: Some(bash(command, EffectKind::VersionControl, &["src/a.ts"])),
            files: vec!["src/a.ts".to_owned()],
            findings: vec![crate::testing::finding(Rule::Constraint, 3)],
            is_hard: true,
            ..Violation::default()
        };
        let back = [FORBIDDEN_COMMIT.to_owned()];
        assert!(of("git commit -m wip src/a.ts").is_undone_by(&back));
        assert!(!of("npm install left-pad").is_undone_by(&back));
        assert!(!of("git commit -m wip").is_undone_by(&["src/a.ts".to_owned()]));
    }

    #[test]
    fn reading_follows_the_plan_unless_a_constraint_is_broken() {
        let look = action(ActionType::Read, &["web/theme.css"]);
        assert_eq!(match_step(&look, &undo(), &violation(false)), StepMatch::Yes);
        assert_eq!(match_step(&look, &undo(), &violation(true)), StepMatch::No);
        let back = RecoveryStep {
            file: Some("src/auth/token.ts".to_owned()),
            action: String::new(),
        };
        let look = action(ActionType::Read, &["/home/me/app/src/auth/token.ts"]);
        assert_eq!(match_step(&look, &back, &violation(true)), StepMatch::Yes);
    }

    #[test]
    fn files_are_compared_by_whole_components() {
        assert!(is_same_file("/a/b/c.rs", "b/c.rs"));
        assert!(is_same_file("./b/c.rs", "b/c.rs"));
        assert!(is_same_file("C:\\x\\c.rs", "c.rs"));
        assert!(!is_same_file("/a/bb/c.rs", "b/c.rs"));
        assert!(!is_same_file("abc.rs", "bc.rs"));
        assert!(!is_same_file("abc.rs", ""));
    }
}
