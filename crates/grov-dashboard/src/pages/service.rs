//! *Service*: the agent services that projects of this machine are linked to.

use super::answers::{list, text};
use crate::Site;
use crate::access::Session;
use crate::format::{ago, line, shown, timestamp};
use crate::page::{Frame, PageError, render};
use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use grov_domain::{Clock, Link, LinkCounts, LinkState, SystemClock};
use time::OffsetDateTime;

#[derive(Template)]
#[template(path = "service.html")]
struct Page {
    frame: Frame,
    links: Vec<Linked>,
    proxy: Option<Proxy>,
}

/// A project with its link.
struct Linked {
    /// The directory of the project.
    project: String,
    url: String,
    /// The service's own page; empty if the address is none that a browser may open.
    page: String,
    /// The project of the service.
    remote: String,
    is_stopped: bool,
    /// What is wrong at present.
    fault: String,
    pending: u64,
    last_sync: String,
    synced: String,
}

/// The daemon itself.
struct Proxy {
    url: String,
    version: String,
    pid: u64,
    sessions: usize,
}

/// `GET /_grov/ui/service`
///
/// Links are read from the store and not asked of a command: that knows the project of its directory only.
pub(super) async fn page(
    State(site): State<Site>,
    Extension(session): Extension<Session>,
) -> Result<Response, PageError> {
    let status = site.commands.run(&["proxy-status", "--limit", "1"]).await;
    let proxy = status.as_ref().ok().map(|status| &status["proxy"]);
    let now = SystemClock.now();
    let mut links = Vec::new();
    for link in site.store.links().await? {
        let counts = site.store.link_counts(&link.scope.project_path).await?;
        links.push(Linked::of(&link, &counts, now));
    }
    Ok(render(&Page {
        frame: Frame::from(&session).at("Service"),
        links,
        proxy: proxy.map(|proxy| Proxy {
            url: text(proxy, "url"),
            version: text(proxy, "version"),
            pid: proxy["pid"].as_u64().unwrap_or_default(),
            sessions: list(&status, "sessions").len(),
        }),
    }))
}

impl Linked {
    fn of(link: &Link, counts: &LinkCounts, now: OffsetDateTime) -> Self {
        let url = shown(&link.url);
        // Only such addresses become links.
        let is_web = url.starts_with("https://") || url.starts_with("http://");
        Self {
            project: line(&link.scope.project_path),
            page: if is_web {
                format!("{url}/ui")
            } else {
                String::new()
            },
            url,
            remote: link.remote_project.to_string(),
            is_stopped: link.state == LinkState::Stopped,
            fault: link.fault.as_deref().map(line).unwrap_or_default(),
            pending: counts.pending_out,
            last_sync: link.last_sync.map(timestamp).unwrap_or_default(),
            synced: link
                .last_sync
                .map_or_else(|| "never".to_owned(), |at| ago(at, now)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_domain::MemoryScope;

    fn linked(url: &str) -> Link {
        Link {
            scope: MemoryScope {
                project_path: "/home/ada/web".to_owned(),
                project_remote: None,
            },
            url: url.to_owned(),
            remote_project: "0193b3c4-0000-7000-8000-000000000001".parse().unwrap(),
            cursor: 0,
            state: LinkState::On,
            fault: None,
            last_sync: None,
            linked_at: OffsetDateTime::UNIX_EPOCH,
        }
    }

    /// What the page says of these links.
    fn page_of(links: &[Link]) -> String {
        let now = OffsetDateTime::UNIX_EPOCH;
        let counts = LinkCounts::default();
        let page = Page {
            frame: Frame::default().at("Service"),
            links: links.iter().map(|link| Linked::of(link, &counts, now)).collect(),
            proxy: None,
        };
        page.render().unwrap()
    }

    #[test]
    fn a_linked_machine_does_not_work_alone() {
        assert!(page_of(&[]).contains("works alone"));
        let page = page_of(&[linked("https://agent.example.org")]);
        assert!(!page.contains("works alone"), "{page}");
        assert!(
            page.contains("/home/ada/web") && page.contains("https://agent.example.org/ui"),
            "{page}"
        );
    }

    #[test]
    fn an_address_of_another_kind_is_no_link() {
        let page = page_of(&[linked("javascript:alert(1)")]);
        assert!(!page.contains("href=\"javascript"), "{page}");
    }
}
