//! Whether the client is installed and logged in, as it says itself.

use super::ClaudeCliSettings;
use super::environment::ClientEnvironment;
use crate::SetupError;
use serde::Deserialize;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;

/// How long the client may take to say it.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(10);

/// The state of the client's login.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientLogin {
    /// There is no such program.
    NotInstalled,
    /// It has no login.
    LoggedOut,
    /// It has a login, or a key.
    LoggedIn,
    /// It does not say, as older versions.
    Unknown,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Said {
    logged_in: bool,
}

/// Asks the client, which makes no call to a model for it. Must be called within a tokio runtime.
///
/// # Errors
///
/// The base URL or the proxy is invalid or Grov's own listener.
pub async fn client_login(settings: &ClaudeCliSettings) -> Result<ClientLogin, SetupError> {
    let environment = ClientEnvironment::new(settings)?;
    let Some(program) = environment.find(&settings.program) else {
        return Ok(ClientLogin::NotInstalled);
    };
    // A directory of its own: others may put settings into a shared one.
    let Ok(directory) = tempfile::Builder::new().prefix("grov-client-").tempdir() else {
        return Ok(ClientLogin::Unknown);
    };
    let path = environment.path_for(&program);
    let asked = Command::new(program)
        .args(["auth", "status"])
        .env_clear()
        .envs(environment.variables())
        .envs(path.map(|path| ("PATH", path)))
        .current_dir(directory.path())
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .output();
    let said = tokio::time::timeout(LOGIN_TIMEOUT, asked).await;
    let output = said.ok().and_then(Result::ok).map(|output| output.stdout);
    Ok(output.map_or(ClientLogin::Unknown, |output| read(&output)))
}

fn read(output: &[u8]) -> ClientLogin {
    match serde_json::from_slice(output) {
        Ok(Said { logged_in: true }) => ClientLogin::LoggedIn,
        Ok(Said { logged_in: false }) => ClientLogin::LoggedOut,
        Err(_) => ClientLogin::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_client_says_is_read() {
        let read = |text: &str| read(text.as_bytes());
        assert_eq!(
            read(r#"{"loggedIn": true, "authMethod": "x"}"#),
            ClientLogin::LoggedIn
        );
        assert_eq!(read("{\n\"loggedIn\": false}\n"), ClientLogin::LoggedOut);
        for other in ["", "error: unknown command 'auth'", "{}"] {
            assert_eq!(read(other), ClientLogin::Unknown);
        }
    }
}
