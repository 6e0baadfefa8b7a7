//! Writes a task record for editing and parses the edited text.

use crate::commands::memory::record;
use crate::failure::Failure;
use crate::table::{one_line, truncated};
use grov_domain::{Project, Task};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The keys that a person may change. The others record where the memory comes from.
const EDITABLE: [&str; 10] = [
    "goal",
    "original_query",
    "status",
    "decisions",
    "constraints",
    "reasoning_trace",
    "files_touched",
    "tags",
    "user",
    "linked_commit",
];

/// The record of a task as text.
pub(super) fn serialize(task: &Task) -> Result<String, Failure> {
    serde_json::to_string_pretty(task)
        .map(|text| text + "\n")
        .map_err(|error| invalid(format!("cannot write the record as JSON: {error}")))
}

/// The task `before` with the changes in `text`.
///
/// # Errors
/// The text is not a record, or changes a key that is not editable.
pub(super) fn parse(text: &[u8], before: &Task) -> Result<Task, Failure> {
    let draft: Map<String, Value> = serde_json::from_slice(text)
        .map_err(|error| invalid(format!("the draft is not a record in JSON: {error}")))?;
    let original = object(before)?;
    let names: BTreeSet<&String> = draft.keys().chain(original.keys()).collect();
    for name in names {
        if EDITABLE.contains(&name.as_str()) || draft.get(name) == original.get(name) {
            continue;
        }
        let shown = truncated(&one_line(name), 40);
        return Err(invalid(match original.get(name) {
            Some(value) => format!("{shown:?} cannot be changed; it must be {value}"),
            None => format!("{shown:?} is not a key of a record"),
        }));
    }
    let project = Project {
        path: Some(before.project_path.clone()),
        remote: before.project_remote.clone(),
    };
    let read = record::read(text, &project, before.created_at)
        .map_err(|reason| invalid(format!("the draft {reason}")))?;
    Ok(read.task)
}

/// The editable keys whose values differ.
pub(super) fn changed(before: &Task, after: &Task) -> Result<Vec<&'static str>, Failure> {
    let (before, after) = (object(before)?, object(after)?);
    let is_changed = |key: &&str| before.get(*key) != after.get(*key);
    Ok(EDITABLE.into_iter().filter(is_changed).collect())
}

fn object(task: &Task) -> Result<Map<String, Value>, Failure> {
    serde_json::from_str(&serialize(task)?)
        .map_err(|error| invalid(format!("the record is not JSON: {error}")))
}

fn invalid(message: String) -> Failure {
    Failure::error("draft", message)
}
