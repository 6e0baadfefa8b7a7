//! The proxy as a service: files that are removed again, and a socket that a service manager passes on.

use crate::turn;
use crate::upstream::{NOWHERE, Upstream};
use anyhow::{Context, Result};
use grov_tests::{Grov, Request, binary, eventually, exchange};
use std::fs;
use std::net::TcpListener;
use std::os::unix::net::UnixDatagram;
use std::process::{Child, Command, Stdio};

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn an_installed_service_is_removed_without_a_trace() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let config = folder.path().join(".config");
    let agents = folder.path().join("Library");
    // Without a session bus systemd cannot be reached, as in a container.
    let grov = Grov::on(&home);
    for (manager, folder, names) in [
        (
            "systemd",
            config.join("systemd/user"),
            &["grov-proxyd.service", "grov-proxyd.socket"][..],
        ),
        ("launchd", agents.join("LaunchAgents"), &["dev.grov.proxyd.plist"]),
    ] {
        let installed = grov.run_json(&["service", "install", "--manager", manager])?;
        assert_eq!(installed.code, Some(0), "{}", installed.json);
        let mut found: Vec<String> = fs::read_dir(&folder)?
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect::<Result<_>>()?;
        found.sort();
        assert_eq!(found, names);
        assert_eq!(installed.json["enabled"], false, "{}", installed.json);
        let to_enable = installed.json["to_enable"].as_str().context("no command")?;
        assert!(
            to_enable.contains("enable") || to_enable.contains("load"),
            "{to_enable}"
        );
        let status = grov.run_json(&["service", "status"])?;
        assert_eq!((status.code, &status.json["installed"]), (Some(1), &true.into()));
        let again = grov.run_json(&["service", "install", "--manager", manager])?;
        assert_eq!(again.json["files"][0]["change"], "unchanged", "{}", again.json);
        let removed = grov.run(&["service", "remove"])?;
        assert_eq!(removed.code(), Some(0), "{removed:?}");
        assert!(
            !config.exists() && !agents.exists(),
            "{manager}: folders are left"
        );
    }
    Ok(())
}

#[test]
fn a_file_of_the_user_is_not_replaced() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let units = folder.path().join(".config/systemd/user");
    fs::create_dir_all(&units)?;
    fs::write(units.join("grov-proxyd.service"), "mine")?;
    let grov = Grov::on(&folder.path().join("grov"));
    let ended = grov.run(&["service", "install", "--manager", "systemd"])?;
    assert_eq!(ended.code(), Some(2), "{ended:?}");
    grov.run(&["service", "remove"])?;
    assert_eq!(fs::read_to_string(units.join("grov-proxyd.service"))?, "mine");
    assert_eq!(fs::read_dir(&units)?.count(), 1);
    Ok(())
}

#[test]
fn the_socket_of_a_service_manager_is_used() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let upstream = Upstream::start()?;
    let free = TcpListener::bind(("127.0.0.1", 0))?;
    let port = free.local_addr()?.port();
    drop(free);
    let notified = folder.path().join("notify");
    let manager = UnixDatagram::bind(&notified)?;
    manager.set_read_timeout(Some(std::time::Duration::from_secs(30)))?;
    let mut activate = Command::new("systemd-socket-activate");
    activate
        .args(["--listen", &format!("127.0.0.1:{port}"), "--fdname", "proxy"])
        .args(["--setenv", &format!("NOTIFY_SOCKET={}", notified.display())])
        .args(["--setenv", &format!("HOME={}", folder.path().display())])
        .arg(binary("grov-proxyd")?)
        .args(["--upstream", &upstream.url(), "--home"])
        .arg(&home)
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    let Ok(child) = activate.spawn() else {
        eprintln!("SKIPPED: systemd-socket-activate is not installed");
        return Ok(());
    };
    let child = Killed(child);
    // The first connection starts the daemon, and waits for it.
    let answer = eventually("an answer", || {
        exchange(port, &turn::prompt(&turn::session(1), "[[scenario:tools]]")).ok()
    })?;
    assert_eq!(answer.status, 200);
    assert_eq!(message(&manager)?, format!("MAINPID={}\nREADY=1\n", child.0.id()));
    let grov = Grov::on(&home);
    let restarted = grov.run_json(&["proxy", "restart"])?;
    let pid = restarted.json["pid"].as_u64().context("no pid")?;
    assert_eq!(message(&manager)?, format!("MAINPID={pid}\nREADY=1\n"));
    assert_eq!(exchange(port, &Request::new("GET", "/_grov/health"))?.status, 200);
    assert_eq!(grov.run(&["proxy", "stop"])?.code(), Some(0));
    Ok(())
}

fn message(manager: &UnixDatagram) -> Result<String> {
    let mut buffer = [0; 256];
    let length = manager.recv(&mut buffer)?;
    Ok(String::from_utf8_lossy(&buffer[..length]).into_owned())
}

#[test]
fn a_port_that_clients_cannot_know_is_refused() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let grov = Grov::on(&folder.path().join("grov"))
        .env("GROV_PROXY_PORT", "0")
        .env("ANTHROPIC_TARGET", NOWHERE);
    let ended = grov.run(&["service", "install"])?;
    assert_eq!(ended.code(), Some(64), "{ended:?}");
    Ok(())
}
