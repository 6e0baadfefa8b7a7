//! Switching projects and sessions off and on.

use super::sample::{PROJECT, arriving, at, client, exchange};
use grov_domain::{Redacted, Retention, Store, SwitchScope};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

fn project(key: &str) -> SwitchScope {
    SwitchScope::Project(key.to_owned())
}

async fn off(store: &dyn Store) -> HashSet<SwitchScope> {
    let scopes = store.switched_off().await.unwrap();
    let set: HashSet<_> = scopes.iter().cloned().collect();
    assert_eq!(set.len(), scopes.len(), "each once");
    set
}

/// A switched-off scope is listed until it is switched on. A project and a session with the same name are different
/// scopes.
pub async fn switches_are_stored(store: Arc<dyn Store>) {
    assert_eq!(off(&*store).await, HashSet::new());
    let session = SwitchScope::Session(client(PROJECT));
    store.switch(&project(PROJECT), false).await.unwrap();
    store.switch(&session, false).await.unwrap();
    store.switch(&project("/other \"one\""), false).await.unwrap();
    assert_eq!(
        off(&*store).await,
        HashSet::from([project(PROJECT), session.clone(), project("/other \"one\"")])
    );
    store.switch(&project(PROJECT), true).await.unwrap();
    assert_eq!(
        off(&*store).await,
        HashSet::from([session, project("/other \"one\"")])
    );
}

/// The revision changes only with changes.
pub async fn unchanged_switch_does_not_bump_the_revision(store: Arc<dyn Store>) {
    let scope = project(PROJECT);
    let mut seen = vec![store.revision().await.unwrap()];
    store.switch(&scope, true).await.unwrap();
    assert_eq!(store.revision().await.unwrap(), seen[0], "it was on");
    for on in [false, true, false] {
        store.switch(&scope, on).await.unwrap();
        let revision = store.revision().await.unwrap();
        assert!(!seen.contains(&revision), "{revision} again: {seen:?}");
        seen.push(revision);
        store.switch(&scope, on).await.unwrap();
        assert_eq!(store.revision().await.unwrap(), revision, "it was so already");
    }
    store.append(&Redacted::each(&[exchange("a", 1)])).await.unwrap();
    store.adopt(&arriving("a", [], 1)).await.unwrap();
    assert_eq!(Some(&store.revision().await.unwrap()), seen.last());
}

/// The switch of a session is removed with its last record; that of a project stays.
pub async fn prune_removes_switches_of_removed_sessions(store: Arc<dyn Store>) {
    let session = |name: &str| SwitchScope::Session(client(name));
    for scope in [
        session("gone"),
        session("recorded"),
        session("seen"),
        project(PROJECT),
    ] {
        store.switch(&scope, false).await.unwrap();
    }
    // The age of a switch counts from its change, so this checks a year later.
    let later = time::OffsetDateTime::now_utc() + time::Duration::days(365);
    let mut record = exchange("recorded", 1);
    record.ended_at = later;
    store.append(&Redacted::each(&[record])).await.unwrap();
    let mut seen = arriving("seen", [], 1);
    seen.at = later;
    store.adopt(&seen).await.unwrap();
    let retention = Retention {
        ledger: Duration::from_secs(3600),
        ..Retention::default()
    };
    store.prune(&retention, at(0), false).await.unwrap();
    assert_eq!(off(&*store).await.len(), 4, "they were turned off just now");
    store.prune(&retention, later, true).await.unwrap();
    assert_eq!(off(&*store).await.len(), 4, "a dry run removes nothing");
    store.prune(&retention, later, false).await.unwrap();
    assert_eq!(
        off(&*store).await,
        HashSet::from([session("recorded"), session("seen"), project(PROJECT)])
    );
}
