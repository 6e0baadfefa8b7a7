//! The real clients, headless, through the proxy: `cargo xtask real clients`.

use super::script;
use super::tokens::{Tokens, assert_stored};
use crate::upstream::Upstream;
use anyhow::{Context, Result, ensure};
use grov_tests::{Daemon, Grov, Message, WireTap, eventually};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PROMPT: &str = "[[scenario:work]] make a file with a greeting";

/// A client, and what it is asked to call.
struct Client {
    /// The name for `grov init --client`.
    name: &'static str,
    /// The program in `.tools/clients`, and its arguments before the prompt.
    command: &'static [&'static str],
    /// Variables, besides `PATH` and `HOME`.
    variables: &'static [(&'static str, &'static str)],
    /// Files in its home, made before `grov init`.
    files: &'static [(&'static str, &'static str)],
    /// The file that `grov init` changes.
    settings: &'static str,
    /// The tool for commands, the name of its argument, and the tool that writes a file, with its arguments.
    shell: (&'static str, &'static str),
    write: fn(&Path) -> Value,
    tools: [&'static str; 2],
}

const CODEX: Client = Client {
    name: "codex",
    command: &[
        "codex",
        "exec",
        "--json",
        "--skip-git-repo-check",
        "--dangerously-bypass-approvals-and-sandbox",
    ],
    variables: &[],
    files: &[
        (".codex/auth.json", "{\"OPENAI_API_KEY\":\"sk-test\"}"),
        (
            ".codex/config.toml",
            "model = \"gpt-5.1-codex\"\n\n[tui]\nanimations = false\n",
        ),
    ],
    settings: ".codex/config.toml",
    shell: ("exec_command", "cmd"),
    write: |project| {
        let command = format!("printf '# Notes\\n' > {}/notes.md", project.display());
        json!({"type": "tool_use", "name": "exec_command", "input": {"cmd": command}})
    },
    tools: ["exec_command", "exec_command"],
};

const GEMINI: Client = Client {
    name: "gemini",
    command: &["gemini.js", "-o", "json", "--skip-trust", "--yolo", "-p"],
    variables: &[("NO_COLOR", "1")],
    files: &[
        (
            ".gemini/settings.json",
            "{\"security\":{\"auth\":{\"selectedType\":\"gemini-api-key\"}}}",
        ),
        (".gemini/.env", "GEMINI_API_KEY=AIzatest"),
    ],
    settings: ".gemini/.env",
    shell: ("run_shell_command", "command"),
    write: |project| {
        let input = json!({"file_path": project.join("notes.md"), "content": "# Notes\n"});
        json!({"type": "tool_use", "name": "write_file", "input": input})
    },
    tools: ["run_shell_command", "write_file"],
};

const OPENCODE: Client = Client {
    name: "opencode",
    command: &["opencode", "run", "--format", "json"],
    variables: &[
        ("OPENAI_API_KEY", "sk-test"),
        ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
    ],
    files: &[(
        ".config/opencode/opencode.json",
        "{\"model\":\"openai/gpt-5.1\",\"permission\":\"allow\"}",
    )],
    settings: ".config/opencode/config.json",
    shell: ("bash", "command"),
    // opencode gives this tool to models of this provider, in place of `write`.
    write: |_| {
        let patch = "*** Begin Patch\n*** Add File: notes.md\n+# Notes\n*** End Patch";
        json!({"type": "tool_use", "name": "apply_patch", "input": {"patchText": patch}})
    },
    tools: ["bash", "apply_patch"],
};

/// The same client with a provider that speaks the Chat Completions API. The address is set by hand.
const OPENCODE_CHAT: Client = Client {
    files: &[(
        ".config/opencode/opencode.json",
        "{\"model\":\"mine/m\",\"permission\":\"allow\",\"provider\":{\"mine\":{\"npm\":\"@ai-sdk/openai-compatible\",\"name\":\"mine\",\
         \"options\":{\"baseURL\":\"http://127.0.0.1:PORT/v1\",\"apiKey\":\"sk-test\"},\"models\":{\"m\":{\"name\":\"m\"}}}}}",
    )],
    write: |project| {
        let input = json!({"filePath": project.join("notes.md"), "content": "# Notes\n"});
        json!({"type": "tool_use", "name": "write", "input": input})
    },
    tools: ["bash", "write"],
    ..OPENCODE
};

/// The folder of the clients; `None` unless the slow target runs.
fn installed() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()?
        .join(".tools/clients");
    (std::env::var_os("GROV_REAL").is_some() && folder.is_dir()).then_some(folder)
}

/// The exchanges with a model, in the order in which they began.
fn model_calls(tap: &WireTap) -> Result<Vec<Message>> {
    let mut messages = tap.messages()?;
    messages.retain(|message| message.line.starts_with("POST"));
    messages.sort_by(|a, b| a.body.cmp(&b.body));
    Ok(messages)
}

fn check(client: &Client) -> Result<()> {
    let Some(programs) = installed() else {
        return Ok(());
    };
    let folder = tempfile::tempdir()?;
    let folder = folder.path().canonicalize()?;
    let (home, project) = (folder.join("home"), folder.join("project"));
    std::fs::create_dir_all(&project)?;
    let write = (client.write)(&project);
    let upstream = Upstream::with(&script(client.shell.0, client.shell.1, &write))?;
    let behind = WireTap::before(upstream.port())?;
    let daemon = Daemon::on(&folder.join("grov"), &behind.url()).start()?;
    let before = WireTap::before(daemon.port())?;
    for (name, text) in client.files {
        let path = home.join(name);
        std::fs::create_dir_all(path.parent().context("no parent")?)?;
        std::fs::write(path, text.replace("PORT", &before.port().to_string()))?;
    }
    let grov = Grov::on(&folder.join("grov")).env("HOME", &home.to_string_lossy());
    let registered = grov.run(&["init", "--client", client.name])?;
    ensure!(registered.code() == Some(0), "{}", registered.stderr);
    // The tap sees what the client sends.
    let settings = home.join(client.settings);
    let text = std::fs::read_to_string(&settings)?;
    let pointed = text.replace(&format!(":{}", daemon.port()), &format!(":{}", before.port()));
    ensure!(pointed != text, "{text}");
    std::fs::write(&settings, pointed)?;

    let (program, arguments) = client.command.split_first().context("no program")?;
    let mut command = match program.ends_with(".js") {
        true => {
            let mut node = Command::new("node");
            node.arg(programs.join(program));
            node
        }
        false => Command::new(programs.join(program)),
    };
    let output = command
        .args(arguments)
        .arg(PROMPT)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", &home)
        .env("TERM", "xterm")
        .envs(client.variables.iter().copied())
        .current_dir(&project)
        .stdin(Stdio::null())
        .output()?;
    let printed =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{printed}");
    ensure!(printed.contains("The file is made."), "{printed}");
    assert_eq!(std::fs::read_to_string(project.join("made.txt"))?, "hello\n");
    assert_eq!(std::fs::read_to_string(project.join("notes.md"))?, "# Notes\n");

    let (sent, relayed) = (model_calls(&before)?, model_calls(&behind)?);
    assert!(sent.len() >= 3, "{}", sent.len());
    assert_eq!(sent.len(), relayed.len());
    for (near, far) in sent.iter().zip(&relayed) {
        assert_eq!((&near.line, near.status), (&far.line, far.status));
        assert!(near.body == far.body, "the request was changed: {}", near.line);
        assert!(
            near.answer == far.answer,
            "the response was changed: {}",
            near.line
        );
        let kept = |message: &Message| {
            let own = |name: &str| {
                [
                    "host",
                    "connection",
                    "keep-alive",
                    "content-length",
                    "transfer-encoding",
                ]
                .contains(&name)
            };
            let headers = message.headers.iter().filter(|(name, _)| !own(name));
            headers.cloned().collect::<Vec<_>>()
        };
        assert_eq!(kept(near), kept(far));
    }

    let answers = relayed.iter().map(|message| message.answer.as_slice());
    assert_stored(&folder.join("grov"), Tokens::told(answers))?;
    let session = eventually("the session to be stored", || {
        let sessions = grov.sessions().ok()?;
        sessions.into_iter().find(|session| session["steps"] == 2)
    })?;
    assert_eq!(session["prompts"], 1, "{session}");
    assert!(
        session.to_string().contains(&*project.to_string_lossy()),
        "{session}"
    );
    let id = session["session_id"].as_str().context("no id")?;
    let steps = grov.wait_for_steps(id, 2)?;
    let tools: Vec<&Value> = steps.iter().map(|step| &step["tool"]).collect();
    assert_eq!(tools, client.tools);
    assert_eq!(steps[0]["command"], "echo hello > made.txt && ls");
    assert!(steps[1].to_string().contains("notes.md"), "{steps:?}");
    Ok(())
}

#[test]
fn codex_is_recorded_and_relayed_unchanged() -> Result<()> {
    check(&CODEX)
}

#[test]
fn gemini_cli_is_recorded_and_relayed_unchanged() -> Result<()> {
    check(&GEMINI)
}

#[test]
fn opencode_is_recorded_and_relayed_unchanged() -> Result<()> {
    check(&OPENCODE)
}

#[test]
fn opencode_with_a_compatible_provider_is_recorded_and_relayed_unchanged() -> Result<()> {
    check(&OPENCODE_CHAT)
}
