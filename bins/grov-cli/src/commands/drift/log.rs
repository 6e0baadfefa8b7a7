//! `grov drift log`

use crate::context::Context;
use crate::failure::Failure;
use crate::format::{short_ends, short_ids, when};
use crate::output::{Outcome, Style, note};
use crate::session;
use crate::table::{Table, cell};
use grov_domain::{ActionType, ClientSessionId, DriftEvent, StepOutcome, StoreConnection};
use grov_query::{LogScope, drift_log};
use serde::Serialize;

/// Maximum number of events that are shown as text without `--limit`.
const DEFAULT_LIMIT: u32 = 20;

/// A longer beginning of an id leaves no room for the texts; then its end is shown.
const MAX_SHORT_ID: usize = 18;

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
    let ids = || answer.events.iter().map(|event| event.id.as_str());
    let (short, end) = (short_ids(ids(), style), short_ends(ids(), style));
    for event in &answer.events {
        // Events that are not listed may be of the same minute.
        let (unique, usual) = (short(event.id.as_str()), style.id(event.id.as_str()));
        let id = match unique.len() > usual.len() {
            // Events of a session of hooks begin with its id.
            true if unique.len() > MAX_SHORT_ID => end(event.id.as_str()),
            true => unique,
            false => usual,
        };
        let result = has_results.then(|| cell(event.outcome.map(StepOutcome::as_str)));
        let cells = [when(event.timestamp, style), id, cell(event.drift_score)];
        let others = [
            cell(event.level.as_deref()),
            event.action_type.map_or("", ActionType::as_str).to_owned(),
            style.path(&event.subject()),
            cell(event.reason.as_deref()),
        ];
        table.row(cells.into_iter().chain(result).chain(others));
    }
    table.render(style)
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_domain::{DriftEventId, SessionId};
    use time::OffsetDateTime;
    use unicode_width::UnicodeWidthStr;

    #[test]
    fn the_id_of_an_event_fits_80_columns_and_can_be_copied() {
        let session = "2b1f6c2e-9f3a-4a53-8d40-0f9a3c1e7a11";
        let events: Vec<DriftEvent> = ["toolu_01A09q90qw90lq917835lq9", "toolu_01B7a0k2jd81ma0c8835xyz"]
            .iter()
            .map(|call| DriftEvent {
                id: DriftEventId::new(format!("{session}-{call}")),
                session_id: SessionId::new(session),
                timestamp: OffsetDateTime::UNIX_EPOCH,
                action_type: Some(ActionType::Edit),
                files: vec!["/home/me/work/shop/src/checkout/payment_service.rs".to_owned()],
                drift_score: Some(3),
                level: Some("intervene".to_owned()),
                reason: Some("src/b.rs is changed in violation of \"Do not touch src/b.rs\"".to_owned()),
                correction_given: None,
                recovery_plan: Vec::new(),
                client_session_id: Some(ClientSessionId::new(session)),
                step_id: None,
                tool_use_id: Some((*call).to_owned()),
                command: None,
                findings: Vec::new(),
                judged_by: None,
                outcome: None,
            })
            .collect();
        let answer = Answer { events };
        for width in [60, 80, 120] {
            let shown = text(&answer, Style::plain().fitted(width));
            assert_eq!(shown.lines().count(), 3, "{shown}");
            for (line, event) in shown.lines().skip(1).zip(&answer.events) {
                assert!(line.width() <= width, "{width}: {line}");
                let is_whole = |word: &str| word.len() >= 8 && event.id.as_str().ends_with(word);
                assert!(line.split_whitespace().any(is_whole), "{width}: {line}");
            }
        }
        let piped = text(&answer, Style::plain());
        assert!(piped.contains(answer.events[0].id.as_str()), "{piped}");
    }
}
