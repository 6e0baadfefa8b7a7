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
    breaks_a_limit(&rules, action)
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

#[test]
fn an_order_in_other_words_lifts_not_yet() {
    for (first, limit, later, command, expected) in [
        (
            "bitte committen, noch nicht pushen",
            "nicht pushen",
            "jetzt pushen",
            "git push",
            false,
        ),
        (
            "bitte committen, noch nicht pushen",
            "nicht pushen",
            "ok, push",
            "git push",
            false,
        ),
        ("先提交，不要推送", "不要推送", "现在推送", "git push", false),
        (
            "haz commit, no hagas push",
            "no hagas push",
            "ahora sí, súbelo",
            "git push",
            false,
        ),
        (
            "zrób commit, ale nie pushuj",
            "nie pushuj",
            "teraz wypchnij",
            "git push",
            false,
        ),
        (
            "noch nicht deployen",
            "nicht deployen",
            "jetzt deployen",
            "vercel deploy --prod",
            false,
        ),
        (
            "don't commit or push",
            "don't commit or push",
            "commit it",
            "git commit -am x",
            false,
        ),
        (
            "don't commit or push",
            "don't commit or push",
            "commit it",
            "git push",
            true,
        ),
        (
            "bitte committen, noch nicht pushen",
            "nicht pushen",
            "jetzt die Tests reparieren",
            "git push",
            true,
        ),
        (
            "bitte committen, noch nicht pushen",
            "nicht pushen",
            "pushen erst morgen",
            "git push",
            true,
        ),
        (
            "bitte committen, noch nicht pushen",
            "nicht pushen",
            "warum ist push langsam?",
            "git push",
            true,
        ),
        (
            "先提交，不要推送",
            "不要推送",
            "推送通知收不到，查一下配置",
            "git push",
            true,
        ),
        (
            "haz commit, no hagas push",
            "no hagas push",
            "sube el límite de tamaño a 10",
            "git push",
            true,
        ),
    ] {
        let found = breaks_after(first, &[limit], later, command);
        assert_eq!(found, expected, "{first} | {later} | {command}");
    }
}

#[test]
fn a_yes_to_a_question_answers_a_limit_that_waits_for_it() {
    for (prompt, limit, agreed, command, expected) in [
        (
            "Fix it. Don't push without asking me.",
            "Don't push without asking me",
            "Done. Shall I push?",
            "git push",
            false,
        ),
        (
            "Fix it. Ask me before you push.",
            "Ask me before you push",
            "Done. Shall I push?",
            "git push",
            false,
        ),
        (
            "Fix it. Don't push until I say so",
            "Don't push until I say",
            "Done. Shall I push?",
            "git push",
            false,
        ),
        (
            "Behebe es. Nicht pushen, ohne mich zu fragen",
            "Nicht pushen",
            "Fertig. Soll ich pushen?",
            "git push",
            false,
        ),
        (
            "Corrige. Ne pousse pas sans me demander",
            "Ne pousse pas sans me demander",
            "C'est fait. Je pousse ?",
            "git push",
            false,
        ),
        (
            "Fix it. Don't push without asking me.",
            "Don't push without asking me",
            "Done. Shall I commit?",
            "git push",
            true,
        ),
        (
            "Fix it. Don't push.",
            "Don't push",
            "Done. Shall I push?",
            "git push",
            true,
        ),
    ] {
        let contract = GoalContract {
            instructions: vec![prompt.to_owned()],
            constraints: vec![limit.to_owned()],
            ..GoalContract::default()
        };
        let mut rules = Rules::new(contract, Some("/home/me/p"));
        rules.record_consent(&crate::consent::agreed("yes", agreed).join("\n"));
        let found = breaks_a_limit(&rules, command);
        assert_eq!(found, expected, "{prompt} | {agreed} | {command}");
    }
}

#[test]
fn a_permission_for_one_item_of_a_list_leaves_the_others_forbidden() {
    let list = "don't touch the tests, package.json or config/";
    for (limit, later, action, expected) in [
        (
            "dont touch tests or package.json",
            "you may change the tests",
            "npm i lodash",
            true,
        ),
        (
            "dont touch tests or package.json",
            "you may change the tests",
            "edit package.json",
            true,
        ),
        (
            "dont touch tests or package.json",
            "you may change the tests",
            "edit tests/a.test.js",
            false,
        ),
        (
            "dont touch tests or package.json",
            "you can edit package.json",
            "edit tests/a.test.js",
            true,
        ),
        (list, "you may change the tests", "edit config/a.yml", true),
        (list, "you can edit config/", "edit package.json", true),
        (list, "you can edit config/", "edit config/a.yml", false),
        (
            "don't touch vendor and third_party",
            "you may touch vendor and third_party now",
            "edit vendor/a.c",
            false,
        ),
    ] {
        let prompt = format!("Refactor the cart. {limit}");
        let found = breaks_after(&prompt, &[limit], later, action);
        assert_eq!(found, expected, "{limit} | {later} | {action}");
    }
}

#[test]
fn an_order_lifts_a_limit_that_names_the_act_in_the_plural() {
    for (limit, later) in [
        ("no commits", "commit it"),
        ("no commits please", "go ahead and commit"),
        ("no git commits", "please commit"),
        ("don't commit", "commit it"),
    ] {
        let prompt = format!("Fix the typo. {limit}");
        let commit = "git commit -am x";
        assert!(breaks_after(&prompt, &[limit], "is it done?", commit), "{limit}");
        assert!(
            !breaks_after(&prompt, &[limit], later, commit),
            "{limit}: {later}"
        );
    }
}
