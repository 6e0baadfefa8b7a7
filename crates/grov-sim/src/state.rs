//! The state of a running simulation, shared by its connections.

use crate::behaviour::{Behaviour, Rule};
use crate::cache::Conversations;
use crate::cache::{CacheObservation, CacheReport, Plan, PromptCache, RenderedPrompt};
use crate::judge::Questions;
use crate::record::{Delivery, RecordedRequest, Recording, save};
use crate::request::MessagesRequest;
use crate::routes::Cached;
use crate::scenario::ScenarioSet;
use crate::server::Incoming;
use crate::tools::Job;
use bytes::Bytes;
use grov_domain::Clock;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use time::OffsetDateTime;
use tokio::sync::watch;

/// Expired cache entries are removed every `SWEEP_EVERY` requests.
const SWEEP_EVERY: u64 = 256;

pub(crate) struct Shared {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) behaviour: Behaviour,
    pub(crate) validate: bool,
    pub(crate) delta: usize,
    pub(crate) recording: Recording,
    pub(crate) directory: Option<PathBuf>,
    pub(crate) state: Mutex<State>,
    /// Counts changes of the records, for tasks that wait for one.
    pub(crate) changes: watch::Sender<u64>,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) scenarios: ScenarioSet,
    pub(crate) rules: Vec<(Rule, u32)>,
    pub(crate) uses: HashMap<String, u32>,
    pub(crate) questions: Questions,
    pub(crate) requests: Vec<Arc<RecordedRequest>>,
    pub(crate) arrived: u64,
    pub(crate) messages: u64,
    pub(crate) malformed: u64,
    pub(crate) connections: u64,
    pub(crate) cache: PromptCache,
    pub(crate) conversations: Conversations,
    pub(crate) report: CacheReport,
    /// Jobs of deep research; the index is the number in their id.
    pub(crate) jobs: Vec<Job>,
}

/// Locks; a panic of another holder does not make the data unusable here.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    pub(crate) fn now(&self) -> OffsetDateTime {
        self.clock.now()
    }

    /// Numbers a request and records it, as far as the recording setting requires.
    pub(crate) fn arrive(
        &self,
        incoming: &Incoming,
        connection: u64,
        now: OffsetDateTime,
    ) -> Arc<RecordedRequest> {
        let body = match self.recording {
            Recording::Bodies => incoming.body.clone(),
            Recording::Heads | Recording::Nothing => Bytes::new(),
        };
        let mut state = lock(&self.state);
        let number = state.arrived;
        state.arrived += 1;
        state.messages += u64::from(incoming.is_messages());
        let record = Arc::new(RecordedRequest {
            number,
            connection,
            head: incoming.head.clone(),
            method: incoming.method.clone(),
            path: incoming.path.clone(),
            query: incoming.query.clone(),
            body,
            body_length: incoming.length,
            body_hash: incoming.hash,
            trailers: incoming.trailers.clone(),
            received_at: now,
            request_id: format!("req_01{number:022}"),
            ordinal: if incoming.is_messages() { state.messages } else { 0 },
            delivery: OnceLock::new(),
        });
        if self.recording != Recording::Nothing {
            state.requests.push(record.clone());
        }
        drop(state);
        self.changes.send_modify(|changes| *changes += 1);
        record
    }

    /// Records the delivery of a response.
    pub(crate) async fn answered(&self, record: &Arc<RecordedRequest>, delivery: Delivery, body: Bytes) {
        let _ = record.delivery.set(delivery);
        if let Some(directory) = self.directory.clone() {
            let record = record.clone();
            // A failure to write a record must not disturb the connected client.
            let _ = tokio::task::spawn_blocking(move || save(&directory, &record, &body)).await;
        }
        self.changes.send_modify(|changes| *changes += 1);
    }

    /// The cached prefix for a request that has just arrived.
    pub(crate) fn look_up(
        &self,
        conversation: &str,
        request: &MessagesRequest,
        prompt: &RenderedPrompt,
        now: OffsetDateTime,
    ) -> (Plan, CacheObservation) {
        let state = lock(&self.state);
        let plan = state.cache.plan(prompt, now);
        let seen = state
            .conversations
            .observe(conversation, request, prompt, &plan, now);
        (plan, seen)
    }

    /// The response has begun: adds the planned entries to the cache.
    pub(crate) fn begun(&self, cached: Option<Box<Cached>>) {
        let Some(cached) = cached else { return };
        let now = self.now();
        let mut state = lock(&self.state);
        state.cache.commit(&cached.plan, now);
        if state.messages.is_multiple_of(SWEEP_EVERY) {
            state.cache.sweep(now);
        }
        if self.recording != Recording::Nothing {
            let Cached {
                conversation,
                request,
                prompt,
                plan,
                seen,
            } = *cached;
            state
                .conversations
                .remember(&conversation, &request, &prompt, &plan, now);
            state.report.requests.push(seen);
        }
    }
}
