//! A resumed session gets exchanges before its stored state is loaded.

use super::bench::{GOAL, ROOT, Response, TestBed, UNRELATED, level, session, until};
use super::double::{Answers, MemoryStore};
use crate::Policy;
use crate::work::{load, refresh_contract};
use grov_domain::{CorrectionOutcome, EffectKind, GoalEditKind, OFF_GOAL_BELOW, SessionMode};
use grov_live::CheckResult;
use grov_session::testing::{bash, edit};
use std::sync::Arc;

/// An unrelated goal.
const ELSEWHERE: &str = "Paint the garden shed green";
/// A file unrelated to both goals.
const FILE: &str = "left.txt";
const QUESTION: &str = "Shall I publish the package to npm?";
/// What a yes to it asks for.
const PUBLISH: &str = "publish the package to npm";

/// Returns a session with some work on its goal.
async fn worked() -> TestBed {
    let bench = TestBed::new();
    bench.begin(GOAL).await;
    for file in ["src/auth/token.ts", "src/auth/refresh.ts"] {
        bench.change(file, "const ttl = 60;");
    }
    bench
}

/// Returns a prompt and an edit.
fn turn<'a>(prompt: &'a [&'a str], file: &str) -> Response<'a> {
    Response {
        prompts: prompt,
        actions: vec![edit(&format!("{ROOT}/{file}"), "left\n")],
        earlier: &[GOAL],
        ..Response::default()
    }
}

fn is_off_goal(checked: &CheckResult) -> bool {
    checked
        .verdicts
        .iter()
        .flatten()
        .any(|verdict| verdict.is_off_goal())
}

#[tokio::test(start_paused = true)]
async fn a_new_goal_before_the_load_replaces_the_old_one() {
    let bench = worked().await;
    let later = bench.restarted();
    later.store.hold_steps();
    assert_eq!(later.next_request(ELSEWHERE, &[]).await, None);
    let (calls, checked) = later.exchange(turn(&[ELSEWHERE], FILE));
    assert_eq!(level(&checked), None);
    later.store.release_steps();
    until(|| later.session_is_loaded()).await;
    assert_eq!(later.next_request("", &calls).await, None);
    assert_eq!(
        (later.state().mode, later.state().correction),
        (SessionMode::Normal, None)
    );
    // Like a session that was loaded when the prompt arrived.
    let loaded = worked().await.restarted();
    loaded.next_request("", &[]).await;
    until(|| loaded.session_is_loaded()).await;
    let (_, checked) = loaded.exchange(turn(&[ELSEWHERE], FILE));
    assert!(!is_off_goal(&checked), "{checked:?}");
}

#[tokio::test(start_paused = true)]
async fn a_new_goal_during_the_load_replaces_the_old_one() {
    let later = worked().await.restarted().without_background();
    assert_eq!(later.next_request(ELSEWHERE, &[]).await, None);
    let slot = later.drift.shared.slot(&session());
    let (task, stored) = later.drift.shared.load_stored(&slot, &session()).await.unwrap();
    assert_eq!(slot.session().task, task);
    let loading = slot.session().engine.begin_load().merge(stored);
    later.exchange(turn(&[ELSEWHERE], FILE));
    let found = slot.session().engine.finish_load(loading).done;
    assert_eq!(found.len(), 1);
    assert!(found[0].assessment.score >= OFF_GOAL_BELOW, "{found:?}");
    assert_eq!(later.contract().newest_instruction(), ELSEWHERE);
    assert_eq!(later.contract().instructions.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn actions_before_a_prompt_are_judged_by_the_earlier_goal() {
    let later = worked().await.restarted();
    later.store.hold_steps();
    let ruled_out = ["For the token refresh do not touch db/schema.sql"];
    let (_, checked) = later.exchange(turn(&ruled_out, "db/schema.sql"));
    assert!(!is_off_goal(&checked), "{checked:?}");
    later.exchange(Response {
        prompts: &["Now change db/schema.sql for the token refresh"],
        ..Response::default()
    });
    later.store.release_steps();
    until(|| later.store.judged().len() == 1).await;
    assert!(later.store.judged()[0].1.is_off_goal());
    assert_eq!(later.next_request("", &[]).await, None);
    let (_, checked) = later.change("db/schema.sql", "CREATE TABLE tokens;");
    assert!(!is_off_goal(&checked), "{checked:?}");
}

#[tokio::test(start_paused = true)]
async fn a_pending_doubt_is_dropped_after_a_prompt() {
    let bench = worked().await;
    bench.cause_doubt();
    let (calls, checked) = bench.change(FILE, "left\n");
    assert!(level(&checked).is_some());
    let waiting = bench.state().correction.unwrap();
    let later = bench.restarted();
    // The doubt is not loaded yet.
    later.exchange(Response {
        prompts: &[ELSEWHERE],
        earlier: &[GOAL],
        ..Response::default()
    });
    until(|| later.session_is_loaded()).await;
    assert_eq!(later.next_request("", &calls).await, None);
    assert_eq!(
        (later.state().mode, later.state().prompts),
        (SessionMode::Normal, 2)
    );
    until(|| later.store.outcome(&waiting.id) == Some(CorrectionOutcome::Overtaken)).await;
}

#[tokio::test(start_paused = true)]
async fn stored_permissions_apply_to_actions_before_the_load() {
    let bench = worked().await;
    bench.edit_goal(GoalEditKind::Allow, "db/schema.sql").await;
    let typed = ["For the token refresh do not touch db/schema.sql"];
    let later = bench.restarted();
    later.store.hold_steps();
    let (calls, checked) = later.exchange(turn(&typed, "db/schema.sql"));
    assert!(!is_off_goal(&checked), "{checked:?}");
    assert_eq!(later.next_request("", &calls).await, None);
    later.store.release_steps();
    until(|| later.session_is_loaded()).await;
    assert_eq!(later.next_request("", &calls).await, None);
    assert_eq!(later.state().correction, None);
}

#[tokio::test(start_paused = true)]
async fn the_judge_is_not_asked_about_a_possibly_outdated_goal() {
    let judge = Arc::new(Answers::model(2, "It has nothing to do with the goal"));
    let settings = Policy {
        check_interval: 1,
        ..Policy::PER_ACTION
    };
    let store: Arc<MemoryStore> = Arc::default();
    let bench = TestBed::with(settings, Arc::clone(&store), Arc::clone(&judge));
    bench.begin(GOAL).await;
    until(|| !judge.questions().is_empty()).await;
    let asked = judge.questions().len();
    store.hold_steps();
    let later = TestBed::with(settings, store, Arc::clone(&judge));
    later.clock.set(bench.clock.get() + 60);
    later.exchange(turn(&[ELSEWHERE], FILE));
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    assert_eq!(judge.questions().len(), asked);
    later.store.release_steps();
    until(|| later.session_is_loaded()).await;
    later.change("shed/paint.txt", "green");
    until(|| judge.questions().len() > asked).await;
    assert_eq!(judge.questions().last().unwrap().newest_instruction, ELSEWHERE);
}

#[tokio::test(start_paused = true)]
async fn an_unknown_current_task_is_read_from_the_store() {
    let bench = worked().await;
    until(|| bench.store.state().is_some()).await;
    bench.store.begin_task(session().first_task().as_str(), GOAL);
    bench.store.begin_task("second", "Translate the manual");
    bench.exchange(Response {
        task: Some("second"),
        prompts: &["Translate docs/manual.md into French"],
        ..Response::default()
    });
    let later = bench.restarted();
    later.next_request("", &[]).await;
    until(|| later.session_is_loaded()).await;
    assert_eq!(later.contract().goal, "Translate the manual");
    // Recorded under the first task.
    later.exchange(Response {
        task_is_unknown: true,
        ..Response::default()
    });
    assert_eq!(later.contract().goal, "Translate the manual");
    assert_eq!(
        later.drift.shared.slot(&session()).session().task.as_str(),
        "second"
    );
}

#[tokio::test(start_paused = true)]
async fn if_all_tasks_are_done_the_last_one_is_read() {
    let bench = worked().await;
    until(|| bench.store.state().is_some()).await;
    bench.store.begin_task(session().first_task().as_str(), GOAL);
    bench.store.begin_task("second", "Translate the manual");
    bench.store.end_tasks();
    let later = bench.restarted();
    later.next_request("", &[]).await;
    until(|| later.session_is_loaded()).await;
    assert_eq!(later.contract().goal, "Translate the manual");
}

#[tokio::test(start_paused = true)]
async fn the_main_conversations_task_overrides_the_stored_one() {
    for (agent, task_is_unknown, task) in [
        (None, false, "session"),
        (None, true, "second"),
        (Some("agent-1"), false, "second"),
    ] {
        let bench = worked().await;
        until(|| bench.store.state().is_some()).await;
        bench.store.begin_task(session().first_task().as_str(), GOAL);
        bench.store.begin_task("second", "Translate the manual");
        let later = bench.restarted();
        later.exchange(Response {
            agent,
            task_is_unknown,
            ..Response::default()
        });
        until(|| later.session_is_loaded()).await;
        let slot = later.drift.shared.slot(&session());
        assert_eq!(slot.session().task.as_str(), task, "{agent:?} {task_is_unknown}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_ends_during_the_load_is_not_part_of_the_next_task() {
    let later = worked().await.restarted().without_background();
    let slot = later.drift.shared.slot(&session());
    let typed = ["Also fix src/auth/session.ts"];
    later.exchange(turn(&typed, "src/auth/session.ts"));
    let (task, stored) = later.drift.shared.load_stored(&slot, &session()).await.unwrap();
    assert_eq!(slot.session().task, task);
    let loading = slot.session().engine.begin_load().merge(stored);
    later.exchange(Response {
        ends: true,
        ..Response::default()
    });
    slot.session().engine.finish_load(loading);
    assert_eq!(later.contract().newest_instruction(), typed[0]);
    later.exchange(Response {
        task: Some("second"),
        prompts: &["Translate docs/manual.md into French"],
        ..Response::default()
    });
    let (task, stored) = later.drift.shared.load_stored(&slot, &session()).await.unwrap();
    assert!(refresh_contract(&slot, stored.inputs, &task));
    assert_eq!(
        later.contract().instructions,
        ["Translate docs/manual.md into French"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_task_change_during_the_load_loads_the_new_task() {
    let bench = worked().await;
    until(|| bench.store.state().is_some()).await;
    bench.store.begin_task(session().first_task().as_str(), GOAL);
    let later = bench.restarted();
    later.store.hold_steps();
    later.next_request("", &[]).await;
    until(|| later.store.has_waiting_reader()).await;
    bench.store.begin_task("second", "Paint the shed");
    let (calls, _) = later.exchange(Response {
        task: Some("second"),
        ..turn(&[ELSEWHERE], "shed/paint.txt")
    });
    later.store.release_steps();
    until(|| later.session_is_loaded()).await;
    assert_eq!(later.contract().goal, "Paint the shed");
    assert_eq!(later.contract().instructions, [ELSEWHERE]);
    assert_eq!(later.next_request("", &calls).await, None);
}

#[tokio::test(start_paused = true)]
async fn file_contents_shown_before_the_load_relate_later_actions() {
    for (output, is_off) in [(None, true), (Some("Next step: write printer/setup.xml"), false)] {
        let later = worked().await.restarted();
        later.store.hold_steps();
        let (calls, _) = later.change("src/auth/token.ts", "const ttl = 5;");
        later.exchange(Response {
            answered: &calls,
            output,
            ..Response::default()
        });
        later.store.release_steps();
        until(|| later.session_is_loaded()).await;
        let (_, checked) = later.change("printer/setup.xml", UNRELATED);
        assert_eq!(is_off_goal(&checked), is_off, "{output:?}: {checked:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_new_conversation_during_the_load_ignores_the_old_one() {
    let later = worked().await.restarted();
    later.store.hold_steps();
    later.next_request("", &[]).await;
    until(|| later.store.has_waiting_reader()).await;
    later.exchange(Response {
        begins: true,
        earlier: &[],
        ..turn(&[ELSEWHERE], FILE)
    });
    assert!(later.session_is_loaded());
    later.store.release_steps();
    later.next_request("", &[]).await;
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    assert_eq!(later.contract().goal, ELSEWHERE);
}

#[tokio::test(start_paused = true)]
async fn suspicions_about_actions_before_the_load_need_a_judge() {
    for (score, is_said) in [(9, false), (2, true)] {
        let judge = Arc::new(Answers::with_permits(score, "The shed has nothing to do with it"));
        let store: Arc<MemoryStore> = Arc::default();
        let bench = TestBed::with(Policy::PER_ACTION, store, judge);
        bench.begin(GOAL).await;
        bench.change("src/auth/token.ts", "const ttl = 60;");
        let later = bench.restarted();
        later.store.hold_steps();
        let (mut calls, _) = later.change("src/auth/refresh.ts", "const ttl = 60;");
        let (more, _) = later.exchange(Response {
            actions: vec![
                edit(&format!("{ROOT}/shed/paint.css"), "green walls everywhere"),
                edit(&format!("{ROOT}/garden/beds.sql"), "tulips roses daisies"),
            ],
            ..Response::default()
        });
        calls.extend(more);
        later.store.release_steps();
        until(|| later.session_is_loaded()).await;
        assert_eq!(later.state().correction, None);
        until(|| !later.judge.questions().is_empty()).await;
        // A restarted daemon also knows that the judge was asked.
        until(|| {
            later
                .store
                .state()
                .is_some_and(|state| state.judged_at_prompt == 1)
        })
        .await;
        later.judge.permit_verdict();
        until(|| !later.drift.shared.slot(&session()).session().is_judging).await;
        assert_eq!(later.next_request("", &calls).await.is_some(), is_said, "{score}");
    }
}

#[tokio::test(start_paused = true)]
async fn failed_actions_before_the_load_cause_no_correction() {
    for is_failed in [false, true] {
        let later = worked().await.restarted();
        later.store.hold_steps();
        let (calls, _) = later.change("src/styles/theme.css", "a {}");
        later.exchange(Response {
            answered: &calls,
            failed: if is_failed { &calls } else { &[] },
            ..Response::default()
        });
        later.store.release_steps();
        // The verdict is still recorded.
        until(|| later.store.judged().len() == 1).await;
        assert!(later.store.judged()[0].1.is_off_goal());
        assert_eq!(later.next_request("", &[]).await.is_none(), is_failed);
    }
}

#[tokio::test(start_paused = true)]
async fn results_of_calls_before_the_load_count() {
    let run = || Response {
        actions: vec![bash("npm test", EffectKind::Test, &[])],
        ..Response::default()
    };
    for is_failed in [false, true] {
        let later = worked().await.restarted();
        later.store.hold_steps();
        for _ in 0..2 {
            let (calls, _) = later.exchange(run());
            later.exchange(Response {
                answered: &calls,
                failed: if is_failed { &calls } else { &[] },
                ..Response::default()
            });
        }
        later.store.release_steps();
        until(|| later.session_is_loaded()).await;
        // A command that failed twice counts as going in circles.
        let (_, checked) = later.exchange(run());
        assert_eq!(is_off_goal(&checked), is_failed, "{checked:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_goal_only_facts_are_found_after_the_load() {
    for is_known in [false, true] {
        let bench = if is_known { worked().await } else { TestBed::new() };
        let later = bench.restarted().without_background();
        let slot = later.drift.shared.slot(&session());
        later.exchange(publish());
        let (task, stored) = later.drift.shared.load_stored(&slot, &session()).await.unwrap();
        let found = load(&slot, stored, &task).unwrap();
        assert_eq!(slot.session().engine.is_contract_complete(), is_known);
        let shared = &later.drift.shared;
        let verdicts = shared.apply_findings(&slot, &mut slot.session(), found);
        assert_eq!(verdicts.is_empty(), !is_known, "{verdicts:?}");
        assert_eq!(later.state().correction.is_some(), is_known);
    }
}

#[tokio::test(start_paused = true)]
async fn a_prompt_before_the_findings_are_applied_discards_them() {
    for is_typed in [false, true] {
        let later = worked().await.restarted().without_background();
        let slot = later.drift.shared.slot(&session());
        later.change("src/styles/theme.css", "a {}");
        let (task, stored) = later.drift.shared.load_stored(&slot, &session()).await.unwrap();
        let found = load(&slot, stored, &task).unwrap();
        later.exchange(Response {
            prompts: if is_typed { &[ELSEWHERE] } else { &[] },
            ..Response::default()
        });
        let shared = &later.drift.shared;
        let verdicts = shared.apply_findings(&slot, &mut slot.session(), found);
        assert!(verdicts[0].1.is_off_goal());
        assert_eq!(later.state().correction.is_none(), is_typed);
    }
}

/// The agent's answer ends the turn, then the user types `prompt`.
fn answers(later: &TestBed, answer: Option<&str>, prompt: &str) {
    later.exchange(Response {
        ends: true,
        answer,
        ..Response::default()
    });
    later.exchange(Response {
        prompts: &[prompt],
        ..Response::default()
    });
}

fn publish<'a>() -> Response<'a> {
    Response {
        actions: vec![bash("npm publish", EffectKind::Network, &[])],
        ..Response::default()
    }
}

#[tokio::test(start_paused = true)]
async fn a_yes_before_the_load_permits_later_actions() {
    for (answer, prompt, is_allowed) in [
        (Some(QUESTION), "yes", true),
        (Some(QUESTION), "no", false),
        // The agent did not ask.
        (None, "yes", false),
        (Some("Shall I run the tests?"), "yes", false),
    ] {
        for is_done_early in [false, true] {
            let later = worked().await.restarted();
            later.store.hold_steps();
            answers(&later, answer, prompt);
            let early = is_done_early.then(|| later.exchange(publish()));
            later.store.release_steps();
            until(|| later.session_is_loaded()).await;
            let (calls, checked) = match early {
                Some(early) => early,
                None => later.exchange(publish()),
            };
            assert!(is_allowed || is_done_early || is_off_goal(&checked), "{prompt}");
            let answer = later.next_request("", &calls).await;
            assert_eq!(answer.is_none(), is_allowed, "{prompt}: {answer:?}");
            // Also after a restart.
            let is_kept = consent(&later) == [PUBLISH];
            assert_eq!(is_kept, is_allowed, "{prompt}");
            until(|| {
                let state = later.store.state();
                state.is_some_and(|state| state.consent == later.state().consent)
            })
            .await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_yes_permits_the_same_before_and_after_the_load() {
    for is_early in [false, true] {
        let bench = worked().await;
        bench.cause_doubt();
        let (calls, _) = bench.change(FILE, "left\n");
        assert!(bench.next_request("", &calls).await.is_some());
        let made = bench.state().correction.unwrap();
        until(|| {
            bench
                .store
                .state()
                .is_some_and(|state| state.correction == Some(made.clone()))
        })
        .await;
        let later = bench.restarted();
        if is_early {
            later.store.hold_steps();
        } else {
            later.next_request("", &[]).await;
            until(|| later.session_is_loaded()).await;
        }
        answers(&later, Some("Shall I go on?"), "yes");
        later.store.release_steps();
        until(|| later.session_is_loaded()).await;
        let state = later.state();
        assert_eq!((state.mode, state.correction), (SessionMode::Normal, None));
        assert_eq!((state.prompts, state.consent.files), (2, vec![FILE.to_owned()]));
        assert_eq!(later.contract().instructions, [GOAL]);
        let (_, checked) = later.change(FILE, "left again\n");
        assert_eq!(level(&checked), None);
    }
}

#[tokio::test(start_paused = true)]
async fn a_yes_after_another_prompt_permits_nothing() {
    let later = worked().await.restarted();
    later.store.hold_steps();
    answers(&later, Some(QUESTION), "Also fix src/auth/session.ts");
    answers(&later, None, "yes");
    later.store.release_steps();
    until(|| later.session_is_loaded()).await;
    let (_, checked) = later.exchange(publish());
    assert!(is_off_goal(&checked), "{checked:?}");
}

#[tokio::test(start_paused = true)]
async fn a_yes_before_the_load_is_stored_once() {
    // The result is the same whether or not the session is known.
    for is_known in [false, true] {
        let later = worked().await.restarted();
        later.store.hold_steps();
        if is_known {
            answers(&later, None, "Also fix src/auth/session.ts");
        }
        answers(&later, Some(QUESTION), "yes");
        assert_eq!(later.state().consent.orders, [PUBLISH]);
        later.store.release_steps();
        until(|| later.session_is_loaded()).await;
        assert_eq!(consent(&later), [PUBLISH]);
        later.exchange(Response::default());
        let again = later.restarted();
        again.store.hold_steps();
        answers(&again, Some(QUESTION), "yes");
        again.store.release_steps();
        until(|| again.session_is_loaded()).await;
        assert_eq!(consent(&again), [PUBLISH]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_repeated_yes_is_stored_once_as_the_newest() {
    let other = "Shall I run the tests?";
    for is_loaded in [true, false] {
        let mut bench = worked().await;
        if !is_loaded {
            bench = bench.restarted();
            bench.store.hold_steps();
            answers(&bench, None, "Also fix src/auth/session.ts");
        }
        for answer in [QUESTION, other, QUESTION] {
            answers(&bench, Some(answer), "yes");
        }
        assert_eq!(bench.state().consent.orders, ["run the tests", PUBLISH]);
        bench.store.release_steps();
        until(|| bench.session_is_loaded()).await;
        assert_eq!(consent(&bench), ["run the tests", PUBLISH]);
    }
}

#[tokio::test(start_paused = true)]
async fn no_secret_is_stored_with_a_yes() {
    let later = worked().await.restarted();
    later.store.hold_steps();
    let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    answers(&later, Some(&format!("Shall I publish with {token}?")), "yes");
    later.store.release_steps();
    until(|| later.session_is_loaded()).await;
    let words = consent(&later).concat();
    assert!(words.contains("publish") && !words.contains(&token), "{words}");
}

/// Returns what the user consented to: stored, and as the rules use it.
fn consent(later: &TestBed) -> Vec<String> {
    let slot = later.drift.shared.slot(&session());
    let words = later.state().consent.orders;
    assert_eq!(slot.session().engine.drift().state().consent.orders, words);
    words
}
