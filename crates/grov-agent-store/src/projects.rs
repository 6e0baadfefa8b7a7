//! Projects and keys.

use crate::AgentDatabase;
use crate::column::Columns;
use crate::pages::Newest;
use crate::work::{Arg, args};
use async_trait::async_trait;
use grov_agent::{AgentStoreError, Key, KeyId, Listed, Page, Project, ProjectId, ProjectStore};
use grov_redact::Redacted;
use sqlx::any::AnyRow;
use time::OffsetDateTime;

/// What a project has much of, and how many rows of it are deleted at once: others can write between two transactions.
const DELETED_FIRST: [(&str, u32); 3] = [("documents", 20), ("threads", 100), ("memory_items", 500)];

#[async_trait]
impl ProjectStore for AgentDatabase {
    async fn create_project(&self, project: &Redacted<Project>) -> Result<(), AgentStoreError> {
        const INSERT: &str =
            "INSERT INTO projects (id, name, role_statement, created_at) VALUES ($1, $2, $3, $4)";
        let mut work = self.write().await?;
        work.run(
            INSERT,
            args![
                project.id,
                &project.name,
                &project.role_statement,
                project.created_at
            ],
        )
        .await?;
        work.commit().await
    }

    async fn project(&self, id: ProjectId) -> Result<Option<Project>, AgentStoreError> {
        let mut work = self.read().await?;
        let row = work
            .one("SELECT * FROM projects WHERE id = $1", args![id])
            .await?;
        row.map(|row| project(&row)).transpose()
    }

    async fn projects(&self, only: &[ProjectId], page: &Page) -> Result<Listed<Project>, AgentStoreError> {
        let page = Newest::of(page)?;
        let mut args = Vec::new();
        let condition = if only.is_empty() {
            "1 = 1".to_owned()
        } else {
            args.push(Arg::names(only));
            self.dialect.is_in("p.id", 1)
        };
        let clause = page.clause("p", &mut args);
        let select = format!("SELECT p.* FROM projects p WHERE {condition}{clause}");
        let rows = self.read().await?.all(select, args).await?;
        page.listed(&rows, project)
    }

    async fn change_project(
        &self,
        id: ProjectId,
        name: Option<&Redacted>,
        role_statement: Option<&Redacted>,
    ) -> Result<Project, AgentStoreError> {
        const UPDATE: &str = "UPDATE projects SET name = COALESCE($2, name), role_statement = COALESCE($3, role_statement) \
             WHERE id = $1 RETURNING *";
        let mut work = self.write().await?;
        let text = |text: Option<&Redacted>| Arg::from(text.map(|text| text.as_str()));
        let row = work
            .one(UPDATE, args![id, text(name), text(role_statement)])
            .await?;
        let row = row.ok_or(AgentStoreError::NotFound("project"))?;
        let project = project(&row)?;
        work.commit().await?;
        Ok(project)
    }

    async fn delete_project(&self, id: ProjectId) -> Result<bool, AgentStoreError> {
        for (table, most) in DELETED_FIRST {
            let delete = format!(
                "DELETE FROM {table} WHERE id IN (SELECT id FROM {table} WHERE project_id = $1 LIMIT {most})"
            );
            loop {
                let mut work = self.write().await?;
                let deleted = work.run(delete.as_str(), args![id]).await?;
                work.commit().await?;
                if deleted == 0 {
                    break;
                }
            }
        }
        let mut work = self.write().await?;
        let deleted = work.run("DELETE FROM projects WHERE id = $1", args![id]).await?;
        work.commit().await?;
        self.copy_soon().await;
        Ok(deleted > 0)
    }

    async fn create_key(&self, key: &Key, secret_hash: &[u8; 32]) -> Result<(), AgentStoreError> {
        const INSERT: &str = "INSERT INTO api_keys (id, name, role, projects, secret_hash, created_at, revoked_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING";
        let mut work = self.write().await?;
        let inserted = work
            .run(
                INSERT,
                args![
                    key.id,
                    &key.name,
                    key.role.as_str(),
                    Arg::names(&key.projects),
                    secret_hash,
                    key.created_at,
                    key.revoked_at
                ],
            )
            .await?;
        if inserted == 0 {
            return Err(AgentStoreError::Conflict(format!(
                "there is a key named {} already; revoke it or choose another name",
                key.name
            )));
        }
        work.commit().await
    }

    async fn keys(&self) -> Result<Vec<(Key, [u8; 32])>, AgentStoreError> {
        const SELECT: &str = "SELECT * FROM api_keys ORDER BY created_at, id";
        let rows = self.read().await?.all(SELECT, args![]).await?;
        rows.iter()
            .map(|row| Ok((key(row)?, row.get_as("secret_hash")?)))
            .collect()
    }

    async fn revoke_key(&self, name: &str, now: OffsetDateTime) -> Result<Option<KeyId>, AgentStoreError> {
        const REVOKE: &str =
            "UPDATE api_keys SET revoked_at = $2 WHERE name = $1 AND revoked_at IS NULL RETURNING id";
        let mut work = self.write().await?;
        let row = work.one(REVOKE, args![name, now]).await?;
        work.commit().await?;
        row.map(|row| row.get_as("id")).transpose()
    }
}

fn project(row: &AnyRow) -> Result<Project, AgentStoreError> {
    Ok(Project {
        id: row.get_as("id")?,
        name: row.get_as("name")?,
        role_statement: row.get_as("role_statement")?,
        created_at: row.get_as("created_at")?,
    })
}

fn key(row: &AnyRow) -> Result<Key, AgentStoreError> {
    Ok(Key {
        id: row.get_as("id")?,
        name: row.get_as("name")?,
        role: row.get_as("role")?,
        projects: row.json("projects")?,
        created_at: row.get_as("created_at")?,
        revoked_at: row.get_as("revoked_at")?,
    })
}
