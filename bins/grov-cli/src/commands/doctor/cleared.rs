//! Sessions whose context was cleared need the proxy.

use super::Check;
use crate::cleared;
use crate::context::Context;
use crate::daemon_health::ProxyView;

/// Returns the check if a context was cleared recently.
pub(super) fn check(context: &Context, daemon: &ProxyView, uses_proxy: bool) -> Option<Check> {
    const NAME: &str = "cleared contexts";
    let clears = cleared::recent(context).ok()?;
    let warning = cleared::warning(&clears)?;
    if daemon.running && uses_proxy {
        let number = clears.len();
        return Some(Check::ok(
            NAME,
            format!("{number} recent session(s), which need the proxy"),
        ));
    }
    let check =
        Check::warn(NAME, warning).consequence("The proxy is not running, or the client does not use it.");
    Some(check.fix("grov init --proxy, or start a new session"))
}
