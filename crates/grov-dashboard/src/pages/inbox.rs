//! *Inbox*: proposals of all projects that wait for a yes, with their evidence.

use crate::Site;
use crate::access::Session;
use crate::format::{ago, line, shown, timestamp};
use crate::page::{Frame, PageError, render};
use askama::Template;
use axum::Extension;
use axum::extract::{Query, State};
use axum::response::Response;
use grov_domain::{Clock, Evidence, InboxItem, ItemFilter, SystemClock};
use grov_memory::suspicions;
use serde::Deserialize;
use time::OffsetDateTime;

/// Proposals on the page.
const PROPOSALS: u32 = 100;

/// What was done before the page is shown.
#[derive(Deserialize)]
pub(super) struct Done {
    #[serde(default)]
    done: String,
}

#[derive(Template)]
#[template(path = "inbox.html")]
struct Page {
    frame: Frame,
    told: &'static str,
    proposals: Vec<Proposal>,
    has_more: bool,
    conflicts: usize,
}

/// A memory item that waits for a decision.
struct Proposal {
    id: String,
    kind: String,
    content: String,
    project: String,
    at: String,
    when: String,
    evidence: Vec<Quote>,
    /// The memory of the work that it comes from.
    task: String,
    /// Accepted items that it contradicts.
    contradicts: usize,
    /// Whether it replaces an accepted item.
    replaces: bool,
    /// Why it would not be given to agents.
    withheld: &'static str,
}

/// A quotation on which a proposal rests.
struct Quote {
    kind: String,
    text: String,
}

/// `GET /_grov/ui/inbox`
pub(super) async fn page(
    State(site): State<Site>,
    Extension(session): Extension<Session>,
    Query(done): Query<Done>,
) -> Result<Response, PageError> {
    let filter = ItemFilter {
        scope: None,
        only_proposed: true,
        limit: PROPOSALS + 1,
    };
    let mut items = site.store.items(&filter).await?;
    let has_more = items.len() > PROPOSALS as usize;
    items.truncate(PROPOSALS as usize);
    let mut conflicts = 0;
    for link in site.store.links().await? {
        conflicts += site.store.conflicts(&link.scope.project_path).await?.len();
    }
    let now = SystemClock.now();
    Ok(render(&Page {
        frame: Frame::from(&session).at("Inbox"),
        told: match done.done.as_str() {
            "approved" => "Approved: agents are given it from now on.",
            "rejected" => "Rejected: it is not proposed again.",
            _ => "",
        },
        proposals: items.into_iter().map(|item| Proposal::of(item, now)).collect(),
        has_more,
        conflicts,
    }))
}

impl Proposal {
    fn of(found: InboxItem, now: OffsetDateTime) -> Self {
        let orders = suspicions(&found.as_task());
        let order = orders.iter().find(|one| one.withholds());
        let item = found.item;
        Self {
            id: item.id.to_string(),
            kind: item.kind.as_str().replace('_', " "),
            content: shown(&item.content),
            project: line(&found.scope.project_path),
            at: timestamp(item.created_at),
            when: ago(item.created_at, now),
            evidence: item.evidence.iter().map(Quote::of).collect(),
            task: found.task_id.map(|id| id.to_string()).unwrap_or_default(),
            contradicts: item.contradicts.len(),
            replaces: item.supersedes.is_some(),
            withheld: order.map(|one| one.kind.reason()).unwrap_or_default(),
        }
    }
}

impl Quote {
    fn of(evidence: &Evidence) -> Self {
        Self {
            kind: evidence.kind.as_str().replace('_', " "),
            text: match evidence.quote.is_empty() {
                true => line(&evidence.id),
                false => shown(&evidence.quote),
            },
        }
    }
}
