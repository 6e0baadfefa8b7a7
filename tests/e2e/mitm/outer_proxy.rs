//! Blind tunnels, and the user's own proxy in front of the internet.

use super::{Intercepted, text};
use crate::tls::{Secure, Tunnel};
use crate::upstream::{NOWHERE, Upstream};
use anyhow::Result;
use std::process::Output;

/// Asks the server through the CONNECT proxy, with its own certificate.
fn ask(work: &Intercepted, server: &Secure) -> Result<Output> {
    super::curl(
        &work.proxy()?,
        &server.authority,
        &[&format!("{}/", server.url())],
    )
}

#[test]
fn other_hosts_are_tunnelled_with_their_own_certificate() -> Result<()> {
    let server = Secure::start()?;
    let work = Intercepted::start()?;
    let output = ask(&work, &server)?;
    assert_eq!(text(&output.stdout), "{}", "{}", text(&output.stderr));
    let counters = work.counters()?;
    assert_eq!(
        (&counters["tunnelled"], &counters["intercepted"]),
        (&1.into(), &0.into())
    );
    assert_eq!(work.upstream.sim().requests().len(), 0);
    Ok(())
}

#[test]
fn tunnels_go_through_the_users_own_proxy_with_its_password() -> Result<()> {
    let (server, outer) = (Secure::start()?, Tunnel::start()?);
    let proxy = format!("http://someone:swordfish@127.0.0.1:{}", outer.port);
    let work = Intercepted::with(Upstream::start()?, |builder| builder.env("HTTPS_PROXY", &proxy))?;
    let output = ask(&work, &server)?;
    assert_eq!(text(&output.stdout), "{}", "{}", text(&output.stderr));
    let head = outer.heads().remove(0).to_ascii_lowercase();
    assert!(
        head.starts_with(&format!("connect localhost:{} ", server.port)),
        "{head}"
    );
    assert!(head.contains("proxy-authorization: basic "), "{head}");
    let log = work.daemon.stop()?.stderr;
    assert!(!log.contains("swordfish"), "{log}");
    Ok(())
}

#[test]
fn no_proxy_applies_to_tunnels() -> Result<()> {
    let (server, outer) = (Secure::start()?, Tunnel::start()?);
    let proxy = format!("http://127.0.0.1:{}", outer.port);
    let work = Intercepted::with(Upstream::start()?, |builder| {
        builder.env("HTTPS_PROXY", &proxy).env("NO_PROXY", "localhost")
    })?;
    let output = ask(&work, &server)?;
    assert_eq!(text(&output.stdout), "{}", "{}", text(&output.stderr));
    assert_eq!(outer.heads().len(), 0);
    Ok(())
}

#[test]
fn decrypted_requests_go_through_the_users_own_proxy_too() -> Result<()> {
    // The upstream is secure, as the real one.
    let (server, outer) = (Secure::start()?, Tunnel::start()?);
    let proxy = format!("http://127.0.0.1:{}", outer.port);
    let folder = tempfile::tempdir()?;
    let daemon = super::builder(&folder.path().join("grov"), &server.url())
        .env("SSL_CERT_FILE", &server.authority)
        .env("HTTPS_PROXY", &proxy)
        .start()?;
    let own = format!("http://127.0.0.1:{}", super::connect_port(&daemon)?);
    let bundle = daemon.home().join("ca/bundle.pem");
    let output = super::curl(
        &own,
        &bundle,
        &["-d", "{}", &format!("{}/v1/messages", super::API)],
    )?;
    assert_eq!(text(&output.stdout), "{}", "{}", text(&output.stderr));
    assert_eq!(outer.heads().len(), 1);
    Ok(())
}

#[test]
fn an_intercepted_host_without_a_configured_upstream_is_asked_itself() -> Result<()> {
    let server = Secure::start()?;
    let work = Intercepted::with(Upstream::start()?, |builder| {
        builder
            .env(
                "GROV_MITM_HOSTS",
                format!("api.anthropic.com, localhost:{}", server.port),
            )
            .env("SSL_CERT_FILE", &server.authority)
    })?;
    let output = work.curl(&["-d", "{}", &format!("{}/v1/messages", server.url())])?;
    assert_eq!(text(&output.stdout), "{}", "{}", text(&output.stderr));
    assert_eq!(work.counters()?["intercepted"], 1);
    assert_eq!(work.upstream.sim().requests().len(), 0);
    Ok(())
}

#[test]
fn a_daemon_that_is_its_own_outer_proxy_refuses_to_start() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let ended = grov_tests::Daemon::on(&home, NOWHERE)
        .arg("--mitm")
        .arg("--mitm-port")
        .arg("18079")
        .env("HTTPS_PROXY", "http://127.0.0.1:18079")
        .refuse()?;
    assert_eq!(ended.code(), Some(64), "{}", ended.stderr);
    assert!(ended.stderr.contains("HTTPS_PROXY"), "{}", ended.stderr);
    Ok(())
}
