//! The client's transcripts, in its home directory.

use anyhow::{Context, Result};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// One tool call of a transcript.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolUse {
    /// The id of the call.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// Its input, as the client parsed it.
    pub input: Value,
    /// The session.
    pub session: String,
    /// The subagent that made the call.
    pub agent: Option<String>,
}

/// Every tool call in the transcripts of a client's home, in order for each session and subagent.
///
/// # Errors
/// A transcript cannot be read or has a line that is not JSON.
pub fn tool_uses(home: &Path) -> Result<Vec<ToolUse>> {
    let mut files = Vec::new();
    collect(&home.join(".claude/projects"), &mut files)?;
    files.sort();
    let mut uses: Vec<ToolUse> = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        for line in text.lines() {
            let entry: Value =
                serde_json::from_str(line).with_context(|| format!("a line of {}", file.display()))?;
            for call in calls(&entry) {
                // The transcript of a resumed session may repeat lines of an earlier file.
                if !uses.iter().any(|known| known.id == call.id) {
                    uses.push(call);
                }
            }
        }
    }
    Ok(uses)
}

fn calls(entry: &Value) -> Vec<ToolUse> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    if entry["type"] != "assistant" {
        return Vec::new();
    }
    let blocks = entry["message"]["content"].as_array().into_iter().flatten();
    blocks
        .filter(|block| block["type"] == "tool_use")
        .map(|block| ToolUse {
            id: text(&block["id"]),
            name: text(&block["name"]),
            input: block["input"].clone(),
            session: text(&entry["sessionId"]),
            agent: entry["agentId"].as_str().map(str::to_owned),
        })
        .collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "jsonl") {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_calls_are_read_once_and_in_order() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(".claude/projects/-p/s/subagents");
        fs::create_dir_all(&folder).unwrap();
        let line = |id: &str| {
            format!(
                r#"{{"type":"assistant","sessionId":"s","message":{{"content":[{{"type":"text","text":"x"}},{{"type":"tool_use","id":"{id}","name":"Bash","input":{{"command":"ls"}}}}]}}}}"#
            )
        };
        let main = format!(
            "{}\n{}\n{}\n",
            line("t1"),
            r#"{"type":"user","message":{"content":"hi"}}"#,
            line("t2")
        );
        fs::write(home.path().join(".claude/projects/-p/s.jsonl"), main).unwrap();
        let child = line("t3").replacen('{', r#"{"agentId":"a1","#, 1);
        fs::write(
            folder.join("agent-a1.jsonl"),
            format!("{child}\n{}\n", line("t1")),
        )
        .unwrap();
        let mut uses = tool_uses(home.path()).unwrap();
        uses.sort_by(|a, b| a.id.cmp(&b.id));
        let found: Vec<(&str, Option<&str>)> = uses
            .iter()
            .map(|call| (call.id.as_str(), call.agent.as_deref()))
            .collect();
        assert_eq!(found[1..], [("t2", None), ("t3", Some("a1"))]);
        assert_eq!(found.len(), 3);
        assert_eq!(uses[1].input["command"], "ls");
    }
}
