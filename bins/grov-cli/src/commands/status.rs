//! `grov status`

use crate::arguments::Common;
use crate::context::Context;
use crate::output::{Outcome, Style, Terminal, Verdict};
use crate::show::{TaskView, moment};
use crate::table::{harmless, shortened};
use grov_domain::TaskStore;
use serde::Serialize;
use std::fmt::Write;

#[derive(Serialize)]
struct Answer {
    project_path: Option<String>,
    project_remote: Option<String>,
    tasks: u64,
    memory_items: u64,
    sessions: u64,
    steps: u64,
    last_task: Option<TaskView>,
}

pub(crate) fn run(common: &Common, terminal: Terminal) -> Outcome {
    let context = Context::load(common)?;
    let project = context.project()?;
    let key = project.key().to_owned();
    let stored = context
        .read(|store| async move { store.project_status(&key).await })?
        .unwrap_or_default();
    let answer = Answer {
        project_path: project.path,
        project_remote: project.remote,
        tasks: stored.tasks,
        memory_items: stored.memory_items,
        sessions: stored.sessions,
        steps: stored.steps,
        last_task: stored.last_task.map(TaskView::from),
    };
    terminal.answer(answer, text)?;
    Ok(Verdict::Found)
}

fn text(answer: &Answer, style: Style) -> String {
    let mut text = String::new();
    let path = harmless(answer.project_path.as_deref().unwrap_or("unknown"));
    // Writing to a string cannot fail.
    let _ = writeln!(text, "project   {}", style.bold(&path));
    if let Some(remote) = &answer.project_remote {
        let _ = writeln!(text, "remote    {}", harmless(remote));
    }
    let _ = writeln!(text, "sessions  {} with {} steps", answer.sessions, answer.steps);
    let _ = writeln!(text, "tasks     {}", answer.tasks);
    let _ = writeln!(text, "memories  {}", answer.memory_items);
    if let Some(task) = &answer.last_task {
        let goal = harmless(task.goal.as_deref().unwrap_or(&task.original_query));
        let _ = writeln!(
            text,
            "last task {} ({}, {})",
            shortened(&goal, 72),
            task.status,
            moment(task.created_at)
        );
    }
    text
}
