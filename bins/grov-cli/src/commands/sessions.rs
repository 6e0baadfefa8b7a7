//! `grov sessions`

use crate::arguments::SessionsArguments;
use crate::client_spending::{SessionCosts, prices};
use crate::context::Context;
use crate::format::{dollars, when};
use crate::output::{Outcome, Style, note};
use crate::table::{Emphasis, Table, cell};
use grov_domain::{Clock, MicroUsd, SystemClock};
use grov_query::{ClientSessionView, LiveState, client_sessions};
use serde::Serialize;

/// Maximum number of sessions that are shown as text without `--limit`.
const DEFAULT_LIMIT: u32 = 20;

#[derive(Serialize)]
struct Answer {
    sessions: Vec<SessionView>,
    /// Whether sessions of all projects are shown.
    #[serde(skip)]
    all: bool,
}

#[derive(Serialize)]
struct SessionView {
    #[serde(flatten)]
    session: ClientSessionView,
    /// What it cost so far; `null` if it is unknown.
    cost_usd: Option<MicroUsd>,
}

pub(crate) fn run(context: &Context, arguments: &SessionsArguments) -> Outcome {
    let project = match arguments.all {
        true => None,
        false => Some(context.project()?.key().to_owned()),
    };
    let limit = context.terminal.limit(arguments.limit, DEFAULT_LIMIT);
    let now = SystemClock.now();
    let mut costs = SessionCosts::new(prices(context)?);
    let sessions = context.read(async |store| {
        let mut views = Vec::new();
        for session in client_sessions(store, project.as_deref(), limit, now).await? {
            views.push(SessionView {
                cost_usd: costs.of(store, &session).await?,
                session,
            });
        }
        Ok(views)
    })?;
    let sessions = sessions.unwrap_or_default();
    if sessions.is_empty() && !arguments.all {
        note!("no session of this project is recorded; `grov sessions --all` lists those of all projects");
    } else if sessions.is_empty() {
        note!("no session is recorded; `grov doctor` checks whether Grov records");
    }
    let answer = Answer {
        sessions,
        all: arguments.all,
    };
    context.answer(answer, text)
}

fn text(answer: &Answer, style: Style) -> String {
    let columns = "SESSION, STATE, PATH?, UPDATED, COST#, GOAL~";
    let mut table = match answer.all {
        true => Table::new(&format!("{columns}, PROJECT~?")),
        false => Table::new(columns),
    };
    for SessionView { session, cost_usd } in &answer.sessions {
        let cells = [
            session.short_id.clone(),
            session.state.as_str().to_owned(),
            session.path.as_str().to_owned(),
            when(session.last_update, style),
            cell(cost_usd.map(dollars)),
            cell(session.goal.as_deref()),
        ];
        let project = cell(session.project_path.as_deref().map(|path| style.path(path)));
        let emphasis = match session.state {
            LiveState::Ended => Emphasis::Faint,
            _ => Emphasis::None,
        };
        table.emphasized(emphasis, cells.into_iter().chain(answer.all.then_some(project)));
    }
    table.render(style)
}
