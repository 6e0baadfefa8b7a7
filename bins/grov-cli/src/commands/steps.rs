//! `grov steps SESSION`

use crate::arguments::Common;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Outcome, Style, Terminal, Verdict, say};
use crate::show::{StepView, moment};
use crate::table::{Table, harmless};
use grov_domain::{ClientSessionId, SessionFilter, SessionId, SessionStore, StepRow, StoreError};
use serde::Serialize;
use std::collections::BTreeSet;

#[derive(Serialize)]
struct Answer {
    session_id: String,
    steps: Vec<StepView>,
}

/// What an id, or the beginning of one, stands for.
enum Search {
    /// The id in full, and its steps.
    Found(String, Vec<StepRow>),
    /// No session.
    Nothing,
    /// Several sessions begin like this.
    Ambiguous(BTreeSet<String>),
}

pub(crate) fn run(common: &Common, session: &str, terminal: Terminal) -> Outcome {
    let context = Context::load(common)?;
    let wanted = session.to_owned();
    let search = context
        .read(|store| async move { search(&store, &wanted).await })?
        .unwrap_or(Search::Nothing);
    let (session_id, steps, verdict) = match search {
        Search::Found(id, steps) => (id, steps, Verdict::Found),
        Search::Nothing => (session.to_owned(), Vec::new(), Verdict::Nothing),
        Search::Ambiguous(ids) => {
            let some: Vec<&str> = ids.iter().take(5).map(String::as_str).collect();
            return Err(Failure::usage(format!(
                "{} sessions begin with {session:?}: {}{}",
                ids.len(),
                some.join(", "),
                if ids.len() > some.len() { ", …" } else { "" }
            )));
        }
    };
    if verdict == Verdict::Nothing {
        say(&format!(
            "there is no session {:?}; `grov proxy-status` lists them",
            session
        ));
    }
    let answer = Answer {
        session_id,
        steps: steps.into_iter().map(StepView::from).collect(),
    };
    terminal.answer(answer, text)?;
    Ok(verdict)
}

/// A client's session id names all its tasks, its first task included, which has the same id.
async fn search(store: &dyn SessionStore, wanted: &str) -> Result<Search, StoreError> {
    if let Some(steps) = steps_of(store, wanted).await? {
        return Ok(Search::Found(wanted.to_owned(), steps));
    }
    if wanted.is_empty() {
        return Ok(Search::Nothing);
    }
    let sessions = store.sessions(&SessionFilter::default()).await?;
    let ids = |id: fn(&grov_domain::SessionState) -> &str| -> BTreeSet<String> {
        sessions
            .iter()
            .map(|session| id(&session.state))
            .filter(|id| id.starts_with(wanted))
            .map(str::to_owned)
            .collect()
    };
    let mut found = ids(|state| state.client_session_id.as_str());
    if found.is_empty() {
        found = ids(|state| state.session_id.as_str());
    }
    match (found.len(), found.first()) {
        (1, Some(id)) => {
            let steps = steps_of(store, id).await?.unwrap_or_default();
            Ok(Search::Found(id.clone(), steps))
        }
        (0, _) => Ok(Search::Nothing),
        _ => Ok(Search::Ambiguous(found)),
    }
}

async fn steps_of(store: &dyn SessionStore, id: &str) -> Result<Option<Vec<StepRow>>, StoreError> {
    let client = ClientSessionId::new(id);
    if !store.client_session(&client).await?.is_empty() {
        return store.client_steps(&client).await.map(Some);
    }
    let task = SessionId::new(id);
    match store.session(&task).await? {
        Some(_) => store.steps(&task).await.map(Some),
        None => Ok(None),
    }
}

fn text(answer: &Answer, style: Style) -> String {
    if answer.steps.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&["TIME", "ACTION", "TOOL", "AGENT", "SUBJECT"]);
    for step in &answer.steps {
        table.row([
            moment(step.timestamp),
            step.action_type.to_owned(),
            step.tool.clone(),
            step.agent_id.clone().unwrap_or_default(),
            step.subject(),
        ]);
    }
    format!(
        "{}\n{}",
        style.faint(&format!("session {}", harmless(&answer.session_id))),
        table.render(style)
    )
}
