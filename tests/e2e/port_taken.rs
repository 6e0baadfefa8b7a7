//! Another program than this home's daemon listens on the port that the client sends its requests to.

mod hanging;

use crate::upstream::NOWHERE;
use anyhow::{Context, Result};
use grov_tests::{Daemon, Grov};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

/// The program that has the port.
struct Taken {
    what: &'static str,
    port: u16,
    /// Its description in messages.
    description: &'static str,
    _daemon: Option<Daemon>,
    _listener: Option<TcpListener>,
}

fn bound() -> Result<(TcpListener, u16)> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let port = listener.local_addr()?.port();
    Ok((listener, port))
}

/// A web server that runs as long as the test.
fn web_server() -> Result<Taken> {
    let (listener, port) = bound()?;
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let _ =
                stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        }
    });
    Ok(Taken {
        what: "a web server",
        port,
        description: "another program listens",
        _daemon: None,
        _listener: None,
    })
}

/// A program whose listening socket accepts connections but never answers.
fn silent() -> Result<Taken> {
    let (listener, port) = bound()?;
    Ok(Taken {
        what: "a silent program",
        port,
        description: "another program listens",
        _daemon: None,
        _listener: Some(listener),
    })
}

fn all(folder: &std::path::Path) -> Result<Vec<Taken>> {
    let daemon = Daemon::on(&folder.join("other"), NOWHERE).start()?;
    let of_other_home = Taken {
        what: "a Grov daemon",
        port: daemon.port(),
        description: "the Grov daemon of another home",
        _daemon: Some(daemon),
        _listener: None,
    };
    Ok(vec![web_server()?, silent()?, of_other_home])
}

#[test]
fn a_session_start_reports_that_another_program_has_the_port() -> Result<()> {
    let folder = tempfile::tempdir()?;
    for taken in all(folder.path())? {
        let port = taken.port.to_string();
        let grov = Grov::on(&folder.path().join("own"))
            .env("GROV_PROXY_PORT", &port)
            .env("ANTHROPIC_BASE_URL", &format!("http://127.0.0.1:{port}"));
        let ended = grov.hook(
            "SessionStart",
            &json!({"session_id": "s", "cwd": folder.path(), "source": "startup"}),
        )?;
        assert_eq!(ended.code(), Some(0), "{}: {ended:?}", taken.what);
        let answer: Value = serde_json::from_str(&ended.stdout).with_context(|| format!("{ended:?}"))?;
        let notice = answer["systemMessage"]
            .as_str()
            .context("no message for the user")?;
        assert!(
            notice.contains(taken.description)
                && notice.contains(&port)
                && notice.contains("grov init --proxy"),
            "{}: {notice}",
            taken.what
        );
        assert_eq!(
            answer["hookSpecificOutput"],
            Value::Null,
            "nothing of it is for the agent"
        );
    }
    Ok(())
}

#[test]
fn commands_report_that_another_program_has_the_port() -> Result<()> {
    let folder = tempfile::tempdir()?;
    for taken in all(folder.path())? {
        let port = taken.port.to_string();
        let grov = Grov::on(&folder.path().join("own"))
            .env("GROV_PROXY_PORT", &port)
            .env("ANTHROPIC_BASE_URL", &format!("http://127.0.0.1:{port}"));
        let says = format!("listens on port {port}");
        let started = grov.run(&["proxy", "--detach", "--port", &port])?;
        assert_ne!(started.code(), Some(0), "{}", taken.what);
        assert!(
            started.stderr.contains(&format!("another program {says}")),
            "{}: {started:?}",
            taken.what
        );
        let status = grov.run(&["proxy-status"])?;
        assert!(
            status.stdout.contains(&says) && status.stdout.contains("proxy.port"),
            "{}: {status:?}",
            taken.what
        );
        let doctor = grov.run_json(&["doctor"])?;
        let checks = doctor.json["checks"].as_array().context("no checks")?;
        let proxy = checks.iter().find(|check| check["name"] == "proxy");
        let evidence = proxy
            .and_then(|check| check["evidence"].as_str())
            .unwrap_or_default();
        assert!(evidence.contains(&says), "{}: {evidence}", taken.what);
    }
    Ok(())
}

#[test]
fn a_session_start_reports_that_the_daemon_listens_on_another_port() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let daemon = Daemon::on(&home, NOWHERE).start()?;
    let (free, port) = bound()?;
    drop(free);
    let ended = Grov::on(&home)
        .env("GROV_PROXY_PORT", &port.to_string())
        .env("ANTHROPIC_BASE_URL", &format!("http://127.0.0.1:{port}"))
        .hook(
            "SessionStart",
            &json!({"session_id": "s", "cwd": folder.path(), "source": "startup"}),
        )?;
    let answer: Value = serde_json::from_str(&ended.stdout).with_context(|| format!("{ended:?}"))?;
    let notice = answer["systemMessage"]
        .as_str()
        .context("no message for the user")?;
    assert!(
        notice.contains(&daemon.url()) && notice.contains("grov init --proxy"),
        "{notice}"
    );
    Ok(())
}

#[test]
fn a_session_start_reports_nothing_if_its_own_daemon_listens() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let daemon = Daemon::on(&home, NOWHERE).start()?;
    let ended = Grov::on(&home).env("ANTHROPIC_BASE_URL", &daemon.url()).hook(
        "SessionStart",
        &json!({"session_id": "s", "cwd": folder.path(), "source": "startup"}),
    )?;
    assert_eq!((ended.code(), ended.stdout.as_str()), (Some(0), ""), "{ended:?}");
    Ok(())
}

#[test]
fn doctor_names_a_base_address_where_nothing_listens() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let (_, port) = bound()?;
    // The port was only told to `init`.
    let grov = Grov::on(&home).env("GROV_PROXY_PORT", &port.to_string());
    grov.run(&["init", "--proxy"])?;
    let doctor = Grov::on(&home).run_json(&["doctor"])?;
    assert_eq!(doctor.code, Some(1), "{}", doctor.json);
    let checks = doctor.json["checks"].as_array().context("no checks")?;
    let check = checks.iter().find(|check| check["name"] == "base address");
    let check = check.with_context(|| doctor.json.to_string())?;
    assert_eq!(check["status"], "fail", "{check}");
    let text = check.to_string();
    assert!(
        text.contains("nothing listens") && text.contains("proxy.port"),
        "{text}"
    );
    Ok(())
}
