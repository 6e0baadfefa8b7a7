//! Drift across restarts, through the spool, and in stores of older versions.

use crate::support::{Home, files_with, secret};
use grov_domain::{
    ClientSessionId, Correction, CorrectionId, CorrectionLevel, DriftFilter, DriftState, DriftStore,
    ExchangeRecord, ExchangeStore, Finding, GoalEdit, GoalEditId, GoalEditKind, GoalStore, JudgedBy,
    RecoveryStep, Redacted, Rule, SessionId, SessionMode, SessionStore, StepVerdict,
};
use grov_store::contract::sample_exchange;
use grov_store::{DrainReport, drain_spool};
use sqlx::Executor;
use std::fs;
use time::OffsetDateTime;

/// A record of a session that drifted: one action off goal, one judged 7.
fn drifted(text: &str) -> ExchangeRecord {
    let mut record = sample_exchange("a", 1);
    let plan = vec![RecoveryStep {
        file: Some("src/limit.rs".to_owned()),
        action: text.to_owned(),
    }];
    for (step, score) in record.steps.iter_mut().zip([2, 7]) {
        step.verdict = Some(StepVerdict {
            score,
            by: JudgedBy::Rules,
            findings: vec![Finding::new(Rule::Constraint, score, None, text)],
            level: Some(CorrectionLevel::Intervene),
            correction: Some(text.to_owned()),
            recovery_plan: plan.clone(),
        });
    }
    let client = record.client_session_id.clone();
    record.drift = Some(DriftState {
        mode: SessionMode::Forced,
        escalation: 3,
        failed_recoveries: 3,
        correction: Some(Correction {
            id: CorrectionId::new("c"),
            client_session_id: client.clone(),
            session_id: record.session_id.clone(),
            step_id: Some(record.steps[0].id.clone()),
            tool_use_id: record.steps[0].action.tool_use_id.clone(),
            level: CorrectionLevel::Forced,
            score: 2,
            reason: text.to_owned(),
            text: text.to_owned(),
            recovery_plan: plan,
            made_at: record.ended_at,
            delivered_at: None,
            outcome: None,
        }),
        said: vec![u64::MAX],
        prompts: 4,
        judged_at_prompt: 3,
        ..DriftState::new(client, record.ended_at)
    });
    record
}

#[tokio::test]
async fn drift_survives_a_restart() {
    let home = Home::new();
    let store = home.open().await;
    let record = drifted("go back");
    let client = record.client_session_id.clone();
    store.append(&[Redacted::of(&record)]).await.unwrap();
    let edit = GoalEdit {
        id: GoalEditId::fresh(),
        client_session_id: client.clone(),
        kind: GoalEditKind::Set,
        text: "another goal".to_owned(),
        at: OffsetDateTime::UNIX_EPOCH,
        since_prompt: None,
    };
    store.edit_goal(&Redacted::of(&edit)).await.unwrap();
    store.close().await.unwrap();
    let store = home.open().await;
    let state = store.drift_state(&client).await.unwrap();
    assert_eq!(state, record.drift);
    assert_eq!(
        store.corrections(&client).await.unwrap(),
        [state.unwrap().correction.unwrap()]
    );
    assert_eq!(store.goal_edits(&client).await.unwrap(), [edit]);
    assert_eq!(
        store.drift_events(&DriftFilter::default()).await.unwrap().len(),
        1
    );
    let shown = store.session(&record.session_id).await.unwrap().unwrap().state;
    assert_eq!(
        (
            shown.session_mode,
            shown.escalation_count,
            shown.waiting_for_recovery
        ),
        (SessionMode::Forced, 3, false)
    );
}

#[tokio::test]
async fn drift_survives_the_spool_unchanged() {
    let (home, direct) = (Home::new(), Home::new());
    let (store, other) = (home.open().await, direct.open().await);
    let record = drifted(&format!("use {} <private>mine</private> now", secret()));
    home.spool().append(&[Redacted::of(&record)]).unwrap();
    for leak in [secret(), "mine".to_owned()] {
        assert!(files_with(home.path(), &leak).is_empty(), "{leak}");
    }
    drain_spool(&store, &home.spool()).await.unwrap();
    other.append(&[Redacted::of(&record)]).await.unwrap();
    let client = &record.client_session_id;
    let events = store.drift_events(&DriftFilter::default()).await.unwrap();
    assert_eq!(events.len(), 1);
    assert_eq!(events, other.drift_events(&DriftFilter::default()).await.unwrap());
    assert_eq!(
        store.drift_state(client).await.unwrap(),
        other.drift_state(client).await.unwrap()
    );
    assert_eq!(
        store.corrections(client).await.unwrap(),
        other.corrections(client).await.unwrap()
    );
    assert_eq!(
        store.session(&record.session_id).await.unwrap(),
        other.session(&record.session_id).await.unwrap()
    );
    assert_eq!(
        store.steps(&record.session_id).await.unwrap(),
        other.steps(&record.session_id).await.unwrap()
    );
}

/// Older versions wrote lines without drift.
#[tokio::test]
async fn spooled_line_of_an_older_version_is_read() {
    let home = Home::new();
    let store = home.open().await;
    home.spool()
        .append(&Redacted::each(&[sample_exchange("a", 1)]))
        .unwrap();
    let line = fs::read_to_string(home.spool().path()).unwrap();
    let older = line
        .replace(",\"verdict\":null", "")
        .replace(",\"drift\":null", "");
    assert_eq!(line.len() - older.len(), 2 * 15 + 13, "{line}");
    fs::write(home.spool().path(), older).unwrap();
    let report = drain_spool(&store, &home.spool()).await.unwrap();
    assert_eq!(
        report,
        DrainReport {
            drained: 1,
            rejected: 0
        }
    );
    assert_eq!(store.steps(&SessionId::new("a")).await.unwrap().len(), 2);
}

/// Events stored before the log had sessions and projects are found by both.
#[tokio::test]
async fn events_of_an_older_version_are_found() {
    let home = Home::new();
    let mut connection = crate::open::of_schema(&home, 3).await;
    connection
        .execute(
            "INSERT INTO session_states (session_id, client_session_id, project_path, start_time, last_update) \
             VALUES ('t', 'a', '/p', 1000, 2000); \
             INSERT INTO drift_log (id, session_id, timestamp) VALUES ('d', 't', 2000), ('lost', 'gone', 2000)",
        )
        .await
        .unwrap();
    drop(connection);
    let store = home.open().await;
    let find = async |filter: DriftFilter| {
        let events = store.drift_events(&filter).await.unwrap();
        events
            .into_iter()
            .map(|event| event.id.to_string())
            .collect::<Vec<_>>()
    };
    let of_project = DriftFilter {
        project_path: Some("/p".to_owned()),
        ..DriftFilter::default()
    };
    let of_session = DriftFilter {
        client_session_id: Some(ClientSessionId::new("a")),
        ..DriftFilter::default()
    };
    assert_eq!(find(of_project).await, ["d"]);
    assert_eq!(find(of_session).await, ["d"]);
    assert_eq!(find(DriftFilter::default()).await, ["d", "lost"]);
}
