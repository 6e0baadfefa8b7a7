//! Switches, and the number that tells of changes.

use super::{BUMP_REVISION, REVISION};
use crate::sqlite::values::Columns;
use crate::sqlite::{SqliteStore, StoreError};
use grov_domain::{ClientSessionId, SwitchScope};

const PROJECT: &str = "project";
const SESSION: &str = "session";

impl SqliteStore {
    pub(super) async fn set_switch(&self, scope: &SwitchScope, on: bool) -> Result<(), StoreError> {
        let fault = |error| self.error(error);
        let (kind, key) = match scope {
            SwitchScope::Project(key) => (PROJECT, key.as_str()),
            SwitchScope::Session(session) => (SESSION, session.as_str()),
        };
        let mut writer = self.writer().await?;
        let statement = if on {
            "DELETE FROM switched_off WHERE kind = ?1 AND key = ?2"
        } else {
            "INSERT INTO switched_off (kind, key, at) VALUES (?1, ?2, CAST(unixepoch('subsec') * 1000 AS INTEGER)) \
             ON CONFLICT DO NOTHING"
        };
        let changed = sqlx::query(statement)
            .bind(kind)
            .bind(key)
            .execute(writer.connection()?)
            .await
            .map_err(fault)?
            .rows_affected();
        if changed == 0 {
            return writer.roll_back().await.map_err(fault);
        }
        sqlx::query(BUMP_REVISION)
            .execute(writer.connection()?)
            .await
            .map_err(fault)?;
        writer.commit().await.map_err(fault)
    }

    pub(super) async fn scopes_off(&self) -> Result<Vec<SwitchScope>, StoreError> {
        let query = sqlx::query("SELECT kind, key FROM switched_off ORDER BY kind, key");
        let rows = self.reader().await?.rows(self, query).await?;
        rows.iter()
            .map(|row| {
                let columns = Columns(row);
                let key: String = columns.get("key")?;
                Ok(match columns.get::<&str>("kind")? {
                    PROJECT => SwitchScope::Project(key),
                    _ => SwitchScope::Session(ClientSessionId::new(key)),
                })
            })
            .collect()
    }

    pub(super) async fn current_revision(&self) -> Result<i64, StoreError> {
        let query = sqlx::query(REVISION);
        let rows = self.reader().await?.rows(self, query).await?;
        rows.first().map_or(Ok(0), |row| Columns(row).get("number"))
    }
}
