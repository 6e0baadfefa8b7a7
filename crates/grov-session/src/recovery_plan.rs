//! Recovery plans: the steps that lead back to the goal.

use grov_domain::{ActionSketch, Finding, GoalContract, RecoveryStep, Rule};

/// Maximum number of steps. Agents do not follow longer plans.
const MAX_STEPS: usize = 3;

/// Returns the recovery plan for an action with these findings, most severe first: undo or check what was found, then
/// continue with the goal. With `is_firm` false nothing is to be undone.
pub(crate) fn recovery_plan(
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
        (Rule::Constraint, None) => "Undo what the user forbade, as far as possible".to_owned(),
        (Rule::Danger, _) => {
            "Do not run such a command again; say what it did and ask the user before you continue".to_owned()
        }
        (Rule::Repetition, Some(file)) => {
            format!(
                "Read {file} as it is now, or run its tests, and find the cause before you change it again"
            )
        }
        (Rule::Repetition, None) => "Find the cause of the failure before you try the same again".to_owned(),
        (Rule::Scope | Rule::Tangent | Rule::ScopeCreep, Some(file)) if !is_firm => {
            format!("Check whether the goal needs the change of {file}; if it does, say why and continue")
        }
        (Rule::Scope | Rule::Tangent | Rule::ScopeCreep | Rule::Judge, Some(file)) => {
            format!("Check whether the goal needs the change of {file}, and undo it if not")
        }
        (Rule::Scope | Rule::Tangent | Rule::ScopeCreep | Rule::Judge, None) => {
            "Check whether the goal needs this, and stop if not".to_owned()
        }
    };
    // A dangerous command cannot be undone in a file.
    let file = file.filter(|_| rule != Rule::Danger);
    RecoveryStep { file, action }
}

fn go_on(contract: &GoalContract) -> RecoveryStep {
    let file = named_file(contract);
    let action = match &file {
        Some(file) => format!("Continue with the request in {file}"),
        None => "Continue with the request".to_owned(),
    };
    RecoveryStep { file, action }
}

/// Returns the first file that the scope of the contract names.
pub(crate) fn named_file(contract: &GoalContract) -> Option<String> {
    contract.scope.iter().find(|entry| is_file(entry)).cloned()
}

/// Whether an entry of a scope names one file.
pub(crate) fn is_file(entry: &str) -> bool {
    let name = entry.rsplit(['/', '\\']).next().unwrap_or(entry);
    !entry.contains(['*', '(', ' ', ':'])
        && name
            .rsplit_once('.')
            .is_some_and(|(_, extension)| !extension.is_empty())
}

/// Whether two paths name the same file, where one may be relative to a subfolder.
pub(crate) fn is_same_file(one: &str, other: &str) -> bool {
    let (one, other) = (without_dot(one), without_dot(other));
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

fn without_dot(path: &str) -> &str {
    path.trim_start_matches("./")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(rule: Rule, at_most: u8) -> Finding {
        Finding::new(rule, at_most, None, "the change has nothing to do with the goal")
    }

    #[test]
    fn every_plan_is_short_and_ends_with_the_goal() {
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
            change: None,
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
