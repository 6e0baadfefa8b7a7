//! `grov statusline`: the line that the client shows below its prompt.
//!
//! The client runs it often and shows its output, so it never fails, and omits values that are not available in time.

use crate::arguments::Common;
use crate::assembly;
use crate::context::block_on;
use crate::hook::read_input;
use crate::output::{ExitStatus, Outcome, Terminal};
use grov_domain::{ClientSessionId, TokenUsage};
use grov_drift::{DeliveryLog, proxy_fault};
use grov_hooks::status_line::{Classes, Figures, Span, StatusInput, TRANSCRIPT_TAIL_BYTES, WIDTH};
use grov_llm::list_price;
use grov_query::{SessionStats, session_stats};
use grov_runtime::{Environment, Home};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::time::Duration;

/// Maximum bytes of input. The client sends a few kilobytes.
const MAX_INPUT: u64 = 1024 * 1024;
/// How long to wait for the database.
const STORE_TIMEOUT: Duration = Duration::from_millis(100);

pub(crate) fn run(common: &Common, terminal: Terminal) -> Outcome {
    std::panic::set_hook(Box::new(|_| {}));
    let figures = std::panic::catch_unwind(AssertUnwindSafe(|| figures(common))).unwrap_or_default();
    // The client may have closed the pipe.
    let width = if common.wide { usize::MAX } else { WIDTH };
    let _ = terminal.answer(figures, |figures, _| format!("{}\n", figures.line(width)));
    Ok(ExitStatus::Success)
}

fn figures(common: &Common) -> Figures {
    let mut input = StatusInput::read(&read_input(MAX_INPUT));
    if input.usage.is_none() || input.context_percent.is_none() {
        let end = input.transcript_path.as_deref().map(Path::new).and_then(end_of);
        input = input.with_transcript(&end.unwrap_or_default());
    }
    let environment = Environment::of_process();
    let home = Home::locate(common.home.as_deref(), &environment).ok();
    let fault = home.as_ref().and_then(|home| proxy_fault(home, &environment));
    let session = input.session_id.as_deref().map(ClientSessionId::new);
    let recorded = home.zip(session).map(|(home, session)| recorded(&home, &session));
    let recorded = recorded.unwrap_or_default();
    let counted = match recorded.usage {
        Some(usage) => Some((Span::Session, usage)),
        None => input.usage.map(|usage| (Span::LastRequest, usage)),
    };
    let price = |usage: &TokenUsage| Some(list_price(input.model.as_deref()?, usage)?.dollars());
    Figures {
        fault,
        is_off: recorded.is_off,
        context_percent: input.context_percent,
        cost_usd: input.cost_usd,
        classes: counted.map(|(span, usage)| Classes::new(span, &usage, price)),
        drift_score: recorded.drift_score,
        drifted: recorded.drifted,
        drifts: recorded.drifts,
        doubts: recorded.doubts,
        memories: recorded.memories,
    }
}

/// The end of a file.
fn end_of(path: &Path) -> Option<Vec<u8>> {
    // Checked before opening, because opening a pipe waits for a writer.
    let metadata = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let mut file = File::open(path).ok()?;
    let start = metadata.len().saturating_sub(TRANSCRIPT_TAIL_BYTES);
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut end = Vec::new();
    file.take(TRANSCRIPT_TAIL_BYTES).read_to_end(&mut end).ok()?;
    Some(end)
}

/// The recorded values of the session, as far as they are available in time.
fn recorded(home: &Home, session: &ClientSessionId) -> SessionStats {
    let database = home.database();
    let stats = async {
        match assembly::open_briefly(&database).await {
            Ok(Some(store)) => session_stats(&store, session).await,
            _ => None,
        }
    };
    let known = block_on(async {
        tokio::time::timeout(STORE_TIMEOUT, stats)
            .await
            .map_err(io::Error::from)
    });
    let known = known.ok().flatten();
    let mut recorded = known.unwrap_or_default();
    if recorded.memories.is_none() {
        let deliveries = DeliveryLog::of(home.root(), session);
        recorded.memories = deliveries.map(|log| log.read().len() as u64);
    }
    recorded
}
