//! Reads what subagents reported at their end.

use super::statements::end_of_file;
use grov_actions::transcript::{Entry, Event, Reader};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use time::OffsetDateTime;

/// Maximum number of subagents whose transcripts are read, the newest.
const MAX_AGENTS: usize = 32;
/// Bytes at the end of each transcript that are read.
const MAX_BYTES: u64 = 1024 * 1024;

/// The last text of a subagent.
#[derive(Debug)]
pub(super) struct Report {
    /// When the subagent began.
    pub(super) at: OffsetDateTime,
    pub(super) text: String,
}

/// The last texts of the subagents of a session that changed something, oldest first. What others found is about the code as it
/// was.
pub(super) fn subagent_reports(transcript: &Path) -> Vec<Report> {
    let folder = transcript.with_extension("").join("subagents");
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut files: Vec<(SystemTime, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .filter(|(_, path)| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    files.sort();
    let newest = files.split_off(files.len().saturating_sub(MAX_AGENTS));
    let read = |(_, path): (SystemTime, PathBuf)| {
        report(Reader::new(None).read(&end_of_file(&path, MAX_BYTES)).entries)
    };
    let mut reports: Vec<Report> = newest.into_iter().filter_map(read).collect();
    reports.sort_by_key(|report| report.at);
    reports
}

/// The last text in the transcript of a subagent, if it changed something.
fn report(entries: Vec<Entry>) -> Option<Report> {
    let at = entries.iter().find_map(|entry| entry.at)?;
    let mut changes: HashSet<String> = HashSet::new();
    let mut text = String::new();
    for entry in entries {
        match entry.event {
            Event::Said(said) => text = said,
            Event::Call(call) => {
                text.clear();
                let is_change = call.action.action_type.modifies_files()
                    || call.action.effects.iter().any(|effect| effect.kind.is_change());
                if is_change {
                    changes.extend(call.action.tool_use_id.clone());
                }
            }
            Event::Ended(ended) if ended.failed => {
                changes.remove(&ended.tool_use_id);
            }
            _ => {}
        }
    }
    (!changes.is_empty() && !text.is_empty()).then_some(Report { at, text })
}
