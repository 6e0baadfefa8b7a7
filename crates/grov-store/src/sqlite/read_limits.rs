//! What a model read in prompts.

use super::columns::{FromColumn, RowExt, ToColumn, Values, params};
use super::{SqliteStore, StoreError};
use async_trait::async_trait;
use grov_domain::{ClientSessionId, LimitStore, PromptReading, ReadLimits, Redacted};
use sqlx::Decode;
use sqlx::error::BoxDynError;
use sqlx::sqlite::{Sqlite, SqliteValueRef};

/// A reading as JSON.
struct Reading(PromptReading);

impl ToColumn for Reading {
    fn add_to(&self, values: &mut Values) {
        // Texts alone always serialize.
        serde_json::to_string(&self.0).unwrap_or_default().add_to(values);
    }
}

impl FromColumn for Reading {
    fn from_value(value: SqliteValueRef<'_>) -> Result<Self, BoxDynError> {
        let text = <&str as Decode<'_, Sqlite>>::decode(value)?;
        // Before 0.15 the column held only the list of limits.
        if text.trim_start().starts_with('[') {
            let limits = serde_json::from_str(text)?;
            let asked = Vec::new();
            return Ok(Self(PromptReading { limits, asked }));
        }
        Ok(Self(serde_json::from_str(text)?))
    }
}

#[async_trait]
impl LimitStore for SqliteStore {
    async fn save_read_limits(&self, read: &Redacted<ReadLimits>) -> Result<(), StoreError> {
        let sql = "INSERT INTO read_limits (client_session_id, read_to, limits, read_at) VALUES (?, ?, ?, ?) \
             ON CONFLICT (client_session_id) DO UPDATE SET read_to = excluded.read_to, limits = excluded.limits, \
             read_at = excluded.read_at";
        let limits = Reading(read.reading.clone());
        let values = params![read.client_session_id, read.read_to, limits, read.read_at];
        self.execute(sql, values).await.map(drop)
    }

    async fn read_limits(&self, session: &ClientSessionId) -> Result<Option<ReadLimits>, StoreError> {
        let sql = "SELECT * FROM read_limits WHERE client_session_id = ?";
        let rows = self.read(sql, params![session], |row| {
            Ok(ReadLimits {
                client_session_id: row.read("client_session_id")?,
                read_to: row.read("read_to")?,
                reading: row.read::<Reading>("limits")?.0,
                read_at: row.read("read_at")?,
            })
        });
        Ok(rows.await?.pop())
    }
}
