//! *Memory*: what Grov remembers of a project.

use super::answers::{Answer, Fault, list as items, text};
use crate::Site;
use crate::access::Session;
use crate::format::{line, shown};
use crate::page::{Frame, PageError, is_partial, render};
use askama::Template;
use axum::Extension;
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use grov_domain::ItemFilter;
use serde::Deserialize;
use serde_json::Value;

/// Memories in a list.
const MEMORIES: &str = "50";
/// Waiting proposals that are counted.
const MAX_WAITING: u32 = 1_000;
/// Parts of a score that are shown.
const SIGNALS: usize = 4;

/// What the address asks for.
#[derive(Deserialize)]
pub(super) struct Wanted {
    #[serde(default)]
    q: String,
    #[serde(default)]
    project: String,
}

#[derive(Template)]
#[template(path = "memory.html")]
struct Page {
    frame: Frame,
    fault: Option<Fault>,
    projects: Vec<ProjectRow>,
    query: String,
    rows: Vec<Row>,
    /// Proposals that wait, of all projects.
    waiting: usize,
}

/// The part that the search replaces.
#[derive(Template)]
#[template(path = "memory_list.html")]
struct Part {
    fault: Option<Fault>,
    query: String,
    rows: Vec<Row>,
}

struct ProjectRow {
    key: String,
    memories: u64,
    is_chosen: bool,
}

struct Row {
    id: String,
    goal: String,
    date: String,
    status: String,
    snippet: String,
    score: String,
    why: String,
}

/// `GET /_grov/ui/memory`
pub(super) async fn list(
    State(site): State<Site>,
    Extension(session): Extension<Session>,
    Query(wanted): Query<Wanted>,
    headers: HeaderMap,
) -> Result<Response, PageError> {
    let mut known = site.store.memory_projects().await?;
    known.sort_by_key(|project| std::cmp::Reverse(project.memories));
    let first = || known.first().map(|project| project.project_path.clone());
    let project = match wanted.project.is_empty() {
        true => first().unwrap_or_default(),
        false => wanted.project,
    };
    let query = wanted.q.trim().to_owned();
    let of_project = format!("--project={project}");
    let answer = match (project.is_empty(), query.is_empty()) {
        (true, _) => Ok(Value::Null),
        (false, true) => {
            site.commands
                .run(&["memory", "list", "--limit", MEMORIES, &of_project])
                .await
        }
        (false, false) => {
            let words = [
                "memory",
                "search",
                "--why",
                "--limit",
                MEMORIES,
                &of_project,
                "--",
                &query,
            ];
            site.commands.run(&words).await
        }
    };
    let found = match query.is_empty() {
        true => items(&answer, "memories"),
        false => items(&answer, "results"),
    };
    let rows = found.iter().map(Row::of).collect();
    let fault = Fault::of(&answer);
    if is_partial(&headers) {
        return Ok(render(&Part {
            fault,
            query: shown(&query),
            rows,
        }));
    }
    let filter = ItemFilter {
        scope: None,
        only_proposed: true,
        limit: MAX_WAITING,
    };
    let waiting = site.store.items(&filter).await?.len();
    Ok(render(&Page {
        frame: Frame::from(&session).at("Memory"),
        fault,
        projects: known
            .iter()
            .map(|one| ProjectRow {
                key: shown(&one.project_path),
                memories: one.memories,
                is_chosen: one.project_path == project,
            })
            .collect(),
        query: shown(&query),
        rows,
        waiting,
    }))
}

impl Row {
    fn of(value: &Value) -> Self {
        let goal = value["goal"]
            .as_str()
            .or_else(|| value["original_query"].as_str());
        let mut why: Vec<(&str, f64)> = value["why"]
            .as_object()
            .into_iter()
            .flatten()
            .filter_map(|(signal, share)| Some((signal.as_str(), share.as_f64()?)))
            .collect();
        why.sort_by(|one, other| other.1.abs().total_cmp(&one.1.abs()));
        let why: Vec<String> = why
            .into_iter()
            .take(SIGNALS)
            .map(|(signal, share)| format!("{} {share:.2}", line(&signal.replace('_', " "))))
            .collect();
        Self {
            id: text(value, "id"),
            goal: line(goal.unwrap_or_default()),
            date: text(value, "created_at").chars().take(10).collect(),
            status: text(value, "status"),
            snippet: value["snippet"].as_str().map(line).unwrap_or_default(),
            score: value["score"]
                .as_f64()
                .map(|score| format!("{score:.2}"))
                .unwrap_or_default(),
            why: why.join(", "),
        }
    }
}

#[derive(Template)]
#[template(path = "memory_one.html")]
struct One {
    frame: Frame,
    fault: Option<Fault>,
    told: &'static str,
    memory: Memory,
    replaced_by: Vec<Link>,
    replaces: Vec<Link>,
    files: Vec<FileRow>,
    cost: String,
}

/// A memory as the page shows and edits it.
struct Memory {
    id: String,
    project: String,
    goal: String,
    query: String,
    status: String,
    saved: String,
    user: String,
    session: String,
    commit: String,
    findings: Vec<String>,
    decisions: Vec<String>,
    constraints: Vec<String>,
    tags: Vec<String>,
}

struct Link {
    id: String,
    goal: String,
}

struct FileRow {
    path: String,
    /// What became of it since the memory was saved.
    since: String,
}

/// What was done before the page is shown.
#[derive(Deserialize)]
pub(super) struct Done {
    #[serde(default)]
    done: String,
}

/// `GET /_grov/ui/memory/{id}`
pub(super) async fn one(
    State(site): State<Site>,
    Extension(session): Extension<Session>,
    Path(id): Path<String>,
    Query(done): Query<Done>,
) -> Result<Response, PageError> {
    let answer = site.commands.run(&["memory", "show", "--", &id]).await;
    let value = answer.as_ref().unwrap_or(&Value::Null);
    if answer.is_err() || value["memory"].is_null() {
        return Err(PageError::Missing("There is no such memory"));
    }
    let forgetting = site
        .commands
        .run(&["memory", "forget", "--dry-run", "--", &id])
        .await;
    Ok(render(&One {
        frame: Frame::from(&session).at("Memory"),
        fault: Fault::of(&answer),
        told: match done.done.as_str() {
            "edited" => "The memory was changed.",
            "replaced" => "The memory is marked as replaced; both are kept.",
            "restored" => "The memory is valid again.",
            _ => "",
        },
        memory: Memory::of(value),
        replaced_by: links(&answer, "replaced_by"),
        replaces: links(&answer, "replaces"),
        files: items(&answer, "files").iter().map(FileRow::of).collect(),
        cost: cost(&forgetting),
    }))
}

fn links(answer: &Answer, field: &str) -> Vec<Link> {
    let links = items(answer, field).iter();
    links
        .map(|one| Link {
            id: text(one, "id"),
            goal: one["goal"].as_str().map(line).unwrap_or_default(),
        })
        .collect()
}

/// What forgetting a memory costs, in words.
fn cost(answer: &Answer) -> String {
    let uses = items(answer, "uses").len();
    let tokens = answer
        .as_ref()
        .ok()
        .and_then(|answer| answer["prompt_tokens_at_most"].as_u64());
    let of_proxy = match (uses, tokens.unwrap_or_default()) {
        (0, _) => None,
        (uses, 0) => Some(format!(
            "{uses} histories have its text; none of them is in a prompt cache any more."
        )),
        (uses, tokens) => Some(format!(
            "{uses} histories have its text. Removing it writes at most {} tokens to the prompt cache again.",
            crate::format::count(tokens)
        )),
    };
    let of_hooks = match items(answer, "hook_sessions").len() {
        0 => None,
        sessions => Some(format!(
            "The client's own history of {sessions} sessions keeps its text, which a hook added: it is sent again when they are resumed."
        )),
    };
    match [of_proxy, of_hooks] {
        [None, None] => "No session has its text in its history.".to_owned(),
        parts => parts.into_iter().flatten().collect::<Vec<_>>().join(" "),
    }
}

impl Memory {
    fn of(answer: &Value) -> Self {
        let memory = &answer["memory"];
        Self {
            id: text(memory, "id"),
            project: text(memory, "project_path"),
            goal: text(memory, "goal"),
            query: text(memory, "original_query"),
            status: text(memory, "status"),
            saved: text(memory, "created_at"),
            user: text(answer, "user"),
            session: text(answer, "client_session_id"),
            commit: text(memory, "linked_commit"),
            findings: texts(memory, "reasoning_trace"),
            decisions: decisions(memory),
            constraints: texts(memory, "constraints"),
            tags: texts(memory, "tags"),
        }
    }
}

/// Returns the texts of a list.
pub(super) fn texts(value: &Value, field: &str) -> Vec<String> {
    let items = value[field].as_array().into_iter().flatten();
    items.filter_map(Value::as_str).map(shown).collect()
}

/// Returns decisions as `choice: reason`.
pub(super) fn decisions(memory: &Value) -> Vec<String> {
    let decisions = memory["decisions"].as_array().into_iter().flatten();
    decisions
        .map(|one| match text(one, "reason") {
            reason if reason.is_empty() => text(one, "choice"),
            reason => format!("{}: {reason}", text(one, "choice")),
        })
        .collect()
}

impl FileRow {
    fn of(value: &Value) -> Self {
        let path = match value {
            Value::String(path) => shown(path),
            other => text(other, "path"),
        };
        Self {
            path,
            since: text(value, "since"),
        }
    }
}
