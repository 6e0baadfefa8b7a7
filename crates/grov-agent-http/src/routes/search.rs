//! Search in documents and memory.

use crate::caller::Caller;
use crate::extract::{Checks, Ids, Parameters};
use crate::problem::{Problem, ProblemBody};
use crate::service::Service;
use axum::Json as Answer;
use axum::extract::State;
use grov_agent::{Category, DocumentId, MemoryType, Passage, ProjectId, SearchFilter, SourceKind, Why};
use grov_redact::Redactor;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// The most results.
const MAX_K: u32 = 100;
/// The results if nothing else is asked.
const DEFAULT_K: u32 = 10;
/// The longest question in bytes.
const MAX_QUESTION: usize = 8 * 1024;

/// What is searched.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SearchParameters {
    /// The question.
    q: String,
    /// The most results, 1 to 100; 10 if not given.
    k: Option<u32>,
    /// Only documents of these categories, separated by commas.
    category: Option<String>,
    /// Only memory of these types, separated by commas.
    #[serde(rename = "type")]
    kind: Option<String>,
    /// Says why each result was found.
    #[serde(default)]
    explain: bool,
}

/// What was found.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SearchAnswer {
    /// Best first.
    results: Vec<SearchResult>,
}

#[derive(Debug, Serialize, ToSchema)]
struct SearchResult {
    kind: SourceKind,
    /// The id of the chunk or item.
    id: String,
    /// Larger is better.
    score: f64,
    text: String,
    /// Where a chunk comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    document: Option<ResultDocument>,
    /// What a memory item is.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    item_type: Option<MemoryType>,
    /// With `explain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<Why>,
}

#[derive(Debug, Serialize, ToSchema)]
struct ResultDocument {
    id: DocumentId,
    title: String,
    category: Category,
    /// Titles of the headings above the chunk, outermost first.
    heading_path: Vec<String>,
}

impl SearchResult {
    fn of(passage: Passage, explain: bool) -> Self {
        Self {
            kind: passage.kind,
            id: passage.id,
            score: passage.score,
            text: passage.text,
            document: passage.document.map(|document| ResultDocument {
                id: document.id,
                title: document.title,
                category: document.category,
                heading_path: document.heading_path,
            }),
            item_type: passage.item_type,
            why: explain.then_some(passage.why),
        }
    }
}

/// Parses names that are separated by commas.
pub(super) fn names<T>(
    path: &str,
    names: Option<&str>,
    of: impl Fn(&str) -> Option<T>,
    known: &[&str],
) -> Result<Vec<T>, Problem> {
    let names = names.unwrap_or_default().split(',').map(str::trim);
    names
        .filter(|name| !name.is_empty())
        .map(|name| {
            of(name).ok_or_else(|| Problem::invalid(path, format!("has to be one of {}", known.join(", "))))
        })
        .collect()
}

/// Searches the documents and the memory of a project by words and by meaning.
#[utoipa::path(
    get, path = "/projects/{project}/search", tag = "documents",
    params(("project" = ProjectId, Path), SearchParameters),
    responses((status = 200, body = SearchAnswer), (status = 404, body = ProblemBody), (status = 422, body = ProblemBody))
)]
pub(crate) async fn search(
    State(service): State<Service>,
    caller: Caller,
    Ids(project): Ids<ProjectId>,
    Parameters(parameters): Parameters<SearchParameters>,
) -> Result<Answer<SearchAnswer>, Problem> {
    let project = service.project(&caller, project).await?;
    let mut checks = Checks::default();
    checks.text("q", &parameters.q, MAX_QUESTION);
    let k = parameters.k.unwrap_or(DEFAULT_K);
    if !(1..=MAX_K).contains(&k) {
        checks.add("k", "has to be a number from 1 to 100");
    }
    checks.done()?;
    let filter = SearchFilter {
        categories: names(
            "category",
            parameters.category.as_deref(),
            Category::from_name,
            &Category::ALL.map(Category::as_str),
        )?,
        types: names(
            "type",
            parameters.kind.as_deref(),
            MemoryType::from_name,
            &MemoryType::ALL.map(MemoryType::as_str),
        )?,
    };
    let question = Redactor::shared().text(&parameters.q);
    let passages = service
        .parts
        .retriever
        .search(project.id, &question, &filter, k)
        .await?;
    let results = passages.into_iter();
    Ok(Answer(SearchAnswer {
        results: results
            .map(|passage| SearchResult::of(passage, parameters.explain))
            .collect(),
    }))
}
