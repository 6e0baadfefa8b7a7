//! The policy as a daemon runs it, with a source that answers, is late or panics, and with deliberate faults.

use async_trait::async_trait;
use bytes::Bytes;
use grov_domain::{ExchangeKind, Lineage, OWN_TEXT_CLOSING, OWN_TEXT_OPENING};
use grov_live::{
    ClearSettings, ContextClearing, ContextEdits, ContextSource, ContextText, Identity, Injection,
    InjectionPoint, InputPrices, LedgerBackend, ReadySummary, SummarySource, Window,
};
use grov_proxy_core::{MessagesRequest, ObservedExchange, Outcome, RequestPolicy, TurnObserver};
use grov_redact::Redactor;
use grov_wire::response::{Turn, Usage};
use grov_wire::{Edit, Splice};
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
    /// Suggestions and compactions are sent with the beginning that was left out.
    Uncut,
    /// The summary changes.
    Resummarized,
}

/// Summaries that are always ready.
struct Summaries {
    clear_at: u64,
    chance: u64,
    asked: Mutex<u64>,
}

impl SummarySource for Summaries {
    fn window(&self, _lineage: &Lineage) -> Option<Window> {
        Some(Window {
            tokens: self.clear_at * 10 / 9,
            clear_at: self.clear_at,
        })
    }

    fn prices(&self, _model: &str) -> Option<InputPrices> {
        None
    }

    fn ready(&self, _lineage: &Lineage) -> Option<ReadySummary> {
        let mut asked = self.asked.lock().unwrap();
        *asked += 1;
        let is_ready = !xxh3_64(&[self.chance, *asked].map(u64::to_le_bytes).concat()).is_multiple_of(4);
        let text = format!("{OWN_TEXT_OPENING}>\nsummary {asked}\n{OWN_TEXT_CLOSING}");
        let text = Redactor::shared().text(&text);
        let age = [0, 0, 1, 2, 7][(*asked % 5) as usize];
        is_ready.then_some(ReadySummary { text, age })
    }

    fn refresh(&self, _lineage: &Lineage) {}
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
    clearing: Option<ContextClearing>,
    work: JoinHandle<()>,
}

/// What the policy leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Economy {
    /// The size of a context, in tokens, at which it is cleared.
    pub(crate) clear_at: u64,
}

impl Daemon {
    pub(crate) fn start(
        store: Arc<dyn LedgerBackend>,
        talker: Arc<Talker>,
        economy: Option<Economy>,
    ) -> Self {
        let chance = talker.chance;
        let edits = ContextEdits {
            clear: economy.is_some(),
            trim: economy.is_some(),
        };
        let (policy, work) =
            Injection::with_context_edits(edits, store, vec![talker as Arc<dyn ContextSource>]);
        let clearing = economy.map(|economy| {
            policy.clearing(ClearSettings {
                summaries: Arc::new(Summaries {
                    clear_at: economy.clear_at,
                    chance,
                    asked: Mutex::default(),
                }),
                tasks: None,
            })
        });
        #[allow(clippy::disallowed_methods, reason = "ends with the daemon, see kill")]
        let work = tokio::spawn(work.run(std::future::pending()));
        Self {
            policy,
            clearing,
            work,
        }
    }

    /// Shows the observers a response whose usage counts a token for every four bytes.
    pub(crate) fn answered(&self, request: &Arc<MessagesRequest>, edits: &[Edit]) {
        let Some(clearing) = &self.clearing else { return };
        let Ok(chunks) = Splice::apply(request.index().unwrap(), edits) else {
            return;
        };
        let usage = Usage {
            cache_read: chunks.len() as u64 / 4,
            ..Usage::default()
        };
        clearing.observe(&ObservedExchange {
            request: Arc::clone(request),
            status: 200,
            turn: Turn {
                usage,
                ..Turn::default()
            },
            outcome: Outcome::Complete,
            ended_at: request.received_at(),
        });
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
            Fault::Uncut if is_side => replayed.retain(|edit| !matches!(edit, Edit::Cut { .. })),
            Fault::Resummarized => {
                for edit in &mut replayed {
                    if let Edit::Cut { bytes, .. } = edit {
                        let text = String::from_utf8_lossy(bytes).replace("summary", "a summary");
                        *bytes = Bytes::from(text + if is_repeated { "" } else { " " });
                    }
                }
            }
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
