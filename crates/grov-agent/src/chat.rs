//! The chat: retrieve, assemble, generate, validate, store.

mod citations;
mod data;
mod delta;
mod draft;
mod evidence;
mod extract;
mod generate;
mod history;
mod incoming;
mod instructions;
mod offline;
mod prompt;
mod quote;
mod schema;
mod sentence;
mod settle;
mod source;
mod turn;
mod validate;

use crate::{AgentStoreError, MessageId, ProjectId, Replay, Response, Retriever, ThreadId, Tool, ToolCall};
use grov_domain::{ChatError, ChatModel, Clock, MicroUsd, TokenUsage};
use serde_json::Value;
use std::sync::Arc;

/// A request to chat. Raw: the service redacts before it derives anything.
#[derive(Clone, Debug)]
pub struct ChatRequest {
    /// The project.
    pub project: ProjectId,
    /// The thread to continue; `None` for a new one.
    pub thread: Option<ThreadId>,
    /// What the user says.
    pub message: String,
    /// The tools that the caller offers, without the built-in ones.
    pub tools: Vec<Tool>,
    /// Data of the caller, shown to the model as data.
    pub metadata: Option<Value>,
}

/// A stage of a chat, which a caller can follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Searches documents and memory.
    Retrieve,
    /// The model writes.
    Generate,
    /// The answer is checked.
    Validate,
    /// The turn is stored.
    Store,
}

impl Stage {
    /// The name in the event stream.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Retrieve => "retrieve",
            Self::Generate => "generate",
            Self::Validate => "validate",
            Self::Store => "store",
        }
    }
}

/// What happens during a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// A stage begins. [`Stage::Generate`] comes a second time if the first answer of the model did not hold: the text that was given
    /// so far is void then.
    Stage(Stage),
    /// A piece of the text for a person: of the answer, the question or the message, not of the JSON around it.
    Text(String),
}

/// The answer to a chat.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatAnswer {
    /// The thread.
    pub thread: ThreadId,
    /// The message of the agent.
    pub message: MessageId,
    /// The answer.
    pub response: Response,
    /// The answer as Markdown.
    pub render: String,
    /// Tokens of all generations of this chat.
    pub usage: TokenUsage,
    /// Their cost, if the prices are known.
    pub cost: Option<MicroUsd>,
}

/// Why a chat has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChatFailed {
    /// The request does not hold: what, and where in it.
    #[error("{message}")]
    Invalid {
        /// A JSON pointer into the request.
        path: String,
        /// What does not hold.
        message: String,
    },
    /// The provider gave no answer.
    #[error(transparent)]
    Provider(#[from] ChatError),
    /// The store failed, or project or thread do not exist.
    #[error(transparent)]
    Store(#[from] AgentStoreError),
}

/// Turns the answer of a chat into the body that an `Idempotency-Key` replays.
pub type RenderReplay<'a> = &'a (dyn Fn(&ChatAnswer) -> Option<Replay> + Sync);

/// Runs chats.
pub struct ChatService {
    store: Arc<dyn crate::AgentStore>,
    retriever: Retriever,
    model: Option<Arc<dyn ChatModel>>,
    clock: Arc<dyn Clock>,
    settings: ChatSettings,
}

/// Limits of a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatSettings {
    /// The most tokens of retrieved documents and memory.
    pub context_tokens: u32,
    /// The most tokens of the thread's history; what is older is summarised.
    pub history_tokens: u32,
    /// The most tokens of an answer.
    pub max_output_tokens: u32,
    /// Whether events are written for a webhook.
    pub has_webhook: bool,
}

impl ChatService {
    /// Creates the service. Without a model, rules answer: they quote what is found, and ask where nothing is.
    pub fn new(
        store: Arc<dyn crate::AgentStore>,
        retriever: Retriever,
        model: Option<Arc<dyn ChatModel>>,
        clock: Arc<dyn Clock>,
        settings: ChatSettings,
    ) -> Self {
        Self {
            store,
            retriever,
            model,
            clock,
            settings,
        }
    }

    /// Answers a message and stores the turn, with the replay that `replay` builds.
    ///
    /// # Errors
    ///
    /// Returns why there is no answer. Nothing is stored then.
    pub async fn chat(
        &self,
        request: ChatRequest,
        replay: Option<RenderReplay<'_>>,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<ChatAnswer, ChatFailed> {
        let incoming = self.read_request(request).await?;
        self.answer(incoming, replay, progress).await
    }

    /// Continues the thread of a call that ended, with its result as data and the tools of the thread's last chat.
    ///
    /// # Errors
    ///
    /// Returns why there is no answer. Nothing is stored then.
    pub async fn continue_after(
        &self,
        call: &ToolCall,
        replay: Option<RenderReplay<'_>>,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<ChatAnswer, ChatFailed> {
        let incoming = self.read_call(call).await?;
        self.answer(incoming, replay, progress).await
    }
}
