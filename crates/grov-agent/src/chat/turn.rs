//! Runs a turn: retrieve, assemble, generate, validate, store.

use super::data::DataMarks;
use super::draft::{Draft, DraftDecision};
use super::evidence::Quotable;
use super::generate::Generated;
use super::history::{self, History, MAX_MESSAGES};
use super::incoming::{Incoming, message};
use super::prompt::PromptParts;
use super::settle::{Settled, Settling, settle};
use super::source::{Source, sources};
use super::{ChatAnswer, ChatFailed, ChatService, Progress, RenderReplay, Stage};
use crate::memory::{ProposedAt, known_items};
use crate::response::render;
use crate::subject::Subject;
use crate::tool::built_in_tools;
use crate::{AgentStoreError, MessageRole, NewTurn, phrases};
use grov_redact::Redacted;

/// A message with fewer content words is searched for together with the one before it.
const SHORT_QUESTION: usize = 3;

impl ChatService {
    /// Answers what came in, and stores the turn.
    pub(super) async fn answer(
        &self,
        incoming: Incoming,
        replay: Option<RenderReplay<'_>>,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<ChatAnswer, ChatFailed> {
        progress(Progress::Stage(Stage::Retrieve));
        let history = self.history(&incoming).await?;
        let question = question(&incoming, &history);
        let retrieved = self
            .retriever
            .retrieve(incoming.project.id, &question, self.settings.context_tokens)
            .await?;
        let sources = sources(&retrieved);
        let mut tools = built_in_tools();
        tools.extend(incoming.tools.0.iter().cloned());
        let parts = PromptParts {
            project: &incoming.project,
            tools: &tools,
            sources: &sources,
            history: &history,
            incoming: &incoming.message,
            metadata: incoming.metadata.as_ref(),
            marks: &DataMarks::of(incoming.thread),
            max_output_tokens: self.settings.max_output_tokens,
        };
        let generated = self.generate(&incoming, &parts, progress).await?;
        progress(Progress::Stage(Stage::Store));
        self.store_answer(incoming, &history, &sources, generated, replay)
            .await
    }

    async fn history(&self, incoming: &Incoming) -> Result<History, AgentStoreError> {
        if incoming.is_new_thread {
            return Ok(History::default());
        }
        let (summary, messages) = self.store.history(incoming.thread, MAX_MESSAGES).await?;
        Ok(history::fit(summary, messages, self.settings.history_tokens))
    }

    async fn store_answer(
        &self,
        incoming: Incoming,
        history: &History,
        sources: &[Source],
        generated: Generated,
        replay: Option<RenderReplay<'_>>,
    ) -> Result<ChatAnswer, ChatFailed> {
        let Generated {
            draft,
            changed,
            usage,
            cost,
        } = generated;
        let project = incoming.project.id;
        let known = if touches_memory(&draft) {
            known_items(self.store.as_ref(), project).await?
        } else {
            Vec::new()
        };
        let settled = settle(
            draft,
            Settling {
                at: ProposedAt {
                    project,
                    thread: Some(incoming.thread),
                    now: incoming.now,
                },
                quotable: Quotable {
                    incoming: &incoming.message,
                    history: &history.messages,
                    sources,
                },
                known,
                changed,
                has_webhook: self.settings.has_webhook,
            },
        );
        let Settled {
            response,
            calls,
            items,
            events,
        } = settled;
        // After a call, the language is that of the message that led to it.
        let asked = incoming.question.clone().or_else(|| earlier_question(history));
        let phrases = phrases::of(asked.as_ref().map_or("", |text| text.as_str()));
        let mut answer = message(
            incoming.thread,
            MessageRole::Assistant,
            render(&response, phrases),
            incoming.now,
        );
        answer.response_json = serde_json::to_value(&response).ok();
        let answer = Redacted::of(&answer);
        let chat_answer = ChatAnswer {
            thread: incoming.thread,
            message: answer.id,
            response,
            render: answer.content.clone(),
            usage,
            cost,
        };
        let turn = NewTurn {
            project,
            thread: incoming.thread,
            is_new_thread: incoming.is_new_thread,
            messages: vec![incoming.message, answer],
            tool_calls: calls,
            memory_items: items,
            tools: incoming.tools,
            summary: history
                .summary
                .as_ref()
                .filter(|_| history.is_summary_new)
                .map(Redacted::of),
            events,
            replay: replay.and_then(|replay| replay(&chat_answer)),
            now: incoming.now,
        };
        self.store.store_turn(&turn).await?;
        Ok(chat_answer)
    }
}

/// What is searched for: the message, with the one before it if it is short; after a call the last message of the user.
fn question(incoming: &Incoming, history: &History) -> Redacted {
    let before = earlier_question(history);
    match (&incoming.question, before) {
        (Some(question), Some(before)) if Subject::of(question).words.len() < SHORT_QUESTION => {
            Redacted::joined(&[question.clone(), before], "\n")
        }
        (Some(question), _) => question.clone(),
        (None, Some(before)) => before,
        (None, None) => Redacted::of(&incoming.message.content),
    }
}

/// The last message of the user before this turn.
fn earlier_question(history: &History) -> Option<Redacted> {
    let mut messages = history.messages.iter().rev();
    let last = messages.find(|message| message.role == MessageRole::User)?;
    Some(Redacted::of(&last.content))
}

/// Whether known items matter to an answer.
fn touches_memory(draft: &Draft) -> bool {
    let calls_memory = match &draft.decision {
        DraftDecision::Act { calls, .. } => calls.iter().any(|call| call.memory.is_some()),
        DraftDecision::Ask { .. } | DraftDecision::Noop { .. } => false,
    };
    calls_memory || !draft.proposals.is_empty()
}
