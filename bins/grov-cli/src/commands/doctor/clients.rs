//! The clients of `grov init --client`.

use super::Check;
use crate::commands::registration::clients::{ALL, purpose};
use crate::context::Context;
use crate::daemon_health::ProxyView;
use crate::written_files::WrittenFiles;

/// Returns a check for each client that was registered.
pub(super) fn checks(context: &Context, daemon: &ProxyView) -> Vec<Check> {
    let Some(written) = context
        .home
        .root()
        .is_dir()
        .then(|| WrittenFiles::open(&context.home).ok())
        .flatten()
    else {
        return Vec::new();
    };
    let mut checks = Vec::new();
    for client in ALL {
        for (path, is_there) in written.intact(purpose(client)) {
            let name = client.name();
            let shown = path.display();
            let address = daemon.base_url.as_deref().filter(|_| daemon.running);
            let text = std::fs::read_to_string(path).unwrap_or_default();
            let is_current = address.is_none_or(|address| text.contains(address));
            let again = format!(
                "grov init --client {}",
                name.split(' ').next().unwrap_or(name).to_lowercase()
            );
            checks.push(match (is_there, is_current) {
                (false, _) => Check::warn(name, format!("{shown} no longer has Grov's lines"))
                    .consequence("Its requests do not go through the proxy.")
                    .fix(again),
                (true, false) => Check::warn(name, format!("{shown} names another address than the proxy's"))
                    .consequence("Its requests fail.")
                    .fix(again),
                (true, true) => Check::ok(name, format!("goes through the proxy ({shown})")),
            });
        }
    }
    checks
}
