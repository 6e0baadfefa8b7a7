//! Other clients than Claude Code.

use super::{API, HEADERS, Intercepted, text, turn};
use crate::upstream::Upstream;
use anyhow::{Context, Result};
use std::process::Command;

#[test]
fn one_connection_serves_many_requests() -> Result<()> {
    let work = Intercepted::start()?;
    let body = turn(1).to_string();
    let url = format!("{API}/v1/messages");
    let mut arguments = HEADERS.to_vec();
    arguments.extend(["-d", &body]);
    arguments.extend([url.as_str(); 20]);
    let output = work.curl(&arguments)?;
    let answers = text(&output.stdout);
    assert_eq!(
        answers.matches("event: message_stop").count(),
        20,
        "{answers} {}",
        text(&output.stderr)
    );
    assert_eq!(work.counters()?["intercepted"], 1);
    Ok(())
}

#[test]
fn parallel_connections_are_served() -> Result<()> {
    let work = Intercepted::start()?;
    let body = turn(1).to_string();
    let url = format!("{API}/v1/messages");
    let mut arguments = vec!["--parallel", "--parallel-immediate", "--no-progress-meter"];
    arguments.extend(HEADERS);
    arguments.extend(["-d", &body]);
    arguments.extend([url.as_str(); 30]);
    let output = work.curl(&arguments)?;
    let answers = text(&output.stdout);
    assert_eq!(
        answers.matches("message_stop\"").count(),
        30,
        "{answers} {}",
        text(&output.stderr)
    );
    Ok(())
}

#[test]
fn python_requests_goes_through() -> Result<()> {
    let found = Command::new("python3").args(["-c", "import requests"]).output();
    if !found.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: python3 has no requests");
        return Ok(());
    }
    let work = Intercepted::start()?;
    let script = format!(
        "import requests\n\
         session = requests.Session()\n\
         session.headers['anthropic-version'] = '2023-06-01'\n\
         session.headers['x-api-key'] = 'sk-ant-api03-test-0000'\n\
         for _ in range(3):\n    \
             answer = session.post('{API}/v1/messages', json={}, timeout=30)\n    \
             print(answer.status_code, 'message_stop' in answer.text)\n",
        turn(1).to_string().replace("true", "True")
    );
    let output = Command::new("python3")
        .arg("-c")
        .arg(script)
        .env("HTTPS_PROXY", work.proxy()?)
        .env("REQUESTS_CA_BUNDLE", work.bundle())
        .env_remove("NO_PROXY")
        .env_remove("no_proxy")
        .output()
        .context("python3 does not start")?;
    assert_eq!(
        text(&output.stdout),
        "200 True\n".repeat(3),
        "{}",
        text(&output.stderr)
    );
    assert_eq!(work.counters()?["intercepted"], 1);
    Ok(())
}

#[test]
fn plain_http_in_absolute_form_is_forwarded() -> Result<()> {
    let work = Intercepted::start()?;
    // As when HTTPS_PROXY also captures a base URL on loopback.
    let other = Upstream::start()?;
    let body = turn(1).to_string();
    let url = format!("{}/v1/messages?x=1", other.url());
    let output = work.curl(&[&HEADERS[..], &["-d", &body, &url]].concat())?;
    assert!(
        text(&output.stdout).contains("message_stop"),
        "{}",
        text(&output.stderr)
    );
    let request = other.sim().requests().remove(0);
    assert_eq!(
        (request.path.as_str(), request.query.as_deref()),
        ("/v1/messages", Some("x=1"))
    );
    assert_eq!(
        request.header("host"),
        Some(format!("127.0.0.1:{}", other.port()).as_str())
    );
    assert_eq!(request.header("proxy-connection"), None);
    assert_eq!(work.upstream.sim().requests().len(), 0);
    assert_eq!(work.counters()?["forwarded"], 1);
    // To the daemon's other port: the request is treated as with a base URL.
    let url = format!("{}/v1/messages", work.daemon.url());
    let output = work.curl(&[&HEADERS[..], &["-d", &body, &url]].concat())?;
    assert!(
        text(&output.stdout).contains("message_stop"),
        "{}",
        text(&output.stderr)
    );
    assert_eq!(work.upstream.turns(), 1);
    Ok(())
}
