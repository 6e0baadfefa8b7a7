//! Projects, keys and pages.

use super::Store;
use super::sample::{self, NOW, page};
use grov_agent::{AgentStoreError, Key, KeyId, KeyRole, Page, Project, ProjectId};
use time::Duration;

/// See the name.
pub async fn a_project_is_stored_changed_and_deleted(store: Store) {
    let id = sample::project(&*store).await;
    let project = store.project(id).await.unwrap().unwrap();
    assert_eq!((project.name.as_str(), project.created_at), ("Website", NOW));
    let (name, role) = (sample::text("Shop"), sample::text("You sell."));
    // Two changes of different fields do not undo each other.
    store.change_project(id, Some(&name), None).await.unwrap();
    let project = store.change_project(id, None, Some(&role)).await.unwrap();
    assert_eq!(
        (project.name.as_str(), project.role_statement.as_str()),
        ("Shop", "You sell.")
    );
    assert_eq!(store.project(id).await.unwrap(), Some(project));
    assert!(store.delete_project(id).await.unwrap());
    assert!(!store.delete_project(id).await.unwrap());
    assert_eq!(store.project(id).await.unwrap(), None);
    let updated = store.change_project(id, Some(&name), None).await;
    assert!(
        matches!(updated, Err(AgentStoreError::NotFound(_))),
        "{updated:?}"
    );
    assert!(store.health().await.is_ok);
}

/// See the name. Several have the same time.
pub async fn pages_show_each_project_once(store: Store) {
    let mut created = Vec::new();
    for number in 0..23_i64 {
        let time = NOW + Duration::seconds(number / 4);
        created.push((time, sample::project_at(&*store, "P", time).await));
    }
    created.sort_unstable();
    created.reverse();
    let mut seen: Vec<Project> = Vec::new();
    let mut page = page(5);
    loop {
        let listed = store.projects(&[], &page).await.unwrap();
        assert!(listed.items.len() <= 5);
        seen.extend(listed.items);
        // What is created meanwhile is newer than all pages that follow.
        sample::project_at(&*store, "New", NOW + Duration::days(1)).await;
        match listed.next {
            Some(next) => page.after = Some(next),
            None => break,
        }
    }
    let seen: Vec<ProjectId> = seen.iter().map(|project| project.id).collect();
    assert_eq!(seen, created.iter().map(|(_, id)| *id).collect::<Vec<_>>());
}

/// See the name.
pub async fn projects_can_be_limited_to_those_of_a_key(store: Store) {
    let mine = sample::project(&*store).await;
    sample::project(&*store).await;
    let listed = store
        .projects(&[mine, ProjectId::fresh()], &page(10))
        .await
        .unwrap();
    assert_eq!(listed.items.len(), 1);
    assert_eq!(listed.items[0].id, mine);
    assert_eq!(listed.next, None);
}

/// See the name.
pub async fn a_cursor_of_something_else_is_refused(store: Store) {
    for cursor in [
        "",
        "x",
        "1.2",
        "'; DROP TABLE projects; --",
        "99999999999999999999.x",
    ] {
        let page = Page {
            limit: 5,
            after: Some(cursor.to_owned()),
        };
        let listed = store.projects(&[], &page).await;
        assert!(
            matches!(listed, Err(AgentStoreError::NotFound(_))),
            "{cursor}: {listed:?}"
        );
    }
}

/// See the name.
pub async fn keys_are_unique_by_name_until_they_are_revoked(store: Store) {
    let key = |name: &str| Key {
        id: KeyId::fresh(),
        name: name.to_owned(),
        role: KeyRole::Approver,
        projects: vec![ProjectId::fresh()],
        created_at: NOW,
        revoked_at: None,
    };
    let first = key("n8n");
    store.create_key(&first, &[1; 32]).await.unwrap();
    let again = store.create_key(&key("n8n"), &[2; 32]).await;
    assert!(matches!(again, Err(AgentStoreError::Conflict(_))), "{again:?}");
    assert_eq!(store.keys().await.unwrap(), [(first.clone(), [1; 32])]);
    let later = NOW + Duration::hours(1);
    assert_eq!(store.revoke_key("n8n", later).await.unwrap(), Some(first.id));
    assert_eq!(store.revoke_key("n8n", later).await.unwrap(), None);
    store.create_key(&key("n8n"), &[3; 32]).await.unwrap();
    let keys = store.keys().await.unwrap();
    assert_eq!(keys.len(), 2);
    let revoked = keys.iter().find(|(key, _)| key.id == first.id).unwrap();
    assert_eq!(revoked.0.revoked_at, Some(later));
}
