//! Searching and showing memories.

use super::ToolFailure;
use crate::Ports;
use crate::information::Information;
use grov_domain::Task;
use grov_memory::{Budget, Query, Ranking, recall, render_with_details, suspicions};
use grov_query::{Lookup, find_memory, memory_refs, replaced_memories, replacements};
use grov_redact::{Redacted, Redactor};
use serde::Deserialize;

/// Maximum number of results.
pub(super) const MAX_RESULTS: usize = 20;
/// Number of results without `limit`.
const RESULTS: usize = 6;
/// Maximum bytes of a query.
const MAX_QUERY: usize = 4 * 1024;
/// The size of a list of results.
const BUDGET: Budget = Budget { tokens: 1600 };
/// Maximum characters of a text of a memory.
const MAX_TEXT: usize = 600;
/// Maximum number of texts of a kind.
const MAX_TEXTS: usize = 20;
/// Maximum number of files.
const MAX_FILES: usize = 60;
/// How the client reads more.
const DETAILS: &str = "Details: memory_show.";

/// The arguments of `memory_search`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Search {
    query: String,
    #[serde(default)]
    files: Vec<String>,
    limit: Option<usize>,
}

/// The arguments of `memory_show`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Show {
    id: String,
}

impl Search {
    pub(super) fn of(topic: &str) -> Self {
        Self {
            query: topic.to_owned(),
            files: Vec::new(),
            limit: None,
        }
    }
}

impl Show {
    pub(super) fn of(id: &str) -> Self {
        Self { id: id.to_owned() }
    }
}

/// The memories that match, best first, one line each.
pub(super) async fn search(ports: &Ports, search: Search) -> Result<Redacted, ToolFailure> {
    if search.query.len() > MAX_QUERY {
        return Err(ToolFailure::Arguments(format!(
            "the query has {} bytes, and {MAX_QUERY} are allowed: shorten it",
            search.query.len()
        )));
    }
    if search.query.trim().is_empty() && search.files.is_empty() {
        return Err(ToolFailure::Arguments("the query is empty".to_owned()));
    }
    let query = Query {
        scope: ports.scope(),
        text: search.query,
        files: search.files,
        before: Some(ports.clock.now()),
        limit: search.limit.unwrap_or(RESULTS).clamp(1, MAX_RESULTS),
    };
    let found = recall(&*ports.store, &query, &Ranking::default(), None).await?;
    let rendered = render_with_details(&found, &[], BUDGET, DETAILS);
    Ok(match rendered {
        Some(rendered) => rendered.text,
        None => Redactor::shared().text("No memory of this project matches."),
    })
}

/// One memory in full.
pub(super) async fn show(ports: &Ports, Show { id }: Show) -> Result<Redacted, ToolFailure> {
    let store = &*ports.store;
    let task = match find_memory(store, &id).await? {
        Lookup::Found(task) => task,
        Lookup::NotFound => {
            return Err(ToolFailure::Arguments(format!(
                "there is no memory {}",
                shown(&id)
            )));
        }
        Lookup::Ambiguous(tasks) => {
            let ids: Vec<&str> = tasks.iter().map(|task| task.id.as_str()).collect();
            return Err(ToolFailure::Arguments(format!(
                "{} is the id of several memories: {}",
                shown(&id),
                ids.join(", ")
            )));
        }
    };
    if suspicions(&task).iter().any(grov_memory::Suspicion::withholds) {
        return Err(ToolFailure::Arguments(
            "this memory instructs agents, so that it is withheld; the user can read and correct it with \
             `grov memory show` and `grov memory edit`"
                .to_owned(),
        ));
    }
    let mut information = described(&task);
    for (name, ids) in [
        ("replaced by", replacements(store, &task.id).await?),
        ("replaces", replaced_memories(store, &task.id).await?),
    ] {
        for other in memory_refs(store, &ids).await? {
            information.quoted(
                &format!("{name} {}", grov_memory::quote::line(&other.id, 64)),
                &other.goal,
                MAX_TEXT,
            );
        }
    }
    Ok(information.into_text("memory"))
}

/// The texts of a memory.
fn described(task: &Task) -> Information {
    let mut information = Information::default();
    information.line(&format!(
        "memory {} ({}, {})",
        grov_memory::quote::line(task.id.as_str(), 64),
        task.created_at.date(),
        task.status.as_str()
    ));
    information.quoted("by", task.user.as_deref().unwrap_or_default(), 80);
    information.quoted("goal", grov_query::title(task), MAX_TEXT);
    information.quoted("prompt", &task.original_query, MAX_TEXT);
    for decision in task.decisions.iter().take(MAX_TEXTS) {
        information.quoted("decided", &decision.choice, MAX_TEXT);
        information.quoted("because", &decision.reason, MAX_TEXT);
    }
    for (name, texts, limit, most) in [
        ("limit", &task.constraints, MAX_TEXT, MAX_TEXTS),
        ("found", &task.reasoning_trace, MAX_TEXT, MAX_TEXTS),
        ("file", &task.files_touched, 160, MAX_FILES),
        ("tag", &task.tags, 80, MAX_TEXTS),
    ] {
        information.all(name, texts.iter().map(String::as_str), limit, most);
    }
    information.quoted("commit", task.linked_commit.as_deref().unwrap_or_default(), 64);
    information
}

/// An id that the client sent.
fn shown(id: &str) -> String {
    grov_memory::quote::quoted(id, 64)
}
