//! Copies of a SQLite database.

use crate::AgentDatabase;
use crate::column::Columns;
use crate::database::sqlite_options;
use crate::error::failed;
use crate::files::{self, InUse, create_new, not_writable, with_suffix};
use crate::schema;
use crate::work::{Arg, bound};
use grov_agent::AgentStoreError;
use sqlx::{AnyConnection, ConnectOptions, Connection, Executor};
use std::fs::File;
use std::path::Path;

/// Follows the name of the database that a restore replaced.
const REPLACED: &str = ".before-restore";

impl AgentDatabase {
    /// Writes a copy of a SQLite database to a new file, as it is at one moment, while the service runs.
    ///
    /// # Errors
    ///
    /// The file exists or cannot be written, or the database is PostgreSQL, which `pg_dump` backs up.
    pub async fn backup(&self, to: &Path) -> Result<(), AgentStoreError> {
        if self.path.is_none() {
            return Err(AgentStoreError::Other(
                "this backs up SQLite only; back up PostgreSQL with pg_dump".to_owned(),
            ));
        }
        // Before SQLite writes to it, so that nobody else can read it meanwhile.
        let file = create_new(to).map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => AgentStoreError::Conflict(format!(
                "{} exists already and is not overwritten; give the name of a new file",
                to.display()
            )),
            _ => not_writable(to, &error),
        })?;
        let copied = self.copy_to(to).await;
        let synced = copied.and_then(|()| file.sync_all().map_err(|error| not_writable(to, &error)));
        if synced.is_err() {
            // The error that is returned says why; a part of a copy is of no use.
            let _ = std::fs::remove_file(to);
        }
        synced
    }

    async fn copy_to(&self, to: &Path) -> Result<(), AgentStoreError> {
        let target = to
            .to_str()
            .ok_or_else(|| AgentStoreError::Other(format!("the path {} is not UTF-8", to.display())))?;
        let mut work = self.read().await?;
        work.run("VACUUM INTO $1", vec![Arg::from(target)])
            .await
            .map(drop)
    }

    /// Replaces a SQLite database by a copy that [`AgentDatabase::backup`] made. The database that was there stays beside it,
    /// with `.before-restore` behind its name.
    ///
    /// # Errors
    ///
    /// A process has the database open, or the copy is damaged, of another program or of a newer version. Nothing was changed
    /// then.
    pub async fn restore(from: &Path, to: &Path) -> Result<(), AgentStoreError> {
        sqlx::any::install_default_drivers();
        let absolute = |path| std::path::absolute(path).map_err(|error| not_writable(path, &error));
        let (from, to) = (absolute(from)?, absolute(to)?);
        verify(&from).await?;
        if let Some(folder) = to.parent() {
            std::fs::create_dir_all(folder).map_err(|error| not_writable(folder, &error))?;
        }
        let _alone = InUse::alone(&to)?;
        let fresh = with_suffix(&to, ".restoring");
        let copied = copy(&from, &fresh).map_err(|error| not_writable(&fresh, &error));
        let placed = match copied {
            Ok(()) => replace(&fresh, &to).await,
            Err(error) => Err(error),
        };
        if placed.is_err() {
            // The error that is returned says why.
            let _ = files::remove_if_there(&fresh);
        }
        placed
    }
}

/// Checks that a file is an intact database of this service.
async fn verify(path: &Path) -> Result<(), AgentStoreError> {
    let refused = |why: String| AgentStoreError::Other(format!("{}: {why}", path.display()));
    if !path.is_file() {
        return Err(AgentStoreError::NotFound("file"));
    }
    let mut connection = sqlite_options(path, "ro")?
        .connect()
        .await
        .map_err(|error| refused(format!("it cannot be opened: {error}")))?;
    let checked = check(&mut connection).await;
    // It was only read.
    let _ = connection.close().await;
    let (application, version, faults) =
        checked.map_err(|error| refused(format!("it is not an intact database: {error}")))?;
    if application != schema::APPLICATION {
        return Err(refused("it is not a database of grov-agentd".to_owned()));
    }
    schema::is_known(version)?;
    if faults != "ok" {
        return Err(refused(format!("it is damaged: {faults}")));
    }
    Ok(())
}

async fn check(connection: &mut AnyConnection) -> Result<(i64, i64, String), AgentStoreError> {
    let application = schema::pragma(connection, "PRAGMA application_id", "application_id").await?;
    let version = schema::sqlite_version(connection).await?;
    let row = connection
        .fetch_one(bound("PRAGMA integrity_check(1)".to_owned(), Vec::new()))
        .await
        .map_err(failed)?;
    Ok((application, version, row.get_as("integrity_check")?))
}

fn copy(from: &Path, fresh: &Path) -> std::io::Result<()> {
    files::remove_if_there(fresh)?;
    let mut target = create_new(fresh)?;
    std::io::copy(&mut File::open(from)?, &mut target)?;
    target.sync_all()
}

/// Puts the new database in the place of the old one in one step.
async fn replace(fresh: &Path, to: &Path) -> Result<(), AgentStoreError> {
    let failed = |error: std::io::Error| not_writable(to, &error);
    if to.is_file() {
        // Writes what is only in the log into the database. A damaged one is kept with its log.
        if let Ok(mut old) = sqlite_options(to, "rw")?.connect().await {
            let _ = old.execute("PRAGMA wal_checkpoint(TRUNCATE)").await;
            let _ = old.close().await;
        }
        let kept = with_suffix(to, REPLACED);
        for suffix in ["", "-wal"] {
            let (old, kept) = (with_suffix(to, suffix), with_suffix(&kept, suffix));
            files::remove_if_there(&kept).map_err(failed)?;
            if old.is_file() {
                std::fs::hard_link(&old, &kept).map_err(failed)?;
            }
        }
    }
    for suffix in ["-wal", "-shm"] {
        files::remove_if_there(&with_suffix(to, suffix)).map_err(failed)?;
    }
    std::fs::rename(fresh, to).map_err(failed)?;
    if let Some(folder) = to.parent() {
        File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map_err(failed)?;
    }
    Ok(())
}
