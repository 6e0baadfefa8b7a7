//! Texts and times are loaded as saved, and secrets are redacted.

use super::sample::{
    PROJECT, at, call, client, drift, drift_log, exchange, file_reasoning, prompt, session, state, task,
};
use grov_domain::{
    Decision, Effect, EffectKind, ExchangeRecord, LlmCall, LlmCallId, MicroUsd, Redacted, Store, TaskId,
    TaskTransition,
};
use std::sync::Arc;
use time::Duration;

/// Any text is loaded as saved: Unicode, quotes, control characters and NUL, a megabyte.
pub async fn texts_survive(store: Arc<dyn Store>) {
    let odd = [
        "Grüße, 世界 👩‍👩‍👧 e\u{301} \u{202e}reversed\u{202c} \u{feff}".to_owned(),
        "'; DROP TABLE steps; -- \"quoted\" %s ? ?1 :x @y $z \\ \\u0000".to_owned(),
        "nul \0 inside, bell \u{7}, escape \u{1b}[31m, lone return \r, tab \t, newline \n.".to_owned(),
        "\0".to_owned(),
        String::new(),
        "Lörem ipsum dolor. ".repeat(1 << 13),
    ];
    for (seconds, text) in (0..).zip(odd) {
        let mut record = exchange("a", seconds);
        record.prompts = vec![prompt(&text)];
        record.steps.truncate(1);
        let step = &mut record.steps[0];
        step.reasoning = Some(text.clone());
        step.keywords = vec![text.clone(), "plain".to_owned()];
        step.action.tool = text.clone();
        step.action.files = vec![text.clone(), "/plain".to_owned()];
        step.action.folders = vec![text.clone()];
        step.action.command = Some(text.clone());
        step.action.effects = vec![Effect {
            kind: EffectKind::Write,
            paths: vec![text.clone()],
        }];
        store.append(&[Redacted::of(&record)]).await.unwrap();
        let row = store.steps(&session("a")).await.unwrap().pop().unwrap();
        let action = &record.steps[0].action;
        assert_eq!(
            (&row.reasoning, &row.command),
            (&Some(text.clone()), &Some(text.clone()))
        );
        assert_eq!((&row.tool, &row.keywords), (&text, &record.steps[0].keywords));
        assert_eq!(
            (&row.files, &row.folders, &row.effects),
            (&action.files, &action.folders, &action.effects)
        );
        assert_eq!(
            store
                .steps_reasoning_by_path(PROJECT, &text, 1)
                .await
                .unwrap()
                .len(),
            1,
            "{text:.40?}"
        );

        let mut saved = task(&format!("t{seconds}"), seconds);
        saved.original_query = text.clone();
        saved.goal = Some(text.clone());
        saved.reasoning_trace = vec![text.clone()];
        saved.decisions = vec![Decision {
            choice: text.clone(),
            reason: text.clone(),
        }];
        store.save_task(&Redacted::of(&saved)).await.unwrap();
        assert_eq!(store.task(&saved.id).await.unwrap(), Some(saved));

        let mut event = drift(&format!("d{seconds}"), "a", seconds);
        event.reason = Some(text.clone());
        event.recovery_plan = vec![text.clone()];
        store.append_drift(&Redacted::of(&event)).await.unwrap();
        assert_eq!(drift_log(&store, None).await.pop(), Some(event));

        let entry = file_reasoning(&format!("f{seconds}"), &text, seconds);
        store.save_file_reasoning(&Redacted::of(&entry)).await.unwrap();
        assert_eq!(store.file_reasoning(PROJECT, &text, 1).await.unwrap(), [entry]);

        let mut saved = state("s", &format!("s{seconds}"), seconds);
        saved.original_goal = Some(text.clone());
        saved.constraints = vec![text.clone(), text];
        store.save_session(&Redacted::of(&saved)).await.unwrap();
        assert_eq!(
            store.session(&saved.session_id).await.unwrap().unwrap().state,
            saved
        );
    }
}

/// Times keep their milliseconds, rounded down, and sort, also before 1970.
pub async fn times_keep_their_milliseconds(store: Arc<dyn Store>) {
    let precise = at(1) + Duration::nanoseconds(123_999_999);
    let mut record = exchange("a", 1);
    record.ended_at = precise;
    record.steps[0].timestamp = precise;
    store.append(&Redacted::each(&[record])).await.unwrap();
    let steps = store.steps(&session("a")).await.unwrap();
    assert_eq!(steps[1].timestamp, at(1) + Duration::milliseconds(123));
    let summary = store.session(&session("a")).await.unwrap().unwrap();
    assert_eq!(summary.state.last_update, at(1) + Duration::milliseconds(123));
    assert_eq!(summary.last_action.unwrap().id, steps[1].id);

    let ancient = time::OffsetDateTime::UNIX_EPOCH - Duration::milliseconds(1500);
    let saved = grov_domain::Task {
        created_at: ancient + Duration::microseconds(900),
        ..task("ancient", 0)
    };
    store.save_task(&Redacted::of(&saved)).await.unwrap();
    store.save_task(&Redacted::of(&task("today", 0))).await.unwrap();
    let tasks = store.tasks_for_project(PROJECT, 10).await.unwrap();
    assert_eq!((tasks[0].id.as_str(), tasks[1].created_at), ("today", ancient));
}

/// Assembled here, so that scanners do not report this file.
fn secret() -> String {
    format!("ghp_{}", "a1B2c3D4e5F6".repeat(3))
}

fn leaky(text: &str) -> String {
    format!("{text} {} {text}", secret())
}

const COMMIT: &str = "1f0c4a8f3b2d9e6a7c5b4d3e2f1a0b9c8d7e6f5a";

/// A record with a secret in every free text.
fn leaky_exchange() -> ExchangeRecord {
    let mut record = exchange("a", 1);
    record.prompts = vec![
        prompt(&leaky("use this token")),
        prompt("<private>my own words</private>"),
    ];
    for step in &mut record.steps {
        step.reasoning = Some(leaky("I use"));
        step.keywords.push(secret());
        step.action.command = Some(leaky(&format!("git show {COMMIT} -H")));
        step.action.files = vec![format!("/src/{}.rs", secret())];
        step.action.folders = vec![format!("/src/{}", secret())];
        step.action.effects = vec![Effect {
            kind: EffectKind::Read,
            paths: vec![leaky("/src")],
        }];
    }
    record
}

/// Secrets in free text are redacted; identifiers and commits are not.
pub async fn secrets_are_redacted(store: Arc<dyn Store>) {
    let record = leaky_exchange();
    store.append(&[Redacted::of(&record)]).await.unwrap();
    let mut saved = task("t", 1);
    saved.original_query = leaky("query");
    saved.goal = Some(leaky("goal"));
    saved.reasoning_trace.push(leaky("trace"));
    saved.files_touched.push(leaky("/file"));
    saved.decisions = vec![Decision {
        choice: leaky("choice"),
        reason: leaky("reason"),
    }];
    saved.constraints.push(leaky("constraint"));
    saved.tags.push(secret());
    store.save_task(&Redacted::of(&saved)).await.unwrap();
    let mut event = drift("d", "a", 1);
    event.files.push(leaky("/file"));
    event.reason = Some(leaky("reason"));
    event.correction_given = Some(leaky("correction"));
    event.recovery_plan.push(leaky("step"));
    store.append_drift(&Redacted::of(&event)).await.unwrap();
    let mut entry = file_reasoning("f", &leaky("/file"), 1);
    entry.reasoning = leaky("reasoning");
    entry.anchor = Some(leaky("fn"));
    store.save_file_reasoning(&Redacted::of(&entry)).await.unwrap();
    let mut kept = state("b", "b", 1);
    kept.original_goal = Some(leaky("goal"));
    kept.user_id = Some(leaky("user"));
    kept.working_directory = Some(leaky("/work"));
    kept.expected_scope.push(leaky("/file"));
    kept.constraints.push(leaky("constraint"));
    kept.keywords.push(secret());
    store.save_session(&Redacted::of(&kept)).await.unwrap();
    let (mut moved, mut ended) = (state("d", "d", 1), task("t2", 1));
    moved.working_directory = Some(leaky("/work"));
    moved.constraints.push(leaky("constraint"));
    ended.goal = Some(leaky("goal"));
    ended.decisions[0].reason = leaky("reason");
    let transition = TaskTransition {
        sessions: vec![moved],
        finished: vec![ended],
        ..TaskTransition::default()
    };
    store.apply(&Redacted::of(&transition)).await.unwrap();
    let mut call = call("l", 1);
    call.provider = leaky("provider");
    call.model = leaky("model");
    let budget = MicroUsd(1_000_000);
    store.reserve(&Redacted::of(&call), budget, at(0)).await.unwrap();
    store
        .settle(&Redacted::of(&LlmCall {
            id: LlmCallId::new("l2"),
            ..call
        }))
        .await
        .unwrap();

    let everything = format!(
        "{:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
        store.calls(&Default::default()).await.unwrap(),
        store.prompts(&session("a"), None).await.unwrap(),
        store.task(&TaskId::new("t2")).await.unwrap(),
        store.sessions(&Default::default()).await.unwrap(),
        store.client_steps(&client("a")).await.unwrap(),
        store.task(&TaskId::new("t")).await.unwrap(),
        drift_log(&store, None).await,
        store.file_reasoning(PROJECT, "/file", 10).await.unwrap(),
    );
    assert!(!everything.contains(&secret()), "{everything}");
    assert!(!everything.contains("my own words"), "{everything}");

    let step = store.steps(&session("a")).await.unwrap().remove(0);
    assert_eq!(step.id, record.steps[0].id);
    assert_eq!(step.tool_use_id, record.steps[0].action.tool_use_id);
    assert!(step.command.unwrap().contains(COMMIT));
    assert!(
        step.files[0].starts_with("/src/"),
        "the rest of a path stays: {:?}",
        step.files
    );
    assert_eq!(
        store
            .task(&TaskId::new("t"))
            .await
            .unwrap()
            .unwrap()
            .linked_commit
            .as_deref(),
        Some(COMMIT)
    );
}

/// Saving loaded records changes nothing, and a path with a secret is found by its original name.
pub async fn redaction_is_stable_and_keeps_lookups(store: Arc<dyn Store>) {
    let record = leaky_exchange();
    store.append(&[Redacted::of(&record)]).await.unwrap();
    let path = &record.steps[0].action.files[0];
    assert_eq!(
        store
            .steps_reasoning_by_path(PROJECT, path, 10)
            .await
            .unwrap()
            .len(),
        2
    );
    let mut saved = task("t", 1);
    saved.goal = Some(leaky("goal"));
    saved.files_touched = vec![path.clone()];
    store.save_task(&Redacted::of(&saved)).await.unwrap();
    let once = store
        .tasks_by_files(PROJECT, std::slice::from_ref(path), 10)
        .await
        .unwrap()
        .remove(0);
    store.save_task(&Redacted::of(&once)).await.unwrap();
    assert_eq!(store.task(&once.id).await.unwrap(), Some(once));
    let entry = file_reasoning("f", path, 1);
    store.save_file_reasoning(&Redacted::of(&entry)).await.unwrap();
    assert_eq!(store.file_reasoning(PROJECT, path, 10).await.unwrap().len(), 1);
}
