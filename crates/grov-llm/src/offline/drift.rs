//! How well actions serve the goal.

use super::claims::{changes, proves};
use super::clean::clean;
use super::limits::{Breach, Limits};
use super::scope;
use super::text::{fold, push_new, shorten};
use grov_domain::{ActionSketch, DriftQuestion, DriftType, DriftVerdict, RecoveryStep};

/// So many earlier actions are looked at for repetition.
const THREAD: usize = 5;

/// A file changed so often within the thread is repetition.
const REPEATED: usize = 3;

/// The score of a change that a constraint forbids; each further file costs one more.
const BREACH: usize = 3;

/// How well actions serve the goal, 1 to 10. Only actions that change something count: all of them in scope is 10, all of
/// them outside at most 3, mixed in between; each file changed three times within the last five costs 2. A file changed
/// against a constraint that names it ("do not touch X", "only change Y") makes it 3 at most.
pub fn check_drift(question: &DriftQuestion) -> DriftVerdict {
    let judged: Vec<&ActionSketch> = question
        .actions
        .iter()
        .filter(|action| changes(action) && !proves(action) && !action.files.is_empty())
        .collect();
    let newest = clean(&question.newest_instruction);
    let mut scope: Vec<String> = question.scope.iter().take(200).cloned().collect();
    // Where no scope is told, naming a file gives none: everything is in scope.
    if !scope.is_empty() {
        scope.extend(scope::paths(&newest.whole));
        scope.extend(scope::paths(&clean(&question.goal).whole));
    }
    let mut outside: Vec<String> = Vec::new();
    let mut out = 0;
    for action in &judged {
        let all_in = scope.is_empty() || action.files.iter().take(50).all(|file| is_inside(file, &scope));
        if !all_in {
            out += 1;
            for file in action.files.iter().filter(|file| !is_inside(file, &scope)) {
                push_new(&mut outside, file.clone(), 20);
            }
        }
    }
    let limits = Limits::new(&question.constraints, &newest);
    let mut breaches: Vec<Breach> = Vec::new();
    for file in judged.iter().flat_map(|action| action.files.iter().take(50)) {
        let known = breaches.iter().any(|breach| breach.file == *file);
        if !known && breaches.len() < BREACH {
            breaches.extend(limits.breach(file));
        }
    }
    // What is told as a breach is not told once more.
    outside.retain(|file| !breaches.iter().any(|breach| breach.file == *file));
    let total = judged.len();
    let base = if out == 0 {
        10
    } else if out == total {
        4_usize.saturating_sub(out).max(1)
    } else {
        let within = total - out;
        (2 + (16 * within + total) / (2 * total))
            .saturating_sub(out)
            .max(1)
    };
    let repeated = repeated(question);
    let most = match breaches.len() {
        0 => 10,
        count => BREACH + 1 - count,
    };
    let score = base.saturating_sub(2 * repeated.len()).clamp(1, most);
    let score = u8::try_from(score).unwrap_or(10);
    let drift_type = DriftType::of_score(score);
    if drift_type == DriftType::None {
        let diagnostic = if total == 0 {
            "Nothing was changed."
        } else {
            "The changes are within the scope of the goal."
        };
        return DriftVerdict {
            score,
            drift_type,
            diagnostic: diagnostic.to_owned(),
            recovery_plan: Vec::new(),
        };
    }
    DriftVerdict {
        score,
        drift_type,
        diagnostic: diagnostic(&breaches, &outside, &repeated),
        recovery_plan: plan(question, &breaches, &outside, &repeated, &scope),
    }
}

/// Whether a file is what an entry of the scope names, or lies in it.
fn is_inside(file: &str, scope: &[String]) -> bool {
    let file = fold(file);
    let name = file.rsplit('/').next().unwrap_or(&file);
    let stem = name.split('.').next().unwrap_or(name);
    scope.iter().any(|entry| {
        let entry = fold(entry);
        let entry = entry
            .trim_end_matches(['/', '*', '(', ')'])
            .trim_start_matches("./");
        let glob = entry.split('*').next().unwrap_or(entry).trim_end_matches('/');
        !entry.is_empty()
            && (file.contains(entry)
                || entry.contains(name)
                || (entry.contains('*') && !glob.is_empty() && file.contains(glob))
                || (stem.len() >= 4 && entry.split(['/', ':', '.']).any(|part| part == stem)))
    })
}

/// Files changed again and again.
fn repeated(question: &DriftQuestion) -> Vec<String> {
    let thread: Vec<&ActionSketch> = question
        .earlier
        .iter()
        .chain(&question.actions)
        .rev()
        .take(THREAD)
        .filter(|action| changes(action))
        .collect();
    let mut found = Vec::new();
    for action in &thread {
        for file in action.files.iter().take(50) {
            let times = thread.iter().filter(|other| other.files.contains(file)).count();
            if times >= REPEATED {
                push_new(&mut found, file.clone(), 4);
            }
        }
    }
    found
}

fn diagnostic(breaches: &[Breach], outside: &[String], repeated: &[String]) -> String {
    let listed =
        |files: &[String]| shorten(&files.iter().take(3).cloned().collect::<Vec<_>>().join(", "), 160);
    if let Some(first) = breaches.first() {
        let files: Vec<String> = breaches.iter().map(|breach| breach.file.clone()).collect();
        let constraint = shorten(&first.constraint, 160);
        return format!(
            "Changed against a constraint (\"{constraint}\"): {}.",
            listed(&files)
        );
    }
    match (outside.is_empty(), repeated.is_empty()) {
        (false, true) => format!("Changed outside the scope of the goal: {}.", listed(outside)),
        (true, _) => format!("Changed again and again: {}.", listed(repeated)),
        (false, false) => format!(
            "Changed outside the scope of the goal: {}; changed again and again: {}.",
            listed(outside),
            listed(repeated)
        ),
    }
}

fn plan(
    question: &DriftQuestion,
    breaches: &[Breach],
    outside: &[String],
    repeated: &[String],
    scope: &[String],
) -> Vec<RecoveryStep> {
    let mut steps = Vec::new();
    for Breach { file, constraint } in breaches {
        let constraint = shorten(constraint, 160);
        steps.push(RecoveryStep {
            file: Some(file.clone()),
            action: format!("Undo the change of {file}: \"{constraint}\""),
        });
    }
    for file in outside.iter().take(3) {
        steps.push(RecoveryStep {
            file: Some(file.clone()),
            action: format!("Check whether the change of {file} is needed for the goal, and undo it if not"),
        });
    }
    for file in repeated.iter().take(2) {
        steps.push(RecoveryStep {
            file: Some(file.clone()),
            action: format!("Read {file} as it is now before it is changed again, and find the cause first"),
        });
    }
    let target = scope.iter().find(|entry| scope::is_path(entry));
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
        }
    }

    fn with(action_type: ActionType, effect: EffectKind, file: &str) -> ActionSketch {
        ActionSketch {
            action_type,
            effects: vec![effect],
            ..edit(file)
        }
    }

    fn score(scope: &[&str], newest: &str, actions: Vec<ActionSketch>) -> u8 {
        let question = DriftQuestion {
            goal: "Fix the parser".to_owned(),
            newest_instruction: newest.to_owned(),
            scope: scope.iter().map(|entry| (*entry).to_owned()).collect(),
            actions,
            ..DriftQuestion::default()
        };
        let verdict = check_drift(&question);
        assert_eq!(verdict.drift_type, DriftType::of_score(verdict.score));
        assert_eq!(verdict.recovery_plan.is_empty(), verdict.score >= 8);
        verdict.score
    }

    #[test]
    fn scores_follow_the_rules() {
        let parser = || edit("src/parser.rs");
        let other = || edit("web/site.css");
        assert_eq!(score(&[], "", vec![other()]), 10, "no scope, everything is in it");
        assert_eq!(score(&["src/parser.rs"], "", vec![]), 10);
        assert_eq!(score(&["src/parser.rs"], "", vec![parser()]), 10);
        assert_eq!(score(&["src/"], "", vec![parser()]), 10);
        assert_eq!(score(&["src/*.rs"], "", vec![parser()]), 10);
        assert_eq!(score(&["crate::parser"], "", vec![parser()]), 10);
        assert_eq!(score(&["src/parser.rs"], "", vec![other()]), 3);
        assert_eq!(score(&["src/parser.rs"], "", vec![other(), edit("web/b.css")]), 2);
        assert_eq!(
            score(
                &["src/parser.rs"],
                "",
                vec![other(), edit("c/b"), edit("c/c"), edit("c/d")]
            ),
            1
        );
        assert_eq!(score(&["src/parser.rs"], "", vec![parser(), other()]), 5);
        assert_eq!(
            score(&["src/parser.rs"], "fix web/site.css too", vec![other()]),
            10
        );
        assert_eq!(
            score(&["src/parser.rs"], "", vec![parser(), parser(), parser()]),
            8
        );
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
        let with = |constraints: &[&str], newest: &str, actions| {
            check_drift(&DriftQuestion {
                goal: "Fix the parser".to_owned(),
                newest_instruction: newest.to_owned(),
                constraints: constraints.iter().map(|text| (*text).to_owned()).collect(),
                actions,
                ..DriftQuestion::default()
            })
        };
        let parser = || edit("src/parser.rs");
        let forbids = ["Do not touch src/auth/"];
        let verdict = with(&forbids, "", vec![parser(), edit("src/auth/a.rs")]);
        assert_eq!(verdict.score, 3);
        assert_eq!(
            verdict.diagnostic,
            "Changed against a constraint (\"Do not touch src/auth/\"): src/auth/a.rs."
        );
        assert_eq!(verdict.recovery_plan[0].file.as_deref(), Some("src/auth/a.rs"));
        let two = vec![
            edit("src/auth/a.rs"),
            edit("src/auth/b.rs"),
            edit("src/auth/a.rs"),
        ];
        assert_eq!(with(&forbids, "", two).score, 2);
        assert_eq!(with(&forbids, "", vec![parser()]).score, 10);
        assert_eq!(
            with(&["only change src/parser.rs"], "", vec![parser(), edit("a.rs")]).score,
            3
        );
        assert_eq!(
            with(
                &[],
                "Fix src/parser.rs. Don't touch src/auth.rs.",
                vec![edit("src/auth.rs")]
            )
            .score,
            3
        );
        let read = ActionSketch {
            action_type: ActionType::Read,
            effects: vec![EffectKind::Read],
            ..edit("src/auth/a.rs")
        };
        assert_eq!(
            with(&forbids, "", vec![read]).score,
            10,
            "reading changes nothing"
        );
        assert_eq!(
            with(&forbids, "now fix src/auth/a.rs too", vec![edit("src/auth/a.rs")]).score,
            10
        );
    }

    #[test]
    fn the_way_back_names_files() {
        let verdict = check_drift(&DriftQuestion {
            goal: "Fix src/parser.rs".to_owned(),
            scope: vec!["src/parser.rs".to_owned()],
            actions: vec![edit("web/site.css")],
            ..DriftQuestion::default()
        });
        assert_eq!(
            verdict.diagnostic,
            "Changed outside the scope of the goal: web/site.css."
        );
        let files: Vec<_> = verdict
            .recovery_plan
            .iter()
            .map(|step| step.file.as_deref())
            .collect();
        assert_eq!(files, [Some("web/site.css"), Some("src/parser.rs")]);
    }
}
