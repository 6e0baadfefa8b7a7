//! A proxy with TLS, tokens and a rate limit, as `curl`, `openssl` and the real client meet it.

mod limits;
mod real;
mod tls;
mod tokens;

use crate::turn;
use crate::upstream::Upstream;
use anyhow::{Context, Result, ensure};
use grov_tests::{Daemon, DaemonBuilder, Grov};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A protected proxy in front of the simulated API.
struct Scene {
    folder: TempDir,
    upstream: Upstream,
}

impl Scene {
    fn new() -> Result<Self> {
        Ok(Self {
            folder: tempfile::tempdir()?,
            upstream: Upstream::start()?,
        })
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("grov")
    }

    fn builder(&self, on: &[&str]) -> DaemonBuilder {
        let builder = Daemon::on(&self.home(), &self.upstream.url());
        on.iter().fold(builder, |builder, name| builder.env(name, "true"))
    }

    fn grov(&self) -> Grov {
        Grov::on(&self.home())
    }

    fn token(&self, name: &str, more: &[&str]) -> Result<String> {
        let created = self
            .grov()
            .run_json(&[&["token", "create", name], more].concat())?;
        assert_eq!(created.code, Some(0), "{}", created.json);
        Ok(created.json["token"].as_str().context("no token")?.to_owned())
    }

    /// The certificate that the proxy made.
    fn authority(&self) -> String {
        self.home().join("tls/server.crt").display().to_string()
    }
}

/// A response as `curl -i` prints it.
struct Curl {
    /// 0 if there was none.
    status: u16,
    head: String,
    body: String,
    stderr: String,
}

impl Curl {
    fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(':'));
        let found = lines.find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.trim())
    }

    /// The type and message of an error in the shape of the Messages API.
    fn error(&self) -> Result<(String, String)> {
        let body: serde_json::Value = serde_json::from_str(&self.body).context(self.body.clone())?;
        ensure!(body["type"] == "error", "{body}");
        let text = |name: &str| body["error"][name].as_str().unwrap_or_default().to_owned();
        Ok((text("type"), text("message")))
    }
}

fn curl(url: &str, arguments: &[&str]) -> Result<Curl> {
    let output = Command::new("curl")
        .args(["-sS", "-i", "-H", "Expect:", "--max-time", "20", "--noproxy", "*"])
        .args(arguments)
        .arg(url)
        .output()
        .context("cannot run curl")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    Ok(Curl {
        status: status.unwrap_or(0),
        head: head.to_owned(),
        body: body.to_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

/// Posts a prompt of a session.
fn post(url: &str, session: usize, arguments: &[&str]) -> Result<Curl> {
    let session = turn::session(session);
    let bytes = turn::prompt(&session, "[[scenario:tools]]").bytes(0);
    let text = String::from_utf8(bytes)?;
    let (_, body) = text.split_once("\r\n\r\n").context("a request has a head")?;
    let session = format!("x-claude-code-session-id: {session}");
    let more = [
        "-H",
        "content-type: application/json",
        "-H",
        "x-api-key: sk-ant-api03-test-0000",
        "-H",
        "anthropic-version: 2023-06-01",
        "-H",
        &session,
        "--data-binary",
        body,
    ];
    curl(&format!("{url}/v1/messages"), &[arguments, &more[..]].concat())
}

/// The output of `openssl s_client` with these arguments.
fn s_client(port: u16, arguments: &[&str]) -> Result<String> {
    let output = Command::new("openssl")
        .args(["s_client", "-connect", &format!("127.0.0.1:{port}")])
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .context("cannot run openssl")?;
    let text = [output.stdout, output.stderr].concat();
    Ok(String::from_utf8_lossy(&text).into_owned())
}
