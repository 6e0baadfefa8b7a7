//! `grov init --client`: other clients than Claude Code, whose requests go through the proxy.

use super::init::Listener;
use crate::arguments::OtherClient;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{ExitStatus, Outcome, Style, note};
use crate::table::one_line;
use crate::written_files::{ChangeKind, FileChange, Purpose, WrittenFiles};
use grov_hooks::settings::SettingsFile;
use grov_runtime::Environment;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The clients, in the order in which they are listed.
pub(crate) const ALL: [OtherClient; 3] = [OtherClient::Codex, OtherClient::Gemini, OtherClient::Opencode];

/// The variable with the address of the Gemini API.
const GEMINI_VARIABLE: &str = "GOOGLE_GEMINI_BASE_URL";

#[derive(Serialize)]
struct Answer {
    dry_run: bool,
    client: &'static str,
    file: FileChange,
    /// What is added to the file.
    added: String,
    /// Where the client sends its requests.
    proxy: String,
}

/// Where a client's address is set, and how.
struct Entry {
    path: PathBuf,
    text: String,
    place: Place,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Before the rest of the file.
    Beginning,
    /// After the rest of the file.
    End,
    /// The file has nothing else.
    Whole,
}

pub(super) fn init(context: &Context, client: OtherClient, dry_run: bool) -> Outcome {
    let listener = Listener::of(context)?;
    if listener.asks_for_token {
        let message =
            "the proxy asks for a token, which grov init does not write into the settings of this client";
        let hint = "send the header x-grov-token yourself (docs/clients.md), or switch proxy.enable_auth off";
        return Err(Failure::error("proxy", message).hint(hint));
    }
    let entry = entry(client, &Environment::of_process(), &listener.base_url)?;
    let before = SettingsFile::read(&entry.path)?;
    let known = recorded(context, client)?;
    let is_own = known.as_deref() == Some(before.path());
    if !before.text().contains(&entry.text) && !is_own {
        entry.check(client, before.text(), before.exists())?;
    }
    let file = match dry_run {
        true => FileChange {
            path: before.path().to_string_lossy().into_owned(),
            change: match before.text().contains(&entry.text) {
                true => ChangeKind::Unchanged,
                false => ChangeKind::Written,
            },
        },
        false => write(context, client, &entry)?,
    };
    let is_changed = file.change == ChangeKind::Written;
    let answer = Answer {
        dry_run,
        client: client.name(),
        file,
        added: entry.text,
        proxy: listener.base_url,
    };
    context.answer(answer, text)?;
    if is_changed && !dry_run {
        note!("running sessions keep their old settings; `grov unregister` reverts the change");
    }
    if is_changed && listener.is_self_signed {
        note!(
            "the proxy's certificate is self-signed: the client must trust it, see docs/beyond-loopback.md"
        );
    }
    Ok(ExitStatus::Success)
}

/// Returns the file in which the address of a client is recorded to be set.
fn recorded(context: &Context, client: OtherClient) -> Result<Option<PathBuf>, Failure> {
    if !context.home.root().is_dir() {
        return Ok(None);
    }
    let written = WrittenFiles::open(&context.home)?;
    Ok(written.paths(purpose(client)).next().map(Path::to_owned))
}

fn write(context: &Context, client: OtherClient, entry: &Entry) -> Result<FileChange, Failure> {
    let mut written = WrittenFiles::open(&context.home)?;
    let purpose = purpose(client);
    let is_there = written.intact(purpose).any(|(_, is_there)| is_there);
    if is_there && SettingsFile::read(&entry.path)?.text().contains(&entry.text) {
        return Ok(FileChange {
            path: entry.path.to_string_lossy().into_owned(),
            change: ChangeKind::Unchanged,
        });
    }
    // Another address of the proxy.
    written.revert(purpose)?;
    entry.check_file(client)?;
    match entry.place {
        Place::Beginning => written.prepend(purpose, &entry.path, &entry.text),
        Place::End => written.append(purpose, &entry.path, &entry.text),
        Place::Whole => written.write(purpose, &entry.path, &entry.text),
    }
}

/// Removes the address from the files of all clients, or says from which it would be removed.
pub(super) fn remove(context: &Context, dry_run: bool) -> Result<Vec<FileChange>, Failure> {
    if !context.home.root().is_dir() {
        return Ok(Vec::new());
    }
    let mut written = WrittenFiles::open(&context.home)?;
    let mut changes = Vec::new();
    for client in ALL {
        match dry_run {
            true => changes.extend(written.paths(purpose(client)).map(|path| FileChange {
                path: path.to_string_lossy().into_owned(),
                change: ChangeKind::Restored,
            })),
            false => changes.extend(written.revert(purpose(client))?),
        }
    }
    Ok(changes)
}

pub(crate) fn purpose(client: OtherClient) -> Purpose {
    match client {
        OtherClient::Codex => Purpose::Codex,
        OtherClient::Gemini => Purpose::Gemini,
        OtherClient::Opencode => Purpose::Opencode,
    }
}

fn entry(client: OtherClient, environment: &Environment, proxy: &str) -> Result<Entry, Failure> {
    let folder = |name: &str| {
        environment
            .get(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let home = folder("HOME").ok_or_else(|| {
        let failure = Failure::error(
            "client",
            "the client's files cannot be found: there is no home directory",
        );
        failure.hint("set HOME")
    })?;
    let note = format!(
        "# {} runs through Grov. `grov unregister` removes these lines.",
        client.name()
    );
    Ok(match client {
        OtherClient::Codex => Entry {
            path: folder("CODEX_HOME")
                .unwrap_or_else(|| home.join(".codex"))
                .join("config.toml"),
            // A provider of its own: the built-in one speaks over WebSockets, which are not recorded.
            text: format!(
                "{note}\nmodel_provider = \"grov\"\nmodel_providers.grov = {{ name = \"OpenAI through Grov\", base_url = \"{proxy}/v1\", \
                 wire_api = \"responses\", requires_openai_auth = true }}\n"
            ),
            place: Place::Beginning,
        },
        OtherClient::Gemini => Entry {
            path: home.join(".gemini/.env"),
            text: format!("{note}\n{GEMINI_VARIABLE}={proxy}\n"),
            place: Place::End,
        },
        OtherClient::Opencode => Entry {
            path: folder("XDG_CONFIG_HOME")
                .unwrap_or_else(|| home.join(".config"))
                .join("opencode/config.json"),
            text: format!(
                "{{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"provider\": {{ \"openai\": {{ \"options\": {{ \"baseURL\": \"{proxy}/v1\" }} }} }}\n}}\n"
            ),
            place: Place::Whole,
        },
    })
}

impl Entry {
    /// Returns an error if the address cannot be added to the file.
    fn check_file(&self, client: OtherClient) -> Result<(), Failure> {
        let file = SettingsFile::read(&self.path)?;
        self.check(client, file.text(), file.exists())
    }

    fn check(&self, client: OtherClient, before: &str, exists: bool) -> Result<(), Failure> {
        let shown = self.path.display();
        let refused = |reason: &str, hint: String| {
            Err(Failure::error("client", format!("{shown} {reason}")).hint(hint))
        };
        let by_hand = format!("add it yourself:\n{}", self.text);
        match client {
            OtherClient::Codex => {
                let Ok(table) = before.parse::<toml::Table>() else {
                    return refused("is not valid TOML", "correct the file first".to_owned());
                };
                if table.contains_key("model_provider") {
                    return refused(
                        "sets another model_provider",
                        format!("remove that line, or {by_hand}"),
                    );
                }
                match format!("{}{before}", self.text).parse::<toml::Table>() {
                    Ok(_) => Ok(()),
                    Err(_) => refused("cannot hold Grov's provider at its beginning", by_hand),
                }
            }
            OtherClient::Gemini => {
                let is_set = |line: &str| {
                    line.trim_start()
                        .trim_start_matches("export ")
                        .starts_with(GEMINI_VARIABLE)
                };
                match before.lines().any(is_set) {
                    true => refused(
                        &format!("sets {GEMINI_VARIABLE} already"),
                        "remove that line first".to_owned(),
                    ),
                    false => Ok(()),
                }
            }
            OtherClient::Opencode if exists => refused("exists and is not Grov's", by_hand),
            OtherClient::Opencode => Ok(()),
        }
    }
}

fn text(answer: &Answer, style: Style) -> String {
    let path = style.bold(&one_line(&answer.file.path));
    let verb = match (answer.file.change, answer.dry_run) {
        (ChangeKind::Unchanged, _) => "unchanged",
        (_, true) => "would be changed",
        (_, false) => "changed",
    };
    let mut text = format!("{path} {verb}\n");
    if answer.dry_run && answer.file.change != ChangeKind::Unchanged {
        for line in answer.added.lines() {
            text.push_str(&format!("{}\n", style.green(&format!("+{line}"))));
        }
    }
    text.push_str(&format!(
        "{} sends its requests to {}\n",
        answer.client,
        one_line(&answer.proxy)
    ));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry_of(client: OtherClient) -> Entry {
        let environment = [("HOME", "/home/u")].into_iter().collect();
        entry(client, &environment, "http://127.0.0.1:8080").unwrap()
    }

    #[test]
    fn each_client_has_its_file() {
        let path = |client| entry_of(client).path;
        assert_eq!(path(OtherClient::Codex), Path::new("/home/u/.codex/config.toml"));
        assert_eq!(path(OtherClient::Gemini), Path::new("/home/u/.gemini/.env"));
        assert_eq!(
            path(OtherClient::Opencode),
            Path::new("/home/u/.config/opencode/config.json")
        );
        let environment = [
            ("HOME", "/home/u"),
            ("CODEX_HOME", "/c"),
            ("XDG_CONFIG_HOME", "/x"),
        ];
        let moved = |client| {
            entry(client, &environment.into_iter().collect(), "http://h")
                .unwrap()
                .path
        };
        assert_eq!(moved(OtherClient::Codex), Path::new("/c/config.toml"));
        assert_eq!(moved(OtherClient::Opencode), Path::new("/x/opencode/config.json"));
        assert!(entry(OtherClient::Codex, &Environment::default(), "http://h").is_err());
    }

    #[test]
    fn the_lines_for_codex_fit_before_other_settings() {
        let entry = entry_of(OtherClient::Codex);
        let before = "model = \"m\"\n[model_providers.other]\nname = \"o\"\n[tui]\nx = 1\n";
        entry.check(OtherClient::Codex, before, true).unwrap();
        let table: toml::Table = format!("{}{before}", entry.text).parse().unwrap();
        assert_eq!(table["model_provider"].as_str(), Some("grov"));
        let base = table["model_providers"]["grov"]["base_url"].as_str();
        assert_eq!(base, Some("http://127.0.0.1:8080/v1"));
        assert_eq!(table["model_providers"]["other"]["name"].as_str(), Some("o"));
    }

    #[test]
    fn settings_that_the_user_made_are_not_replaced() {
        for (client, before) in [
            (OtherClient::Codex, "model_provider = \"mine\"\n"),
            (OtherClient::Codex, "not toml"),
            (
                OtherClient::Codex,
                "model_providers = { mine = { name = \"m\" } }\n",
            ),
            (OtherClient::Codex, "\u{feff}model = \"m\"\n"),
            (
                OtherClient::Gemini,
                "A=1\nexport GOOGLE_GEMINI_BASE_URL=http://mine\n",
            ),
            (OtherClient::Opencode, "{}"),
        ] {
            assert!(entry_of(client).check(client, before, true).is_err(), "{before}");
        }
        entry_of(OtherClient::Gemini)
            .check(OtherClient::Gemini, "A=1", true)
            .unwrap();
        entry_of(OtherClient::Opencode)
            .check(OtherClient::Opencode, "", false)
            .unwrap();
    }
}
