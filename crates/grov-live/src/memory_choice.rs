//! Team memory chosen by a model, for prompts that share no words with what they need.

use crate::injection::{ContextSource, ContextText, InjectionPoint};
use crate::memory_source::{MAX_RECALLED, MemoryBackend, check_files, has_work, scope_of};
use async_trait::async_trait;
use grov_domain::{Clock, Judge, MemoryChoiceQuestion, StoreError, SystemClock};
use grov_memory::{
    Budget, Freshness, Query, Ranking, Recalled, choice_line, mentioned_files, offered, recall,
    refers_to_earlier_work, render,
};
use grov_redact::Redactor;
use std::sync::Arc;
use std::time::Duration;

/// The time for a model to choose, which is the longest time of a question to the judge. A choice for a turn that has ended is
/// dropped.
const TIME_TO_CHOOSE: Duration = Duration::from_secs(60);

/// A source that lets a model choose memories when the words of a prompt find none.
pub struct MemoryChoiceSource {
    store: Arc<dyn MemoryBackend>,
    judge: Arc<dyn Judge>,
    ranking: Ranking,
    budget: Budget,
}

impl MemoryChoiceSource {
    /// Creates a source over `store`. `ranking` is that of the search by words, `budget` limits the text.
    pub fn new(
        store: Arc<dyn MemoryBackend>,
        judge: Arc<dyn Judge>,
        ranking: Ranking,
        budget: Budget,
    ) -> Self {
        Self {
            store,
            judge,
            ranking,
            budget,
        }
    }

    async fn choose(&self, point: &InjectionPoint) -> Result<Option<ContextText>, StoreError> {
        let session = &point.lineage.session;
        let query = Query {
            scope: scope_of(point),
            text: point.prompt.clone(),
            files: mentioned_files(&point.prompt),
            before: Some(SystemClock.now()),
            limit: MAX_RECALLED,
        };
        let found = recall(self.store.as_ref(), &query, &self.ranking, Some(session)).await?;
        if !found.is_empty() {
            return Ok(None);
        }
        let mut memories = offered(self.store.as_ref(), &query, session).await?;
        memories.retain(|memory| !point.quoted.contains(&memory.id));
        if memories.is_empty() {
            return Ok(None);
        }
        let question = MemoryChoiceQuestion {
            prompt: point.prompt.clone(),
            memories: memories.iter().map(choice_line).collect(),
        };
        let question = Redactor::shared().clean(question);
        let Some(chosen) = self.judge.choose_memories(None, &question).await else {
            return Ok(None);
        };
        let chosen = chosen.into_iter().filter_map(|place| memories.get(place));
        let recalled: Vec<Recalled> = chosen
            .map(|task| Recalled {
                task: task.clone(),
                score: 1.0,
                freshness: Freshness::Unknown,
            })
            .collect();
        let (recalled, _) = check_files(recalled, Vec::new(), point, &self.ranking).await;
        let rendered = render(&recalled, &[], self.budget);
        Ok(rendered.map(|rendered| ContextText {
            text: rendered.text,
            memories: rendered.memories,
        }))
    }
}

#[async_trait]
impl ContextSource for MemoryChoiceSource {
    fn name(&self) -> &'static str {
        "team memory chosen by a model"
    }

    fn applies(&self, point: &InjectionPoint) -> bool {
        // "Go on with what we did" means the newest memory, which needs no model.
        has_work(point) && !refers_to_earlier_work(&point.prompt)
    }

    fn answers_within(&self) -> Option<Duration> {
        Some(TIME_TO_CHOOSE)
    }

    async fn context(&self, point: &InjectionPoint) -> Option<ContextText> {
        match self.choose(point).await {
            Ok(text) => text,
            Err(error) => {
                tracing::debug!(%error, "cannot read team memory; the model is not asked");
                None
            }
        }
    }
}
