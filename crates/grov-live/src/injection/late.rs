//! Text for a prompt that was not ready before its request went out. It waits for the next injection point of the same
//! turn.

use super::{ContextSource, ContextText, InjectionPoint};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use grov_domain::TaskId;
use grov_wire::{Key128, Skeleton};
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time for sources to answer once the request has gone out, unless they need longer. The agent's next request usually comes
/// later than this.
const TIMEOUT: Duration = Duration::from_secs(2);

/// How often a late text may fail to go out, because the machine or the database was busy, before it is dropped.
const MAX_TRIES: u8 = 4;

/// A text and its source.
#[derive(Clone)]
pub(super) struct SourcedText {
    pub(super) source: Arc<dyn ContextSource>,
    pub(super) text: ContextText,
}

impl SourcedText {
    /// Whether all memories that it quotes are among these.
    pub(super) fn is_quoted(&self, quoted: &HashSet<TaskId>) -> bool {
        let memories = &self.text.memories;
        !memories.is_empty() && memories.iter().all(|memory| quoted.contains(memory))
    }
}

impl fmt::Debug for SourcedText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("SourcedText")
            .field(&self.source.name())
            .finish()
    }
}

/// The texts that wait in a lineage.
#[derive(Debug, Default)]
pub(super) struct LateTexts {
    /// The injection point of the newest prompt.
    prompt: Option<Key128>,
    /// The texts for it that came too late.
    texts: Vec<SourcedText>,
    /// How often texts for it were taken and did not go out.
    tries: u8,
    /// How often texts were dropped because a memory in them may have been forgotten.
    clears: u64,
}

/// Texts that were taken for a request, and for which prompt they are.
#[derive(Clone, Debug, Default)]
pub(super) struct TakenTexts {
    pub(super) texts: Vec<SourcedText>,
    prompt: Option<Key128>,
    clears: u64,
}

impl LateTexts {
    /// Records that the user sent a prompt. Drops the texts for earlier prompts.
    pub(super) fn begin_turn(&mut self, prompt: Key128) {
        if self.prompt != Some(prompt) {
            self.prompt = Some(prompt);
            self.texts.clear();
            self.tries = 0;
        }
    }

    /// Keeps a text for a prompt, unless a newer prompt was sent.
    pub(super) fn keep(&mut self, prompt: Key128, text: SourcedText) {
        if self.prompt == Some(prompt) {
            self.texts.push(text);
        }
    }

    /// Returns and removes the texts for the newest prompt, if this history contains it.
    pub(super) fn take(&mut self, skeleton: &Skeleton) -> TakenTexts {
        let is_here = self.prompt.is_some_and(|prompt| skeleton.find(prompt).is_some());
        let texts = match is_here {
            true => std::mem::take(&mut self.texts),
            false => Vec::new(),
        };
        TakenTexts {
            texts,
            prompt: self.prompt,
            clears: self.clears,
        }
    }

    /// Keeps texts that were taken and did not go out for the next place of the same turn.
    pub(super) fn put_back(&mut self, taken: TakenTexts) {
        let is_same = (taken.prompt, taken.clears) == (self.prompt, self.clears);
        if taken.texts.is_empty() || !is_same || self.tries >= MAX_TRIES {
            return;
        }
        self.tries += 1;
        self.texts.splice(0..0, taken.texts);
    }

    /// Returns whether texts wait.
    #[cfg(test)]
    pub(super) fn is_ready(&self) -> bool {
        !self.texts.is_empty()
    }

    /// Drops the texts, because a memory in them may have been forgotten.
    pub(super) fn clear(&mut self) {
        self.texts.clear();
        self.clears += 1;
    }
}

/// Asks sources for the text of a prompt whose request has gone out. Each text is passed on as soon as it is there, because
/// the next request does not wait for the slowest source.
pub(super) async fn ask_again(
    sources: Vec<Arc<dyn ContextSource>>,
    point: &InjectionPoint,
    mut keep: impl FnMut(SourcedText),
) {
    let answers = sources.into_iter().map(async |source| {
        let timeout = source.answers_within().unwrap_or(TIMEOUT);
        let point = InjectionPoint {
            deadline: Instant::now() + timeout,
            // No text for a prompt needs the body, which may be large.
            body: Bytes::new(),
            ..point.clone()
        };
        let answer = tokio::time::timeout(timeout, source.context(&point)).await;
        let text = answer.ok().flatten()?;
        Some(SourcedText { source, text })
    });
    let mut answers: FuturesUnordered<_> = answers.collect();
    while let Some(answer) = answers.next().await {
        if let Some(text) = answer {
            keep(text);
        }
    }
}
