//! What a model says, in the background.

use super::bench::{GOAL, ROOT, Response, TestBed, session, until};
use super::double::Answers;
use crate::Policy;
use grov_domain::{EffectKind, JudgedBy, SessionId};
use grov_session::testing::{bash, edit};
use std::sync::Arc;

#[tokio::test(start_paused = true)]
async fn a_judge_is_asked_every_third_prompt_and_sees_no_prose() {
    let bench = TestBed::new();
    for number in 0..6 {
        let prompt = format!("Fix the token refresh in src/auth/token{number}.ts");
        let mut action = edit(&format!("{ROOT}/src/auth/token{number}.ts"), "x");
        action.reasoning = Some("I am sure that this is right".to_owned());
        action.output = Some("ok".to_owned());
        bench.exchange(Response {
            prompts: &[&prompt],
            begins: number == 0,
            actions: vec![action],
            ..Response::default()
        });
        let asked = usize::from(number >= 2) + usize::from(number >= 5);
        until(|| bench.judge.questions().len() == asked).await;
        until(|| !bench.drift.shared.slot(&session()).session().is_judging).await;
    }
    for question in bench.judge.questions() {
        assert!(!question.actions.is_empty() && question.goal.contains("token"));
        for action in question.actions.iter().chain(&question.earlier) {
            assert_eq!((&action.reasoning, &action.output), (&None, &None));
        }
    }
    // By rules: it changed nothing.
    assert_eq!(bench.counted("judged"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_models_verdict_is_written_to_the_steps_and_spoken_of() {
    let judge = Arc::new(Answers::model(2, "The cache has nothing to do with the goal."));
    let settings = Policy {
        check_interval: 1,
        ..Policy::PER_ACTION
    };
    let bench = TestBed::with(settings, Arc::default(), judge);
    bench.exchange(Response {
        prompts: &[GOAL],
        begins: true,
        actions: vec![edit(&format!("{ROOT}/src/auth/token.ts"), "cache")],
        ..Response::default()
    });
    until(|| bench.store.judged().len() == 1).await;
    let (_, verdict) = &bench.store.judged()[0];
    assert_eq!((verdict.score, verdict.by), (2, JudgedBy::Model));
    assert!(verdict.level.is_some());
    let said = bench.next_request("", &[]).await.unwrap();
    assert!(
        said.contains("The cache has nothing to do with the goal"),
        "{said}"
    );
    assert_eq!(bench.counted("judged"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_model_words_the_demand_if_it_answers_in_time() {
    let judge = Arc::new(Answers::model(9, ""));
    let bench = TestBed::with(Policy::PER_ACTION, Arc::default(), judge);
    bench.begin(GOAL).await;
    for number in 0..3 {
        let (calls, _) = bench.change(&format!("src/components/Part{number}.tsx"), "<div/>");
        assert!(bench.next_request("", &calls).await.is_some());
    }
    bench.change("src/components/Last.tsx", "<div/>");
    until(|| {
        let correction = bench.state().correction;
        correction.is_some_and(|one| one.text.contains("Open the token file"))
    })
    .await;
}

/// A session whose first edit a model objects to when it is let.
fn objected() -> TestBed {
    let judge = Arc::new(Answers::when_let(3, "The cache is none of the goal."));
    let settings = Policy {
        check_interval: 1,
        ..Policy::PER_ACTION
    };
    let bench = TestBed::with(settings, Arc::default(), judge);
    bench.exchange(Response {
        prompts: &[GOAL],
        begins: true,
        ends: true,
        actions: vec![edit(&format!("{ROOT}/src/cache/store.ts"), "cache")],
        answer: Some("All is done."),
        ..Response::default()
    });
    bench
}

/// The turn is over, and the model answers then.
async fn objected_behind_the_end() -> TestBed {
    let bench = objected();
    bench.judge.lets();
    until(|| bench.state().correction.is_some()).await;
    bench
}

#[tokio::test(start_paused = true)]
async fn a_verdict_behind_the_end_of_a_turn_is_said_with_the_next_prompt() {
    for prompt in ["Now cover the token refresh with a test", "go on"] {
        let bench = objected_behind_the_end().await;
        let said = bench.next_request(prompt, &[]).await;
        let said = said.unwrap_or_else(|| panic!("nothing is said with {prompt}"));
        assert!(said.contains("The cache is none of the goal"), "{said}");
        // That prompt, which came before, does not overtake what was said with it, and it is said once.
        bench.clock.set(bench.clock.get() - 1);
        bench.exchange(Response {
            prompts: &[prompt],
            ..Response::default()
        });
        assert!(bench.state().correction.is_some());
        assert_eq!(bench.next_request("", &[]).await, None);
    }
}

#[tokio::test(start_paused = true)]
async fn a_verdict_behind_the_end_of_a_turn_is_not_said_when_it_is_overtaken() {
    for prompt in [
        // Something else is wanted now.
        "Translate docs/README.md into French",
        // The user has seen it.
        "The cache looks good, now cover it with a test",
    ] {
        let bench = objected_behind_the_end().await;
        assert_eq!(bench.next_request(prompt, &[]).await, None, "{prompt}");
        bench.exchange(Response {
            prompts: &[prompt],
            ..Response::default()
        });
        assert_eq!(bench.state().correction, None, "{prompt}");
        assert_eq!(bench.next_request("", &[]).await, None);
    }
    // The agent is on its goal again.
    let bench = objected_behind_the_end().await;
    let work = Response {
        prompts: &["Now cover the token refresh with a test"],
        actions: vec![edit(&format!("{ROOT}/src/auth/token.ts"), "const ttl = 60;")],
        ..Response::default()
    };
    bench.exchange(work);
    assert_eq!(bench.next_request("", &[]).await, None);
    // It comes only when the next turn is under way.
    let bench = objected();
    bench.exchange(Response {
        prompts: &["Now cover the token refresh with a test"],
        ..Response::default()
    });
    bench.judge.lets();
    until(|| bench.counted("judged") == 1).await;
    assert_eq!(bench.next_request("", &[]).await, None);
}

#[tokio::test(start_paused = true)]
async fn a_verdict_on_a_task_that_is_over_still_reaches_its_steps() {
    let bench = objected();
    // The work is another one by now, and what was done before may be saved already.
    let slot = bench.drift.shared.slot(&session());
    slot.session().task = SessionId::new("another task");
    bench.judge.lets();
    until(|| bench.store.judged().len() == 1).await;
    let (_, verdict) = bench.store.judged().remove(0);
    assert_eq!((verdict.score, verdict.by), (3, JudgedBy::Model));
    assert_eq!(bench.state().correction, None, "nobody is told of it");
}

#[tokio::test(start_paused = true)]
async fn a_suspicion_while_the_judge_is_asked_is_asked_about_next() {
    let judge = Arc::new(Answers::when_let(3, "None of the goal."));
    let bench = TestBed::with(Policy::PER_ACTION, Arc::default(), judge);
    bench.exchange(Response {
        prompts: &[GOAL],
        begins: true,
        actions: vec![edit(&format!("{ROOT}/src/auth/token.ts"), "const ttl = 60;")],
        ..Response::default()
    });
    let aside = |file: &str| {
        let zebra = "zebra quagga okapi gnu".repeat(4);
        bench.change(file, &zebra)
    };
    aside("web/zoo/zebra.css");
    until(|| bench.judge.questions().len() == 1).await;
    aside("marketing/newsletter/quagga.html");
    bench.judge.lets();
    until(|| bench.judge.questions().len() == 2).await;
    let asked = bench.judge.questions();
    assert_eq!(asked[0].actions[0].files, ["web/zoo/zebra.css"]);
    assert_eq!(asked[1].actions[0].files, ["marketing/newsletter/quagga.html"]);
    bench.judge.lets();
    // Verdicts are written down a moment later, which keeps nobody from being asked.
    until(|| !bench.drift.shared.slot(&session()).session().is_judging).await;
}

#[tokio::test(start_paused = true)]
async fn a_judge_sees_paths_from_the_project_and_what_is_written() {
    let judge = Arc::new(Answers::model(9, ""));
    let settings = Policy {
        check_interval: 1,
        ..Policy::PER_ACTION
    };
    let bench = TestBed::with(settings, Arc::default(), judge);
    let run = format!("cd {ROOT}/web && rm {ROOT}/web/old.css /home/me/application/x");
    bench.exchange(Response {
        prompts: &[GOAL],
        begins: true,
        actions: vec![
            edit(&format!("{ROOT}/src/auth/token.ts"), "const ttl = 60;"),
            bash(
                &run,
                EffectKind::Delete,
                &["/home/me/app/web/old.css", "/etc/hosts"],
            ),
        ],
        ..Response::default()
    });
    until(|| bench.judge.questions().len() == 1).await;
    let question = &bench.judge.questions()[0];
    let [written, removed] = &question.actions[..] else {
        panic!("{question:?}");
    };
    assert_eq!(written.files, ["src/auth/token.ts"]);
    assert_eq!(written.content.as_deref(), Some("const ttl = 60;"));
    assert_eq!(removed.files, ["web/old.css", "/etc/hosts"]);
    assert_eq!(
        removed.command.as_deref(),
        Some("cd web && rm web/old.css /home/me/application/x")
    );
}
