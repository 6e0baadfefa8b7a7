//! How well actions serve the goal.

use super::clean::clean;
use super::text::{push_new, shorten};
use super::{constraints, scope};
use grov_domain::{
    ActionSketch, DriftQuestion, DriftType, DriftVerdict, Finding, GoalContract, OFF_GOAL_BELOW,
    RecoveryStep, Rule,
};
use grov_scope::Rules;

/// So many earlier actions are followed: circles are shorter.
const THREAD: usize = 100;

/// So many actions are judged, the newest.
const MOST_ACTIONS: usize = 500;

/// So many entries of a scope, and so many constraints, are looked at.
const MOST_ENTRIES: usize = 200;

/// How well actions serve the goal, 1 to 10: the rules follow the earlier actions and these, in order, and the worst of
/// these counts. What merely looks, and what nothing was found of, is 10.
pub fn check_drift(question: &DriftQuestion) -> DriftVerdict {
    let mut rules = Rules::new(contract(question), None);
    let thread = question.earlier.len().saturating_sub(THREAD);
    for action in &question.earlier[thread..] {
        rules.assess(action, None);
    }
    let newest = question.actions.len().saturating_sub(MOST_ACTIONS);
    let mut findings: Vec<Finding> = Vec::new();
    let mut score = 10;
    for action in &question.actions[newest..] {
        let assessment = rules.assess(action, None);
        score = score.min(assessment.score);
        for finding in assessment.findings {
            if findings.len() < MOST_ENTRIES && !findings.contains(&finding) {
                findings.push(finding);
            }
        }
    }
    findings.sort_by_key(|finding| (finding.at_most, finding.rule));
    let drift_type = DriftType::of_score(score);
    let recovery_plan = if drift_type == DriftType::None {
        Vec::new()
    } else {
        plan(question, &findings)
    };
    DriftVerdict {
        score,
        drift_type,
        diagnostic: diagnostic(&findings, &question.actions),
        recovery_plan,
    }
}

/// What the agent is held to, as the question tells it. The newest instruction may hold constraints of its own.
fn contract(question: &DriftQuestion) -> GoalContract {
    let newest = clean(&question.newest_instruction);
    let mut limits: Vec<String> = question
        .constraints
        .iter()
        .take(constraints::MOST * 2)
        .cloned()
        .collect();
    constraints::find(&newest.sentences(), &mut limits);
    GoalContract {
        goal: clean(&question.goal).whole,
        instructions: vec![newest.whole],
        scope: question.scope.iter().take(MOST_ENTRIES).cloned().collect(),
        constraints: limits,
        ..GoalContract::default()
    }
}

/// One sentence: the gravest finding, or that there is none.
fn diagnostic(findings: &[Finding], actions: &[ActionSketch]) -> String {
    match findings.first() {
        Some(gravest) => format!("{}.", shorten(&gravest.reason, 400)),
        None if actions.iter().any(|action| action.changes_build_inputs()) => {
            "The changes are within the scope of the goal.".to_owned()
        }
        None => "Nothing was changed.".to_owned(),
    }
}

/// The way back: what was found is put right, and the work goes on.
fn plan(question: &DriftQuestion, findings: &[Finding]) -> Vec<RecoveryStep> {
    let mut steps: Vec<RecoveryStep> = Vec::new();
    for finding in findings
        .iter()
        .filter(|finding| finding.at_most < OFF_GOAL_BELOW || finding.rule != Rule::Scope)
    {
        let step = RecoveryStep {
            file: finding.file.clone(),
            action: way_back(finding),
        };
        if steps.len() < MOST_STEPS && !steps.contains(&step) {
            steps.push(step);
        }
    }
    let mut named: Vec<String> = question.scope.iter().take(MOST_ENTRIES).cloned().collect();
    for text in [&question.newest_instruction, &question.goal] {
        for path in scope::paths(&clean(text).whole) {
            push_new(&mut named, path, MOST_ENTRIES);
        }
    }
    let target = named.iter().find(|entry| scope::is_path(entry));
    let goal = shorten(&question.goal, 200);
    steps.push(RecoveryStep {
        file: target.cloned(),
        action: match target {
            Some(file) if goal.is_empty() => format!("Go on in {file}"),
            Some(file) => format!("Go on in {file} with: {goal}"),
            None if goal.is_empty() => "Go back to what the user asked for last".to_owned(),
            None => format!("Go on with: {goal}"),
        },
    });
    steps
}

/// So many things are put right before the work goes on.
const MOST_STEPS: usize = 3;

/// How one finding is put right.
fn way_back(finding: &Finding) -> String {
    let reason = shorten(&finding.reason, 200);
    match (finding.rule, &finding.file) {
        (Rule::Constraint, Some(file)) => format!("Undo the change of {file}: {reason}"),
        (Rule::Constraint, None) => format!("Undo what was done, as far as that is possible: {reason}"),
        (Rule::Danger, _) => format!("Tell the user what was done before anything else: {reason}"),
        (Rule::Repetition, Some(file)) => {
            format!("Read {file} as it is now before it is changed again, and find the cause first")
        }
        (Rule::Repetition, None) => "Find out why the command fails before it is run again".to_owned(),
        (_, Some(file)) => {
            format!("Check whether the change of {file} is needed for the goal, and undo it if not")
        }
        (_, None) => format!("Check whether this is needed for the goal, and undo it if not: {reason}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_domain::{ActionType, EffectKind};

    fn edit(file: &str) -> ActionSketch {
        ActionSketch {
            action_type: ActionType::Edit,
            files: vec![file.to_owned()],
            command: None,
            effects: vec![EffectKind::Modify],
            reasoning: None,
            failed: Some(false),
            output: None,
            content: None,
            line: None,
        }
    }

    fn with(action_type: ActionType, effect: EffectKind, file: &str) -> ActionSketch {
        ActionSketch {
            action_type,
            effects: vec![effect],
            ..edit(file)
        }
    }

    fn verdict(
        scope: &[&str],
        constraints: &[&str],
        newest: &str,
        actions: Vec<ActionSketch>,
    ) -> DriftVerdict {
        let list = |entries: &[&str]| entries.iter().map(|entry| (*entry).to_owned()).collect();
        let question = DriftQuestion {
            goal: "Fix the parser".to_owned(),
            newest_instruction: newest.to_owned(),
            scope: list(scope),
            constraints: list(constraints),
            actions,
            ..DriftQuestion::default()
        };
        let verdict = check_drift(&question);
        assert_eq!(verdict.drift_type, DriftType::of_score(verdict.score));
        assert_eq!(verdict.recovery_plan.is_empty(), verdict.score >= 8);
        verdict
    }

    fn score(scope: &[&str], newest: &str, actions: Vec<ActionSketch>) -> u8 {
        verdict(scope, &[], newest, actions).score
    }

    #[test]
    fn a_scope_is_a_hint() {
        let parser = || edit("src/parser.rs");
        let other = || edit("web/site.css");
        assert_eq!(score(&[], "", vec![other()]), 10, "no scope, everything is in it");
        assert_eq!(score(&["src/parser.rs"], "", vec![]), 10);
        for scope in ["src/parser.rs", "src/", "src/*.rs", "crate::parser"] {
            assert_eq!(score(&[scope], "", vec![parser()]), 10, "{scope}");
        }
        let tangent = verdict(&["src/parser.rs"], &[], "", vec![parser(), other()]);
        assert_eq!(tangent.score, 4, "nothing ties it to what was worked on");
        let outside = verdict(&["src/parser.rs"], &[], "", vec![other()]);
        assert_eq!(outside.score, 8);
        assert_eq!(
            outside.diagnostic,
            "web/site.css is outside of what the work is expected to touch."
        );
        assert_eq!(
            score(&["src/parser.rs"], "fix web/site.css too", vec![other()]),
            10
        );
    }

    #[test]
    fn going_in_circles_is_off_goal() {
        let same = || ActionSketch {
            content: Some("fn parse(input: &str) -> Tree { lex(input).tree() }".to_owned()),
            ..edit("src/parser.rs")
        };
        let circle = verdict(&["src/parser.rs"], &[], "", vec![same(), same(), same()]);
        assert_eq!(circle.score, 4);
        assert_eq!(circle.recovery_plan[0].file.as_deref(), Some("src/parser.rs"));
        let different = (0..10).map(|n| ActionSketch {
            content: Some(format!(
                "fn parse_{n}(input: &str) -> Tree_{n} {{ lex_{n}(input) }}"
            )),
            ..same()
        });
        assert_eq!(score(&["src/parser.rs"], "", different.collect()), 10);
        let begun = DriftQuestion {
            earlier: vec![same(), same()],
            actions: vec![same()],
            ..DriftQuestion::default()
        };
        assert_eq!(check_drift(&begun).score, 4, "what was done before counts");
    }

    #[test]
    fn looking_and_testing_never_costs() {
        let looking = vec![
            with(ActionType::Read, EffectKind::Read, "web/site.css"),
            with(ActionType::Search, EffectKind::Read, "web/site.css"),
            with(ActionType::Bash, EffectKind::Test, "web/site.css"),
            with(ActionType::Bash, EffectKind::Build, "web/site.css"),
        ];
        assert_eq!(score(&["src/parser.rs"], "", looking), 10);
    }

    #[test]
    fn a_forbidden_change_is_off_goal_whatever_the_scope() {
        let parser = || edit("src/parser.rs");
        let forbids = ["Do not touch src/auth/"];
        let broken = verdict(&[], &forbids, "", vec![parser(), edit("src/auth/a.rs")]);
        assert_eq!(broken.score, 3);
        assert_eq!(
            broken.diagnostic,
            "src/auth/a.rs is changed against \"Do not touch src/auth/\"."
        );
        assert_eq!(broken.recovery_plan[0].file.as_deref(), Some("src/auth/a.rs"));
        assert_eq!(verdict(&[], &forbids, "", vec![parser()]).score, 10);
        let only = ["only change src/parser.rs"];
        assert_eq!(verdict(&[], &only, "", vec![parser(), edit("a.rs")]).score, 3);
        let said = "Fix src/parser.rs. Don't touch src/auth.rs.";
        assert_eq!(score(&[], said, vec![edit("src/auth.rs")]), 3);
        assert_eq!(score(&[], said, vec![parser()]), 10);
        let read = with(ActionType::Read, EffectKind::Read, "src/auth/a.rs");
        assert_eq!(
            verdict(&[], &forbids, "", vec![read]).score,
            10,
            "reading changes nothing"
        );
        let lifted = verdict(
            &[],
            &forbids,
            "now fix src/auth/a.rs too",
            vec![edit("src/auth/a.rs")],
        );
        assert_eq!(lifted.score, 10);
    }

    #[test]
    fn the_newest_instruction_forbids_in_words_that_hide_it() {
        // Only the search for constraints in prompts knows that this "only" is an order.
        let newest = "Please fix the flaky test and change only src/parser.rs";
        assert_eq!(score(&[], newest, vec![edit("src/lexer.rs")]), 3);
    }

    #[test]
    fn the_way_back_names_files() {
        let verdict = check_drift(&DriftQuestion {
            goal: "Fix src/parser.rs".to_owned(),
            scope: vec!["src/parser.rs".to_owned()],
            constraints: vec!["leave web/ alone".to_owned()],
            actions: vec![edit("web/site.css")],
            ..DriftQuestion::default()
        });
        let files: Vec<_> = verdict
            .recovery_plan
            .iter()
            .map(|step| step.file.as_deref())
            .collect();
        assert_eq!(files, [Some("web/site.css"), Some("src/parser.rs")]);
    }
}
