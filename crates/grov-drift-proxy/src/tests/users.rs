//! The user's goals, permissions and changes are applied.

use super::bench::{GOAL, ROOT, Response, TestBed, level, session, until};
use grov_domain::{EffectKind, SessionMode};
use grov_live::UserQuestion;
use grov_session::testing::{bash, edit};

#[tokio::test(start_paused = true)]
async fn a_changed_goal_applies_at_once() {
    let bench = TestBed::new();
    bench.exchange(Response {
        prompts: &[GOAL],
        begins: true,
        ends: true,
        ..Response::default()
    });
    let (_, checked) = bench.exchange(Response {
        prompts: &["Translate docs/README.md into French"],
        actions: vec![edit(&format!("{ROOT}/docs/README.md"), "Bonjour")],
        ..Response::default()
    });
    assert_eq!(level(&checked), None);
    assert_eq!(bench.state().mode, SessionMode::Normal);
    let contract = bench
        .drift
        .shared
        .slot(&session())
        .session()
        .engine
        .contract()
        .clone();
    assert_eq!(contract.goal, "Translate docs/README.md into French");
}

#[tokio::test(start_paused = true)]
async fn a_yes_permits_the_requested_action() {
    for (prompt, is_asked_for) in [("yes", true), ("no", false)] {
        let bench = TestBed::new();
        bench.exchange(Response {
            prompts: &[GOAL],
            begins: true,
            ends: true,
            answer: Some("The token refresh is fixed. Shall I publish the package to npm?"),
            ..Response::default()
        });
        let (_, checked) = bench.exchange(Response {
            prompts: &[prompt],
            actions: vec![bash("npm publish", EffectKind::Network, &[])],
            ..Response::default()
        });
        let verdict = checked.verdicts[0].clone().unwrap();
        assert_eq!(verdict.is_off_goal(), !is_asked_for, "{prompt}: {verdict:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answered_question_and_an_approved_plan_permit_their_actions() {
    let question = |plan: Option<&str>| UserQuestion {
        tool_use_id: "question".to_owned(),
        plan: plan.map(str::to_owned),
    };
    let answered = "User has answered your questions: \"Shall I publish it with npm?\"=\"Yes\".";
    let denied = "User has answered your questions: \"Shall I publish it with npm?\"=\"No\".";
    let plan = "1. Fix the refresh. 2. Publish the package to npm.";
    for (question, output, is_asked_for) in [
        (question(None), answered, true),
        (question(None), denied, false),
        (question(Some(plan)), "User has approved your plan.", true),
    ] {
        let bench = TestBed::new();
        bench.exchange(Response {
            prompts: &[GOAL],
            begins: true,
            questions: vec![question],
            ..Response::default()
        });
        let (_, checked) = bench.exchange(Response {
            answered: &["question".to_owned()],
            output: Some(output),
            actions: vec![bash("npm publish", EffectKind::Network, &[])],
            ..Response::default()
        });
        let verdict = checked.verdicts[0].clone().unwrap();
        assert_eq!(verdict.is_off_goal(), !is_asked_for, "{output}: {verdict:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_correction_is_not_delivered_with_the_prompt_that_permits_its_action() {
    let bench = TestBed::new();
    let publish = || vec![bash("npm publish", EffectKind::Network, &[])];
    bench.exchange(Response {
        prompts: &[GOAL],
        begins: true,
        actions: publish(),
        ..Response::default()
    });
    assert!(bench.state().correction.is_some());
    assert_eq!(bench.next_request("Publish it to npm as well", &[]).await, None);
    assert!(
        bench
            .next_request("Look at src/auth/token.ts again", &[])
            .await
            .is_some()
    );

    let bench = TestBed::new();
    bench.exchange(Response {
        prompts: &[GOAL],
        begins: true,
        actions: publish(),
        ..Response::default()
    });
    bench.exchange(Response {
        prompts: &["Publish it to npm as well"],
        ..Response::default()
    });
    assert_eq!(bench.state().correction, None);
    assert_eq!(bench.state().mode, SessionMode::Normal);
}

#[tokio::test(start_paused = true)]
async fn without_a_known_goal_nothing_is_judged() {
    let bench = TestBed::new();
    // A fork whose history was summarized: its goal is unknown.
    bench.exchange(Response {
        prompts: &["CI passed, go ahead"],
        ..Response::default()
    });
    let work = || {
        vec![
            bash("cargo publish", EffectKind::Network, &[]),
            edit(&format!("{ROOT}/docs/guide.md"), "A guide"),
        ]
    };
    until(|| bench.session_is_loaded()).await;
    for _ in 0..3 {
        let (_, checked) = bench.exchange(Response {
            actions: work(),
            ..Response::default()
        });
        assert!(
            checked
                .verdicts
                .iter()
                .flatten()
                .all(|verdict| !verdict.is_off_goal()),
            "{checked:?}"
        );
    }
    let (_, checked) = bench.exchange(Response {
        actions: vec![bash("rm -rf /", EffectKind::Delete, &["/"])],
        ..Response::default()
    });
    assert!(level(&checked).is_some(), "{checked:?}");
}

#[tokio::test(start_paused = true)]
async fn a_fork_is_judged_by_the_goal_in_its_history() {
    let bench = TestBed::new();
    bench.exchange(Response {
        prompts: &["continue"],
        earlier: &[GOAL, "yes", "For the token refresh do not touch db/schema.sql"],
        ..Response::default()
    });
    until(|| bench.session_is_loaded()).await;
    let contract = bench.contract();
    assert_eq!(contract.goal, GOAL);
    assert_eq!(
        contract.instructions,
        [GOAL, "For the token refresh do not touch db/schema.sql"]
    );
    let (_, checked) = bench.change("db/schema.sql", "DROP TABLE users;");
    assert!(level(&checked).is_some(), "{checked:?}");
}
