//! Replaces results of tools whose content the conversation repeats, in one step, when nothing of the conversation is in the
//! prompt cache. Stored before it is sent, and repeated in every later request.

use super::history::History;
use super::ledger_writer::LedgerUpdate;
use super::policy::{Prepared, conversation};
use super::shared::Shared;
use super::trim::superseded;
use crate::identity::Identity;
use bytes::Bytes;
use grov_domain::{ExchangeKind, Lineage, Redacted, TrimmedResult};
use grov_proxy_core::MessagesRequest;
use grov_redact::Redactor;
use grov_wire::{BlockKind, Edit};
use scopeguard::ScopeGuard;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Time for storing, less than the limit of all policies together.
const STORE_TIMEOUT: Duration = Duration::from_millis(6);

/// Trims that are stored. Dropped without [`keep`](NewTrims::keep), they are removed again: the request goes out with the whole
/// results, so no later request may replace them.
#[must_use]
pub(super) struct NewTrims<'a> {
    shared: &'a Shared,
    prepared: &'a Prepared,
    contents: HashMap<String, Bytes>,
}

impl NewTrims<'_> {
    /// Notes that the request goes out with these trims. Returns them by tool call.
    pub(super) fn keep(mut self) -> HashMap<String, Bytes> {
        let contents = std::mem::take(&mut self.contents);
        self.shared.counters.trimmed.add(contents.len());
        self.prepared.slot.state().add_trims(contents.clone());
        contents
    }
}

impl Drop for NewTrims<'_> {
    fn drop(&mut self) {
        if !self.contents.is_empty() {
            remove(
                self.shared,
                &self.prepared.lineage,
                self.contents.keys().cloned().collect(),
            );
        }
    }
}

/// Stores the trims of superseded results, if this is the time for it.
pub(super) async fn propose<'a>(
    shared: &'a Shared,
    request: &MessagesRequest,
    prepared: &'a Prepared,
) -> Option<NewTrims<'a>> {
    let trims = match is_due(shared, request, prepared) {
        true => new_trims(request, prepared),
        false => Vec::new(),
    };
    if trims.is_empty() || !store(shared, request, prepared, &trims).await {
        return None;
    }
    let contents = trims
        .into_iter()
        .map(|trim| (trim.tool_use_id, Bytes::from(trim.content.into_inner())));
    Some(NewTrims {
        shared,
        prepared,
        contents: contents.collect(),
    })
}

/// Takes back trims of a request that went out with the whole results after all.
pub(super) fn undo(shared: &Shared, prepared: &Prepared, calls: Vec<String>) {
    prepared.slot.state().remove_trims(&calls);
    remove(shared, &prepared.lineage, calls);
}

/// Returns whether results may be replaced in this request.
fn is_due(shared: &Shared, request: &MessagesRequest, prepared: &Prepared) -> bool {
    if !shared.edits.trim || Identity::of(request).kind != ExchangeKind::Main {
        return false;
    }
    let (Some(index), Some(conversation)) = (request.index(), conversation(request)) else {
        return false;
    };
    if prepared.slot.state().edits_disabled() {
        return false;
    }
    let project = prepared.slot.project_path();
    let is_on = !project.is_empty()
        && !shared
            .watcher
            .is_switched_off(&prepared.lineage.session, &project);
    is_on
        && shared
            .cache_use
            .is_cold(&conversation, index, request.received_at(), prepared.is_known)
}

/// Returns the superseded results that are not replaced yet.
fn new_trims(request: &MessagesRequest, prepared: &Prepared) -> Vec<TrimmedResult<Redacted>> {
    let (Some(index), Some(skeleton)) = (request.index(), request.skeleton()) else {
        return Vec::new();
    };
    let history = History::new(index, skeleton, prepared.beginning);
    let mut found = superseded(&history);
    let state = prepared.slot.state();
    found.retain(|found| !state.is_trimmed(&found.tool_use_id));
    drop(state);
    let trimmed = found.into_iter().map(|found| TrimmedResult {
        content: Redactor::shared().text(&found.line()).in_json("", ""),
        tool_use_id: found.tool_use_id,
        decided_at: request.received_at(),
    });
    trimmed.collect()
}

/// Stores trims. Returns whether they were stored in time.
async fn store(
    shared: &Shared,
    request: &MessagesRequest,
    prepared: &Prepared,
    trims: &[TrimmedResult<Redacted>],
) -> bool {
    let Prepared { slot, lineage, .. } = prepared;
    // A request that stops waiting goes out with the whole results, so no later request may replace them.
    let calls = || trims.iter().map(|trim| trim.tool_use_id.clone()).collect();
    let gave_up = scopeguard::guard((), |()| remove(shared, lineage, calls()));
    let until = Instant::now() + STORE_TIMEOUT;
    let stored = async {
        shared.ensure_stored(slot, lineage, request.received_at()).await?;
        shared.store.save_trims(lineage, trims, until).await
    };
    let stored = stored.await;
    ScopeGuard::into_inner(gave_up);
    match stored {
        Ok(stored) => stored,
        Err(error) => {
            tracing::warn!(%error, "cannot store that results of tools are left out; they stay");
            remove(shared, lineage, calls());
            false
        }
    }
}

fn remove(shared: &Shared, lineage: &Lineage, calls: Vec<String>) {
    shared
        .writer
        .queue(LedgerUpdate::NotTrimmed(lineage.clone(), calls));
}

/// Returns the edits that make these trims.
pub(super) fn edits(
    request: &MessagesRequest,
    prepared: &Prepared,
    contents: &HashMap<String, Bytes>,
) -> Vec<Edit> {
    let (Some(index), Some(skeleton)) = (request.index(), request.skeleton()) else {
        return Vec::new();
    };
    let history = History::new(index, skeleton, prepared.beginning);
    let results = history.messages().flat_map(|message| message.blocks());
    let results = results.filter(|block| block.kind() == BlockKind::ToolResult);
    let replaced = results.filter_map(|block| {
        let id = block.tool_use_id()?;
        Some(Edit::ReplaceResult {
            at: block.result_place()?,
            bytes: contents.get(id.as_ref())?.clone(),
        })
    });
    replaced.collect()
}
