//! `grov memory search`

use super::scope;
use crate::arguments::SearchArguments;
use crate::context::Context;
use crate::embedder::Searcher;
use crate::failure::Failure;
use crate::format::short_ids;
use crate::lines::Lines;
use crate::output::{self, ExitStatus, Outcome, Style, note};
use crate::table::{Table, cell};
use grov_domain::{Clock, MemoryScope, SystemClock, Task, TaskId};
use grov_memory::Query;
use grov_query::{ResultView, leave_out_copies};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::Path;
use time::OffsetDateTime;

#[derive(Serialize)]
struct Answer {
    results: Vec<ResultView>,
}

#[derive(Serialize)]
struct BatchAnswer {
    id: serde_json::Value,
    results: Vec<ResultView>,
}

/// One line of a batch.
#[derive(Deserialize)]
struct Question {
    id: serde_json::Value,
    text: String,
    #[serde(default)]
    files: Option<Vec<String>>,
    #[serde(default, with = "time::serde::rfc3339::option")]
    before: Option<OffsetDateTime>,
}

pub(super) fn run(context: &Context, arguments: &SearchArguments) -> Outcome {
    let scope = scope(context)?;
    if let Some(file) = &arguments.batch {
        return batch(context, &scope, file, arguments);
    }
    let query = Query {
        scope,
        text: arguments.query.join(" "),
        files: arguments.files.clone(),
        before: Some(SystemClock.now()),
        limit: arguments.limit,
    };
    let searcher = Searcher::of(context);
    let results = context.read(async |store| {
        let found = searcher.search(store, &query).await?;
        let ids: Vec<TaskId> = found.iter().map(|found| found.task_id.clone()).collect();
        let mut memories = store.memories(&ids).await?;
        leave_out_copies(&mut memories, &query.scope.project_path);
        let mut memories: HashMap<TaskId, Task> = memories
            .into_iter()
            .map(|memory| (memory.id.clone(), memory))
            .collect();
        let results = found.into_iter().filter_map(|found| {
            let memory = memories.remove(&found.task_id)?;
            Some(ResultView::of(found, arguments.why).with_task(Some(memory), &query.text))
        });
        Ok(results.collect())
    })?;
    let results: Vec<ResultView> = results.unwrap_or_default();
    let status = ExitStatus::success_if(!results.is_empty());
    if results.is_empty() {
        note!("no memory matches; `grov memory list` shows all of this project");
    }
    context.answer(Answer { results }, text)?;
    Ok(status)
}

/// Answers a file line by line. Stops at a malformed line, because answers must correspond to lines.
fn batch(context: &Context, scope: &MemoryScope, file: &Path, arguments: &SearchArguments) -> Outcome {
    let mut lines = Lines::open(file)?;
    let searcher = Searcher::of(context);
    let answered = context.read(async |store| {
        while let Some(line) = lines.next()? {
            let number = line.number;
            let question: Question =
                serde_json::from_slice(line.bytes.unwrap_or_default()).map_err(|error| {
                    Failure::error("input", format!("line {number} is not a question: {error}"))
                })?;
            let query = Query {
                scope: scope.clone(),
                text: question.text,
                files: question.files.unwrap_or_default(),
                before: question.before,
                limit: arguments.limit,
            };
            let found = searcher.search(store, &query).await?.into_iter();
            output::line(&BatchAnswer {
                id: question.id,
                results: found.map(|found| ResultView::of(found, arguments.why)).collect(),
            })?;
        }
        Ok(ExitStatus::Success)
    })?;
    answered.ok_or_else(|| {
        Failure::error("nothing_stored", "there is no database yet")
            .hint("fill it with `grov memory import FILE`")
    })
}

fn text(answer: &Answer, style: Style) -> String {
    let mut table = Table::new("SCORE#, DATE?, ID, GOAL~, WHY~");
    let short = short_ids(answer.results.iter().map(|result| result.id.as_str()), style);
    for result in &answer.results {
        let date = result.created_at.map(|time| time.date().to_string());
        let signals = result.why.iter().flatten();
        let why: Vec<String> = signals
            .map(|(signal, share)| format!("{signal} {share:.2}"))
            .collect();
        table.row([
            format!("{:.2}", result.score),
            date.unwrap_or_default(),
            short(&result.id),
            match result.superseded_by {
                Some(_) => format!("(replaced) {}", cell(result.goal.as_deref())),
                None => cell(result.goal.as_deref()),
            },
            why.join(", "),
        ]);
    }
    table.render(style)
}
