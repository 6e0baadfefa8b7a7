//! Decisions about injection points, and their deletion.

use super::sample::{
    added, arriving, at, call, client, correction, drift, drift_log, exchange, file_reasoning, lineage,
    nothing, place, places, prompt, session, standing_at, state, task,
};
use grov_domain::{
    AgentId, ExchangeKind, LedgerEntry, LedgerLineage, LedgerUse, Lineage, LineageTip, MemoryStore,
    PruneReport, Redacted, Retention, SideRequest, Store, Task, TaskId,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A deadline that is never reached.
fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

fn ids(names: &[&str]) -> Vec<TaskId> {
    names.iter().map(|name| TaskId::new(*name)).collect()
}

async fn decided(store: &dyn Store, session: &str, entry: &LedgerEntry) {
    assert!(
        store
            .decide(&lineage(session), &entry.redacted(), soon())
            .await
            .unwrap()
    );
}

/// The entries of a lineage, sorted by injection point.
async fn kept(store: &dyn Store, session: &str) -> Vec<LedgerEntry> {
    let mut kept = store.lineage(&lineage(session)).await.unwrap().expect("known");
    kept.entries.sort_by_key(|entry| entry.anchor);
    kept.entries
}

/// A block is loaded byte for byte.
pub async fn ledger_is_loaded_as_decided(store: Arc<dyn Store>) {
    assert_eq!(store.lineage(&lineage("a")).await.unwrap(), None);
    assert_eq!(
        store.adopt(&arriving("a", [], 1)).await.unwrap(),
        LedgerLineage::default()
    );
    assert_eq!(
        store.lineage(&lineage("a")).await.unwrap(),
        Some(LedgerLineage::default())
    );
    let odd = LedgerEntry {
        block: Some("{ \"text\" : \"\\u0000 é 修 \\n\" }".to_owned()),
        ..added(u64::MAX, "", &["a", "b"], 3)
    };
    let entries = [nothing(0, 2), added(1, "one", &[], 2), odd];
    for entry in &entries {
        decided(&*store, "a", entry).await;
    }
    assert_eq!(kept(&*store, "a").await, sorted(&entries));
}

fn sorted(entries: &[LedgerEntry]) -> Vec<LedgerEntry> {
    let mut entries = entries.to_vec();
    entries.sort_by_key(|entry| entry.anchor);
    entries
}

/// A second decision is refused, and the first one stays.
pub async fn decision_is_stored_once(store: Arc<dyn Store>) {
    store.adopt(&arriving("a", [], 1)).await.unwrap();
    let decide = async |entry: LedgerEntry| {
        store
            .decide(&lineage("a"), &entry.redacted(), soon())
            .await
            .unwrap()
    };
    assert!(decide(added(1, "first", &["m"], 2)).await);
    assert!(!decide(added(1, "second", &["n"], 3)).await);
    assert!(!decide(added(1, "first", &["m"], 2)).await);
    assert!(!decide(nothing(1, 3)).await);
    assert!(decide(nothing(2, 3)).await);
    assert!(!decide(added(2, "late", &["m"], 4)).await);
    assert_eq!(
        kept(&*store, "a").await,
        [added(1, "first", &["m"], 2), nothing(2, 3)]
    );
    assert_eq!(store.uses(&ids(&["n"])).await.unwrap(), []);
}

/// A decision after its deadline is not stored, and can be repeated.
pub async fn decision_after_its_deadline_is_not_stored(store: Arc<dyn Store>) {
    store.adopt(&arriving("a", [], 1)).await.unwrap();
    let entry = added(1, "text", &["m"], 2);
    let past = Instant::now();
    for _ in 0..3 {
        assert!(
            !store
                .decide(&lineage("a"), &entry.redacted(), past)
                .await
                .unwrap()
        );
    }
    assert_eq!(kept(&*store, "a").await, []);
    assert_eq!(store.uses(&ids(&["m"])).await.unwrap(), []);
    decided(&*store, "a", &entry).await;
}

/// Decisions need a known lineage.
pub async fn decision_for_an_unknown_lineage_is_not_stored(store: Arc<dyn Store>) {
    let entry = added(1, "text", &["m"], 2);
    assert!(
        !store
            .decide(&lineage("a"), &entry.redacted(), soon())
            .await
            .unwrap()
    );
    assert_eq!(store.lineage(&lineage("a")).await.unwrap(), None);
    store.withdraw(&lineage("a"), &[place(1)]).await.unwrap();
    assert_eq!(store.lineage(&lineage("a")).await.unwrap(), None);
}

/// A withdrawn decision is final: nothing is injected there later, and no memory refers to it.
pub async fn withdrawn_decision_stays_withdrawn(store: Arc<dyn Store>) {
    for session in ["a", "b"] {
        store.adopt(&arriving(session, [], 1)).await.unwrap();
        for anchor in 1..=3 {
            decided(&*store, session, &added(anchor, "text", &["m", "n"], 2)).await;
        }
    }
    store.withdraw(&lineage("a"), &places([1, 3, 7])).await.unwrap();
    store.withdraw(&lineage("a"), &[]).await.unwrap();
    let left = kept(&*store, "a").await;
    let blocks: Vec<_> = left
        .iter()
        .map(|entry| (entry.anchor, entry.block.is_some(), entry.memories.len()))
        .collect();
    assert_eq!(
        blocks,
        [
            (place(1), false, 0),
            (place(2), true, 2),
            (place(3), false, 0),
            (place(7), false, 0)
        ]
    );
    for anchor in [1, 7] {
        let again = added(anchor, "again", &["m"], 9);
        assert!(
            !store
                .decide(&lineage("a"), &again.redacted(), soon())
                .await
                .unwrap()
        );
    }
    assert_eq!(kept(&*store, "a").await, left);
    assert_eq!(kept(&*store, "b").await.len(), 3);
    let uses = store.uses(&ids(&["m"])).await.unwrap();
    assert_eq!(uses.len(), 4);
}

/// A lineage with a noted tip is known, with its decisions.
pub async fn tips_make_lineages_known(store: Arc<dyn Store>) {
    store.note_tips(&[]).await.unwrap();
    let tips = [
        LineageTip {
            nothing_at: places([1, 2, 2]),
            ..standing_at("a", 5, 3)
        },
        LineageTip {
            tip: None,
            nothing_at: places([9]),
            ..standing_at("b", 0, 4)
        },
        LineageTip {
            nothing_at: places([1, 6]),
            ..standing_at("a", 7, 5)
        },
    ];
    store.note_tips(&tips).await.unwrap();
    store.note_tips(&tips).await.unwrap();
    assert_eq!(
        kept(&*store, "a").await,
        [nothing(1, 3), nothing(2, 3), nothing(6, 5)]
    );
    assert_eq!(kept(&*store, "b").await, [nothing(9, 4)]);
    // Their tips were noted, so lineages can be continued there.
    let fork = store.adopt(&arriving("fork", [1, 2, 5], 6)).await.unwrap();
    assert_eq!(fork.entries.len(), 2);
}

/// Existing and withdrawn decisions are not replaced by a late empty decision.
pub async fn empty_decision_never_replaces_a_decision(store: Arc<dyn Store>) {
    store.adopt(&arriving("a", [], 1)).await.unwrap();
    decided(&*store, "a", &added(1, "text", &["m"], 2)).await;
    decided(&*store, "a", &added(2, "text", &["m"], 2)).await;
    store.withdraw(&lineage("a"), &[place(2)]).await.unwrap();
    let tip = LineageTip {
        nothing_at: places([1, 2, 3]),
        ..standing_at("a", 5, 3)
    };
    store.note_tips(&[tip]).await.unwrap();
    assert_eq!(
        kept(&*store, "a").await,
        [added(1, "text", &["m"], 2), nothing(2, 2), nothing(3, 3)]
    );
    assert_eq!(store.uses(&ids(&["m"])).await.unwrap().len(), 1);
}

/// Edits stay disabled for a lineage, even if it was unknown before.
pub async fn disabled_edits_stay_disabled(store: Arc<dyn Store>) {
    let edits_disabled = async |name: &str| {
        let lineage = store.lineage(&lineage(name)).await.unwrap();
        lineage.is_some_and(|lineage| lineage.edits_disabled)
    };
    for (session, seconds) in [("a", 1), ("b", 2), ("c", 3)] {
        store.adopt(&arriving(session, [], seconds)).await.unwrap();
    }
    decided(&*store, "a", &added(1, "text", &[], 2)).await;
    store.disable_edits(&lineage("b")).await.unwrap();
    store.disable_edits(&lineage("a")).await.unwrap();
    store.disable_edits(&lineage("a")).await.unwrap();
    assert!(edits_disabled("a").await && edits_disabled("b").await && !edits_disabled("c").await);
    store.note_tips(&[standing_at("a", 5, 9)]).await.unwrap();
    store.adopt(&arriving("a", [1], 9)).await.unwrap();
    assert!(edits_disabled("a").await && edits_disabled("b").await && !edits_disabled("c").await);
    let edits_disabled = store.lineage(&lineage("a")).await.unwrap().unwrap();
    assert!(edits_disabled.edits_disabled);
    assert_eq!(edits_disabled.entries.len(), 1, "its decisions are kept");
    store.disable_edits(&lineage("unknown")).await.unwrap();
    assert!(
        store
            .lineage(&lineage("unknown"))
            .await
            .unwrap()
            .unwrap()
            .edits_disabled
    );
    assert!(
        store
            .adopt(&arriving("unknown", [], 9))
            .await
            .unwrap()
            .edits_disabled
    );
}

/// Lists each use of a memory with the size of its session's newest prompt.
pub async fn uses_list_the_lineages_that_quote_a_memory(store: Arc<dyn Store>) {
    let agent = Lineage {
        agent: Some(AgentId::new("x")),
        ..lineage("a")
    };
    store.adopt(&arriving("a", [], 1)).await.unwrap();
    let mut of_agent = arriving("a", [], 2);
    of_agent.lineage = agent.clone();
    store.adopt(&of_agent).await.unwrap();
    store.adopt(&arriving("unrecorded", [], 3)).await.unwrap();
    decided(&*store, "a", &added(1, "text", &["m", "n"], 4)).await;
    decided(&*store, "a", &nothing(2, 5)).await;
    decided(&*store, "unrecorded", &added(1, "text", &["n"], 6)).await;
    assert!(
        store
            .decide(&agent, &added(1, "text", &["m"], 7).redacted(), soon())
            .await
            .unwrap()
    );
    let mut records = vec![
        exchange("a", 10),
        exchange("a", 30),
        exchange("a", 40),
        exchange("a", 50),
    ];
    records[0].usage.input = 1;
    records[2].kind = ExchangeKind::Side(SideRequest::Title);
    records[2].usage.cache_read = 1_000_000;
    records[3].kind = ExchangeKind::Subagent;
    records[3].agent_id = Some(AgentId::new("x"));
    records[3].usage.cache_read = 2000;
    store.append(&Redacted::each(&records)).await.unwrap();
    let mut tip = standing_at("a", 9, 60);
    tip.model = "claude-opus-4-5".to_owned();
    store.note_tips(&[tip]).await.unwrap();

    let of = |lineage: &Lineage, model: &str, task: &str, added: i64, seen: i64, tokens| LedgerUse {
        lineage: lineage.clone(),
        model: model.to_owned(),
        task_id: TaskId::new(task),
        added_at: at(added),
        last_seen_at: at(seen),
        prompt_tokens: tokens,
    };
    let first = |task| of(&lineage("a"), "claude-opus-4-5", task, 4, 60, Some(1063));
    let unrecorded = of(&lineage("unrecorded"), "claude-sonnet-4-5", "n", 6, 3, None);
    let second = of(&agent, "claude-sonnet-4-5", "m", 7, 2, Some(2063));
    assert_eq!(
        store.uses(&ids(&["m"])).await.unwrap(),
        [first("m"), second.clone()]
    );
    assert_eq!(
        store.uses(&ids(&["n", "m", "never"])).await.unwrap(),
        [first("m"), first("n"), unrecorded, second]
    );
    assert_eq!(store.uses(&[]).await.unwrap(), []);
}

/// A task that is saved again keeps its id, and the ledger refers to that id.
pub async fn uses_follow_a_task_saved_again(store: Arc<dyn Store>) {
    let of_session = |id: &str| Task {
        client_session_id: Some(client("c")),
        session_id: Some(session("s")),
        ..task(id, 1)
    };
    store
        .save_task(&Redacted::of(&of_session("first")))
        .await
        .unwrap();
    store.adopt(&arriving("a", [], 1)).await.unwrap();
    decided(&*store, "a", &added(1, "text", &["first", "second"], 2)).await;
    decided(&*store, "a", &added(2, "text", &["second"], 3)).await;
    store.save_task(&Redacted::of(&task("second", 2))).await.unwrap();
    store
        .save_task(&Redacted::of(&of_session("second")))
        .await
        .unwrap();
    assert_eq!(store.uses(&ids(&["second"])).await.unwrap(), []);
    assert_eq!(store.uses(&ids(&["first"])).await.unwrap().len(), 2);
    assert_eq!(
        kept(&*store, "a").await,
        [added(1, "text", &["first"], 2), added(2, "text", &["first"], 3)]
    );
}

/// Text that quotes a forgotten memory is removed from every lineage, and running processes are notified; other text is
/// kept.
pub async fn forgetting_a_memory_removes_it_from_the_ledger(store: Arc<dyn Store>) {
    for id in ["m", "n"] {
        store.save_task(&Redacted::of(&task(id, 1))).await.unwrap();
    }
    for session in ["a", "b"] {
        store.adopt(&arriving(session, [], 1)).await.unwrap();
        decided(&*store, session, &added(1, "both", &["m", "n"], 2)).await;
        decided(&*store, session, &added(2, "the other", &["n"], 2)).await;
    }
    let revision = store.revision().await.unwrap();
    let forget = async |id: &str| MemoryStore::forget(store.as_ref(), &ids(&[id])).await.unwrap();
    assert_eq!(forget("unused").await, []);
    assert_eq!(store.revision().await.unwrap(), revision, "nothing went");
    assert_eq!(forget("m").await, ids(&["m"]));
    let after = store.revision().await.unwrap();
    assert_ne!(after, revision);
    for session in ["a", "b"] {
        assert_eq!(
            kept(&*store, session).await,
            [nothing(1, 2), added(2, "the other", &["n"], 2)]
        );
        let again = added(1, "again", &[], 3);
        assert!(
            !store
                .decide(&lineage(session), &again.redacted(), soon())
                .await
                .unwrap()
        );
    }
    assert_eq!(store.uses(&ids(&["m"])).await.unwrap(), []);
    assert_eq!(store.uses(&ids(&["n"])).await.unwrap().len(), 2);
    assert_eq!(forget("m").await, []);
    assert_eq!(store.revision().await.unwrap(), after);
}

/// Corrections quote the task: forgetting its memory removes them from its session and from sessions that continue it.
/// Text that quotes memories, and corrections of other tasks, are kept.
pub async fn forgetting_a_memory_removes_corrections_from_the_ledger(store: Arc<dyn Store>) {
    for name in ["c", "other"] {
        store
            .append(&Redacted::each(&[exchange(name, 10)]))
            .await
            .unwrap();
    }
    let correction = correction("sent", "c", 11);
    store.save_correction(&Redacted::of(&correction)).await.unwrap();
    let saved = Task {
        client_session_id: Some(client("c")),
        session_id: Some(session("c")),
        ..task("task", 20)
    };
    store.save_task(&Redacted::of(&saved)).await.unwrap();
    let within = added(1, r#"the goal of \"c\""#, &[], 12);
    let quotes = added(2, "of another memory", &["n"], 12);
    let before = added(3, "of the work before", &[], 5);
    let after = added(4, "of the work after", &[], 25);
    let late = added(5, &format!("\\n{}\\n", correction.text), &[], 25);
    for name in ["c", "fork", "other"] {
        store.adopt(&arriving(name, [], 1)).await.unwrap();
    }
    for entry in [&within, &quotes, &before, &after, &late] {
        decided(&*store, "c", entry).await;
    }
    let copy = LedgerEntry {
        decided_at: at(30),
        ..within.clone()
    };
    decided(&*store, "fork", &copy).await;
    let elsewhere = added(1, "of another session", &[], 12);
    decided(&*store, "other", &elsewhere).await;
    let revision = store.revision().await.unwrap();
    MemoryStore::forget(store.as_ref(), &ids(&["task"]))
        .await
        .unwrap();
    assert_ne!(store.revision().await.unwrap(), revision);
    assert_eq!(
        kept(&*store, "c").await,
        [nothing(1, 12), quotes, before, after, nothing(5, 25)]
    );
    assert_eq!(kept(&*store, "fork").await, [nothing(1, 30)]);
    assert_eq!(kept(&*store, "other").await, [elsewhere]);
}

/// Forgetting a memory erases the texts it was made of. Rows that only count are kept, and recording continues.
pub async fn forgetting_a_memory_erases_its_texts(store: Arc<dyn Store>) {
    let mut record = exchange("c", 1);
    record.prompts = vec![prompt("the prompt")];
    store.append(&[Redacted::of(&record)]).await.unwrap();
    let mut other = exchange("other", 1);
    other.prompts = vec![prompt("another")];
    store.append(&Redacted::each(&[other])).await.unwrap();
    for name in ["c", "other"] {
        store
            .save_session(&Redacted::of(&state(name, name, 2)))
            .await
            .unwrap();
        store
            .append_drift(&Redacted::of(&drift(name, name, 2)))
            .await
            .unwrap();
    }
    let of_task = |id: &str, name: &str| Task {
        client_session_id: Some(client(name)),
        session_id: Some(session(name)),
        ..task(id, 3)
    };
    store
        .save_task(&Redacted::of(&of_task("task", "c")))
        .await
        .unwrap();
    store
        .save_task(&Redacted::of(&of_task("kept", "other")))
        .await
        .unwrap();
    store
        .save_file_reasoning(&Redacted::of(&file_reasoning("r", "/f", 1)))
        .await
        .unwrap();
    store.settle(&Redacted::of(&call("l", 1))).await.unwrap();
    let before = store.session(&session("c")).await.unwrap().unwrap();
    assert_eq!(
        MemoryStore::forget(store.as_ref(), &ids(&["task"]))
            .await
            .unwrap(),
        ids(&["task"])
    );

    let after = store.session(&session("c")).await.unwrap().unwrap();
    assert_eq!(after.state.original_goal, None);
    let lists = [
        &after.state.expected_scope,
        &after.state.constraints,
        &after.state.keywords,
    ];
    assert!(lists.iter().all(|list| list.is_empty()), "{lists:?}");
    assert_eq!(after.state.status, before.state.status);
    assert_eq!(
        (after.exchanges, after.tokens, after.steps),
        (before.exchanges, before.tokens, before.steps)
    );
    let steps = store.steps(&session("c")).await.unwrap();
    assert_eq!(steps.len(), 2);
    for row in steps {
        assert!(row.files.is_empty() && row.folders.is_empty() && row.effects.is_empty());
        assert_eq!((row.command, row.reasoning), (None, None));
        assert!(row.keywords.is_empty());
    }
    assert_eq!(store.prompts(&session("c"), None).await.unwrap(), []);
    let event = drift_log(&store, Some(&session("c"))).await.remove(0);
    assert_eq!((event.reason, event.correction_given), (None, None));
    assert!(event.files.is_empty() && event.recovery_plan.is_empty());
    assert_eq!(event.drift_score, Some(3));
    let file = "/home/dev/projects/relay/src/limit.rs";
    let left = store
        .steps_reasoning_by_path(super::sample::PROJECT, file, 10)
        .await
        .unwrap();
    assert_eq!(left.len(), 1);
    let reasoning = store.file_reasoning(super::sample::PROJECT, "/f", 9).await;
    assert_eq!(reasoning.unwrap(), []);

    assert_eq!(
        store.append(&Redacted::each(&[record])).await.unwrap(),
        0,
        "it is still known"
    );
    assert_eq!(
        store.append(&Redacted::each(&[exchange("c", 9)])).await.unwrap(),
        1
    );
    assert_eq!(store.prompts(&session("other"), None).await.unwrap().len(), 1);
    assert_eq!(
        drift_log(&store, Some(&session("other"))).await,
        [drift("other", "other", 2)]
    );
}

/// Lineages are removed by the time they were last seen, with all their decisions.
pub async fn prune_removes_old_lineages(store: Arc<dyn Store>) {
    const HOUR: i64 = 3600;
    let retention = Retention {
        ledger: Duration::from_secs(300 * HOUR as u64),
        ..Retention::default()
    };
    for number in 0..40 {
        let name = format!("old-{number}");
        store.adopt(&arriving(&name, [], -400 * HOUR)).await.unwrap();
        decided(&*store, &name, &added(1, "text", &["m"], 2)).await;
        let tip = standing_at(&name, 5, -301 * HOUR);
        store.note_tips(&[tip]).await.unwrap();
    }
    store.adopt(&arriving("seen", [], -400 * HOUR)).await.unwrap();
    decided(&*store, "seen", &added(1, "text", &["m"], 2)).await;
    let tip = standing_at("seen", 6, -299 * HOUR);
    store.note_tips(&[tip]).await.unwrap();
    let expected = PruneReport {
        lineages: 40,
        ..PruneReport::default()
    };
    let prune = async |dry_run| store.prune(&retention, at(0), dry_run).await.unwrap();
    assert_eq!(prune(true).await, expected);
    assert_eq!(prune(true).await, expected, "a dry run removes nothing");
    assert_eq!(prune(false).await, expected);
    assert_eq!(prune(false).await, PruneReport::default());
    assert_eq!(store.lineage(&lineage("old-7")).await.unwrap(), None);
    assert_eq!(kept(&*store, "seen").await.len(), 1);
    assert_eq!(store.uses(&ids(&["m"])).await.unwrap().len(), 1);
    let stats = store.stats().await.unwrap();
    for table in [
        "ledger_lineages",
        "ledger_entries",
        "ledger_memories",
        "ledger_tips",
    ] {
        let found = stats.tables.iter().find(|stats| stats.table == table);
        assert_eq!(found.unwrap().rows, 1, "{table}");
    }
    let fork = store.adopt(&arriving("fork", [1, 5], 1)).await.unwrap();
    assert_eq!(fork, LedgerLineage::default(), "nothing is left to continue");
}
