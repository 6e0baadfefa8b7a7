//! How full the context window of a session is.

use crate::transcript_window::{read_window, window_content};
use grov_context::{ContextContent, Window, WindowSource};
use grov_domain::{ClientSessionId, Store, StoreError};
use std::io::BufRead;
use time::OffsetDateTime;

/// What was found out about a window.
#[derive(Clone, Debug)]
pub struct MeasuredContext {
    /// The model.
    pub model: Option<String>,
    /// Tokens in the window.
    pub tokens: u64,
    /// The size of the window.
    pub window: Window,
    /// What fills it.
    pub content: ContextContent,
    /// When it was measured; `None` if it was read from the transcript.
    pub at: Option<OffsetDateTime>,
    /// `proxy` or `hooks`.
    pub path: &'static str,
}

/// Takes what the proxy recorded, or else what the client's transcript says, which `open` opens. `None` if neither knows of a
/// response.
///
/// # Errors
/// Returns the store's error.
pub async fn measured_context<R: BufRead>(
    store: &dyn Store,
    session: &ClientSessionId,
    open: impl FnOnce(&str) -> Option<R>,
) -> Result<Option<MeasuredContext>, StoreError> {
    if let Some(reading) = store.context_reading(session).await? {
        let content = reading.content.as_deref().unwrap_or_default();
        return Ok(Some(MeasuredContext {
            model: reading.model,
            tokens: reading.tokens,
            window: Window {
                tokens: reading.window_tokens,
                source: WindowSource::from_name(&reading.window_source),
            },
            content: serde_json::from_str(content).unwrap_or_default(),
            at: Some(reading.measured_at),
            path: "proxy",
        }));
    }
    let stored = store.hook_session_summary(session).await?;
    let read = stored
        .and_then(|stored| stored.transcript_path)
        .and_then(|path| open(&path))
        .and_then(read_window);
    Ok(read.and_then(|read| {
        let usage = read.usage.as_ref()?;
        Some(MeasuredContext {
            model: Some(usage.model.clone()),
            tokens: usage.context(),
            window: Window::of_model(&usage.model),
            content: window_content(&read, usage.context()),
            at: None,
            path: "hooks",
        })
    }))
}
