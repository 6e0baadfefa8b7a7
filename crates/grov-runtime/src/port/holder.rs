//! Finds the process that listens on a port.

use std::fs;

/// A process that listens on a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its process id.
    pub pid: u32,
    /// The name of its program; empty if it cannot be read.
    pub name: String,
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.name.as_str() {
            "" => write!(f, "process {}", self.pid),
            name => write!(f, "{name} (process {})", self.pid),
        }
    }
}

/// The process that listens on `port` of any address, if this user may see it. `None` on systems other than Linux.
pub fn holder(port: u16) -> Option<Holder> {
    let pid = process_listening_on(port)?;
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    let name = name.trim().to_owned();
    Some(Holder { pid, name })
}

/// Finds the owner of the listening socket in `/proc`. Returns `None` on systems other than Linux.
fn process_listening_on(port: u16) -> Option<u32> {
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
        .find(|pid: &u32| {
            let files = fs::read_dir(format!("/proc/{pid}/fd"));
            files.into_iter().flatten().flatten().any(|file| {
                fs::read_link(file.path())
                    .is_ok_and(|target| sockets.iter().any(|socket| target.as_os_str() == &**socket))
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
            let found = holder(port).unwrap();
            assert_eq!(found.pid, std::process::id());
            assert!(
                found.to_string().ends_with(&format!("(process {})", found.pid)),
                "{found}"
            );
        }
        drop(listener);
        assert_eq!(holder(port), None);
    }
}
