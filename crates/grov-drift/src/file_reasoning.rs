//! Derives reasoning about files from the edits in a transcript.

use grov_actions::transcript::Edited;
use grov_domain::{ClientSessionId, FileReasoning, Task};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

/// Maximum number of entries per session; the newest are kept.
const MAX_ENTRIES: usize = 200;

/// Converts edits to file reasoning. Edits without a preceding message of the agent are skipped; of several edits at one place
/// the newest is used. Ids are derived, so that the same transcript gives the same rows. Paths below `root` become relative.
/// Edits without a timestamp get the timestamp of the task.
pub(crate) fn file_reasoning(
    session: &ClientSessionId,
    root: &str,
    task: &Task,
    edits: &[Edited],
) -> Vec<FileReasoning> {
    let mut found: Vec<FileReasoning> = Vec::new();
    for edit in edits {
        let Some(text) = edit.said.as_deref().filter(|text| !text.trim().is_empty()) else {
            continue;
        };
        let file = relative(&edit.file, root);
        let place = format!(
            "{session}\n{file}\n{}",
            edit.symbol.as_deref().unwrap_or_default()
        );
        let entry = FileReasoning {
            id: format!("{session}-{:016x}", xxh3_64(place.as_bytes())),
            task_id: Some(task.id.clone()),
            project_path: task.project_path.clone(),
            file_path: file.to_owned(),
            anchor: edit.symbol.clone(),
            line_start: edit.lines.map(|(first, _)| first),
            line_end: edit.lines.map(|(_, last)| last),
            code_hash: (!edit.code.is_empty()).then(|| format!("{:032x}", xxh3_128(edit.code.as_bytes()))),
            change_type: Some(if edit.is_new { "create" } else { "edit" }.to_owned()),
            reasoning: text.to_owned(),
            created_at: edit.at.unwrap_or(task.created_at),
        };
        found.retain(|known| known.id != entry.id);
        found.push(entry);
    }
    let surplus = found.len().saturating_sub(MAX_ENTRIES);
    found.drain(..surplus);
    found
}

/// A path relative to a folder, if it is below it.
fn relative<'a>(path: &'a str, folder: &str) -> &'a str {
    let below = path.strip_prefix(folder.trim_end_matches('/'));
    below.and_then(|rest| rest.strip_prefix('/')).unwrap_or(path)
}
