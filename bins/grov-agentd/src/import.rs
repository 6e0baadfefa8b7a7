//! Imports the documents of a directory.
//!
//! Which files: those whose names say that they are documents ([`is_document_name`]), without hidden files, what `.gitignore`
//! and `.ignore` leave out, and symbolic links. The title of a document is its path below the directory, so an import that
//! was interrupted, or is run again, changes only what has changed.

use crate::output;
use crate::pdf;
use crate::setup::{Setup, short_runtime};
use crate::stop::Stop;
use anyhow::{Context, anyhow, bail};
use grov_agent::{
    AgentStore, AgentStoreError, Category, IngestFailed, Ingestor, MAX_DOCUMENT_BYTES, Prepared, ProjectId,
    Upload, is_document_name, prepare_with,
};
use grov_agent_http::Uploads;
use grov_domain::{Clock, SystemClock};
use ignore::WalkBuilder;
use serde_json::{Value, json};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// Runs the command: progress on standard error, the result on standard output. The exit code is 1 if a file failed.
pub(crate) fn run(
    setup: &Setup,
    directory: &Path,
    project: &str,
    category: Category,
    json: bool,
) -> Result<ExitCode, Stop> {
    let project = project
        .parse()
        .map_err(|_| Stop::usage(anyhow!("{project:?} is not the id of a project")))?;
    let request = Import {
        directory: directory.to_owned(),
        project,
        category,
    };
    setup.create_home()?;
    short_runtime()?.block_on(async {
        let store: Arc<dyn AgentStore> = Arc::new(setup.database().await?);
        let parts = Parts {
            store: store.clone(),
            uploads: Uploads::new(&setup.agent.upload_dir),
            clock: Arc::new(SystemClock),
        };
        let imported = import(&request, parts, &mut |progress| {
            output::message(&progress.to_string());
        })
        .await;
        store.close().await;
        let summary = imported.map_err(Stop::fault)?;
        if json {
            output::print(&summary.to_json().to_string())?;
        } else {
            output::print(&summary.to_string())?;
        }
        Ok(ExitCode::from(u8::from(!summary.failed.is_empty())))
    })
}

/// What is imported, and where to.
#[derive(Clone, Debug)]
pub(crate) struct Import {
    /// The directory.
    pub(crate) directory: PathBuf,
    /// The project.
    pub(crate) project: ProjectId,
    /// The category of all documents.
    pub(crate) category: Category,
}

/// What an import needs of the service.
pub(crate) struct Parts {
    pub(crate) store: Arc<dyn AgentStore>,
    pub(crate) uploads: Uploads,
    pub(crate) clock: Arc<dyn Clock>,
}

/// What happened to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It is a new document or a new version.
    Stored {
        /// The version.
        version: u32,
        /// Number of chunks.
        chunks: u32,
    },
    /// The document has this content already.
    Unchanged,
    /// Nothing was stored, and why.
    Failed(String),
}

/// One line of progress.
#[derive(Clone, Debug)]
pub(crate) struct Progress<'a> {
    /// The number of the file, from 1.
    pub(crate) number: usize,
    /// The number of all files.
    pub(crate) files: usize,
    /// The path below the directory.
    pub(crate) title: &'a str,
    /// What happened.
    pub(crate) outcome: &'a Outcome,
}

impl std::fmt::Display for Progress<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "[{}/{}] {}: ", self.number, self.files, self.title)?;
        match self.outcome {
            Outcome::Stored { version, chunks } => write!(f, "version {version}, {chunks} chunks"),
            Outcome::Unchanged => f.write_str("unchanged"),
            Outcome::Failed(why) => f.write_str(why),
        }
    }
}

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    /// Documents that are new or have a new version.
    pub(crate) stored: usize,
    /// Documents that had this content already.
    pub(crate) unchanged: usize,
    /// Chunks of the stored documents.
    pub(crate) chunks: u64,
    /// Files whose names do not say that they are documents.
    pub(crate) ignored: usize,
    /// Files that were not stored, with the reason.
    pub(crate) failed: Vec<(String, String)>,
}

impl Summary {
    /// The result as JSON.
    pub(crate) fn to_json(&self) -> Value {
        let failed = self
            .failed
            .iter()
            .map(|(path, error)| json!({"path": path, "error": error}));
        json!({
            "stored": self.stored,
            "unchanged": self.unchanged,
            "chunks": self.chunks,
            "ignored": self.ignored,
            "failed": failed.collect::<Vec<_>>(),
        })
    }
}

impl std::fmt::Display for Summary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} documents stored ({} chunks), {} unchanged, {} failed, {} files of other kinds",
            self.stored,
            self.chunks,
            self.unchanged,
            self.failed.len(),
            self.ignored
        )
    }
}

/// Imports a directory. The error of one file does not stop it; one of the database does.
///
/// # Errors
///
/// Returns an error if the directory cannot be read, the project does not exist, or the database fails.
pub(crate) async fn import(
    import: &Import,
    parts: Parts,
    progress: &mut (dyn FnMut(&Progress<'_>) + Send),
) -> anyhow::Result<Summary> {
    if parts.store.project(import.project).await?.is_none() {
        bail!(
            "there is no project {}; `GET /projects` lists them",
            import.project
        );
    }
    let root = import
        .directory
        .canonicalize()
        .with_context(|| format!("{} cannot be read", import.directory.display()))?;
    if !root.is_dir() {
        bail!("{} is not a directory", import.directory.display());
    }
    let mut summary = Summary::default();
    let files = documents(&root, &mut summary);
    let ingestor = Ingestor::new(parts.store, parts.clock.clone());
    let uploads = Arc::new(parts.uploads);
    for (number, (title, path)) in files.iter().enumerate() {
        let (root, path, title, uploads) = (root.clone(), path.clone(), title.clone(), uploads.clone());
        let (now, target) = (parts.clock.now(), import.clone());
        let prepared =
            tokio::task::spawn_blocking(move || prepared(&root, &path, title, &target, &uploads, now))
                .await?;
        let outcome = match prepared {
            Ok(prepared) => match ingestor.store(prepared).await {
                Ok(ingested) if ingested.stored.unchanged => Outcome::Unchanged,
                Ok(ingested) => Outcome::Stored {
                    version: ingested.stored.document.version,
                    chunks: ingested.stored.document.chunks,
                },
                Err(error @ (AgentStoreError::Conflict(_) | AgentStoreError::NotFound(_))) => {
                    Outcome::Failed(error.to_string())
                }
                Err(error) => return Err(error).context(stopped_at(&files[number].0)),
            },
            Err(why) => Outcome::Failed(why),
        };
        let title = &files[number].0;
        progress(&Progress {
            number: number + 1,
            files: files.len(),
            title,
            outcome: &outcome,
        });
        match outcome {
            Outcome::Stored { chunks, .. } => {
                summary.stored += 1;
                summary.chunks += u64::from(chunks);
            }
            Outcome::Unchanged => summary.unchanged += 1,
            Outcome::Failed(why) => summary.failed.push((title.clone(), why)),
        }
    }
    Ok(summary)
}

fn stopped_at(title: &str) -> String {
    format!("the import stopped at {title}; run it again, and it goes on there")
}

/// Finds the documents below a directory, in the order of their paths. Also counts other files, and notes what cannot be read.
fn documents(root: &Path, summary: &mut Summary) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    let walk = WalkBuilder::new(root)
        .require_git(false)
        .parents(false)
        .git_global(false)
        .follow_links(false)
        .sort_by_file_path(Path::cmp)
        .build();
    for entry in walk {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                summary.failed.push((String::new(), error.to_string()));
                continue;
            }
        };
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        let path = entry.into_path();
        let below = path.strip_prefix(root).unwrap_or(&path);
        match below.to_str() {
            Some(title) if is_document_name(title) => found.push((title.to_owned(), path)),
            Some(_) => summary.ignored += 1,
            None => summary.failed.push((
                below.to_string_lossy().into_owned(),
                "the name of the file is not UTF-8; rename it".to_owned(),
            )),
        }
    }
    found
}

/// Reads and prepares one file, and keeps its content. Blocks.
fn prepared(
    root: &Path,
    path: &Path,
    title: String,
    import: &Import,
    uploads: &Uploads,
    now: time::OffsetDateTime,
) -> Result<Prepared, String> {
    let bytes = read(root, path).map_err(|error| format!("{error:#}"))?;
    let upload = Upload {
        project: import.project,
        file_name: Some(title.clone()),
        title,
        category: import.category,
        content_type: None,
        bytes,
    };
    let prepared = prepare_with(&upload, now, &pdf::read).map_err(|error: IngestFailed| error.to_string())?;
    uploads
        .keep(&prepared.document.sha256, &prepared.content)
        .map_err(|error| format!("it cannot be written to the upload directory: {error}"))?;
    Ok(prepared)
}

/// Reads a file below a directory that is no longer than a document may be.
fn read(root: &Path, path: &Path) -> anyhow::Result<Vec<u8>> {
    // The file may have been replaced by a link since it was found.
    if !path.canonicalize()?.starts_with(root) || path.symlink_metadata()?.is_symlink() {
        bail!("it is a link; only files in the directory are imported");
    }
    let most = MAX_DOCUMENT_BYTES as u64 + 1;
    let mut bytes = Vec::new();
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests;
