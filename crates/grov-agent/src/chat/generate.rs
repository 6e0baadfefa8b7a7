//! Generates and checks an answer, with one round of repair.

use super::delta::TextDecoder;
use super::draft::{Draft, DraftDecision, MemoryRequest};
use super::incoming::Incoming;
use super::prompt::{PromptParts, add_repair, assemble};
use super::validate::{Offered, validate};
use super::{ChatFailed, ChatService, Progress, Stage, offline};
use crate::{MemoryChange, MemoryItem, MemoryItemId, ProjectId};
use grov_domain::{ChatModel, MicroUsd, TokenUsage};
use std::collections::HashMap;
use time::OffsetDateTime;

/// Number of generations of a chat at most: the first and one repair.
const ROUNDS: usize = 2;

/// A checked answer, with what it cost.
#[derive(Debug)]
pub(super) struct Generated {
    pub(super) draft: Draft,
    /// The items that the answer wants to change, by the id that it names.
    pub(super) changed: HashMap<String, MemoryItem>,
    pub(super) usage: TokenUsage,
    /// `None` if the price of a generation is not known.
    pub(super) cost: Option<MicroUsd>,
}

impl ChatService {
    /// Returns an answer that holds. What is still wrong after one repair becomes a question that says so.
    pub(super) async fn generate(
        &self,
        incoming: &Incoming,
        parts: &PromptParts<'_>,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<Generated, ChatFailed> {
        match &self.model {
            Some(model) => self.generate_by(model.as_ref(), incoming, parts, progress).await,
            None => Ok(by_rules(incoming, parts, progress)),
        }
    }

    async fn generate_by(
        &self,
        model: &dyn ChatModel,
        incoming: &Incoming,
        parts: &PromptParts<'_>,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<Generated, ChatFailed> {
        let mut prompt = assemble(parts);
        let mut usage = TokenUsage::default();
        let mut cost = Some(MicroUsd::default());
        let mut problems = Vec::new();
        for round in 1..=ROUNDS {
            progress(Progress::Stage(Stage::Generate));
            let mut decoder = TextDecoder::default();
            let completion = model
                .complete(&prompt, &mut |piece| {
                    let text = decoder.push(piece);
                    if !text.is_empty() {
                        progress(Progress::Text(text));
                    }
                })
                .await?;
            usage = usage.plus(completion.usage);
            cost = cost.zip(completion.cost).map(|(sum, cost)| sum.plus(cost));
            progress(Progress::Stage(Stage::Validate));
            match self.checked(&completion.text, incoming, parts).await? {
                Ok((draft, changed)) => {
                    return Ok(Generated {
                        draft,
                        changed,
                        usage,
                        cost,
                    });
                }
                Err(found) => {
                    tracing::info!(
                        round,
                        problems = found.len(),
                        "the answer of the model does not hold"
                    );
                    if round < ROUNDS {
                        add_repair(&mut prompt, parts.marks, &completion.text, &found);
                    }
                    problems = found;
                }
            }
        }
        Ok(Generated {
            draft: unusable(&problems),
            changed: HashMap::new(),
            usage,
            cost,
        })
    }

    /// Checks the form of an answer, then what only the store knows.
    async fn checked(
        &self,
        text: &str,
        incoming: &Incoming,
        parts: &PromptParts<'_>,
    ) -> Result<Result<(Draft, HashMap<String, MemoryItem>), Vec<String>>, ChatFailed> {
        let offered = Offered {
            tools: parts.tools,
            sources: parts.sources,
        };
        let draft = match validate(text, offered) {
            Ok(draft) => draft,
            Err(problems) => return Ok(Err(problems)),
        };
        let mut changed = HashMap::new();
        let mut problems = Vec::new();
        for (request, arguments) in changes(&draft) {
            let Some(id) = request.changes() else { continue };
            let found = self.item_to_change(incoming.project.id, id).await?;
            match found.and_then(|item| may_change(&item, arguments, incoming.now).map(|()| item)) {
                Ok(item) if changed.values().any(|other: &MemoryItem| other.id == item.id) => {
                    problems.push(format!(
                        "memory.propose_update: the item {} is changed twice; give one change of it",
                        item.id
                    ));
                }
                Ok(item) => {
                    changed.insert(id.to_owned(), item);
                }
                Err(problem) => problems.push(format!("memory.propose_update: {problem}")),
            }
        }
        Ok(if problems.is_empty() {
            Ok((draft, changed))
        } else {
            Err(problems)
        })
    }

    async fn item_to_change(
        &self,
        project: ProjectId,
        id: &str,
    ) -> Result<Result<MemoryItem, String>, ChatFailed> {
        let unknown = || {
            format!(
                "there is no memory item \"{}\"",
                grov_redact::beginning_of(id, 64)
            )
        };
        let Ok(key) = id.parse::<MemoryItemId>() else {
            return Ok(Err(unknown()));
        };
        Ok(self.store.item(project, key).await?.ok_or_else(unknown))
    }
}

/// Returns the requests of calls to change memory, with the arguments of the calls.
fn changes(draft: &Draft) -> impl Iterator<Item = (&MemoryRequest, &serde_json::Value)> {
    let calls = match &draft.decision {
        DraftDecision::Act { calls, .. } => calls.as_slice(),
        DraftDecision::Ask { .. } | DraftDecision::Noop { .. } => &[],
    };
    calls
        .iter()
        .filter_map(|call| Some((call.memory.as_ref()?, &call.arguments)))
}

/// Whether the change of an item would be possible now.
fn may_change(item: &MemoryItem, arguments: &serde_json::Value, now: OffsetDateTime) -> Result<(), String> {
    item.must_be_replaceable(now)?;
    let change = match arguments.get("status").and_then(serde_json::Value::as_str) {
        None => return Ok(()),
        Some("done") => MemoryChange::Done,
        Some("blocked") => MemoryChange::Block { reason: None },
        Some(_) => MemoryChange::Resume,
    };
    item.clone()
        .change(&change, "", now)
        .map_err(|refused| refused.to_string())
}

/// Answers without a model.
fn by_rules(
    incoming: &Incoming,
    parts: &PromptParts<'_>,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Generated {
    progress(Progress::Stage(Stage::Generate));
    let offered = Offered {
        tools: parts.tools,
        sources: parts.sources,
    };
    let draft = match &incoming.call {
        Some(call) => offline::continued(call),
        None => offline::answer(&incoming.message.content, offered),
    };
    let (DraftDecision::Act { message: text, .. }
    | DraftDecision::Ask { question: text, .. }
    | DraftDecision::Noop { answer: text }) = &draft.decision;
    progress(Progress::Text(text.clone()));
    progress(Progress::Stage(Stage::Validate));
    Generated {
        draft,
        changed: HashMap::new(),
        usage: TokenUsage::default(),
        cost: Some(MicroUsd::default()),
    }
}

/// The question that takes the place of an answer that does not hold.
fn unusable(problems: &[String]) -> Draft {
    let first = problems.first().map_or("it does not hold", String::as_str);
    Draft {
        decision: DraftDecision::Ask {
            question: format!(
                "I could not give an answer that holds: {}. Nothing was done. Can you say in other words, or more exactly, what you need?",
                grov_redact::beginning_of(first, 300)
            ),
            options: Vec::new(),
            reason: format!(
                "The model's answer could not be used, also after one correction: {}",
                grov_redact::beginning_of(&problems.join("; "), 1_500)
            ),
        },
        citations: Vec::new(),
        proposals: Vec::new(),
    }
}
