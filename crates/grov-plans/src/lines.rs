//! Lists in a plan directory: one JSON object a line.

use crate::{PlanError, file};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The maximum number of bytes of a list: nothing is added to a longer one, and no more is read.
pub(crate) const MAX_LIST: u64 = 8 * 1024 * 1024;

/// A prompt on a branch, without secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Query {
    /// The text.
    pub prompt: String,
    /// The client's session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The client's id of the prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The commit that was checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The time, in the form of RFC 3339. It is the last field, so that the line of a duplicate begins with the same bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// A file that a prompt mentions, relative to the top of the working tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MentionedFile {
    pub(crate) path: String,
}

/// A list that was read, and what of it was not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed<T> {
    /// The items, in the order of the file.
    pub items: Vec<T>,
    /// The number of lines that were skipped.
    pub skipped: usize,
    /// Whether the file was too long, so that its end is missing.
    pub is_cut: bool,
}

/// Reads a list; empty if there is no file.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<Listed<T>, PlanError> {
    let (bytes, length) = file::read_beginning(path, MAX_LIST)?.unwrap_or_default();
    let is_cut = length > bytes.len() as u64;
    let mut listed = Listed {
        items: Vec::new(),
        skipped: 0,
        is_cut,
    };
    let end = match is_cut {
        // The last line may be incomplete.
        true => bytes.iter().rposition(|byte| *byte == b'\n').unwrap_or(0),
        false => bytes.len(),
    };
    for line in bytes[..end].split(|byte| *byte == b'\n') {
        if line.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice(line) {
            Ok(item) => listed.items.push(item),
            Err(_) => listed.skipped += 1,
        }
    }
    Ok(listed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(text: &[u8]) -> Listed<Query> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("queries.jsonl");
        std::fs::write(&path, text).unwrap();
        read(&path).unwrap()
    }

    #[test]
    fn broken_lines_are_skipped_and_counted() {
        let list = listed(b"{\"prompt\":\"one\"}\nnonsense\n{\"prompt\":3}\n\n{\"prompt\":\"two\",\"at\":\"now\",\"x\":1}\n{\"pro");
        let prompts: Vec<&str> = list.items.iter().map(|query| query.prompt.as_str()).collect();
        assert_eq!(
            (prompts, list.skipped, list.is_cut),
            (vec!["one", "two"], 3, false)
        );
    }

    #[test]
    fn a_huge_list_is_cut_at_a_line() {
        let line = format!("{{\"prompt\":\"{}\"}}\n", "x".repeat(1000));
        let lines = MAX_LIST as usize / line.len() + 5;
        let list = listed(line.repeat(lines).as_bytes());
        assert!(list.is_cut && list.skipped == 0, "{}", list.skipped);
        assert_eq!(list.items.len(), MAX_LIST as usize / line.len());
    }

    #[test]
    fn a_missing_list_is_empty() {
        let list: Listed<Query> = read(Path::new("/not/there")).unwrap();
        assert_eq!((list.items.len(), list.skipped, list.is_cut), (0, 0, false));
    }
}
