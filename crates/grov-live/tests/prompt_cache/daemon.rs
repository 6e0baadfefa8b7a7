//! The policy as a daemon runs it, on a source that says something, or nothing, or not in time; and what is wrong with
//! it on purpose.

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

/// What all policies have for new text.
const BUDGET: Duration = Duration::from_millis(10);

/// What is wrong with a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// What was said is not said again.
    Forgetful,
    /// It is said again at the end of its message instead of behind its anchor.
    Displaced,
    /// It is said again in other words.
    Rephrased,
    /// One ledger for all sessions.
    Global,
    /// Nothing survives a restart.
    Amnesia,
    /// A session with an unknown id starts empty, whatever its history.
    Stranger,
    /// Suggestions and compactions go out without it.
    TurnsOnly,
    /// A request that is repeated goes out without it.
    OnceOnly,
}

/// Says something new at some of the places it is asked about.
pub(crate) struct Talker {
    chance: u64,
    in_loops: bool,
    said: Mutex<Vec<(Lineage, String)>>,
    asked: Mutex<u64>,
}

impl Talker {
    pub(crate) fn new(chance: u64, in_loops: bool) -> Self {
        Self {
            chance,
            in_loops,
            said: Mutex::default(),
            asked: Mutex::default(),
        }
    }

    /// For whom a text was meant.
    pub(crate) fn meant_for(&self, text: &str) -> Option<Lineage> {
        let said = self.said.lock().unwrap();
        let found = said.iter().find(|(_, known)| known == text);
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

    async fn context(&self, point: &InjectionPoint) -> Option<ContextText> {
        let number = {
            let mut asked = self.asked.lock().unwrap();
            *asked += 1;
            *asked
        };
        match xxh3_64(&[self.chance, number].map(u64::to_le_bytes).concat()) % 16 {
            0..3 => return None,
            3 => tokio::time::sleep(Duration::from_secs(3600)).await,
            // A panic without the noise.
            4 => std::panic::resume_unwind(Box::new(())),
            5..8 => tokio::time::sleep(Duration::from_micros(10)).await,
            _ => {}
        }
        let text = format!("{OWN_TEXT_OPENING}>\nmemory {number}, \"quoted\"\n{OWN_TEXT_CLOSING}");
        let mut said = self.said.lock().unwrap();
        said.push((point.lineage.clone(), text.clone()));
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

    /// Ends it without any notice, as a crash does.
    pub(crate) async fn kill(self) {
        self.work.abort();
        let _ = self.work.await;
    }

    /// The edits for a request, gathered as the proxy gathers them.
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
    let Edit::Insert { at, bytes } = edit else { return };
    if fault == Fault::Rephrased {
        let text = String::from_utf8_lossy(bytes).replace("memory", "a memory");
        *bytes = Bytes::from(text);
        return;
    }
    let index = request.index().unwrap();
    // The first message's end that is not before the right place.
    let end = index
        .messages()
        .filter_map(|message| message.insertion_point_at_end())
        .find(|end| end >= at);
    *at = end.unwrap_or(*at);
}
