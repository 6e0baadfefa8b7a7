//! `grov steps SESSION`

use crate::arguments::Common;
use crate::assembly::CommandStore;
use crate::context::Context;
use crate::failure::Failure;
use crate::hooked;
use crate::output::{Outcome, Style, Terminal, Verdict, say};
use crate::show::{StepView, moment};
use crate::table::{Table, harmless, shortened};
use grov_domain::{
    ClientSessionId, HookStep, SessionFilter, SessionId, SessionState, SessionStore, StepRow, StoreError,
};
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};

#[derive(Serialize)]
struct Answer {
    session_id: String,
    steps: Vec<StepView>,
    #[serde(skip)]
    tasks: Vec<SessionState>,
}

/// Steps in order of time, and the tasks that they belong to.
#[derive(Default)]
struct Work {
    steps: Vec<StepRow>,
    tasks: Vec<SessionState>,
}

/// What an id, or the beginning of one, stands for.
enum Search {
    /// The id in full, and what was done.
    Found(String, Work),
    /// No session.
    Nothing,
    /// Several sessions begin like this.
    Ambiguous(BTreeSet<String>),
}

pub(crate) fn run(common: &Common, session: &str, terminal: Terminal) -> Outcome {
    let context = Context::load(common)?;
    let (wanted, project) = (session.to_owned(), context.project()?.key().to_owned());
    let search = context
        .read(async |store| Ok(searched(store, &wanted, &project).await?))?
        .unwrap_or(Search::Nothing);
    let (session_id, work, verdict) = match search {
        Search::Found(id, work) => (id, work, Verdict::Found),
        Search::Nothing => (session.to_owned(), Work::default(), Verdict::Nothing),
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
        steps: work.steps.into_iter().map(StepView::from).collect(),
        tasks: work.tasks,
    };
    terminal.answer(answer, text)?;
    Ok(verdict)
}

/// What the proxy recorded, and what hooks found while the session did not go through it.
async fn searched(store: &dyn CommandStore, wanted: &str, project: &str) -> Result<Search, StoreError> {
    let recorded = search(store, wanted).await?;
    if let Search::Found(id, mut work) = recorded {
        let client = ClientSessionId::new(id.as_str());
        let found = store.hook_steps(&client).await?.into_iter();
        let is_new = |step: &HookStep| {
            let mut known = work.steps.iter().map(|step| &step.tool_use_id);
            step.tool_use_id.is_none() || known.all(|known| *known != step.tool_use_id)
        };
        let found: Vec<StepRow> = found
            .filter(is_new)
            .map(|step| hooked::step(&client, step))
            .collect();
        work.steps.extend(found);
        work.steps.sort_by_key(|step| step.timestamp);
        return Ok(Search::Found(id, work));
    }
    if !matches!(recorded, Search::Nothing) {
        return Ok(recorded);
    }
    let Some(session) = hooked::named(store, wanted, project).await? else {
        return Ok(Search::Nothing);
    };
    let id = &session.client_session_id;
    let steps = store.hook_steps(id).await?.into_iter();
    let work = Work {
        steps: steps.map(|step| hooked::step(id, step)).collect(),
        tasks: vec![hooked::task(&session).state],
    };
    Ok(Search::Found(id.to_string(), work))
}

/// A client's session id names all its tasks, its first task included, which has the same id.
async fn search(store: &dyn SessionStore, wanted: &str) -> Result<Search, StoreError> {
    if let Some(work) = work_of(store, wanted).await? {
        return Ok(Search::Found(wanted.to_owned(), work));
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
            let work = work_of(store, id).await?.unwrap_or_default();
            Ok(Search::Found(id.clone(), work))
        }
        (0, _) => Ok(Search::Nothing),
        _ => Ok(Search::Ambiguous(found)),
    }
}

async fn work_of(store: &dyn SessionStore, id: &str) -> Result<Option<Work>, StoreError> {
    let client = ClientSessionId::new(id);
    let tasks = store.client_session(&client).await?;
    if !tasks.is_empty() {
        return Ok(Some(Work {
            steps: store.client_steps(&client).await?,
            tasks: tasks.into_iter().map(|task| task.state).collect(),
        }));
    }
    let id = SessionId::new(id);
    match store.session(&id).await? {
        Some(task) => Ok(Some(Work {
            steps: store.steps(&id).await?,
            tasks: vec![task.state],
        })),
        None => Ok(None),
    }
}

fn text(answer: &Answer, style: Style) -> String {
    if answer.steps.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&["TIME", "ACTION", "SCORE#", "TOOL", "AGENT", "SUBJECT"]);
    let groups = by_task(&answer.steps);
    for step in groups.iter().flatten() {
        table.row([
            moment(step.timestamp),
            step.action_type.to_owned(),
            step.drift_score
                .map(|score| score.to_string())
                .unwrap_or_default(),
            step.tool.clone(),
            step.agent_id.clone().unwrap_or_default(),
            step.subject(),
        ]);
    }
    let table = table.render(style);
    let mut lines = table.lines();
    let mut text = vec![style.faint(&format!("session {}", harmless(&answer.session_id)))];
    text.extend(lines.next().map(str::to_owned));
    for group in &groups {
        text.extend(
            group
                .first()
                .map(|step| heading(&step.task_id, &answer.tasks, style)),
        );
        text.extend(lines.by_ref().take(group.len()).map(str::to_owned));
    }
    text.join("\n") + "\n"
}

/// The steps of each task together, tasks in the order of their first step.
fn by_task(steps: &[StepView]) -> Vec<Vec<&StepView>> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut groups: Vec<Vec<&StepView>> = Vec::new();
    for step in steps {
        let place = *places.entry(&step.task_id).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.push(step),
            None => groups.push(vec![step]),
        }
    }
    groups
}

/// What a task is about, in front of its steps.
fn heading(id: &str, tasks: &[SessionState], style: Style) -> String {
    let name = style.bold(&harmless(id));
    match tasks.iter().find(|task| task.session_id.as_str() == id) {
        Some(task) => {
            let goal = task.original_goal.as_deref().unwrap_or("goal unknown");
            let (kind, status) = (task.task_type.as_str(), task.status.as_str());
            format!(
                "task {name} ({kind}, {status}): {}",
                shortened(&harmless(goal), 72)
            )
        }
        None => format!("task {name}"),
    }
}
