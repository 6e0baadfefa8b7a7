//! `grov drift log`

use crate::context::Context;
use crate::failure::Failure;
use crate::format::{short_ids, when};
use crate::output::{Outcome, Style, note};
use crate::session;
use crate::table::{Table, cell};
use grov_domain::{ActionType, ClientSessionId, DriftEvent, StepOutcome, StoreConnection};
use grov_query::{LogScope, drift_log};
use serde::Serialize;

/// Maximum number of events that are shown as text without `--limit`.
const DEFAULT_LIMIT: u32 = 20;

#[derive(Serialize)]
struct Answer {
    events: Vec<DriftEvent>,
}

pub(super) fn run(context: &Context, session: Option<&str>, limit: Option<u32>) -> Outcome {
    let limit = context.terminal.limit(limit, DEFAULT_LIMIT);
    let project = context.project()?.key().to_owned();
    let events = context.read(async |store| match session {
        Some(session) => of_session(store, session, &project, limit).await,
        None => Ok(drift_log(store, &LogScope::Project(project), limit).await?),
    })?;
    let events = match (events, session) {
        (None, Some(session)) => return Err(session::not_found(Some(session))),
        (events, _) => events.unwrap_or_default(),
    };
    if events.is_empty() {
        note!("no action was judged off the goal");
    }
    context.answer(Answer { events }, text)
}

/// The events of a session or task. Events of a deleted session remain and are found by its full id.
async fn of_session(
    store: &dyn StoreConnection,
    wanted: &str,
    project: &str,
    limit: Option<u32>,
) -> Result<Vec<DriftEvent>, Failure> {
    match session::resolve(store, Some(wanted), project).await {
        Ok(found) => {
            let log = found.task_id.map_or(LogScope::Session(found.id), LogScope::Task);
            Ok(drift_log(store, &log, limit).await?)
        }
        Err(failure) => {
            let removed = LogScope::Deleted(ClientSessionId::new(wanted));
            let events = drift_log(store, &removed, limit).await?;
            if events.is_empty() {
                Err(failure)
            } else {
                Ok(events)
            }
        }
    }
}

fn text(answer: &Answer, style: Style) -> String {
    // Few actions are denied or fail.
    let has_results = answer.events.iter().any(|event| event.outcome.is_some());
    let mut table = Table::new(match has_results {
        true => "WHEN, EVENT, SCORE#, RESULT, LEVEL?, ACTION?, SUBJECT~, WHY~",
        false => "WHEN, EVENT, SCORE#, LEVEL, ACTION?, SUBJECT~, WHY~",
    });
    let short = short_ids(answer.events.iter().map(|event| event.id.as_str()), style);
    for event in &answer.events {
        // Events that are not listed may be of the same minute.
        let (unique, usual) = (short(event.id.as_str()), style.id(event.id.as_str()));
        let id = if unique.len() > usual.len() { unique } else { usual };
        let result = has_results.then(|| cell(event.outcome.map(StepOutcome::as_str)));
        let cells = [when(event.timestamp, style), id, cell(event.drift_score)];
        let others = [
            cell(event.level.as_deref()),
            event.action_type.map_or("", ActionType::as_str).to_owned(),
            event.subject(),
            cell(event.reason.as_deref()),
        ];
        table.row(cells.into_iter().chain(result).chain(others));
    }
    table.render(style)
}
