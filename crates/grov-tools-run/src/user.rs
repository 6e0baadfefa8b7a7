//! Tools of the user's own: found in folders, run as a program or an HTTP call.

use crate::Surroundings;
use crate::http::Line;
use crate::material::clean;
use grov_domain::MicroUsd;
use grov_redact::Secret;
use grov_tools::{
    Answer, Arguments, ErrorKind, HttpCall, Registry, Tool, ToolError, UserAction, parse_user_tool,
};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Declarations in one folder that are read.
const MAX_FILES: usize = 200;
/// The largest declaration, in bytes.
const MAX_DECLARATION: u64 = 64 * 1024;
/// The most output of a program, in bytes.
const MAX_OUTPUT: u64 = 1024 * 1024;
/// Variables that a program gets besides its key.
const INHERITED: [&str; 8] = [
    "PATH",
    "HOME",
    "USER",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "TZ",
    "SSL_CERT_FILE",
];

/// All tools, and what is wrong with declarations that were skipped.
#[derive(Clone, Debug)]
pub struct UserTools {
    /// The built-in tools and the user's.
    pub registry: Registry,
    /// Problems, each with its file.
    pub problems: Vec<String>,
}

/// Adds the tools in these folders to the built-in ones. A missing folder has none.
pub fn load_user_tools(folders: &[PathBuf]) -> UserTools {
    let mut tools = UserTools {
        registry: Registry::built_in(),
        problems: Vec::new(),
    };
    for folder in folders {
        let Ok(entries) = std::fs::read_dir(folder) else {
            continue;
        };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
        paths.sort();
        for path in paths.iter().take(MAX_FILES) {
            let added = declaration(path).and_then(|text| {
                let tool = parse_user_tool(&text).map_err(|error| error.to_string())?;
                tools.registry.add(tool).map_err(|error| error.to_string())
            });
            if let Err(problem) = added {
                tools.problems.push(format!("{}: {problem}", path.display()));
            }
        }
    }
    tools
}

fn declaration(path: &Path) -> Result<String, String> {
    let metadata = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if !metadata.is_file() || metadata.len() > MAX_DECLARATION {
        return Err(format!("it is no file of at most {MAX_DECLARATION} bytes"));
    }
    std::fs::read_to_string(path).map_err(|error| error.to_string())
}

/// A prepared call of a tool of the user.
pub(crate) struct UserCall {
    pub(crate) action: UserAction,
    pub(crate) input: Value,
    key: Option<(String, Secret)>,
    cost: MicroUsd,
}

impl UserCall {
    pub(crate) fn prepare(
        around: &Surroundings,
        tool: &Tool,
        action: &UserAction,
        arguments: &Arguments,
        piped: Option<&str>,
        needs_key: bool,
    ) -> Result<Self, ToolError> {
        let mut arguments = arguments.clone();
        if let (Some(missing), Some(text)) = (arguments.missing(tool), piped) {
            arguments.set_text(missing, text)?;
        }
        if let Some(missing) = arguments.missing(tool) {
            return Err(
                ToolError::usage(format!("`{}` needs <{}>", tool.command(), missing.name)).hint(format!(
                    "usage: envoy {} {}",
                    tool.group,
                    grov_tools::docs::usage(tool)
                )),
            );
        }
        let own: Map<String, Value> = arguments
            .as_object()
            .iter()
            .filter(|(field, _)| tool.arguments.iter().any(|argument| argument.field() == **field))
            .map(|(field, value)| (field.clone(), value.clone()))
            .collect();
        let key = match &tool.key {
            None => None,
            Some(wanted) => match crate::provider::key(around, wanted) {
                Ok(key) => Some((wanted.variable.to_string(), key)),
                Err(error) if needs_key => return Err(error),
                Err(_) => None,
            },
        };
        let mut input = Value::Object(own);
        // A program on this machine gets what the user typed; what leaves the machine is redacted.
        if matches!(action, UserAction::Http { .. }) {
            redact(&mut input);
        }
        Ok(Self {
            action: action.clone(),
            input,
            key,
            // Prices are small numbers that are not negative.
            cost: MicroUsd((tool.price.usual_usd * 1e6) as u64),
        })
    }

    pub(crate) fn most_cost(&self) -> MicroUsd {
        self.cost
    }

    /// What would be sent or run.
    pub(crate) fn shown(&self) -> Value {
        match &self.action {
            UserAction::Command(command) => json!({"command": command, "stdin": self.input}),
            UserAction::Http { url, method } => json!({"url": url, "method": method, "body": self.input}),
        }
    }

    /// The call over HTTP, and its base address.
    pub(crate) fn http(&self) -> Option<(String, HttpCall)> {
        let UserAction::Http { url, method } = &self.action else {
            return None;
        };
        let header = self.key.as_ref();
        let header =
            header.map(|(_, key)| ("authorization", Secret::new(format!("Bearer {}", key.expose()))));
        let path = if method == "GET" {
            query(&self.input)
        } else {
            String::new()
        };
        Some((
            url.clone(),
            HttpCall {
                path,
                headers: header.into_iter().collect(),
                body: self.input.clone(),
            },
        ))
    }

    pub(crate) async fn run(&self, line: &Line<'_>) -> Result<Answer, ToolError> {
        let output = match (&self.action, self.http()) {
            (UserAction::Command(command), _) => line.limited(self.program(line.around, command)).await?,
            (UserAction::Http { method, .. }, Some((_, call))) if method == "GET" => line.get(&call).await?,
            (_, Some((_, call))) => line.post(&call).await?,
            _ => Vec::new(),
        };
        let data = match serde_json::from_slice(&output) {
            Ok(value @ Value::Object(_)) => value,
            Ok(value) => json!({"result": value}),
            Err(_) => json!({"content": String::from_utf8_lossy(&output).trim_end()}),
        };
        Ok(Answer {
            data,
            cost: Some(self.cost),
            ..Answer::default()
        })
    }

    async fn program(&self, around: &Surroundings, words: &[String]) -> Result<Vec<u8>, ToolError> {
        let failed = |reason: String| {
            ToolError::new(
                ErrorKind::UserTool,
                format!("the program {:?} failed: {reason}", words[0]),
            )
            .hint("run it yourself with the input of --show-request")
        };
        let mut command = tokio::process::Command::new(&words[0]);
        command
            .args(&words[1..])
            .current_dir(&around.directory)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        for name in INHERITED {
            if let Some(value) = around.variables.in_environment(name) {
                command.env(name, value);
            }
        }
        if let Some((name, key)) = &self.key {
            command.env(name, key.expose());
        }
        let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let input = self.input.to_string();
        let write = async {
            if let Some(mut stdin) = stdin {
                // A program may end without reading its input.
                let _ = stdin.write_all(input.as_bytes()).await;
            }
        };
        let (mut output, mut messages) = (Vec::new(), Vec::new());
        let read = async {
            if let Some(stdout) = stdout {
                stdout.take(MAX_OUTPUT + 1).read_to_end(&mut output).await?;
            }
            std::io::Result::Ok(())
        };
        let read_messages = async {
            if let Some(mut stderr) = stderr {
                (&mut stderr).take(4096).read_to_end(&mut messages).await?;
                // A program whose messages nobody reads is ended by the system, or waits forever.
                tokio::io::copy(&mut stderr, &mut tokio::io::sink()).await?;
            }
            std::io::Result::Ok(())
        };
        let (_, read, _) = tokio::join!(write, read, read_messages);
        read.map_err(|error| failed(error.to_string()))?;
        if output.len() as u64 > MAX_OUTPUT {
            return Err(failed(format!("it printed more than {MAX_OUTPUT} bytes")));
        }
        let status = child.wait().await.map_err(|error| failed(error.to_string()))?;
        if !status.success() {
            let message = clean(String::from_utf8_lossy(&messages).trim());
            let mut message: String = message.chars().take(300).collect();
            if let Some((_, key)) = &self.key {
                message = message.replace(key.expose(), "[secret]");
            }
            return Err(failed(format!("{status}: {message}")));
        }
        Ok(output)
    }
}

fn redact(value: &mut Value) {
    match value {
        Value::String(text) => *text = clean(text),
        Value::Array(items) => items.iter_mut().for_each(redact),
        Value::Object(fields) => fields.values_mut().for_each(redact),
        _ => {}
    }
}

/// The input as the query of an address.
fn query(input: &Value) -> String {
    let fields = input.as_object().into_iter().flatten();
    let pairs: Vec<String> = fields
        .map(|(name, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            format!("{}={}", encoded(name), encoded(&text))
        })
        .collect();
    if pairs.is_empty() {
        String::new()
    } else {
        format!("?{}", pairs.join("&"))
    }
}

fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                char::from(byte).to_string()
            }
            byte => format!("%{byte:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_declarations_are_reported_and_others_are_loaded() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write(
            "a.toml",
            "group='x'\nname='y'\ndescription='d'\ncommand=['cat']\n",
        );
        write("b.toml", "group=");
        write(
            "c.toml",
            "group='x'\nname='y'\ndescription='again'\ncommand=['cat']\n",
        );
        write("d.txt", "no tool");
        let tools = load_user_tools(&[folder.path().to_owned(), folder.path().join("none")]);
        assert!(tools.registry.find("x", "y").is_some());
        assert_eq!(tools.problems.len(), 2, "{:?}", tools.problems);
        assert!(tools.problems[0].contains("b.toml"));
    }

    #[test]
    fn the_input_is_a_query() {
        assert_eq!(query(&json!({"a": "x y&", "n": 3})), "?a=x%20y%26&n=3");
        assert_eq!(query(&json!({})), "");
    }
}
