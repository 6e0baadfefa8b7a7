//! The tools, run for real in one directory, with results worded like the client's.

use crate::json::Json;
use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

/// The timeout of a command.
const COMMAND_TIME: Duration = Duration::from_secs(120);

/// The result of a tool call.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outcome {
    content: Json,
    /// `is_error` of the result; commands always have it, other tools only when they fail.
    is_error: Option<bool>,
}

impl Outcome {
    pub(super) fn text(text: String) -> Self {
        Self {
            content: text.into(),
            is_error: None,
        }
    }

    pub(super) fn failed(problem: String) -> Self {
        let content = format!("<tool_use_error>{problem}</tool_use_error>").into();
        Self {
            content,
            is_error: Some(true),
        }
    }

    /// The result of a subagent: its answer, and how to continue it.
    pub(super) fn agent(answer: &str, agent: &str, calls: usize) -> Self {
        let about = format!(
            "agentId: {agent} (use SendMessage with to: '{agent}', summary: '<5-10 word recap>' to continue this agent)\n\
             <usage>subagent_tokens: 0\ntool_uses: {calls}\nduration_ms: 0</usage>"
        );
        let block = |text: &str| Json::object([("type", "text".into()), ("text", text.into())]);
        Self {
            content: Json::Array(vec![block(answer), block(&about)]),
            is_error: None,
        }
    }

    pub(super) fn is_error(&self) -> bool {
        self.is_error == Some(true)
    }

    pub(super) fn text_of(&self) -> String {
        match &self.content {
            Json::Array(blocks) => blocks
                .iter()
                .filter_map(|block| block.get_str("text"))
                .collect::<Vec<_>>()
                .join("\n"),
            content => content.as_str().unwrap_or_default().to_owned(),
        }
    }

    /// The `tool_result` block. Its keys are in the client's order, which differs for failures.
    pub(super) fn into_block(self, id: &str) -> Json {
        let kind = ("type", "tool_result".into());
        let content = ("content", self.content);
        match self.is_error {
            Some(true) => Json::object([
                kind,
                content,
                ("is_error", true.into()),
                ("tool_use_id", id.into()),
            ]),
            Some(false) => Json::object([
                ("tool_use_id", id.into()),
                kind,
                content,
                ("is_error", false.into()),
            ]),
            None => Json::object([("tool_use_id", id.into()), kind, content]),
        }
    }
}

/// The input as the client sends it back in later requests: it re-serialises what it received.
pub(super) fn as_resent(name: &str, input: &Json) -> Json {
    if name != "Edit" {
        return input.clone();
    }
    let get = |key: &str| input.get(key).cloned().unwrap_or_default();
    Json::object([
        (
            "replace_all",
            input.get("replace_all").cloned().unwrap_or(Json::Bool(false)),
        ),
        ("file_path", get("file_path")),
        ("old_string", get("old_string")),
        ("new_string", get("new_string")),
    ])
}

/// Runs a tool. `known` contains the files that the client has read and may therefore change.
pub(super) async fn run(directory: &Path, known: &mut HashSet<PathBuf>, name: &str, input: &Json) -> Outcome {
    let result = match name {
        "Bash" => return bash(directory, input).await,
        "Write" => file_of(directory, input).and_then(|file| write(&file, known, input)),
        "Read" => file_of(directory, input).and_then(|file| read(&file, known)),
        "Edit" => file_of(directory, input).and_then(|file| edit(&file, known, input)),
        _ => Err(format!("Error: No such tool available: {name}")),
    };
    result.map_or_else(Outcome::failed, Outcome::text)
}

fn file_of(directory: &Path, input: &Json) -> Result<PathBuf, String> {
    let path = input
        .get_str("file_path")
        .ok_or("The required parameter `file_path` is missing")?;
    let file = directory.join(path);
    let inside = file.starts_with(directory)
        && !file
            .components()
            .any(|part| matches!(part, Component::ParentDir | Component::CurDir));
    if inside {
        Ok(file)
    } else {
        Err(format!("{path} is outside the working directory"))
    }
}

const UNREAD: &str = "File has not been read yet. Read it first before writing to it.";
const CURRENT: &str = "(file state is current in your context — no need to Read it back)";

fn write(file: &Path, known: &mut HashSet<PathBuf>, input: &Json) -> Result<String, String> {
    let content = input
        .get_str("content")
        .ok_or("The required parameter `content` is missing")?;
    let existed = file.exists();
    if existed && !known.contains(file) {
        return Err(UNREAD.to_owned());
    }
    if let Some(parent) = file.parent() {
        std::fs::create_dir_all(parent).map_err(|error| error.to_string())?;
    }
    std::fs::write(file, content).map_err(|error| error.to_string())?;
    known.insert(file.to_owned());
    Ok(match existed {
        true => format!(
            "The file {} has been updated successfully. {CURRENT}",
            file.display()
        ),
        false => format!("File created successfully at: {} {CURRENT}", file.display()),
    })
}

fn read(file: &Path, known: &mut HashSet<PathBuf>) -> Result<String, String> {
    let text = std::fs::read_to_string(file).map_err(|_| "File does not exist.".to_owned())?;
    known.insert(file.to_owned());
    let lines = text
        .split('\n')
        .enumerate()
        .map(|(at, line)| format!("{}\t{line}", at + 1));
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

fn edit(file: &Path, known: &HashSet<PathBuf>, input: &Json) -> Result<String, String> {
    let (Some(old), Some(new)) = (input.get_str("old_string"), input.get_str("new_string")) else {
        return Err("The required parameters `old_string` and `new_string` are missing".to_owned());
    };
    if !known.contains(file) {
        return Err(UNREAD.to_owned());
    }
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    let all = input.get("replace_all").and_then(Json::as_bool).unwrap_or(false);
    let changed = match text.matches(old).count() {
        0 => return Err(format!("String to replace not found in file.\nString: {old}")),
        1 => text.replacen(old, new, 1),
        _ if all => text.replace(old, new),
        found => {
            return Err(format!(
                "Found {found} matches of the string to replace, but replace_all is false.\nString: {old}"
            ));
        }
    };
    std::fs::write(file, changed).map_err(|error| error.to_string())?;
    Ok(format!(
        "The file {} has been updated successfully. {CURRENT}",
        file.display()
    ))
}

/// Runs a command through `sh`, with only `PATH` from this process's environment.
async fn bash(directory: &Path, input: &Json) -> Outcome {
    let Some(command) = input.get_str("command") else {
        return Outcome::failed("The required parameter `command` is missing".to_owned());
    };
    let running = tokio::process::Command::new("sh")
        .arg("-c")
        .arg(command)
        .current_dir(directory)
        .env_clear()
        .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
        .env("HOME", directory)
        .env("LANG", "C.UTF-8")
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = match tokio::time::timeout(COMMAND_TIME, running).await {
        Ok(Ok(output)) => output,
        Ok(Err(error)) => {
            return Outcome {
                content: error.to_string().into(),
                is_error: Some(true),
            };
        }
        Err(_) => {
            return Outcome {
                content: "Command timed out".into(),
                is_error: Some(true),
            };
        }
    };
    let output_text = [output.stdout, output.stderr].concat();
    let output_text = String::from_utf8_lossy(&output_text);
    let output_text = output_text.trim_end();
    match output.status.code() {
        Some(0) => Outcome {
            content: output_text.into(),
            is_error: Some(false),
        },
        code => {
            let code = code.map_or("signal".to_owned(), |code| code.to_string());
            Outcome {
                content: format!("Exit code {code}\n{output_text}").trim_end().into(),
                is_error: Some(true),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input<const N: usize>(members: [(&str, &str); N]) -> Json {
        Json::object(members.map(|(key, value)| (key, value.into())))
    }

    #[tokio::test]
    async fn files_are_written_read_and_edited_like_the_client() {
        let directory = tempfile::tempdir().unwrap();
        let mut known = HashSet::new();
        let path = directory.path().join("a/b.txt");
        let path = path.to_str().unwrap();
        let mut run_one =
            async |name: &str, members: Json| run(directory.path(), &mut known, name, &members).await;
        let written = run_one("Write", input([("file_path", path), ("content", "x\ny\n")])).await;
        assert!(written.text_of().starts_with("File created successfully at: "));
        let read = run_one("Read", input([("file_path", path)])).await;
        assert_eq!(read.text_of(), "1\tx\n2\ty\n3\t");
        let edit = [("file_path", path), ("old_string", "y"), ("new_string", "z")];
        assert!(!run_one("Edit", input(edit)).await.is_error());
        assert!(
            run_one("Edit", input(edit))
                .await
                .text_of()
                .contains("not found in file")
        );
        assert_eq!(std::fs::read_to_string(path).unwrap(), "x\nz\n");
    }

    #[tokio::test]
    async fn unread_files_and_files_outside_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let inside = directory.path().join("old.txt");
        std::fs::write(&inside, "old").unwrap();
        let inside = inside.to_str().unwrap();
        for (path, problem) in [
            (inside, "has not been read yet"),
            ("/etc/passwd", "outside the working directory"),
            ("../x", "outside the working directory"),
        ] {
            let outcome = run(
                directory.path(),
                &mut HashSet::new(),
                "Write",
                &input([("file_path", path), ("content", "")]),
            )
            .await;
            assert!(
                outcome.is_error() && outcome.text_of().contains(problem),
                "{path}: {outcome:?}"
            );
        }
    }

    #[tokio::test]
    async fn commands_run_in_the_directory_with_a_clean_environment() {
        let directory = tempfile::tempdir().unwrap();
        let command = "pwd; echo $HOME; env | grep -c CARGO; echo bad >&2";
        let outcome = bash(directory.path(), &input([("command", command)])).await;
        let path = directory.path().canonicalize().unwrap();
        let lines = outcome.text_of();
        let lines: Vec<&str> = lines.lines().collect();
        assert_eq!(Path::new(lines[0]), path);
        assert_eq!(&lines[2..], ["0", "bad"]);
        assert_eq!(outcome.into_block("t").get("is_error"), Some(&Json::Bool(false)));
        let failed = bash(directory.path(), &input([("command", "echo no; exit 3")])).await;
        assert_eq!(
            (failed.text_of().as_str(), failed.is_error()),
            ("Exit code 3\nno", true)
        );
    }
}
