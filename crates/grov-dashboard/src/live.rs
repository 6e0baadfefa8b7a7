//! Events for open pages: what was recorded, as it is recorded.
//!
//! One task looks into the store while at least one page listens, and tells all of them. An event only says which session changed and
//! how; pages then request what they show. A page that does not read loses its stream, and its browser opens another one.

use crate::Site;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use grov_domain::{ActivityStore, Change, ChangeCursor, ChangeKind, Clock, Store, SystemClock};
use grov_runtime::{Shutdown, Tasks};
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use time::OffsetDateTime;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::Instant;

/// Time between two looks into the store.
const INTERVAL: Duration = Duration::from_millis(200);
/// Events that a page may be behind.
const BACKLOG: usize = 256;
/// Streams at the same time. Browsers open one for each visible page.
const MAX_STREAMS: usize = 256;
/// Time between two signs of life, so that a page that does not read is noticed.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How long a change is remembered, because the store may return it again.
const MEMORY: time::Duration = time::Duration::minutes(5);

/// Tells open pages what was recorded.
pub(crate) struct Live {
    sender: broadcast::Sender<Bytes>,
    watch: Arc<Watch>,
    tasks: Tasks,
}

struct Watch {
    store: Arc<dyn Store>,
    is_running: AtomicBool,
    /// Looks that found something new.
    version: AtomicU64,
}

/// What changed in a session.
#[derive(Serialize)]
struct Event<'a> {
    session: &'a str,
    kinds: BTreeSet<&'static str>,
}

impl Live {
    pub(crate) fn new(store: Arc<dyn Store>, tasks: Tasks) -> Self {
        let watch = Watch {
            store,
            is_running: AtomicBool::new(false),
            version: AtomicU64::new(0),
        };
        Self {
            sender: broadcast::Sender::new(BACKLOG),
            watch: Arc::new(watch),
            tasks,
        }
    }

    /// Returns a number that changes before pages hear of a change; `None` while no page listens and nobody looks.
    pub(crate) fn version(&self) -> Option<u64> {
        let version = self.watch.version.load(Ordering::Acquire);
        self.watch.is_running.load(Ordering::Acquire).then_some(version)
    }

    /// Returns the events from now on; `None` if too many pages listen.
    fn subscribe(&self) -> Option<broadcast::Receiver<Bytes>> {
        if self.sender.receiver_count() >= MAX_STREAMS {
            return None;
        }
        let receiver = self.sender.subscribe();
        if !self.watch.is_running.swap(true, Ordering::AcqRel) {
            let watching = Arc::clone(&self.watch).run(self.sender.clone(), self.tasks.shutdown());
            self.tasks.spawn("dashboard events", watching);
        }
        Some(receiver)
    }
}

impl Watch {
    /// Sends events until no page listens or the daemon stops.
    async fn run(self: Arc<Self>, sender: broadcast::Sender<Bytes>, mut shutdown: Shutdown) {
        let mut seen = Seen::default();
        let mut cursor = None;
        let mut beat = Instant::now();
        loop {
            tokio::select! {
                biased;
                () = shutdown.requested() => return,
                () = tokio::time::sleep(INTERVAL) => {}
            }
            if sender.receiver_count() == 0 {
                self.is_running.store(false, Ordering::Release);
                // A page may have come since; then it found this task running.
                if sender.receiver_count() == 0 || self.is_running.swap(true, Ordering::AcqRel) {
                    return;
                }
            }
            let events = self.look(&mut cursor, &mut seen).await;
            if !events.is_empty() {
                self.version.fetch_add(1, Ordering::AcqRel);
            }
            for event in events {
                // Fails only if no page listens.
                let _ = sender.send(event);
            }
            if beat.elapsed() >= HEARTBEAT {
                beat = Instant::now();
                let _ = sender.send(Bytes::from_static(b": alive\n\n"));
            }
        }
    }

    /// Returns the events since the last look. A busy store is looked at again.
    async fn look(&self, cursor: &mut Option<ChangeCursor>, seen: &mut Seen) -> Vec<Bytes> {
        let store: &dyn ActivityStore = &*self.store;
        let (from, is_first) = match cursor {
            Some(cursor) => (*cursor, false),
            None => match store.change_cursor(SystemClock.now()).await {
                Ok(from) => (from, true),
                Err(_) => return Vec::new(),
            },
        };
        let Ok((changes, next)) = store.changes(&from).await else {
            return Vec::new();
        };
        *cursor = Some(next);
        let events = seen.new_events(&changes);
        seen.forget(SystemClock.now());
        // The page already shows what was there.
        if is_first { Vec::new() } else { events }
    }
}

/// The changes that were told.
#[derive(Default)]
struct Seen(HashMap<String, OffsetDateTime>);

impl Seen {
    /// Returns an event for each session with a change that is new.
    fn new_events(&mut self, changes: &[Change]) -> Vec<Bytes> {
        let mut sessions: Vec<Event<'_>> = Vec::new();
        for change in changes {
            if self.0.insert(change.key.clone(), change.at).is_some() {
                continue;
            }
            let session = change.client_session_id.as_str();
            let kind = kind(&change.kind);
            match sessions.iter_mut().find(|event| event.session == session) {
                Some(event) => {
                    event.kinds.insert(kind);
                }
                None => sessions.push(Event {
                    session,
                    kinds: BTreeSet::from([kind]),
                }),
            }
        }
        let event = |event: Event<'_>| {
            let json = serde_json::to_string(&event).unwrap_or_default();
            Bytes::from(format!("data: {json}\n\n"))
        };
        sessions.into_iter().map(event).collect()
    }

    fn forget(&mut self, now: OffsetDateTime) {
        self.0.retain(|_, at| now - *at < MEMORY);
    }
}

fn kind(kind: &ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Prompt { .. } => "prompt",
        ChangeKind::Action(_) => "action",
        ChangeKind::Finding { .. } => "finding",
        ChangeKind::Injection { .. } | ChangeKind::Memories { .. } => "injection",
        ChangeKind::Usage { .. } => "usage",
    }
}

/// `GET /events`: a stream of server-sent events. It ends when its browser is signed out.
pub(crate) async fn events(State(site): State<Site>, headers: HeaderMap) -> Response {
    let Some(receiver) = site.live.subscribe() else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let first = stream::iter([Bytes::from_static(b"retry: 1000\n\n")]);
    let rest = stream::unfold(receiver, |mut receiver| async move {
        match receiver.recv().await {
            Ok(event) => Some((event, receiver)),
            Err(RecvError::Lagged(_) | RecvError::Closed) => None,
        }
    });
    let rest = rest.take_while(move |_| {
        let is_signed_in = site.access.session(&headers, SystemClock.now()).is_some();
        std::future::ready(is_signed_in)
    });
    let body = Body::from_stream(first.chain(rest).map(Ok::<_, Infallible>));
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_domain::ClientSessionId;

    fn change(key: &str, session: &str, second: i64) -> Change {
        Change {
            key: key.to_owned(),
            client_session_id: ClientSessionId::new(session),
            at: OffsetDateTime::UNIX_EPOCH + time::Duration::seconds(second),
            kind: ChangeKind::Prompt {
                text: "secret plan".to_owned(),
            },
        }
    }

    #[test]
    fn a_change_is_told_once_and_without_its_text() {
        let mut seen = Seen::default();
        let changes = [change("a", "s1", 1), change("b", "s1", 2), change("c", "s2", 3)];
        let events = seen.new_events(&changes);
        assert_eq!(events.len(), 2);
        assert_eq!(
            &events[0][..],
            b"data: {\"session\":\"s1\",\"kinds\":[\"prompt\"]}\n\n"
        );
        assert!(seen.new_events(&changes).is_empty());
        seen.forget(OffsetDateTime::UNIX_EPOCH + MEMORY + time::Duration::seconds(2));
        assert_eq!(seen.0.len(), 1);
    }
}
