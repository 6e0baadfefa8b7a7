//! `doctor`: checks settings, database, uploads and providers.

use crate::output;
use crate::setup::{Setup, short_runtime};
use crate::stop::Stop;
use grov_agent::AgentStore;
use grov_agent_store::AgentDatabase;
use grov_runtime::Url;
use serde::Serialize;
use serde_json::json;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// The result of one check.
#[derive(Debug, Serialize)]
pub(crate) struct Check {
    name: &'static str,
    ok: bool,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl Check {
    pub(crate) fn passed(name: &'static str, detail: impl Into<String>) -> Self {
        Self {
            name,
            ok: true,
            detail: detail.into(),
            hint: None,
        }
    }

    pub(crate) fn failed(name: &'static str, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            name,
            ok: false,
            detail: detail.into(),
            hint: Some(hint.into()),
        }
    }
}

/// Runs all checks. Exit code 1 if one fails.
pub(crate) fn run(setup: &Setup, json: bool) -> Result<ExitCode, Stop> {
    let mut checks = vec![home(setup.home.root())];
    // A home that is missing is not made: its name may be misspelled.
    if setup.home.root().is_dir() {
        checks.push(uploads(&setup.agent.upload_dir));
        checks.extend(short_runtime()?.block_on(async {
            let mut checks = database(setup).await;
            checks.extend(providers(setup).await);
            checks
        }));
    }
    show(&checks, json)
}

/// Reports settings with which nothing can be checked.
pub(crate) fn unusable_settings(stop: Stop, json: bool) -> Result<ExitCode, Stop> {
    let hint = stop
        .hint
        .unwrap_or_else(|| "check the environment and config.toml of the home".to_owned());
    show(
        &[Check::failed("settings", format!("{:#}", stop.error), hint)],
        json,
    )
}

fn show(checks: &[Check], json: bool) -> Result<ExitCode, Stop> {
    let is_ok = checks.iter().all(|check| check.ok);
    if json {
        output::print(&json!({"ok": is_ok, "checks": checks}).to_string())?;
    } else {
        for check in checks {
            let mark = if check.ok { "ok  " } else { "FAIL" };
            output::print(&format!(
                "{mark}  {:<12} {}",
                check.name,
                grov_runtime::printable(&check.detail)
            ))?;
            if let Some(hint) = &check.hint {
                output::print(&format!("      {:<12} {}", "", grov_runtime::printable(hint)))?;
            }
        }
    }
    Ok(if is_ok {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

fn home(root: &Path) -> Check {
    if !root.is_dir() {
        return Check::failed(
            "home",
            format!("{} does not exist, so nothing else was checked", root.display()),
            "check --home and GROV_HOME; the first start of grov-agentd makes the directory",
        );
    }
    match tempfile_in(root) {
        Ok(()) => Check::passed("home", root.display().to_string()),
        Err(error) => Check::failed(
            "home",
            format!("{} cannot be written: {error}", root.display()),
            "check its permissions and the free space of the disk",
        ),
    }
}

fn uploads(directory: &Path) -> Check {
    let name = "uploads";
    let made = fs::create_dir_all(directory).and_then(|()| tempfile_in(directory));
    match made {
        Ok(()) => Check::passed(name, directory.display().to_string()),
        Err(error) => Check::failed(
            name,
            format!("{} cannot be written: {error}", directory.display()),
            "set UPLOAD_DIR (agent.upload_dir) to a directory that can be written",
        ),
    }
}

/// Writes and removes a file.
fn tempfile_in(directory: &Path) -> std::io::Result<()> {
    let path = directory.join(format!(".doctor-{}.tmp", std::process::id()));
    fs::write(&path, b"x")?;
    fs::remove_file(&path)
}

async fn database(setup: &Setup) -> Vec<Check> {
    let name = "database";
    let address = setup.agent.database.to_string();
    let database = match setup.database().await {
        Ok(database) => database,
        Err(stop) => {
            let detail = format!("{:#}", stop.error);
            let hint = setup.database_hint(&stop.error);
            return vec![Check::failed(name, detail, hint)];
        }
    };
    let health = database.health().await;
    let check = match health.is_ok {
        true => Check::passed(
            name,
            format!("{address} ({}, vectors: {})", health.kind, health.vectors),
        ),
        false => Check::failed(
            name,
            format!("{address} does not answer"),
            "check that the server runs",
        ),
    };
    let mut checks = vec![check];
    if let Some(url) = &setup.agent.qdrant_url {
        let server = format!("{}:{}", url.host(), url.port());
        checks.push(match health.are_vectors_ok {
            true => Check::passed("qdrant", server),
            false => Check::failed(
                "qdrant",
                format!("{server} does not answer"),
                "check QDRANT_URL (agent.qdrant_url), and that the server runs; the database searches vectors meanwhile",
            ),
        });
    }
    checks.push(events(&database).await);
    database.close().await;
    checks
}

/// Events for the webhook that were given up after a day.
async fn events(database: &AgentDatabase) -> Check {
    let name = "webhook";
    match database.given_up_events().await {
        Ok(0) => Check::passed(name, "no event was given up"),
        Ok(count) => Check::failed(
            name,
            format!("{count} events could not be delivered within a day and were given up"),
            "check TOOL_WEBHOOK_URL (agent.tool_webhook_url) and its receiver; the log has the reasons",
        ),
        Err(error) => Check::failed(name, error.to_string(), "check the database"),
    }
}

/// The chat model, which is not called because that may cost money, and the embedder, which is.
async fn providers(setup: &Setup) -> Vec<Check> {
    let (chat, embedding) = ("chat", "embedding");
    let agent = &setup.agent;
    let providers = match setup.providers(&[SocketAddr::new(agent.host, agent.port)]) {
        Ok(providers) => providers,
        Err(stop) => {
            let hint = stop.hint.unwrap_or_default();
            return vec![Check::failed("providers", format!("{:#}", stop.error), hint)];
        }
    };
    let chat = if let Some(fault) = unreachable_server(agent.chat.base_url.as_ref()).await {
        Check::failed(
            chat,
            format!("{}: {fault}", agent.chat.provider.as_str()),
            "check CHAT_BASE_URL (agent.chat_base_url), and that the server runs",
        )
    } else if providers.is_client_installed(&setup.environment) {
        Check::passed(chat, agent.chat.provider.as_str())
    } else {
        let detail = "the program `claude` is not in PATH";
        Check::failed(
            chat,
            detail,
            "install Claude Code, or choose another CHAT_PROVIDER",
        )
    };
    let name = agent.embedding.provider.as_str();
    let embedding = match providers.check_embedding().await {
        Ok(None) => Check::passed(embedding, name),
        Ok(Some(dimension)) => Check::passed(embedding, format!("{name}, {dimension} dimensions")),
        Err(error) => Check::failed(
            embedding,
            format!("{name}: {error}"),
            "check the EMBEDDING settings (agent.embedding_*), and that the provider runs",
        ),
    };
    vec![chat, embedding]
}

/// How long a server may take to accept a connection.
const CONNECT: Duration = Duration::from_secs(5);

/// Why the configured server of the chat model accepts no connection; `None` if it does, or if none is configured.
async fn unreachable_server(base_url: Option<&Url>) -> Option<String> {
    let url = base_url?;
    let address = (url.host(), url.port());
    let named = format!("{}:{}", address.0, address.1);
    match tokio::time::timeout(CONNECT, tokio::net::TcpStream::connect(address)).await {
        Ok(Ok(_)) => None,
        Ok(Err(error)) => Some(format!("{named} accepts no connection: {error}")),
        Err(_) => Some(format!(
            "{named} accepts no connection within {} s",
            CONNECT.as_secs()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_chat_server_that_does_not_run_is_reported() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = Url::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
        assert_eq!(unreachable_server(Some(&url)).await, None);
        drop(listener);
        assert!(
            unreachable_server(Some(&url))
                .await
                .unwrap()
                .contains("accepts no connection")
        );
        assert_eq!(unreachable_server(None).await, None);
    }

    #[test]
    fn a_home_that_is_missing_is_reported_and_not_made() {
        let parent = tempfile::tempdir().unwrap();
        let missing = parent.path().join("misspelt");
        assert!(!home(&missing).ok);
        assert!(!missing.exists());
        assert!(home(parent.path()).ok);
    }
}
