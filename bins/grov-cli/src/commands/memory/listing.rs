//! `grov memory list`, `export` and `stats`

use super::record::Record;
use super::scope;
use crate::assembly::CommandStore;
use crate::context::Context;
use crate::output::{self, Outcome, Style, Terminal, Verdict, say};
use crate::show::moment;
use crate::table::{Table, harmless};
use grov_domain::{MemoryScope, StoreError, Task};
use grov_query::TaskView;
use serde::Serialize;
use std::fmt::Write;
use std::ops::ControlFlow;
use time::OffsetDateTime;

/// Memories that a person is shown unless they ask for more.
const SOME: u32 = 20;

#[derive(Serialize)]
struct ListAnswer {
    memories: Vec<TaskView>,
}

#[derive(Default, Serialize)]
struct StatsAnswer {
    project_path: String,
    memories: u64,
    complete: u64,
    partial: u64,
    abandoned: u64,
    files: u64,
    #[serde(with = "time::serde::rfc3339::option")]
    oldest: Option<OffsetDateTime>,
    #[serde(with = "time::serde::rfc3339::option")]
    newest: Option<OffsetDateTime>,
}

pub(super) fn list(context: &Context, limit: Option<u32>, terminal: Terminal) -> Outcome {
    let limit = limit.unwrap_or(if terminal.wants_json() { 0 } else { SOME });
    let scope = scope(context)?;
    let mut tasks = context
        .read(async |store| Ok(all(store, &scope).await?))?
        .unwrap_or_default();
    tasks.reverse();
    if limit > 0 {
        tasks.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    }
    if tasks.is_empty() {
        say("this project has no memories yet");
    }
    let memories = tasks.into_iter().map(TaskView::from).collect();
    terminal.answer(ListAnswer { memories }, list_text)?;
    Ok(Verdict::Found)
}

pub(super) fn export(context: &Context) -> Outcome {
    let scope = scope(context)?;
    let printed = context.read(async |store| {
        let mut printed = Ok(());
        let mut print = |task: Task| match output::line(&Record::from(task)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(failure) => {
                printed = Err(failure);
                ControlFlow::Break(())
            }
        };
        store.each_memory(&scope, &mut print).await?;
        Ok(printed)
    })?;
    printed.unwrap_or(Ok(())).map(|()| Verdict::Found)
}

pub(super) fn stats(context: &Context, terminal: Terminal) -> Outcome {
    let scope = scope(context)?;
    let project_path = scope.project_path.clone();
    let stats = context
        .read(async |store| Ok(store.memory_stats(Some(&scope)).await?))?
        .unwrap_or_default();
    let [complete, partial, abandoned] = stats.by_status;
    let answer = StatsAnswer {
        project_path,
        memories: stats.memories,
        complete,
        partial,
        abandoned,
        files: stats.files,
        oldest: stats.oldest,
        newest: stats.newest,
    };
    terminal.answer(answer, stats_text)?;
    Ok(Verdict::Found)
}

/// All memories of a scope, oldest first.
async fn all(store: &dyn CommandStore, scope: &MemoryScope) -> Result<Vec<Task>, StoreError> {
    let mut tasks = Vec::new();
    let mut keep = |task| {
        tasks.push(task);
        ControlFlow::Continue(())
    };
    store.each_memory(scope, &mut keep).await?;
    Ok(tasks)
}

fn list_text(answer: &ListAnswer, style: Style) -> String {
    if answer.memories.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&["SAVED", "STATUS", "ID", "GOAL"]);
    for memory in &answer.memories {
        table.row([
            moment(memory.created_at),
            match memory.superseded_by {
                Some(_) => format!("{}, replaced", memory.status),
                None => memory.status.to_owned(),
            },
            memory.id.clone(),
            memory
                .goal
                .clone()
                .unwrap_or_else(|| memory.original_query.clone()),
        ]);
    }
    table.render(style)
}

fn stats_text(answer: &StatsAnswer, style: Style) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "project   {}", style.bold(&harmless(&answer.project_path)));
    let _ = writeln!(
        text,
        "memories  {} ({} complete, {} partial, {} abandoned)",
        answer.memories, answer.complete, answer.partial, answer.abandoned
    );
    let _ = writeln!(text, "files     {}", answer.files);
    if let (Some(oldest), Some(newest)) = (answer.oldest, answer.newest) {
        let _ = writeln!(text, "saved     {} to {}", moment(oldest), moment(newest));
    }
    text
}
