//! Maps SQLite errors to store errors.

use grov_domain::StoreError;
use std::path::Path;

/// Primary result codes (the low byte of an extended code), from <https://sqlite.org/rescode.html>.
const PERM: i32 = 3;
const BUSY: i32 = 5;
const LOCKED: i32 = 6;
const READONLY: i32 = 8;
const IOERR: i32 = 10;
const CORRUPT: i32 = 11;
const FULL: i32 = 13;
const CANTOPEN: i32 = 14;
const NOTADB: i32 = 26;
/// A page is missing: the file was truncated.
const IOERR_SHORT_READ: i32 = 522;

/// A transaction was written to a file that is no longer the database.
#[derive(Debug, thiserror::Error)]
#[error("the database was moved or replaced during the write, so the data is not in it; write it again")]
pub(super) struct Replaced;

impl From<Replaced> for sqlx::Error {
    fn from(replaced: Replaced) -> Self {
        Self::Io(std::io::Error::other(replaced))
    }
}

/// Returns the error with the path and a hint.
pub(super) fn store_error(path: &Path, error: sqlx::Error) -> StoreError {
    let place = path.display();
    let code = match &error {
        sqlx::Error::Database(database) => database.code().and_then(|code| code.parse::<i32>().ok()),
        sqlx::Error::Io(io) if io.get_ref().is_some_and(|inner| inner.is::<Replaced>()) => {
            return StoreError::NotWritable(format!("{place}: {io}"));
        }
        sqlx::Error::Io(_) => {
            return StoreError::NotWritable(format!(
                "{place}: {error}; check that the directory exists and belongs to you"
            ));
        }
        _ => None,
    };
    let Some(code) = code else {
        return StoreError::Other(format!("{place}: {error}"));
    };
    match (code, code & 0xff) {
        (IOERR_SHORT_READ, _) => StoreError::Corrupt(format!(
            "{place}: {error}; the database or its write-ahead log was truncated or deleted while in use; a running grov-proxyd repairs it"
        )),
        (_, CORRUPT | NOTADB) => StoreError::Corrupt(format!(
            "{place}: {error}; move it away (do not delete it) to start a new one"
        )),
        (_, BUSY | LOCKED) => {
            StoreError::Busy(format!("{place}: {error}; another process is writing; try again"))
        }
        (_, FULL) => StoreError::NotWritable(format!("{place}: {error}; free some space")),
        (_, READONLY | PERM | CANTOPEN | IOERR) => StoreError::NotWritable(format!(
            "{place}: {error}; check the permissions of the file and its directory"
        )),
        _ => StoreError::Other(format!("{place}: {error}")),
    }
}
