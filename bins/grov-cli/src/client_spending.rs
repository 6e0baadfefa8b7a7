//! What the client spent: reads its transcripts and the store.

use crate::commands::provider_file;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::note;
use grov_cost::{PriceBook, Spending, UsageReader, client_folders, transcripts_below, transcripts_of};
use grov_domain::{MicroUsd, StoreConnection, UsageFilter};
use grov_query::{ClientSessionView, SessionPath};
use grov_runtime::Environment;
use std::ffi::OsStr;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The file with the user's own prices, in the home.
const OWN_PRICES: &str = "prices.json";
/// Time between two reports of progress, and before the first.
const INTERVAL: Duration = Duration::from_millis(500);
/// Maximum bytes of transcripts that are read for a list of sessions, newest first: a second or two.
const MAX_LISTED_BYTES: u64 = 1024 * 1024 * 1024;

/// The prices: the user's own, those of the provider file, and the built-in ones. A provider file with problems is reported
/// and not used.
///
/// # Errors
/// The file with the user's own prices cannot be used.
pub(crate) fn prices(context: &Context) -> Result<PriceBook, Failure> {
    let path = context.home.root().join(OWN_PRICES);
    let mut prices = PriceBook::with_file(&path).map_err(|error| {
        Failure::error("prices", format!("{}: {error}", path.display()))
            .hint("correct the file, or remove it to use the built-in prices")
    })?;
    match provider_file(context) {
        Ok(file) => {
            let targets = file.iter().flat_map(|file| file.targets());
            prices.add_targets(targets.map(AsRef::as_ref));
        }
        Err(failure) => note!("warning: prices of the provider file are not used: {failure}"),
    }
    Ok(prices)
}

/// The folders with the client's transcripts.
pub(crate) fn folders() -> Vec<PathBuf> {
    let environment = Environment::of_process();
    client_folders(|name| environment.get(name).map(OsStr::to_owned))
}

/// Reads all transcripts. Reports progress on a terminal.
pub(crate) fn read_transcripts(spending: &mut Spending) {
    read_files(spending, &transcripts_below(&folders()), true);
}

/// Reads files, given with their sizes in bytes. One that cannot be read is reported.
fn read_files(spending: &mut Spending, files: &[(PathBuf, u64)], reports: bool) {
    let total: u64 = files.iter().map(|(_, size)| size).sum();
    let mut progress = Progress {
        is_terminal: reports && io::stderr().is_terminal(),
        reported: Instant::now(),
        is_open: false,
    };
    let mut reader = UsageReader::default();
    let mut done: u64 = 0;
    for (path, size) in files {
        let read = reader.read(path, |entry| spending.add(path, entry));
        done += size;
        if let Err(error) = read {
            progress.end();
            note!("warning: {} is not counted: {error}", path.display());
        }
        progress.update(done, total);
    }
    progress.end();
}

/// What listed sessions cost.
pub(crate) struct SessionCosts {
    prices: PriceBook,
    /// Bytes of transcripts that may still be read.
    room: u64,
}

impl SessionCosts {
    pub(crate) fn new(prices: PriceBook) -> Self {
        Self {
            prices,
            room: MAX_LISTED_BYTES,
        }
    }

    /// What a session cost so far; `None` if nothing is known, or if too many transcripts were read for others before.
    ///
    /// # Errors
    /// The store's errors.
    pub(crate) async fn of(
        &mut self,
        store: &dyn StoreConnection,
        session: &ClientSessionView,
    ) -> Result<Option<MicroUsd>, Failure> {
        let files = match (&session.transcript, session.path) {
            (Some(transcript), SessionPath::Hooks) => transcripts_of(Path::new(transcript)),
            _ => Vec::new(),
        };
        let size: u64 = files.iter().map(|(_, size)| size).sum();
        if size > self.room {
            return Ok(None);
        }
        self.room -= size;
        cost_of(store, &self.prices, session, &files).await
    }
}

async fn cost_of(
    store: &dyn StoreConnection,
    prices: &PriceBook,
    session: &ClientSessionView,
    files: &[(PathBuf, u64)],
) -> Result<Option<MicroUsd>, Failure> {
    let mut spending = Spending::new(prices.clone());
    if session.path == SessionPath::Proxy {
        let filter = UsageFilter {
            client_session_id: Some(session.id.clone()),
            since: None,
        };
        spending.add_proxy(store.exchange_usage(&filter).await?);
    } else {
        read_files(&mut spending, files, false);
    }
    let total = spending
        .rows(grov_cost::Grouping::Day, None, str::to_owned, |_| true)
        .total;
    let is_known = total.cost > 0;
    Ok(is_known.then(|| MicroUsd(u64::try_from(total.cost.div_ceil(1_000)).unwrap_or(u64::MAX))))
}

/// Reports progress on standard error, in one line that is overwritten.
struct Progress {
    is_terminal: bool,
    reported: Instant,
    is_open: bool,
}

impl Progress {
    fn update(&mut self, done: u64, total: u64) {
        if !self.is_terminal || self.reported.elapsed() < INTERVAL {
            return;
        }
        self.reported = Instant::now();
        self.is_open = true;
        let percent = done.saturating_mul(100) / total.max(1);
        let mut stderr = io::stderr().lock();
        // There is no other place to report that standard error cannot be written.
        let _ = write!(stderr, "\r\u{1b}[Kreading transcripts: {percent} %").and_then(|()| stderr.flush());
    }

    fn end(&mut self) {
        if std::mem::take(&mut self.is_open) {
            let _ = write!(io::stderr().lock(), "\r\u{1b}[K");
        }
    }
}
