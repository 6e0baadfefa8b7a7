//! Documents and their chunks.

use crate::caller::Caller;
use crate::extract::{Checks, Ids, Json, Listing, PageParameters, Parameters, media_type};
use crate::gate::{AlreadyStored, BodyMemory};
use crate::once::Once;
use crate::problem::{Problem, ProblemBody};
use crate::service::Service;
use axum::extract::multipart::MultipartError;
use axum::extract::{FromRequest, Multipart, Request, State};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json as Answer};
use grov_agent::{
    Category, Chunk, Document, DocumentId, DocumentStatus, KeyRole, MAX_TITLE_BYTES, Prepared, ProjectId,
    StoredDocument, Upload,
};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::time::Duration;
use utoipa::ToSchema;

/// The longest media type in bytes.
const MAX_CONTENT_TYPE: usize = 200;

/// A document as JSON.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct NewDocument {
    /// Identifies the document in its project: the same title again is a new version.
    title: String,
    /// `FACTS`, `RULES` or `STATE`.
    #[schema(value_type = Category)]
    category: String,
    /// The text.
    content: String,
    /// Its media type; `text/markdown` if not given and the title has no known ending.
    content_type: Option<String>,
}

/// A document as a form with a file.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes the form; the fields are read one by one")]
pub(crate) struct DocumentForm {
    /// Markdown, text, HTML, source code, or PDF with a text layer.
    #[schema(value_type = String, format = Binary)]
    file: Vec<u8>,
    /// `FACTS`, `RULES` or `STATE`.
    category: Category,
    /// The file's name if not given.
    title: Option<String>,
}

/// A stored document.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UploadAnswer {
    id: DocumentId,
    title: String,
    category: Category,
    /// Counts from 1.
    version: u32,
    /// Number of chunks.
    chunks: u32,
    /// SHA-256 of what is kept: the text with secrets masked, the text as Markdown for HTML, the file itself for a PDF without secrets.
    sha256: String,
    status: DocumentStatus,
    /// Whether the same content was stored already, so that nothing changed.
    unchanged: bool,
}

impl UploadAnswer {
    fn of(stored: StoredDocument) -> Self {
        let StoredDocument {
            document,
            unchanged,
            kept: _,
        } = stored;
        Self {
            id: document.id,
            title: document.title,
            category: document.category,
            version: document.version,
            chunks: document.chunks,
            sha256: document.sha256,
            status: document.status,
            unchanged,
        }
    }
}

/// The parts of an upload as the client wrote them.
#[derive(Default)]
struct Parts {
    title: Option<String>,
    category: Option<String>,
    content_type: Option<String>,
    file_name: Option<String>,
    bytes: Option<Vec<u8>>,
}

impl Parts {
    async fn read(request: Request, service: &Service) -> Result<Self, Problem> {
        if media_type(request.headers()) == "multipart/form-data" {
            return Self::of_form(request, service).await;
        }
        let Json(new) = Json::<NewDocument>::from_request(request, service).await?;
        Ok(Self {
            title: Some(new.title),
            category: Some(new.category),
            content_type: new.content_type,
            file_name: None,
            bytes: Some(new.content.into_bytes()),
        })
    }

    async fn of_form(request: Request, service: &Service) -> Result<Self, Problem> {
        let broken = |error: MultipartError| Problem::invalid("", error.body_text());
        let mut form = Multipart::from_request(request, service)
            .await
            .map_err(|rejection| Problem::invalid("", rejection.body_text()))?;
        let mut parts = Self::default();
        while let Some(field) = form.next_field().await.map_err(broken)? {
            match field.name().unwrap_or_default() {
                "file" => {
                    parts.file_name = field.file_name().map(str::to_owned);
                    parts.content_type = field.content_type().map(str::to_owned);
                    parts.bytes = Some(field.bytes().await.map_err(broken)?.into());
                }
                "title" => parts.title = Some(field.text().await.map_err(broken)?),
                "category" => parts.category = Some(field.text().await.map_err(broken)?),
                // Other fields may mean something to the client.
                _ => drop(field.bytes().await.map_err(broken)?),
            }
        }
        Ok(parts)
    }

    /// Checks the parts. The name of a file is only text: what is kept has the name of its hash.
    fn upload(self, project: ProjectId) -> Result<Upload, Problem> {
        let mut checks = Checks::default();
        let named = self.title.filter(|title| !title.trim().is_empty());
        let path = match (&named, &self.file_name) {
            (None, Some(_)) => "/file",
            _ => "/title",
        };
        let title = named.or_else(|| self.file_name.clone()).unwrap_or_default();
        checks.text(path, title.trim(), MAX_TITLE_BYTES);
        checks.optional_text(
            "/content_type",
            self.content_type.as_deref().unwrap_or_default(),
            MAX_CONTENT_TYPE,
        );
        let category = self
            .category
            .as_deref()
            .map(str::trim)
            .and_then(Category::from_name);
        if category.is_none() {
            checks.add("/category", "has to be FACTS, RULES or STATE");
        }
        if self.bytes.is_none() {
            checks.add("/file", "is missing");
        }
        checks.done()?;
        let (Some(category), Some(bytes)) = (category, self.bytes) else {
            return Err(Problem::invalid("", "is not complete"));
        };
        Ok(Upload {
            project,
            title: title.trim().to_owned(),
            category,
            content_type: self.content_type,
            file_name: self.file_name,
            bytes,
        })
    }
}

/// Stores a document, or a new version of the document with the same title. Needs the role agent.
#[utoipa::path(
    post, path = "/projects/{project}/docs", tag = "documents", params(("project" = ProjectId, Path)),
    request_body(content(
        (NewDocument = "application/json"),
        (DocumentForm = "multipart/form-data")
    )),
    responses(
        (status = 201, body = UploadAnswer), (status = 404, body = ProblemBody), (status = 413, body = ProblemBody),
        (status = 415, body = ProblemBody), (status = 422, body = ProblemBody)
    )
)]
pub(crate) async fn upload(
    State(service): State<Service>,
    caller: Caller,
    Ids(project): Ids<ProjectId>,
    once: Option<Extension<Once>>,
    mut request: Request,
) -> Result<Response, Problem> {
    let memory = request.extensions_mut().remove::<BodyMemory>();
    let project = service.project(&caller, project).await?;
    caller.needs(KeyRole::Agent)?;
    let upload = Parts::read(request, &service).await?.upload(project.id)?;
    let prepared = prepared(&service, upload).await?;
    drop(memory);
    let replay = |stored: &StoredDocument| {
        let Extension(once) = once.as_ref()?;
        let json = serde_json::to_string(&UploadAnswer::of(stored.clone())).ok()?;
        Some(once.replay(StatusCode::CREATED, &json))
    };
    let stored = service.parts.ingestor.store_once(prepared, &replay).await?.stored;
    let is_changed = !stored.unchanged;
    let mut response = (StatusCode::CREATED, Answer(UploadAnswer::of(stored))).into_response();
    if is_changed {
        service.metrics.documents.inc();
        (service.parts.on_texts)();
        response.extensions_mut().insert(AlreadyStored);
    }
    Ok(response)
}

/// Prepares a document and keeps its file, before the database knows of it: a file without a document is removed later, and a
/// document without its file does not exist.
async fn prepared(service: &Service, upload: Upload) -> Result<Prepared, Problem> {
    let uploads = service.parts.uploads.clone();
    let (reading, now) = (service.clone(), service.now());
    let work = move || -> Result<Prepared, Problem> {
        let prepared = grov_agent::prepare_with(&upload, now, &*reading.parts.read_pdf)?;
        uploads
            .keep(&prepared.document.sha256, &prepared.content)
            .map_err(|error| {
                tracing::error!(%error, "an upload could not be kept");
                let detail = "the file could not be written to the upload directory; nothing was stored";
                Problem::unavailable(detail).retry_after(Duration::from_secs(30))
            })?;
        Ok(prepared)
    };
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| {
        service.metrics.fault("panic");
        Err(Problem::unavailable(
            "the document could not be read, by a bug of the service; nothing was stored",
        ))
    })
}

/// Lists the documents of a project.
#[utoipa::path(
    get, path = "/projects/{project}/docs", tag = "documents", params(("project" = ProjectId, Path), PageParameters),
    responses((status = 200, body = Listing<Document>), (status = 404, body = ProblemBody))
)]
pub(crate) async fn list(
    State(service): State<Service>,
    caller: Caller,
    Ids(project): Ids<ProjectId>,
    Parameters(page): Parameters<PageParameters>,
) -> Result<Answer<Listing<Document>>, Problem> {
    let page = page.page()?;
    let project = service.project(&caller, project).await?;
    let listed = service.store().documents(project.id, &page).await;
    Listing::of(listed, page.after.is_some())
}

/// Shows a document. Its `ETag` changes with the answer.
#[utoipa::path(
    get, path = "/projects/{project}/docs/{document}", tag = "documents",
    params(("project" = ProjectId, Path), ("document" = DocumentId, Path), ("If-None-Match" = Option<String>, Header)),
    responses(
        (status = 200, body = Document), (status = 304, description = "It has not changed"),
        (status = 404, body = ProblemBody)
    )
)]
pub(crate) async fn show(
    State(service): State<Service>,
    caller: Caller,
    Ids((project, id)): Ids<(ProjectId, DocumentId)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let document = document(&service, &caller, project, id).await?;
    let body = serde_json::to_vec(&document)
        .map_err(|_| Problem::unavailable("the document cannot be written as JSON"))?;
    let tag = etag(&body);
    let is_known = headers
        .get_all(header::IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|value| value.trim().trim_start_matches("W/"))
        .any(|known| known == "*" || known == tag);
    let mut response = if is_known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        ([(header::CONTENT_TYPE, "application/json")], body).into_response()
    };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, tag);
    }
    Ok(response)
}

fn etag(body: &[u8]) -> String {
    let digest = Sha256::digest(body);
    let hex: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("\"{hex}\"")
}

/// Lists the chunks of a document in order.
#[utoipa::path(
    get, path = "/projects/{project}/docs/{document}/chunks", tag = "documents",
    params(("project" = ProjectId, Path), ("document" = DocumentId, Path), PageParameters),
    responses((status = 200, body = Listing<Chunk>), (status = 404, body = ProblemBody))
)]
pub(crate) async fn chunks(
    State(service): State<Service>,
    caller: Caller,
    Ids((project, id)): Ids<(ProjectId, DocumentId)>,
    Parameters(page): Parameters<PageParameters>,
) -> Result<Answer<Listing<Chunk>>, Problem> {
    let page = page.page()?;
    document(&service, &caller, project, id).await?;
    let listed = service.store().chunks(project, id, &page).await;
    Listing::of(listed, page.after.is_some())
}

/// Deletes a document with its chunks and their embeddings. Needs the role agent.
#[utoipa::path(
    delete, path = "/projects/{project}/docs/{document}", tag = "documents",
    params(("project" = ProjectId, Path), ("document" = DocumentId, Path)),
    responses((status = 204), (status = 404, body = ProblemBody))
)]
pub(crate) async fn remove(
    State(service): State<Service>,
    caller: Caller,
    Ids((project, id)): Ids<(ProjectId, DocumentId)>,
) -> Result<StatusCode, Problem> {
    caller.sees(project, "document")?;
    caller.needs(KeyRole::Agent)?;
    match service.store().delete_document(project, id).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Problem::not_found("document")),
    }
}

/// Returns a document that the caller may see.
async fn document(
    service: &Service,
    caller: &Caller,
    project: ProjectId,
    id: DocumentId,
) -> Result<Document, Problem> {
    caller.sees(project, "document")?;
    let document = service.store().document(project, id).await?;
    document.ok_or_else(|| Problem::not_found("document"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_that_is_too_long_is_refused_where_it_was_given() {
        let path = |title: Option<String>, file_name: Option<String>| {
            let parts = Parts {
                title,
                category: Some("FACTS".to_owned()),
                content_type: None,
                file_name,
                bytes: Some(b"x".to_vec()),
            };
            let refused = parts.upload(ProjectId::fresh()).err().map(Problem::into_body);
            refused.map(|body| body.errors[0].path.clone())
        };
        let long = || Some("x".repeat(MAX_TITLE_BYTES + 1));
        assert_eq!(path(long(), None).as_deref(), Some("/title"));
        assert_eq!(path(None, long()).as_deref(), Some("/file"));
        assert_eq!(path(Some("x".repeat(MAX_TITLE_BYTES)), long()), None);
    }
}
