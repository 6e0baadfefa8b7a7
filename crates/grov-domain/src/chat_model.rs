//! The port to a chat model, as the agent service uses it.

use crate::{MicroUsd, TokenUsage};
use async_trait::async_trait;
use grov_redact::Redacted;
use std::time::Duration;

/// Who wrote a message of a [`ChatPrompt`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChatRole {
    /// The caller.
    User,
    /// The model.
    Assistant,
}

/// A message of a [`ChatPrompt`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatMessage {
    /// Who wrote it.
    pub role: ChatRole,
    /// The words.
    pub text: Redacted,
}

/// What a chat model is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatPrompt {
    /// The system prompt.
    pub system: Redacted,
    /// The conversation; the last message is of the user.
    pub messages: Vec<ChatMessage>,
    /// JSON Schema of the answer, as JSON. A provider enforces it where it can.
    pub schema: String,
    /// The most tokens of the answer.
    pub max_output_tokens: u32,
}

/// The answer of a chat model.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatCompletion {
    /// The text, which should be JSON.
    pub text: String,
    /// Tokens by class; zeros if the provider does not say.
    pub usage: TokenUsage,
    /// The cost by list price; `None` if the price is not known.
    pub cost: Option<MicroUsd>,
}

/// Why a chat model gave no answer. Contains no text of the server, which may repeat the key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChatError {
    /// The credential was refused.
    #[error("the chat provider refused the API key (status {0}); check CHAT_API_KEY")]
    KeyRefused(u16),
    /// The request was rejected.
    #[error("the chat provider rejected the request: {0}; check CHAT_MODEL and CHAT_BASE_URL")]
    Rejected(String),
    /// The provider cannot answer at present.
    #[error("the chat provider cannot answer at present: {reason}")]
    Unavailable {
        /// What happened.
        reason: String,
        /// The pause that it asks for.
        retry_after: Option<Duration>,
    },
    /// No answer in time.
    #[error("the chat provider did not answer within {0:?}")]
    TimedOut(Duration),
    /// The answer was broken or cut off.
    #[error("the chat provider's answer was broken: {0}")]
    Broken(String),
    /// The model refused to answer.
    #[error("the model refused to answer")]
    Refused,
}

/// A chat model. Dropping the future of a call cancels the call.
#[async_trait]
pub trait ChatModel: Send + Sync {
    /// The name of the provider, such as `openai`.
    fn provider(&self) -> &'static str;
    /// Makes one generation. Calls `on_text` with each piece of the answer as it arrives, if the provider streams.
    ///
    /// # Errors
    ///
    /// Returns a [`ChatError`] if there is no complete answer.
    async fn complete(
        &self,
        prompt: &ChatPrompt,
        on_text: &mut (dyn for<'t> FnMut(&'t str) + Send),
    ) -> Result<ChatCompletion, ChatError>;
    /// Whether the last call could reach the provider; `true` before the first.
    fn is_ok(&self) -> bool;
}
