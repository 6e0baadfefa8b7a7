//! The session, subagent and purpose of a request.

use crate::dialect;
use crate::working_directory::is_absolute;
use grov_domain::{AgentId, ClientDialect, ClientSessionId, ExchangeKind, Lineage, SideRequest};
use grov_proxy_core::MessagesRequest;
use grov_wire::RequestIndex;
use http::{HeaderName, header};
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_128;

/// The project's directory. Set by a hook or by the user.
const PROJECT_HEADER: HeaderName = HeaderName::from_static("x-grov-project");

/// Returns the request headers that identify a client, its session and its project.
///
/// For [`ProxyBuilder::keep_headers`](grov_proxy_core::ProxyBuilder::keep_headers).
pub fn identity_headers() -> Vec<HeaderName> {
    let mut names = vec![PROJECT_HEADER, header::USER_AGENT];
    for client in ClientDialect::ALL {
        let named = client
            .session_headers
            .iter()
            .chain(std::iter::once(&client.agent_header));
        let named = named.filter(|name| !name.is_empty());
        names.extend(named.map(|name| HeaderName::from_static(name)));
    }
    names.sort_by(|a, b| a.as_str().cmp(b.as_str()));
    names.dedup();
    names
}

/// The session, subagent and purpose of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The client's session.
    pub session: ClientSessionId,
    /// Whether the client named its session. If not, the id is derived from the beginning of the conversation. A
    /// derived id is used for recording only, because equal conversations share it.
    pub session_is_named: bool,
    /// The subagent, if the request is from one.
    pub agent: Option<AgentId>,
    /// What the request is for.
    pub kind: ExchangeKind,
}

impl Identity {
    /// Identifies a request. The result is cached in the request.
    pub fn of(request: &MessagesRequest) -> Arc<Self> {
        if let Some(identity) = request.extensions().get::<Arc<Self>>() {
            return Arc::clone(identity);
        }
        let identity = Arc::new(identify(request));
        request.extensions().insert(Arc::clone(&identity));
        identity
    }

    /// Returns the message list that the request belongs to.
    pub fn lineage(&self) -> Lineage {
        Lineage {
            session: self.session.clone(),
            agent: self.agent.clone(),
        }
    }
}

/// Returns the trimmed value of a header.
fn value<'r>(request: &'r MessagesRequest, name: &str) -> Option<&'r str> {
    let value = request.headers().get(name)?;
    value.to_str().ok().map(str::trim)
}

/// Returns the project directory named by `x-grov-project`, if it is an absolute path.
pub(crate) fn project_header(request: &MessagesRequest) -> Option<&str> {
    value(request, PROJECT_HEADER.as_str()).filter(|path| is_absolute(path))
}

/// Maximum length of a session or agent id in bytes. The client uses UUIDs.
const MAX_ID: usize = 200;

fn is_id(id: &str) -> bool {
    !id.is_empty() && id.len() <= MAX_ID
}

fn identify(request: &MessagesRequest) -> Identity {
    let index = request.index();
    let client = dialect::of(request);
    let mut headers = client.session_headers.iter();
    let in_header = headers.find_map(|name| value(request, name).filter(|id| is_id(id)));
    let agent = value(request, client.agent_header)
        .filter(|id| is_id(id) && Some(*id) != in_header)
        .map(AgentId::new);
    let named = in_header.map(str::to_owned).or_else(|| {
        let id = index.and_then(RequestIndex::metadata_session_id)?;
        is_id(&id).then_some(id)
    });
    let session_is_named = named.is_some();
    let session = named.unwrap_or_else(|| derived_session(client, request));
    let kind = match (index.and_then(|index| side_request(client, index)), &agent) {
        (Some(side), _) => ExchangeKind::Side(side),
        (None, _) if index.is_none() => ExchangeKind::Side(SideRequest::Other),
        (None, Some(_)) => ExchangeKind::Subagent,
        (None, None) => ExchangeKind::Main,
    };
    Identity {
        session: ClientSessionId::new(session),
        session_is_named,
        agent,
        kind,
    }
}

/// The prefix of derived ids.
const DERIVED: &str = "unnamed-";

/// Returns whether the id is derived because the client named none.
pub(crate) fn is_derived(session: &ClientSessionId) -> bool {
    session.as_str().starts_with(DERIVED)
}

/// Derives an id from the beginning of the conversation and the user. It does not change while the conversation grows.
fn derived_session(client: &ClientDialect, request: &MessagesRequest) -> String {
    let first = request.skeleton().and_then(|skeleton| {
        // The client's description of the environment is the same for many conversations.
        let described = request
            .index()
            .is_some_and(|index| begins_with(index, client.environment));
        let links = skeleton.links();
        links
            .get(usize::from(described))
            .or(links.first())
            .map(|link| link.key.as_u128())
    });
    let conversation = first.unwrap_or_else(|| xxh3_128(request.body()));
    // Users who begin with the same words are recorded apart.
    let user = request.user().map_or(0, |user| xxh3_128(user.as_bytes()));
    format!("{DERIVED}{:032x}", conversation ^ user)
}

/// Returns whether the first text of the conversation is the client's description of the environment.
fn begins_with(index: &RequestIndex, environment: &str) -> bool {
    let mut messages = index.messages();
    let first = messages.next().and_then(|message| message.texts().next());
    !environment.is_empty() && first.is_some_and(|text| text.trim_start().starts_with(environment))
}

/// Returns what the request is for, or `None` if it is a step of a conversation.
fn side_request(client: &ClientDialect, index: &RequestIndex) -> Option<SideRequest> {
    if index.tool_count() == 0 {
        let is_title = index.output_format().as_deref() == Some(client.title_format);
        return Some(if is_title {
            SideRequest::Title
        } else {
            SideRequest::Other
        });
    }
    if index.tool_count() == 1 && is_web_tool(client, index) {
        return Some(SideRequest::WebTool);
    }
    let last_text = index.newest_user_message()?.texts().last()?;
    client.side_request(&last_text)
}

/// Returns whether the only tool is one that the upstream runs itself, such as `web_search_20250305`.
fn is_web_tool(client: &ClientDialect, index: &RequestIndex) -> bool {
    index
        .first_tool()
        .and_then(|tool| tool.type_name())
        .is_some_and(|kind| kind.starts_with(client.nested_tool))
}

#[cfg(test)]
mod tests;
