//! Bounded reads and atomic writes of files in a plan directory.

use crate::PlanError;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Mode of new files: prompts are private.
const PRIVATE: u32 = 0o600;

/// What stands at a path, without following a symbolic link; `None` if there is nothing.
pub(crate) fn status(path: &Path) -> Result<Option<Metadata>, PlanError> {
    match std::fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(PlanError::io(path, "read")(error)),
    }
}

/// The text of a regular file of at most `limit` bytes; `None` if there is none.
pub(crate) fn read_text(path: &Path, limit: u64) -> Result<Option<String>, PlanError> {
    let Some((bytes, length)) = read_beginning(path, limit)? else {
        return Ok(None);
    };
    if length > limit {
        return Err(PlanError::TooLong {
            path: path.to_owned(),
            limit,
        });
    }
    let text = String::from_utf8(bytes).map_err(|_| PlanError::NotText {
        path: path.to_owned(),
    })?;
    Ok(Some(text))
}

/// The first `limit` bytes of a regular file, and its length; `None` if there is none.
pub(crate) fn read_beginning(path: &Path, limit: u64) -> Result<Option<(Vec<u8>, u64)>, PlanError> {
    // Checked before opening, because opening a pipe blocks until it has a writer.
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(PlanError::io(path, "read")(error)),
    };
    if !metadata.is_file() {
        return Err(PlanError::WrongKind {
            path: path.to_owned(),
            wanted: "regular file",
        });
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(limit).read_to_end(&mut bytes))
        .map_err(PlanError::io(path, "read"))?;
    Ok(Some((bytes, metadata.len())))
}

/// Replaces or creates a file in one step. The mode of an existing file is kept, and a read-only file is not replaced.
pub(crate) fn replace(path: &Path, content: &[u8]) -> Result<(), PlanError> {
    replace_with_mode(path, content, PRIVATE)
}

/// Like [`replace`], with the mode of a new file.
pub(crate) fn replace_with_mode(path: &Path, content: &[u8], new_mode: u32) -> Result<(), PlanError> {
    let failed = || PlanError::io(path, "written");
    let mode = match std::fs::metadata(path) {
        Ok(metadata) if metadata.permissions().readonly() => {
            return Err(failed()(ErrorKind::PermissionDenied.into()));
        }
        Ok(metadata) => metadata.permissions().mode() & 0o7777,
        Err(error) if error.kind() == ErrorKind::NotFound => new_mode,
        Err(error) => return Err(failed()(error)),
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut new = tempfile::Builder::new()
        .prefix(".grov-")
        .tempfile_in(folder)
        .map_err(failed())?;
    new.write_all(content).map_err(failed())?;
    new.as_file()
        .set_permissions(PermissionsExt::from_mode(mode))
        .map_err(failed())?;
    new.persist(path).map_err(|error| failed()(error.error))?;
    Ok(())
}

/// Creates a file with this content unless something is there already. Returns whether it was created.
pub(crate) fn create(path: &Path, content: &[u8]) -> Result<bool, PlanError> {
    let created = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(PRIVATE)
        .open(path);
    match created {
        Ok(mut file) => {
            file.write_all(content).map_err(PlanError::io(path, "written"))?;
            Ok(true)
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(PlanError::io(path, "created")(error)),
    }
}

/// Opens a file to append to it, and creates it if needed. Returns its length too.
///
/// # Errors
/// It is no regular file, also if it is a symbolic link.
pub(crate) fn open_to_append(path: &Path) -> Result<(File, u64), PlanError> {
    if status(path)?.is_some_and(|metadata| !metadata.is_file()) {
        return Err(PlanError::WrongKind {
            path: path.to_owned(),
            wanted: "regular file",
        });
    }
    let file = OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .mode(PRIVATE)
        .open(path)
        .map_err(PlanError::io(path, "written"))?;
    let length = file.metadata().map_err(PlanError::io(path, "read"))?.len();
    Ok((file, length))
}
