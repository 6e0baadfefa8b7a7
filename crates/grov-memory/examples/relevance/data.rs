//! Records and questions as stored in files.

use grov_domain::{Decision, Task};
use serde::Deserialize;
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use time::OffsetDateTime;

/// A question with the records that answer it.
#[derive(Deserialize)]
pub(crate) struct Question {
    pub(crate) dataset: String,
    pub(crate) category: String,
    pub(crate) project: String,
    pub(crate) text: String,
    #[serde(default)]
    pub(crate) files: Vec<String>,
    #[serde(default, with = "time::serde::rfc3339::option")]
    pub(crate) created_at: Option<OffsetDateTime>,
    #[serde(default)]
    pub(crate) exclude_prefix: Option<String>,
    pub(crate) relevant: HashMap<String, f64>,
}

#[derive(Deserialize)]
struct Record {
    id: String,
    project_path: String,
    original_query: String,
    goal: Option<String>,
    reasoning_trace: Vec<String>,
    files_touched: Vec<String>,
    #[serde(default)]
    decisions: Vec<Decision>,
    #[serde(default)]
    constraints: Vec<String>,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(with = "time::serde::rfc3339")]
    created_at: OffsetDateTime,
}

/// Memories by project.
pub(crate) type Projects = HashMap<String, Vec<Task>>;

/// Reads a directory: `docs/PROJECT.jsonl` and `queries.jsonl`.
pub(crate) fn read(directory: &Path) -> Result<(Projects, Vec<Question>), String> {
    let mut projects = HashMap::new();
    let listing =
        fs::read_dir(directory.join("docs")).map_err(|error| format!("{}: {error}", directory.display()))?;
    for entry in listing.flatten() {
        let path = entry.path();
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned());
        let records: Vec<Record> = lines(&path)?;
        projects.insert(name.unwrap_or_default(), records.into_iter().map(task).collect());
    }
    Ok((projects, lines(&directory.join("queries.jsonl"))?))
}

fn lines<T: for<'a> Deserialize<'a>>(path: &Path) -> Result<Vec<T>, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| serde_json::from_str(line).map_err(|error| format!("{}: {error}", path.display())))
        .collect()
}

fn task(record: Record) -> Task {
    Task {
        goal: record.goal,
        reasoning_trace: record.reasoning_trace,
        files_touched: record.files_touched,
        decisions: record.decisions,
        constraints: record.constraints,
        tags: record.tags,
        created_at: record.created_at,
        ..Task::new(&record.id, &record.project_path, &record.original_query)
    }
}
