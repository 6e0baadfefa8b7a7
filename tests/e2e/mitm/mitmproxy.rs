//! mitmproxy as the user's own proxy: one that asks for a password and passes bytes, and one that decrypts.

use super::{Intercepted, text};
use crate::tls::Secure;
use crate::upstream::Upstream;
use anyhow::{Context, Result, bail};
use grov_tests::eventually;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// The program of `scripts/install-mitmproxy`, or `None` with a visible warning; required if `GROV_REAL` is set.
fn installed() -> Result<Option<PathBuf>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .context("no parent")?;
    let program = root.join(".tools/mitmproxy/bin/mitmdump");
    if program.exists() {
        return Ok(Some(program));
    }
    if std::env::var_os("GROV_REAL").is_some() {
        bail!("mitmproxy is not installed: run scripts/install-mitmproxy");
    }
    #[expect(clippy::print_stderr, reason = "a skipped test says so")]
    {
        eprintln!("SKIPPED: mitmproxy is not installed: run `cargo xtask real mitmproxy`");
    }
    Ok(None)
}

struct Mitmproxy {
    port: u16,
    folder: TempDir,
    process: Child,
}

impl Mitmproxy {
    fn start(program: &Path, settings: &[&str]) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let log = std::fs::File::create(folder.path().join("log"))?;
        let mut command = Command::new(program);
        command
            .args(["--listen-host", "127.0.0.1", "--listen-port", &port.to_string()])
            .arg("--set")
            .arg(format!("confdir={}", folder.path().display()))
            .stdout(Stdio::from(log.try_clone()?))
            .stderr(Stdio::from(log));
        for setting in settings {
            command.args(["--set", setting]);
        }
        let process = command.spawn()?;
        let started = Self {
            port,
            folder,
            process,
        };
        eventually("mitmproxy listens", || {
            TcpStream::connect(("127.0.0.1", port)).ok()
        })?;
        Ok(started)
    }

    fn log(&self) -> Result<String> {
        Ok(std::fs::read_to_string(self.folder.path().join("log"))?)
    }
}

impl Drop for Mitmproxy {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn tunnels_go_through_mitmproxy_with_its_password() -> Result<()> {
    let Some(program) = installed()? else {
        return Ok(());
    };
    let server = Secure::start()?;
    let outer = Mitmproxy::start(&program, &["ignore_hosts=.*", "proxyauth=someone:swordfish"])?;
    let ask = |user: &str| -> Result<(String, String)> {
        let proxy = format!("http://{user}@127.0.0.1:{}", outer.port);
        let work = Intercepted::with(Upstream::start()?, |builder| builder.env("HTTPS_PROXY", &proxy))?;
        let url = format!("{}/", server.url());
        let output = super::curl(&work.proxy()?, &server.authority, &[&url])?;
        Ok((text(&output.stdout), text(&output.stderr)))
    };
    let (answer, error) = ask("someone:swordfish")?;
    assert_eq!(answer, "{}", "{error}\n{}", outer.log()?);
    // With a wrong password the client is told, not left waiting.
    let (answer, error) = ask("someone:wrong")?;
    assert_eq!(answer, "");
    assert!(error.contains("502") || error.contains("407"), "{error}");
    Ok(())
}

#[test]
fn decrypted_requests_pass_a_proxy_that_decrypts_them_again() -> Result<()> {
    let Some(program) = installed()? else {
        return Ok(());
    };
    let server = Secure::start()?;
    let trusted = format!("ssl_verify_upstream_trusted_ca={}", server.authority.display());
    let outer = Mitmproxy::start(&program, &[&trusted])?;
    let proxy = format!("http://127.0.0.1:{}", outer.port);
    let authority = outer.folder.path().join("mitmproxy-ca-cert.pem");
    let folder = tempfile::tempdir()?;
    let daemon = super::builder(&folder.path().join("grov"), &server.url())
        .env("HTTPS_PROXY", &proxy)
        .env("NODE_EXTRA_CA_CERTS", &authority)
        .start()?;
    let own = format!("http://127.0.0.1:{}", super::connect_port(&daemon)?);
    let bundle = daemon.home().join("ca/bundle.pem");
    let messages = format!("{}/v1/messages", super::API);
    let decrypted = super::curl(&own, &bundle, &["-d", "{}", &messages])?;
    assert_eq!(
        text(&decrypted.stdout),
        "{}",
        "{}\n{}",
        text(&decrypted.stderr),
        outer.log()?
    );
    // A blind tunnel shows the client the certificate of the company's proxy.
    let url = format!("{}/", server.url());
    let blind = super::curl(&own, &authority, &[&url])?;
    assert_eq!(text(&blind.stdout), "{}", "{}", text(&blind.stderr));
    assert!(outer.log()?.contains("/v1/messages"), "{}", outer.log()?);
    Ok(())
}
