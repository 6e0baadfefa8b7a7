//! What cannot start says so on the terminal, at once, with the fix.

use super::{NOWHERE, folder_of_nobody};
use anyhow::Result;
use grov_tests::Grov;
use std::fs;
use std::net::TcpListener;
use std::time::{Duration, Instant};

/// More than the second that it may take, because other tests run at the same time.
const SOON: Duration = Duration::from_secs(5);

fn refused(grov: &Grov, words: &[&str], code: i32, said: &[&str]) -> Result<()> {
    let start = Instant::now();
    let words = [&["run", "--base-url"], words].concat();
    let ended = grov.run(&words)?;
    assert!(start.elapsed() < SOON, "{words:?} took {:?}", start.elapsed());
    assert_eq!(ended.code(), Some(code), "{words:?}: {ended:?}");
    assert_eq!(ended.stdout, "", "{words:?}: the command has not run");
    for text in said {
        assert!(
            ended.stderr.contains(text),
            "{words:?}: no {text:?} in {}",
            ended.stderr
        );
    }
    Ok(())
}

const ECHO: [&str; 3] = ["--", "echo", "ran"];

#[test]
fn a_missing_command_is_reported_before_anything_starts() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let nowhere = folder.path().join("empty");
    let grov = Grov::on(&home).env("PATH", &nowhere.display().to_string());
    refused(
        &grov,
        &[],
        127,
        &["claude is not in PATH", "hint: install Claude Code"],
    )?;
    refused(&grov, &["--", "-p", "hi"], 127, &["claude is not in PATH"])?;
    refused(
        &grov,
        &["--", "/no/such/program"],
        127,
        &["/no/such/program does not exist"],
    )?;
    let file = folder.path().join("plain");
    fs::write(&file, "")?;
    let file = file.display().to_string();
    refused(&grov, &["--", &file], 126, &["is not executable"])?;
    assert!(!home.exists());
    Ok(())
}

#[test]
fn a_broken_provider_file_is_reported() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let file = folder.path().join("providers.yaml");
    fs::write(&file, "providers:\n  - name: 7\n    nonsense\n")?;
    let file = file.display().to_string();
    let words = [&["--providers", &file], &ECHO[..]].concat();
    refused(&Grov::on(&home), &words, 64, &["providers.yaml", "hint: "])?;
    let words = [&["--providers", "/no/such/file"], &ECHO[..]].concat();
    refused(
        &Grov::on(&home),
        &words,
        64,
        &["no provider file at /no/such/file"],
    )
}

#[test]
fn a_taken_port_is_reported_with_its_holder() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let port = listener.local_addr()?.port().to_string();
    let words = [&["--port", &port], &ECHO[..]].concat();
    let holder = format!("process {}", std::process::id());
    let grov = Grov::on(&folder.path().join("grov"));
    refused(&grov, &words, 2, &[&port, &holder, "hint: "])
}

#[test]
fn an_unwritable_home_is_reported() -> Result<()> {
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("file"), "")?;
    let grov = Grov::on(&folder_of_nobody(folder.path())).within(folder.path());
    for options in [&["--upstream", NOWHERE][..], &[]] {
        let words = [options, &ECHO[..]].concat();
        refused(&grov, &words, 2, &["cannot be used", "--home"])?;
    }
    Ok(())
}

#[test]
fn flags_of_claude_hybrid_are_understood() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let grov = Grov::on(&folder.path().join("grov"));
    let words = [
        "run",
        "--base-url",
        "--port",
        "0",
        "--bind",
        "127.0.0.1",
        "--certs-dir",
        "/x",
        "--upstream",
        NOWHERE,
    ];
    let ended = grov.run(&[&words[..], &ECHO[..]].concat())?;
    assert_eq!(
        (ended.code(), ended.stdout.as_str()),
        (Some(0), "ran\n"),
        "{ended:?}"
    );
    assert!(
        ended.stderr.contains("--certs-dir is ignored"),
        "{}",
        ended.stderr
    );
    let words = [&["--bind", "0.0.0.0"], &ECHO[..]].concat();
    refused(&grov, &words, 64, &["loopback"])
}
