//! A record that somebody edited. Pure.

use crate::commands::memory::record::{self, Record};
use crate::failure::Failure;
use crate::table::{harmless, shortened};
use grov_domain::{Project, Task};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// What a person may change; everything else says where a memory comes from and has to stay true.
const EDITABLE: [&str; 10] = [
    "user",
    "original_query",
    "goal",
    "reasoning_trace",
    "files_touched",
    "decisions",
    "constraints",
    "tags",
    "status",
    "linked_commit",
];

/// The record of a task, to be edited.
pub(super) fn written(task: &Task) -> Result<String, Failure> {
    serde_json::to_string_pretty(&Record::from(task.clone()))
        .map(|text| text + "\n")
        .map_err(|error| bad(format!("the record cannot be written as JSON: {error}")))
}

/// The task `before` with what `text` says.
pub(super) fn understood(text: &[u8], before: &Task) -> Result<Task, Failure> {
    let draft: Map<String, Value> = serde_json::from_slice(text)
        .map_err(|error| bad(format!("the draft is no record in JSON: {error}")))?;
    let original = written(before)?;
    let original: Map<String, Value> =
        serde_json::from_str(&original).map_err(|error| bad(format!("the record is no JSON: {error}")))?;
    let names: BTreeSet<&String> = draft.keys().chain(original.keys()).collect();
    for name in names {
        if EDITABLE.contains(&name.as_str()) || draft.get(name) == original.get(name) {
            continue;
        }
        let shown = shortened(&harmless(name), 40);
        return Err(bad(match original.get(name) {
            Some(value) => format!("{shown:?} cannot be changed; it has to be {value}"),
            None => format!("{shown:?} is no part of a record that can be changed"),
        }));
    }
    let project = Project {
        path: Some(before.project_path.clone()),
        remote: before.project_remote.clone(),
    };
    let read = record::read(text, &project, before.created_at)
        .map_err(|reason| bad(format!("the draft {reason}")))?;
    let edited = read.task;
    Ok(Task {
        user: edited.user,
        original_query: edited.original_query,
        goal: edited.goal,
        reasoning_trace: edited.reasoning_trace,
        files_touched: edited.files_touched,
        decisions: edited.decisions,
        constraints: edited.constraints,
        tags: edited.tags,
        status: edited.status,
        linked_commit: edited.linked_commit,
        ..before.clone()
    })
}

fn bad(message: String) -> Failure {
    Failure::error("draft", message, None)
}
