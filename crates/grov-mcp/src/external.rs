//! External tools: those of the one registry, if the client's user asked for them.

use crate::arguments;
use async_trait::async_trait;
use grov_redact::Redactor;
use grov_tools::{Action, Argument, Risk, Tool as Declared};
use rmcp::model::{
    CallToolResult, ContentBlock, JsonObject, ProgressNotificationParam, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Map, Value};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// Maximum bytes of all arguments of a call. What is longer belongs into a file.
const MAX_BYTES: usize = 256 * 1024;

/// The argument of built-in tools with which a person sends files that usually hold keys.
const FORCE: &str = "force";

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
    let mut schema: JsonObject = tool.input().as_object().cloned().unwrap_or_default();
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.retain(|field, _| is_offered(tool, field));
    }
    let annotations = ToolAnnotations::new()
        .read_only(tool.risk != Risk::RunsProgram)
        .open_world(true);
    Tool::new(tool.slug(), description, Arc::new(schema)).with_annotations(annotations)
}

/// Whether the model may set an argument. Those that a person decides about are not offered: `yes` exceeds the budget, `force` sends
/// files with keys.
fn is_offered(tool: &Declared, field: &str) -> bool {
    let is_built_in = matches!(tool.action, Action::BuiltIn(_));
    let is_own = |argument: &Argument| argument.field() == field;
    tool.arguments.iter().any(is_own) && !(is_built_in && field == FORCE)
}

/// Runs a tool for the client, which is told how it goes and can cancel it.
pub(crate) async fn call(
    tools: &dyn ExternalTools,
    tool: &Declared,
    arguments: Option<JsonObject>,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let arguments = arguments.unwrap_or_default();
    if let Some(text) = refusal(tool, &arguments) {
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

/// Why arguments are not accepted, for the model.
fn refusal(tool: &Declared, arguments: &JsonObject) -> Option<String> {
    if let Some(field) = arguments.keys().find(|field| !is_offered(tool, field)) {
        let field = &field[..field.floor_char_boundary(64)];
        return Some(format!("`{}` has no argument {field:?}", tool.slug()));
    }
    let bytes: usize = arguments
        .iter()
        .map(|(field, value)| field.len() + arguments::size(value))
        .sum();
    (bytes > MAX_BYTES)
        .then(|| format!("the arguments have {bytes} bytes, and {MAX_BYTES} are allowed: shorten them"))
}

/// Tells the client what happens, if it asked for that.
async fn notify(context: &RequestContext<RoleServer>, step: f64, text: &str) {
    if let Some(token) = context.meta.get_progress_token() {
        let progress = ProgressNotificationParam::new(token, step).with_message(text);
        // A client that is gone needs no progress.
        let _ = context.peer.notify_progress(progress).await;
    }
}
