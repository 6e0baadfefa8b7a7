//! Documents and their chunks.

use crate::AgentDatabase;
use crate::chunk_changes::{self, Changes, PreparedWords};
use crate::column::Columns;
use crate::outbox;
use crate::pages::{InOrder, Newest};
use crate::work::{Work, args};
use async_trait::async_trait;
use grov_agent::{
    AgentStoreError, Category, Chunk, Document, DocumentId, DocumentStatus, DocumentStore, Listed,
    NewDocument, Page, ProjectId, ReplayOf, StoredDocument,
};
use sqlx::any::AnyRow;

/// The longest title. An index of PostgreSQL takes no longer one.
const MOST_TITLE_BYTES: usize = 1_000;

/// A document is ready if each chunk was embedded by the model in use, or if there is none.
const SELECT: &str = "SELECT d.*, CASE WHEN EXISTS ( \
     SELECT 1 FROM models m JOIN chunks c ON c.document_id = d.id JOIN entries e ON e.chunk_id = c.id \
     WHERE m.is_current = 1 AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.entry = e.number AND v.model = m.number) \
     ) THEN 1 ELSE 0 END AS is_embedding FROM documents d";

#[async_trait]
impl DocumentStore for AgentDatabase {
    async fn store_document_once(
        &self,
        new: &NewDocument,
        replay: ReplayOf<'_, StoredDocument>,
    ) -> Result<StoredDocument, AgentStoreError> {
        if new.title.len() > MOST_TITLE_BYTES {
            return Err(AgentStoreError::Conflict(format!(
                "the title has more than {MOST_TITLE_BYTES} bytes; give a shorter one"
            )));
        }
        // Most of the work is done before others have to wait for this transaction.
        let mut work = self.snapshot().await?;
        let before = find_by_title(&mut work, new).await?;
        if let Some(unchanged) = before.as_ref().and_then(|before| unchanged(before, new)) {
            return Ok(unchanged);
        }
        let words = chunk_changes::prepare_words(&mut work, before.map(|before| before.id), new).await?;
        drop(work);
        let mut work = self.write().await?;
        // Uploads of one title follow each other. SQLite has one writer.
        if let Some(lock) = self.dialect.pick(
            None,
            Some("SELECT pg_advisory_xact_lock(hashtextextended($1 || $2, 1))"),
        ) {
            work.run(lock, args![new.project, &**new.title]).await?;
        }
        let stored = store(&mut work, new, words).await?;
        outbox::keep_answer(&mut work, replay(&stored).as_ref(), new.now).await?;
        work.commit().await?;
        self.copy_soon().await;
        Ok(stored)
    }

    async fn document(
        &self,
        project: ProjectId,
        id: DocumentId,
    ) -> Result<Option<Document>, AgentStoreError> {
        find(&mut self.read().await?, project, id).await
    }

    async fn documents(&self, project: ProjectId, page: &Page) -> Result<Listed<Document>, AgentStoreError> {
        let page = Newest::of(page)?;
        let mut args = args![project];
        let clause = page.clause("d", &mut args);
        let select = format!("{SELECT} WHERE d.project_id = $1{clause}");
        let rows = self.read().await?.all(select, args).await?;
        page.listed(&rows, document)
    }

    async fn chunks(
        &self,
        project: ProjectId,
        id: DocumentId,
        page: &Page,
    ) -> Result<Listed<Chunk>, AgentStoreError> {
        const CHUNKS: &str = "SELECT c.* FROM chunks c JOIN documents d ON d.id = c.document_id \
             WHERE d.project_id = $1 AND d.id = $2 AND c.ordinal > $3 ORDER BY c.ordinal LIMIT $4";
        let page = InOrder::of(page)?;
        let values = args![project, id, page.after, page.limit + 1];
        let rows = self.read().await?.all(CHUNKS, values).await?;
        page.listed(&rows, chunk)
    }

    async fn delete_document(&self, project: ProjectId, id: DocumentId) -> Result<bool, AgentStoreError> {
        const DELETE: &str = "DELETE FROM documents WHERE project_id = $1 AND id = $2";
        let mut work = self.write().await?;
        let deleted = work.run(DELETE, args![project, id]).await?;
        work.commit().await?;
        self.copy_soon().await;
        Ok(deleted > 0)
    }

    async fn is_content_used(&self, sha256: &str) -> Result<bool, AgentStoreError> {
        const USED: &str = "SELECT 1 AS one FROM documents WHERE sha256 = $1 LIMIT 1";
        let row = self.read().await?.one(USED, args![sha256]).await?;
        Ok(row.is_some())
    }
}

async fn find(
    work: &mut Work,
    project: ProjectId,
    id: DocumentId,
) -> Result<Option<Document>, AgentStoreError> {
    let select = format!("{SELECT} WHERE d.project_id = $1 AND d.id = $2");
    let row = work.one(select, args![project, id]).await?;
    row.map(|row| document(&row)).transpose()
}

async fn find_by_title(work: &mut Work, new: &NewDocument) -> Result<Option<Document>, AgentStoreError> {
    let select = format!("{SELECT} WHERE d.project_id = $1 AND d.title = $2");
    let row = work.one(select, args![new.project, &**new.title]).await?;
    row.map(|row| document(&row)).transpose()
}

/// The answer if the content and the category are stored already.
fn unchanged(before: &Document, new: &NewDocument) -> Option<StoredDocument> {
    let is_same = before.sha256 == new.sha256 && before.category == new.category;
    is_same.then(|| StoredDocument {
        document: before.clone(),
        unchanged: true,
        kept: before.chunks,
    })
}

async fn store(
    work: &mut Work,
    new: &NewDocument,
    words: PreparedWords,
) -> Result<StoredDocument, AgentStoreError> {
    // Another upload may have come first.
    let before = find_by_title(work, new).await?;
    if let Some(unchanged) = before.as_ref().and_then(|before| unchanged(before, new)) {
        return Ok(unchanged);
    }
    let id = match &before {
        // On PostgreSQL it may be deleted at this moment; then the upload is a new document.
        Some(before) if update(work, before.id, new).await? => before.id,
        _ => insert(work, new).await?,
    };
    let changes = Changes::between(&chunk_changes::stored(work, id).await?, &new.chunks)?;
    let kept = changes.kept();
    chunk_changes::apply(work, id, new, changes, words).await?;
    if let Some(before) = before.filter(|before| before.category != new.category) {
        relabel(work, before.id, new.category).await?;
    }
    let document = find(work, new.project, id)
        .await?
        .ok_or(AgentStoreError::NotFound("document"))?;
    Ok(StoredDocument {
        document,
        unchanged: false,
        kept,
    })
}

async fn insert(work: &mut Work, new: &NewDocument) -> Result<DocumentId, AgentStoreError> {
    const INSERT: &str = "INSERT INTO documents (id, project_id, title, category, content_type, version, chunks, bytes, \
         sha256, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, 1, $6, $7, $8, $9, $9)";
    let id = DocumentId::fresh();
    work.run(
        INSERT,
        args![
            id,
            new.project,
            &**new.title,
            new.category.as_str(),
            &new.content_type,
            count(new),
            new.bytes,
            &new.sha256,
            new.now
        ],
    )
    .await?;
    Ok(id)
}

/// Returns whether the document is still there.
async fn update(work: &mut Work, id: DocumentId, new: &NewDocument) -> Result<bool, AgentStoreError> {
    const UPDATE: &str = "UPDATE documents SET category = $2, content_type = $3, version = version + 1, chunks = $4, \
         bytes = $5, sha256 = $6, updated_at = $7 WHERE id = $1";
    let updated = work
        .run(
            UPDATE,
            args![
                id,
                new.category.as_str(),
                &new.content_type,
                count(new),
                new.bytes,
                &new.sha256,
                new.now
            ],
        )
        .await?;
    Ok(updated > 0)
}

fn count(new: &NewDocument) -> u64 {
    u64::try_from(new.chunks.len()).unwrap_or(u64::MAX)
}

/// Gives the entries and embeddings of kept chunks the new category.
async fn relabel(work: &mut Work, id: DocumentId, category: Category) -> Result<(), AgentStoreError> {
    const ENTRIES: &str = "UPDATE entries SET label = $2 WHERE chunk_id IN (SELECT c.id FROM chunks c WHERE c.document_id = $1)";
    const VECTORS: &str = "UPDATE vectors SET label = $2 WHERE entry IN (SELECT e.number FROM entries e \
         JOIN chunks c ON c.id = e.chunk_id WHERE c.document_id = $1)";
    work.run(ENTRIES, args![id, category.as_str()]).await?;
    work.run(VECTORS, args![id, category.as_str()]).await?;
    Ok(())
}

fn document(row: &AnyRow) -> Result<Document, AgentStoreError> {
    let is_embedding: bool = row.get_as("is_embedding")?;
    Ok(Document {
        id: row.get_as("id")?,
        project_id: row.get_as("project_id")?,
        title: row.get_as("title")?,
        category: row.get_as("category")?,
        content_type: row.get_as("content_type")?,
        version: row.get_as("version")?,
        chunks: row.get_as("chunks")?,
        bytes: row.get_as("bytes")?,
        sha256: row.get_as("sha256")?,
        status: if is_embedding {
            DocumentStatus::Embedding
        } else {
            DocumentStatus::Ready
        },
        created_at: row.get_as("created_at")?,
        updated_at: row.get_as("updated_at")?,
    })
}

fn chunk(row: &AnyRow) -> Result<Chunk, AgentStoreError> {
    Ok(Chunk {
        id: row.get_as("id")?,
        document_id: row.get_as("document_id")?,
        ordinal: row.get_as("ordinal")?,
        heading_path: row.json("heading_path")?,
        text: row.get_as("text")?,
        range: row.get_as("range_start")?..row.get_as("range_end")?,
    })
}
