//! Conversations.

use crate::names::named;
use crate::{MessageId, ProjectId, ThreadId};
use grov_redact::FreeText;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use time::OffsetDateTime;

/// Who wrote a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum MessageRole {
    /// The caller.
    User,
    /// The agent.
    Assistant,
    /// The result of a tool call.
    Tool,
}

named!(MessageRole { User => "user", Assistant => "assistant", Tool => "tool" });

/// A conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Thread {
    /// The key.
    pub id: ThreadId,
    /// Its project.
    pub project_id: ProjectId,
    /// The beginning of its first message.
    pub title: String,
    /// Number of messages.
    pub messages: u32,
    /// When it began.
    #[serde(with = "time::serde::rfc3339")]
    pub created_at: OffsetDateTime,
    /// When the last message was stored.
    #[serde(with = "time::serde::rfc3339")]
    pub updated_at: OffsetDateTime,
}

/// A message of a thread.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Message {
    /// The key.
    pub id: MessageId,
    /// Its thread.
    pub thread_id: ThreadId,
    /// Who wrote it.
    pub role: MessageRole,
    /// The words: what the user wrote, or the rendered answer.
    pub content: String,
    /// The answer of the agent as the caller received it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_json: Option<Value>,
    /// When it was stored.
    #[serde(with = "time::serde::rfc3339")]
    pub created_at: OffsetDateTime,
}

impl FreeText for Message {
    fn each_text(&mut self, visit: &mut dyn FnMut(&mut String)) {
        let Self {
            id: _,
            thread_id: _,
            role: _,
            content,
            response_json,
            created_at: _,
        } = self;
        visit(content);
        if let Some(response) = response_json {
            crate::json_text::each_text_of_value(response, visit);
        }
    }
}

/// What the older part of a thread said, in place of its messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadSummary {
    /// The summary.
    pub text: String,
    /// The last message that it covers.
    pub until: MessageId,
}

impl FreeText for ThreadSummary {
    fn each_text(&mut self, visit: &mut dyn FnMut(&mut String)) {
        let Self { text, until: _ } = self;
        visit(text);
    }
}
