//! What the user said yes to: a question of the agent, or the dialog of the guard.

use super::*;

#[test]
fn what_the_user_said_yes_to_is_asked_for() {
    let publish = bash("cargo publish");
    let mut rules = Rules::new(contract(&["src/parser.rs"], &[], &[], &[]), Some("/home/me/p"));
    assert_eq!(rules.assess(&publish, None).score, 3);
    rules.record_consent("The parser is fixed. Shall I publish the crate and remove web/old.css?");
    assert_eq!(rules.assess(&publish, None).score, 10);
    assert_eq!(
        rules.assess(&edit("web/old.css", ".a { color: red }"), None),
        Assessment::on_goal()
    );
    // It holds while the work goes on, and no longer.
    let mut held = contract(&["src/parser.rs"], &[], &[], &[]);
    held.instructions.push("also fix the lexer".to_owned());
    rules.set_contract(held.clone());
    assert_eq!(rules.assess(&publish, None).score, 10);
    held.goal = "Write a guide".to_owned();
    held.instructions = vec!["Write a guide".to_owned()];
    rules.set_contract(held);
    assert_eq!(rules.assess(&publish, None).score, 3);
}

#[test]
fn what_the_user_said_yes_to_twice_counts_once_and_as_the_newest() {
    let mut rules = Rules::new(contract(&["src/parser.rs"], &[], &[], &[]), Some("/home/me/p"));
    let publish = "Shall I publish the crate?";
    rules.record_consent(publish);
    rules.record_consent("Shall I go on?");
    rules.record_consent(publish);
    assert_eq!(rules.consents(), ["Shall I go on?", publish]);
    // Long texts are shortened to both ends before they are compared.
    let long = "Shall I go on? ".repeat(1000);
    rules.record_consent(&long);
    rules.record_consent(&long);
    assert_eq!(rules.consents().len(), 3);
    // A repeated consent does not evict others.
    for _ in 0..MAX_CONSENTS {
        rules.record_consent("Shall I go on?");
    }
    assert_eq!(rules.assess(&bash("cargo publish"), None).score, 10);
}

#[test]
fn an_agents_question_forbids_nothing() {
    let mut rules = Rules::new(contract(&[], &[], &[], &[]), Some("/home/me/p"));
    rules.record_consent("I will not touch src/lib.rs. Do not change src/parser.rs by hand?");
    assert_eq!(rules.assess(&edit("src/parser.rs", "x"), None).score, 10);
}

#[test]
fn an_action_approved_in_the_dialog_is_not_a_violation() {
    let mut rules = without_the_database();
    let change = edit("/home/me/p/src/db/pool.rs", "const SIZE: usize = 50;");
    rules.grant(&change, Some("1"));
    assert!(!is_fact(&rules.assess(&change, Some("1"))));
    let later = rules.assess(&edit("src/db/pool.rs", "let moon = tide(9);"), Some("2"));
    assert_eq!(later, Assessment::on_goal(), "an allowed file is no doubt either");
    assert!(is_fact(&rules.assess(&bash("rm src/db/pool.rs"), Some("3"))));
    assert!(is_fact(&rules.assess(&edit("src/db/other.rs", "y"), Some("4"))));
    // A "no" allows nothing.
    rules.grant(&edit("src/db/other.rs", "y"), Some("5"));
    rules.revoke("5");
    assert!(is_fact(&rules.assess(&edit("src/db/other.rs", "y"), Some("6"))));
    let push = bash("git push --force");
    rules.grant(&push, Some("7"));
    assert!(!is_fact(&rules.assess(&push, Some("7"))));
    assert!(is_fact(
        &rules.assess(&bash("git push --force origin x"), Some("8"))
    ));
    let memo = serde_json::to_string(&rules.memo()).unwrap();
    let memo = serde_json::from_str(&memo).unwrap();
    let mut rules = Rules::restore(rules.contract().clone(), Some("/home/me/p"), memo).unwrap();
    assert!(!is_fact(&rules.assess(&change, Some("9"))));
}

#[test]
fn a_constraint_that_the_user_overruled_for_two_files_is_not_violated_again() {
    let mut rules = without_the_database();
    for (call, file) in [("1", "src/db/pool.rs"), ("2", "src/db/query.rs")] {
        assert!(is_fact(
            &rules.assess(&edit(file, "const A: u8 = 1;"), Some(call))
        ));
        rules.grant(&edit(file, "const A: u8 = 1;"), Some(call));
    }
    assert!(!is_fact(&rules.assess(&edit("src/db/other.rs", "y"), Some("3"))));
    assert!(is_fact(&rules.assess(&bash("rm src/db/more.rs"), Some("4"))));
    rules.revoke("2");
    assert!(is_fact(&rules.assess(&edit("src/db/last.rs", "y"), Some("5"))));
}

#[test]
fn accepting_a_proposal_ends_the_read_only_constraint() {
    let contract = |more: &[&str]| GoalContract {
        goal: "Explain the login".to_owned(),
        instructions: [&["Explain the login. Don't change anything."], more]
            .concat()
            .iter()
            .map(|text| (*text).to_owned())
            .collect(),
        constraints: vec!["Don't change anything".to_owned()],
        ..GoalContract::default()
    };
    let change = edit("src/login.rs", "x");
    let mut rules = Rules::new(contract(&[]), Some("/home/me/p"));
    rules.record_consent("The token is checked twice.");
    assert!(is_fact(&rules.assess(&change, None)));
    rules.record_consent("The token is checked twice.\nShall I remove one of the checks?");
    assert!(!is_fact(&rules.assess(&change, None)));
    rules.set_contract(contract(&["And the logout?"]));
    assert!(!is_fact(&rules.assess(&change, None)));
    rules.set_contract(contract(&[
        "And the logout?",
        "Explain the menu. Don't change anything.",
    ]));
    assert!(is_fact(&rules.assess(&change, None)));
}
