//! The links of this machine's projects to an agent service.

use super::Check;
use crate::context::Context;
use crate::format::plural;
use grov_domain::{Link, LinkState};

const NAME: &str = "team link";

/// A check for each link that does not work, or one for all of them; none if nothing is linked. The services are not contacted.
pub(super) fn checks(context: &Context) -> Vec<Check> {
    // A database that cannot be read has a check of its own.
    let links = context.read(async |store| Ok(store.links().await?));
    let links = links.ok().flatten().unwrap_or_default();
    let faulty: Vec<Check> = links.iter().filter_map(faulty).collect();
    if !faulty.is_empty() || links.is_empty() {
        return faulty;
    }
    let number = plural(links.len() as u64, "project", "projects");
    vec![Check::ok(NAME, format!("{number} linked"))]
}

/// The check for a link that does not work.
fn faulty(link: &Link) -> Option<Check> {
    let project = &link.scope.project_path;
    let fault = link.fault.as_deref();
    match (link.state, fault) {
        (LinkState::Stopped, _) => Some(
            Check::fail(NAME, format!("{project}: {} refuses the key", link.url))
                .consequence("Nothing is shared with the team.")
                .fix("`grov agent link` in the project with a new key, or `grov agent unlink`"),
        ),
        (LinkState::On, Some(fault)) => Some(
            Check::warn(NAME, format!("{project}: {} {fault}", link.url))
                .consequence("Until it works, nothing is shared with the team. It is tried again.")
                .fix("check the service, then `grov agent sync` in the project"),
        ),
        (LinkState::On, None) => None,
    }
}
