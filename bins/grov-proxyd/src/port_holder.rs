//! Finds the process that listens on a port.

use grov_runtime::port::{Listener, listener_at};
use std::fmt;
use std::fs;
use std::net::SocketAddr;

/// The process that listens on a port.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Holder {
    name: String,
    pid: Option<u32>,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pid {
            Some(pid) => write!(f, "{} (process {pid})", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// Returns the process that listens on `address`, if this user may see it.
pub(crate) fn find(address: SocketAddr) -> Option<Holder> {
    let holder = process_listening_on(address.port());
    if let Listener::Grov { .. } = listener_at(address) {
        return Some(Holder {
            name: "another grov-proxyd".to_owned(),
            pid: holder.and_then(|holder| holder.pid),
        });
    }
    holder
}

/// Finds the owner of the listening socket in `/proc`. Returns `None` on systems other than Linux.
fn process_listening_on(port: u16) -> Option<Holder> {
    let sockets: Vec<String> = ["/proc/net/tcp", "/proc/net/tcp6"]
        .into_iter()
        .filter_map(|table| fs::read_to_string(table).ok())
        .flat_map(|table| listening_sockets(&table, port))
        .map(|inode| format!("socket:[{inode}]"))
        .collect();
    if sockets.is_empty() {
        return None;
    }
    let processes = fs::read_dir("/proc").ok()?.flatten();
    processes
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .find_map(|pid: u32| {
            let mut files = fs::read_dir(format!("/proc/{pid}/fd")).ok()?.flatten();
            let holds = files.any(|file| {
                fs::read_link(file.path())
                    .is_ok_and(|target| sockets.iter().any(|socket| target.as_os_str() == &**socket))
            });
            let name = || {
                fs::read_to_string(format!("/proc/{pid}/comm"))
                    .unwrap_or_default()
                    .trim()
                    .to_owned()
            };
            holds.then(|| Holder {
                name: name(),
                pid: Some(pid),
            })
        })
}

/// Returns the inodes of the sockets that listen on `port`. `table` is the text of `/proc/net/tcp`.
fn listening_sockets(table: &str, port: u16) -> Vec<String> {
    const LISTEN: &str = "0A";
    table
        .lines()
        .skip(1)
        .filter_map(|line| {
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            let (_, local_port) = fields.get(1)?.rsplit_once(':')?;
            let matches = u16::from_str_radix(local_port, 16).ok()? == port && *fields.get(3)? == LISTEN;
            matches
                .then(|| fields.get(9).map(|inode| (*inode).to_owned()))
                .flatten()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_process_that_listens_on_a_port() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        if cfg!(target_os = "linux") {
            assert_eq!(
                process_listening_on(port).and_then(|holder| holder.pid),
                Some(std::process::id())
            );
        }
        drop(listener);
        assert_eq!(process_listening_on(port), None);
    }
}
