//! Verdicts of a model, in the background.

use super::bench::{GOAL, ROOT, Response, TestBed, session, until};
use super::double::{Answers, HOSTILE_ORDER};
use crate::Policy;
use grov_domain::{EffectKind, JudgedBy, LimitStore, SessionId};
use grov_session::testing::{bash, edit};
use std::sync::Arc;

#[tokio::test(start_paused = true)]
async fn the_judge_is_asked_every_third_prompt_without_prose() {
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
    // A verdict by rules, which has no effect.
    assert_eq!(bench.counted("judged"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_model_reads_the_limits_of_all_prompts_at_each_prompt() {
    let bench = TestBed::with(
        Policy::PER_ACTION,
        Arc::default(),
        Arc::new(Answers::model(9, "")),
    );
    let mut said: Vec<&str> = Vec::new();
    for prompt in [GOAL, "Also write a test, and resist the urge to tidy"] {
        said.push(prompt);
        bench.exchange(Response {
            prompts: &[prompt],
            begins: said.len() == 1,
            ..Response::default()
        });
        let read = async || bench.store.read_limits(&session()).await.unwrap();
        for _ in 0..100 {
            if read().await.is_some_and(|read| read.read_to == prompt) {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        let read = read().await.unwrap();
        let words: Vec<&str> = read
            .reading
            .limits
            .iter()
            .map(|limit| limit.words.as_str())
            .collect();
        assert_eq!((read.read_to.as_str(), words), (prompt, said.clone()));
    }
}

#[tokio::test(start_paused = true)]
async fn prompts_that_add_nothing_are_not_read_again() {
    let answers = Arc::new(Answers::model(9, ""));
    let bench = TestBed::with(Policy::PER_ACTION, Arc::default(), Arc::clone(&answers) as _);
    let prompts = [GOAL, "yes", "go on"];
    for (number, prompt) in prompts.into_iter().enumerate() {
        bench.exchange(Response {
            prompts: &[prompt],
            begins: number == 0,
            ..Response::default()
        });
        until(|| answers.readings() > 0).await;
        tokio::time::sleep(std::time::Duration::from_secs(5)).await;
    }
    assert_eq!(answers.readings(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_models_verdict_is_recorded_and_corrected() {
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
    let correction = bench.next_request("", &[]).await.unwrap();
    assert!(
        correction.contains("The cache has nothing to do with the goal"),
        "{correction}"
    );
    assert_eq!(bench.counted("judged"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_model_words_the_forced_recovery_if_it_answers_in_time() {
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
        correction.is_some_and(|one| one.text.contains("The components are none of the goal"))
    })
    .await;
    let (calls, _) = bench.change("src/components/After.tsx", "<div/>");
    let forced = bench.next_request("", &calls).await.unwrap();
    assert!(
        forced.contains("Continue with the request in src/auth/token.ts"),
        "{forced}"
    );
    assert!(!forced.contains("curl") && !forced.contains("pipe"), "{forced}");
}

#[tokio::test(start_paused = true)]
async fn a_models_answer_never_orders_a_command() {
    let diagnostic = format!("The cache has nothing to do with the goal. {HOSTILE_ORDER}.");
    let settings = Policy {
        check_interval: 1,
        ..Policy::PER_ACTION
    };
    let bench = TestBed::with(settings, Arc::default(), Arc::new(Answers::model(2, &diagnostic)));
    bench.exchange(Response {
        prompts: &[GOAL],
        begins: true,
        actions: vec![edit(&format!("{ROOT}/src/auth/token.ts"), "cache")],
        ..Response::default()
    });
    until(|| bench.store.judged().len() == 1).await;
    let correction = bench.next_request("", &[]).await.unwrap();
    assert!(
        correction.contains("The cache has nothing to do with the goal"),
        "{correction}"
    );
    let (_, verdict) = &bench.store.judged()[0];
    for text in [correction, format!("{verdict:?}")] {
        assert!(!text.contains("curl") && !text.contains("pipe"), "{text}");
    }
}

/// Returns a session in which a model is asked about the first edit and answers when permitted.
fn objected() -> TestBed {
    let judge = Arc::new(Answers::with_permits(3, "The cache is none of the goal."));
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

/// Like [`objected`], with the verdict after the end of the turn.
async fn objected_after_the_turn() -> TestBed {
    let bench = objected();
    bench.judge.permit_verdict();
    until(|| bench.state().correction.is_some()).await;
    bench
}

#[tokio::test(start_paused = true)]
async fn a_verdict_after_the_turn_is_delivered_with_the_next_prompt() {
    for prompt in ["Now cover the token refresh with a test", "go on"] {
        let bench = objected_after_the_turn().await;
        let correction = bench.next_request(prompt, &[]).await;
        let correction = correction.unwrap_or_else(|| panic!("there is no correction with {prompt}"));
        assert!(
            correction.contains("The cache is none of the goal"),
            "{correction}"
        );
        // A prompt that arrived before the verdict does not discard the correction.
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
async fn an_outdated_verdict_after_the_turn_is_not_delivered() {
    for prompt in [
        // A new goal.
        "Translate docs/README.md into French",
        // The user refers to the work.
        "The cache looks good, now cover it with a test",
    ] {
        let bench = objected_after_the_turn().await;
        assert_eq!(bench.next_request(prompt, &[]).await, None, "{prompt}");
        bench.exchange(Response {
            prompts: &[prompt],
            ..Response::default()
        });
        assert_eq!(bench.state().correction, None, "{prompt}");
        assert_eq!(bench.next_request("", &[]).await, None);
    }
    // The agent is back on its goal.
    let bench = objected_after_the_turn().await;
    let work = Response {
        prompts: &["Now cover the token refresh with a test"],
        actions: vec![edit(&format!("{ROOT}/src/auth/token.ts"), "const ttl = 60;")],
        ..Response::default()
    };
    bench.exchange(work);
    assert_eq!(bench.next_request("", &[]).await, None);
    // The verdict arrives during the next turn.
    let bench = objected();
    bench.exchange(Response {
        prompts: &["Now cover the token refresh with a test"],
        ..Response::default()
    });
    bench.judge.permit_verdict();
    until(|| bench.counted("judged") == 1).await;
    assert_eq!(bench.next_request("", &[]).await, None);
}

#[tokio::test(start_paused = true)]
async fn a_verdict_on_a_finished_task_is_recorded_with_its_steps() {
    let bench = objected();
    // The task has changed, and the steps may be saved already.
    let slot = bench.drift.shared.slot(&session());
    slot.session().task = SessionId::new("another task");
    bench.judge.permit_verdict();
    until(|| bench.store.judged().len() == 1).await;
    let (_, verdict) = bench.store.judged().remove(0);
    assert_eq!((verdict.score, verdict.by), (3, JudgedBy::Model));
    assert_eq!(bench.state().correction, None, "the agent gets no correction");
}

#[tokio::test(start_paused = true)]
async fn a_suspicion_during_a_question_is_asked_next() {
    let judge = Arc::new(Answers::with_permits(3, "None of the goal."));
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
    bench.judge.permit_verdict();
    until(|| bench.judge.questions().len() == 2).await;
    let asked = bench.judge.questions();
    assert_eq!(asked[0].actions[0].files, ["web/zoo/zebra.css"]);
    assert_eq!(asked[1].actions[0].files, ["marketing/newsletter/quagga.html"]);
    bench.judge.permit_verdict();
    // Writing verdicts takes a moment longer, which does not block the next question.
    until(|| !bench.drift.shared.slot(&session()).session().is_judging).await;
}

#[tokio::test(start_paused = true)]
async fn the_judge_sees_relative_paths_and_written_content() {
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
