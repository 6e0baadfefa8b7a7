//! `grov memory show ID`

use super::named::{self, title};
use super::supersede::{before, behind};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Outcome, Style, Terminal, Verdict};
use crate::show::{TaskView, moment};
use crate::table::harmless;
use grov_domain::{MemoryStore, TaskId};
use grov_store::SqliteStore;
use serde::Serialize;
use std::fmt::Write;

#[derive(Serialize)]
struct Answer {
    memory: TaskView,
    user: Option<String>,
    project_remote: Option<String>,
    client_session_id: Option<String>,
    /// What replaced it, what replaced that, and so on; the last one holds.
    replaced_by: Vec<OtherView>,
    /// What it replaced, and what that replaced, the nearest first.
    replaces: Vec<OtherView>,
}

/// Another memory.
#[derive(Serialize)]
struct OtherView {
    id: String,
    goal: String,
}

pub(super) fn run(context: &Context, id: &str, terminal: Terminal) -> Outcome {
    let wanted = id.to_owned();
    let answer = context
        .look(|store| async move {
            let task = named::one(&store, &wanted).await?;
            let replaced_by = others(&store, &behind(&store, &task.id).await?).await?;
            let replaces = others(&store, &before(&store, &task.id).await?).await?;
            Ok(Answer {
                user: task.user.clone(),
                project_remote: task.project_remote.clone(),
                client_session_id: task.client_session_id.as_ref().map(ToString::to_string),
                replaced_by,
                replaces,
                memory: TaskView::from(task),
            })
        })?
        .ok_or_else(|| named::unknown(id))?;
    terminal.answer(answer, text)?;
    Ok(Verdict::Found)
}

async fn others(store: &SqliteStore, ids: &[TaskId]) -> Result<Vec<OtherView>, Failure> {
    let tasks = store.memories(ids).await?;
    Ok(tasks
        .iter()
        .map(|task| OtherView {
            id: task.id.to_string(),
            goal: title(task).to_owned(),
        })
        .collect())
}

fn text(answer: &Answer, style: Style) -> String {
    let memory = &answer.memory;
    let mut text = String::new();
    // Writing to a string cannot fail.
    let mut line = |name: &str, words: &str| {
        let _ = writeln!(text, "{name:<10} {}", harmless(words));
    };
    line("id", &memory.id);
    line("project", &memory.project_path);
    line(
        "saved",
        &format!("{} ({})", moment(memory.created_at), memory.status),
    );
    let single = [
        ("by", &answer.user),
        ("session", &answer.client_session_id),
        ("commit", &memory.linked_commit),
        ("served", &memory.parent_task_id),
    ];
    for (name, value) in single {
        if let Some(value) = value {
            line(name, value);
        }
    }
    for other in &answer.replaced_by {
        line("replaced by", &format!("{}  {}", other.id, other.goal));
    }
    for other in &answer.replaces {
        line("replaces", &format!("{}  {}", other.id, other.goal));
    }
    line("prompt", &memory.original_query);
    for decision in &memory.decisions {
        line("decided", &format!("{} ({})", decision.choice, decision.reason));
    }
    let lists = [
        ("constraint", &memory.constraints),
        ("found", &memory.reasoning_trace),
        ("file", &memory.files_touched),
        ("tag", &memory.tags),
    ];
    for (name, list) in lists {
        for item in list {
            line(name, item);
        }
    }
    let goal = memory.goal.as_deref().unwrap_or(&memory.original_query);
    format!("{}\n{text}", style.bold(&harmless(goal)))
}
