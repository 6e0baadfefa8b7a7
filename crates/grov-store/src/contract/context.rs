//! Context windows.

use super::sample::at;
use grov_domain::{
    ClientSessionId, Compaction, ContextReading, JudgedBy, PointKind, PreparedSummary, Redacted,
    SessionPoint, Store,
};
use std::sync::Arc;

fn session() -> ClientSessionId {
    ClientSessionId::new("context")
}

fn reading(tokens: u64) -> ContextReading {
    ContextReading {
        client_session_id: session(),
        model: Some("claude-opus-4-8".to_owned()),
        tokens,
        window_tokens: 200_000,
        window_source: "request".to_owned(),
        content: Some(r#"{"by_tool":[]}"#.to_owned()),
        measured_at: at(5),
    }
}

/// The newest reading and summary of a session replace earlier ones.
pub async fn newest_context_of_a_session_is_kept(store: Arc<dyn Store>) {
    assert_eq!(store.context_reading(&session()).await.unwrap(), None);
    for tokens in [1000, 2000] {
        let reading = Redacted::of(&reading(tokens));
        store.save_context_reading(&reading).await.unwrap();
    }
    assert_eq!(
        store.context_reading(&session()).await.unwrap(),
        Some(reading(2000))
    );
    let other = ClientSessionId::new("other");
    assert_eq!(store.context_reading(&other).await.unwrap(), None);

    let summary = |prompts| PreparedSummary {
        client_session_id: session(),
        points: Some(r#"{"goal":"x"}"#.to_owned()),
        written_by: JudgedBy::Rules,
        prompts,
        made_at: at(6),
    };
    for prompts in [1, 2] {
        let summary = Redacted::of(&summary(prompts));
        store.save_prepared_summary(&summary).await.unwrap();
    }
    let found = store.prepared_summary(&session()).await.unwrap();
    assert_eq!(found, Some(summary(2)));
}

/// Compactions come newest first, and what was given back is added later.
pub async fn compactions_are_listed_newest_first(store: Arc<dyn Store>) {
    let point = |text: &str| SessionPoint {
        kind: PointKind::Constraint,
        text: text.to_owned(),
    };
    let compaction = |id: &str, seconds| Compaction {
        client_session_id: session(),
        id: id.to_owned(),
        is_compared: true,
        tokens_before: Some(170_000),
        kept: vec![],
        lost: vec![point("no new dependency")],
        restored: vec![],
        restored_at: None,
        at: at(seconds),
    };
    for (id, seconds) in [("a", 1), ("b", 9), ("c", 5)] {
        let compaction = Redacted::of(&compaction(id, seconds));
        store.save_compaction(&compaction).await.unwrap();
    }
    let restored = Compaction {
        restored: vec![point("no new dependency")],
        restored_at: Some(at(10)),
        ..compaction("b", 9)
    };
    store.save_compaction(&Redacted::of(&restored)).await.unwrap();
    let newest = store.compactions(&session(), 2).await.unwrap();
    assert_eq!(newest, [restored, compaction("c", 5)]);
    let secret = Compaction {
        lost: vec![point("use password = hunter2-hunter2-x")],
        ..compaction("d", 20)
    };
    store.save_compaction(&Redacted::of(&secret)).await.unwrap();
    let found = store.compactions(&session(), 1).await.unwrap();
    assert!(!found[0].lost[0].text.contains("hunter2"), "{found:?}");
}
