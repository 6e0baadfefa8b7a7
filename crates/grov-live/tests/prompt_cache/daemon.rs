//! The policy as a daemon runs it, with a source that answers, is late or panics, and with deliberate faults.

use async_trait::async_trait;
use bytes::Bytes;
use grov_domain::{ExchangeKind, Lineage, OWN_TEXT_CLOSING, OWN_TEXT_OPENING};
use grov_live::{ContextSource, ContextText, Identity, Injection, InjectionPoint, LedgerBackend};
use grov_proxy_core::{MessagesRequest, RequestPolicy};
use grov_redact::Redactor;
use grov_wire::Edit;
use http::{HeaderMap, HeaderValue};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinHandle;
use xxhash_rust::xxh3::xxh3_64;

/// The limit of all policies for new text.
const BUDGET: Duration = Duration::from_millis(10);

/// A deliberate fault of the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// Texts are not repeated.
    Forgetful,
    /// Texts are repeated at the end of their message instead of after their anchor.
    Displaced,
    /// Texts are repeated with changes.
    Rephrased,
    /// One ledger for all sessions.
    Global,
    /// The ledger is lost at a restart.
    Amnesia,
    /// A session with an unknown id adopts nothing.
    Stranger,
    /// Suggestions and compactions are sent without the texts.
    TurnsOnly,
    /// A repeated request is sent without the text.
    OnceOnly,
}

/// A source with new text at some injection points.
pub(crate) struct Talker {
    chance: u64,
    in_loops: bool,
    sent: Mutex<Vec<(Lineage, String)>>,
    asked: Mutex<u64>,
}

impl Talker {
    pub(crate) fn new(chance: u64, in_loops: bool) -> Self {
        Self {
            chance,
            in_loops,
            sent: Mutex::default(),
            asked: Mutex::default(),
        }
    }

    /// Returns the lineage that a text was made for. A late text is joined with the one for its place.
    pub(crate) fn meant_for(&self, text: &str) -> Option<Lineage> {
        let sent = self.sent.lock().unwrap();
        let found = sent.iter().find(|(_, known)| text.contains(known.as_str()));
        found.map(|(lineage, _)| lineage.clone())
    }
}

#[async_trait]
impl ContextSource for Talker {
    fn name(&self) -> &'static str {
        "talker"
    }

    fn applies(&self, point: &InjectionPoint) -> bool {
        self.in_loops || !point.prompt.is_empty()
    }

    fn is_useful_later(&self) -> bool {
        true
    }

    async fn context(&self, point: &InjectionPoint) -> Option<ContextText> {
        let number = {
            let mut asked = self.asked.lock().unwrap();
            *asked += 1;
            *asked
        };
        match xxh3_64(&[self.chance, number].map(u64::to_le_bytes).concat()) % 16 {
            0..3 => return None,
            3 => tokio::time::sleep(Duration::from_secs(3600)).await,
            // A panic without output.
            4 => std::panic::resume_unwind(Box::new(())),
            5..8 => tokio::time::sleep(Duration::from_micros(10)).await,
            _ => {}
        }
        let text = format!("{OWN_TEXT_OPENING}>\nmemory {number}, \"quoted\"\n{OWN_TEXT_CLOSING}");
        let mut sent = self.sent.lock().unwrap();
        sent.push((point.lineage.clone(), text.clone()));
        Some(ContextText {
            text: Redactor::shared().text(&text),
            memories: Vec::new(),
        })
    }
}

/// A running policy.
pub(crate) struct Daemon {
    policy: Injection,
    work: JoinHandle<()>,
}

impl Daemon {
    pub(crate) fn start(store: Arc<dyn LedgerBackend>, talker: Arc<Talker>) -> Self {
        let (policy, work) = Injection::new(store, vec![talker as Arc<dyn ContextSource>]);
        #[allow(clippy::disallowed_methods, reason = "ends with the daemon, see kill")]
        let work = tokio::spawn(work.run(std::future::pending()));
        Self { policy, work }
    }

    /// Stops it without cleanup, as a crash does. Returns how many late texts it added.
    pub(crate) async fn kill(self) -> usize {
        self.work.abort();
        let _ = self.work.await;
        let counters = self.policy.counters().all();
        let later = counters.into_iter().find(|(name, _)| *name == "added_later");
        later.map_or(0, |(_, count)| usize::try_from(count).unwrap())
    }

    /// Returns the edits of a request, in the order in which the proxy collects them.
    pub(crate) async fn edits(
        &self,
        request: &MessagesRequest,
        is_repeated: bool,
        began: bool,
        fault: Fault,
    ) -> Vec<Edit> {
        let (global, is_side);
        let asked = match fault {
            Fault::Global => {
                let mut headers = HeaderMap::new();
                headers.insert(
                    "x-claude-code-session-id",
                    HeaderValue::from_static("one-for-all"),
                );
                global = MessagesRequest::new(headers, request.body().clone(), request.received_at());
                &global
            }
            _ => request,
        };
        self.policy.prepare(asked).await;
        let mut replayed = self.policy.replay(asked);
        let proposed = tokio::time::timeout(BUDGET, self.policy.propose(asked)).await;
        if began {
            self.policy.accepted(asked);
        }
        is_side = matches!(Identity::of(request).kind, ExchangeKind::Side(_));
        match fault {
            Fault::Forgetful => replayed.clear(),
            Fault::TurnsOnly if is_side => replayed.clear(),
            Fault::OnceOnly if is_repeated => return Vec::new(),
            Fault::Displaced | Fault::Rephrased => {
                for edit in &mut replayed {
                    spoil(edit, request, fault);
                }
            }
            _ => {}
        }
        replayed.extend(proposed.unwrap_or_default());
        replayed
    }
}

fn spoil(edit: &mut Edit, request: &MessagesRequest, fault: Fault) {
    let Edit::Insert { at, bytes } = edit else {
        return;
    };
    if fault == Fault::Rephrased {
        let text = String::from_utf8_lossy(bytes).replace("memory", "a memory");
        *bytes = Bytes::from(text);
        return;
    }
    let index = request.index().unwrap();
    // The first end of a message at or after the right place.
    let end = index
        .messages()
        .filter_map(|message| message.insertion_point_at_end())
        .find(|end| end >= at);
    *at = end.unwrap_or(*at);
}
