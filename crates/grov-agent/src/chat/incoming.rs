//! Reads what a chat answers: a message of the user, or the result of a call.

use super::{ChatFailed, ChatRequest, ChatService};
use crate::json_text::JsonText;
use crate::memory::whole_micros;
use crate::tool::ArgumentSchema;
use crate::{AgentStoreError, Message, MessageId, MessageRole, Project, ThreadId, ToolCall, Tools};
use grov_redact::{Redacted, Redactor};
use serde_json::{Value, json};
use time::OffsetDateTime;

/// The most characters of a message.
const MAX_MESSAGE_CHARS: usize = 100_000;

/// The most bytes of a result that are kept in the thread.
const MAX_RESULT: usize = 16 * 1024;

/// What a chat answers, free of secrets.
#[derive(Debug)]
pub(super) struct Incoming {
    pub(super) project: Project,
    pub(super) thread: ThreadId,
    pub(super) is_new_thread: bool,
    /// Of the user or of the tool.
    pub(super) message: Redacted<Message>,
    /// What is searched for; `None` for the last message of the user.
    pub(super) question: Option<Redacted>,
    pub(super) tools: Redacted<Tools>,
    pub(super) metadata: Option<Value>,
    /// The call that ended.
    pub(super) call: Option<ToolCall>,
    pub(super) now: OffsetDateTime,
}

impl ChatService {
    /// Checks a request and masks the secrets in it.
    pub(super) async fn read_request(&self, request: ChatRequest) -> Result<Incoming, ChatFailed> {
        if request.message.chars().count() > MAX_MESSAGE_CHARS {
            return Err(invalid(
                "/message",
                format!("the message has more than {MAX_MESSAGE_CHARS} characters; shorten it"),
            ));
        }
        let text = Redactor::shared().text(request.message.trim());
        if text.is_empty() {
            return Err(invalid(
                "/message",
                "the message is empty; say what you want to know or to have done".to_owned(),
            ));
        }
        for (place, tool) in request.tools.iter().enumerate() {
            if let Err(problem) = ArgumentSchema::new(&tool.input_schema) {
                return Err(invalid(&format!("/tools/{place}/input_schema"), problem));
            }
        }
        let project = self.store.project(request.project).await?;
        let project = project.ok_or(AgentStoreError::NotFound("project"))?;
        if let Some(id) = request.thread {
            let thread = self.store.thread(id).await?;
            thread
                .filter(|thread| thread.project_id == project.id)
                .ok_or(AgentStoreError::NotFound("thread"))?;
        }
        let thread = request.thread.unwrap_or_else(ThreadId::fresh);
        let now = whole_micros(self.clock.now());
        Ok(Incoming {
            project,
            thread,
            is_new_thread: request.thread.is_none(),
            message: Redacted::of(&message(thread, MessageRole::User, text.to_string(), now)),
            question: Some(text),
            tools: Redacted::of(&Tools(request.tools)),
            metadata: request
                .metadata
                .filter(|metadata| !metadata.is_null())
                .map(|metadata| {
                    let JsonText(metadata) = Redacted::of(&JsonText(metadata)).into_inner();
                    metadata
                }),
            call: None,
            now,
        })
    }

    /// Reads a call that ended, to continue its thread.
    pub(super) async fn read_call(&self, call: &ToolCall) -> Result<Incoming, ChatFailed> {
        if !call.status.is_final() {
            return Err(invalid(
                "/continue",
                format!(
                    "the call is {}; a chat continues after a call that ended",
                    call.status
                ),
            ));
        }
        let Some(thread) = call.thread_id else {
            return Err(invalid(
                "/continue",
                "the call belongs to no thread that could be continued".to_owned(),
            ));
        };
        let project = self.store.project(call.project_id).await?;
        let project = project.ok_or(AgentStoreError::NotFound("project"))?;
        let found = self.store.thread(thread).await?;
        found
            .filter(|found| found.project_id == project.id)
            .ok_or(AgentStoreError::NotFound("thread"))?;
        let call = Redacted::of(call).into_inner();
        let now = whole_micros(self.clock.now());
        let result = json!({
            "tool_call_id": call.id, "name": call.name, "status": call.status, "result": call.result, "error": call.error,
        });
        let content = grov_redact::bounded(&result.to_string(), MAX_RESULT).into_owned();
        Ok(Incoming {
            project,
            thread,
            is_new_thread: false,
            message: Redacted::of(&message(thread, MessageRole::Tool, content, now)),
            question: None,
            tools: Redacted::of(&Tools(self.store.thread_tools(thread).await?)),
            metadata: None,
            call: Some(call),
            now,
        })
    }
}

/// Builds a message.
pub(super) fn message(thread: ThreadId, role: MessageRole, content: String, now: OffsetDateTime) -> Message {
    Message {
        id: MessageId::fresh(),
        thread_id: thread,
        role,
        content,
        response_json: None,
        created_at: now,
    }
}

fn invalid(path: &str, message: String) -> ChatFailed {
    ChatFailed::Invalid {
        path: path.to_owned(),
        message,
    }
}
