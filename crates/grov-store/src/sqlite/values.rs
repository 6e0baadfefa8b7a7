//! Between domain values and columns.

use grov_domain::StoreError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::sqlite::{Sqlite, SqliteRow};
use sqlx::{Decode, Row, Type};
use time::OffsetDateTime;

/// A time as stored: Unix milliseconds, rounded down.
pub(super) fn millis(time: OffsetDateTime) -> i64 {
    saturate_signed(time.unix_timestamp_nanos().div_euclid(1_000_000))
}

/// A length of time in milliseconds.
pub(super) fn duration_millis(duration: std::time::Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

fn saturate_signed(value: i128) -> i64 {
    i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX })
}

/// A count as stored.
pub(super) fn integer(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// A list as stored: JSON, nothing when it is empty.
pub(super) fn list<T: Serialize>(list: &[T]) -> Result<Option<String>, StoreError> {
    if list.is_empty() {
        return Ok(None);
    }
    serde_json::to_string(list)
        .map(Some)
        .map_err(|error| StoreError::Other(format!("cannot write a list: {error}")))
}

/// The same inside a transaction, where all faults are those of the database.
pub(super) fn list_value<T: Serialize>(values: &[T]) -> Result<Option<String>, sqlx::Error> {
    list(values).map_err(|error| sqlx::Error::Encode(error.into()))
}

/// One row of a result. What does not decode is damage, since only this crate writes these columns.
pub(super) struct Columns<'a>(pub(super) &'a SqliteRow);

impl<'a> Columns<'a> {
    pub(super) fn get<T: Decode<'a, Sqlite> + Type<Sqlite>>(
        &self,
        column: &'static str,
    ) -> Result<T, StoreError> {
        self.0.try_get(column).map_err(|error| damaged(column, &error))
    }

    pub(super) fn time(&self, column: &'static str) -> Result<OffsetDateTime, StoreError> {
        time(column, self.get(column)?)
    }

    pub(super) fn optional_time(&self, column: &'static str) -> Result<Option<OffsetDateTime>, StoreError> {
        self.get::<Option<i64>>(column)?
            .map(|millis| time(column, millis))
            .transpose()
    }

    pub(super) fn flag(&self, column: &'static str) -> Result<bool, StoreError> {
        Ok(self.get::<i64>(column)? != 0)
    }

    pub(super) fn count(&self, column: &'static str) -> Result<u64, StoreError> {
        Ok(u64::try_from(self.get::<i64>(column)?).unwrap_or(0))
    }

    pub(super) fn small<T: TryFrom<i64>>(&self, column: &'static str) -> Result<Option<T>, StoreError> {
        Ok(self
            .get::<Option<i64>>(column)?
            .and_then(|value| T::try_from(value).ok()))
    }

    pub(super) fn list<T: DeserializeOwned>(&self, column: &'static str) -> Result<Vec<T>, StoreError> {
        match self.get::<Option<&str>>(column)? {
            Some(text) => serde_json::from_str(text).map_err(|error| damaged(column, &error)),
            None => Ok(Vec::new()),
        }
    }

    /// A value stored under a name.
    pub(super) fn named<T>(
        &self,
        column: &'static str,
        parse: fn(&str) -> Option<T>,
    ) -> Result<T, StoreError> {
        let name: &str = self.get(column)?;
        parse(name).ok_or_else(|| damaged(column, &format_args!("unknown name {name:?}")))
    }
}

pub(super) fn time(column: &'static str, millis: i64) -> Result<OffsetDateTime, StoreError> {
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(millis) * 1_000_000)
        .map_err(|error| damaged(column, &error))
}

pub(super) fn damaged(column: &'static str, error: &dyn std::fmt::Display) -> StoreError {
    StoreError::Other(format!(
        "column {column} holds what no version of Grov writes: {error}"
    ))
}
