//! Beginnings that are left out of histories, and replaced results of tools.

use super::sample::{arriving, at, client, exchange, lineage, place, standing_at, task};
use grov_domain::{
    AgentId, ClearSummary, CutEffect, CutNote, HistoryCut, Lineage, LineageCuts, MemoryStore, Redacted,
    Retention, Store, Task, TaskId, TrimmedResult,
};
use grov_redact::Redactor;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A deadline that is never reached.
fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

const BLOCK: &str = "{\"text\":\"so far: \\u0000 é 修\",\"type\":\"text\"}";

fn cut(anchor: u64, seconds: i64) -> HistoryCut {
    HistoryCut {
        anchor: place(anchor),
        block: BLOCK.to_owned(),
        decided_at: at(seconds),
        applied_at: None,
        is_measured: false,
        effect: CutEffect {
            tokens_before: 180_000,
            tokens_after: 30_000,
            cost: Some(120_000),
            saving: None,
        },
    }
}

fn trim(call: &str, seconds: i64) -> TrimmedResult {
    TrimmedResult {
        tool_use_id: call.to_owned(),
        content: "\"left out\"".to_owned(),
        decided_at: at(seconds),
    }
}

async fn saved(store: &dyn Store, session: &str, cut: &HistoryCut) -> bool {
    let redacted = HistoryCut {
        anchor: cut.anchor,
        block: Redactor::shared().json(&cut.block),
        decided_at: cut.decided_at,
        applied_at: cut.applied_at,
        is_measured: cut.is_measured,
        effect: cut.effect,
    };
    store.save_cut(&lineage(session), &redacted).await.unwrap()
}

async fn trimmed(store: &dyn Store, session: &str, trims: &[TrimmedResult], until: Instant) -> bool {
    let redacted = trims.iter().map(|trim| TrimmedResult {
        tool_use_id: trim.tool_use_id.clone(),
        content: Redactor::shared().json(&trim.content),
        decided_at: trim.decided_at,
    });
    let redacted: Vec<TrimmedResult<Redacted>> = redacted.collect();
    store
        .save_trims(&lineage(session), &redacted, until)
        .await
        .unwrap()
}

async fn kept(store: &dyn Store, session: &str) -> LineageCuts {
    let mut kept = store.cuts(&lineage(session)).await.unwrap();
    kept.cuts.sort_by_key(|cut| cut.anchor);
    kept.trims
        .sort_by(|one, other| one.tool_use_id.cmp(&other.tool_use_id));
    kept
}

/// Cuts are loaded byte for byte, once for each place, and only for known lineages.
pub async fn cuts_are_loaded_as_saved(store: Arc<dyn Store>) {
    assert!(!saved(&*store, "a", &cut(1, 2)).await, "the lineage is unknown");
    assert_eq!(kept(&*store, "a").await, LineageCuts::default());
    store.adopt(&arriving("a", [], 1)).await.unwrap();
    assert!(saved(&*store, "a", &cut(1, 2)).await);
    assert!(!saved(&*store, "a", &cut(1, 3)).await);
    assert!(saved(&*store, "a", &cut(2, 4)).await);
    assert_eq!(kept(&*store, "a").await.cuts, [cut(1, 2), cut(2, 4)]);
    let subagent = Lineage {
        agent: Some(AgentId::new("x")),
        ..lineage("a")
    };
    assert_eq!(store.cuts(&subagent).await.unwrap(), LineageCuts::default());
}

/// A cut is applied once, and measured. The session shows its last clear.
pub async fn applied_cuts_are_shown(store: Arc<dyn Store>) {
    store.adopt(&arriving("a", [], 1)).await.unwrap();
    store.append(&Redacted::each(&[exchange("a", 5)])).await.unwrap();
    for (anchor, seconds) in [(1, 10), (2, 20), (3, 30)] {
        assert!(saved(&*store, "a", &cut(anchor, seconds)).await);
    }
    assert_eq!(store.clears(&[]).await.unwrap(), [], "none is applied");
    let note = async |anchor: u64, note: CutNote| {
        store.note_cut(&lineage("a"), place(anchor), note).await.unwrap();
    };
    note(1, CutNote::Applied(at(11))).await;
    note(2, CutNote::Applied(at(21))).await;
    note(2, CutNote::Applied(at(99))).await;
    note(2, CutNote::Measured(28_000)).await;
    let cuts = kept(&*store, "a").await.cuts;
    assert_eq!(cuts[1].applied_at, Some(at(21)));
    assert_eq!([0, 1].map(|place| cuts[place].is_measured), [false, true]);
    // Only a cut that was never applied is dropped.
    note(2, CutNote::Dropped).await;
    note(3, CutNote::Dropped).await;
    let anchors: Vec<_> = kept(&*store, "a")
        .await
        .cuts
        .iter()
        .map(|cut| cut.anchor)
        .collect();
    assert_eq!(anchors, [place(1), place(2)]);
    let clear = ClearSummary {
        client_session_id: client("a"),
        count: 2,
        last_clear_at: at(21),
        tokens_before: 180_000,
        tokens_after: 28_000,
        is_measured: true,
        cost_micro_usd: Some(120_000),
        saving_micro_usd: None,
    };
    assert_eq!(store.clears(&[]).await.unwrap(), std::slice::from_ref(&clear));
    assert_eq!(store.clears(&[client("b"), client("a")]).await.unwrap(), [clear]);
    assert_eq!(store.clears(&[client("b")]).await.unwrap(), []);
    let sessions = store.client_session(&client("a")).await.unwrap();
    assert_eq!(
        sessions[0].state.last_clear_at,
        Some(at(21)),
        "of the newest task"
    );
}

/// Replaced results are saved together, not after the deadline, and can be removed.
pub async fn trims_are_saved_together(store: Arc<dyn Store>) {
    let both = [trim("one", 2), trim("two", 2)];
    assert!(
        !trimmed(&*store, "a", &both, soon()).await,
        "the lineage is unknown"
    );
    store.adopt(&arriving("a", [], 1)).await.unwrap();
    assert!(!trimmed(&*store, "a", &both, Instant::now()).await);
    assert!(trimmed(&*store, "a", &both, soon()).await);
    assert!(!trimmed(&*store, "a", &[trim("three", 3), trim("two", 3)], soon()).await);
    assert_eq!(kept(&*store, "a").await.trims, both);
    let gone = ["one".to_owned(), "other".to_owned()];
    store.remove_trims(&lineage("a"), &gone).await.unwrap();
    assert_eq!(kept(&*store, "a").await.trims, [trim("two", 2)]);
}

/// A new lineage copies the applied cuts in its history, and the replaced results.
pub async fn adoption_copies_cuts_in_the_history(store: Arc<dyn Store>) {
    store.adopt(&arriving("a", [], 1)).await.unwrap();
    for (anchor, is_applied) in [(1, true), (2, false), (3, true), (9, true)] {
        assert!(saved(&*store, "a", &cut(anchor, 2)).await);
        if is_applied {
            let note = CutNote::Applied(at(3));
            store.note_cut(&lineage("a"), place(anchor), note).await.unwrap();
        }
    }
    assert!(trimmed(&*store, "a", &[trim("one", 2)], soon()).await);
    store.note_tips(&[standing_at("a", 4, 5)]).await.unwrap();
    store.adopt(&arriving("fork", [1, 2, 3, 4, 5], 6)).await.unwrap();
    let forked = kept(&*store, "fork").await;
    let anchors: Vec<_> = forked.cuts.iter().map(|cut| cut.anchor).collect();
    assert_eq!(anchors, [place(1), place(3)]);
    assert_eq!(forked.cuts[0].applied_at, Some(at(3)));
    assert_eq!(forked.trims, [trim("one", 2)]);
    store.adopt(&arriving("other", [1, 2, 3], 6)).await.unwrap();
    assert_eq!(kept(&*store, "other").await, LineageCuts::default());
}

/// A forgotten memory is in no summary of a cleared conversation, also not in a fork. The conversations stay cleared.
pub async fn forgetting_a_memory_blanks_the_summaries_of_its_session(store: Arc<dyn Store>) {
    let of_session = Task {
        client_session_id: Some(client("a")),
        ..task("m", 1)
    };
    store.save_task(&Redacted::of(&of_session)).await.unwrap();
    store.adopt(&arriving("a", [], 1)).await.unwrap();
    for (anchor, is_applied) in [(1, true), (2, false)] {
        assert!(saved(&*store, "a", &cut(anchor, 2)).await);
        if is_applied {
            let note = CutNote::Applied(at(3));
            store.note_cut(&lineage("a"), place(anchor), note).await.unwrap();
        }
    }
    store.note_tips(&[standing_at("a", 4, 5)]).await.unwrap();
    store.adopt(&arriving("fork", [1, 2, 3, 4, 5], 6)).await.unwrap();
    store.adopt(&arriving("stranger", [], 1)).await.unwrap();
    assert!(saved(&*store, "stranger", &cut(7, 2)).await);
    let ids = [TaskId::new("m")];
    let uses = store.uses(&ids).await.unwrap();
    let mut of: Vec<_> = uses.iter().map(|found| found.lineage.clone()).collect();
    of.sort_by_key(|lineage| lineage.session.to_string());
    assert_eq!(of, [lineage("a"), lineage("fork")], "the cost is stated first");
    let revision = store.revision().await.unwrap();
    MemoryStore::forget(store.as_ref(), &ids).await.unwrap();
    assert_ne!(store.revision().await.unwrap(), revision);
    for session in ["a", "fork"] {
        let cuts = kept(&*store, session).await.cuts;
        let [cut] = &cuts[..] else {
            unreachable!("{session}: {cuts:?}");
        };
        assert!(
            cut.block.contains("deleted") && !cut.block.contains("so far"),
            "{cut:?}"
        );
        assert_eq!((cut.anchor, cut.applied_at), (place(1), Some(at(3))));
    }
    assert_eq!(kept(&*store, "stranger").await.cuts, [cut(7, 2)]);
}

/// What is left out goes with its lineage.
pub async fn prune_removes_cuts(store: Arc<dyn Store>) {
    assert_eq!(store.last_request().await.unwrap(), None);
    store.adopt(&arriving("a", [], 1)).await.unwrap();
    store.note_tips(&[standing_at("a", 4, 5)]).await.unwrap();
    assert_eq!(store.last_request().await.unwrap(), Some(at(5)));
    assert!(saved(&*store, "a", &cut(1, 2)).await);
    assert!(trimmed(&*store, "a", &[trim("one", 2)], soon()).await);
    let later = at(5) + Retention::default().ledger + Duration::from_secs(1);
    store.prune(&Retention::default(), later, false).await.unwrap();
    assert_eq!(kept(&*store, "a").await, LineageCuts::default());
}
