//! Journals of sessions, and what a person says of findings.

use super::sample::{at, client, exchange};
use grov_domain::{
    AddedPiece, DriftEventId, ExchangeRecord, FindingMark, PromptReading, ReadLimit, ReadLimits, ReadRequest,
    Redacted, RequestChange, RequestEdits, Store, block_key,
};
use grov_redact::Redactor;
use std::sync::Arc;

/// A journal is read page by page, newest first, and has no entries of other sessions.
pub async fn a_journal_is_read_page_by_page(store: Arc<dyn Store>) {
    let edits = RequestEdits {
        original: 100,
        sent: 140,
        messages: 3,
        cached_to: Some(80),
        changes: vec![RequestChange {
            at: 50,
            message: Some(2),
            removed: 0,
            added: vec![AddedPiece::Block {
                key: block_key(b"{}"),
                bytes: 40,
            }],
        }],
        ..RequestEdits::default()
    };
    let edited = ExchangeRecord {
        edits: Some(edits.clone()),
        ..exchange("a", 2)
    };
    let records = [exchange("a", 1), edited, exchange("b", 3)];
    store.append(&Redacted::each(&records)).await.unwrap();
    let whole = store.journal(&client("a"), None, 10).await.unwrap();
    let ids: Vec<_> = whole.exchanges.iter().map(|one| one.id.clone()).collect();
    assert_eq!(ids, [records[1].id.clone(), records[0].id.clone()]);
    assert_eq!(whole.exchanges[0].edits, Some(edits));
    assert_eq!(whole.exchanges[1].edits, None);
    assert_eq!(
        whole.steps.len(),
        records[..2].iter().map(|one| one.steps.len()).sum::<usize>()
    );
    assert!(
        whole
            .steps
            .is_sorted_by(|one, other| one.timestamp >= other.timestamp)
    );
    for one in &whole.exchanges {
        let found = store.exchange(&client("a"), &one.id).await.unwrap();
        assert_eq!(found.as_ref(), Some(one));
        assert_eq!(store.exchange(&client("b"), &one.id).await.unwrap(), None);
    }
    let newest = store.journal(&client("a"), None, 1).await.unwrap();
    assert_eq!(newest.exchanges, whole.exchanges[..1]);
    let older = store
        .journal(&client("a"), Some(records[1].started_at), 10)
        .await
        .unwrap();
    assert_eq!(older.exchanges, whole.exchanges[1..]);
    let none = store.journal(&client("nobody"), Some(at(9)), 10).await.unwrap();
    assert_eq!(none, Default::default());
}

/// A request that reads less from the prompt cache than the one before it had there is found, and no other.
pub async fn a_drop_of_the_prompt_cache_is_found(store: Arc<dyn Store>) {
    let with = |session: &str, seconds, read, written| {
        let mut record = exchange(session, seconds);
        record.usage.cache_read = read;
        record.usage.cache_creation = written;
        record
    };
    let records = [
        with("a", 1, 0, 5_000),
        with("a", 2, 5_000, 100),
        with("b", 3, 0, 10),
        with("a", 4, 0, 5_200),
        with("a", 5, 5_200, 50),
    ];
    store.append(&Redacted::each(&records)).await.unwrap();
    let drops = store.cache_drops(None, 1_000, 10).await.unwrap();
    assert_eq!(drops.len(), 1, "{drops:?}");
    let found = &drops[0];
    assert_eq!(
        (&found.exchange.id, &found.client_session_id),
        (&records[3].id, &client("a"))
    );
    assert_eq!(
        (found.before_cached, found.before_started_at),
        (5_100, records[1].started_at)
    );
    assert_eq!(store.cache_drops(None, 5_101, 10).await.unwrap(), []);
    // Without the requests before it, nothing is known of the cache.
    assert_eq!(
        store
            .cache_drops(Some(records[3].started_at), 1_000, 10)
            .await
            .unwrap(),
        []
    );
}

/// The newest sessions are those with the newest activity.
pub async fn newest_sessions_are_listed_first(store: Arc<dyn Store>) {
    assert_eq!(store.newest_sessions(5).await.unwrap(), []);
    let records = [
        exchange("a", 1),
        exchange("b", 2),
        exchange("c", 3),
        exchange("a", 4),
    ];
    store.append(&Redacted::each(&records)).await.unwrap();
    let newest = store.newest_sessions(2).await.unwrap();
    let ids: Vec<_> = newest.iter().map(|(id, _)| id.clone()).collect();
    assert_eq!(ids, [client("a"), client("c")]);
    assert!(newest[0].1 > newest[1].1);
}

/// A mark replaces the earlier one of its event, and can be removed.
pub async fn findings_are_marked_and_unmarked(store: Arc<dyn Store>) {
    let mark = |event: &str, is_right| FindingMark {
        event_id: DriftEventId::new(event),
        rule: "scope".to_owned(),
        is_right,
        at: at(1),
    };
    for one in [mark("e1", true), mark("e2", true), mark("e1", false)] {
        store.mark_finding(&one).await.unwrap();
    }
    let mut marks = store.finding_marks().await.unwrap();
    marks.sort_by(|one, other| one.event_id.cmp(&other.event_id));
    assert_eq!(marks, [mark("e1", false), mark("e2", true)]);
    store.unmark_finding(&DriftEventId::new("e2")).await.unwrap();
    store.unmark_finding(&DriftEventId::new("unknown")).await.unwrap();
    assert_eq!(store.finding_marks().await.unwrap(), [mark("e1", false)]);
}

/// Limits that a model read replace the earlier ones of their session, hold no secret, and are deleted when they are old.
pub async fn limits_of_a_session_are_replaced(store: Arc<dyn Store>) {
    let read = |words: &str| ReadLimits {
        client_session_id: client("a"),
        read_to: words.to_owned(),
        reading: PromptReading {
            limits: vec![ReadLimit {
                words: words.to_owned(),
                commands: vec![r"\bgit push\b".to_owned()],
                ..ReadLimit::default()
            }],
            asked: vec![ReadRequest {
                words: words.to_owned(),
                ..ReadRequest::default()
            }],
        },
        read_at: at(1),
    };
    assert_eq!(store.read_limits(&client("a")).await.unwrap(), None);
    for words in ["no pushes", "no commits"] {
        let clean = Redactor::shared().clean(read(words));
        store.save_read_limits(&clean).await.unwrap();
    }
    let limits = store.read_limits(&client("a")).await.unwrap();
    assert_eq!(limits, Some(read("no commits")));
    assert_eq!(store.read_limits(&client("b")).await.unwrap(), None);
    let secret = "ghp_a1B2c3D4e5a1B2c3D4e5a1B2c3D4e5a1B2c3";
    let clean = Redactor::shared().clean(read(&format!("never print {secret}")));
    store.save_read_limits(&clean).await.unwrap();
    let limits = store.read_limits(&client("a")).await.unwrap();
    assert!(!format!("{limits:?}").contains(secret));
}
