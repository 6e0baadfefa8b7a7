//! Results of reads whose content is in the conversation again. Pure.
//!
//! Only content that a later call repeats is superseded: the same part of the file read again, or the whole file written. An
//! edited file is not enough, because the client answers the next read of it with a note that the content is known.

use super::history::History;
use grov_wire::{BlockKind, RequestIndex};
use serde::Deserialize;
use std::collections::{HashMap, HashSet};

const READ: &str = "Read";
const WRITE: &str = "Write";

/// Part of the client's answer to a read whose content it takes for known.
const UNCHANGED: &str = "unchanged since";

/// Results below this size stay, in bytes of JSON. The line that replaces a result is about as long.
const MIN_BYTES: usize = 512;

/// A result whose content a later call repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Superseded {
    /// The id of the tool call.
    pub(super) tool_use_id: String,
    /// The file, as the call names it.
    pub(super) path: String,
    /// Whether the file was written. Otherwise it was read again.
    pub(super) is_written: bool,
}

impl Superseded {
    /// Returns the text that replaces the result.
    pub(super) fn line(&self) -> String {
        let what = if self.is_written { "written" } else { "read again" };
        format!(
            "[Grov left out this content of {}: the file was {what} later in this conversation.]",
            self.path
        )
    }
}

/// A part of a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize)]
struct FilePart {
    file_path: String,
    #[serde(default)]
    offset: Option<u64>,
    #[serde(default)]
    limit: Option<u64>,
    #[serde(default)]
    pages: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
enum Call {
    Read(FilePart),
    Write(String),
}

/// Returns the superseded results in a history, in order.
pub(super) fn superseded(history: &History<'_>) -> Vec<Superseded> {
    let mut calls: HashMap<String, Call> = HashMap::new();
    // The results with the current content of each part, by the id of their call.
    let mut current: HashMap<FilePart, Vec<String>> = HashMap::new();
    let mut found = Vec::new();
    for block in history.messages().flat_map(|message| message.blocks()) {
        let Some(id) = block.tool_use_id() else { continue };
        match block.kind() {
            BlockKind::ToolUse => {
                let name = block.tool_name().unwrap_or_default();
                if let Some(call) = block.input().and_then(|input| call(&name, input)) {
                    calls.insert(id.into_owned(), call);
                }
            }
            BlockKind::ToolResult if !block.is_error() => {
                let content = block.result_content().unwrap_or_default();
                match calls.remove(id.as_ref()) {
                    Some(Call::Read(part)) if !content.contains(UNCHANGED) => {
                        let path = part.file_path.clone();
                        let known = current.entry(part).or_default();
                        found.extend(drained(known, &path, false));
                        if content.len() >= MIN_BYTES {
                            known.push(id.into_owned());
                        }
                    }
                    Some(Call::Write(path)) => {
                        let parts = current.iter_mut().filter(|(part, _)| part.file_path == path);
                        for (_, known) in parts {
                            found.extend(drained(known, &path, true));
                        }
                    }
                    Some(Call::Read(_)) | None => {}
                }
            }
            _ => {}
        }
    }
    found
}

/// Returns those of the replaced results whose content the history still repeats: by another result in the same message or
/// later. The order within a message does not count, because the client may change it when it resumes a session.
pub(super) fn repeated(history: &History<'_>, is_replaced: impl Fn(&str) -> bool) -> HashSet<String> {
    let mut calls: HashMap<String, Call> = HashMap::new();
    let mut replaced: Vec<(usize, String, FilePart)> = Vec::new();
    // The newest message that has the content of a part, or that of a whole file.
    let mut read: HashMap<FilePart, usize> = HashMap::new();
    let mut written: HashMap<String, usize> = HashMap::new();
    for message in history.messages() {
        let number = message.number();
        for block in message.blocks() {
            let Some(id) = block.tool_use_id() else { continue };
            match block.kind() {
                BlockKind::ToolUse => {
                    let name = block.tool_name().unwrap_or_default();
                    if let Some(call) = block.input().and_then(|input| call(&name, input)) {
                        calls.insert(id.into_owned(), call);
                    }
                }
                BlockKind::ToolResult if !block.is_error() => match calls.remove(id.as_ref()) {
                    Some(Call::Read(part)) if is_replaced(&id) => {
                        replaced.push((number, id.into_owned(), part))
                    }
                    Some(Call::Read(part)) => {
                        let content = block.result_content().unwrap_or_default();
                        if !content.contains(UNCHANGED) {
                            read.insert(part, number);
                        }
                    }
                    Some(Call::Write(path)) => {
                        written.insert(path, number);
                    }
                    None => {}
                },
                _ => {}
            }
        }
    }
    let is_later = |newest: Option<&usize>, number| newest.is_some_and(|newest| *newest >= number);
    let repeated = replaced.into_iter().filter(|(number, _, part)| {
        is_later(read.get(part), *number) || is_later(written.get(&part.file_path), *number)
    });
    repeated.map(|(_, id, _)| id).collect()
}

fn call(name: &str, input: &str) -> Option<Call> {
    match name {
        READ => serde_json::from_str(input).ok().map(Call::Read),
        WRITE => serde_json::from_str::<FilePart>(input)
            .ok()
            .map(|part| Call::Write(part.file_path)),
        _ => None,
    }
}

fn drained(known: &mut Vec<String>, path: &str, is_written: bool) -> Vec<Superseded> {
    let superseded = |tool_use_id| Superseded {
        tool_use_id,
        path: path.to_owned(),
        is_written,
    };
    known.drain(..).map(superseded).collect()
}

/// Returns the names of tools that results of a tool search in these messages describe.
pub(super) fn loaded_tools(index: &RequestIndex, messages: std::ops::Range<usize>) -> Vec<String> {
    #[derive(Deserialize)]
    struct Reference {
        tool_name: Option<String>,
    }
    let mut names = Vec::new();
    for message in messages.filter_map(|number| index.message(number)) {
        for block in message.blocks() {
            let content = block
                .result_content()
                .filter(|content| content.contains("\"tool_reference\""));
            let references: Vec<Reference> = content
                .and_then(|content| serde_json::from_str(content).ok())
                .unwrap_or_default();
            for name in references.into_iter().filter_map(|reference| reference.tool_name) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::injection::history::Beginning;
    use bytes::Bytes;
    use serde_json::{Value, json};

    struct Conversation(Vec<Value>);

    impl Conversation {
        fn new() -> Self {
            Self(vec![json!({"role": "user", "content": "do it"})])
        }

        fn call(mut self, id: &str, name: &str, input: Value, result: Value) -> Self {
            self.0.push(json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": name, "input": input}]}));
            let mut block = json!({"type": "tool_result", "tool_use_id": id, "content": result});
            if id.starts_with("failed") {
                block["is_error"] = json!(true);
            }
            self.0.push(json!({"role": "user", "content": [block]}));
            self
        }

        fn read(self, id: &str, path: &str) -> Self {
            self.call(
                id,
                "Read",
                json!({"file_path": path}),
                json!("line\n".repeat(200)),
            )
        }

        fn index(self) -> RequestIndex {
            RequestIndex::parse(&Bytes::from(json!({"messages": self.0}).to_string())).unwrap()
        }

        fn superseded(self) -> Vec<(String, bool)> {
            let index = self.index();
            let skeleton = index.skeleton();
            let found = superseded(&History::new(&index, &skeleton, Beginning::default()));
            found
                .into_iter()
                .map(|found| (found.tool_use_id, found.is_written))
                .collect()
        }
    }

    fn found(ids: &[(&str, bool)]) -> Vec<(String, bool)> {
        ids.iter()
            .map(|(id, is_written)| ((*id).to_owned(), *is_written))
            .collect()
    }

    #[test]
    fn a_file_that_was_read_again_is_superseded() {
        let reads = Conversation::new()
            .read("1", "/a")
            .read("2", "/b")
            .read("3", "/a")
            .read("failed", "/b");
        assert_eq!(reads.superseded(), found(&[("1", false)]));
    }

    #[test]
    fn another_part_does_not_supersede() {
        let part = |offset: u64| json!({"file_path": "/a", "offset": offset, "limit": 100});
        let content = json!("line\n".repeat(200));
        let reads = Conversation::new()
            .read("1", "/a")
            .call("2", "Read", part(1), content.clone())
            .call("3", "Read", part(101), content.clone())
            .call("4", "Read", part(1), content);
        assert_eq!(reads.superseded(), found(&[("2", false)]));
    }

    #[test]
    fn a_read_that_was_answered_with_a_note_keeps_the_content() {
        let note = json!(
            "File unchanged since last read. The content from the earlier Read tool_result is still current."
        );
        let reads = Conversation::new()
            .read("1", "/a")
            .call("2", "Read", json!({"file_path": "/a"}), note);
        assert_eq!(reads.superseded(), found(&[]));
    }

    #[test]
    fn a_written_file_is_superseded_and_an_edited_one_is_not() {
        let edit = json!({"file_path": "/a", "old_string": "x", "new_string": "y"});
        let edited = Conversation::new()
            .read("1", "/a")
            .call("2", "Edit", edit, json!("ok"));
        assert_eq!(edited.superseded(), found(&[]));
        let write = json!({"file_path": "/a", "content": "new"});
        let written = Conversation::new()
            .read("1", "/a")
            .call("failed", "Write", write.clone(), json!("no"))
            .read("2", "/c")
            .call("3", "Write", write, json!("ok"));
        assert_eq!(written.superseded(), found(&[("1", true)]));
    }

    #[test]
    fn a_replaced_result_is_repeated_only_by_one_in_its_message_or_later() {
        let both = json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "2", "content": "new"},
            {"type": "tool_result", "tool_use_id": "1", "content": "old"},
        ]});
        let read =
            |id: &str| json!({"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": "/a"}});
        let messages = [
            json!({"role": "user", "content": "do it"}),
            json!({"role": "assistant", "content": [read("1"), read("2")]}),
            both,
        ];
        let still = |conversation: Conversation| {
            let index = conversation.index();
            let skeleton = index.skeleton();
            let history = History::new(&index, &skeleton, Beginning::default());
            let mut found: Vec<String> = repeated(&history, |id| id == "1").into_iter().collect();
            found.sort();
            found
        };
        // The client sends the results in another order than before.
        assert_eq!(still(Conversation(messages.to_vec())), ["1"]);
        assert_eq!(still(Conversation::new().read("1", "/a").read("2", "/a")), ["1"]);
        let gone = Conversation::new()
            .read("2", "/a")
            .read("1", "/a")
            .read("3", "/b");
        assert!(still(gone).is_empty());
        let write = json!({"file_path": "/a", "content": "new"});
        let written = Conversation::new()
            .read("1", "/a")
            .call("2", "Write", write, json!("ok"));
        assert_eq!(still(written), ["1"]);
    }

    #[test]
    fn small_results_stay() {
        let reads = Conversation::new()
            .call("1", "Read", json!({"file_path": "/a"}), json!("x"))
            .read("2", "/a");
        assert_eq!(reads.superseded(), found(&[]));
    }

    #[test]
    fn tools_of_a_search_are_named_once() {
        let references = json!([{"type": "tool_reference", "tool_name": "WebFetch"}, {"type": "text", "text": "Tool loaded."}]);
        let index = Conversation::new()
            .call("1", "ToolSearch", json!({}), references.clone())
            .call("2", "ToolSearch", json!({}), references)
            .index();
        assert_eq!(loaded_tools(&index, 0..5), ["WebFetch"]);
        assert!(loaded_tools(&index, 0..2).is_empty());
    }
}
