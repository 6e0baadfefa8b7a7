//! `grov drift log`

use super::view::EventView;
use crate::assembly::CommandStore;
use crate::chosen::{self, chosen};
use crate::context::Context;
use crate::hooked;
use crate::output::{Outcome, Style, Terminal, Verdict, say};
use crate::show::moment;
use crate::table::Table;
use grov_domain::{ClientSessionId, DriftEvent, DriftFilter, StoreError};
use serde::Serialize;

/// Events that a person is shown unless they ask for more.
const SOME: u32 = 20;
/// Sessions that hooks alone know, the newest.
const MOST_HOOKED: u32 = 100;

#[derive(Serialize)]
struct Answer {
    events: Vec<EventView>,
}

pub(super) fn run(
    context: &Context,
    session: Option<&str>,
    limit: Option<u32>,
    terminal: Terminal,
) -> Outcome {
    let limit = match limit {
        Some(0) => None,
        None if terminal.wants_json() => None,
        other => Some(other.unwrap_or(SOME)),
    };
    let project = context.project()?.key().to_owned();
    let wanted = session.map(str::to_owned);
    let events = context.read(async |store| {
        let mut filter = DriftFilter {
            limit,
            ..DriftFilter::default()
        };
        match wanted {
            Some(wanted) => match chosen(store, Some(&wanted), &project).await {
                Ok(chosen) => match chosen.named {
                    Some(task) => filter.session_id = Some(task),
                    None => {
                        filter.client_session_id = Some(chosen.id.clone());
                        let events = store.drift_events(&filter).await?;
                        let found = found(store, &[chosen.id]).await?;
                        return Ok(merged(events, found, limit));
                    }
                },
                // The log outlives its sessions.
                Err(failure) => {
                    filter.client_session_id = Some(ClientSessionId::new(&wanted));
                    let events = store.drift_events(&filter).await?;
                    return if events.is_empty() {
                        Err(failure)
                    } else {
                        Ok(events)
                    };
                }
            },
            None => {
                filter.project_path = Some(project.clone());
                let events = store.drift_events(&filter).await?;
                let hooked = store.hook_sessions(&project, MOST_HOOKED).await?;
                let ids: Vec<ClientSessionId> = hooked
                    .into_iter()
                    .map(|session| session.client_session_id)
                    .collect();
                return Ok(merged(events, found(store, &ids).await?, limit));
            }
        }
        Ok(store.drift_events(&filter).await?)
    })?;
    let events = match (events, session) {
        (Some(events), _) => events,
        (None, Some(session)) => return Err(chosen::none(Some(session))),
        (None, None) => Vec::new(),
    };
    if events.is_empty() {
        say("nothing was judged off goal");
    }
    let events = events.into_iter().map(EventView::from).collect();
    terminal.answer(Answer { events }, text)?;
    Ok(Verdict::Found)
}

/// What hooks found off goal in sessions.
async fn found(
    store: &dyn CommandStore,
    sessions: &[ClientSessionId],
) -> Result<Vec<DriftEvent>, StoreError> {
    let mut events = Vec::new();
    for session in sessions {
        let checks = store.hook_checks(session).await?;
        let steps = store.hook_steps(session).await?;
        events.extend(
            steps
                .iter()
                .filter_map(|step| hooked::event(session, step, &checks)),
        );
    }
    Ok(events)
}

/// Both, oldest first, at most so many of the newest.
fn merged(mut events: Vec<DriftEvent>, found: Vec<DriftEvent>, limit: Option<u32>) -> Vec<DriftEvent> {
    events.extend(found);
    events.sort_by_key(|event| event.timestamp);
    let most = limit.map_or(usize::MAX, |limit| limit as usize);
    events.drain(..events.len().saturating_sub(most));
    events
}

fn text(answer: &Answer, style: Style) -> String {
    if answer.events.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&["TIME", "EVENT", "SCORE#", "TOLD", "ACTION", "SUBJECT", "WHY"]);
    for event in &answer.events {
        table.row([
            moment(event.timestamp),
            event.id.clone(),
            event
                .drift_score
                .map(|score| score.to_string())
                .unwrap_or_default(),
            event.level.clone().unwrap_or_default(),
            event.action_type.unwrap_or_default().to_owned(),
            event.subject(),
            event.reason.clone().unwrap_or_default(),
        ]);
    }
    table.render(style)
}
