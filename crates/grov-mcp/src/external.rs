//! External tools: those of the one registry, if the client's user asked for them.

use async_trait::async_trait;
use grov_redact::Redactor;
use grov_tools::{Risk, Tool as Declared};
use rmcp::model::{
    CallToolResult, ContentBlock, JsonObject, ProgressNotificationParam, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Map, Value};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// Says what happens during a call.
pub type Progress = Arc<dyn Fn(&str) + Send + Sync>;

/// Runs external tools.
#[async_trait]
pub trait ExternalTools: Send + Sync {
    /// The declarations.
    fn tools(&self) -> &[Declared];

    /// Runs a tool. Returns its envelope, and whether it is that of an error. `progress` says what happens. When `cancelled`
    /// ends, the call is given up and its cost settled.
    async fn run(
        &self,
        tool: &Declared,
        arguments: Map<String, Value>,
        progress: Progress,
        cancelled: oneshot::Receiver<()>,
    ) -> (Value, bool);
}

/// The declaration for the client.
pub(crate) fn declaration(tool: &Declared) -> Tool {
    let description = format!("{}. {}", tool.description, tool.when_to_use);
    let schema: JsonObject = tool.input().as_object().cloned().unwrap_or_default();
    let annotations = ToolAnnotations::new()
        .read_only(tool.risk != Risk::RunsProgram)
        .open_world(true);
    Tool::new(tool.slug(), description, Arc::new(schema)).with_annotations(annotations)
}

/// Runs a tool for the client, which is told how it goes and can cancel it.
pub(crate) async fn call(
    tools: &dyn ExternalTools,
    tool: &Declared,
    arguments: Option<JsonObject>,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let arguments = arguments.unwrap_or_default();
    // Arguments of the command line, such as `yes` to exceed the budget, are the user's and not the model's.
    let known = |field: &String| tool.arguments.iter().any(|argument| argument.field() == *field);
    if let Some(field) = arguments.keys().find(|field| !known(field)) {
        let text = format!(
            "`{}` has no argument {:?}",
            tool.slug(),
            &field[..field.floor_char_boundary(64)]
        );
        return Ok(CallToolResult::error(vec![ContentBlock::text(text)]));
    }
    let (cancel, cancelled) = oneshot::channel();
    let mut cancel = Some(cancel);
    let (sender, mut messages) = mpsc::unbounded_channel::<String>();
    let progress = Arc::new(move |text: &str| {
        // Nobody listens any more once the call is done.
        let _ = sender.send(text.to_owned());
    });
    let mut run = tools.run(tool, arguments, progress, cancelled);
    let mut step = 0.0;
    loop {
        tokio::select! {
            biased;
            () = context.ct.cancelled(), if cancel.is_some() => {
                cancel = None;
            }
            Some(text) = messages.recv() => {
                step += 1.0;
                notify(context, step, &text).await;
            }
            (envelope, is_error) = &mut run => {
                let text = Redactor::shared().whole(&envelope.to_string()).into_inner();
                let content = vec![ContentBlock::text(text)];
                return Ok(match is_error {
                    true => CallToolResult::error(content),
                    false => CallToolResult::success(content),
                });
            }
        }
    }
}

/// Tells the client what happens, if it asked for that.
async fn notify(context: &RequestContext<RoleServer>, step: f64, text: &str) {
    if let Some(token) = context.meta.get_progress_token() {
        let progress = ProgressNotificationParam::new(token, step).with_message(text);
        // A client that is gone needs no progress.
        let _ = context.peer.notify_progress(progress).await;
    }
}
