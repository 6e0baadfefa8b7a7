//! What holds for any conversation.

use super::*;
use crate::analyzed_action::tests::{bash, edit, read};
use grov_domain::{ActionType, EffectKind};
use proptest::prelude::*;

fn contract(scope: &[&str], allowed: &[&str], forbidden: &[&str], constraints: &[&str]) -> GoalContract {
    let list = |entries: &[&str]| entries.iter().map(|entry| (*entry).to_owned()).collect();
    GoalContract {
        goal: "Fix the parser".to_owned(),
        scope: list(scope),
        allowed: list(allowed),
        forbidden: list(forbidden),
        constraints: list(constraints),
        ..GoalContract::default()
    }
}

fn of(contract: GoalContract, action: &ActionSketch) -> Assessment {
    Rules::new(contract, Some("/home/me/p")).assess(action, None)
}

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

#[test]
fn memory_is_bounded() {
    let mut rules = Rules::new(GoalContract::default(), None);
    for n in 0..5_000 {
        rules.assess(
            &edit(&format!("src/{n}.rs"), &format!("fn f{n}() {{}}")),
            Some(&n.to_string()),
        );
    }
    assert_eq!(rules.state.history.newest().count(), 500);
}

fn path() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[a-c./~*{},]{0,12}",
        prop::sample::select(vec![
            "src/a.rs",
            "/etc/hosts",
            "~/.ssh/x",
            r"C:\w\a.rs",
            "tests/a.rs",
            "Cargo.toml"
        ])
        .prop_map(str::to_owned),
    ]
}

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<String>(),
        prop::sample::select(vec![
            "don't ",
            "do not ",
            "touch ",
            "src/a.rs ",
            "only ",
            "change ",
            "no ",
            "new dependencies ",
            "run ",
            "git push ",
            "`",
            "leave ",
            "alone ",
            "nu ",
            "is read-only ",
            "rm -rf ",
            "&& ",
            "<<EOF\n",
            "'",
            "\"",
            "import ",
            "; ",
            "except ",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..10).prop_map(|pieces| pieces.concat())
}

fn action() -> impl Strategy<Value = ActionSketch> {
    let kinds = prop::sample::select(vec![
        ActionType::Edit,
        ActionType::Write,
        ActionType::Bash,
        ActionType::Read,
        ActionType::Search,
        ActionType::Mcp,
        ActionType::Web,
        ActionType::Other,
    ]);
    let effects = prop::sample::select(vec![
        EffectKind::Read,
        EffectKind::Write,
        EffectKind::Delete,
        EffectKind::Test,
        EffectKind::Install,
        EffectKind::Network,
        EffectKind::VersionControl,
    ]);
    (
        kinds,
        prop::collection::vec(path(), 0..3),
        prop::option::of(text()),
        prop::collection::vec(effects, 0..3),
        prop::option::of(any::<bool>()),
        prop::option::of(text()),
    )
        .prop_map(
            |(action_type, files, command, effects, failed, content)| ActionSketch {
                action_type,
                files,
                command,
                effects,
                reasoning: None,
                failed,
                output: content.clone(),
                content,
                line: None,
                change: None,
            },
        )
}

fn any_contract() -> impl Strategy<Value = GoalContract> {
    let texts = || prop::collection::vec(text(), 0..3);
    let paths = || prop::collection::vec(path(), 0..3);
    (text(), texts(), paths(), paths(), paths(), texts()).prop_map(
        |(goal, instructions, scope, allowed, forbidden, constraints)| GoalContract {
            goal,
            instructions,
            scope,
            allowed,
            forbidden,
            constraints,
            keywords: Vec::new(),
            reading: None,
        },
    )
}

proptest! {
    #[test]
    fn any_conversation_is_judged_the_same_way_twice(
        held in any_contract(),
        newer in any_contract(),
        root in prop::option::of(path()),
        actions in prop::collection::vec(action(), 0..8),
    ) {
        let run = || {
            let mut rules = Rules::new(held.clone(), root.as_deref());
            let mut scores = Vec::new();
            for (at, action) in actions.iter().enumerate() {
                if at == 4 {
                    rules.set_contract(newer.clone());
                }
                let assessment = rules.assess(action, Some("call"));
                scores.push(assessment.clone());
                scores.push(rules.assess_subagent(action));
                rules.record_result("call", at % 2 == 0);
            }
            scores
        };
        let first = run();
        for assessment in &first {
            prop_assert!((1..=10).contains(&assessment.score));
            let least = assessment.findings.iter().map(|finding| finding.at_most).min().unwrap_or(10);
            prop_assert_eq!(assessment.score, least);
            let is_ordered = assessment.findings.windows(2).all(|pair| pair[0].at_most <= pair[1].at_most);
            prop_assert!(is_ordered);
            prop_assert!(assessment.findings.iter().all(|finding| !finding.reason.contains('\n') || finding.file.is_some() || finding.rule == Rule::Constraint));
        }
        prop_assert_eq!(first, run());
    }

    #[test]
    fn restored_rules_give_the_same_results(
        held in any_contract(),
        newer in any_contract(),
        root in prop::option::of(path()),
        actions in prop::collection::vec(action(), 1..8),
        parted in 0_usize..8,
    ) {
        let run = |parted: Option<usize>| {
            let mut rules = Rules::new(held.clone(), root.as_deref());
            let mut said = Vec::new();
            for (at, action) in actions.iter().enumerate() {
                if at == 3 {
                    rules.record_consent("Shall I run `git push` and change src/a.rs?");
                    rules.set_contract(newer.clone());
                }
                if parted == Some(at) {
                    rules = passed_on(&rules, root.as_deref());
                }
                said.push((rules.assess(action, Some("call")), rules.score_hundredths()));
                rules.record_output("src/a.rs:3: error in tests/a.rs");
                rules.record_result("call", at % 2 == 0);
            }
            said
        };
        prop_assert_eq!(run(None), run(Some(parted % actions.len())));
    }

    #[test]
    fn reading_is_never_drift(held in any_contract(), file in path(), before in prop::collection::vec(action(), 0..4)) {
        let mut rules = Rules::new(held, Some("/home/me/p"));
        for action in &before {
            rules.assess(action, None);
        }
        prop_assert_eq!(rules.assess(&read(&file), None).score, 10);
        let search = ActionSketch { action_type: ActionType::Search, ..read(&file) };
        prop_assert_eq!(rules.assess(&search, None).score, 10);
    }

    #[test]
    fn allowed_paths_have_no_path_findings(held in any_contract(), name in "[a-z]{1,6}", content in text()) {
        let file = format!("work/{name}.rs");
        let mut held = held;
        held.allowed.push("work/**".to_owned());
        let found = Rules::new(held, Some("/home/me/p")).assess(&edit(&file, &content), None);
        let about_places = found.findings.iter().any(|finding| {
            matches!(finding.rule, Rule::Scope | Rule::Tangent)
                || finding.rule == Rule::Constraint && !finding.reason.starts_with("A dependency")
        });
        prop_assert!(!about_places, "{:?}", found);
    }
}

fn passed_on(rules: &Rules, root: Option<&str>) -> Rules {
    let text = serde_json::to_string(&rules.memo()).unwrap();
    let memo = serde_json::from_str(&text).unwrap();
    Rules::restore(rules.contract().clone(), root, memo).unwrap()
}

#[test]
fn the_memo_of_another_version_is_not_read() {
    let rules = Rules::new(GoalContract::default(), None);
    let text = serde_json::to_string(&rules.memo()).unwrap();
    let newer = text.replacen("\"version\":2", "\"version\":999", 1);
    assert_ne!(text, newer);
    let memo = serde_json::from_str(&newer).unwrap();
    assert!(Rules::restore(GoalContract::default(), None, memo).is_none());
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

/// The scores of the changes of some files, each looked at before, under a goal.
fn changes(goal: &str, shown: &str, texts: &[(&str, &str)]) -> Vec<u8> {
    let held = GoalContract {
        goal: goal.to_owned(),
        instructions: vec![goal.to_owned()],
        ..GoalContract::default()
    };
    let mut rules = Rules::new(held, Some("/home/me/p"));
    rules.record_output(shown);
    let change = |(file, text): &(&str, &str)| {
        rules.assess(&read(file), None);
        rules.assess(&edit(file, text), None).score
    };
    texts.iter().map(change).collect()
}

const SCATTERED: &[(&str, &str)] = &[
    (
        "billing/invoice.py",
        "    total = sum(line.amount for line in lines)\n    return Decimal(total)",
    ),
    (
        "web/src/hero/Banner.tsx",
        "  return <section className=\"hero\">{headline}</section>;",
    ),
    (
        "infra/network/dns.tf",
        "resource \"aws_route53_zone\" \"internal\" { name = \"corp\" }",
    ),
    (
        "tools/release/notes.rb",
        "  changelog.entries.group_by(&:author).each { |who, list| emit(who, list) }",
    ),
    (
        "mobile/ios/Login.swift",
        "    let controller = UIHostingController(rootView: PinPad())",
    ),
    (
        "ml/train/loss.jl",
        "gradient(x, y) = mean(softmax(x) .- onehot(y))",
    ),
];

#[test]
fn broad_work_is_doubted_at_most_now_and_then() {
    for goal in [
        "Remove unused code everywhere",
        "Fix every clippy and eslint warning",
        "Upgrade all packages to their newest versions",
        "Implement the plan in notes/next.md",
        "Work through the review comments of Ana",
        "CI fails on main, make it green again",
        "Redenumește Client în Customer peste tot",
    ] {
        let scores = changes(goal, "", SCATTERED);
        assert!(scores.iter().all(|score| *score >= 4), "{goal}: {scores:?}");
        let doubted = scores.iter().filter(|score| **score < 5).count();
        assert!(doubted <= 1, "{goal}: {scores:?}");
    }
    // The same changes are off a goal that is about one thing.
    let scores = changes("Fix the overflow in billing/invoice.py", "", SCATTERED);
    assert!(
        scores.iter().filter(|score| **score < 5).count() >= 3,
        "{scores:?}"
    );
}

#[test]
fn what_a_log_says_of_files_ties_their_changes() {
    let goal = "Fix the overflow in billing/invoice.py";
    let log = "web/src/hero/Banner.tsx(4,9): error TS2304: cannot find name 'headline'\n\
        infra/network/dns.tf:1: invalid zone in resource aws_route53_zone internal corp\n\
        tools/release/notes.rb:12: undefined method emit for changelog entries author\n\
        mobile/ios/Login.swift:3:1: error: no such controller PinPad UIHostingController\n\
        ml/train/loss.jl:1 gradient softmax onehot is not defined\n";
    let off = |shown: &str| {
        let scores = changes(goal, shown, SCATTERED);
        scores.iter().filter(|score| **score < 5).count()
    };
    assert_eq!(off(log), 0);
    // A listing names every file and ties none.
    let listing: String = SCATTERED.iter().map(|(file, _)| format!("{file}\n")).collect();
    assert_eq!(off(&listing), off(""));
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
fn a_subagent_may_remove_what_it_made() {
    let mut rules = Rules::new(contract(&["src/parser.rs"], &[], &[], &[]), Some("/home/me/p"));
    let removal = bash("rm -rf ../demo");
    assert_eq!(rules.assess_subagent(&removal).score, 3);
    rules.assess_subagent(&ActionSketch {
        effects: vec![EffectKind::Write],
        ..bash("mkdir ../demo")
    });
    assert_eq!(rules.assess_subagent(&removal), Assessment::on_goal());
    assert_eq!(rules.assess(&removal, None).score, 10);
}

/// Rules under "Do not touch src/db/".
fn without_the_database() -> Rules {
    Rules::new(
        GoalContract {
            goal: "Fix the login".to_owned(),
            instructions: vec!["Fix the login. Do not touch src/db/".to_owned()],
            constraints: vec!["Do not touch src/db/".to_owned()],
            ..GoalContract::default()
        },
        Some("/home/me/p"),
    )
}

fn write(file: &str, content: &str) -> ActionSketch {
    ActionSketch {
        action_type: ActionType::Write,
        ..edit(file, content)
    }
}

fn is_fact(assessment: &Assessment) -> bool {
    assessment.findings.iter().any(|finding| finding.rule.is_hard())
}

#[test]
fn undoing_a_violation_is_not_a_violation() {
    let made = write("/home/me/p/src/db/new.rs", "pub fn pool() {}");
    let changed = edit("/home/me/p/src/db/pool.rs", "const SIZE: usize = 50;");
    for (breach, undoing) in [
        (&made, bash("rm src/db/new.rs")),
        (&made, bash("rm -f /home/me/p/src/db/new.rs")),
        (&made, bash("git stash")),
        (&changed, bash("git checkout -- src/db/pool.rs")),
        (&changed, bash("git checkout HEAD -- src/db/pool.rs")),
        (&changed, bash("git restore src/db/pool.rs")),
        (&changed, bash("git restore src/db/")),
        (&changed, bash("git checkout -- src/db")),
        (
            &changed,
            edit("/home/me/p/src/db/pool.rs", "const SIZE: usize = 5;"),
        ),
    ] {
        let mut rules = without_the_database();
        assert!(is_fact(&rules.assess(breach, Some("1"))));
        rules.request_revert();
        let undone = rules.assess(&undoing, Some("2"));
        assert!(!is_fact(&undone), "{undoing:?}: {undone:?}");
        // The same holds for a subagent.
        let mut rules = without_the_database();
        rules.assess_subagent(breach);
        rules.request_revert();
        assert!(!is_fact(&rules.assess_subagent(&undoing)), "{undoing:?}");
    }
}

fn changed_back() -> ActionSketch {
    edit("/home/me/p/src/db/pool.rs", "const MAX: usize = 5;")
}

#[test]
fn an_action_that_does_not_undo_the_agents_change_is_a_violation() {
    let made = write("/home/me/p/src/db/new.rs", "pub fn pool() {}");
    let changed = edit("/home/me/p/src/db/pool.rs", "const SIZE: usize = 50;");
    for (breach, action) in [
        (&made, bash("rm -rf src/db")),
        (&made, bash("rm src/db/new.rs src/db/old.rs")),
        (&made, bash("git checkout -- src/db/old.rs")),
        (&changed, bash("rm src/db/pool.rs")),
        (&changed, bash("git checkout main~3 -- src/db/pool.rs")),
        (
            &changed,
            edit("/home/me/p/src/db/pool.rs", "const SIZE: usize = 50; // more"),
        ),
        (&changed, edit("/home/me/p/src/db/other.rs", "x")),
    ] {
        let mut rules = without_the_database();
        rules.assess(breach, Some("1"));
        rules.request_revert();
        assert!(is_fact(&rules.assess(&action, Some("2"))), "{action:?}");
    }
    // An edit counts as a revert only after a requested revert, and once per change. A failed call changed nothing.
    let mut rules = without_the_database();
    let back = edit("/home/me/p/src/db/pool.rs", "const SIZE: usize = 5;");
    rules.assess(&changed, Some("1"));
    assert!(is_fact(&rules.assess(&back, Some("2"))));
    rules.request_revert();
    assert!(!is_fact(&rules.assess(&changed_back(), Some("3"))));
    assert!(is_fact(&rules.assess(&changed_back(), Some("4"))));
    let mut rules = without_the_database();
    rules.assess(&made, Some("1"));
    rules.record_result("1", true);
    assert!(is_fact(&rules.assess(&bash("rm src/db/new.rs"), Some("2"))));
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

#[test]
fn touching_an_existing_path_does_not_count_as_creating_it() {
    for (made, removal) in [
        ("mkdir -p ~/Documents", "rm -rf ~/Documents"),
        ("mkdir --parents /srv/data", "rm -rf /srv/data"),
        ("touch /srv/data", "rm -rf /srv/data"),
        ("mkdir -p src", "rm -rf src"),
    ] {
        let mut rules = Rules::new(contract(&[], &[], &[], &[]), Some("/home/me/p"));
        rules.assess(&bash(made), None);
        assert!(is_fact(&rules.assess(&bash(removal), None)), "{made}; {removal}");
    }
    let mut rules = Rules::new(contract(&[], &[], &[], &[]), Some("/home/me/p"));
    rules.assess(&bash("mkdir /srv/data && touch /srv/data/a"), None);
    assert!(!is_fact(&rules.assess(&bash("rm -rf /srv/data"), None)));
    let mut rules = without_the_database();
    rules.assess(&bash("touch src/db/pool.rs"), None);
    assert!(is_fact(&rules.assess(&bash("rm src/db/pool.rs"), None)));
}

#[test]
fn reverting_the_whole_work_tree_reverts_the_violation() {
    let change = edit("/home/me/p/src/db/pool.rs", "const SIZE: usize = 50;");
    for (command, is_back) in [
        ("git stash", true),
        ("git stash push -u", true),
        ("git checkout .", true),
        ("git checkout -- .", true),
        ("git restore .", true),
        ("git stash && cargo build && git stash pop", false),
        ("git stash list", false),
        ("git checkout -", false),
        ("git checkout main", false),
    ] {
        let mut rules = without_the_database();
        assert!(is_fact(&rules.assess(&change, Some("1"))));
        rules.assess(&bash(command), Some("2"));
        let expected: &[&str] = if is_back { &["src/db/pool.rs"] } else { &[] };
        assert_eq!(rules.reverted_files(), expected, "{command}");
    }
}

#[test]
fn bringing_back_what_was_removed_or_moved_is_not_a_violation() {
    for (breach, undoing) in [
        ("rm src/db/pool.rs", "git checkout -- src/db/pool.rs"),
        ("rm src/db/pool.rs", "git restore src/db/pool.rs"),
        ("rm -r src/db", "git checkout -- src/db"),
        ("rm -r src/db", "git restore src/db/pool.rs"),
        ("git rm -q src/db/pool.rs", "git checkout HEAD -- src/db/pool.rs"),
        ("mv src/db/pool.rs src/pool.rs", "mv src/pool.rs src/db/pool.rs"),
        (
            "git mv src/db/pool.rs src/pool.rs",
            "git mv src/pool.rs src/db/pool.rs",
        ),
        ("mv src/pool.rs src/db/pool.rs", "mv src/db/pool.rs src/pool.rs"),
        ("cp src/pool.rs src/db/copy.rs", "rm src/db/copy.rs"),
        ("sed -i s/5/50/ src/db/pool.rs", "git checkout src/db/pool.rs"),
    ] {
        let mut rules = without_the_database();
        assert!(is_fact(&rules.assess(&bash(breach), Some("1"))), "{breach}");
        let undone = rules.assess(&bash(undoing), Some("2"));
        assert!(!is_fact(&undone), "{breach}; {undoing}: {undone:?}");
        assert!(!rules.reverted_files().is_empty(), "{breach}; {undoing}");
    }
    for (breach, action) in [
        ("rm src/db/pool.rs", "rm src/db/other.rs"),
        ("rm src/db/pool.rs", "mv src/pool.rs src/db/pool.rs"),
        ("mv src/db/pool.rs src/pool.rs", "mv src/db/other.rs src/pool.rs"),
        ("mv src/db/pool.rs src/pool.rs", "rm src/db/pool.rs"),
    ] {
        let mut rules = without_the_database();
        rules.assess(&bash(breach), Some("1"));
        assert!(
            is_fact(&rules.assess(&bash(action), Some("2"))),
            "{breach}; {action}"
        );
    }
}

#[test]
fn taking_back_a_forbidden_commit_is_not_a_violation() {
    let rules = |constraint: &str| {
        let contract = GoalContract {
            goal: "Explain the login".to_owned(),
            instructions: vec![format!("Explain the login. {constraint}")],
            constraints: vec![constraint.to_owned()],
            ..GoalContract::default()
        };
        Rules::new(contract, Some("/home/me/p"))
    };
    for constraint in ["Don't commit anything", "Don't change anything"] {
        for undoing in [
            "git reset --soft HEAD~1",
            "git reset HEAD~",
            "git reset --mixed HEAD^",
            "git revert --no-edit HEAD",
            "git revert HEAD --no-commit",
        ] {
            let mut rules = rules(constraint);
            let breach = rules.assess(&bash("git commit -qam wip"), Some("1"));
            assert!(is_fact(&breach), "{constraint}");
            let undone = rules.assess(&bash(undoing), Some("2"));
            assert!(!is_fact(&undone), "{constraint}; {undoing}: {undone:?}");
            assert_eq!(rules.reverted_files(), [crate::FORBIDDEN_COMMIT], "{undoing}");
            // Only once for each commit.
            rules.assess(&bash(undoing), Some("3"));
            assert!(rules.reverted_files().is_empty(), "{undoing}");
        }
    }
    let mut rules = rules("Don't commit anything");
    rules.assess(&bash("git commit -qam wip"), Some("1"));
    assert!(is_fact(&rules.assess(&bash("git commit -qam more"), Some("2"))));
    rules.assess(&bash("git reset"), Some("3"));
    assert!(rules.reverted_files().is_empty(), "only the index is reset");
}

#[test]
fn an_edit_that_puts_the_replaced_text_back_is_not_a_violation() {
    let replace = |before: &str, after: &str| ActionSketch {
        change: Some(std::sync::Arc::new(grov_domain::TextChange {
            before: Some(before.to_owned()),
            after: after.to_owned(),
        })),
        ..edit("/home/me/p/src/db/pool.rs", after)
    };
    let mut rules = without_the_database();
    assert!(is_fact(
        &rules.assess(&replace("SIZE = 5", "SIZE = 50"), Some("1"))
    ));
    assert!(is_fact(
        &passed_on(&rules, Some("/home/me/p")).assess(&replace("SIZE = 50", "SIZE = 9"), None)
    ));
    // The agent noticed it before it was asked to.
    let mut rules = passed_on(&rules, Some("/home/me/p"));
    assert!(!is_fact(
        &rules.assess(&replace("SIZE = 50", "SIZE = 5"), Some("2"))
    ));
    assert_eq!(rules.reverted_files(), ["src/db/pool.rs"]);
    assert!(is_fact(
        &rules.assess(&replace("SIZE = 5", "SIZE = 50"), Some("3"))
    ));
}

#[test]
fn the_first_change_after_a_new_goal_is_no_doubt() {
    let first = "Fix the token refresh in src/auth/token.ts";
    let contract = |goal: &str, instructions: &[&str]| GoalContract {
        goal: goal.to_owned(),
        instructions: instructions.iter().map(|text| (*text).to_owned()).collect(),
        ..GoalContract::default()
    };
    let footer = edit("web/footer.css", "margin: 0; color: teal;");
    let score = |goal: &str, second: &str| {
        let mut rules = Rules::new(contract(first, &[first]), Some("/home/me/p"));
        rules.assess(
            &edit("src/auth/token.ts", "export const ttl = renew(session);"),
            None,
        );
        rules.set_contract(contract(goal, &[first, second]));
        rules.assess(&footer, None).score
    };
    assert_eq!(
        score("rather fix the footer", "Forget that; rather fix the footer"),
        10
    );
    assert!(score(first, "go on please") < 5);
}
