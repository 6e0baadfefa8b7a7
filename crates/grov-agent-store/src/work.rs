//! A connection with or without a transaction, and the values that statements take.

use crate::dialect::Dialect;
use crate::error::failed;
use grov_agent::AgentStoreError;
use serde::Serialize;
use sqlx::any::AnyRow;
use sqlx::pool::PoolConnection;
use sqlx::query::Query;
use sqlx::{Any, AnyConnection, AssertSqlSafe, Transaction};
use std::borrow::Cow;
use time::OffsetDateTime;

/// A value of a statement.
#[derive(Clone, Debug)]
pub(crate) enum Arg {
    Text(Option<String>),
    Int(Option<i64>),
    Bytes(Option<Vec<u8>>),
}

impl Arg {
    /// A value as JSON.
    pub(crate) fn json<T: Serialize + ?Sized>(value: &T) -> Result<Self, AgentStoreError> {
        json_of(value).map(|json| Self::Text(Some(json)))
    }

    /// A value as JSON, or nothing.
    pub(crate) fn json_or_null<T: Serialize>(value: Option<&T>) -> Result<Self, AgentStoreError> {
        value.map(json_of).transpose().map(Self::Text)
    }

    /// The names of values as a JSON array, for [`Dialect::is_in`].
    pub(crate) fn names<T: ToString>(values: &[T]) -> Self {
        let names: Vec<String> = values.iter().map(ToString::to_string).collect();
        Self::Text(Some(serde_json::Value::from(names).to_string()))
    }
}

/// Writes a value as JSON.
pub(crate) fn json_of<T: Serialize + ?Sized>(value: &T) -> Result<String, AgentStoreError> {
    serde_json::to_string(value)
        .map_err(|error| AgentStoreError::Other(format!("a value cannot be written as JSON: {error}")))
}

/// Replaces NUL, which PostgreSQL refuses in text.
pub(crate) fn without_nul(text: &str) -> Cow<'_, str> {
    if text.contains('\0') {
        Cow::Owned(text.replace('\0', "\u{fffd}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Microseconds since 1970.
pub(crate) fn micros(time: OffsetDateTime) -> i64 {
    i64::try_from(time.unix_timestamp_nanos() / 1_000).unwrap_or(i64::MAX)
}

impl From<&str> for Arg {
    fn from(text: &str) -> Self {
        Self::Text(Some(without_nul(text).into_owned()))
    }
}

impl From<&String> for Arg {
    fn from(text: &String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<String> for Arg {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<Option<&str>> for Arg {
    fn from(text: Option<&str>) -> Self {
        Self::Text(text.map(|text| without_nul(text).into_owned()))
    }
}

impl From<i64> for Arg {
    fn from(number: i64) -> Self {
        Self::Int(Some(number))
    }
}

impl From<u32> for Arg {
    fn from(number: u32) -> Self {
        Self::Int(Some(i64::from(number)))
    }
}

impl From<u64> for Arg {
    fn from(number: u64) -> Self {
        Self::Int(Some(i64::try_from(number).unwrap_or(i64::MAX)))
    }
}

impl From<bool> for Arg {
    fn from(value: bool) -> Self {
        Self::Int(Some(i64::from(value)))
    }
}

impl From<OffsetDateTime> for Arg {
    fn from(time: OffsetDateTime) -> Self {
        Self::Int(Some(micros(time)))
    }
}

impl From<Option<OffsetDateTime>> for Arg {
    fn from(time: Option<OffsetDateTime>) -> Self {
        Self::Int(time.map(micros))
    }
}

impl From<&[u8]> for Arg {
    fn from(bytes: &[u8]) -> Self {
        Self::Bytes(Some(bytes.to_vec()))
    }
}

impl<const N: usize> From<&[u8; N]> for Arg {
    fn from(bytes: &[u8; N]) -> Self {
        Self::Bytes(Some(bytes.to_vec()))
    }
}

macro_rules! id_args {
    ($($id:ident),+) => {$(
        impl From<grov_agent::$id> for Arg {
            fn from(id: grov_agent::$id) -> Self {
                Self::Text(Some(id.to_string()))
            }
        }

        impl From<Option<grov_agent::$id>> for Arg {
            fn from(id: Option<grov_agent::$id>) -> Self {
                Self::Text(id.map(|id| id.to_string()))
            }
        }
    )+};
}
id_args!(
    ProjectId,
    DocumentId,
    ChunkId,
    ThreadId,
    MessageId,
    ToolCallId,
    MemoryItemId,
    KeyId,
    EventId
);

/// Lists the values of a statement.
macro_rules! args {
    () => { Vec::<$crate::work::Arg>::new() };
    ($($value:expr),* $(,)?) => {
        vec![$($crate::work::Arg::from($value)),*]
    };
}
pub(crate) use args;

enum Link {
    Plain(PoolConnection<Any>),
    Transaction(Transaction<'static, Any>),
}

/// A connection on which statements run. If it is a transaction, dropping it undoes what was done.
pub(crate) struct Work {
    link: Link,
    pub(crate) dialect: Dialect,
}

impl Work {
    pub(crate) fn plain(connection: PoolConnection<Any>, dialect: Dialect) -> Self {
        Self {
            link: Link::Plain(connection),
            dialect,
        }
    }

    pub(crate) fn transaction(transaction: Transaction<'static, Any>, dialect: Dialect) -> Self {
        Self {
            link: Link::Transaction(transaction),
            dialect,
        }
    }

    pub(crate) fn connection(&mut self) -> &mut AnyConnection {
        match &mut self.link {
            Link::Plain(connection) => connection,
            Link::Transaction(transaction) => transaction,
        }
    }

    /// Makes what was done permanent.
    pub(crate) async fn commit(self) -> Result<(), AgentStoreError> {
        match self.link {
            Link::Plain(_) => Ok(()),
            Link::Transaction(transaction) => transaction.commit().await.map_err(failed),
        }
    }

    /// Runs a statement. Returns the number of rows that it changed.
    ///
    /// The text of a statement is made of constants of this crate and of numbers, never of input.
    pub(crate) async fn run(
        &mut self,
        sql: impl Into<String>,
        args: Vec<Arg>,
    ) -> Result<u64, AgentStoreError> {
        let query = bound(sql.into(), args);
        let done = query.execute(self.connection()).await.map_err(failed)?;
        Ok(done.rows_affected())
    }

    /// Returns the rows of a statement; see [`Work::run`].
    pub(crate) async fn all(
        &mut self,
        sql: impl Into<String>,
        args: Vec<Arg>,
    ) -> Result<Vec<AnyRow>, AgentStoreError> {
        let query = bound(sql.into(), args);
        query.fetch_all(self.connection()).await.map_err(failed)
    }

    /// Returns the first row of a statement; see [`Work::run`].
    pub(crate) async fn one(
        &mut self,
        sql: impl Into<String>,
        args: Vec<Arg>,
    ) -> Result<Option<AnyRow>, AgentStoreError> {
        let query = bound(sql.into(), args);
        query.fetch_optional(self.connection()).await.map_err(failed)
    }
}

/// A statement with its values.
pub(crate) fn bound(sql: String, args: Vec<Arg>) -> Query<'static, Any, sqlx::any::AnyArguments> {
    args.into_iter()
        .fold(sqlx::query(AssertSqlSafe(sql)), |query, arg| match arg {
            Arg::Text(text) => query.bind(text),
            Arg::Int(number) => query.bind(number),
            Arg::Bytes(bytes) => query.bind(bytes),
        })
}
