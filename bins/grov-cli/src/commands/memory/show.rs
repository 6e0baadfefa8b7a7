//! `grov memory show ID`

mod files;

use super::named;
use crate::context::Context;
use crate::output::{Outcome, Style, Terminal, Verdict};
use crate::show::moment;
use crate::table::harmless;
use files::FileView;
use grov_query::{MemoryRefView, TaskView, memory_refs, replaced_memories, replacements};
use serde::Serialize;
use std::fmt::Write;

#[derive(Serialize)]
struct Answer {
    memory: TaskView,
    user: Option<String>,
    project_remote: Option<String>,
    client_session_id: Option<String>,
    files: Vec<FileView>,
    /// What replaced it, what replaced that, and so on; the last one holds.
    replaced_by: Vec<MemoryRefView>,
    /// What it replaced, and what that replaced, the nearest first.
    replaces: Vec<MemoryRefView>,
}

pub(super) fn run(context: &Context, id: &str, terminal: Terminal) -> Outcome {
    let wanted = id.to_owned();
    let here = context.project().ok();
    let top = context.top();
    let answer = context
        .read(async |store| {
            let task = named::one(store, &wanted).await?;
            let replaced_by = memory_refs(store, &replacements(store, &task.id).await?).await?;
            let replaces = memory_refs(store, &replaced_memories(store, &task.id).await?).await?;
            // Files of another project would be looked for in the wrong place.
            let is_here = here.is_some_and(|here| {
                here.key() == task.project_path
                    || (here.remote.is_some() && here.remote == task.project_remote)
            });
            Ok(Answer {
                files: files::of(&task, top.as_deref().filter(|_| is_here)),
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
    for (name, list) in [
        ("constraint", &memory.constraints),
        ("found", &memory.reasoning_trace),
    ] {
        list.iter().for_each(|item| line(name, item));
    }
    answer.files.iter().for_each(|file| line("file", &file.text()));
    memory.tags.iter().for_each(|tag| line("tag", tag));
    let goal = memory.goal.as_deref().unwrap_or(&memory.original_query);
    format!("{}\n{text}", style.bold(&harmless(goal)))
}
