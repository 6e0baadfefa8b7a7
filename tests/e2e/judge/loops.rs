//! Grov's own calls never go through its own proxy, whatever the environment says.

use super::{OWN_KEY, TestHome};
use crate::upstream::Upstream;
use anyhow::Result;
use grov_tests::{Daemon, DaemonBuilder, Request, exchange};
use std::net::TcpListener;

const CLIENTS_KEY: &str = "sk-ant-api03-simulated-0000";

/// A port that was free a moment ago.
fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// The environment of a hook under a client that uses the proxy, with `bystander` as the proxy for everything else.
fn with_hook_environment(builder: DaemonBuilder, port: u16, bystander: &Upstream) -> DaemonBuilder {
    let builder = ["ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"]
        .iter()
        .fold(builder.port(port), |builder, name| {
            builder.env(name, format!("http://127.0.0.1:{port}"))
        });
    ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"]
        .iter()
        .fold(builder, |builder, name| builder.env(name, bystander.url()))
        .env("ANTHROPIC_API_KEY", CLIENTS_KEY)
        .env("ANTHROPIC_AUTH_TOKEN", CLIENTS_KEY)
}

/// Asserts that the daemon relayed exactly the requests that the client sent.
fn assert_only_client_requests_relayed(home: &TestHome, daemon: &Daemon, requests: usize) -> Result<()> {
    assert_eq!(
        home.api.turns(),
        requests,
        "a request that is not the client's was relayed"
    );
    assert!(home.api.sim().judge_calls().is_empty());
    let metrics = exchange(daemon.port(), &Request::new("GET", "/_grov/metrics"))?.text();
    let observed = format!("grov_exchanges_observed_total {requests}\n");
    assert!(metrics.contains(&observed), "{metrics}");
    Ok(())
}

#[test]
fn proxy_variables_in_the_environment_do_not_redirect_own_calls() -> Result<()> {
    let (home, bystander) = (TestHome::new()?, Upstream::start()?);
    let daemon = with_hook_environment(home.with_model(), free_port()?, &bystander).start()?;
    let mut person = home.person(&daemon)?;
    person.types("Fix the login form. [[scenario:tools]]")?;
    home.judged(&person.session, 1)?;
    assert_only_client_requests_relayed(&home, &daemon, person.transcript().exchanges.len())?;
    // The calls went straight to the configured address, with the configured key.
    let requests = home.judge.sim().requests();
    assert!(requests.len() >= 2 && requests.len() == home.asked().len());
    for request in &requests {
        assert_eq!(request.path, "/v1/messages");
        assert_eq!(request.header("x-api-key"), Some(OWN_KEY));
        let head = String::from_utf8_lossy(&request.head.raw);
        let body = String::from_utf8_lossy(&request.body);
        assert!(
            !head.contains(CLIENTS_KEY) && !body.contains(CLIENTS_KEY),
            "{head}"
        );
    }
    assert_eq!(
        bystander.sim().connections(),
        0,
        "the proxy of the environment was used"
    );
    let sessions = home.grov().sessions()?;
    assert!(
        sessions
            .iter()
            .all(|task| task["client_session_id"] == person.session.as_str()),
        "{sessions:#?}"
    );
    Ok(())
}

#[test]
fn the_clients_key_is_used_only_where_that_is_allowed() -> Result<()> {
    for allowed in [false, true] {
        let (home, bystander) = (TestHome::new()?, Upstream::start()?);
        let builder = with_hook_environment(home.with_rules(), free_port()?, &bystander)
            .env("GROV_LLM_BASE_URL", home.judge.url())
            .env("GROV_LLM_USE_ANTHROPIC_KEY", allowed.to_string());
        let daemon = builder.start()?;
        let mut person = home.person(&daemon)?;
        person.types("Fix the login form. [[scenario:tools]]")?;
        home.judged(&person.session, 1)?;
        assert_only_client_requests_relayed(&home, &daemon, person.transcript().exchanges.len())?;
        let keys: Vec<Option<String>> = home.asked().into_iter().map(|call| call.key).collect();
        assert_eq!(!keys.is_empty(), allowed, "{keys:?}");
        assert!(
            keys.iter().all(|key| key.as_deref() == Some(CLIENTS_KEY)),
            "{keys:?}"
        );
        assert_eq!(home.judge.sim().connections() > 0, allowed);
        if !allowed {
            // A base URL without a key names a model that cannot be called, and a message says so.
            assert!(daemon.log().contains("rules judge the work"), "{}", daemon.log());
        }
    }
    Ok(())
}

#[test]
fn settings_that_send_own_calls_to_the_proxy_are_refused() -> Result<()> {
    for (variable, host) in [
        ("GROV_LLM_BASE_URL", "127.0.0.1"),
        ("GROV_LLM_BASE_URL", "localhost"),
        ("GROV_LLM_PROXY", "127.0.0.1"),
        ("HTTPS_PROXY", "127.0.0.1"),
        ("ALL_PROXY", "localhost"),
    ] {
        let home = TestHome::new()?;
        let port = free_port()?;
        let builder = home.with_model().port(port);
        let ended = builder.env(variable, format!("http://{host}:{port}")).refuse()?;
        assert_eq!(ended.code(), Some(64), "{variable} {host}: {}", ended.stderr);
        let says = |words: &str| ended.stderr.contains(words);
        assert!(
            says(variable) && says("itself") && says("hint: ") && says("another port"),
            "{variable} {host}: {}",
            ended.stderr
        );
    }
    Ok(())
}

#[test]
fn the_own_listener_under_another_host_name_is_not_called() -> Result<()> {
    // Settings are checked without resolving names; the transport resolves them.
    let home = TestHome::new()?;
    let other = home.with_rules().start()?;
    let port = other.port();
    drop(other);
    let daemon = home
        .with_model()
        .port(port)
        .env("GROV_LLM_BASE_URL", format!("http://localhost.:{port}"))
        .start()?;
    let mut person = home.person(&daemon)?;
    person.types("Fix the login form. [[scenario:tools]]")?;
    home.judged(&person.session, 1)?;
    assert_only_client_requests_relayed(&home, &daemon, person.transcript().exchanges.len())?;
    assert!(home.asked().is_empty() && home.ledger()?.is_empty());
    let log = daemon.log();
    assert!(
        log.contains("Grov's own listener") && log.contains("rules judge the work"),
        "{log}"
    );
    Ok(())
}
