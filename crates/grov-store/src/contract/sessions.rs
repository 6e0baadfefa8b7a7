//! Sessions and steps.

use super::sample::{PROJECT, at, bash, client, edit, exchange, session, state};
use grov_domain::{
    ExchangeId, ExchangeRecord, Project, Redacted, SessionFilter, SessionMode, SessionState, SessionStatus,
    SessionSummary, Store, TaskType,
};
use std::sync::Arc;

fn ids(summaries: &[SessionSummary]) -> Vec<&str> {
    summaries
        .iter()
        .map(|summary| summary.state.session_id.as_str())
        .collect()
}

/// Sessions are returned newest first, filtered and limited.
pub async fn sessions_are_listed_newest_first(store: Arc<dyn Store>) {
    let elsewhere = Project {
        path: Some("/elsewhere".to_owned()),
        remote: None,
    };
    store
        .append(&Redacted::each(&[exchange("old", 1), exchange("new", 30)]))
        .await
        .unwrap();
    store
        .append(&Redacted::each(&[ExchangeRecord {
            project: elsewhere,
            ..exchange("middle", 20)
        }]))
        .await
        .unwrap();
    let mut done = state("done", "done", 10);
    done.status = SessionStatus::Completed;
    store.save_session(&Redacted::of(&done)).await.unwrap();

    let list = async |filter: SessionFilter| store.sessions(&filter).await.unwrap();
    let all = SessionFilter::default();
    assert_eq!(ids(&list(all.clone()).await), ["new", "middle", "done", "old"]);
    assert_eq!(
        ids(&list(SessionFilter {
            limit: Some(2),
            ..all.clone()
        })
        .await),
        ["new", "middle"]
    );
    assert_eq!(
        ids(&list(SessionFilter {
            limit: Some(0),
            ..all.clone()
        })
        .await),
        [""; 0]
    );
    let here = SessionFilter {
        project_path: Some(PROJECT.to_owned()),
        ..all.clone()
    };
    assert_eq!(ids(&list(here).await), ["new", "done", "old"]);
    let completed = SessionFilter {
        status: Some(SessionStatus::Completed),
        ..all.clone()
    };
    assert_eq!(ids(&list(completed).await), ["done"]);
    let recent = SessionFilter {
        updated_since: Some(at(20)),
        ..all.clone()
    };
    assert_eq!(ids(&list(recent).await), ["new", "middle"]);
    let idle = SessionFilter {
        updated_before: Some(at(20)),
        ..all.clone()
    };
    assert_eq!(ids(&list(idle).await), ["done", "old"]);
    let all_at_once = SessionFilter {
        project_path: Some(PROJECT.to_owned()),
        status: Some(SessionStatus::Active),
        updated_since: Some(at(2)),
        updated_before: Some(at(31)),
        limit: Some(5),
    };
    assert_eq!(ids(&list(all_at_once).await), ["new"]);

    store
        .append(&Redacted::each(&[exchange("old", 40)]))
        .await
        .unwrap();
    let summaries = list(all).await;
    assert_eq!(ids(&summaries), ["old", "new", "middle", "done"]);
    assert_eq!(summaries[0].last_action.as_ref().unwrap().timestamp, at(40));
    assert_eq!(summaries[3].last_action, None);
}

/// All tasks of a client session, oldest first.
pub async fn tasks_of_a_client_session_are_listed_oldest_first(store: Arc<dyn Store>) {
    let of_task = |task: &str, seconds| ExchangeRecord {
        id: ExchangeId::new(format!("{task}-{seconds}")),
        session_id: session(task),
        steps: Vec::new(),
        ..exchange("a", seconds)
    };
    store
        .append(&Redacted::each(&[
            of_task("second", 20),
            of_task("a", 10),
            of_task("third", 30),
            exchange("b", 1),
        ]))
        .await
        .unwrap();
    store.append(&Redacted::each(&[of_task("a", 40)])).await.unwrap();
    assert_eq!(
        ids(&store.client_session(&client("a")).await.unwrap()),
        ["a", "second", "third"]
    );
    assert_eq!(store.client_session(&client("unknown")).await.unwrap(), []);
}

/// Steps of a task or client session are returned in order of time, with all fields.
pub async fn steps_come_in_order_of_time(store: Arc<dyn Store>) {
    let late = exchange("a", 30);
    let early = exchange("a", 10);
    let mut between = exchange("a", 20);
    between.session_id = session("task-2");
    store
        .append(&Redacted::each(&[late.clone(), exchange("b", 15)]))
        .await
        .unwrap();
    store
        .append(&Redacted::each(&[between.clone(), early.clone()]))
        .await
        .unwrap();

    let steps = store.steps(&session("a")).await.unwrap();
    let expected: Vec<_> = early.steps.iter().chain(&late.steps).collect();
    assert_eq!(steps.len(), 4);
    for (row, step) in steps.iter().zip(expected) {
        assert_eq!((&row.id, row.timestamp), (&step.id, step.timestamp));
        assert_eq!(row.session_id, session("a"));
        assert_eq!(
            (&row.tool, &row.tool_use_id),
            (&step.action.tool, &step.action.tool_use_id)
        );
        assert_eq!(row.action_type, step.action.action_type);
        assert_eq!(
            (&row.files, &row.folders),
            (&step.action.files, &step.action.folders)
        );
        assert_eq!(
            (&row.command, &row.effects),
            (&step.action.command, &step.action.effects)
        );
        assert_eq!((&row.reasoning, &row.keywords), (&step.reasoning, &step.keywords));
        assert_eq!(
            (row.is_key_decision, row.is_validated),
            (step.is_key_decision, true)
        );
        assert_eq!((row.drift_score, &row.drift_type), (None, &None));
        assert_eq!((&row.correction_given, &row.correction_level), (&None, &None));
    }
    assert_eq!(steps[0].exchange_id, early.id);
    let of_client: Vec<_> = store
        .client_steps(&client("a"))
        .await
        .unwrap()
        .into_iter()
        .map(|step| step.timestamp)
        .collect();
    assert_eq!(of_client, [at(10), at(10), at(20), at(20), at(30), at(30)]);
    assert_eq!(store.steps(&session("unknown")).await.unwrap(), []);
}

/// Steps of a project that touched a file and have reasoning, newest first.
pub async fn steps_are_found_by_path(store: Arc<dyn Store>) {
    let file = "/home/dev/projects/relay/src/limit.rs";
    for seconds in [20, 10, 30] {
        store
            .append(&Redacted::each(&[exchange("a", seconds)]))
            .await
            .unwrap();
    }
    let mut silent = exchange("a", 40);
    let id = silent.id.clone();
    silent.steps = vec![
        edit(&id, 0, 40, file),
        edit(&id, 1, 40, "/other"),
        bash(&id, 2, 40),
    ];
    silent.steps[0].reasoning = None;
    silent.steps[1].action.files.push(file.to_owned());
    silent.steps[1].action.files.push(file.to_owned());
    let elsewhere = Project {
        path: Some("/elsewhere".to_owned()),
        remote: None,
    };
    let abroad = ExchangeRecord {
        project: elsewhere,
        ..exchange("b", 50)
    };
    store.append(&Redacted::each(&[silent, abroad])).await.unwrap();

    let find = async |project: &str, file: &str, limit| -> Vec<_> {
        let steps = store.steps_reasoning_by_path(project, file, limit).await.unwrap();
        steps.into_iter().map(|step| step.timestamp).collect()
    };
    assert_eq!(find(PROJECT, file, 10).await, [at(40), at(30), at(20), at(10)]);
    assert_eq!(find(PROJECT, file, 2).await, [at(40), at(30)]);
    assert_eq!(find("/elsewhere", file, 10).await, [at(50)]);
    assert!(find(PROJECT, "limit.rs", 10).await.is_empty());
    assert_eq!(find(PROJECT, "/other", 10).await, [at(40)]);
}

/// A session is loaded as saved; saving it again replaces it; recording continues to work.
pub async fn saving_a_session_keeps_its_counters(store: Arc<dyn Store>) {
    let mut saved = state("a", "a", 10);
    store.save_session(&Redacted::of(&saved)).await.unwrap();
    let summary = store.session(&session("a")).await.unwrap().unwrap();
    assert_eq!(summary.state, saved);
    assert_eq!((summary.prompts, summary.steps, summary.exchanges), (0, 0, 0));

    store.append(&Redacted::each(&[exchange("a", 20)])).await.unwrap();
    saved.parent_session_id = None;
    saved.task_type = TaskType::Parallel;
    saved.original_goal = Some("another".to_owned());
    saved.expected_scope.clear();
    saved.constraints = vec!["one".to_owned(), "two".to_owned()];
    saved.keywords.clear();
    saved.escalation_count = 0;
    saved.session_mode = SessionMode::Forced;
    saved.waiting_for_recovery = false;
    saved.last_checked_at = 9;
    saved.last_clear_at = None;
    saved.last_update = at(30);
    store.save_session(&Redacted::of(&saved)).await.unwrap();
    let summary = store.session(&session("a")).await.unwrap().unwrap();
    assert_eq!(
        (summary.steps, summary.exchanges, summary.tokens.output),
        (2, 1, 500)
    );
    assert_eq!(summary.state.token_count, 1563, "recorded, so it is not replaced");
    saved.token_count = 1563;
    // These columns belong to the drift state.
    let first = state("a", "a", 10);
    saved.escalation_count = first.escalation_count;
    saved.session_mode = first.session_mode;
    saved.waiting_for_recovery = first.waiting_for_recovery;
    saved.last_checked_at = first.last_checked_at;
    // Set when the context is cleared.
    saved.last_clear_at = first.last_clear_at;
    assert_eq!(summary.state, saved);

    saved.status = SessionStatus::Abandoned;
    store.save_session(&Redacted::of(&saved)).await.unwrap();
    let summary = store.session(&session("a")).await.unwrap().unwrap();
    assert_eq!(
        summary.state,
        SessionState {
            escalation_count: 0,
            session_mode: SessionMode::Normal,
            waiting_for_recovery: false,
            ..saved
        },
        "what is over needs no recovery"
    );
}

/// Saving a session that was read before later records does not revert them.
pub async fn saving_a_stale_session_reverts_nothing(store: Arc<dyn Store>) {
    let mut first = exchange("a", 1);
    first.project = Project::default();
    first.user = None;
    store.append(&Redacted::each(&[first])).await.unwrap();
    let stale = store.session(&session("a")).await.unwrap().unwrap().state;
    let mut second = exchange("a", 20);
    second.prompts = vec![super::sample::prompt("check it")];
    store.append(&Redacted::each(&[second])).await.unwrap();
    let before = store.session(&session("a")).await.unwrap().unwrap();

    store.save_session(&Redacted::of(&stale)).await.unwrap();
    assert_eq!(store.session(&session("a")).await.unwrap().unwrap(), before);
    assert_eq!(before.state.project_path, PROJECT);
    assert_eq!(before.state.original_goal.as_deref(), Some("check it"));
}
