//! One server per SQLite database: a lock beside the file, held while the service runs.
//!
//! Two servers would each think that all work in the background is theirs. PostgreSQL is made for several; there is no lock.

use crate::stop::Stop;
use anyhow::anyhow;
use grov_runtime::DatabaseUrl;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long to wait for a server that is about to end, as one that is being restarted or was killed.
const TIMEOUT: Duration = Duration::from_secs(1);
const RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// The lock. The system releases it also when the process is killed.
#[derive(Debug)]
pub(crate) struct SoleServer {
    /// `None` for PostgreSQL, and where no lock file can be written.
    file: Option<File>,
}

impl SoleServer {
    /// Locks a database, or says who serves it.
    pub(crate) fn lock(database: &DatabaseUrl) -> Result<Self, Stop> {
        match database {
            DatabaseUrl::Sqlite(path) => Self::lock_within(path, TIMEOUT),
            DatabaseUrl::Postgres(_) => Ok(Self { file: None }),
        }
    }

    fn lock_within(database: &Path, timeout: Duration) -> Result<Self, Stop> {
        let path = lock_file(database);
        let mut options = OpenOptions::new();
        options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600);
        // The file is never removed: otherwise two servers could each lock a file of this name.
        let opened = options.open(&path);
        let mut file = match opened {
            Ok(file) => file,
            // The database says what is wrong with the folder.
            Err(error) => {
                tracing::warn!(%error, path = %path.display(), "cannot lock the database against a second server");
                return Ok(Self { file: None });
            }
        };
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { file: Some(file) }),
                Err(TryLockError::WouldBlock) if start.elapsed() < timeout => {
                    std::thread::sleep(RETRY_INTERVAL)
                }
                Err(TryLockError::WouldBlock) => {
                    let mut holder = String::new();
                    // Without a text it is just starting.
                    let _ = file.read_to_string(&mut holder);
                    return Err(held(database, holder.trim()));
                }
                // A file system without locks.
                Err(TryLockError::Error(error)) => {
                    tracing::warn!(%error, path = %path.display(), "cannot lock the database against a second server");
                    return Ok(Self { file: None });
                }
            }
        }
    }

    /// Notes for a second server where this one serves.
    pub(crate) fn announce(&mut self, scheme: &str, address: SocketAddr) {
        let Some(file) = &mut self.file else { return };
        let text = format!("process {} at {scheme}://{address}\n", std::process::id());
        let written = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(text.as_bytes()));
        if let Err(error) = written {
            tracing::debug!(%error, "a second server will not be told where this one serves");
        }
    }
}

impl Drop for SoleServer {
    fn drop(&mut self) {
        if let Some(file) = &self.file {
            // Nobody serves any more. Errors are ignored: the lock says it, too.
            let _ = file.set_len(0);
            let _ = file.unlock();
        }
    }
}

fn lock_file(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    // `.lock` belongs to the store, which takes it while it opens the database.
    name.push(".server");
    PathBuf::from(name)
}

fn held(database: &Path, holder: &str) -> Stop {
    let holder = match holder {
        "" => "it is just starting",
        holder => holder,
    };
    let error = anyhow!("another grov-agentd serves {}: {holder}", database.display());
    Stop::fault(error).with_hint("use the running service, stop it, or choose another home with --home")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_server_on_the_same_database_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("agent.db");
        let mut first = SoleServer::lock_within(&database, Duration::ZERO).unwrap();
        let refused = || {
            let stop = SoleServer::lock_within(&database, Duration::ZERO).unwrap_err();
            format!("{}; {}", stop.error, stop.hint.unwrap_or_default())
        };
        assert!(refused().contains("just starting"), "{}", refused());
        first.announce("http", SocketAddr::from(([127, 0, 0, 1], 8090)));
        let told = refused();
        for part in [
            "agent.db",
            &std::process::id().to_string(),
            "http://127.0.0.1:8090",
            "--home",
        ] {
            assert!(told.contains(part), "{part}: {told}");
        }
        // Another database, and the same one later.
        SoleServer::lock_within(&folder.path().join("other.db"), Duration::ZERO).unwrap();
        drop(first);
        SoleServer::lock_within(&database, Duration::ZERO).unwrap();
    }

    #[test]
    fn without_a_folder_the_database_says_what_is_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing/agent.db");
        assert!(
            SoleServer::lock_within(&missing, Duration::ZERO)
                .unwrap()
                .file
                .is_none()
        );
    }
}
