//! What a correction is about, and whether an action takes it back.

use crate::assessed_action::AssessedAction;
use crate::correction;
use crate::recovery_plan::{has_hard_finding, is_same_file, named_file};
use grov_domain::{
    ActionSketch, ActionType, Assessment, EffectKind, Finding, GoalContract, RecoveryStep, Rule, StepId,
};
use serde::{Deserialize, Serialize};

/// What a correction is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Violation {
    /// The action, where it is known.
    pub(crate) action: Option<ActionSketch>,
    /// Its tool call.
    pub(crate) call: Option<String>,
    /// Its step.
    pub(crate) step: Option<StepId>,
    /// The matters of fact among what was found, see [`fingerprint`].
    pub(crate) facts: Vec<u64>,
    /// It is more than a doubt: see [`is_doubt_only`](crate::way_back::is_soft).
    pub(crate) is_firm: bool,
    /// The files that were changed off goal.
    pub(crate) files: Vec<String>,
    /// The beginning of what was written.
    pub(crate) content: Option<String>,
    /// A matter of fact was found, which no judge overrules.
    pub(crate) is_hard: bool,
    /// The goal under which a model said so.
    pub(crate) judged_under: Option<String>,
    /// What was found.
    pub(crate) findings: Vec<Finding>,
    /// A subagent did it.
    pub(crate) is_delegated: bool,
}

/// How a finding is known again without its words.
pub(crate) fn fingerprint(finding: &Finding) -> u64 {
    correction::hash(&format!("{}\n{}", finding.rule.as_str(), finding.reason))
}

impl Violation {
    /// What the correction for this action is about.
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
        }
    }

    /// The action with what was found of it, where it is known.
    pub(crate) fn assessed(&self, score: u8) -> Option<AssessedAction> {
        Some(AssessedAction {
            action: self.action.clone()?,
            step: self.step.clone(),
            call: self.call.clone(),
            assessment: Assessment {
                score,
                findings: self.findings.clone(),
            },
            is_delegated: self.is_delegated,
            put_back: Vec::new(),
        })
    }

    /// Whether these files are all that it is about, so that a fact is undone once they are put back.
    pub(crate) fn is_undone_by(&self, put_back: &[String]) -> bool {
        let is_back = |file: &String| put_back.iter().any(|back| is_same_file(back, file));
        let is_restored = |finding: &Finding| {
            finding.rule == Rule::Constraint && finding.file.as_ref().is_some_and(is_back)
        };
        let mut facts = self.findings.iter().filter(|finding| finding.rule.is_hard());
        self.is_hard && !self.files.is_empty() && self.files.iter().all(is_back) && facts.all(is_restored)
    }

    /// Whether what is to be said of it may still be right under the next prompt.
    pub(crate) fn survives_prompts(&self) -> bool {
        self.is_hard || self.judged_under.is_some()
    }

    /// Whether it is this action.
    pub(crate) fn is_same_step(&self, one: &AssessedAction) -> bool {
        self.step.is_some() && self.step == one.step
    }

    /// Whether an edit may be part of taking back what was changed: it is of the same files, and what was written does not
    /// come again.
    pub(crate) fn may_be_undone_by(&self, action: &ActionSketch) -> bool {
        self.is_edited_by(action) && action.content.is_some() && !self.is_repeated_by(action)
    }

    /// Whether an edit of the same files writes again what was written.
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

/// The one action that is demanded when corrections failed: undo what the user ruled out, else turn to the file where the
/// work is, else to the user.
pub(crate) fn forced_step(contract: &GoalContract, violation: &Violation) -> RecoveryStep {
    let undo = violation.files.first();
    match (named_file(contract), undo) {
        (_, Some(file)) if violation.is_hard => RecoveryStep {
            action: format!("Undo the change of {file}"),
            file: Some(file.clone()),
        },
        (Some(file), _) => RecoveryStep {
            action: format!("Read {file} and go on there with what was asked"),
            file: Some(file),
        },
        (None, Some(file)) => RecoveryStep {
            action: format!("Read {file} and undo what the goal does not need"),
            file: Some(file.clone()),
        },
        (None, None) => RecoveryStep {
            file: None,
            action: "Tell the user where the work stands and ask how to go on".to_owned(),
        },
    }
}

/// How an action relates to the first step of a way back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepMatch {
    /// It has nothing to do with it.
    No,
    /// It takes the step.
    Yes,
    /// It changes the file that is to be undone in a way that may be the undoing: what stood there before is not known.
    Perhaps,
}

/// Whether `action` takes `step`, which leads away from `violation`.
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
        // Looking at what is to be undone is a beginning, where it is not plain that it has to go.
        return if violation.is_hard {
            StepMatch::No
        } else {
            StepMatch::Yes
        };
    }
    undoes(action, violation)
}

/// Whether `action` undoes what the offence changed.
fn undoes(action: &ActionSketch, violation: &Violation) -> StepMatch {
    if !action.files.iter().all(|file| violation.is_about(file)) {
        return StepMatch::No;
    }
    let is_taken_back = |effect: &EffectKind| {
        matches!(
            effect,
            EffectKind::VersionControl | EffectKind::Delete | EffectKind::Move
        )
    };
    if !action.action_type.modifies_files() {
        return if action.effects.iter().any(is_taken_back) {
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
        // Taking back writes about as much as was there; going on tends to write more.
        Some(written) if new.len() > 2 * written.len() + 80 => StepMatch::No,
        _ => StepMatch::Perhaps,
    }
}

/// Whether the action names the file.
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
    fn undoing_is_told_from_going_on() {
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
    fn what_did_more_than_change_a_file_is_not_undone_with_it() {
        let finding = |rule, file: Option<&str>| Finding {
            rule,
            file: file.map(str::to_owned),
            reason: String::new(),
            at_most: 3,
        };
        let mut violation = violation(true);
        violation.findings = vec![finding(Rule::Constraint, Some("web/theme.css"))];
        let back = ["web/theme.css".to_owned()];
        assert!(violation.is_undone_by(&back));
        violation.findings.push(finding(Rule::Danger, None));
        assert!(!violation.is_undone_by(&back));
    }

    #[test]
    fn looking_is_a_beginning_where_nothing_was_ruled_out() {
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
    fn files_are_compared_by_whole_names() {
        assert!(is_same_file("/a/b/c.rs", "b/c.rs"));
        assert!(is_same_file("./b/c.rs", "b/c.rs"));
        assert!(is_same_file("C:\\x\\c.rs", "c.rs"));
        assert!(!is_same_file("/a/bb/c.rs", "b/c.rs"));
        assert!(!is_same_file("abc.rs", "bc.rs"));
        assert!(!is_same_file("abc.rs", ""));
    }
}
