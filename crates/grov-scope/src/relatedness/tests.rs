//! Relatedness over whole conversations.

use super::terms::{TextTerms, words};
use crate::Rules;
use crate::analyzed_action::tests::{bash, edit, read};
use grov_domain::{ActionSketch, ActionType, Assessment, GoalContract, OFF_GOAL_BELOW};
use proptest::prelude::*;
use serde::Deserialize;

mod ties;

#[derive(Deserialize)]
struct Golden {
    name: String,
    goal: String,
    #[serde(default)]
    expected_scope: Vec<String>,
    actions: Vec<GoldenAction>,
    scores: Vec<f64>,
}

#[derive(Deserialize)]
struct GoldenAction {
    r#type: String,
    files: Vec<String>,
    command: Option<String>,
    text: Option<String>,
}

fn goal(goal: &str) -> GoalContract {
    GoalContract {
        goal: goal.to_owned(),
        instructions: vec![goal.to_owned()],
        ..GoalContract::default()
    }
}

fn auth() -> GoalContract {
    goal("Fix the refresh of expired auth tokens in the session middleware")
}

/// Work on tokens, as [`auth`] asks for it.
fn auth_work() -> Vec<ActionSketch> {
    vec![
        read("src/auth/token.ts"),
        edit(
            "src/auth/token.ts",
            "export function refreshToken(session: Session) { return issueToken(session.user); }",
        ),
        edit(
            "src/auth/middleware.ts",
            "const token = await refreshToken(request.session); if (!token) return unauthorized();",
        ),
    ]
}

fn theme() -> ActionSketch {
    edit(
        "src/styles/theme.css",
        ":root { --primary: #3366ff; --radius: 8px; --shadow: 0 1px 2px rgba(0,0,0,.2); }",
    )
}

fn all(rules: &mut Rules, actions: &[ActionSketch]) -> Vec<(Assessment, u16)> {
    actions
        .iter()
        .map(|action| (rules.assess(action, None), rules.score_hundredths()))
        .collect()
}

/// What the last of some actions is found to be.
fn last(contract: GoalContract, actions: &[ActionSketch]) -> Assessment {
    let mut rules = Rules::new(contract, Some("/home/me/p"));
    all(&mut rules, actions)
        .pop()
        .map_or_else(Assessment::on_goal, |(assessment, _)| assessment)
}

fn is_off(assessment: &Assessment) -> bool {
    assessment.score < OFF_GOAL_BELOW
}

#[test]
fn scores_of_known_conversations_are_kept() {
    for line in include_str!("golden.jsonl").lines() {
        let golden: Golden = serde_json::from_str(line).unwrap();
        let contract = GoalContract {
            goal: golden.goal,
            scope: golden.expected_scope,
            ..GoalContract::default()
        };
        let mut rules = Rules::new(contract, None);
        for (place, (action, expected)) in golden.actions.iter().zip(&golden.scores).enumerate() {
            let sketch = ActionSketch {
                action_type: ActionType::from_name(&action.r#type).unwrap_or_default(),
                files: action.files.clone(),
                command: action.command.clone(),
                content: action.text.clone(),
                ..edit("", "")
            };
            rules.assess(&sketch, None);
            let score = f64::from(rules.score_hundredths()) / 100.0;
            assert!(
                (score - expected).abs() < 0.011,
                "{}, action {place}: {score}, not {expected}",
                golden.name
            );
        }
    }
}

#[test]
fn a_style_sheet_under_a_goal_about_tokens_is_off_at_its_first_edit() {
    let mut actions = auth_work();
    let on_track = last(auth(), &actions);
    assert_eq!((on_track.score, on_track.findings), (10, Vec::new()));
    actions.push(theme());
    let found = last(auth(), &actions);
    assert!((3..=4).contains(&found.score), "{found:?}");
    assert_eq!(
        found.findings[0].reason,
        "src/styles/theme.css: shares almost no words with the goal or the work so far, a folder not worked \
         in before"
    );
    actions.push(edit(
        "src/components/Button.tsx",
        "export const Button = styled.button`background: var(--primary)`",
    ));
    let next = last(auth(), &actions);
    assert!(
        next.findings[0]
            .reason
            .ends_with("; change number 2 of this kind"),
        "{next:?}"
    );
    actions.push(edit("src/auth/middleware.ts", "logger.warn(session.token)"));
    assert_eq!(last(auth(), &actions).score, 10);
}

#[test]
fn reading_has_no_findings_even_during_a_drift() {
    let mut actions = auth_work();
    actions.extend([theme(), read("src/styles/colors.css")]);
    let mut rules = Rules::new(auth(), Some("/home/me/p"));
    let (assessment, fine) = all(&mut rules, &actions).pop().unwrap();
    assert!(
        assessment.score >= 8 && assessment.findings.is_empty(),
        "{assessment:?}"
    );
    assert!(fine < 500, "it goes on with a drift: {fine}");
    let mut alone = auth_work();
    alone.push(read("src/styles/colors.css"));
    let (assessment, fine) = all(&mut Rules::new(auth(), None), &alone).pop().unwrap();
    assert!(assessment.score >= 8 && fine >= 800, "{assessment:?} {fine}");
}

#[test]
fn what_the_user_asks_for_next_is_on_the_goal_at_once() {
    let mut rules = Rules::new(auth(), Some("/home/me/p"));
    all(&mut rules, &auth_work());
    assert!(is_off(&rules.assess(&theme(), None)));
    let mut contract = auth();
    contract
        .instructions
        .push("Good. Now give the theme a darker primary color and a smaller shadow".to_owned());
    rules.set_contract(contract);
    for action in [
        theme(),
        edit(
            "src/styles/colors.css",
            "--primary-dark: #112233; --shadow-small: none;",
        ),
        edit("src/styles/dark.css", ".dark { --primary: var(--primary-dark); }"),
    ] {
        let assessment = rules.assess(&action, None);
        assert!(!is_off(&assessment), "{assessment:?}");
    }
}

#[test]
fn praise_is_no_new_task() {
    let mut rules = Rules::new(auth(), Some("/home/me/p"));
    all(&mut rules, &auth_work());
    let mut contract = auth();
    contract.instructions.push("looks good, go on".to_owned());
    rules.set_contract(contract);
    assert!(is_off(&rules.assess(&theme(), None)));
}

#[test]
fn what_is_allowed_is_on_track() {
    let mut actions = auth_work();
    actions.push(theme());
    let contract = GoalContract {
        allowed: vec!["src/styles/**".to_owned()],
        ..auth()
    };
    assert_eq!(last(contract, &actions), Assessment::on_goal());
}

#[test]
fn without_a_goal_nothing_is_unrelated() {
    let mut actions = auth_work();
    actions.push(theme());
    let mut rules = Rules::new(GoalContract::default(), None);
    for (assessment, fine) in all(&mut rules, &actions) {
        assert_eq!((assessment, fine), (Assessment::on_goal(), 1000));
    }
}

#[test]
fn what_the_goal_names_is_never_unrelated() {
    let mut actions = auth_work();
    actions.push(theme());
    assert!(!is_off(&last(
        goal("Fix the refresh of auth tokens, and the primary color in theme.css"),
        &actions
    )));
}

#[test]
fn goals_in_other_languages_do_not_raise_alarms_on_work() {
    for text in [
        "修复会话中间件中过期令牌的刷新问题",
        "Repară reîmprospătarea jetoanelor expirate din middleware-ul de sesiune",
    ] {
        let mut actions = auth_work();
        actions.push(edit(
            "src/auth/token.test.ts",
            "expect(refreshToken(expiredSession)).toBeDefined();",
        ));
        for (assessment, _) in all(&mut Rules::new(goal(text), None), &actions) {
            assert!(!is_off(&assessment), "{text}: {assessment:?}");
        }
    }
    // Comments in the language of the goal are words in common.
    assert!(
        words("令牌刷新")
            .iter()
            .any(|pair| words("修复令牌").contains(pair))
    );
    assert_eq!(words("sesiunea expiră"), words("Sesiunea EXPIRA"));
}

#[test]
fn edits_without_text_are_not_off_goal() {
    let bare = |action: &ActionSketch| ActionSketch {
        content: None,
        ..action.clone()
    };
    let mut actions: Vec<ActionSketch> = auth_work().iter().map(bare).collect();
    for file in ["src/auth/session.ts", "src/auth/cookies.ts", "src/users/store.ts"] {
        actions.push(bare(&edit(file, "")));
    }
    for (assessment, _) in all(&mut Rules::new(auth(), None), &actions) {
        assert!(!is_off(&assessment), "{assessment:?}");
    }
}

#[test]
fn paths_outside_the_project_and_temporary_files_are_ignored() {
    let mut actions = auth_work();
    for file in [
        "/tmp/probe.css",
        "~/notes.txt",
        "/etc/hosts",
        "scratch/draft.css",
        "run.log",
    ] {
        actions.push(edit(file, ":root { --primary: #3366ff; --radius: 8px; }"));
        let mut rules = Rules::new(auth(), Some("/home/me/p"));
        let (assessment, _) = all(&mut rules, &actions).pop().unwrap();
        let is_tangent = |finding: &grov_domain::Finding| finding.rule == grov_domain::Rule::Tangent;
        assert!(
            !assessment.findings.iter().any(is_tangent),
            "{file}: {assessment:?}"
        );
        actions.pop();
    }
}

#[test]
fn absolute_and_relative_paths_are_one_file() {
    let mut actions = auth_work();
    actions.push(edit(
        "/home/me/p/src/auth/Token.ts",
        "something entirely different: zebra crossing",
    ));
    assert_eq!(last(auth(), &actions).score, 10);
}

#[test]
fn manifests_and_tests_of_the_work_are_neighbours() {
    let contract = GoalContract {
        scope: vec!["src/auth/token.ts".to_owned()],
        ..auth()
    };
    for file in ["Cargo.lock", "package.json", "tests/token.test.ts"] {
        let mut actions = auth_work();
        actions.push(edit(file, "zebra crossing with entirely different words"));
        assert!(!is_off(&last(contract.clone(), &actions)), "{file}");
    }
}

#[test]
fn a_circle_goes_on_with_small_variations() {
    let text = "export function refreshToken(session: Session) { return issueToken(session.user); }";
    let mut actions = Vec::new();
    for _ in 0..3 {
        actions.push(edit("src/auth/token.ts", text));
        actions.push(bash("npm test"));
    }
    actions.push(edit(
        "src/auth/token.ts",
        &format!("{} // and again in other words entirely", &text[..40]),
    ));
    assert!(is_off(&last(auth(), &actions)));
}

#[test]
fn words_are_parts_of_identifiers() {
    assert_eq!(
        words("HTMLParser_old fooBarBaz refreshTokens"),
        ["bar", "baz", "foo", "html", "old", "pars", "refresh", "token"]
    );
    let heard = TextTerms::of([("loadHTMLPage() my-page x", 400)]);
    assert_eq!(heard.identifiers, ["loadhtmlpage"]);
    assert_eq!(heard.names, ["loadhtmlpage", "my-page", "x"]);
}

fn any_action() -> impl Strategy<Value = ActionSketch> {
    let file = prop::sample::select(vec![
        "src/a.rs",
        "src/b.rs",
        "web/site.css",
        "docs/a.md",
        "/tmp/x",
        "a",
        "",
    ]);
    let text = prop_oneof![
        Just("fn parse_token(input: &str) -> Token"),
        Just(".button { color: red; margin: auto }"),
        Just("resource network cidr block"),
        Just("")
    ];
    (file, text, 0..4u8).prop_map(|(file, text, kind)| match kind {
        0 => read(file),
        1 => ActionSketch {
            action_type: ActionType::Bash,
            command: Some(text.to_owned()),
            ..edit(file, "")
        },
        _ => edit(file, text),
    })
}

proptest! {
    #[test]
    fn scores_do_not_depend_on_later_actions(actions in prop::collection::vec(any_action(), 1..30), cut in 0..30usize) {
        let contract = goal("Parse tokens of the input");
        let whole = all(&mut Rules::new(contract.clone(), None), &actions);
        let cut = cut.min(actions.len());
        let prefix = all(&mut Rules::new(contract, None), &actions[..cut]);
        prop_assert_eq!(&whole[..cut], &prefix[..]);
    }

    #[test]
    fn scores_keep_to_their_bounds(actions in prop::collection::vec(any_action(), 1..40)) {
        for (assessment, fine) in all(&mut Rules::new(goal("Parse tokens of the input"), None), &actions) {
            let tie = assessment.findings.iter().any(|finding| matches!(finding.rule, grov_domain::Rule::Tangent));
            prop_assert!(!tie || (assessment.score >= 2 && fine < 500));
            prop_assert!((1..=10).contains(&assessment.score) && (100..=1000).contains(&fine));
        }
    }

    #[test]
    fn any_text_is_heard(text in any::<String>()) {
        let terms = TextTerms::of([(text.as_str(), 400)]);
        prop_assert!(terms.words.is_sorted());
    }
}
