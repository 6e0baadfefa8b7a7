//! `grov watch`: shows what is recorded, as it is recorded.

mod seen;
mod view;

use crate::arguments::WatchArguments;
use crate::assembly;
use crate::context::{Context, block_on};
use crate::failure::Failure;
use crate::output::{self, ExitStatus, Outcome, note};
use crate::session;
use crate::since::parse_since;
use grov_domain::{ActivityStore, ChangeCursor, ClientSessionId, Clock, SystemClock};
pub(super) use seen::Seen;
use std::time::Duration;
use time::OffsetDateTime;
pub(super) use view::ChangeView;

/// Time between two looks into the store.
const INTERVAL: Duration = Duration::from_millis(250);
/// Time before the start in which sessions were active whose state is known then.
const BEFORE: time::Duration = time::Duration::hours(1);

pub(crate) fn run(context: &Context, arguments: &WatchArguments) -> Outcome {
    let now = SystemClock.now();
    let since = arguments.since.as_deref();
    let since = since.map(|text| parse_since(text, now)).transpose()?;
    block_on(async {
        let interrupted = tokio::signal::ctrl_c();
        tokio::pin!(interrupted);
        tokio::select! {
            biased;
            _ = &mut interrupted => Ok(ExitStatus::Success),
            ended = watch(context, arguments, since, now) => ended,
        }
    })
}

/// Shows changes until it is cancelled, or standard output is closed.
async fn watch(
    context: &Context,
    arguments: &WatchArguments,
    since: Option<OffsetDateTime>,
    now: OffsetDateTime,
) -> Result<ExitStatus, Failure> {
    let database = context.database();
    let mut is_told = false;
    // The database may not exist yet: watching begins before the first session.
    let store = loop {
        if let Some(store) = assembly::open_existing(&database).await? {
            break store;
        }
        if let Some(wanted) = arguments.session.as_deref() {
            return Err(session::not_found(Some(wanted)));
        }
        if !std::mem::replace(&mut is_told, true) {
            note!("nothing is recorded yet; waiting");
        }
        tokio::time::sleep(INTERVAL).await;
    };
    let only = match arguments.session.as_deref() {
        Some(wanted) => {
            let project = context.project()?.key().to_owned();
            Some(session::resolve(&store, Some(wanted), &project).await?.id)
        }
        None => None,
    };
    let mut seen = Seen::default();
    let mut cursor = store.change_cursor(since.unwrap_or(now)).await?;
    if since.is_none() {
        // What is there already is not shown.
        let past = ChangeCursor {
            at: now - BEFORE,
            ..cursor
        };
        let (known, _) = store.changes(&past).await?;
        known.into_iter().for_each(|change| {
            seen.is_new(change.key, change.at);
        });
    }
    note!("watching {}; Ctrl-C ends it", described(only.as_ref()));
    let from = since.unwrap_or(now);
    loop {
        match store.changes(&cursor).await {
            Ok((changes, next)) => {
                cursor = next;
                for change in changes {
                    let is_wanted = only.as_ref().is_none_or(|only| *only == change.client_session_id);
                    let is_late = change.at < from;
                    if seen.is_new(change.key.clone(), change.at) && is_wanted && !is_late {
                        show(context, &ChangeView::of(change))?;
                    }
                }
                seen.forget(cursor.at);
            }
            // A writer holds the lock. The next look finds what this one missed.
            Err(error) if error.is_transient() => {}
            Err(error) => return Err(error.into()),
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

fn described(only: Option<&ClientSessionId>) -> String {
    match only {
        Some(session) => format!("session {session}"),
        None => "all sessions".to_owned(),
    }
}

fn show(context: &Context, change: &ChangeView) -> Result<(), Failure> {
    if context.terminal.wants_json() {
        return output::line(change).map(drop);
    }
    let style = context.terminal.style();
    context.terminal.print_text(&change.text(style)).map(drop)
}
