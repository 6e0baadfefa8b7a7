//! Maps the errors of a database to those of the port.

use grov_agent::AgentStoreError;
use sqlx::error::{DatabaseError, ErrorKind};
use std::io::ErrorKind as ErrorKindIo;

/// Primary result codes of SQLite (the low byte of an extended code), from <https://sqlite.org/rescode.html>.
mod sqlite {
    pub(super) const PERM: i32 = 3;
    pub(super) const BUSY: i32 = 5;
    pub(super) const LOCKED: i32 = 6;
    pub(super) const READONLY: i32 = 8;
    pub(super) const IOERR: i32 = 10;
    pub(super) const FULL: i32 = 13;
    pub(super) const CANTOPEN: i32 = 14;
}

/// The length of a code of PostgreSQL; those of SQLite are shorter.
const SQLSTATE_LENGTH: usize = 5;

/// Turns an error of the driver into one of the port.
pub(crate) fn failed(error: sqlx::Error) -> AgentStoreError {
    match &error {
        sqlx::Error::Database(database) => of_database(database.as_ref()),
        sqlx::Error::PoolTimedOut => AgentStoreError::Unavailable(
            "no connection became free in time: the server does not answer, or the pool is too small"
                .to_owned(),
        ),
        sqlx::Error::PoolClosed | sqlx::Error::WorkerCrashed => {
            AgentStoreError::Unavailable(format!("{error}; the service is stopping"))
        }
        sqlx::Error::Io(io)
            if matches!(io.kind(), ErrorKindIo::ConnectionRefused | ErrorKindIo::NotFound) =>
        {
            AgentStoreError::Unavailable(format!("no server accepts connections there: {io}"))
        }
        sqlx::Error::Io(_) | sqlx::Error::Protocol(_) => {
            AgentStoreError::Unavailable(format!("the connection was lost: {error}"))
        }
        sqlx::Error::Tls(_) => AgentStoreError::Unavailable(format!(
            "no encrypted connection: {error}; check `sslmode` in DATABASE_URL and the server's certificate"
        )),
        _ => AgentStoreError::Other(error.to_string()),
    }
}

fn of_database(error: &dyn DatabaseError) -> AgentStoreError {
    let message = error.message().to_owned();
    match error.kind() {
        // Every foreign key of the schema leads to something that the caller named.
        ErrorKind::ForeignKeyViolation => {
            return AgentStoreError::NotFound("project, or it was deleted meanwhile");
        }
        ErrorKind::UniqueViolation => {
            tracing::debug!(message, "a value that has to be unique exists already");
            return AgentStoreError::Conflict(
                "what was to be stored exists already; nothing was changed".to_owned(),
            );
        }
        _ => {}
    }
    let code = error.code().unwrap_or_default();
    if code.len() == SQLSTATE_LENGTH {
        return of_postgres(&code, message);
    }
    match code.parse::<i32>().unwrap_or_default() & 0xff {
        sqlite::BUSY | sqlite::LOCKED => {
            AgentStoreError::Unavailable(format!("{message}; another process is writing"))
        }
        sqlite::FULL => AgentStoreError::NotWritable(format!("{message}; free some space")),
        sqlite::READONLY | sqlite::PERM | sqlite::CANTOPEN | sqlite::IOERR => AgentStoreError::NotWritable(
            format!("{message}; check the permissions of the file and its directory, and the disk"),
        ),
        _ => AgentStoreError::Other(message),
    }
}

/// Codes from <https://www.postgresql.org/docs/current/errcodes-appendix.html>.
fn of_postgres(code: &str, message: String) -> AgentStoreError {
    match code {
        // Connection lost; shutdown, crash, start; too many connections; a lock that was not to be had; deadlock.
        "57P01" | "57P02" | "57P03" | "53300" | "55P03" | "40001" | "40P01" | "25P03" => {
            AgentStoreError::Unavailable(message)
        }
        "53100" => AgentStoreError::NotWritable(format!("{message}; free some space on the database server")),
        "25006" => AgentStoreError::NotWritable(format!(
            "{message}; DATABASE_URL leads to a server that only reads, such as a standby"
        )),
        "42501" => {
            AgentStoreError::NotWritable(format!("{message}; grant the role of DATABASE_URL what it needs"))
        }
        _ if code.starts_with("08") => AgentStoreError::Unavailable(message),
        _ => AgentStoreError::Other(format!("{message} (SQLSTATE {code})")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sqlx::Connection;

    /// Runs statements of which the last one fails.
    async fn failure(sql: &'static str) -> AgentStoreError {
        sqlx::any::install_default_drivers();
        let mut connection = sqlx::AnyConnection::connect("sqlite::memory:").await.unwrap();
        let outcome = sqlx::raw_sql(sql).execute(&mut connection).await;
        failed(outcome.unwrap_err())
    }

    #[tokio::test]
    async fn errors_of_sqlite_say_what_to_do() {
        let full = "PRAGMA max_page_count = 5; CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(100000))";
        let full = failure(full).await;
        assert!(matches!(full, AgentStoreError::NotWritable(_)), "{full:?}");
        let read_only = failure("CREATE TABLE t (x); PRAGMA query_only = 1; INSERT INTO t VALUES (1)").await;
        assert!(
            matches!(read_only, AgentStoreError::NotWritable(_)),
            "{read_only:?}"
        );
        let twice = failure("CREATE TABLE t (x PRIMARY KEY); INSERT INTO t VALUES (1), (1)").await;
        assert!(matches!(twice, AgentStoreError::Conflict(_)), "{twice:?}");
        assert!(
            !twice.to_string().contains("UNIQUE"),
            "words of the driver: {twice}"
        );
        let wrong = failure("SELECT nothing").await;
        assert!(matches!(wrong, AgentStoreError::Other(_)), "{wrong:?}");
    }

    #[test]
    fn codes_of_postgresql_say_whether_to_try_again() {
        let kind = |code| of_postgres(code, String::new());
        for code in ["57P01", "57P03", "53300", "40P01", "08006"] {
            assert!(matches!(kind(code), AgentStoreError::Unavailable(_)), "{code}");
        }
        for code in ["53100", "25006", "42501"] {
            assert!(matches!(kind(code), AgentStoreError::NotWritable(_)), "{code}");
        }
        assert!(matches!(kind("42P01"), AgentStoreError::Other(_)));
    }
}
