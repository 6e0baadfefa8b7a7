//! Clears the context of a conversation that is nearly full: decides after a response, so that no request waits for it. The next
//! main request leaves out the beginning of the history, and every later one repeats that.

use super::clear_summary::{LeftOut, render};
use super::cut_choice::{CutChoice, InputPrices, Measured, choose};
use super::history::History;
use super::ledger_writer::LedgerUpdate;
use super::lineage_state::history_key;
use super::policy::{Job, Prepared, prepared};
use super::shared::{Shared, block_of};
use super::slot::{Loading, Slot};
use super::trim::loaded_tools;
use crate::identity::Identity;
use crate::prompts;
use crate::tasks::TaskOrchestrator;
use bytes::Bytes;
use grov_domain::{
    ClientDialect, Clock, CutNote, ExchangeKind, HistoryCut, Lineage, Redacted, SystemClock, estimated_tokens,
};
use grov_proxy_core::{ObservedExchange, Outcome, TurnObserver};
use grov_wire::response::Usage;
use grov_wire::{Key128, RequestIndex};
use std::sync::Arc;
use tokio::sync::mpsc;

/// Responses after which a summary that does not cover enough is prepared again.
const MAX_FRESH_AGE: u64 = 1;

/// A summary that can stand for the beginning of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadySummary {
    /// The text for the agent, between Grov's tags.
    pub text: Redacted,
    /// The number of responses of the conversation since the summary was asked for. It says nothing of what came after.
    pub age: u64,
}

/// The size of a model's context window, and when a context is cleared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The size in tokens.
    pub tokens: u64,
    /// The size of a context, in tokens, at which it is cleared.
    pub clear_at: u64,
}

/// Has summaries of conversations, and knows when a context is full.
pub trait SummarySource: Send + Sync + 'static {
    /// Returns the context window of a conversation, if it is known. Must not block.
    fn window(&self, lineage: &Lineage) -> Option<Window>;

    /// Returns the prices of a model's input, if they are known. Must not block.
    fn prices(&self, model: &str) -> Option<InputPrices>;

    /// Returns the summary of a conversation, if one is ready. Must not block.
    fn ready(&self, lineage: &Lineage) -> Option<ReadySummary>;

    /// Prepares the summary again in the background, because the conversation has gone on. Must not block.
    fn refresh(&self, lineage: &Lineage);
}

/// The parts that clear contexts.
pub struct ClearSettings {
    /// The summaries.
    pub summaries: Arc<dyn SummarySource>,
    /// Saves the task when its context is cleared.
    pub tasks: Option<TaskOrchestrator>,
}

/// The observer that clears contexts. Comes from [`Injection::clearing`](super::Injection::clearing).
pub struct ContextClearing {
    shared: Arc<Shared>,
    jobs: mpsc::Sender<Job>,
    settings: ClearSettings,
}

impl ContextClearing {
    pub(super) fn new(shared: Arc<Shared>, jobs: mpsc::Sender<Job>, settings: ClearSettings) -> Self {
        Self {
            shared,
            jobs,
            settings,
        }
    }

    /// Decides whether to clear the context of a conversation, and saves the decision.
    fn consider(&self, exchange: &ObservedExchange, lineage: Lineage, slot: &Arc<Slot>) -> Option<()> {
        let request = &exchange.request;
        let (index, skeleton) = (request.index()?, request.skeleton()?);
        if self.shared.edits.clear {
            slot.state().note_response(skeleton.tip());
        }
        let window = self.settings.summaries.window(&lineage)?;
        let tokens = context_tokens(&exchange.turn.usage);
        if !self.shared.edits.clear || tokens < window.clear_at || *slot.loading.borrow() != Loading::Done {
            return None;
        }
        let project = slot.project_path();
        let beginning = {
            let state = slot.state();
            if state.edits_disabled() || state.has_pending_cut(skeleton) {
                return None;
            }
            state.beginning(index, skeleton, false)
        };
        if project.is_empty() || self.shared.watcher.is_switched_off(&lineage.session, &project) {
            return None;
        }
        let Some(summary) = self.settings.summaries.ready(&lineage) else {
            self.shared.counters.no_summary.increment();
            tracing::info!(session = %lineage.session, tokens, "the context is nearly full, and its summary is not ready");
            return None;
        };
        let history = History::new(index, skeleton, beginning);
        let measured = Measured {
            tokens,
            window: window.tokens,
            prices: index
                .model()
                .and_then(|model| self.settings.summaries.prices(&model)),
        };
        // Only what the summary covers may be left out.
        let covered = slot.state().tip_before(summary.age);
        let size = estimated_tokens(&summary.text) as u64;
        let choice = covered.and_then(|covered| choose(&history, measured, size, skeleton.find(covered)?));
        let is_old = summary.age > MAX_FRESH_AGE && choice.as_ref().is_none_or(|choice| choice.keeps_much);
        if is_old {
            self.settings.summaries.refresh(&lineage);
            return None;
        }
        let CutChoice {
            link, effect, pays, ..
        } = choice?;
        let (after, cost, saving) = (effect.tokens_after, effect.cost, effect.saving);
        if !pays {
            self.shared.counters.not_worth_clearing.increment();
            tracing::info!(session = %lineage.session, tokens, after, cost, saving, "the context is nearly full; clearing it does not pay");
            return None;
        }
        tracing::info!(
            session = %lineage.session, tokens, after, cost_micro_usd = cost, saving_micro_usd = saving,
            "the context is nearly full; the next request clears it"
        );
        let left_out = left_out(index, link.message);
        let cut = HistoryCut {
            anchor: history_key(link.key),
            block: block_of(&[render(&summary.text, &left_out)]),
            decided_at: SystemClock.now(),
            applied_at: None,
            is_measured: false,
            effect,
        };
        self.save(lineage, slot, link.key, cut);
        Some(())
    }

    /// Saves a cut in the background. Only then requests may apply it.
    fn save(&self, lineage: Lineage, slot: &Arc<Slot>, key: Key128, cut: HistoryCut<Redacted>) {
        let (shared, slot) = (Arc::clone(&self.shared), Arc::clone(slot));
        let job = Box::pin(async move {
            let stored = async {
                shared.ensure_stored(&slot, &lineage, cut.decided_at).await?;
                shared.store.save_cut(&lineage, &cut).await
            };
            match stored.await {
                Ok(true) => {
                    let replaced = slot.state().add_cut(key, Bytes::from(cut.block.into_inner()));
                    for key in replaced {
                        let update = LedgerUpdate::Cut(lineage.clone(), key, CutNote::Dropped);
                        shared.writer.queue(update);
                    }
                }
                Ok(false) => {}
                Err(error) => {
                    tracing::warn!(%error, session = %lineage.session, "cannot store that the context is cleared; it stays");
                }
            }
        });
        // When too many jobs are queued, the next response decides again.
        let _ = self.jobs.try_send(job);
    }

    /// Records the first response after a clear.
    fn measure(&self, exchange: &ObservedExchange, prepared: &Prepared, key: Key128) {
        let note = CutNote::Measured(context_tokens(&exchange.turn.usage));
        let update = LedgerUpdate::Cut(prepared.lineage.clone(), key, note);
        self.shared.writer.queue(update);
        if let Some(tasks) = &self.settings.tasks {
            tasks.save_at_threshold(&prepared.lineage.session);
        }
    }
}

impl TurnObserver for ContextClearing {
    fn name(&self) -> &'static str {
        "context clearing"
    }

    fn observe(&self, exchange: &ObservedExchange) {
        let Some(prepared) = prepared(&exchange.request) else {
            return;
        };
        prepared.note_cache_use(&self.shared, &exchange.request, exchange.ended_at);
        let is_complete = exchange.outcome == Outcome::Complete && context_tokens(&exchange.turn.usage) > 0;
        if !is_complete || Identity::of(&exchange.request).kind != ExchangeKind::Main {
            return;
        }
        // Not only the first request with the cut: it may have failed.
        let cut = prepared.beginning.key();
        let cut = cut.filter(|key| prepared.slot.state().is_to_be_measured(*key));
        if let Some(key) = cut {
            self.measure(exchange, &prepared, key);
        }
        // Without a reason to clear, there is nothing to do.
        let _ = self.consider(exchange, prepared.lineage.clone(), &prepared.slot);
    }
}

/// Returns the size of the context after a response, in tokens.
fn context_tokens(usage: &Usage) -> u64 {
    let classes = [usage.input, usage.cache_read, usage.cache_creation, usage.output];
    classes.into_iter().fold(0, u64::saturating_add)
}

/// Returns what a cut before this message leaves out.
fn left_out(index: &RequestIndex, message: usize) -> LeftOut {
    let mut newest_first = index.messages().rev().map(|message| {
        (
            message.number(),
            prompts::in_message(&ClientDialect::CLAUDE_CODE, &message),
        )
    });
    let newest = newest_first.find(|(_, prompts)| !prompts.is_empty());
    let prompt = newest.filter(|(number, _)| *number < message);
    LeftOut {
        prompt: prompt.map(|(_, prompts)| prompts.join("\n")),
        loaded_tools: loaded_tools(index, 0..message),
    }
}
