//! The certificate authority of the CONNECT proxy.

use super::Check;
use crate::commands::certificate_authority::hosts;
use crate::context::Context;
use crate::daemon_health::ProxyView;
use grov_ca::{Authority, CaFiles};
use grov_domain::{Clock, SystemClock};
use grov_runtime::daemon;
use time::{Duration, OffsetDateTime};

const NAME: &str = "certificates";

/// A running CONNECT proxy renews it earlier, so it does not run, or cannot write.
const WARN_BEFORE: Duration = Duration::days(14);

/// Checks the authority if there is one, or if the running daemon needs it.
pub(super) fn check(context: &Context, daemon: &ProxyView) -> Option<Check> {
    let files = CaFiles::new(context.home.certificate_authority());
    let now = SystemClock.now();
    let is_needed =
        daemon.running && daemon::read(&context.home).is_some_and(|record| record.mitm_url.is_some());
    let authority = match files.load(now) {
        Ok(Some(authorities)) => authorities.current,
        Ok(None) if is_needed => {
            return Some(
                Check::fail(NAME, "the certificate authority was deleted")
                    .consequence("The CONNECT proxy refuses to decrypt, so clients of `grov run` cannot reach the API.")
                    .fix("grov ca path, which makes one, and restart the clients"),
            );
        }
        Ok(None) => return None,
        Err(error) => {
            return Some(
                Check::fail(NAME, error.to_string())
                    .consequence("`grov run` cannot decrypt, or does so with the authority in memory.")
                    .fix("grov ca rotate --now, and restart the clients"),
            );
        }
    };
    let problem = exposed(&files)
        .or_else(|| expiring(&authority, now))
        .or_else(|| other_hosts(context, &authority));
    Some(problem.unwrap_or_else(|| {
        let hosts: Vec<String> = authority.permitted().iter().map(ToString::to_string).collect();
        let until = authority.not_after().date();
        Check::ok(NAME, format!("for {}, until {until}", hosts.join(", ")))
    }))
}

fn exposed(files: &CaFiles) -> Option<Check> {
    let mode = files.exposed_key()?;
    let check = Check::warn(
        NAME,
        format!("the key of the authority has the permissions {mode:o}"),
    );
    Some(
        check
            .consequence("Another user of this machine may have read it, and can pretend to be the API to your clients.")
            .fix("grov ca rotate --now, and restart the clients"),
    )
}

fn expiring(authority: &Authority, now: OffsetDateTime) -> Option<Check> {
    if authority.is_valid(now) && authority.is_valid(now + WARN_BEFORE) {
        return None;
    }
    let until = authority.not_after().date();
    let check = Check::warn(NAME, format!("the authority is valid until {until}"));
    Some(
        check
            .consequence("Clients of `grov run` fail once it has expired.")
            .fix("grov ca rotate"),
    )
}

fn other_hosts(context: &Context, authority: &Authority) -> Option<Check> {
    // A mistake in the setting keeps the daemon from starting, which says so.
    let hosts = hosts(context).ok()?;
    let host = hosts.iter().find(|host| !authority.permits(host))?;
    let check = Check::warn(
        NAME,
        format!("the authority cannot sign for {host}, which mitm.hosts names"),
    );
    Some(
        check
            .consequence("Clients of `grov run` cannot reach that host.")
            .fix("grov ca rotate, then grov proxy restart"),
    )
}
