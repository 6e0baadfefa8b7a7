//! One round in each direction.

use crate::{LinkError, Service};
use grov_domain::{Clock, Link, LinkStore, LocalRecord, Outgoing, Task};
use grov_redact::{Redacted, Redactor};
use std::time::Duration;

/// Records that are sent in a round.
const BATCH: u32 = 50;

/// Sends what waits, some records at a time. Returns how many were sent. A record that the service does not take is left out
/// with a warning: it would block all others.
///
/// # Errors
///
/// Everything that is not about a single record.
pub async fn push(store: &dyn LinkStore, service: &Service, link: &Link) -> Result<usize, LinkError> {
    let path = &link.scope.project_path;
    let waiting = store.outgoing(path, BATCH).await?;
    for one in &waiting {
        match send(service, one).await {
            Ok(revision) => store.sent(path, one, revision).await?,
            // It is read first: what others did arrives with it, and decides.
            Err(LinkError::Conflict) => return Err(LinkError::Conflict),
            Err(LinkError::Rejected(reason)) => {
                tracing::warn!(
                    id = one.id,
                    kind = one.kind.as_str(),
                    reason,
                    "a record is not shared"
                );
                store.sent(path, one, None).await?;
            }
            // A key without the role may share, but not delete, or only read. A link with another key sends everything.
            Err(LinkError::Forbidden(reason)) => {
                tracing::warn!(
                    id = one.id,
                    kind = one.kind.as_str(),
                    reason,
                    "the key may not share or delete a record"
                );
                store.sent(path, one, None).await?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(waiting.len())
}

async fn send(service: &Service, one: &Outgoing) -> Result<Option<i64>, LinkError> {
    match &one.record {
        Some(LocalRecord::Item(item)) => service
            .put_item(&Redacted::of(item.as_ref()), one.base)
            .await
            .map(Some),
        Some(LocalRecord::Task(task)) => {
            let task = Redactor::shared().clean(for_others(task));
            service.put_task(&task).await.map(Some)
        }
        None => service.delete(one.kind, &one.id).await.map(|()| None),
    }
}

/// A task without what concerns this machine alone.
fn for_others(task: &Task) -> Task {
    Task {
        project_path: String::new(),
        client_session_id: None,
        session_id: None,
        parent_session_id: None,
        ..task.clone()
    }
}

/// Receives changes after the link's cursor, page by page, and applies them; if there are none, waits up to `wait` for one.
/// Returns the new cursor.
///
/// # Errors
///
/// See [`LinkError`].
pub async fn pull(
    store: &dyn LinkStore,
    service: &Service,
    link: &Link,
    cursor: i64,
    wait: Duration,
    clock: &dyn Clock,
) -> Result<i64, LinkError> {
    let page = service.changes(cursor, wait).await?;
    if page.latest < cursor {
        tracing::warn!(
            url = link.url,
            "the agent service lost data, or an older copy was restored: everything is read and sent again"
        );
        store.restart_link(&link.scope.project_path).await?;
        return Ok(0);
    }
    let Some(last) = page.changes.iter().map(|change| change.revision).max() else {
        return Ok(cursor);
    };
    let changes: Vec<_> = page
        .changes
        .into_iter()
        .map(|change| Redactor::shared().clean(change))
        .collect();
    store.receive(link, &changes, last, clock.now()).await?;
    Ok(last)
}
