//! *Service*: the agent service that this machine is linked to.

use super::answers::{Fault, list, text};
use crate::Site;
use crate::access::Session;
use crate::page::{Frame, render};
use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;

#[derive(Template)]
#[template(path = "service.html")]
struct Page {
    frame: Frame,
    fault: Option<Fault>,
    is_linked: bool,
    url: String,
    project: String,
    pending: u64,
    last_sync: String,
    proxy: Option<Proxy>,
}

/// The daemon itself.
struct Proxy {
    url: String,
    version: String,
    pid: u64,
    sessions: usize,
}

/// `GET /_grov/ui/service`
pub(super) async fn page(State(site): State<Site>, Extension(session): Extension<Session>) -> Response {
    let (answer, status) = tokio::join!(
        site.commands.run(&["agent", "status"]),
        site.commands.run(&["proxy-status", "--limit", "1"])
    );
    let service = answer.as_ref().ok();
    let proxy = status.as_ref().ok().map(|status| &status["proxy"]);
    render(&Page {
        frame: Frame::from(&session).at("Service"),
        // A command line without the command knows no service.
        fault: Fault::of_all_but(&answer, "usage"),
        is_linked: service.is_some_and(|service| service["linked"] == true),
        // Only such addresses become links.
        url: service
            .map(|service| text(service, "url"))
            .filter(|url| url.starts_with("https://") || url.starts_with("http://"))
            .unwrap_or_default(),
        project: service
            .map(|service| text(service, "project_id"))
            .unwrap_or_default(),
        pending: service
            .and_then(|service| service["pending_out"].as_u64())
            .unwrap_or_default(),
        last_sync: service
            .map(|service| text(service, "last_sync"))
            .unwrap_or_default(),
        proxy: proxy.map(|proxy| Proxy {
            url: text(proxy, "url"),
            version: text(proxy, "version"),
            pid: proxy["pid"].as_u64().unwrap_or_default(),
            sessions: list(&status, "sessions").len(),
        }),
    })
}
