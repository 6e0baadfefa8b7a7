//! Later prompts that lift a limit, or only seem to.

use super::*;

/// Whether an action breaks one of the limits of a prompt after a later prompt.
fn breaks_after(prompt: &str, limits: &[&str], later: &str, action: &str) -> bool {
    let contract = GoalContract {
        instructions: vec![prompt.to_owned(), later.to_owned()],
        constraints: limits.iter().map(|limit| (*limit).to_owned()).collect(),
        ..GoalContract::default()
    };
    let rules = Rules::new(contract, Some("/home/me/p"));
    let found = rules.assess_without_history(&sketch(action)).findings;
    found.iter().any(|finding| finding.rule == Rule::Constraint)
}

#[test]
fn a_later_permission_in_a_clause_lifts_a_command() {
    let first = "Fix it, don't commit, don't push";
    let limits = ["don't commit", "don't push"];
    for (later, command, expected) in [
        (
            "looks right. you can commit now, still no push",
            "git commit -m x",
            false,
        ),
        ("looks right. you can commit now, still no push", "git push", true),
        ("looks right", "git commit -m x", true),
    ] {
        let found = breaks_after(first, &limits, later, command);
        assert_eq!(found, expected, "{later}: {command}");
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
        assert!(!breaks_after(limit, &[limit], later, action), "{limit}; {later}");
    }
    let vendor = "don't touch vendor/";
    for later in [
        "you may touch src/ now",
        "you can run the tests",
        "you can change anything else",
    ] {
        assert!(
            breaks_after(vendor, &[vendor], later, "edit vendor/a.go"),
            "{later}"
        );
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
        assert!(breaks_after(limit, &[limit], later, action), "{limit}; {later}");
    }
}
