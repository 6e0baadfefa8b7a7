//! Which lineage a new one continues, and what it copies.

use super::sample::{added, arriving, at, lineage, nothing, place, standing_at};
use grov_domain::{AgentId, LedgerEntry, LedgerLineage, Lineage, NewLineage, Store};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A deadline that is never reached.
fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
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
fn sorted(mut kept: LedgerLineage) -> Vec<LedgerEntry> {
    kept.entries.sort_by_key(|entry| entry.anchor);
    kept.entries
}

async fn kept(store: &dyn Store, session: &str) -> Vec<LedgerEntry> {
    sorted(store.lineage(&lineage(session)).await.unwrap().expect("known"))
}

async fn adopted(store: &dyn Store, new: &NewLineage) -> Vec<LedgerEntry> {
    let taken = store.adopt(new).await.unwrap();
    assert_eq!(store.lineage(&new.lineage).await.unwrap(), Some(taken.clone()));
    sorted(taken)
}

/// Two sessions whose histories begin with the same text are separate: neither has a tip yet.
pub async fn lineages_with_the_same_start_are_separate(store: Arc<dyn Store>) {
    store.adopt(&arriving("a", [], 1)).await.unwrap();
    decided(&*store, "a", &added(1, "for a", &["m"], 2)).await;
    let mut before_any_answer = standing_at("a", 0, 2);
    before_any_answer.tip = None;
    store.note_tips(&[before_any_answer]).await.unwrap();
    assert_eq!(adopted(&*store, &arriving("b", [], 3)).await, []);
    assert_eq!(adopted(&*store, &arriving("c", [1], 4)).await, []);
    decided(&*store, "b", &added(1, "for b", &[], 5)).await;
    assert_eq!(kept(&*store, "a").await, [added(1, "for a", &["m"], 2)]);
    assert_eq!(kept(&*store, "b").await, [added(1, "for b", &[], 5)]);
}

/// Of several lineages with tips in the history, the one with the latest tip is continued, independent of when they
/// were seen and in which order tips were noted.
pub async fn deepest_tip_is_continued(store: Arc<dyn Store>) {
    for (session, tips) in [("shallow", [10, 11]), ("deep", [30, 12]), ("elsewhere", [99, 98])] {
        store.adopt(&arriving(session, [], 1)).await.unwrap();
        decided(&*store, session, &added(1, session, &[], 2)).await;
        for tip in tips {
            store.note_tips(&[standing_at(session, tip, 3)]).await.unwrap();
        }
    }
    store.note_tips(&[standing_at("shallow", 20, 9)]).await.unwrap();
    let fork = arriving("fork", [1, 10, 11, 12, 20, 30, 31], 10);
    assert_eq!(adopted(&*store, &fork).await, [added(1, "deep", &[], 2)]);
    let earlier = arriving("earlier", [1, 10, 11, 12, 20, 21], 10);
    assert_eq!(adopted(&*store, &earlier).await, [added(1, "shallow", &[], 2)]);
    // The order is that of the history, not of the keys.
    let turned = arriving("turned", [1, 30, 12, 10, 2], 10);
    assert_eq!(adopted(&*store, &turned).await, [added(1, "shallow", &[], 2)]);
    assert_eq!(adopted(&*store, &arriving("none", [1, 2, 3], 10)).await, []);
}

/// Of lineages with the same tip, the one last seen is continued.
pub async fn the_last_seen_of_equal_tips_is_continued(store: Arc<dyn Store>) {
    for session in ["first", "second", "third"] {
        store.adopt(&arriving(session, [], 1)).await.unwrap();
        decided(&*store, session, &added(1, session, &[], 2)).await;
        store.note_tips(&[standing_at(session, 5, 3)]).await.unwrap();
    }
    let mut again = standing_at("second", 5, 7);
    again.tip = None;
    store.note_tips(&[again]).await.unwrap();
    assert_eq!(
        adopted(&*store, &arriving("fork", [1, 5], 8)).await,
        [added(1, "second", &[], 2)]
    );
}

/// Of lineages with the same tip, the one with the latest decision in the history is continued, even if another was
/// seen later: a fork that continued differently has the same tip.
pub async fn the_tip_with_the_latest_decision_is_continued(store: Arc<dyn Store>) {
    for (session, decided_at, seen) in [("origin", 6, 3), ("earlier fork", 70, 9)] {
        store.adopt(&arriving(session, [], 1)).await.unwrap();
        decided(&*store, session, &added(decided_at, session, &[], 2)).await;
        store.note_tips(&[standing_at(session, 5, seen)]).await.unwrap();
    }
    assert_eq!(
        adopted(&*store, &arriving("fork", [1, 5, 6, 7], 10)).await,
        [added(6, "origin", &[], 2)]
    );
}

/// Of lineages with tips in the history, one with the same model is continued, even if another has a later tip, because
/// the prompt cache is per model. If no lineage has the same model, any is continued.
pub async fn lineage_with_the_same_model_is_continued(store: Arc<dyn Store>) {
    let with_another = |tip| grov_domain::LineageTip {
        model: "another model".to_owned(),
        ..tip
    };
    for (session, tip) in [
        ("a", standing_at("a", 5, 3)),
        ("b", with_another(standing_at("b", 7, 4))),
    ] {
        store.adopt(&arriving(session, [], 1)).await.unwrap();
        decided(&*store, session, &added(1, session, &[], 2)).await;
        store.note_tips(&[tip]).await.unwrap();
    }
    let of_a = [added(1, "a", &[], 2)];
    let of_b = [added(1, "b", &[], 2)];
    assert_eq!(adopted(&*store, &arriving("one", [1, 5, 6, 7], 5)).await, of_a);
    let with = |model: &str, new: NewLineage| NewLineage {
        model: model.to_owned(),
        ..new
    };
    let two = with("another model", arriving("two", [1, 5, 6, 7], 6));
    assert_eq!(adopted(&*store, &two).await, of_b);
    let three = with("another model", arriving("three", [1, 5, 6], 7));
    assert_eq!(adopted(&*store, &three).await, of_a);
    let four = with("a third", arriving("four", [1, 5, 6, 7], 8));
    assert_eq!(adopted(&*store, &four).await, of_b);
    // The same tip with both models is one tip.
    store
        .note_tips(&[with_another(standing_at("a", 5, 9))])
        .await
        .unwrap();
    assert_eq!(
        adopted(&*store, &with("another model", arriving("five", [1, 5], 10))).await,
        of_a
    );
}

/// The last tip of a lineage is stored, and the tip at which it was continued.
pub async fn lineage_returns_its_last_tip(store: Arc<dyn Store>) {
    assert_eq!(store.adopt(&arriving("a", [], 1)).await.unwrap().tip, None);
    store
        .note_tips(&[standing_at("a", 8, 2), standing_at("a", 4, 3)])
        .await
        .unwrap();
    let mut before_any_answer = standing_at("a", 0, 4);
    before_any_answer.tip = None;
    store.note_tips(&[before_any_answer]).await.unwrap();
    let tip = async || store.lineage(&lineage("a")).await.unwrap().unwrap().tip;
    assert_eq!(tip().await, None, "the user went back to the beginning");
    store.note_tips(&[standing_at("a", 4, 5)]).await.unwrap();
    assert_eq!(tip().await, Some(place(4)));
    let fork = store.adopt(&arriving("fork", [1, 4, 8, 9], 5)).await.unwrap();
    assert_eq!(fork.tip, Some(place(8)));
}

/// Only decisions in the history are copied, including decisions to add nothing.
pub async fn adoption_copies_only_decisions_in_the_history(store: Arc<dyn Store>) {
    store.adopt(&arriving("a", [], 1)).await.unwrap();
    let entries = [
        added(1, "one", &["m", "n"], 2),
        nothing(3, 3),
        added(5, "five", &["n"], 4),
        added(7, "after the fork", &["m"], 5),
    ];
    for entry in &entries {
        decided(&*store, "a", entry).await;
    }
    store
        .note_tips(&[standing_at("a", 4, 6), standing_at("a", 8, 7)])
        .await
        .unwrap();
    let fork = arriving("fork", [0, 1, 2, 3, 4, 5, 70], 8);
    assert_eq!(adopted(&*store, &fork).await, entries[..3]);
    assert_eq!(kept(&*store, "a").await, entries);
    let uses = store.uses(&[grov_domain::TaskId::new("m")]).await.unwrap();
    let sessions: Vec<&str> = uses.iter().map(|found| found.lineage.session.as_str()).collect();
    assert_eq!(sessions, ["fork", "a", "a"], "a copy counts as another use");
}

/// Lineages of other or unknown projects are not continued, and a lineage with an unknown project continues none.
pub async fn adoption_stays_in_the_project(store: Arc<dyn Store>) {
    store.adopt(&arriving("a", [], 1)).await.unwrap();
    decided(&*store, "a", &added(1, "text", &[], 2)).await;
    store.note_tips(&[standing_at("a", 2, 3)]).await.unwrap();
    let mut homeless = arriving("homeless", [], 1);
    homeless.project_path = String::new();
    store.adopt(&homeless).await.unwrap();
    decided(&*store, "homeless", &added(1, "homeless", &[], 2)).await;
    let mut tip = standing_at("homeless", 3, 3);
    tip.project_path = String::new();
    store.note_tips(&[tip.clone()]).await.unwrap();

    let history = [1, 2, 3, 4];
    let of = |session: &str, project: &str, model: &str| NewLineage {
        project_path: project.to_owned(),
        model: model.to_owned(),
        ..arriving(session, history, 9)
    };
    let same = arriving("same", history, 9);
    let (project, model) = (same.project_path.as_str(), same.model.as_str());
    assert_eq!(adopted(&*store, &of("other", "/elsewhere", model)).await, []);
    assert_eq!(adopted(&*store, &of("unknown", "", model)).await, []);
    assert_eq!(adopted(&*store, &same).await, [added(1, "text", &[], 2)]);

    // Once its project is known it can be continued, and the project stays known.
    let mut known = standing_at("homeless", 3, 4);
    known.tip = None;
    store.note_tips(&[known]).await.unwrap();
    store.note_tips(&[tip]).await.unwrap();
    let later = adopted(&*store, &of("later", project, model)).await;
    assert_eq!(later, [added(1, "homeless", &[], 2)]);
}

/// A known lineage copies nothing, even if it has no decisions.
pub async fn adoption_leaves_a_known_lineage_as_it_is(store: Arc<dyn Store>) {
    store.adopt(&arriving("a", [], 1)).await.unwrap();
    decided(&*store, "a", &added(1, "text", &[], 2)).await;
    store.note_tips(&[standing_at("a", 2, 3)]).await.unwrap();
    store.adopt(&arriving("b", [], 4)).await.unwrap();
    assert_eq!(adopted(&*store, &arriving("b", [1, 2, 3], 5)).await, []);
    decided(&*store, "b", &nothing(1, 6)).await;
    assert_eq!(
        adopted(&*store, &arriving("b", [1, 2, 3], 7)).await,
        [nothing(1, 6)]
    );
    // Its own tips are in its history: it does not continue itself.
    assert_eq!(
        adopted(&*store, &arriving("a", [1, 2, 3], 8)).await,
        [added(1, "text", &[], 2)]
    );
}

/// Edits of the same history would be refused again.
pub async fn adoption_copies_disabled_edits(store: Arc<dyn Store>) {
    store.adopt(&arriving("a", [], 1)).await.unwrap();
    decided(&*store, "a", &added(1, "text", &[], 2)).await;
    store.note_tips(&[standing_at("a", 2, 3)]).await.unwrap();
    store.disable_edits(&lineage("a")).await.unwrap();
    assert!(
        store
            .adopt(&arriving("fork", [1, 2], 4))
            .await
            .unwrap()
            .edits_disabled
    );
    assert!(!store.adopt(&arriving("new", [], 4)).await.unwrap().edits_disabled);
}

/// Decisions on one side of a fork do not affect the other.
pub async fn lineage_diverges_from_the_one_it_continues(store: Arc<dyn Store>) {
    store.adopt(&arriving("a", [], 1)).await.unwrap();
    decided(&*store, "a", &added(1, "text", &["m"], 2)).await;
    store.note_tips(&[standing_at("a", 2, 3)]).await.unwrap();
    store.adopt(&arriving("fork", [1, 2], 4)).await.unwrap();
    decided(&*store, "fork", &added(3, "in the fork", &[], 5)).await;
    decided(&*store, "a", &added(3, "in the first", &[], 6)).await;
    store.withdraw(&lineage("fork"), &[place(1)]).await.unwrap();
    assert_eq!(
        kept(&*store, "a").await,
        [added(1, "text", &["m"], 2), added(3, "in the first", &[], 6)]
    );
    assert_eq!(
        kept(&*store, "fork").await,
        [nothing(1, 2), added(3, "in the fork", &[], 5)]
    );
    // A fork of the fork continues the fork.
    store.note_tips(&[standing_at("fork", 4, 7)]).await.unwrap();
    let again = adopted(&*store, &arriving("again", [1, 2, 3, 4], 8)).await;
    assert_eq!(again, [nothing(1, 2), added(3, "in the fork", &[], 5)]);
}

/// A subagent has its own history.
pub async fn agents_of_a_session_are_lineages_of_their_own(store: Arc<dyn Store>) {
    let agent = |name: &str| Lineage {
        agent: Some(AgentId::new(name)),
        ..lineage("a")
    };
    let arrives = |lineage: &Lineage| NewLineage {
        lineage: lineage.clone(),
        ..arriving("a", [], 1)
    };
    store.adopt(&arriving("a", [], 1)).await.unwrap();
    assert_eq!(store.lineage(&agent("x")).await.unwrap(), None);
    store.adopt(&arrives(&agent("x"))).await.unwrap();
    store.adopt(&arrives(&agent("y"))).await.unwrap();
    let entry = added(1, "text", &["m"], 2);
    assert!(
        store
            .decide(&agent("x"), &entry.redacted(), soon())
            .await
            .unwrap()
    );
    store.disable_edits(&agent("y")).await.unwrap();
    let of = async |lineage: Lineage| store.lineage(&lineage).await.unwrap().unwrap();
    assert_eq!(of(lineage("a")).await, LedgerLineage::default());
    assert_eq!(of(agent("x")).await.entries, [entry]);
    assert!(of(agent("y")).await.edits_disabled && !of(agent("x")).await.edits_disabled);
    let uses = store.uses(&[grov_domain::TaskId::new("m")]).await.unwrap();
    assert_eq!(uses[0].lineage, agent("x"));
    assert_eq!(uses[0].last_seen_at, at(1));
}
