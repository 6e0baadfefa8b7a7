//! Keeps links going.

use crate::sync::{pull, push};
use crate::{KeyFile, LinkError, Service, ServiceAddress};
use grov_domain::{Clock, Link, LinkState, LinkStore, StoreError};
use grov_redact::Redactor;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use time::OffsetDateTime;
use tokio::task::{AbortHandle, JoinSet};

/// How often links are looked for that were added or removed.
const LOOK_FOR_LINKS: Duration = Duration::from_secs(2);
/// How often the outbox is looked at: an indexed query.
const LOOK_AT_OUTBOX: Duration = Duration::from_millis(500);
/// How long the service is asked to wait for a change.
const WAIT: Duration = Duration::from_secs(25);
/// The pause after the first failure; doubled after each further one.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// How often the time of the last contact is written.
const NOTE_INTERVAL: time::Duration = time::Duration::seconds(30);

/// What [`follow`] works with.
#[derive(Clone)]
pub struct Followed {
    /// The store with the links.
    pub store: Arc<dyn LinkStore>,
    /// The home with the key files.
    pub home: PathBuf,
    /// The clock.
    pub clock: Arc<dyn Clock>,
}

/// Keeps all links of a store going, also those that are added later. Ends when `is_over` says so, which is asked every two
/// seconds, also while the store cannot be read, or never. The caller holds the [`SenderLock`](crate::SenderLock).
///
/// Dropping the future loses nothing: what was not acknowledged is sent again.
pub async fn follow(followed: Followed, mut is_over: impl AsyncFnMut(Result<&[Link], &StoreError>) -> bool) {
    let mut tasks = JoinSet::new();
    let mut running: HashMap<(String, OffsetDateTime), AbortHandle> = HashMap::new();
    loop {
        let links = match followed.store.links().await {
            Ok(links) => links,
            Err(error) => {
                tracing::debug!(%error, "the links cannot be read");
                if is_over(Err(&error)).await {
                    break;
                }
                tokio::time::sleep(LOOK_FOR_LINKS).await;
                continue;
            }
        };
        if is_over(Ok(&links)).await {
            break;
        }
        let is_wanted = |key: &(String, OffsetDateTime)| {
            links
                .iter()
                .any(|link| link.scope.project_path == key.0 && link.linked_at == key.1)
        };
        running.retain(|key, task| {
            let keep = is_wanted(key) && !task.is_finished();
            if !keep {
                task.abort();
            }
            keep
        });
        for link in links.into_iter().filter(|link| link.state == LinkState::On) {
            let key = (link.scope.project_path.clone(), link.linked_at);
            running.entry(key).or_insert_with(|| {
                let followed = followed.clone();
                tasks.spawn(async move { keep_going(&followed, &link).await })
            });
        }
        while tasks.try_join_next().is_some() {}
        tokio::time::sleep(LOOK_FOR_LINKS).await;
    }
}

/// Keeps one link going until its key is refused.
async fn keep_going(followed: &Followed, link: &Link) {
    let stopped = match service(&followed.home, link) {
        Ok(service) => {
            let exchange = Exchange {
                followed,
                link,
                service: &service,
            };
            tokio::select! {
                error = exchange.send() => error,
                error = exchange.receive() => error,
            }
        }
        Err(error) => error,
    };
    tracing::error!(project = link.scope.project_path, error = %stopped, "a link to the agent service stopped");
    note(followed, link, LinkState::Stopped, Some(&stopped), None).await;
}

fn service(home: &Path, link: &Link) -> Result<Service, LinkError> {
    let key = KeyFile::of(home, &link.remote_project.to_string()).read()?;
    // It was checked when it was linked, with the user's consent if it is not encrypted.
    let address = ServiceAddress::parse(&link.url, true)?;
    Service::new(&address, link.remote_project, key)
}

async fn note(
    followed: &Followed,
    link: &Link,
    state: LinkState,
    fault: Option<&LinkError>,
    last_sync: Option<OffsetDateTime>,
) {
    let fault = fault.map(|fault| Redactor::shared().text(&fault.of_link()));
    let path = &link.scope.project_path;
    if let Err(error) = followed
        .store
        .note_link(path, state, fault.as_ref(), last_sync)
        .await
    {
        tracing::debug!(%error, "the state of a link cannot be written");
    }
}

/// Both directions of a link.
struct Exchange<'a> {
    followed: &'a Followed,
    link: &'a Link,
    service: &'a Service,
}

impl Exchange<'_> {
    /// Sends until the key is refused, which is returned.
    async fn send(&self) -> LinkError {
        let mut pause = Pause::default();
        loop {
            match push(&*self.followed.store, self.service, self.link).await {
                Ok(0) => tokio::time::sleep(LOOK_AT_OUTBOX).await,
                Ok(_) => pause = Pause::default(),
                Err(error) if error.stops() => return error,
                // What others did is on its way.
                Err(LinkError::Conflict) => tokio::time::sleep(pause.next(None)).await,
                Err(error) => {
                    self.failed(&error).await;
                    tokio::time::sleep(pause.next(error.retry_after())).await;
                }
            }
        }
    }

    /// Receives until the key is refused, which is returned.
    async fn receive(&self) -> LinkError {
        let mut pause = Pause::default();
        let mut cursor = self.link.cursor;
        let mut noted: Option<OffsetDateTime> = None;
        let mut has_failed = true;
        loop {
            let clock = &*self.followed.clock;
            // The first answer shows that the service is there, so it is not waited for.
            let wait = if has_failed { Duration::ZERO } else { WAIT };
            match pull(
                &*self.followed.store,
                self.service,
                self.link,
                cursor,
                wait,
                clock,
            )
            .await
            {
                Ok(new) => {
                    cursor = new;
                    pause = Pause::default();
                    let now = clock.now();
                    if has_failed || noted.is_none_or(|noted| now - noted >= NOTE_INTERVAL) {
                        note(self.followed, self.link, LinkState::On, None, Some(now)).await;
                        noted = Some(now);
                    }
                    has_failed = false;
                }
                Err(error) if error.stops() => return error,
                Err(error) => {
                    has_failed = true;
                    self.failed(&error).await;
                    tokio::time::sleep(pause.next(error.retry_after())).await;
                }
            }
        }
    }

    async fn failed(&self, error: &LinkError) {
        // A busy store passes.
        if matches!(error, LinkError::Store(StoreError::Busy(_))) {
            return;
        }
        tracing::warn!(url = self.link.url, %error, "a link to the agent service waits");
        note(self.followed, self.link, LinkState::On, Some(error), None).await;
    }
}

/// The pause before the next attempt.
#[derive(Default)]
struct Pause(u32);

impl Pause {
    fn next(&mut self, asked: Option<Duration>) -> Duration {
        let pause = FIRST_PAUSE.saturating_mul(1 << self.0.min(6)).min(LONGEST_PAUSE);
        self.0 = self.0.saturating_add(1);
        pause.max(asked.unwrap_or_default().min(LONGEST_PAUSE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_a_minute() {
        let mut pause = Pause::default();
        let seconds: Vec<u64> = (0..8).map(|_| pause.next(None).as_secs()).collect();
        assert_eq!(seconds, [1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(
            Pause::default().next(Some(Duration::from_secs(9))),
            Duration::from_secs(9)
        );
    }
}
