//! `grov steps [SESSION]`

use crate::context::Context;
use crate::format::{clock, zone};
use crate::output::{ExitStatus, Outcome, Style, note};
use crate::session;
use crate::table::{Emphasis, Table, cell, one_line, truncated};
use grov_domain::{Clock, SessionId, SessionState, StepOutcome, StepRow, SystemClock};
use grov_query::{SessionSteps, session_steps};
use serde::Serialize;
use std::collections::HashMap;

#[derive(Serialize)]
struct Answer {
    session_id: String,
    steps: Vec<StepRow>,
    #[serde(skip)]
    tasks: Vec<SessionState>,
}

pub(crate) fn run(context: &Context, wanted: Option<&str>) -> Outcome {
    let project = context.project()?.key().to_owned();
    let found = context.read(async |store| {
        let session = match wanted {
            Some("") => None,
            Some(wanted) => session::find(store, wanted, &project).await?,
            None => Some(session::resolve(store, None, &project).await?),
        };
        Ok(match session {
            Some(session) => Some(session_steps(store, session).await?),
            None => None,
        })
    })?;
    let (session_id, work, status) = match (found.flatten(), wanted) {
        (Some(work), _) => (work.id.clone(), work, ExitStatus::Success),
        (None, None) => return Err(session::not_found(None)),
        (None, Some(wanted)) => {
            note!("no session {wanted:?}; `grov sessions --all` lists the sessions of all projects");
            (wanted.to_owned(), SessionSteps::default(), ExitStatus::Negative)
        }
    };
    let answer = Answer {
        session_id,
        steps: work.steps,
        tasks: work.tasks,
    };
    context.answer(answer, text)?;
    Ok(status)
}

fn text(answer: &Answer, style: Style) -> String {
    if answer.steps.is_empty() {
        return String::new();
    }
    let now = SystemClock.now();
    let mut table = Table::new(&format!(
        "TIME ({}), ACTION, RESULT, SCORE#?, TOOL?, AGENT?, SUBJECT~",
        zone(now, style)
    ));
    let groups = by_task(&answer.steps);
    for step in groups.iter().flatten() {
        // Only what went wrong has an outcome.
        let emphasis = match step.outcome {
            Some(_) => Emphasis::Bad,
            None => Emphasis::None,
        };
        table.emphasized(
            emphasis,
            [
                clock(step.timestamp, now, style),
                step.action_type.as_str().to_owned(),
                cell(step.outcome.map(StepOutcome::as_str)),
                cell(step.drift_score),
                step.tool.clone(),
                cell(step.agent_id.as_ref().map(|agent| style.id(&agent.to_string()))),
                style.path(&step.subject()),
            ],
        );
    }
    let table = table.render(style);
    let mut rows = table.lines();
    let mut text = vec![style.faint(&format!("session {}", style.id(&one_line(&answer.session_id))))];
    text.extend(rows.next().map(str::to_owned));
    for group in &groups {
        text.extend(
            group
                .first()
                .map(|step| heading(&step.session_id, &answer.tasks, style)),
        );
        text.extend(rows.by_ref().take(group.len()).map(str::to_owned));
    }
    text.join("\n") + "\n"
}

/// The steps grouped by task, the tasks in the order of their first step.
fn by_task(steps: &[StepRow]) -> Vec<Vec<&StepRow>> {
    let mut places: HashMap<&SessionId, usize> = HashMap::new();
    let mut groups: Vec<Vec<&StepRow>> = Vec::new();
    for step in steps {
        let place = *places.entry(&step.session_id).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.push(step),
            None => groups.push(vec![step]),
        }
    }
    groups
}

/// The line above the steps of a task.
fn heading(id: &SessionId, tasks: &[SessionState], style: Style) -> String {
    let name = style.id(&one_line(id.as_str()));
    let Some(task) = tasks.iter().find(|task| task.session_id == *id) else {
        return format!("task {}", style.bold(&name));
    };
    let goal = task.original_goal.as_deref().unwrap_or("goal unknown");
    let goal = match style.is_wide() {
        true => one_line(goal),
        false => truncated(&one_line(goal), 72),
    };
    let (kind, status) = (task.task_type.as_str(), task.status.as_str());
    let line = style.line(&format!("task {name} ({kind}, {status}): {goal}"));
    line.replacen(&name, &style.bold(&name), 1)
}
