//! `grov memory show ID`

mod files;

use super::named;
use crate::context::Context;
use crate::format::when;
use crate::output::{Outcome, Style};
use crate::table::{Fields, one_line};
use files::FileView;
use grov_domain::{Task, TaskId};
use grov_query::{MemoryRefView, memory_refs, replaced_memories, replacements, title};
use serde::Serialize;

#[derive(Serialize)]
struct Answer {
    memory: Task,
    user: Option<String>,
    project_remote: Option<String>,
    client_session_id: Option<String>,
    files: Vec<FileView>,
    /// Its replacement, the replacement of that one, and so on; the last one is valid.
    replaced_by: Vec<MemoryRefView>,
    /// The memories that it replaced, directly and indirectly, the nearest first.
    replaces: Vec<MemoryRefView>,
}

pub(super) fn run(context: &Context, id: &str) -> Outcome {
    let project = context.project().ok();
    let top = context.top();
    let answer = context.read(async |store| {
        let task = named::find(store, id).await?;
        let replaced_by = memory_refs(store, &replacements(store, &task.id).await?).await?;
        let replaces = memory_refs(store, &replaced_memories(store, &task.id).await?).await?;
        // The files of another project are not in this working tree.
        let is_here = project.is_some_and(|project| {
            project.key() == task.project_path
                || (project.remote.is_some() && project.remote == task.project_remote)
        });
        Ok(Answer {
            files: files::of(&task, top.as_deref().filter(|_| is_here)),
            user: task.user.clone(),
            project_remote: task.project_remote.clone(),
            client_session_id: task.client_session_id.as_ref().map(ToString::to_string),
            replaced_by,
            replaces,
            memory: task,
        })
    })?;
    context.answer(answer.ok_or_else(|| named::unknown(id))?, text)
}

fn text(answer: &Answer, style: Style) -> String {
    let memory = &answer.memory;
    let mut fields = Fields::new(11, usize::MAX, style);
    fields.add("id", memory.id.as_str());
    fields.add("project", &memory.project_path);
    fields.add(
        "saved",
        &format!("{} ({})", when(memory.created_at, style), memory.status.as_str()),
    );
    fields.add_all("by", &memory.user);
    fields.add_all("session", &answer.client_session_id);
    fields.add_all("commit", &memory.linked_commit);
    fields.add_all("parent", memory.parent_task_id.as_ref().map(TaskId::as_str));
    for (name, others) in [
        ("replaced by", &answer.replaced_by),
        ("replaces", &answer.replaces),
    ] {
        for other in others {
            fields.add(name, &format!("{}  {}", other.id, other.goal));
        }
    }
    fields.add("prompt", &memory.original_query);
    for decision in &memory.decisions {
        fields.add("decided", &format!("{} ({})", decision.choice, decision.reason));
    }
    fields.add_all("constraint", &memory.constraints);
    fields.add_all("found", &memory.reasoning_trace);
    fields.add_all("file", answer.files.iter().map(FileView::text));
    fields.add_all("tag", &memory.tags);
    let goal = style.bold(&one_line(title(memory)));
    format!("{goal}\n{}", fields.into_text())
}
