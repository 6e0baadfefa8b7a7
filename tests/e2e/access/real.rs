//! The real client over TLS with a token.

use super::Scene;
use crate::upstream::Upstream;
use crate::work::Work;
use anyhow::Result;
use grov_tests::{Daemon, Grov, RealClient};

#[test]
fn real_client_works_over_tls_with_a_token() -> Result<()> {
    let Some(client) = RealClient::installed()? else {
        return Ok(());
    };
    let home = client.home().join(".grov");
    let upstream = Upstream::start()?;
    let daemon = Daemon::on(&home, &upstream.url())
        .env("ENABLE_TLS", "true")
        .env("ENABLE_AUTH", "true")
        .start()?;
    let created = Grov::on(&home).run_json(&["token", "create", "ana"])?.json;
    let token = created["token"].as_str().unwrap_or_default().to_owned();
    let authority = home.join("tls/server.crt").display().to_string();
    let url = format!("https://localhost:{}", daemon.port());
    let client = client
        .env("NODE_EXTRA_CA_CERTS", &authority)
        .env("ANTHROPIC_CUSTOM_HEADERS", &format!("x-grov-token: {token}"));
    let work = Work {
        client,
        upstream,
        daemon,
        home,
    };
    let run = work
        .client
        .prompt(&url, "Add a greeting. [[scenario:tools]]", &[])?;
    assert_eq!(run.result()?, "The greeting is written, changed and counted.");
    assert_eq!(work.file("greeting.txt")?, "hello\ngrov\n");
    assert_eq!(work.agree(run.session()?)?.len(), 4);
    assert_eq!(work.session(run.session()?)?["user"], "ana");
    assert_eq!(run.retries(), 0);
    assert!(
        !work
            .upstream
            .sim()
            .messages()
            .iter()
            .any(|message| format!("{:?}", message.head).contains(&token))
    );
    Ok(())
}

#[test]
fn real_client_without_a_token_fails_at_once() -> Result<()> {
    let Some(client) = RealClient::installed()? else {
        return Ok(());
    };
    let scene = Scene::new()?;
    let daemon = scene.builder(&["ENABLE_AUTH"]).start()?;
    let run = client.prompt(&daemon.url(), "Hello. [[scenario:tools]]", &[])?;
    let text = format!("{:?}", run.events);
    assert!(text.contains("x-grov-token"), "{text}");
    assert_eq!(scene.upstream.turns(), 0);
    Ok(())
}
