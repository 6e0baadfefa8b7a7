//! `grov steps SESSION`

use crate::arguments::Common;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Outcome, Style, Terminal, Verdict, say};
use crate::show::moment;
use crate::table::{Table, harmless, shortened};
use grov_domain::SessionState;
use grov_query::{Lookup, SessionSteps, StepView, find_steps};
use serde::Serialize;
use std::collections::HashMap;

#[derive(Serialize)]
struct Answer {
    session_id: String,
    steps: Vec<StepView>,
    #[serde(skip)]
    tasks: Vec<SessionState>,
}

pub(crate) fn run(common: &Common, session: &str, terminal: Terminal) -> Outcome {
    let context = Context::load(common)?;
    let (wanted, project) = (session.to_owned(), context.project()?.key().to_owned());
    let search = context
        .read(async |store| Ok(find_steps(store, &wanted, &project).await?))?
        .unwrap_or(Lookup::NotFound);
    let (session_id, work, verdict) = match search {
        Lookup::Found(work) => (work.id.clone(), work, Verdict::Found),
        Lookup::NotFound => (session.to_owned(), SessionSteps::default(), Verdict::Nothing),
        Lookup::Ambiguous(ids) => {
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
