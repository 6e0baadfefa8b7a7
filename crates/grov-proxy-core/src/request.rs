//! A model call, as policies and observers see it.

use crate::profile::ConnectionProfile;
use bytes::Bytes;
use grov_wire::{Api, RequestCache, RequestIndex, Skeleton, decode_body};
use http::{Extensions, HeaderMap};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use time::OffsetDateTime;

/// Maximum bytes of a decoded body; what is larger is not read. As much as a body without a coding may have.
const MAX_DECODED: usize = 32 * 1024 * 1024;

/// A request to the Messages API, or to another API that is read in its terms.
///
/// The body is indexed by the first call of [`index`](Self::index), and only once. An invalid body is not an error: the proxy
/// forwards it unchanged.
pub struct MessagesRequest {
    api: Api,
    /// The model that the path names.
    path_model: Option<String>,
    headers: HeaderMap,
    body: Bytes,
    /// The content coding of the body, if it has one.
    coding: Option<String>,
    received_at: OffsetDateTime,
    user: Option<Arc<str>>,
    cache: Option<Arc<RequestCache>>,
    profile: Option<Arc<ConnectionProfile>>,
    index: OnceLock<Option<RequestIndex>>,
    skeleton: OnceLock<Option<Skeleton>>,
    extensions: Mutex<Extensions>,
}

impl MessagesRequest {
    /// Creates a request from its headers and its body as the client sent it.
    pub fn new(headers: HeaderMap, body: Bytes, received_at: OffsetDateTime) -> Self {
        Self {
            api: Api::Messages,
            path_model: None,
            headers,
            body,
            coding: None,
            received_at,
            user: None,
            cache: None,
            profile: None,
            index: OnceLock::new(),
            skeleton: OnceLock::new(),
            extensions: Mutex::default(),
        }
    }

    /// Sets the API and the path to which it was sent.
    #[must_use]
    pub fn to_api(self, api: Api, path: &str) -> Self {
        Self {
            api,
            path_model: api.model_in_path(path).map(str::to_owned),
            ..self
        }
    }

    /// Returns the API to which it was sent.
    pub fn api(&self) -> Api {
        self.api
    }

    /// Sets the value of its header `content-encoding`.
    #[must_use]
    pub fn coded(self, coding: Option<String>) -> Self {
        Self { coding, ..self }
    }

    /// Sets the user who sent it.
    pub(crate) fn by(self, user: Option<Arc<str>>) -> Self {
        Self { user, ..self }
    }

    /// Indexes the body with a cache of earlier requests.
    pub(crate) fn with_cache(self, cache: Arc<RequestCache>) -> Self {
        Self {
            cache: Some(cache),
            ..self
        }
    }

    /// Sets the profile of its connection.
    #[must_use]
    pub fn with_profile(self, profile: Option<Arc<ConnectionProfile>>) -> Self {
        Self { profile, ..self }
    }

    /// Returns the profile of its connection, or `None` if the client sent it to the proxy itself.
    pub fn intercepted(&self) -> Option<&ConnectionProfile> {
        self.profile.as_deref()
    }

    /// Returns whether policies may edit it. Requests to other APIs than the Messages API are never edited.
    pub fn may_be_edited(&self) -> bool {
        self.api == Api::Messages && self.profile.as_ref().is_none_or(|profile| profile.edits)
    }

    /// Returns the request headers named by [`ProxyBuilder::keep_headers`](crate::ProxyBuilder::keep_headers).
    ///
    /// Other headers, credentials among them, are not kept beyond the exchange.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// Returns the name of the user whom the [`Gatekeeper`](crate::Gatekeeper) recognised.
    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// Returns the body as the client sent it.
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// Returns the time at which the request arrived.
    pub fn received_at(&self) -> OffsetDateTime {
        self.received_at
    }

    /// Returns the structure of the body, or `None` if it is not a valid request of its API.
    ///
    /// For another API than the Messages API it is that of a document of its own, which is only read.
    pub fn index(&self) -> Option<&RequestIndex> {
        self.index
            .get_or_init(|| {
                let index = match &self.cache {
                    _ if self.api != Api::Messages => {
                        let body = self.decoded()?;
                        RequestIndex::parse_foreign(self.api, self.path_model.as_deref(), &body)
                    }
                    Some(cache) => RequestIndex::parse_with_cache(&self.body, cache),
                    None => RequestIndex::parse(&self.body),
                };
                index
                    .inspect_err(|error| tracing::debug!(%error, "a request body cannot be indexed; it is forwarded unchanged"))
                    .ok()
            })
            .as_ref()
    }

    /// The body of another API without its content coding. It is read after the response, on the observers' thread.
    fn decoded(&self) -> Option<Bytes> {
        let Some(coding) = &self.coding else {
            return Some(self.body.clone());
        };
        decode_body(coding, &self.body, MAX_DECODED)
            .inspect_err(|error| tracing::debug!(%error, "a request body cannot be decoded; it is forwarded unchanged"))
            .ok()
    }

    /// Returns the keys of the message history, or `None` if the body is not a valid Messages request.
    pub fn skeleton(&self) -> Option<&Skeleton> {
        self.skeleton
            .get_or_init(|| self.index().map(RequestIndex::skeleton))
            .as_ref()
    }

    /// Returns the values that policies keep with the request between their calls.
    ///
    /// Do not hold the guard across an await.
    pub fn extensions(&self) -> MutexGuard<'_, Extensions> {
        self.extensions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
