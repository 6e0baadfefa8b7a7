//! What holds for any contract and any actions.

use super::*;
use proptest::prelude::*;

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
            is_goal_newest: false,
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
