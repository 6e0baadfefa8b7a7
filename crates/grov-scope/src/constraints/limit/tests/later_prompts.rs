//! Later prompts that lift a limit, or only seem to.

use super::*;

#[test]
fn a_later_permission_in_a_clause_lifts_a_command() {
    let said = |later: &str| GoalContract {
        instructions: vec!["Fix it, don't commit, don't push".to_owned(), later.to_owned()],
        constraints: vec!["don't commit".to_owned(), "don't push".to_owned()],
        ..GoalContract::default()
    };
    for (later, command, expected) in [
        (
            "looks right. you can commit now, still no push",
            "git commit -m x",
            false,
        ),
        ("looks right. you can commit now, still no push", "git push", true),
        ("looks right", "git commit -m x", true),
    ] {
        let rules = Rules::new(said(later), Some("/home/me/p"));
        let found = rules.assess_without_history(&bash(command)).findings;
        let is_broken = found.iter().any(|finding| finding.rule == Rule::Constraint);
        assert_eq!(is_broken, expected, "{later}: {command}");
    }
}

#[test]
fn a_later_permission_lifts_a_limit_in_any_language() {
    for (limit, later, action) in [
        (
            "vendor/ is frozen",
            "ok you may touch vendor now",
            "edit vendor/a.go",
        ),
        (
            "古いdeploy.shはまだ消さないで",
            "やっぱり消していいよ",
            "rm deploy.sh",
        ),
        (
            "na razie nie kasuj starych klas",
            "dobra, stare mozesz juz kasowac",
            "rm src/Stare.java",
        ),
        ("先不要升级依赖", "现在可以升级 axios 了", "pnpm up axios"),
        (
            "aber nicht die Zahlungen",
            "Audit ist durch! Zahlungen also auch.",
            "edit api/zahlungen.py",
        ),
        (
            "sauf dans les vues sql",
            "bon finalement les vues aussi",
            "edit sql/vues/a.sql",
        ),
    ] {
        let contract = |later: &[&str]| GoalContract {
            instructions: [&[limit], later]
                .concat()
                .iter()
                .map(|text| (*text).to_owned())
                .collect(),
            constraints: vec![limit.to_owned()],
            ..GoalContract::default()
        };
        let is_broken = |later: &[&str]| {
            let rules = Rules::new(contract(later), Some("/home/me/p"));
            let found = rules.assess_without_history(&sketch(action)).findings;
            found.iter().any(|finding| finding.rule == Rule::Constraint)
        };
        assert!(!is_broken(&[later]), "{limit}; {later}");
    }
    let rules = |later: &str| {
        let contract = GoalContract {
            instructions: vec!["don't touch vendor/".to_owned(), later.to_owned()],
            constraints: vec!["don't touch vendor/".to_owned()],
            ..GoalContract::default()
        };
        Rules::new(contract, Some("/home/me/p"))
    };
    for later in [
        "you may touch src/ now",
        "you can run the tests",
        "you can change anything else",
    ] {
        let found = rules(later)
            .assess_without_history(&sketch("edit vendor/a.go"))
            .findings;
        assert!(!found.is_empty(), "{later}");
    }
}

#[test]
fn a_later_prompt_that_only_mentions_the_object_lifts_no_limit() {
    for (limit, later, action) in [
        (
            "don't touch src/legacy",
            "does src/legacy also use this?",
            "edit src/legacy/a.py",
        ),
        (
            "don't add new dependencies",
            "Also add a unit test for the parser",
            "npm install left-pad",
        ),
        (
            "don't add new dependencies",
            "you can add a helper for that",
            "npm install left-pad",
        ),
    ] {
        let contract = GoalContract {
            instructions: vec![limit.to_owned(), later.to_owned()],
            constraints: vec![limit.to_owned()],
            ..GoalContract::default()
        };
        let found = Rules::new(contract, Some("/home/me/p"))
            .assess_without_history(&sketch(action))
            .findings;
        assert!(
            found.iter().any(|finding| finding.rule == Rule::Constraint),
            "{limit}; {later}"
        );
    }
}
