//! The dashboard: pages that show what Grov recorded and changed, for a browser on the user's machine.
//!
//! Entry points: [`Pages`] answers requests for the pages of [`Parts`], below [`BASE`]; [`Commands`] is the port through which
//! pages get what only the command line knows. [`assets`] has the style sheet, which the agent service's page shares.
//!
//! Pages show read models of `grov-query` and answers of the command line. Everything that an agent, a model or a file wrote is
//! shown as text. This crate does not use SQL, the proxy, hooks or models.
#![forbid(unsafe_code)]

mod access;
pub mod assets;
mod chart;
mod commands;
mod format;
mod hook_texts;
mod live;
mod memo;
mod money;
mod page;
mod pages;

pub use access::LINK_PATH;
pub use commands::{CommandError, Commands};

use access::Access;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::get;
use grov_cost::PriceBook;
use grov_domain::Store;
use grov_query::SessionCard;
use grov_runtime::{Home, Tasks};
use hook_texts::HookTexts;
use http::{Request, Response};
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use live::Live;
use memo::Memo;
use std::error::Error;
use std::sync::Arc;
use tower::ServiceExt;

/// The path of the first page. All others are below it.
pub const BASE: &str = "/_grov/ui";

/// Longest accepted form, in bytes.
pub const MAX_FORM: u64 = 256 * 1024;

/// Reads the prices, which the user may change at any time.
pub type Prices = Box<dyn Fn() -> PriceBook + Send + Sync>;

/// What the pages need.
pub struct Parts {
    /// The store, on a connection of its own.
    pub store: Arc<dyn Store>,
    /// The home whose links are accepted.
    pub home: Home,
    /// Whether browsers reach the pages over TLS.
    pub is_secure: bool,
    /// The command line.
    pub commands: Arc<dyn Commands>,
    /// The prices as they are now: the user's own, those of the provider file, and the built-in ones.
    pub prices: Prices,
    /// Runs what keeps open pages up to date.
    pub tasks: Tasks,
}

/// What handlers share.
#[derive(Clone)]
pub(crate) struct Site(Arc<Shared>);

pub(crate) struct Shared {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) access: Access,
    prices: Prices,
    pub(crate) commands: Arc<dyn Commands>,
    pub(crate) live: Live,
    pub(crate) hook_texts: HookTexts,
    /// The newest sessions, which all open pages show.
    pub(crate) newest: Memo<Vec<SessionCard>>,
}

impl Shared {
    pub(crate) fn prices(&self) -> PriceBook {
        (self.prices)()
    }
}

impl std::ops::Deref for Site {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

/// The body of a page. That of events does not end.
pub type PageBody = UnsyncBoxBody<Bytes, Box<dyn Error + Send + Sync>>;

/// The pages. Clones share everything.
#[derive(Clone)]
pub struct Pages(Router);

impl Pages {
    /// Returns the pages. Does no I/O.
    pub fn new(parts: Parts) -> Self {
        Self(router(parts))
    }

    /// Answers a request with its whole body.
    pub async fn answer(&self, request: Request<Bytes>) -> Response<PageBody> {
        let Ok(response) = self.0.clone().oneshot(request.map(Body::from)).await;
        response.map(|body| PageBody::new(body.map_err(Into::into)))
    }
}

fn router(parts: Parts) -> Router {
    let site = Site(Arc::new(Shared {
        live: Live::new(Arc::clone(&parts.store), parts.tasks),
        store: parts.store,
        access: Access::new(parts.home, parts.is_secure),
        prices: parts.prices,
        commands: parts.commands,
        hook_texts: HookTexts::default(),
        newest: Memo::default(),
    }));
    let pages = pages::routes()
        .route("/_grov/ui/events", get(live::events))
        .layer(from_fn_with_state(site.clone(), access::require_session));
    Router::new()
        .merge(pages)
        .route(LINK_PATH, get(access::enter).head(access::look_at_link))
        .route("/_grov/ui/assets/{name}", get(assets::serve))
        .fallback(page::not_found)
        .layer(from_fn(page::secure_headers))
        .with_state(site)
}
