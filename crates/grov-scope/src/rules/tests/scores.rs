//! The score of an action by the kind of rule that it breaks.

use super::*;

#[test]
fn forbidden_is_hard_and_allowed_beats_it() {
    let forbidden = contract(&[], &[], &["src/auth/**"], &[]);
    let found = of(forbidden, &edit("/home/me/p/src/auth/A.rs", ""));
    assert_eq!(found.score, 3);
    assert_eq!(found.findings[0].rule, Rule::Constraint);
    assert_eq!(
        found.findings[0].reason,
        "src/auth/A.rs is changed, but src/auth/** is forbidden"
    );
    let allowed = contract(
        &["src/parser.rs"],
        &["src/auth/a.rs"],
        &["src/auth/**"],
        &["do not touch src/auth/"],
    );
    assert_eq!(of(allowed, &edit("src/auth/a.rs", "")), Assessment::on_goal());
}

#[test]
fn outside_of_the_scope_is_a_hint() {
    let held = || contract(&["src/parser.rs"], &[], &[], &[]);
    let found = of(held(), &edit("web/site.css", ""));
    assert_eq!((found.score, found.findings[0].rule), (8, Rule::Scope));
    for file in [
        "src/parser.rs",
        "tests/parser.rs",
        "Cargo.lock",
        "/tmp/x",
        "SRC/Parser.rs",
        r"src\parser.rs",
    ] {
        assert_eq!(of(held(), &edit(file, "")), Assessment::on_goal(), "{file}");
    }
    assert_eq!(
        of(contract(&[], &[], &[], &[]), &edit("web/site.css", "")),
        Assessment::on_goal()
    );
}

#[test]
fn a_subagent_is_judged_by_facts_alone() {
    let mut rules = Rules::new(
        contract(&["src/parser.rs"], &[], &[], &["do not touch src/auth/"]),
        None,
    );
    assert_eq!(rules.assess_subagent(&edit("web/site.css", "")).score, 10);
    assert_eq!(rules.assess_subagent(&edit("src/auth/a.rs", "")).score, 3);
    assert_eq!(rules.assess_subagent(&bash("git reset --hard")).score, 4);
}

#[test]
fn a_newer_instruction_allows_a_forbidden_file() {
    let mut rules = Rules::new(
        contract(&["src/parser.rs"], &[], &[], &["do not touch src/auth/"]),
        None,
    );
    assert_eq!(rules.assess(&edit("src/auth/a.rs", "abc"), None).score, 3);
    let mut newer = rules.contract().clone();
    newer.instructions.push("now fix src/auth/a.rs too".to_owned());
    rules.set_contract(newer);
    assert_eq!(rules.assess(&edit("src/auth/a.rs", "abd"), None).score, 10);
}

#[test]
fn a_version_bump_is_only_possibly_a_new_dependency() {
    let held = || contract(&[], &[], &[], &["no new dependencies"]);
    let text = "[package]\nname = \"x\"\nversion = \"1.2.0\"\n\n[dependencies]\nserde = \"1\"\ntokio = { version = \"1\" }\n";
    let bump = edit("Cargo.toml", text);
    // The edit does not show which lines are new, so the score is only 7.
    let found = of(held(), &bump);
    assert_eq!((found.score, found.findings[0].rule), (7, Rule::Constraint));
    let write = ActionSketch {
        action_type: ActionType::Write,
        ..bump
    };
    assert_eq!(of(held(), &write).score, 4);
    let mut rules = Rules::new(held(), Some("/home/me/p"));
    rules.assess(&read("Cargo.toml"), None);
    assert_eq!(rules.assess(&write, None).score, 7);
    assert_eq!(of(held(), &bash("cargo add serde")).score, 3);
}

#[test]
fn what_failed_before_a_prompt_may_be_run_again() {
    let failing = ActionSketch {
        failed: Some(true),
        ..bash("cargo test")
    };
    let mut rules = Rules::new(contract(&[], &[], &[], &[]), Some("/home/me/p"));
    let run = |rules: &mut Rules| rules.assess(&failing, None).score;
    assert_eq!((run(&mut rules), run(&mut rules)), (10, 10));
    rules.record_prompt();
    assert_eq!((run(&mut rules), run(&mut rules)), (10, 10));
    assert_eq!(run(&mut rules), 4);
}

#[test]
fn odd_input_is_judged() {
    let mut rules = Rules::new(GoalContract::default(), Some("not a path"));
    let nothing = ActionSketch {
        files: Vec::new(),
        ..edit("", "")
    };
    assert_eq!(rules.assess(&nothing, None).score, 10);
    let huge = ActionSketch {
        command: Some("rm -rf / ; ".repeat(10_000)),
        ..bash("ls")
    };
    rules.assess(&huge, Some(""));
    let files = ActionSketch {
        files: (0..10_000).map(|n| format!("src/{n}.rs")).collect(),
        ..edit("", "x")
    };
    assert_eq!(rules.assess(&files, None).score, 10);
    rules.record_result("unknown", true);
}
