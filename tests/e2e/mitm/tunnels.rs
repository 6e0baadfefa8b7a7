//! Many tunnels at the same time.

use super::{builder, connect_port};
use crate::upstream::NOWHERE;
use anyhow::{Context, Result};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

const TUNNELS: usize = 500;

/// The memory of a process in KB that is not shared with others.
fn private_memory(pid: u32) -> Result<u64> {
    let map = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?;
    let of = |name: &str| -> Option<u64> {
        let line = map.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse().ok()
    };
    of("Private_Dirty:").context("no figure")
}

#[cfg(target_os = "linux")]
#[test]
fn five_hundred_tunnels_are_open_at_once() -> Result<()> {
    let server = TcpListener::bind("127.0.0.1:0")?;
    let target = server.local_addr()?.to_string();
    let folder = tempfile::tempdir()?;
    let daemon = builder(&folder.path().join("grov"), NOWHERE).start()?;
    let port = connect_port(&daemon)?;
    // Before anything is measured, each part has been used once.
    let mut first = super::bad_input::connected(port, &target)?;
    let (mut first_peer, _) = server.accept()?;
    first.write_all(b"x")?;
    first_peer.read_exact(&mut [0])?;
    let before = private_memory(daemon.pid())?;
    let mut tunnels: Vec<(TcpStream, TcpStream)> = Vec::new();
    for _ in 0..TUNNELS {
        let client = super::bad_input::connected(port, &target)?;
        tunnels.push((client, server.accept()?.0));
    }
    // All work, in both directions.
    let message = [7; 1000];
    for (client, peer) in &mut tunnels {
        client.write_all(&message)?;
        let mut received = [0; 1000];
        peer.read_exact(&mut received)?;
        peer.write_all(&received)?;
        client.read_exact(&mut received)?;
        assert_eq!(received, message);
    }
    let each = private_memory(daemon.pid())?.saturating_sub(before) / TUNNELS as u64;
    eprintln!("{TUNNELS} tunnels: {each} KB of memory each");
    // Two buffers of 16 KB, and what a connection needs.
    assert!(each < 64, "{each} KB");
    Ok(())
}
