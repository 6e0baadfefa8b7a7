//! Reading columns as the types of the domain.

use crate::error::failed;
use grov_agent::{
    AgentStoreError, Category, KeyRole, MemoryStatus, MemoryType, MessageRole, Risk, ToolCallStatus,
};
use serde::de::DeserializeOwned;
use sqlx::Row;
use sqlx::any::AnyRow;
use time::OffsetDateTime;

/// A type that is read from one column.
pub(crate) trait Column: Sized {
    fn read(row: &AnyRow, name: &str) -> Result<Self, AgentStoreError>;
}

/// Reads the columns of a row.
pub(crate) trait Columns {
    /// A column as a type.
    fn get_as<T: Column>(&self, name: &str) -> Result<T, AgentStoreError>;
    /// A column with JSON.
    fn json<T: DeserializeOwned>(&self, name: &str) -> Result<T, AgentStoreError>;
    /// A column with JSON or NULL.
    fn json_or_null<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, AgentStoreError>;
}

impl Columns for AnyRow {
    fn get_as<T: Column>(&self, name: &str) -> Result<T, AgentStoreError> {
        T::read(self, name)
    }

    fn json<T: DeserializeOwned>(&self, name: &str) -> Result<T, AgentStoreError> {
        parse(&String::read(self, name)?, name)
    }

    fn json_or_null<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, AgentStoreError> {
        Option::<String>::read(self, name)?
            .map(|text| parse(&text, name))
            .transpose()
    }
}

fn parse<T: DeserializeOwned>(text: &str, name: &str) -> Result<T, AgentStoreError> {
    serde_json::from_str(text).map_err(|error| unreadable(name, &error.to_string()))
}

fn unreadable(name: &str, why: &str) -> AgentStoreError {
    AgentStoreError::Other(format!(
        "the column {name} cannot be read: {why}; the database was changed by something else, or by a newer version"
    ))
}

macro_rules! plain {
    ($($type:ty),+) => {$(
        impl Column for $type {
            fn read(row: &AnyRow, name: &str) -> Result<Self, AgentStoreError> {
                row.try_get(name).map_err(failed)
            }
        }
    )+};
}
plain!(
    String,
    Option<String>,
    i64,
    Option<i64>,
    f64,
    Vec<u8>,
    Option<Vec<u8>>
);

macro_rules! number {
    ($($type:ty),+) => {$(
        impl Column for $type {
            fn read(row: &AnyRow, name: &str) -> Result<Self, AgentStoreError> {
                let number = i64::read(row, name)?;
                Self::try_from(number).map_err(|error| unreadable(name, &error.to_string()))
            }
        }
    )+};
}
number!(u16, u32, u64, usize);

impl Column for bool {
    fn read(row: &AnyRow, name: &str) -> Result<Self, AgentStoreError> {
        i64::read(row, name).map(|number| number != 0)
    }
}

impl Column for OffsetDateTime {
    fn read(row: &AnyRow, name: &str) -> Result<Self, AgentStoreError> {
        time_of(i64::read(row, name)?, name)
    }
}

impl Column for Option<OffsetDateTime> {
    fn read(row: &AnyRow, name: &str) -> Result<Self, AgentStoreError> {
        Option::<i64>::read(row, name)?
            .map(|micros| time_of(micros, name))
            .transpose()
    }
}

fn time_of(micros: i64, name: &str) -> Result<OffsetDateTime, AgentStoreError> {
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(micros) * 1_000)
        .map_err(|error| unreadable(name, &error.to_string()))
}

impl Column for [u8; 32] {
    fn read(row: &AnyRow, name: &str) -> Result<Self, AgentStoreError> {
        Vec::<u8>::read(row, name)?
            .try_into()
            .map_err(|_| unreadable(name, "it does not have 32 bytes"))
    }
}

macro_rules! ids {
    ($($id:ident),+) => {$(
        impl Column for grov_agent::$id {
            fn read(row: &AnyRow, name: &str) -> Result<Self, AgentStoreError> {
                String::read(row, name)?
                    .parse()
                    .map_err(|_| unreadable(name, "it is not a UUID"))
            }
        }

        impl Column for Option<grov_agent::$id> {
            fn read(row: &AnyRow, name: &str) -> Result<Self, AgentStoreError> {
                Option::<String>::read(row, name)?
                    .map(|text| text.parse().map_err(|_| unreadable(name, "it is not a UUID")))
                    .transpose()
            }
        }
    )+};
}
ids!(
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

macro_rules! names {
    ($($type:ty),+) => {$(
        impl Column for $type {
            fn read(row: &AnyRow, name: &str) -> Result<Self, AgentStoreError> {
                let text = String::read(row, name)?;
                Self::from_name(&text).ok_or_else(|| unreadable(name, &format!("{text:?} is unknown")))
            }
        }
    )+};
}
names!(
    Category,
    KeyRole,
    MemoryStatus,
    MemoryType,
    MessageRole,
    Risk,
    ToolCallStatus
);
