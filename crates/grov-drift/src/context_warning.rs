//! Warns the user, once per session, that the context window is almost full.

use crate::delivery_log;
use crate::error_log::log_error;
use crate::hook::HookContext;
use crate::private_file;
use crate::resume::SessionRef;
use crate::runtime;
use crate::services::STORE_TIMEOUT;
use crate::transcript_file::{length, read_range};
use grov_actions::transcript::newest_usage;
use grov_context::{ContextMeter, Thresholds, Window, WindowSource};
use grov_domain::{ContextReading, StoreError};
use grov_runtime::ContextSettings;
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::Path;

/// Bytes at the end of a transcript that are searched for the newest usage. At the end of a turn it is close to the end.
const TAIL_BYTES: u64 = 64 * 1024;

/// Returns the warning if the window is almost full and the user was not warned in this session.
pub(crate) fn notice(
    context: &HookContext<'_>,
    session_ref: &SessionRef,
    settings: ContextSettings,
) -> Option<String> {
    let marker = delivery_log::file(context.home.root(), &session_ref.id())?.with_extension("warned");
    if marker.exists() {
        return None;
    }
    let usage = newest_usage(&end_of(session_ref.transcript.as_deref()?)?)?;
    let meter = |window: Window| ContextMeter::new(usage.context(), window, thresholds(settings));
    let assumed = settings.window.map(Window::set_to);
    let mut found = meter(assumed.unwrap_or_else(|| Window::of_model(&usage.model)));
    if found.level() < grov_context::Level::Warning {
        return None;
    }
    // Only a nearly full window is worth the database: the proxy knows what the request asked for.
    if found.window.source.is_guess()
        && let Some(recorded) = recorded(context, session_ref)
    {
        found = meter(window_of(&recorded));
    }
    if !found.is_worth_a_warning() || !is_first(&marker) {
        return None;
    }
    let (tokens, window) = (found.tokens / 1000, found.window.tokens / 1000);
    Some(format!(
        "Grov: the context window is {} % full ({tokens}k of {window}k tokens). Near the end the client compacts the history, \
         which costs a rewrite of the cache. `grov context status` shows what fills it.",
        found.percent()
    ))
}

fn thresholds(settings: ContextSettings) -> Thresholds {
    Thresholds {
        warning: settings.warning_threshold,
        clear: settings.clear_threshold,
    }
}

/// The window that the proxy recorded.
fn window_of(reading: &ContextReading) -> Window {
    Window {
        tokens: reading.window_tokens,
        source: WindowSource::from_name(&reading.window_source),
    }
}

fn recorded(context: &HookContext<'_>, session_ref: &SessionRef) -> Option<ContextReading> {
    let read = async {
        let store = context.services.stores.open_existing(Some(STORE_TIMEOUT)).await?;
        let Some(store) = store else {
            return Ok::<_, StoreError>(None);
        };
        store.context_reading(&session_ref.id()).await
    };
    runtime().ok()?.block_on(read).ok().flatten()
}

fn end_of(path: &Path) -> Option<Vec<u8>> {
    let length = length(path).ok().flatten()?;
    read_range(path, length.saturating_sub(TAIL_BYTES), TAIL_BYTES).ok()
}

/// Creates the marker; `false` if another hook did.
fn is_first(marker: &Path) -> bool {
    let created = private_file::open(marker, OpenOptions::new().write(true).create_new(true));
    match created {
        Ok(_) => true,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => false,
        Err(error) => {
            log_error(None, format_args!("recording that the user was warned: {error}"));
            // Otherwise every turn would warn.
            false
        }
    }
}
