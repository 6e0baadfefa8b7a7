//! Health and metrics.

use crate::caller::Caller;
use crate::gate;
use crate::problem::{Problem, ProblemBody};
use crate::service::{HEALTH_TIMEOUT, Service};
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, header};
use serde::Serialize;
use utoipa::ToSchema;

/// Whether the service can do all that it is set up for.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Health {
    /// `degraded` if a part does not answer.
    status: HealthStatus,
    version: &'static str,
    database: Part,
    vectors: Part,
    chat: ChatHealth,
    embedding: EmbeddingHealth,
}

#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum HealthStatus {
    Ok,
    Degraded,
}

#[derive(Debug, Serialize, ToSchema)]
struct Part {
    /// `sqlite` or `postgresql`; for vectors `sqlite`, `pgvector` or `qdrant`.
    kind: &'static str,
    ok: bool,
}

#[derive(Debug, Serialize, ToSchema)]
struct ChatHealth {
    provider: String,
    /// Whether the last call could reach the provider.
    ok: bool,
}

#[derive(Debug, Serialize, ToSchema)]
struct EmbeddingHealth {
    provider: String,
    /// Dimension of the embeddings.
    #[schema(required)]
    dims: Option<usize>,
    ok: bool,
    /// With a valid key only: what is wrong, or how far the embedding of stored texts is.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

/// Says whether the service works. Needs no key; with one it says more.
#[utoipa::path(get, path = "/health", tag = "operation", security(()), responses((status = 200, body = Health)))]
pub(crate) async fn health(State(service): State<Service>, headers: HeaderMap) -> Json<Health> {
    // What is wrong may name files and quote providers, which is nobody else's business.
    let (database, has_key) = tokio::join!(
        tokio::time::timeout(HEALTH_TIMEOUT, service.store().health()),
        tokio::time::timeout(HEALTH_TIMEOUT, gate::authenticate(&service, &headers)),
    );
    let has_key = matches!(has_key, Ok(Ok(_)));
    let (kind, vectors, is_ok, are_vectors_ok) = match database {
        Ok(health) => (health.kind, health.vectors, health.is_ok, health.are_vectors_ok),
        Err(_) => ("unknown", "unknown", false, false),
    };
    let providers = (service.parts.providers)();
    let is_all_ok = is_ok && are_vectors_ok && providers.is_chat_ok && providers.is_embedding_ok;
    Json(Health {
        status: if is_all_ok {
            HealthStatus::Ok
        } else {
            HealthStatus::Degraded
        },
        version: service.parts.version,
        database: Part { kind, ok: is_ok },
        vectors: Part {
            kind: vectors,
            ok: are_vectors_ok,
        },
        chat: ChatHealth {
            provider: providers.chat,
            ok: providers.is_chat_ok,
        },
        embedding: EmbeddingHealth {
            provider: providers.embedding,
            dims: providers.dimension,
            ok: providers.is_embedding_ok,
            detail: providers.embedding_detail.filter(|_| has_key),
        },
    })
}

/// Counters and gauges as OpenMetrics text. Needs a key that is not limited to some projects.
#[utoipa::path(
    get, path = "/metrics", tag = "operation",
    responses((status = 200, body = String, content_type = "application/openmetrics-text"), (status = 403, body = ProblemBody))
)]
pub(crate) async fn metrics(State(service): State<Service>, caller: Caller) -> Result<Response, Problem> {
    caller.needs_all_projects()?;
    let media_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, media_type)], service.metrics.render()).into_response())
}
