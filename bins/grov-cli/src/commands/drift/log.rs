//! `grov drift log`

use crate::chosen::{self, chosen};
use crate::context::Context;
use crate::output::{Outcome, Style, Terminal, Verdict, say};
use crate::show::moment;
use crate::table::Table;
use grov_domain::ClientSessionId;
use grov_query::{EventView, LogScope, drift_log};
use serde::Serialize;

/// Events that a person is shown unless they ask for more.
const SOME: u32 = 20;

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
        let of = match wanted {
            Some(wanted) => match chosen(store, Some(&wanted), &project).await {
                Ok(chosen) => chosen
                    .task_id
                    .map_or(LogScope::Session(chosen.id), LogScope::Task),
                Err(failure) => {
                    let gone = LogScope::Deleted(ClientSessionId::new(&wanted));
                    let events = drift_log(store, &gone, limit).await?;
                    return if events.is_empty() {
                        Err(failure)
                    } else {
                        Ok(events)
                    };
                }
            },
            None => LogScope::Project(project.clone()),
        };
        Ok(drift_log(store, &of, limit).await?)
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
