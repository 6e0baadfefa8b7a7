//! `grov memory list`, `export` and `stats`

use super::scope;
use crate::assembly::set_aside_databases;
use crate::context::Context;
use crate::format::{short_ids, when};
use crate::output::{self, ExitStatus, Outcome, Style, note};
use crate::table::{Fields, Table, one_line};
use grov_domain::{MemoryStats, Task};
use grov_query::{leave_out_copies, title};
use serde::Serialize;
use std::ops::ControlFlow;

/// Maximum number of memories that are shown as text without `--limit`.
const DEFAULT_LIMIT: u32 = 20;

#[derive(Serialize)]
struct ListAnswer {
    memories: Vec<Task>,
}

#[derive(Serialize)]
struct StatsAnswer {
    project_path: String,
    #[serde(flatten)]
    stats: MemoryStats,
}

pub(super) fn list(context: &Context, limit: Option<u32>) -> Outcome {
    let scope = scope(context)?;
    let mut memories = Vec::new();
    context.read(async |store| {
        let mut keep = |task| {
            memories.push(task);
            ControlFlow::Continue(())
        };
        Ok(store.each_memory(&scope, &mut keep).await?)
    })?;
    leave_out_copies(&mut memories, &scope.project_path);
    memories.reverse();
    if let Some(limit) = context.terminal.limit(limit, DEFAULT_LIMIT) {
        memories.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    }
    if memories.is_empty() {
        note!(
            "this project has no memories yet: a finished task becomes one; `grov memory adopt` takes over those of a moved \
             repository, `grov memory adopt OLD_DIRECTORY` those of a renamed one"
        );
    }
    note_set_aside(context);
    context.answer(ListAnswer { memories }, list_text)
}

/// Says where memories from before a damage of the database are.
fn note_set_aside(context: &Context) {
    if let Some(newest) = set_aside_databases(&context.database()).last() {
        note!(
            "a damaged database was set aside, and its memories are not listed: {}; `grov doctor` says how to get them back",
            newest.display()
        );
    }
}

pub(super) fn export(context: &Context) -> Outcome {
    let scope = scope(context)?;
    let mut outcome = Ok(ExitStatus::Success);
    context.read(async |store| {
        let mut print = |task: Task| {
            outcome = output::line(&task);
            match outcome {
                Ok(_) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        };
        Ok(store.each_memory(&scope, &mut print).await?)
    })?;
    outcome
}

pub(super) fn stats(context: &Context) -> Outcome {
    let scope = scope(context)?;
    let stats = context.read(async |store| Ok(store.memory_stats(Some(&scope)).await?))?;
    let answer = StatsAnswer {
        project_path: scope.project_path,
        stats: stats.unwrap_or_default(),
    };
    context.answer(answer, stats_text)
}

fn list_text(answer: &ListAnswer, style: Style) -> String {
    let mut table = Table::new("SAVED, STATUS, ID, GOAL~");
    let short = short_ids(answer.memories.iter().map(|memory| memory.id.as_str()), style);
    for memory in &answer.memories {
        let status = match memory.superseded_by {
            Some(_) => format!("{}, replaced", memory.status.as_str()),
            None => memory.status.as_str().to_owned(),
        };
        table.row([
            when(memory.created_at, style),
            status,
            short(memory.id.as_str()),
            title(memory).to_owned(),
        ]);
    }
    table.render(style)
}

fn stats_text(answer: &StatsAnswer, style: Style) -> String {
    let mut fields = Fields::new(9, usize::MAX, style);
    fields.add_styled("project", &style.bold(&one_line(&answer.project_path)));
    let stats = &answer.stats;
    fields.add(
        "memories",
        &format!(
            "{} ({} complete, {} partial, {} abandoned)",
            stats.memories, stats.complete, stats.partial, stats.abandoned
        ),
    );
    fields.add("files", &stats.files.to_string());
    if let (Some(oldest), Some(newest)) = (stats.oldest, stats.newest) {
        let saved = format!("{} to {}", when(oldest, style), when(newest, style));
        fields.add("saved", &saved);
    }
    fields.into_text()
}
