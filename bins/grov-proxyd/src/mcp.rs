//! `POST /_grov/mcp`: the Model Context Protocol over streamable HTTP, for clients with the token of hooks.

use crate::{assembly, project_header};
use async_trait::async_trait;
use grov_context::Thresholds;
use grov_domain::{Project, StoreConnection, SystemClock};
use grov_drift::{TOKEN_HEADER, token};
use grov_mcp::{ContextSettings, GrovServer, Ports};
use grov_project::ProjectLocation;
use grov_proxy_core::{AdminRequest, AdminResponse, AdminRoute};
use grov_runtime::Home;
use http::{HeaderMap, Request, StatusCode, header};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;

/// The path below `/_grov/`.
pub(crate) const PREFIX: &str = "mcp";
/// Maximum bytes of a message.
const MAX_MESSAGE: u64 = 1024 * 1024;
const BEARER: &[u8] = b"Bearer ";
/// The project of a client that names no directory.
const UNKNOWN: Project = Project {
    path: None,
    remote: None,
};

/// The route for MCP clients. Each request says in a header which directory it is about.
pub(crate) struct McpRoute {
    home: Home,
    /// On a separate connection, so that no request of the relay waits for a search.
    store: Arc<dyn StoreConnection>,
    context: ContextSettings,
}

impl McpRoute {
    pub(crate) fn new(home: &Home, settings: grov_runtime::ContextSettings) -> Self {
        Self {
            context: ContextSettings {
                window: settings.window,
                thresholds: Thresholds {
                    warning: settings.warning_threshold,
                    clear: settings.clear_threshold,
                },
            },
            home: home.clone(),
            store: assembly::store_apart(home),
        }
    }

    fn is_authorized(&self, headers: &HeaderMap) -> bool {
        let own = headers.get(TOKEN_HEADER).map(|shown| shown.as_bytes());
        // MCP clients know this header only.
        let bearer = headers.get(header::AUTHORIZATION);
        let bearer = bearer.and_then(|shown| shown.as_bytes().strip_prefix(BEARER));
        own.or(bearer).is_some_and(|shown| {
            token::read(&self.home).is_some_and(|known| token::is_equal(&known, shown.trim_ascii()))
        })
    }

    /// The server for a directory; without one, of an unknown project.
    fn server(&self, directory: Option<&Path>) -> GrovServer {
        let location = directory.map(ProjectLocation::locate);
        GrovServer::new(Ports {
            store: Arc::clone(&self.store),
            clock: Arc::new(SystemClock),
            intents: Arc::new(grov_rules::extract_intent),
            work_tree: location
                .as_ref()
                .and_then(|place| place.work_tree().map(Path::to_owned)),
            project: location.map_or(UNKNOWN, |place| place.project()),
            context: self.context,
            open_transcript,
            external: None,
        })
    }
}

#[async_trait]
impl AdminRoute for McpRoute {
    fn body_limit(&self) -> u64 {
        MAX_MESSAGE
    }

    fn authorize(&self, headers: &HeaderMap) -> Result<(), AdminResponse> {
        if self.is_authorized(headers) {
            return Ok(());
        }
        Err(refused(
            StatusCode::FORBIDDEN,
            "the client sent no token of this home: send the text of its file hook-token as `Authorization: Bearer`",
        ))
    }

    async fn handle(&self, request: AdminRequest) -> AdminResponse {
        if !matches!(request.rest.as_str(), "" | "/") {
            return refused(StatusCode::NOT_FOUND, "MCP is served at /_grov/mcp");
        }
        let Some(body) = request.body else {
            let message = "the message is larger than 1 MiB; shorten its arguments";
            return refused(StatusCode::PAYLOAD_TOO_LARGE, message);
        };
        let server = match project_header::directory(&request.headers) {
            Ok(directory) => self.server(directory.as_deref()),
            Err(message) => return refused(StatusCode::BAD_REQUEST, &message),
        };
        let mut message = Request::new(body);
        *message.method_mut() = request.method;
        *message.headers_mut() = request.headers;
        let (parts, body) = grov_mcp::answer(&server, message).await.into_parts();
        let is_stream = parts
            .headers
            .get(header::CONTENT_TYPE)
            .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        AdminResponse {
            status: parts.status,
            content_type: match is_stream {
                true => "text/event-stream",
                false => "application/json",
            },
            body,
        }
    }
}

/// Opens a transcript that hooks named; `None` if it is no readable file.
fn open_transcript(path: &str) -> Option<Box<dyn BufRead + Send>> {
    // Checked before opening, because opening a pipe waits for a writer.
    std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    Some(Box::new(BufReader::new(File::open(path).ok()?)))
}

/// An error in the form of JSON-RPC.
fn refused(status: StatusCode, message: &str) -> AdminResponse {
    let error = serde_json::json!({
        "jsonrpc": "2.0",
        "error": {"code": -32600, "message": message},
        "id": null,
    });
    AdminResponse {
        status,
        content_type: "application/json",
        body: error.to_string().into(),
    }
}
