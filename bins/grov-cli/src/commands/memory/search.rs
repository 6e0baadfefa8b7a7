//! `grov memory search`

use super::scope;
use crate::arguments::SearchArguments;
use crate::assembly::CommandStore;
use crate::context::Context;
use crate::embedder::Searcher;
use crate::failure::Failure;
use crate::lines::Lines;
use crate::output::{self, Outcome, Style, Terminal, Verdict, say};
use crate::table::{Table, harmless};
use grov_domain::{Clock, MemoryScope, SystemClock};
use grov_memory::Query;
use grov_query::ResultView;
use serde::{Deserialize, Serialize};
use std::path::Path;
use time::OffsetDateTime;

#[derive(Serialize)]
struct Answer {
    results: Vec<ResultView>,
}

#[derive(Serialize)]
struct BatchAnswer<'a> {
    id: &'a serde_json::Value,
    results: &'a [ResultView],
}

/// One question of a batch.
#[derive(Deserialize)]
struct Question {
    id: serde_json::Value,
    text: String,
    #[serde(default)]
    files: Option<Vec<String>>,
    #[serde(default, with = "time::serde::rfc3339::option")]
    before: Option<OffsetDateTime>,
}

pub(super) fn run(context: &Context, arguments: &SearchArguments, terminal: Terminal) -> Outcome {
    let scope = scope(context)?;
    match (&arguments.batch, &arguments.query) {
        (Some(file), _) => batch(context, scope, file, arguments),
        (None, query) => {
            let query = Query {
                scope,
                text: query.clone().unwrap_or_default(),
                files: arguments.files.clone(),
                before: Some(SystemClock.now()),
                limit: arguments.limit,
            };
            one(context, &query, arguments.why, terminal)
        }
    }
}

fn one(context: &Context, query: &Query, why: bool, terminal: Terminal) -> Outcome {
    let searcher = Searcher::of(context);
    let results = context
        .read(async |store| {
            let mut results = Vec::new();
            for found in searcher.search(store, query).await? {
                let task = store.task(&found.task_id).await?;
                results.push(ResultView::of(found, why).with_task(task));
            }
            Ok(results)
        })?
        .unwrap_or_default();
    let verdict = if results.is_empty() {
        Verdict::Nothing
    } else {
        Verdict::Found
    };
    if results.is_empty() {
        say("nothing in memory fits");
    }
    terminal.answer(Answer { results }, text)?;
    Ok(verdict)
}

/// Answers line by line; a line that cannot be understood ends it, since the answers have to stay in step.
fn batch(context: &Context, scope: MemoryScope, file: &Path, arguments: &SearchArguments) -> Outcome {
    let mut lines = Lines::open(file)?;
    let (limit, why) = (arguments.limit, arguments.why);
    let searcher = Searcher::of(context);
    let outcome =
        context.read(async |store| Ok(answer_all(store, &searcher, &scope, &mut lines, limit, why).await))?;
    match outcome {
        Some(outcome) => outcome.map(|()| Verdict::Found),
        None => Err(Failure::error(
            "nothing_stored",
            "there is no database yet",
            Some("fill it with `grov memory import FILE`"),
        )),
    }
}

async fn answer_all(
    store: &dyn CommandStore,
    searcher: &Searcher,
    scope: &MemoryScope,
    lines: &mut Lines,
    limit: usize,
    why: bool,
) -> Result<(), Failure> {
    while let Some(line) = lines.next()? {
        let number = line.number;
        let question: Question = serde_json::from_slice(line.bytes.unwrap_or_default()).map_err(|error| {
            Failure::error("input", format!("line {number} is no question: {error}"), None)
        })?;
        let query = Query {
            scope: scope.clone(),
            text: question.text,
            files: question.files.unwrap_or_default(),
            before: question.before,
            limit,
        };
        let found = searcher.search(store, &query).await.map_err(Failure::from)?;
        let results: Vec<ResultView> = found
            .into_iter()
            .map(|found| ResultView::of(found, why))
            .collect();
        output::line(&BatchAnswer {
            id: &question.id,
            results: &results,
        })?;
    }
    Ok(())
}

fn text(answer: &Answer, style: Style) -> String {
    let mut table = Table::new(&["SCORE#", "DATE", "ID", "GOAL", "WHY"]);
    for result in &answer.results {
        let why = result
            .why
            .iter()
            .flatten()
            .map(|(signal, share)| format!("{signal} {share:.2}"));
        table.row([
            format!("{:.2}", result.score),
            result
                .created_at
                .map(|time| time.date().to_string())
                .unwrap_or_default(),
            harmless(&result.id),
            result.goal.clone(),
            why.collect::<Vec<_>>().join(", "),
        ]);
    }
    table.render(style)
}
