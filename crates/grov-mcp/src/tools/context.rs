//! How full the context window is.

use super::ToolFailure;
use super::session::{Which, pick};
use crate::Ports;
use crate::information::Information;
use grov_context::{ContextMeter, Window};
use grov_memory::quote::line;
use grov_query::measured_context;
use grov_redact::Redacted;

/// Maximum characters of the name of a part.
const MAX_NAME: usize = 120;

/// The window of a session, and what fills it.
pub(super) async fn status(ports: &Ports, Which { session }: Which) -> Result<Redacted, ToolFailure> {
    let picked = pick(ports, session.as_deref()).await?;
    let measured = measured_context(&*ports.store, &picked.id, ports.open_transcript).await?;
    let Some(measured) = measured else {
        return Err(ToolFailure::Arguments(
            "no response of this session was seen yet".to_owned(),
        ));
    };
    let window = ports.context.window.map_or(measured.window, Window::set_to);
    let meter = ContextMeter::new(measured.tokens, window, ports.context.thresholds);
    let mut information = Information::default();
    information.line(&format!(
        "session {}: {} % of the context window is used, {} of {} tokens",
        line(picked.id.as_str(), 64),
        meter.percent(),
        meter.tokens,
        meter.window.tokens
    ));
    information.quoted("model", measured.model.as_deref().unwrap_or_default(), MAX_NAME);
    for share in &measured.content.largest {
        information.line(&format!(
            "{} tokens: {}",
            share.tokens,
            line(&format!("{} {}", share.tool, share.subject), MAX_NAME)
        ));
    }
    Ok(information.into_text("context"))
}
