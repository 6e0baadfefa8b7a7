//! The way back to the goal.

use grov_domain::{ActionSketch, Assessment, Finding, GoalContract, RecoveryStep, Rule};

/// Steps of a way back at most: who gets more takes none.
const MAX_STEPS: usize = 3;

/// Whether a finding is a matter of fact.
pub fn has_hard_finding(assessment: &Assessment) -> bool {
    assessment.findings.iter().any(|finding| finding.rule.is_hard())
}

/// Whether what was found is only that something does not look related to the goal: a doubt, no fact and no repetition.
pub fn is_doubt_only(assessment: &Assessment) -> bool {
    let gravest = assessment.findings.first().map(|finding| finding.rule);
    gravest.is_some_and(is_doubt) && !has_hard_finding(assessment)
}

/// Whether a rule finds no more than that something does not look related to the goal.
pub fn is_doubt(rule: Rule) -> bool {
    matches!(rule, Rule::Scope | Rule::Tangent | Rule::ScopeCreep)
}

/// The way back from an action with these findings, gravest first: undo or look into what was found, then go on with the
/// goal. Nothing is to be undone because of a mere doubt.
pub fn recovery_plan(
    contract: &GoalContract,
    action: &ActionSketch,
    findings: &[Finding],
    is_firm: bool,
) -> Vec<RecoveryStep> {
    let mut steps = Vec::new();
    for finding in findings {
        let file = finding.file.clone().or_else(|| action.files.first().cloned());
        let step = step_for(finding.rule, file, is_firm);
        if !steps.contains(&step) && steps.len() + 1 < MAX_STEPS {
            steps.push(step);
        }
    }
    steps.push(go_on(contract));
    steps
}

fn step_for(rule: Rule, file: Option<String>, is_firm: bool) -> RecoveryStep {
    let action = match (rule, &file) {
        (Rule::Constraint, Some(file)) => format!("Undo the change of {file}"),
        (Rule::Constraint, None) => "Undo what the user ruled out, as far as it can be undone".to_owned(),
        (Rule::Danger, _) => {
            "Do not run anything like that again; say what it did and ask the user before you go on"
                .to_owned()
        }
        (Rule::Repetition, Some(file)) => {
            format!(
                "Read {file} as it is now, or run its tests, and find the cause before you change it again"
            )
        }
        (Rule::Repetition, None) => "Find the cause of the failure before you try the same again".to_owned(),
        (Rule::Scope | Rule::Tangent | Rule::ScopeCreep, Some(file)) if !is_firm => {
            format!("Look again whether the goal needs the change of {file}; if it does, say why and go on")
        }
        (Rule::Scope | Rule::Tangent | Rule::ScopeCreep | Rule::Judge, Some(file)) => {
            format!("Check whether the goal needs the change of {file}, and undo it if not")
        }
        (Rule::Scope | Rule::Tangent | Rule::ScopeCreep | Rule::Judge, None) => {
            "Check whether the goal needs this, and leave it if not".to_owned()
        }
    };
    // What cannot be done to a file is not looked for there.
    let file = file.filter(|_| rule != Rule::Danger);
    RecoveryStep { file, action }
}

fn go_on(contract: &GoalContract) -> RecoveryStep {
    let file = named_file(contract);
    let action = match &file {
        Some(file) => format!("Go on in {file} with what was asked"),
        None => "Go on with what was asked".to_owned(),
    };
    RecoveryStep { file, action }
}

/// The file where the work is, as the contract names it.
pub fn named_file(contract: &GoalContract) -> Option<String> {
    let is_file = |entry: &&String| {
        let name = entry.rsplit(['/', '\\']).next().unwrap_or(entry);
        !entry.contains(['*', '(', ' ', ':'])
            && name
                .rsplit_once('.')
                .is_some_and(|(_, extension)| !extension.is_empty())
    };
    contract.scope.iter().find(is_file).cloned()
}

/// Whether two paths are of the same file, one of them perhaps told from a folder further down.
pub fn is_same_file(one: &str, other: &str) -> bool {
    let (one, other) = (plain(one), plain(other));
    let (long, short) = if one.len() >= other.len() {
        (one, other)
    } else {
        (other, one)
    };
    let Some(before) = long.strip_suffix(short) else {
        return false;
    };
    !short.is_empty() && (before.is_empty() || before.ends_with(['/', '\\']))
}

fn plain(path: &str) -> &str {
    path.trim_start_matches("./")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(rule: Rule, at_most: u8) -> Finding {
        Finding {
            rule,
            file: None,
            reason: "the change has nothing to do with the goal".to_owned(),
            at_most,
        }
    }

    #[test]
    fn every_way_back_ends_at_the_goal_and_is_short() {
        let contract = GoalContract {
            scope: vec!["src/auth/".to_owned(), "src/auth/token.ts".to_owned()],
            ..GoalContract::default()
        };
        let action = ActionSketch {
            action_type: grov_domain::ActionType::Edit,
            files: vec!["web/theme.css".to_owned()],
            command: None,
            effects: Vec::new(),
            reasoning: None,
            failed: None,
            output: None,
            content: Some("x".to_owned()),
            line: None,
        };
        for rule in [
            Rule::Constraint,
            Rule::Danger,
            Rule::Repetition,
            Rule::Scope,
            Rule::Judge,
        ] {
            let steps = recovery_plan(
                &contract,
                &action,
                &[finding(rule, 3), finding(Rule::Tangent, 3)],
                true,
            );
            assert!(steps.len() <= MAX_STEPS);
            assert_eq!(
                steps.last().and_then(|step| step.file.as_deref()),
                Some("src/auth/token.ts")
            );
        }
        let empty = GoalContract::default();
        assert_eq!(recovery_plan(&empty, &action, &[], true).len(), 1);
    }
}
