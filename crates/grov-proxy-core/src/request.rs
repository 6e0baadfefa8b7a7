//! A request to the Messages API, as policies and observers see it.

use crate::identity::{self, Identity};
use crate::working_directory::is_absolute;
use bytes::Bytes;
use grov_domain::ClientDialect;
use grov_wire::{KnownRequests, RequestIndex, Skeleton};
use http::{Extensions, HeaderMap, HeaderValue};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use time::OffsetDateTime;

/// Header by which the client names its session.
pub(crate) const SESSION_HEADER: &str = ClientDialect::CLAUDE_CODE.session_header;
/// Header by which the client names a subagent.
pub(crate) const AGENT_HEADER: &str = ClientDialect::CLAUDE_CODE.agent_header;
/// Header by which a hook or the user names the project's directory.
pub(crate) const PROJECT_HEADER: &str = "x-grov-project";

/// One request to the Messages API. The body is indexed when somebody first asks, and once.
pub struct MessagesRequest {
    body: Bytes,
    session_header: Option<String>,
    agent_header: Option<String>,
    project_header: Option<String>,
    received_at: OffsetDateTime,
    known: Option<Arc<KnownRequests>>,
    index: OnceLock<Option<RequestIndex>>,
    skeleton: OnceLock<Option<Skeleton>>,
    identity: OnceLock<Identity>,
    extensions: Mutex<Extensions>,
}

impl MessagesRequest {
    /// A request as it arrived: the client's headers and its body, byte for byte.
    pub fn new(headers: &HeaderMap, body: Bytes, received_at: OffsetDateTime) -> Self {
        let text = |name: &str| {
            headers
                .get(name)
                .and_then(|value: &HeaderValue| value.to_str().ok())
                .map(|value| value.trim().to_owned())
        };
        Self {
            body,
            session_header: text(SESSION_HEADER).filter(|id| is_id(id)),
            agent_header: text(AGENT_HEADER).filter(|id| is_id(id)),
            project_header: text(PROJECT_HEADER).filter(|path| is_absolute(path)),
            received_at,
            known: None,
            index: OnceLock::new(),
            skeleton: OnceLock::new(),
            identity: OnceLock::new(),
            extensions: Mutex::default(),
        }
    }

    /// The same, read by what is known of the requests that came before.
    pub(crate) fn knowing(self, known: Arc<KnownRequests>) -> Self {
        Self {
            known: Some(known),
            ..self
        }
    }

    /// The body as the client sent it.
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// When the request arrived.
    pub fn received_at(&self) -> OffsetDateTime {
        self.received_at
    }

    /// The body's structure; `None` when it is no valid Messages request.
    pub fn index(&self) -> Option<&RequestIndex> {
        self.index
            .get_or_init(|| {
                let index = match &self.known {
                    Some(known) => RequestIndex::parse_knowing(&self.body, known),
                    None => RequestIndex::parse(&self.body),
                };
                index
                    .inspect_err(|error| tracing::debug!(%error, "a request body cannot be indexed; it passes untouched"))
                    .ok()
            })
            .as_ref()
    }

    /// What the history is known by; `None` when the body is no valid Messages request.
    pub fn skeleton(&self) -> Option<&Skeleton> {
        self.skeleton
            .get_or_init(|| self.index().map(RequestIndex::skeleton))
            .as_ref()
    }

    /// Whose request it is and what for.
    pub fn identity(&self) -> &Identity {
        self.identity.get_or_init(|| identity::identify(self))
    }

    /// What policies keep with the request between their calls. Not to be held across an await.
    pub fn extensions(&self) -> MutexGuard<'_, Extensions> {
        self.extensions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session id of the client's header.
    pub fn session_header(&self) -> Option<&str> {
        self.session_header.as_deref()
    }

    /// The subagent id of the client's header.
    pub fn agent_header(&self) -> Option<&str> {
        self.agent_header.as_deref()
    }

    /// The project's directory as named by `x-grov-project`.
    pub fn project_header(&self) -> Option<&str> {
        self.project_header.as_deref()
    }
}

/// Longest id that is taken for one; the client's are UUIDs.
const MAX_ID: usize = 200;

/// Whether it can be the id of a session or subagent.
pub(crate) fn is_id(id: &str) -> bool {
    !id.is_empty() && id.len() <= MAX_ID
}
